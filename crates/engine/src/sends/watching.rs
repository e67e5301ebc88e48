//! Callers that wait until a send changes.
//!
//! One task reads all sends that callers wait for, so that a thousand callers cost the database what one costs. It runs
//! while somebody waits, and reads less often when reading takes long.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tokio::sync::watch;
use uuid::Uuid;

use super::tallies::SMALL;
use crate::rounds::caught;
use crate::sends::Sends;
use crate::{Engine, Error};
use clock::Timestamp;
use domain::error::{Code, Refusal};
use domain::send::{Counts, Stage};
use store::sends::list::Record;

/// How often the sends are read …
const EVERY: Duration = Duration::from_millis(500);
/// … or this many times as seldom as reading takes.
const SHARE: u32 = 20;
/// Callers that wait at the same time: each keeps a connection.
const MOST: usize = 1_000;
/// Callers of one company that wait at the same time.
const MOST_OF_COMPANY: usize = 100;

/// What a caller sees of a send change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Glimpse {
    stage: Stage,
    /// Not counted for a large send.
    counts: Counts,
    /// For a large send, how far it went.
    high_water: u64,
}

impl Glimpse {
    fn of(send: &Record) -> Self {
        let is_large = send.recipients > SMALL;
        Self {
            stage: send.stage,
            counts: if is_large { Counts::default() } else { send.counts },
            high_water: if is_large { send.progress.high_water } else { 0 },
        }
    }
}

/// A send as it was read; `glimpse` is `None` when it is not there any more.
#[derive(Debug, Clone, Copy)]
struct LastRead {
    round: u64,
    glimpse: Option<Glimpse>,
}

/// The sends that callers wait for.
pub(crate) struct Watches {
    open: Mutex<WaitedFor>,
    closing: watch::Sender<bool>,
}

impl Default for Watches {
    fn default() -> Self {
        Self { open: Mutex::default(), closing: watch::Sender::new(false) }
    }
}

#[derive(Default)]
struct WaitedFor {
    sends: HashMap<(Uuid, Uuid), Watched>,
    /// The number of the last round of reading that began.
    round: u64,
    is_read: bool,
}

impl WaitedFor {
    /// The callers of these companies.
    fn callers(&self, is_meant: impl Fn(Uuid) -> bool) -> usize {
        let sends = self.sends.iter().filter(|((company, _), _)| is_meant(*company));
        sends.map(|(_, watched)| watched.callers).sum()
    }
}

struct Watched {
    callers: usize,
    last: watch::Sender<Option<LastRead>>,
}

/// A caller's place, which is free again when the caller leaves.
struct Seat<'e> {
    watches: &'e Watches,
    key: (Uuid, Uuid),
    last: watch::Receiver<Option<LastRead>>,
    /// Rounds up to this one may have read what the caller saw already.
    entered: u64,
    /// Whether the caller has to start the reading.
    is_first: bool,
}

impl Drop for Seat<'_> {
    fn drop(&mut self) {
        let mut open = self.watches.open.lock();
        if let Some(watched) = open.sends.get_mut(&self.key) {
            watched.callers -= 1;
            if watched.callers == 0 {
                open.sends.remove(&self.key);
            }
        }
    }
}

impl Watches {
    /// Answers all callers, and lets no others wait.
    pub(crate) fn close(&self) {
        self.closing.send_replace(true);
    }

    /// How many callers wait.
    pub(crate) fn callers(&self) -> usize {
        self.open.lock().callers(|_| true)
    }

    /// A place for one more caller of this company, or why there is none.
    fn enter(&self, company_id: Uuid, send_id: Uuid) -> Result<Seat<'_>, Refusal> {
        let mut open = self.open.lock();
        let of_company = open.callers(|company| company == company_id);
        if of_company >= MOST_OF_COMPANY || open.callers(|_| true) >= MOST {
            let sentence = format!(
                "{MOST_OF_COMPANY} requests of the company, or {MOST} of all, wait for sends already: ask without \
                 `wait`, or again later"
            );
            return Err(Refusal::new(Code::RateLimited, sentence));
        }
        let key = (company_id, send_id);
        let watched =
            open.sends.entry(key).or_insert_with(|| Watched { callers: 0, last: watch::Sender::new(None) });
        watched.callers += 1;
        let last = watched.last.subscribe();
        let is_first = !std::mem::replace(&mut open.is_read, true);
        Ok(Seat { watches: self, key, last, entered: open.round, is_first })
    }

    /// Begins a round: its number, and the sends to read by company. `None` when nobody waits any more.
    fn begin(&self) -> Option<(u64, HashMap<Uuid, Vec<Uuid>>)> {
        let mut open = self.open.lock();
        if open.sends.is_empty() {
            open.is_read = false;
            return None;
        }
        open.round += 1;
        let mut sends: HashMap<Uuid, Vec<Uuid>> = HashMap::new();
        for (company_id, send_id) in open.sends.keys() {
            sends.entry(*company_id).or_default().push(*send_id);
        }
        Some((open.round, sends))
    }

    /// Tells the callers of a company what a round read.
    fn tell(&self, round: u64, company_id: Uuid, asked: &[Uuid], read: &[Record]) {
        let open = self.open.lock();
        for send_id in asked {
            let glimpse = read.iter().find(|send| send.id == *send_id).map(Glimpse::of);
            if let Some(watched) = open.sends.get(&(company_id, *send_id)) {
                watched.last.send_replace(Some(LastRead { round, glimpse }));
            }
        }
    }
}

