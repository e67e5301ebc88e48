//! Limits over time: arrivals in a sliding second, and the limit per pair of number and recipient.
//!
//! Both take `now` in milliseconds since the simulator started and read no clock themselves.

use std::collections::HashMap;

const MILLIS: usize = 1_000;
/// The burst window of a pair, and how long each message in it blocks the pair.
const PAIR_WINDOW_MILLIS: u64 = 6_000;
/// The most messages to one recipient in one window.
const PAIR_BURST: u32 = 45;
/// The maximum number of pairs that are kept; further pairs are not limited until older ones have expired.
const PAIR_LIMIT: usize = 1_000_000;
/// The least time between two searches for expired pairs while the table is full.
const PAIR_SWEEP_MILLIS: u64 = 1_000;

/// How many events lie in the last second, exact to the millisecond: 4 KB once used, nothing before.
#[derive(Debug, Default)]
pub(super) struct SlidingSecond {
    by_millisecond: Vec<u32>,
    newest: u64,
    total: u32,
}

impl SlidingSecond {
    /// Events after `now` − 1 s and up to `now`.
    pub(super) fn count(&mut self, now: u64) -> u32 {
        self.advance(now);
        self.total
    }

    /// Notes one event and returns the count with it.
    pub(super) fn add(&mut self, now: u64) -> u32 {
        if self.by_millisecond.is_empty() {
            self.by_millisecond = vec![0; MILLIS];
            self.newest = now;
        }
        self.advance(now);
        let place = place(self.newest);
        self.by_millisecond[place] += 1;
        self.total += 1;
        self.total
    }

    fn advance(&mut self, now: u64) {
        if self.by_millisecond.is_empty() || now <= self.newest {
            return;
        }
        let passed = (now - self.newest).min(MILLIS as u64);
        for step in 1..=passed {
            let place = place(self.newest + step);
            self.total -= std::mem::take(&mut self.by_millisecond[place]);
        }
        self.newest = now;
    }
}

fn place(millisecond: u64) -> usize {
    usize::try_from(millisecond % MILLIS as u64).unwrap_or_default()
}

#[derive(Debug, Clone, Copy)]
struct Burst {
    began: u64,
    messages: u32,
}

impl Burst {
    fn open_until(self) -> u64 {
        self.began + PAIR_WINDOW_MILLIS
    }

    /// A burst is borrowed from the future: each message of it blocks the pair for one window.
    fn blocked_until(self) -> u64 {
        self.began + PAIR_WINDOW_MILLIS * u64::from(self.messages)
    }
}

/// The limit per pair: one message per 6 s, up to 45 at once on credit.
#[derive(Debug, Default)]
pub(super) struct PairThrottle {
    bursts: HashMap<(u32, Box<str>), Burst>,
    swept: u64,
}

impl PairThrottle {
    /// Whether this number may send to this recipient now; counts the message if so.
    pub(super) fn permit(&mut self, number: u32, recipient: &str, now: u64) -> bool {
        let pair = (number, Box::from(recipient));
        match self.bursts.get_mut(&pair) {
            Some(burst) if now < burst.open_until() && burst.messages >= PAIR_BURST => false,
            Some(burst) if now < burst.open_until() => {
                burst.messages += 1;
                true
            }
            Some(burst) if now < burst.blocked_until() => false,
            _ => {
                self.make_room(now);
                if self.bursts.len() < PAIR_LIMIT {
                    self.bursts.insert(pair, Burst { began: now, messages: 1 });
                }
                true
            }
        }
    }

    fn make_room(&mut self, now: u64) {
        if self.bursts.len() >= PAIR_LIMIT && now >= self.swept + PAIR_SWEEP_MILLIS {
            self.swept = now;
            self.bursts.retain(|_, burst| now < burst.blocked_until());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sliding_second_drops_events_that_are_a_second_old() {
        let mut second = SlidingSecond::default();
        assert_eq!(second.add(5), 1);
        assert_eq!(second.add(900), 2);
        assert_eq!(second.count(1_004), 2);
        assert_eq!(second.count(1_005), 1);
        assert_eq!(second.count(60_000), 0);
        assert_eq!(second.add(60_000), 1);
    }

    #[test]
    fn time_that_runs_backwards_counts_as_the_newest_moment() {
        let mut second = SlidingSecond::default();
        second.add(1_000);
        assert_eq!(second.add(990), 2);
        assert_eq!(second.count(1_999), 2);
        assert_eq!(second.count(2_000), 0);
    }

    #[test]
    fn a_pair_that_bursts_is_blocked_for_six_seconds_a_message() {
        let mut pairs = PairThrottle::default();
        for _ in 0..20 {
            assert!(pairs.permit(1, "5511", 100));
        }
        assert!(!pairs.permit(1, "5511", 100 + 119_999));
        assert!(pairs.permit(1, "5511", 100 + 120_000));
        assert!(pairs.permit(2, "5511", 100));
    }

    #[test]
    fn a_pair_never_gets_more_than_forty_five_at_once() {
        let mut pairs = PairThrottle::default();
        let accepted = (0..60).filter(|_| pairs.permit(1, "5511", 0)).count();
        assert_eq!(accepted, 45);
    }
}
