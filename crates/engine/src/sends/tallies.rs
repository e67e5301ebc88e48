//! Tallies of sends: messages by state, by error, and over time.
//!
//! The store keeps rows and no figures, so that a message costs one row. A small send is counted on request. The rows
//! of a large one are counted part by part, in turns with other requests, one send at a time, and again only when
//! counting takes a small share of the time: a caller in between gets the latest figures, with the time of the count. The
//! figures of a company's days are counted in the same way.
//! Nothing of this is stored: a new process counts again.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tokio::sync::watch;
use uuid::Uuid;

use crate::Error;
use crate::fair_queue::{FairQueue, Grant, Share};
use crate::sends::Sends;
use clock::Timestamp;
use domain::send::{Counts, Pace, Tally};
use store::sends::list::Record;

/// A send with no more recipients than this is counted on request, in some milliseconds.
pub(super) const SMALL: u64 = 16_384;
/// Rows that are counted in one turn.
pub(super) const PART: u64 = 50_000;
/// Figures of a large send are at least this old before it is counted again …
const LEAST_AGE: Duration = Duration::from_secs(2);
/// … and this many times as old as counting took.
const SHARE: u32 = 20;
/// The messages that are counted for a list at once.
const LISTED: u64 = 2 * SMALL;
/// The larger sends of a company's lists that are counted behind them: a single send's page has no such bound.
const MOST_LISTED: usize = 10;
/// The most figures that are kept, beside those that are being counted.
const MOST: usize = 256;

/// The figures of a send, and when they were counted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Counted {
    /// The figures.
    pub tally: Tally,
    /// When counting began.
    pub at: Timestamp,
}

type Latest<T> = Option<Arc<T>>;

/// Figures of type `T` that take long to count, of everything that a `K` names: large sends, or the days of a company.
pub(crate) struct Tallies<K, T> {
    known: Mutex<HashMap<K, Entry<T>>>,
    /// One of them is counted at a time, and companies take turns.
    queue: Arc<FairQueue>,
    /// One entry for each company whose figures were counted.
    turns: Mutex<HashMap<Uuid, Share>>,
}

struct Entry<T> {
    company_id: Uuid,
    latest: watch::Sender<Latest<T>>,
    is_counting: bool,
    /// It is not counted again before this.
    due: Instant,
    asked: Instant,
}

impl<K, T> Default for Tallies<K, T> {
    fn default() -> Self {
        Self { known: Mutex::default(), queue: FairQueue::new(1), turns: Mutex::default() }
    }
}

impl<K: Copy + Eq + Hash, T> Tallies<K, T> {
    /// The receiver of the figures of `key`, which belongs to the company, and whether the caller has to count them.
    pub(super) fn ask(&self, company_id: Uuid, key: K, now: Instant) -> (watch::Receiver<Latest<T>>, bool) {
        let mut known = self.known.lock();
        while known.len() >= MOST && !known.contains_key(&key) {
            let idle = known.iter().filter(|(_, entry)| !entry.is_counting);
            let Some(oldest) = idle.min_by_key(|(_, entry)| entry.asked).map(|(key, _)| *key) else { break };
            known.remove(&oldest);
        }
        let entry = known.entry(key).or_insert_with(|| Entry {
            company_id,
            latest: watch::Sender::new(None),
            is_counting: false,
            due: now,
            asked: now,
        });
        entry.asked = now;
        let is_due = !entry.is_counting && entry.due <= now;
        entry.is_counting |= is_due;
        (entry.latest.subscribe(), is_due)
    }

    /// The latest figures of `key`, without a wish for newer ones.
    fn latest(&self, key: K) -> Latest<T> {
        self.known.lock().get(&key).and_then(|entry| entry.latest.borrow().clone())
    }

    /// How many more of a company's lists may be counted. Each company has places of its own, so that one with many large
    /// sends leaves others theirs.
    fn room(&self, company_id: Uuid) -> usize {
        let known = self.known.lock();
        let own = known.values().filter(|entry| entry.is_counting && entry.company_id == company_id);
        MOST_LISTED.saturating_sub(own.count())
    }