impl Sends<'_> {
    /// Waits until a company's send is no longer as this record shows it, at most for `patience`; not at all for a send
    /// that is over, and for a service that is stopping. Of a send with more than 16,384 recipients, the messages that
    /// went out count, and receipts do not.
    ///
    /// # Errors
    ///
    /// `rate_limited` when too many callers wait.
    pub async fn changed(&self, company_id: Uuid, shown: &Record, patience: Duration) -> Result<(), Error> {
        let watches = &self.engine.0.watches;
        let mut closing = watches.closing.subscribe();
        if shown.stage.is_over() || *closing.borrow() {
            return Ok(());
        }
        let mut seat = watches.enter(company_id, shown.id)?;
        if seat.is_first {
            let engine = self.engine.clone();
            self.engine.0.threads[1].spawn(async move { read_watched(&engine).await });
        }
        let (before, entered) = (Some(Glimpse::of(shown)), seat.entered);
        let is_new =
            |last: &Option<LastRead>| last.is_some_and(|read| read.round > entered && read.glimpse != before);
        tokio::select! {
            _ = seat.last.wait_for(is_new) => {}
            _ = closing.wait_for(|closing| *closing) => {}
            () = tokio::time::sleep(patience) => {}
        }
        Ok(())
    }

    /// Answers the callers that wait until a send changes, and lets no others wait: the service is stopping.
    pub fn release_callers(&self) {
        self.engine.0.watches.close();
    }

    /// How many callers wait until a send changes.
    pub fn waiting_callers(&self) -> usize {
        self.engine.0.watches.callers()
    }
}

/// Reads the sends that callers wait for, until nobody waits.
async fn read_watched(engine: &Engine) {
    while let Some((round, sends)) = engine.0.watches.begin() {
        let started = Instant::now();
        for (company_id, asked) in sends {
            let read = caught("watched sends", read_sends(engine, company_id, &asked)).await;
            match read.unwrap_or(Err(Error::Internal)) {
                Ok(read) => engine.0.watches.tell(round, company_id, &asked, &read),
                // The callers wait on, and the next round reads again.
                Err(error) => tracing::debug!(%error, "cannot read the sends that callers wait for"),
            }
        }
        tokio::time::sleep(EVERY.max(started.elapsed().saturating_mul(SHARE))).await;
    }
}

async fn read_sends(engine: &Engine, company_id: Uuid, asked: &[Uuid]) -> Result<Vec<Record>, Error> {
    let records = engine.records_of(company_id).await?;
    Ok(records.of(company_id).sends().these(asked, SMALL, Timestamp::now()).await?)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ACME: Uuid = Uuid::from_u128(1);

    #[test]
    fn a_company_that_waits_a_hundred_times_leaves_room_for_others() {
        let watches = Watches::default();
        let seats: Vec<_> =
            (0..MOST_OF_COMPANY).map(|_| watches.enter(ACME, Uuid::from_u128(7)).unwrap()).collect();
        assert_eq!(watches.enter(ACME, Uuid::from_u128(8)).err().map(|no| no.code), Some(Code::RateLimited));
        assert!(watches.enter(Uuid::from_u128(2), Uuid::from_u128(9)).is_ok());
        assert_eq!(watches.open.lock().sends.len(), 1, "the other one left");
        assert_eq!(seats.iter().filter(|seat| seat.is_first).count(), 1, "one caller starts the reading");
        drop(seats);
        assert!(watches.enter(ACME, Uuid::from_u128(8)).is_ok());
        assert!(watches.begin().is_none() && watches.open.lock().sends.is_empty());
    }

    #[test]
    fn one_round_reads_each_send_once() {
        let watches = Watches::default();
        let _seats = [1, 1, 2].map(|send| watches.enter(ACME, Uuid::from_u128(send)).unwrap());
        let (round, mut sends) = watches.begin().unwrap();
        let asked = sends.remove(&ACME).unwrap();
        assert_eq!((asked.len(), sends.len()), (2, 0));
        let late = watches.enter(ACME, Uuid::from_u128(1)).unwrap();
        assert!(late.entered == round && !late.is_first, "the round under way may have read before it came");
    }
}
