//! The outbox: events are written in the transaction of their change, and removed when they are published.
//!
//! A store that was opened without [`Store::writing_events`] writes none, at no cost. Rows are numbered in the order of
//! their changes; those of one message while its row is locked, so that their numbers are in the order of its states. The
//! publisher reads the lowest numbers first and removes the published ones; other rows may be committed meanwhile under
//! lower numbers, so that it never removes by a range.

mod announce;
mod loss;
mod moved;
mod read;

use std::sync::Arc;

pub use self::read::Pending;
use super::dialect::{Rows, Type};
use super::{Result, Store};
use crate::nouns::Outbox;
use clock::Timestamp;
use sea_orm::ConnectionTrait as _;

pub(super) use self::announce::{Announced, Moves};
pub(super) use self::moved::{untold_states, with_events, with_events_of_send, with_inbound_events};

/// The values of the column `kind`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Message = 1,
    Send = 2,
    Channel = 3,
    Inbound = 4,
    Lost = 5,
}

impl Kind {
    const fn as_i16(self) -> i16 {
        self as i16
    }

    fn from_i16(value: i16) -> Option<Self> {
        let all = [Self::Message, Self::Send, Self::Channel, Self::Inbound, Self::Lost];
        all.into_iter().find(|kind| kind.as_i16() == value)
    }
}

/// The size and age of the outbox.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Extent {
    /// Rows. Numbers that were skipped count too, which is rare.
    pub rows: u64,
    /// When the oldest was written.
    pub oldest: Option<Timestamp>,
}

const SEQ: &[(&str, Type)] = &[("seq", Type::Int)];

impl Store {
    /// The same store, which writes events with its changes.
    #[must_use]
    pub fn writing_events(mut self) -> Self {
        self.outbox = Some(Arc::default());
        self
    }

    /// Whether this store writes events.
    pub const fn writes_events(&self) -> bool {
        self.outbox.is_some()
    }

    /// Notifies the publisher that there may be events.
    pub(super) fn tell_of_events(&self) {
        if let Some(written) = &self.outbox {
            written.notify_one();
        }
    }
}

impl Outbox<'_> {
    /// Waits until this process may have written events since the previous call.
    pub async fn written(self) {
        match &self.store.outbox {
            Some(written) => written.notified().await,
            None => std::future::pending().await,
        }
    }

    /// The size and age of the events that wait to be published.
    pub async fn extent(self) -> Result<Extent> {
        // By number, because an index gives the lowest and the highest.
        let sql = "SELECT (SELECT MAX(seq) FROM outbox_event) AS newest, seq, written_at \
                   FROM outbox_event ORDER BY seq LIMIT 1";
        let Some(row) = self.store.row(sql, []).await? else { return Ok(Extent::default()) };
        let (last, first): (i64, i64) = (row.try_get_by_index(0)?, row.try_get_by_index(1)?);
        let oldest = Timestamp::from_millis(row.try_get_by_index(2)?);
        Ok(Extent { rows: last.abs_diff(first) + 1, oldest: Some(oldest) })
    }

    /// Removes events that were published, or never can be.
    pub async fn remove(self, numbers: &[i64]) -> Result<()> {
        if numbers.is_empty() {
            return Ok(());
        }
        let mut rows = Rows::new(self.store.backend, SEQ);
        numbers.iter().for_each(|seq| rows.push([(*seq).into()]));
        let (rows, values) = rows.select(1);
        // Several nodes publish, and may remove the same events. They remove them in one order, so that they do not
        // wait for each other.
        let locking = self.store.locking();
        let sql = format!(
            "DELETE FROM outbox_event WHERE seq IN (SELECT seq FROM outbox_event \
             WHERE seq IN (SELECT seq FROM {rows} AS gone) ORDER BY seq{locking})"
        );
        self.store.write.execute_raw(self.store.statement(sql, values)).await?;
        Ok(())
    }
}
