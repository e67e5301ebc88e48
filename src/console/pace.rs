//! How fast the pages of a session may change something: each change is recorded, and records are kept for long.
//!
//! A session may make many changes at once and then one each second; the sessions of one person share such an allowance
//! too. Each node counts for itself.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use uuid::Uuid;

/// The time in which a change becomes possible again.
const INTERVAL: Duration = Duration::from_secs(1);
/// The changes that a session, or the sessions of a person, may make at once: more than a person clicks.
const SESSION: u32 = 100;
const PERSON: u32 = 200;
/// The maximum of sessions, and of people, that are counted: each signed in lately. The fullest allowances are forgotten
/// first, which gives the least back.
const CAPACITY: usize = 10_000;

/// The changes that sessions and people made lately.
#[derive(Debug, Default)]
pub(super) struct Pace(Mutex<ChangeCounts>);

#[derive(Debug, Default)]
struct ChangeCounts {
    sessions: Spent,
    people: Spent,
}

/// When each allowance is full again.
#[derive(Debug, Default)]
struct Spent(HashMap<Uuid, Instant>);

impl Spent {
    /// How long until the next change is possible.
    fn wait(&self, key: Uuid, most: u32, now: Instant) -> Duration {
        let full = self.0.get(&key).copied().unwrap_or(now);
        full.saturating_duration_since(now).saturating_sub(INTERVAL * (most - 1))
    }

    fn count(&mut self, key: Uuid, now: Instant) {
        if self.0.len() >= CAPACITY && !self.0.contains_key(&key) {
            self.0.retain(|_, full| *full > now);
            if self.0.len() >= CAPACITY {
                let mut times: Vec<_> = self.0.values().copied().collect();
                let (_, median, _) = times.select_nth_unstable(CAPACITY / 2);
                let median = *median;
                self.0.retain(|_, full| *full > median);
            }
        }
        let full = self.0.entry(key).or_insert(now);
        *full = (*full).max(now) + INTERVAL;
    }
}

impl Pace {
    /// Counts a change.
    ///
    /// # Errors
    ///
    /// How long the person has to wait. The change does not count then.
    pub(super) fn admit(&self, session: Uuid, person: Uuid, now: Instant) -> Result<(), Duration> {
        let mut counts = self.0.lock();
        let wait = counts.sessions.wait(session, SESSION, now).max(counts.people.wait(person, PERSON, now));
        if wait > Duration::ZERO {
            return Err(wait);
        }
        counts.sessions.count(session, now);
        counts.people.count(person, now);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_may_change_much_at_once_and_then_one_thing_a_second() {
        let (pace, now) = (Pace::default(), Instant::now());
        let [ana, bea] = [Uuid::from_u128(1), Uuid::from_u128(2)];
        for _ in 0..SESSION {
            assert_eq!(pace.admit(ana, ana, now), Ok(()));
        }
        assert_eq!(pace.admit(ana, ana, now), Err(INTERVAL));
        assert_eq!(pace.admit(ana, ana, now + INTERVAL), Ok(()));
        assert!(pace.admit(ana, ana, now + INTERVAL).is_err());
        assert_eq!(pace.admit(bea, bea, now), Ok(()), "another person");
        let later = now + INTERVAL * (SESSION + 1);
        for _ in 0..SESSION {
            assert_eq!(pace.admit(ana, ana, later), Ok(()));
        }
    }

    #[test]
    fn more_sessions_of_a_person_do_not_make_more_changes() {
        let (pace, now, person) = (Pace::default(), Instant::now(), Uuid::from_u128(1));
        let admitted = (0..10 * SESSION)
            .filter(|change| pace.admit(Uuid::from_u128(u128::from(*change % 10)), person, now).is_ok());
        assert_eq!(admitted.count(), PERSON as usize);
    }

    #[test]
    fn what_is_counted_is_bounded_and_who_spent_most_stays() {
        let (pace, now) = (Pace::default(), Instant::now());
        let busy = Uuid::from_u128(u128::MAX);
        while pace.admit(busy, busy, now).is_ok() {}
        for other in 0..3 * CAPACITY as u128 {
            let other = Uuid::from_u128(other);
            assert_eq!(pace.admit(other, other, now), Ok(()));
        }
        let counts = pace.0.lock();
        assert!(counts.sessions.0.len() <= CAPACITY && counts.people.0.len() <= CAPACITY);
        drop(counts);
        assert!(pace.admit(busy, busy, now).is_err());
    }
}