    /// Waits until it is the company's turn to count; others wait until the grant is dropped.
    pub(super) async fn turn(&self, company_id: Uuid) -> Option<Grant> {
        let turn = self.queue.enqueue(self.turns.lock().entry(company_id).or_default(), 1);
        turn.come().await
    }

    /// Notes the end of a count: its figures, if it succeeded, and how long it took.
    pub(super) fn counted(&self, key: K, figures: Option<T>, took: Duration) {
        if let Some(entry) = self.known.lock().get_mut(&key) {
            entry.is_counting = false;
            entry.due = Instant::now() + LEAST_AGE.max(took.saturating_mul(SHARE));
            if let Some(figures) = figures {
                entry.latest.send_replace(Some(Arc::new(figures)));
            }
        }
    }
}

impl Sends<'_> {
    /// The figures of a company's send. Those of a large one may be some seconds old; `None` when nobody counted it
    /// before, and counting takes longer than `patience`.
    pub async fn tally(
        &self,
        company_id: Uuid,
        send: &Record,
        patience: Duration,
    ) -> Result<Option<Arc<Counted>>, Error> {
        if send.recipients <= SMALL {
            return Ok(self.count(company_id, send.id).await?.map(Arc::new));
        }
        Ok(self.latest(company_id, send, patience).await)
    }

    /// The latest figures of a large send, which is counted in its turn when that is due.
    async fn latest(&self, company_id: Uuid, send: &Record, patience: Duration) -> Latest<Counted> {
        let (mut latest, is_due) = self.engine.0.tallies.ask(company_id, send.id, Instant::now());
        if is_due {
            let (engine, send_id) = (self.engine.clone(), send.id);
            self.engine.0.threads[1]
                .spawn(async move { engine.sends().count_in_turn(company_id, send_id).await });
        }
        let counted = tokio::time::timeout(patience, latest.wait_for(Option::is_some)).await;
        counted.ok().and_then(|latest| latest.ok()?.clone())
    }

    /// The counts of the messages of listed sends, as far as they are known at once: small sends are counted, and of large
    /// ones the latest figures count. The list shows the others when it is opened again.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`] when the database is away.
    pub async fn counts(&self, company_id: Uuid, sends: &[Record]) -> Result<HashMap<Uuid, Counts>, Error> {
        let records = self.engine.records_of(company_id).await?;
        let mut known = records.of(company_id).sends().counts_within(sends, LISTED).await?;
        drop(records);
        let tallies = &self.engine.0.tallies;
        let others = sends.iter().filter(|send| !known.contains_key(&send.id));
        let mut others: Vec<_> = others.map(|send| (send, tallies.latest(send.id))).collect();
        // Those without figures are counted first, then those with the oldest.
        others.sort_by_key(|(_, figures)| figures.as_ref().map(|counted| counted.at));
        let room = tallies.room(company_id);
        for (place, (send, figures)) in others.into_iter().enumerate() {
            let figures =
                if place < room { self.latest(company_id, send, Duration::ZERO).await } else { figures };
            if let Some(counted) = figures {
                known.insert(send.id, counted.tally.counts);
            }
        }
        Ok(known)
    }

    async fn count_in_turn(self, company_id: Uuid, send_id: Uuid) {
        let _turn = self.engine.0.tallies.turn(company_id).await;
        let started = Instant::now();
        let counted = self.count(company_id, send_id).await;
        // A failure was logged.
        self.engine.0.tallies.counted(send_id, counted.ok().flatten(), started.elapsed());
    }

    /// Counts the messages of a send as it is now; `None` when the company has no such send any more.
    async fn count(&self, company_id: Uuid, send_id: Uuid) -> Result<Option<Counted>, Error> {
        let at = Timestamp::now();
        let records = self.engine.records_of(company_id).await?;
        let Some(send) = records.of(company_id).sends().head(send_id, at).await? else { return Ok(None) };
        drop(records);
        let begins = send.schedule.send_at.map_or(send.created_at, |start| start.max(send.created_at));
        let pace = Pace::between(begins, send.finished_at.unwrap_or(at));
        let mut tally = Tally::new(pace);
        // At and above the high-water mark there are no rows.
        let (mut next, end) = (0, send.progress.high_water.min(send.recipients));
        while next < end {
            let to = next.saturating_add(PART).min(end);
            let records = self.engine.records_of(company_id).await?;
            tally.add(records.sends().tally_part(send_id, next, to, &tally.pace).await?);
            next = to;
        }
        tally.finish(send.state, end, send.recipients);
        Ok(Some(Counted { tally, at }))
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    const COMPANY: Uuid = Uuid::from_u128(9);

    fn counted() -> Counted {
        let at = Timestamp::from_millis(7);
        Counted { tally: Tally::new(Pace::between(at, at)), at }
    }

    #[test]
    fn one_caller_counts_a_send_and_no_other_counts_it_again_at_once() {
        let (tallies, id, now) = (Tallies::<Uuid, Counted>::default(), Uuid::from_u128(1), Instant::now());
        let (first, is_due) = tallies.ask(COMPANY, id, now);
        assert!(is_due && first.borrow().is_none());
        assert!(!tallies.ask(COMPANY, id, now).1, "it is being counted");
        tallies.counted(id, Some(counted()), Duration::from_millis(300));
        assert_eq!(first.borrow().as_deref(), Some(&counted()));
        assert!(!tallies.ask(COMPANY, id, now + LEAST_AGE).1, "counting took long: it is not due yet");
        assert!(tallies.ask(COMPANY, id, now + Duration::from_secs(60)).1);
    }

    #[test]
    fn a_failed_count_is_retried_later_and_keeps_the_earlier_figures() {
        let (tallies, id, now) = (Tallies::<Uuid, Counted>::default(), Uuid::from_u128(1), Instant::now());
        let (latest, _) = tallies.ask(COMPANY, id, now);
        tallies.counted(id, Some(counted()), Duration::ZERO);
        assert!(tallies.ask(COMPANY, id, now + Duration::from_secs(60)).1);
        tallies.counted(id, None, Duration::ZERO);
        assert!(latest.borrow().is_some());
        assert!(tallies.ask(COMPANY, id, now + Duration::from_secs(60)).1);
    }

    #[test]
    fn the_figures_that_were_asked_for_least_recently_make_room() {
        let (tallies, now) = (Tallies::<Uuid, Counted>::default(), Instant::now());
        for number in 0..MOST + 5 {
            let id = Uuid::from_u128(number as u128);
            tallies.ask(COMPANY, id, now + Duration::from_millis(number as u64));
            tallies.counted(id, Some(counted()), Duration::ZERO);
        }
        let known = tallies.known.lock();
        assert_eq!(known.len(), MOST);
        assert!(!known.contains_key(&Uuid::from_u128(4)) && known.contains_key(&Uuid::from_u128(5)));
    }

    #[test]
    fn a_company_with_many_large_sends_leaves_others_their_places_and_their_turns() {
        let (tallies, now) = (Tallies::<Uuid, Counted>::default(), Instant::now());
        let other = Uuid::from_u128(8);
        for number in 0..2 * MOST_LISTED {
            tallies.ask(COMPANY, Uuid::from_u128(number as u128), now);
        }
        assert_eq!((tallies.room(COMPANY), tallies.room(other)), (0, MOST_LISTED));
        let first = tallies.turn(COMPANY).now_or_never().expect("nobody else counts");
        let mut own: Vec<_> = (0..MOST_LISTED).map(|_| Box::pin(tallies.turn(COMPANY))).collect();
        assert!(own.iter_mut().all(|turn| turn.now_or_never().is_none()));
        let mut others = Box::pin(tallies.turn(other));
        assert!((&mut others).now_or_never().is_none());
        drop(first);
        assert!((&mut others).now_or_never().is_some(), "it stood behind the sends of the first company");
    }
}
