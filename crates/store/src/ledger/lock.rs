//! The one order in which transactions lock rows, so that on PostgreSQL no two of them wait for each other.
//!
//! 1. The lease, shared, or the counter of a revision.
//! 2. Sends, by id: all that the transaction changes, before the first message.
//! 3. Messages, by send and ordinal. A statement that ends a send locks the send first; receipts lock no send.
//! 4. Everything else, table by table in the order of [`Ledger::commit`](crate::Ledger::commit), by primary key.
//!
//! A statement for many rows locks them in the order of its rows only when it inserts: then the rows are sorted. A
//! statement that changes or removes rows locks them first, in a sorted sub-select. SQLite has one writer and needs
//! none of this.

use sea_orm::{ConnectionTrait, DbBackend};
use uuid::Uuid;

use super::{Activation, PendingWrites};
use crate::dialect::Rows;
use crate::nouns::Ledger;
use crate::{Result, Store, execute};

impl Store {
    /// The end of a sorted sub-select that locks its rows.
    pub(crate) const fn locking(&self) -> &'static str {
        match self.backend {
            DbBackend::Postgres => " FOR NO KEY UPDATE",
            _ => "",
        }
    }

    /// The same for a sub-select that joins other tables to this one.
    pub(crate) fn locking_of(&self, table: &str) -> String {
        match self.locking() {
            "" => String::new(),
            locking => format!("{locking} OF {table}"),
        }
    }
}

impl Ledger<'_> {
    /// Locks the sends that a batch changes, or whose messages it changes.
    pub(super) async fn lock_sends_of(self, to: &impl ConnectionTrait, batch: &PendingWrites) -> Result<()> {
        let marked = batch.marks.iter().map(|mark| mark.send_id);
        let attempted = batch.outcomes.iter().map(|row| row.send_id);
        let activated = batch.activations.iter().flat_map(Activation::sends);
        self.lock_sends(to, marked.chain(attempted).chain(activated)).await
    }

    /// Locks these sends until the transaction ends, by id.
    pub(crate) async fn lock_sends(
        self,
        to: &impl ConnectionTrait,
        sends: impl Iterator<Item = Uuid>,
    ) -> Result<()> {
        if self.store.backend != DbBackend::Postgres {
            return Ok(());
        }
        let mut ids: Vec<_> = sends.collect();
        ids.sort_unstable();
        ids.dedup();
        if ids.is_empty() {
            return Ok(());
        }
        let (rows, values) = Rows::of_ids(self.store.backend, &ids).select(1);
        let sql = format!(
            "SELECT id FROM send WHERE id IN (SELECT id FROM {rows} AS locked) ORDER BY id{}",
            self.store.locking()
        );
        execute(to, sql, values).await?;
        Ok(())
    }
}
