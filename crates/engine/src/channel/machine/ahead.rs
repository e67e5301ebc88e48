//! How far ahead messages are marked, so that the pace does not wait for commits.
//!
//! A message goes out once its mark is durable. A quarter of a second's worth is marked ahead, which covers most
//! commits; after slower commits, twice their time. A crash leaves the outcome of marked messages unknown, so no more
//! are marked than may be in flight.

use std::time::{Duration, Instant};

use domain::tier::Tier;

/// The time that marks cover while commits are fast.
const LEAST: Duration = Duration::from_millis(250);
/// Marks cover this many commits: a mark that is due while a commit runs is written with the next one.
const COMMITS: u32 = 2;
/// The weight of a slow commit halves in this time.
const HALF_LIFE: Duration = Duration::from_secs(120);
/// The fewest messages that are marked ahead.
const FEWEST: u64 = 16;

#[derive(Debug)]
pub(super) struct Ahead {
    per_second: f64,
    most: u64,
    /// The slowest recent commit, and when it was.
    slowest: Duration,
    since: Instant,
}

impl Ahead {
    pub(super) fn new(tier: &Tier, in_flight: usize, now: Instant) -> Self {
        Self {
            per_second: tier.messages_per_second.per_second(),
            most: in_flight as u64,
            slowest: Duration::ZERO,
            since: now,
        }
    }

    /// Follows a changed tier.
    pub(super) fn retune(&mut self, tier: &Tier) {
        self.per_second = tier.messages_per_second.per_second();
    }

    /// A write of the channel took this long to become durable.
    pub(super) fn took(&mut self, commit: Duration, now: Instant) {
        if commit >= self.slowest(now) {
            (self.slowest, self.since) = (commit, now);
        }
    }

    /// How many messages of each lane are marked ahead.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "rates are positive, and an unlimited one saturates and is then bounded"
    )]
    pub(super) fn messages(&self, now: Instant) -> u64 {
        let span = LEAST.max(self.slowest(now) * COMMITS);
        ((self.per_second * span.as_secs_f64()) as u64).clamp(FEWEST.min(self.most), self.most)
    }

    fn slowest(&self, now: Instant) -> Duration {
        let age = now.saturating_duration_since(self.since).as_secs_f64() / HALF_LIFE.as_secs_f64();
        self.slowest.mul_f64(0.5_f64.powf(age))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::tier;

    fn tier(pace: &str) -> Tier {
        let text = format!("[t]\nkind = \"business_account\"\nmessages_per_second = \"{pace}\"\n");
        tier::parse(&text).unwrap().remove(0)
    }

    #[test]
    fn a_quarter_of_a_second_is_marked_ahead_within_bounds() {
        let now = Instant::now();
        let messages = |pace: &str, in_flight| Ahead::new(&tier(pace), in_flight, now).messages(now);
        assert_eq!([messages("1000/s", 1024), messages("80/s", 1024), messages("1/s", 1024)], [250, 20, 16]);
        assert_eq!([messages("unlimited", 1024), messages("80/s", 8)], [1024, 8]);
    }

    #[test]
    fn marks_cover_slow_commits_for_a_while_after_a_disk_stalled() {
        let start = Instant::now();
        let after = |seconds| start + Duration::from_secs(seconds);
        let mut ahead = Ahead::new(&tier("1000/s"), 4096, start);
        ahead.took(Duration::from_millis(5), start);
        assert_eq!(ahead.messages(start), 250);
        ahead.took(Duration::from_secs(1), start);
        ahead.took(Duration::from_millis(5), after(1));
        assert_eq!(ahead.messages(start), 2_000);
        assert_eq!(ahead.messages(after(120)), 1_000);
        assert_eq!(ahead.messages(after(3_600)), 250);
        ahead.took(Duration::from_secs(60), after(1));
        assert_eq!(ahead.messages(after(1)), 4096, "never more than may be in flight");
        ahead.retune(&tier("80/s"));
        assert_eq!(ahead.messages(after(1)), 4096);
    }
}
