//! The limiter under a simulated clock.

use proptest::prelude::*;

use super::*;
use domain::tier::{BUILT_IN, parse};

const SECOND: Duration = Duration::from_secs(1);

fn tier(options: &str) -> Tier {
    parse(&format!("[tested]\nkind = \"business_account\"\n{options}")).unwrap().remove(0)
}

fn paced(rate: &str) -> Tier {
    tier(&format!("messages_per_second = \"{rate}\""))
}

fn rate(text: &str) -> Option<Rate> {
    Some(text.parse().unwrap())
}

fn seconds(seconds: f64) -> Duration {
    Duration::from_secs_f64(seconds)
}

/// Takes permits from `from` on for `span`, each time as late as `lateness` says. Returns the moments at which messages
/// went.
fn drain(
    limiter: &mut Limiter,
    from: Instant,
    span: Duration,
    mut lateness: impl FnMut() -> Duration,
) -> Vec<Instant> {
    let (mut now, mut went) = (from, Vec::new());
    while now < from + span {
        match limiter.take(now) {
            Ok(()) => went.push(now),
            Err(wait) => {
                assert!(!wait.is_zero(), "a wait of zero never ends");
                now += wait + lateness();
            }
        }
    }
    went
}

fn in_time() -> Duration {
    Duration::ZERO
}

/// The most messages within any second.
fn most_in_a_second(went: &[Instant]) -> usize {
    let until = |start: usize| went.partition_point(|moment| *moment < went[start] + SECOND);
    (0..went.len()).map(|start| until(start) - start).max().unwrap_or(0)
}

fn close(left: f64, right: f64) -> bool {
    (left - right).abs() < 1e-6
}

#[test]
fn a_new_limiter_has_no_burst_to_spend() {
    let now = Instant::now();
    let tiers = parse(BUILT_IN).unwrap();
    let tier = |name: &str| tiers.iter().find(|tier| tier.name == name).unwrap();
    let mut standard = Limiter::new(tier("standard"), None, now);
    assert_eq!(standard.take(now), Err(Duration::from_micros(12_500)));
    let mut high = Limiter::new(tier("high"), None, now);
    assert_eq!(high.take(now), Err(Duration::from_millis(1)));
    assert_eq!(Limiter::new(tier("unlimited"), None, now).take(now), Ok(()));
}

#[test]
fn a_burst_is_earned_permit_by_permit_up_to_its_bound() {
    let start = Instant::now();
    let tier = tier("messages_per_second = \"10/s\"\nburst = 4");
    for (millis, at_once) in [(99, 0), (100, 1), (200, 2), (399, 3), (400, 4), (60_000, 4)] {
        let mut limiter = Limiter::new(&tier, None, start);
        let now = start + Duration::from_millis(millis);
        assert_eq!((0..10).take_while(|_| limiter.take(now).is_ok()).count(), at_once, "{millis} ms");
    }
}

#[test]
fn the_pace_is_the_least_of_tier_and_level_and_can_be_explained() {
    let now = Instant::now();
    for (of_tier, level, expected, binding) in [
        ("80/s", None, 80.0, Binding::Tier),
        ("80/s", rate("1000/s"), 80.0, Binding::Tier),
        ("80/s", rate("80/s"), 80.0, Binding::Tier),
        ("1000/s", rate("80/s"), 80.0, Binding::ProviderLevel),
        ("80/s", rate("20/s"), 20.0, Binding::ProviderLevel),
        ("unlimited", rate("80/s"), 80.0, Binding::ProviderLevel),
        ("unlimited", None, f64::INFINITY, Binding::Tier),
    ] {
        let limiter = Limiter::new(&paced(of_tier), level, now);
        let (rate, named) = (limiter.rate(now), limiter.binding(now));
        assert!(rate.total_cmp(&expected).is_eq(), "{of_tier} {level:?}: {rate}");
        assert_eq!(named, binding, "{of_tier} {level:?}");
    }
}

#[test]
fn a_throttle_answer_halves_the_pace_and_five_per_cent_come_back_with_every_second() {
    let now = Instant::now();
    let mut limiter = Limiter::new(&paced("80/s"), None, now);
    assert!(limiter.slow_down(now, now));
    for (after, expected) in
        [(0.0, 40.0), (0.999, 40.0), (1.0, 44.0), (1.999, 44.0), (5.0, 60.0), (9.5, 76.0), (10.0, 80.0)]
    {
        assert!(close(limiter.rate(now + seconds(after)), expected), "{after} s: {}", limiter.rate(now));
    }
    let until = now + seconds(10.0);
    assert_eq!(limiter.binding(now + seconds(9.9)), Binding::BackOff { until });
    assert_eq!(limiter.binding(until), Binding::Tier);
    // The limiter keeps to the rate that it reports.
    let went = drain(&mut limiter, now, seconds(12.0), in_time);
    let between = |from, to| {
        went.iter().filter(|moment| **moment >= now + seconds(from) && **moment < now + seconds(to)).count()
    };
    assert_eq!([between(0.0, 1.0), between(1.0, 2.0), between(11.0, 12.0)], [39, 44, 80]);
}

