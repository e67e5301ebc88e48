//! The headline figure: messages divided by the time in which bulk sends ran.

/// Tenths of a second in a second.
const SECOND: usize = 10;
/// The longest pause inside a stretch, in periods of the channel's limit.
const PERIODS: f64 = 3.0;

/// Messages in a second at the receiver while bulk sends ran: all messages of those stretches, divided by their time.
///
/// A stretch begins with a tenth of a second that has more than twice the rate of single sends, and ends when no such
/// tenth follows within a second, or within three periods of a slow channel's limit. Pauses inside it count, and the
/// shortest lasts a second. The figure is never above `most`, the most that arrived within any one second.
pub(super) fn while_running(
    by_tenth: &[u32],
    singles_per_second: f64,
    limit_per_second: Option<f64>,
    most: u64,
) -> f64 {
    let pause = limit_per_second.filter(|limit| *limit > 0.0).map_or(0.0, |limit| PERIODS / limit);
    let pause = SECOND.max((pause.min(3_600.0) * SECOND as f64).ceil() as usize);
    let pace = |least: f64| pace(by_tenth, least, pause);
    // Without such a tenth, single sends are all there is, or the channel is slower than they are.
    let pace = pace(singles_per_second / SECOND as f64 * 2.0 + 1.0).or_else(|| pace(0.0));
    pace.unwrap_or_default().min(most as f64)
}

/// The pace in stretches of tenths with more than `least` messages; `None` when there are none.
fn pace(by_tenth: &[u32], least: f64, pause: usize) -> Option<f64> {
    let mut stretches: Vec<(usize, usize)> = Vec::new();
    for (tenth, _) in by_tenth.iter().enumerate().filter(|(_, count)| f64::from(**count) > least) {
        match stretches.last_mut() {
            Some((_, end)) if tenth < *end + pause => *end = tenth + 1,
            _ => stretches.push((tenth, tenth + 1)),
        }
    }
    let (mut messages, mut tenths) = (0, 0);
    for (begin, end) in stretches {
        let end = end.max(begin + SECOND);
        let inside = by_tenth.get(begin..end.min(by_tenth.len())).unwrap_or_default();
        messages += inside.iter().map(|count| u64::from(*count)).sum::<u64>();
        tenths += end - begin;
    }
    (tenths > 0).then(|| messages as f64 * SECOND as f64 / tenths as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The most in any ten neighbouring tenths.
    fn most(by_tenth: &[u32]) -> u64 {
        let second = |end: usize| &by_tenth[(end + 1).saturating_sub(SECOND)..=end];
        let sums = (0..by_tenth.len()).map(|end| second(end).iter().map(|count| u64::from(*count)).sum());
        sums.max().unwrap_or_default()
    }

    fn of(by_tenth: &[u32], singles: f64, limit: Option<f64>) -> f64 {
        while_running(by_tenth, singles, limit, most(by_tenth))
    }

    fn is(pace: f64, expected: f64) {
        assert!((pace - expected).abs() < 1e-6, "{pace} is not {expected}");
    }

    #[test]
    fn messages_that_come_in_bursts_count_with_the_pauses_between() {
        // A busy machine keeps 80 a second, but in a burst of 24 every three tenths: 240 tenths of a second.
        let bursts: Vec<u32> = (0..240).map(|tenth| if tenth % 3 == 0 { 24 } else { 0 }).collect();
        let pace = of(&bursts, 0.0, Some(80.0));
        assert!((80.0..81.0).contains(&pace), "{pace}");
        assert!(pace <= most(&bursts) as f64);
    }

    #[test]
    fn the_pace_of_bulk_sends_leaves_out_the_time_of_single_sends() {
        // Ten a second alone for five seconds, then four hundred for two, then ten again.
        let alone = std::iter::repeat_n(1, 50);
        let trace: Vec<u32> = alone.clone().chain(std::iter::repeat_n(40, 20)).chain(alone).collect();
        is(of(&trace, 10.0, None), 400.0);
        // Single sends alone.
        is(of(&[1; 30], 10.0, None), 10.0);
        is(of(&[], 10.0, None), 0.0);
    }

    #[test]
    fn a_burst_shorter_than_a_second_counts_as_a_second() {
        is(of(&[0, 200, 200, 0, 0], 0.0, None), 400.0);
        // Two such bursts, far from each other.
        let mut apart = vec![0; 60];
        (apart[3], apart[50]) = (300, 100);
        is(of(&apart, 0.0, None), 200.0);
    }

    #[test]
    fn a_slow_channel_is_measured_over_its_pauses() {
        // One message every two seconds.
        let slow: Vec<u32> = (0..201).map(|tenth| u32::from(tenth % 20 == 0)).collect();
        let pace = of(&slow, 0.0, Some(0.5));
        assert!((0.5..0.6).contains(&pace), "{pace}");
    }

    #[test]
    fn a_mean_is_never_above_the_maximum() {
        // Traces of every shape, by a small generator of numbers.
        let mut state = 7_u64;
        let mut next = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        for _ in 0..2_000 {
            let (length, busy, high) = (next(80) + 1, next(9) + 1, next(500) + 1);
            let trace: Vec<u32> = (0..length)
                .map(|_| if next(10) < busy { u32::try_from(next(high)).unwrap() } else { 0 })
                .collect();
            let (singles, limit) = (next(40) as f64, (next(3) > 0).then(|| next(200) as f64 / 10.0));
            let (pace, most) = (of(&trace, singles, limit), most(&trace) as f64);
            assert!(pace <= most, "{pace} is above {most} in {trace:?}");
        }
    }
}
