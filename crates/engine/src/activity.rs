//! The recent activity of channels, for people: the present pace, and messages in each half minute of the last hour.
//!
//! The counts are in memory and bounded: a new process starts without any. The ledger has the exact, durable figures.

use std::sync::Arc;
use std::time::Duration;

use dashmap::DashMap;
use parking_lot::Mutex;
use uuid::Uuid;

use super::last_seconds::LastSeconds;
use crate::Engine;
use clock::Timestamp;

/// The span of time that is counted together.
pub const SLOT: Duration = Duration::from_secs(30);
/// How many slots are kept.
pub const SLOTS: usize = 120;
const SLOT_MILLIS: i64 = 30_000;

/// The recent activity of all channels in use.
#[derive(Debug, Default)]
pub struct Activity {
    channels: DashMap<Uuid, Arc<Recent>>,
}

/// The recent activity of one channel.
#[derive(Debug)]
pub(crate) struct Recent {
    company_id: Uuid,
    counts: Mutex<Counts>,
}

#[derive(Debug)]
struct Counts {
    /// Messages, indexed by slot modulo the number of slots; empty before the first message.
    sent: Vec<u32>,
    /// Messages of the last seconds.
    seconds: LastSeconds,
    /// The latest slot that was written.
    newest: i64,
}

impl Default for Counts {
    fn default() -> Self {
        Self { sent: Vec::new(), seconds: LastSeconds::default(), newest: i64::MIN }
    }
}

impl Counts {
    fn sent(&mut self, now: Timestamp) {
        let slot = now.millis().div_euclid(SLOT_MILLIS);
        if self.sent.is_empty() {
            self.sent.resize(SLOTS, 0);
        }
        self.advance(slot);
        self.seconds.count(since_epoch(now));
        if let Some(count) = self.sent.get_mut(place(slot)) {
            *count = count.saturating_add(1);
        }
    }

    /// Empties the slots between the last one that was written and this one.
    fn advance(&mut self, slot: i64) {
        if slot <= self.newest {
            return;
        }
        let first = slot.saturating_sub(SLOTS as i64 - 1).max(self.newest.saturating_add(1));
        for empty in first..=slot {
            if let Some(count) = self.sent.get_mut(place(empty)) {
                *count = 0;
            }
        }
        self.newest = slot;
    }

    /// Adds the messages of each slot before the present one, which is not over.
    fn add_to(&self, pace: &mut [u64], now: Timestamp) {
        let current = now.millis().div_euclid(SLOT_MILLIS);
        for (index, sum) in pace.iter_mut().enumerate() {
            let slot = current - SLOTS as i64 + index as i64;
            let is_kept = slot <= self.newest && slot > self.newest - SLOTS as i64;
            if let Some(count) = self.sent.get(place(slot)).filter(|_| is_kept) {
                *sum += u64::from(*count);
            }
        }
    }
}

fn since_epoch(now: Timestamp) -> Duration {
    Duration::from_millis(u64::try_from(now.millis()).unwrap_or_default())
}

fn place(slot: i64) -> usize {
    usize::try_from(slot.rem_euclid(SLOTS as i64)).unwrap_or_default()
}

impl Recent {
    /// The provider accepted a message.
    pub(crate) fn sent(&self) {
        self.counts.lock().sent(Timestamp::now());
    }
}

impl Activity {
    /// The activity record of a channel.
    pub(crate) fn of(&self, channel_id: Uuid, company_id: Uuid) -> Arc<Recent> {
        let fresh = || Arc::new(Recent { company_id, counts: Mutex::default() });
        Arc::clone(&self.channels.entry(channel_id).or_insert_with(fresh))
    }

    fn pace(&self, now: Timestamp, wanted: impl Fn(&Recent) -> bool) -> Vec<u64> {
        let mut pace = vec![0; SLOTS];
        for channel in self.channels.iter().filter(|channel| wanted(channel.value())) {
            channel.counts.lock().add_to(&mut pace, now);
        }
        pace
    }

    fn pace_now(&self, now: Timestamp, wanted: impl Fn(&Recent) -> bool) -> f64 {
        let channels = self.channels.iter().filter(|channel| wanted(channel.value()));
        channels.map(|channel| channel.counts.lock().seconds.per_second(since_epoch(now))).sum()
    }
}

/// The recent activity of a company.
#[derive(Debug, Clone, PartialEq)]
pub struct Lately {
    /// Messages that the provider accepted in each [`SLOT`] of the last hour, the oldest first.
    pub sent: Vec<u64>,
    /// Messages a second that the provider accepted in the last ten seconds.
    pub per_second: f64,
}

impl Engine {
    /// The recent activity of all channels.
    pub fn activity(&self) -> &Activity {
        &self.0.shared.activity
    }
}

impl Activity {
    /// The activity of a company's channels in the last hour.
    pub fn lately(&self, company_id: Uuid) -> Lately {
        let (now, is_own) = (Timestamp::now(), |recent: &Recent| recent.company_id == company_id);
        Lately { sent: self.pace(now, is_own), per_second: self.pace_now(now, is_own) }
    }

    /// Messages a second of all channels together that the provider accepted: in each [`SLOT`] of the last hour, the
    /// oldest first, and in the last ten seconds.
    pub fn pace_of_all(&self) -> Vec<f64> {
        let now = Timestamp::now();
        let whole = self.pace(now, |_| true);
        let whole = whole.into_iter().map(|sent| sent as f64 / SLOT.as_secs_f64());
        whole.chain([self.pace_now(now, |_| true)]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_millis(1_700_000_010_000 + seconds * 1_000)
    }

    fn pace(counts: &Counts, now: Timestamp) -> Vec<u64> {
        let mut pace = vec![0; SLOTS];
        counts.add_to(&mut pace, now);
        pace
    }

    #[test]
    fn messages_are_counted_by_half_minutes_of_the_last_hour() {
        let mut counts = Counts::default();
        for second in [0, 29, 30, 95] {
            counts.sent(at(second));
        }
        assert_eq!(pace(&counts, at(120))[SLOTS - 4..], [2, 1, 0, 1]);
        assert_eq!(pace(&counts, at(29)).iter().sum::<u64>(), 0, "a slot counts once it is over");
        assert_eq!(pace(&counts, at(3_600 + 30)).iter().sum::<u64>(), 2);
        assert_eq!(pace(&counts, at(7_300)).iter().sum::<u64>(), 0);
        counts.sent(at(7_300));
        assert_eq!(pace(&counts, at(7_330)).iter().sum::<u64>(), 1, "older messages no longer count");
    }

    #[test]
    fn the_present_pace_sums_a_company_s_channels_and_falls_to_zero_when_they_stop() {
        let (activity, company) = (Activity::default(), Uuid::now_v7());
        for owner in [company, company, Uuid::now_v7()] {
            let recent = activity.of(Uuid::now_v7(), owner);
            (0..20).for_each(|_| recent.counts.lock().sent(at(29)));
        }
        let now = |second| activity.pace_now(at(second), |recent: &Recent| recent.company_id == company);
        assert_eq!([29, 30, 33, 40].map(|second| (now(second) * 10.0) as u64), [40, 40, 40, 0]);
    }
}
