//! The retries of an endpoint: failed events, and when each is due.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use super::effect::Write;
use super::input::EventItem;
use crate::Moment;
use clock::Timestamp;

/// The delays after the first attempt, the second one and so on, before jitter: about three days together. After the
/// next attempt the event is given up.
pub(super) const DELAYS: [Duration; 9] = [
    Duration::from_secs(5),
    Duration::from_secs(5 * 60),
    Duration::from_secs(30 * 60),
    Duration::from_secs(2 * 60 * 60),
    Duration::from_secs(5 * 60 * 60),
    Duration::from_secs(10 * 60 * 60),
    Duration::from_secs(14 * 60 * 60),
    Duration::from_secs(20 * 60 * 60),
    Duration::from_secs(24 * 60 * 60),
];
/// The part of a delay by which the jitter shortens or lengthens it at most.
const JITTER: f64 = 0.2;
/// The longest `Retry-After` that is respected.
const LONGEST_RETRY_AFTER: Duration = Duration::from_secs(24 * 60 * 60);
/// The most retries of an endpoint, besides those that a replay adds. Beyond it, those that failed most often are given up.
pub(super) const MOST_RETRIES: usize = 1_000;

/// A failed event that waits for its next attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retry {
    /// The event. The store may keep its key, or look it up in the log.
    pub item: EventItem,
    /// The failed attempts: from 1 to 9, and 0 for an event that is sent once more.
    pub attempts: u16,
    /// When the next attempt is due.
    pub next_at: Timestamp,
}

impl Retry {
    /// The retry after this many failed attempts; `None` when they are used up.
    pub(super) fn after(
        item: EventItem,
        attempts: u16,
        retry_after: Option<Duration>,
        chance: f64,
        at: Moment,
    ) -> Option<(Self, Instant)> {
        let delay = DELAYS.get(usize::from(attempts).checked_sub(1)?)?;
        let delay = delay.mul_f64(1.0 - JITTER + 2.0 * JITTER * chance.clamp(0.0, 1.0));
        let delay = delay.max(bounded(retry_after));
        Some((Self { item, attempts, next_at: at.wall.plus(delay) }, at.monotonic + delay))
    }
}

/// The receiver's wish, bounded. A shorter one than our own delay has no effect.
pub(super) fn bounded(retry_after: Option<Duration>) -> Duration {
    retry_after.unwrap_or_default().min(LONGEST_RETRY_AFTER)
}

#[derive(Debug)]
struct RetryRow {
    retry: Retry,
    /// The time of the retry by the monotonic clock.
    due: Instant,
    is_in_flight: bool,
}

/// The retries, with the changes that are not in the store.
#[derive(Debug)]
pub(super) struct Retries {
    rows: BTreeMap<i64, RetryRow>,
    /// The retries that were inserted, replaced or removed since the last write began.
    changed: BTreeSet<i64>,
    /// The events that were given up since the last write began.
    given_up: BTreeSet<i64>,
}

impl Retries {
    pub(super) fn new(stored: Vec<Retry>, at: Moment) -> Self {
        // A later time was stored before the wall clock was set back.
        let longest = LONGEST_RETRY_AFTER.mul_f64(1.0 + JITTER);
        let rows = stored.into_iter().map(|retry| {
            let due = at.monotonic + retry.next_at.from_now(at.wall).min(longest);
            (retry.item.sequence, RetryRow { retry, due, is_in_flight: false })
        });
        Self { rows: rows.collect(), changed: BTreeSet::new(), given_up: BTreeSet::new() }
    }

    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    /// The due retries that are not in flight, in the order of the log.
    pub(super) fn due(&self, now: Instant) -> impl Iterator<Item = &Retry> {
        self.waiting().filter(move |row| row.due <= now).map(|row| &row.retry)
    }

    /// The retry that has been due for the longest time.
    pub(super) fn longest_due(&self, now: Instant) -> Option<EventItem> {
        let due = self.waiting().filter(|row| row.due <= now);
        due.min_by_key(|row| row.due).map(|row| row.retry.item)
    }

    /// When the next retry becomes due.
    pub(super) fn next_due(&self, now: Instant) -> Option<Instant> {
        self.waiting().map(|row| row.due).filter(|due| *due > now).min()
    }

    fn waiting(&self) -> impl DoubleEndedIterator<Item = &RetryRow> {
        self.rows.values().filter(|row| !row.is_in_flight)
    }

    pub(super) fn begin(&mut self, sequence: i64) {
        if let Some(row) = self.rows.get_mut(&sequence) {
            row.is_in_flight = true;
        }
    }

    /// An attempt of the retry ended and says nothing about the event.
    pub(super) fn put_back(&mut self, sequence: i64) {
        if let Some(row) = self.rows.get_mut(&sequence) {
            row.is_in_flight = false;
        }
    }

    /// The failed attempts of a retry; `None` when it was dropped meanwhile.
    pub(super) fn attempts(&self, sequence: i64) -> Option<u16> {
        self.rows.get(&sequence).map(|row| row.retry.attempts)
    }

    pub(super) fn put(&mut self, (retry, due): (Retry, Instant)) {
        self.changed.insert(retry.item.sequence);
        self.rows.insert(retry.item.sequence, RetryRow { retry, due, is_in_flight: false });
    }

    /// The event is due now, whether it waits for a retry or not.
    pub(super) fn send_once_more(&mut self, item: EventItem, at: Moment) {
        match self.rows.get(&item.sequence) {
            Some(row) if row.is_in_flight => {}
            Some(row) => self.put((Retry { next_at: at.wall, ..row.retry }, at.monotonic)),
            None => self.put((Retry { item, attempts: 0, next_at: at.wall }, at.monotonic)),
        }
    }

    /// The event is given up, whether it has a retry or not.
    pub(super) fn give_up(&mut self, sequence: i64) {
        self.remove(sequence);
        self.given_up.insert(sequence);
    }

    pub(super) fn remove(&mut self, sequence: i64) {
        if self.rows.remove(&sequence).is_some() {
            self.changed.insert(sequence);
        }
    }

    pub(super) fn clear(&mut self) {
        self.changed.extend(self.rows.keys());
        self.rows.clear();
    }

    /// The event that failed most often, of those that wait; of several, the first one.
    pub(super) fn most_failed(&self) -> Option<i64> {
        let failed = self.waiting().filter(|row| row.retry.attempts > 0);
        failed.rev().max_by_key(|row| row.retry.attempts).map(|row| row.retry.item.sequence)
    }

    /// The events that are sent once more and have not failed again.
    pub(super) fn fresh(&self) -> usize {
        self.rows.values().filter(|row| row.retry.attempts == 0).count()
    }

    pub(super) fn is_changed(&self) -> bool {
        !self.changed.is_empty() || !self.given_up.is_empty()
    }

    /// Takes the changes out.
    pub(super) fn changes(&mut self) -> Write {
        let (mut put, mut remove) = (Vec::new(), Vec::new());
        let give_up = std::mem::take(&mut self.given_up).into_iter().collect();
        for sequence in std::mem::take(&mut self.changed) {
            match self.rows.get(&sequence) {
                Some(row) => put.push(row.retry),
                None => remove.push(sequence),
            }
        }
        Write { put, remove, give_up, ..Write::default() }
    }

    /// The write of these changes failed: the next write has them, too.
    pub(super) fn changed_again(&mut self, write: Write) {
        self.changed.extend(write.put.iter().map(|retry| retry.item.sequence).chain(write.remove));
        self.given_up.extend(write.give_up);
    }
}
