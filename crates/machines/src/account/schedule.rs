//! The schedule of template listings: once in each interval, sooner when the templates may have changed, and sooner
//! again after a failed listing.

use std::time::{Duration, Instant};

/// The least time between two listings, however often they are requested.
const LEAST_DISTANCE: Duration = Duration::from_secs(60);
/// With a short interval, the least time is this part of it.
const PARTS: u32 = 30;
/// The longest wait after failures, without an interval.
const LONGEST_WAIT: Duration = Duration::from_secs(30 * 60);

/// The times between listings.
#[derive(Debug, Clone, Copy)]
pub(super) struct Distances {
    /// Between two scheduled listings; `None` when there are none.
    interval: Option<Duration>,
    /// Between any two listings.
    least: Duration,
}

impl Distances {
    /// One listing in each `interval`; when that is zero, only on request.
    pub(super) fn new(interval: Duration) -> Self {
        let interval = (!interval.is_zero()).then_some(interval);
        Self { interval, least: interval.map_or(LEAST_DISTANCE, |all| LEAST_DISTANCE.min(all / PARTS)) }
    }
}

/// The schedule of one company's listings.
#[derive(Debug)]
pub(super) struct Schedule {
    distances: Distances,
    /// When the next scheduled listing is due.
    next: Option<Instant>,
    /// The first and the last time for which a listing is requested.
    wanted: Option<(Instant, Instant)>,
    /// When the last listing began.
    began: Option<Instant>,
    is_running: bool,
    /// The failures since the last success.
    failures: u32,
}

impl Schedule {
    /// The first listing is due at once.
    pub(super) fn new(distances: Distances, now: Instant) -> Self {
        let next = distances.interval.map(|_| now);
        Self { distances, next, wanted: None, began: None, is_running: false, failures: 0 }
    }

    /// The templates may have changed, or will have at this time. One listing after the last of these times serves all
    /// requests.
    pub(super) fn want(&mut self, at: Instant) {
        let (first, last) = self.wanted.unwrap_or((at, at));
        self.wanted = Some((first.min(at), last.max(at)));
    }

    /// When the next listing begins; `None` while one runs or none is due.
    pub(super) fn due(&self) -> Option<Instant> {
        if self.is_running {
            return None;
        }
        let soonest = self.began.map(|began| began + self.distances.least);
        let wanted = self.wanted.map(|(first, _)| soonest.map_or(first, |soonest| first.max(soonest)));
        [self.next, wanted].into_iter().flatten().min()
    }

    /// A listing begins: it serves the requests up to now. A request during the listing may concern a newer change.
    pub(super) fn begin(&mut self, now: Instant) {
        self.is_running = true;
        self.began = Some(now);
        let later = self.wanted.filter(|(_, last)| *last > now);
        self.wanted = later.map(|(first, last)| (if first > now { first } else { last }, last));
    }

    /// The listing ended. Only a success counts as a listing; a failed one is retried sooner, with growing waits.
    pub(super) fn end(&mut self, is_success: bool, now: Instant) {
        self.is_running = false;
        let Distances { interval, least } = self.distances;
        if is_success {
            self.failures = 0;
            self.next = interval.map(|interval| now + interval);
            return;
        }
        let wait = least.saturating_mul(1 << self.failures.min(10)).min(interval.unwrap_or(LONGEST_WAIT));
        self.failures = self.failures.saturating_add(1);
        self.next = Some(now + wait);
    }

    /// Whether a listing is under way or requested.
    pub(super) const fn is_busy(&self) -> bool {
        self.is_running || self.wanted.is_some()
    }

    /// The number of failures in a row.
    pub(super) const fn failures(&self) -> u32 {
        self.failures
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: Duration = Duration::from_secs(60);
    const HALF_HOUR: Duration = Duration::from_secs(30 * 60);

    fn schedule(interval: Duration, now: Instant) -> Schedule {
        Schedule::new(Distances::new(interval), now)
    }

    #[test]
    fn many_requests_are_one_listing_at_once_and_one_a_minute_later() {
        let now = Instant::now();
        let mut schedule = schedule(HALF_HOUR, now - HALF_HOUR / 2);
        schedule.begin(now - HALF_HOUR / 2);
        schedule.end(true, now - HALF_HOUR / 2);
        for _ in 0..12 {
            schedule.want(now);
        }
        assert_eq!(schedule.due(), Some(now));
        schedule.begin(now);
        for second in 0..12 {
            schedule.want(now + Duration::from_secs(second));
            assert_eq!(schedule.due(), None, "one at a time");
        }
        schedule.end(true, now + Duration::from_secs(12));
        assert_eq!(schedule.due(), Some(now + MINUTE));
        schedule.begin(now + MINUTE);
        schedule.end(true, now + MINUTE);
        assert_eq!(schedule.due(), Some(now + MINUTE + HALF_HOUR), "all requests were served");
    }

    #[test]
    fn a_failed_listing_is_retried_soon_and_then_less_and_less_often() {
        let mut now = Instant::now();
        let mut schedule = schedule(HALF_HOUR, now);
        for minutes in [1, 2, 4, 8, 16, 30, 30] {
            assert_eq!(schedule.due(), Some(now));
            schedule.begin(now);
            schedule.end(false, now);
            now += minutes * MINUTE;
        }
        schedule.begin(now);
        schedule.end(true, now);
        assert_eq!((schedule.due(), schedule.failures()), (Some(now + HALF_HOUR), 0));
    }

    #[test]
    fn a_request_for_later_is_served_then_whatever_fails_before() {
        let now = Instant::now();
        let mut schedule = schedule(HALF_HOUR, now);
        schedule.want(now + 2 * MINUTE);
        schedule.begin(now);
        schedule.end(true, now);
        assert_eq!(schedule.due(), Some(now + 2 * MINUTE));
        for _ in 0..9 {
            schedule.begin(now);
            schedule.end(false, now);
        }
        assert_eq!(schedule.due(), Some(now + 2 * MINUTE));
    }

    #[test]
    fn without_an_interval_templates_are_listed_on_request_until_that_succeeds() {
        let now = Instant::now();
        let mut schedule = schedule(Duration::ZERO, now);
        assert_eq!(schedule.due(), None);
        schedule.want(now);
        schedule.begin(now);
        schedule.end(false, now);
        assert_eq!(schedule.due(), Some(now + MINUTE));
        schedule.begin(now + MINUTE);
        schedule.end(true, now + MINUTE);
        assert_eq!(schedule.due(), None);
    }
}
