//! A throttle: how long the provider accepts no messages of one scope, an app or a business account.
//!
//! The pause doubles with each refusal in a row. Answers within a pause belong to the same refusal.

use std::time::{Duration, Instant};

/// The first pause, doubled with every refusal in a row up to the longest.
const FIRST: Duration = Duration::from_secs(1);
const LONGEST: Duration = Duration::from_secs(60);

/// The longest estimate of the provider that is believed.
const LONGEST_HINT: Duration = Duration::from_secs(60 * 60);

/// A pause is removed this long after its end, with the refusals before it.
const FORGOTTEN_AFTER: Duration = Duration::from_secs(60 * 60);

/// The throttle of one scope.
#[derive(Debug, Default)]
pub struct Throttle(Option<Pause>);

/// A pause of the scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pause {
    /// When the next message may go.
    pub until: Instant,
    /// Refusals in a row.
    pub times: u32,
}

impl Throttle {
    /// The provider refused a message because of this scope; `hint` is its own estimate of when it accepts messages
    /// again. Returns the time until which no message of the scope may go. An answer within a pause extends it only by
    /// a longer estimate.
    pub fn refused(&mut self, hint: Option<Duration>, now: Instant) -> Instant {
        self.0.take_if(|pause| pause.until + FORGOTTEN_AFTER <= now);
        let hinted = now + hint.unwrap_or_default().min(LONGEST_HINT);
        let pause = self.0.get_or_insert(Pause { until: now, times: 0 });
        if pause.until <= now {
            pause.times = pause.times.saturating_add(1);
            pause.until = now + length(pause.times);
        }
        pause.until = pause.until.max(hinted);
        pause.until
    }

    /// Another node got a refusal for the scope, with this pause.
    pub fn hear(&mut self, heard: Pause, now: Instant) {
        let until = heard.until.min(now + LONGEST_HINT);
        if until <= now {
            return;
        }
        let pause = self.0.get_or_insert(Pause { until, times: heard.times });
        *pause = Pause { until: pause.until.max(until), times: pause.times.max(heard.times) };
    }

    /// The present pause.
    pub fn pause(&self, now: Instant) -> Option<Pause> {
        self.0.filter(|pause| pause.until > now)
    }

    /// The provider accepted a message of the scope: the next refusal counts as a first one. A present pause stays,
    /// because the answers of messages in flight arrive in any order.
    pub fn accepted(&mut self, now: Instant) {
        self.0.take_if(|pause| pause.until <= now);
    }

    /// When the pause ends; `None` when a message may go.
    pub fn until(&self, now: Instant) -> Option<Instant> {
        self.pause(now).map(|pause| pause.until)
    }

    /// Whether a refusal is known: without one, [`Throttle::until`] and [`Throttle::accepted`] do nothing.
    pub const fn is_known(&self) -> bool {
        self.0.is_some()
    }
}

/// The length of the pause after this many refusals in a row.
fn length(times: u32) -> Duration {
    FIRST.saturating_mul(1 << times.saturating_sub(1).min(10)).min(LONGEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn pauses_double_up_to_a_minute_and_start_over_after_a_success() {
        let (mut throttle, mut now) = (Throttle::default(), Instant::now());
        for pause in [1, 2, 4, 8, 16, 32, 60, 60] {
            let until = now + seconds(pause);
            assert_eq!(throttle.refused(None, now), until);
            now = until;
        }
        throttle.accepted(now);
        assert!(!throttle.is_known());
        assert_eq!(throttle.refused(None, now), now + seconds(1));
    }

    #[test]
    fn the_answers_within_a_pause_neither_lengthen_nor_end_it() {
        let (mut throttle, now) = (Throttle::default(), Instant::now());
        let until = throttle.refused(None, now);
        for _ in 0..64 {
            assert_eq!(throttle.refused(None, now), until);
            throttle.accepted(now);
        }
        assert_eq!((throttle.until(now), throttle.until(until)), (Some(until), None));
        assert_eq!(throttle.refused(None, until), until + seconds(2));
    }

    #[test]
    fn the_provider_s_own_estimate_is_kept_when_it_is_longer_and_never_beyond_an_hour() {
        let now = Instant::now();
        for (hint, pause) in [(0, 1), (300, 300), (100_000, 3600)] {
            assert_eq!(Throttle::default().refused(Some(seconds(hint)), now), now + seconds(pause));
        }
        let mut throttle = Throttle::default();
        throttle.refused(None, now);
        assert_eq!(
            throttle.refused(Some(seconds(30)), now),
            now + seconds(30),
            "a later, longer estimate counts"
        );
    }

    #[test]
    fn a_pause_of_another_node_counts_like_an_own_one_and_shortens_none() {
        let (mut throttle, now) = (Throttle::default(), Instant::now());
        throttle.hear(Pause { until: now, times: 3 }, now);
        assert!(!throttle.is_known(), "it is over");
        throttle.hear(Pause { until: now + seconds(4), times: 3 }, now);
        assert_eq!(throttle.until(now), Some(now + seconds(4)));
        throttle.hear(Pause { until: now + seconds(2), times: 2 }, now);
        assert_eq!(throttle.pause(now), Some(Pause { until: now + seconds(4), times: 3 }));
        let later = now + seconds(4);
        assert_eq!(throttle.refused(None, later), later + seconds(8), "the fourth refusal in a row");
        throttle.hear(Pause { until: later + seconds(100_000), times: 1 }, later);
        assert_eq!(throttle.until(later), Some(later + LONGEST_HINT));
    }

    #[test]
    fn refusals_of_an_hour_ago_are_removed() {
        let (mut throttle, mut now) = (Throttle::default(), Instant::now());
        for _ in 0..4 {
            now = throttle.refused(None, now);
        }
        now += FORGOTTEN_AFTER;
        assert_eq!(throttle.refused(None, now), now + seconds(1));
    }
}