#[test]
fn overdue_steps_are_taken_all_at_once_and_none_twice() {
    let now = Instant::now();
    let mut limiter = Limiter::new(&paced("80/s"), None, now);
    assert!(limiter.slow_down(now, now));
    assert_eq!(limiter.take(now + seconds(3.5)), Ok(()));
    for (after, expected) in [(3.5, 52.0), (3.999, 52.0), (4.0, 56.0), (5.0, 60.0), (10.0, 80.0)] {
        assert!(close(limiter.rate(now + seconds(after)), expected), "{after} s");
    }
    assert_eq!(limiter.binding(now + seconds(9.9)), Binding::BackOff { until: now + seconds(10.0) });
}

#[test]
fn the_answers_of_one_storm_halve_only_once() {
    let start = Instant::now();
    let mut limiter = Limiter::new(&paced("80/s"), None, start);
    let answered = start + seconds(0.3);
    assert!(limiter.slow_down(start, answered));
    for late in 1..64 {
        assert!(!limiter.slow_down(start + seconds(0.3), answered + Duration::from_millis(late)));
    }
    assert!(close(limiter.rate(answered), 40.0));
    // The provider counts these in one second with those that were in flight then.
    for started in [0.001, 0.5, 1.0] {
        let started = answered + seconds(started);
        assert!(!limiter.slow_down(started, started + seconds(0.3)));
    }
    let again = answered + seconds(1.1);
    assert!(limiter.slow_down(answered + seconds(1.001), again));
    assert!(close(limiter.rate(again), 22.0), "half of 44");
    assert!(!limiter.slow_down(again, again + seconds(30.0)), "long ago, but started before");
}

#[test]
fn no_storm_goes_below_the_floor() {
    // Halved once a second, a rate does not fall below a twentieth: by then a second brings as much back.
    for (of_tier, floor) in [("80/s", 4.0), ("1000/s", 50.0), ("5/s", 0.5), ("6/min", 0.01)] {
        let mut now = Instant::now();
        let mut limiter = Limiter::new(&paced(of_tier), None, now);
        for _ in 0..40 {
            now += Duration::from_millis(1_001);
            assert!(limiter.slow_down(now, now));
        }
        assert!(close(limiter.rate(now), floor), "{of_tier}: {}", limiter.rate(now));
        let Binding::BackOff { until } = limiter.binding(now) else { panic!("{of_tier} is not backing off") };
        assert!(until <= now + seconds(20.0), "{of_tier} backs off for {:?}", until - now);
        assert!(limiter.rate(until) > floor && limiter.binding(until) == Binding::Tier, "{of_tier}");
    }
}

#[test]
fn an_unlimited_pace_is_halved_from_that_of_the_last_second() {
    let start = Instant::now();
    let mut limiter = Limiter::new(&paced("unlimited"), None, start);
    for step in 0..3000 {
        // A thousand messages a second, for three seconds.
        assert_eq!(limiter.take(start + Duration::from_millis(step)), Ok(()));
    }
    let now = start + seconds(2.999);
    assert!(limiter.slow_down(now, now));
    assert!(close(limiter.rate(now), 500.0), "{}", limiter.rate(now));
    let went = drain(&mut limiter, now, SECOND, in_time);
    assert!((490..=500).contains(&went.len()), "{}", went.len());
    assert!(limiter.rate(now + seconds(9.9)).is_finite());
    assert!(limiter.rate(now + seconds(10.0)).is_infinite());
    assert_eq!(limiter.take(now + seconds(10.0)), Ok(()));
    assert_eq!(limiter.take(now + seconds(10.0)), Ok(()));
}

#[test]
fn an_unlimited_number_that_sent_nothing_can_be_slowed_down() {
    let now = Instant::now();
    let mut limiter = Limiter::new(&paced("unlimited"), None, now);
    assert!(limiter.slow_down(now, now));
    assert!(close(limiter.rate(now), 1.0));
}

#[test]
fn a_change_that_changes_nothing_leaves_the_bucket_as_it_is() {
    let start = Instant::now();
    let mut limiter = Limiter::new(&paced("10/min"), None, start);
    assert_eq!(limiter.take(start + seconds(6.0)), Ok(()));
    for second in 7..12 {
        let now = start + Duration::from_secs(second);
        limiter.retune(&tier("messages_per_second = \"10/min\"\ntemplate_quota = 250"), rate("80/s"), now);
        assert_eq!(limiter.take(now), Err(start + seconds(12.0) - now));
    }
    assert_eq!(limiter.take(start + seconds(12.0)), Ok(()));
}

