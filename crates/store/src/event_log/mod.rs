//! The event log: what happened to a company's sends, messages, channels, templates and webhook endpoints, and who opted
//! out, for programs that read it.
//!
//! Entries are written in the transaction of the change, those of messages while their rows are locked, so that the
//! entries of one message are in the order of its states. A block is what one write changed. Readers have places of their own in
//! the log and remove nothing; old blocks are [trimmed](trim). Only what somebody reads is written: without a reader, a
//! write costs nothing more.
//!
//! **What is settled.** On PostgreSQL, a block may be committed after one with a higher number. A transaction therefore
//! holds a shared lock from before it numbers a block until it ends, and a reader goes on only to a block that was there
//! when none of those was open any more ([`EventLog::settle`]).

mod chosen;
mod read;
mod reader;
mod tell;
mod trim;

use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use entity::event_block::{Column, Entity};
use parking_lot::Mutex;
use sea_orm::{ColumnTrait, DbBackend, EntityTrait, QueryFilter, QuerySelect};
use tokio::sync::Notify;
use tokio::time::sleep;
use uuid::Uuid;

pub use self::read::{LogEvent, Page};
use self::reader::KnownReaders;
pub use self::reader::{Behind, Reader};
pub use self::trim::LogBounds;
use super::{Error, Result, Store, fetch_one};
use crate::nouns::EventLog;
use domain::event::log::Sequence;

pub(super) use self::tell::{MovedRow, untold_states};

/// The key of the lock that transactions hold while they write blocks, in two halves: "pombo log" in ASCII, shortened.
const LOCK: (i32, i32) = (0x706f_6d62, 0x6f6c_6f67);
/// How often a caller that needs the end of the log looks for it, and the pause after each look.
const LOOKS: u32 = 100;
const LOOK_PAUSE: Duration = Duration::from_millis(20);

/// What all handles of a database in this process know of the log.
#[derive(Debug, Default)]
pub(crate) struct LogState {
    /// Notified when there may be new blocks.
    written: Notify,
    known: Mutex<KnownReaders>,
    settling: tokio::sync::Mutex<Settling>,
    /// How many looks at the end of the log have begun.
    looks: AtomicU64,
}

/// How the log becomes complete.
#[derive(Debug, Default)]
struct Settling {
    /// No block up to this one will be added any more.
    through: i64,
    /// The block up to which the log is complete once these transactions have ended.
    next: Option<(i64, HashSet<String>)>,
}

/// How far the log is complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settled {
    /// No block up to this one will be added any more.
    pub through: i64,
    /// Whether that is all of the log. If not, transactions that may add to it are open.
    pub is_all: bool,
}

impl Settling {
    /// The newest block that was seen, and the transactions that were open after that.
    fn seen(&mut self, newest: i64, open: HashSet<String>) {
        if let Some((through, before)) = self.next.take() {
            if before.is_disjoint(&open) {
                self.through = self.through.max(through);
            } else {
                self.next = Some((through, before));
            }
        }
        if open.is_empty() {
            self.through = self.through.max(newest);
            self.next = None;
        } else if self.next.is_none() && newest > self.through {
            self.next = Some((newest, open));
        }
    }
}

impl Store {
    /// Notifies the readers of this process that there may be new blocks.
    pub(super) fn tell_of_events(&self) {
        self.pools.log.written.notify_one();
    }
}

impl EventLog<'_> {
    /// Waits until this process may have written blocks since the previous call. Only one task may wait.
    pub async fn written(self) {
        self.store.pools.log.written.notified().await;
    }

    /// How far the log is complete.
    pub async fn settle(self) -> Result<Settled> {
        let LogState { settling, looks, .. } = &self.store.pools.log;
        let before = looks.load(Ordering::Acquire);
        // One look at a time: what an earlier one saw must not be taken for what a later one did.
        let mut settling = settling.lock().await;
        if looks.load(Ordering::Acquire) == before {
            looks.fetch_add(1, Ordering::AcqRel);
            let (newest, open) = self.newest().await?;
            settling.seen(newest, open);
        }
        Ok(Settled { through: settling.through, is_all: settling.next.is_none() })
    }

    /// The place after all events that are in the log now. What this process knows of the end may be old, or nothing: then
    /// this waits until the transactions have ended that may add blocks before the newest one.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`] when they take too long.
    pub(crate) async fn end(self) -> Result<Sequence> {
        let (newest, _) = self.newest().await?;
        for _ in 0..LOOKS {
            let through = self.settle().await?.through;
            if through >= newest {
                return Ok(Sequence::end_of(through));
            }
            sleep(LOOK_PAUSE).await;
        }
        Err(Error::Unavailable("transactions that write to the log of events take too long".to_owned()))
    }

    /// The companies with blocks after `before` and up to `through`.
    pub async fn companies_of(self, before: i64, through: i64) -> Result<Vec<Uuid>> {
        let blocks = Entity::find().filter(Column::Seq.gt(before)).filter(Column::Seq.lte(through));
        let companies = blocks.select_only().column(Column::CompanyId).distinct().into_tuple::<Uuid>();
        Ok(companies.all(&self.store.read).await?)
    }

    /// The newest block, and the transactions that may still add one before it.
    async fn newest(self) -> Result<(i64, HashSet<String>)> {
        let newest = "SELECT COALESCE(MAX(seq), 0) AS newest";
        if self.store.backend != DbBackend::Postgres {
            let newest = fetch_one(&self.store.read, format!("{newest} FROM event_block"), []).await?;
            return Ok((newest.unwrap_or_default(), HashSet::new()));
        }
        // The statement sees the blocks as they were at its beginning, and the locks later.
        let sql = format!(
            "SELECT newest.newest, ARRAY(SELECT virtualtransaction::text FROM pg_locks WHERE locktype = 'advisory' \
             AND granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database()) \
             AND classid::bigint = {} AND objid::bigint = {} AND objsubid = 2) FROM ({newest} FROM event_block) AS newest",
            LOCK.0, LOCK.1
        );
        let (newest, open): (i64, Vec<String>) =
            fetch_one(&self.store.read, sql, []).await?.unwrap_or_default();
        Ok((newest, open.into_iter().collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(names: &[&str]) -> HashSet<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn the_log_is_complete_up_to_what_was_there_before_the_open_transactions_ended() {
        let mut settling = Settling::default();
        settling.seen(4, open(&[]));
        assert_eq!(settling.through, 4);
        settling.seen(7, open(&["3/1", "3/2"]));
        settling.seen(9, open(&["3/2", "3/3"]));
        assert_eq!(settling.through, 4, "one of the first two is open");
        settling.seen(9, open(&["3/3"]));
        assert_eq!(settling.through, 7, "block 9 was not known to be there before 3/3 wrote");
        settling.seen(11, open(&["3/4"]));
        assert_eq!(settling.through, 9);
        settling.seen(12, open(&[]));
        assert_eq!((settling.through, settling.next.is_none()), (12, true));
        settling.seen(0, open(&[]));
        assert_eq!(settling.through, 12, "an emptied log is complete as far as before");
    }
}