#[test]
fn a_change_of_pace_keeps_earned_permits_and_gives_none() {
    let start = Instant::now();
    let mut limiter = Limiter::new(&paced("10/min"), None, start);
    // Half a message is earned after three seconds, and it is half a message at any pace.
    let now = start + seconds(3.0);
    limiter.retune(&paced("1/s"), None, now);
    assert_eq!(limiter.take(now), Err(seconds(0.5)));
    limiter.retune(&paced("1000/s"), None, now);
    assert_eq!(limiter.take(now), Err(seconds(0.0005)));
    limiter.retune(&paced("unlimited"), None, now);
    limiter.retune(&paced("80/s"), None, now);
    assert_eq!(limiter.take(now), Err(Duration::from_micros(12_500)));
}

#[test]
fn a_back_off_goes_on_through_a_change_of_tier_or_level() {
    let now = Instant::now();
    let mut limiter = Limiter::new(&paced("80/s"), None, now);
    limiter.slow_down(now, now);
    limiter.retune(&paced("1000/s"), rate("1000/s"), now + seconds(0.5));
    assert!(close(limiter.rate(now + seconds(0.9)), 40.0));
    assert!(close(limiter.rate(now + seconds(1.0)), 90.0));
    limiter.retune(&paced("unlimited"), None, now + seconds(1.5));
    assert!(close(limiter.rate(now + seconds(1.5)), 90.0));
    limiter.retune(&paced("20/s"), None, now + seconds(1.6));
    assert_eq!(limiter.binding(now + seconds(1.6)), Binding::Tier, "the tier is slower than the back-off");
}

#[test]
fn a_wait_ends_no_later_than_the_pace_rises() {
    let now = Instant::now();
    let mut limiter = Limiter::new(&paced("1/min"), None, now);
    limiter.slow_down(now, now);
    assert_eq!(limiter.take(now), Err(SECOND));
}

#[test]
fn a_back_off_shrinks_the_burst_with_the_rate() {
    let begin = Instant::now();
    let mut limiter = Limiter::new(&tier("messages_per_second = \"80/s\"\nburst = 40"), None, begin);
    let throttled = begin + 10 * SECOND;
    assert!(limiter.slow_down(throttled, throttled));
    let rested = throttled + seconds(0.9);
    let at_once = (0..80).take_while(|_| limiter.take(rested).is_ok()).count();
    assert!((18..=22).contains(&at_once), "{at_once} at half the rate, with half the burst");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn a_minute_is_within_a_hundredth_of_the_rate_and_no_second_above_rate_and_burst(
        count in 1_u32..1500,
        late in proptest::collection::vec(0_u64..2_000_000, 97),
    ) {
        let (start, tier) = (Instant::now(), paced(&format!("{count}/s")));
        let mut limiter = Limiter::new(&tier, None, start);
        let mut late = late.into_iter().cycle();
        let went = drain(&mut limiter, start, seconds(60.0), || Duration::from_nanos(late.next().unwrap()));
        let whole = f64::from(count) * 60.0;
        let counted = f64::from(u32::try_from(went.len()).unwrap());
        prop_assert!(counted >= whole * 0.99 - 1.0 && counted <= whole * 1.01, "{counted} of {whole}");
        let most = (count + tier.burst()) as usize;
        prop_assert!(most_in_a_second(&went) <= most, "{} of {most}", most_in_a_second(&went));
    }

    #[test]
    fn no_storm_and_no_change_ever_lets_more_than_the_full_rate_through(
        count in 1_u32..300,
        burst in 1_u32..20,
        events in proptest::collection::vec((0_u64..1500, 0_u8..3), 1..40),
    ) {
        let start = Instant::now();
        let tested = |rate: u32| tier(&format!("messages_per_second = \"{rate}/s\"\nburst = {burst}"));
        let full = tested(count);
        let mut limiter = Limiter::new(&full, None, start);
        let (mut now, mut went) = (start, Vec::new());
        for (millis, event) in events {
            let span = Duration::from_millis(millis);
            went.extend(drain(&mut limiter, now, span, in_time));
            now = went.last().map_or(now, |last| now.max(*last)) + span;
            match event {
                0 => { limiter.slow_down(now, now); }
                1 => limiter.retune(&tested(count.div_ceil(2)), None, now),
                _ => limiter.retune(&full, None, now),
            }
            prop_assert!(limiter.rate(now) <= f64::from(count) && limiter.rate(now) >= f64::from(count).min(10.0) / 20.0);
        }
        let most = (count + burst) as usize;
        prop_assert!(most_in_a_second(&went) <= most, "{} of {most}", most_in_a_second(&went));
        limiter.retune(&full, None, now);
        prop_assert!(close(limiter.rate(now + seconds(20.0)), f64::from(count)), "the full rate comes back");
    }
}
