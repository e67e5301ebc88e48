//! Settles sends in doubt: afterwards, each is in the store or never will be.
//!
//! A commit without an answer may still happen: the database may hang with the statement, or the network with its
//! bytes. Deleting the rows that exist now would not withdraw a send. A tombstone does, a row under its id: a late
//! insert of the send collides with it, and a late activation finds no send that is being resolved. If the database is
//! writing the send at that moment, the tombstone waits for that write.

use std::collections::HashSet;
use std::time::Duration;

use sea_orm::{ConnectionTrait, DbBackend};
use uuid::Uuid;

use super::personal::OF_SEND;
use super::{IDS, State};
use crate::dialect::{Bulk, Rows};
use crate::nouns::Ledger;
use crate::{Error, Result, Transaction, execute, fetch};
use clock::Timestamp;

/// The stored state of a tombstone. It is not a state of a send: no query of sends finds it, because it belongs to no
/// company and no channel and lies below [`State::Resolving`].
const WITHDRAWN: i16 = -1;

impl Ledger<'_> {
    /// Permanently withdraws those of these sends that are not accepted. Returns the accepted ones.
    ///
    /// # Errors
    ///
    /// When the database fails. Then either nothing or everything is settled: repeat the call.
    pub async fn settle(self, sends: &[Uuid], now: Timestamp, patience: Duration) -> Result<HashSet<Uuid>> {
        let settling = async {
            let transaction = self.store.begin().await?;
            self.give_up_after(&transaction, patience).await?;
            self.withdraw(&transaction, sends, now).await?;
            let accepted = self.accepted(&transaction, sends).await?;
            transaction.commit().await?;
            Ok::<_, Error>(accepted)
        };
        // The database's own limit ends first, which frees the connection, unless the database does not answer at all.
        tokio::time::timeout(patience.saturating_mul(2), settling).await.unwrap_or_else(|_| Err(late()))
    }

    /// Bounds the statements on PostgreSQL, which otherwise waits for a lock without limit. SQLite has a bound of its
    /// own.
    async fn give_up_after(self, to: &Transaction, patience: Duration) -> Result<()> {
        if self.store.backend == DbBackend::Postgres {
            let millis = patience.as_millis().max(1);
            to.execute_unprepared(&format!("SET LOCAL statement_timeout = {millis}")).await?;
        }
        Ok(())
    }

    async fn withdraw(self, to: &Transaction, sends: &[Uuid], now: Timestamp) -> Result<()> {
        let mut rows = Bulk::new(self.store.backend, IDS);
        for send_id in sends {
            rows.push([(*send_id).into()]);
        }
        let resolving = State::Resolving.as_i16();
        self.store.write(to, rows, vec![now.millis().into(), Uuid::nil().into()], |doubtful, now| {
            let nobody = now + 1;
            format!(
                "INSERT INTO send (id, company_id, channel_id, state, content, recipients, high_water, settled, \
                 created_at) \
                 SELECT id, ${nobody}, ${nobody}, {WITHDRAWN}, '', 0, 0, 0, ${now} FROM {doubtful} AS doubtful \
                 WHERE TRUE ON CONFLICT (id) DO UPDATE SET state = excluded.state, \
                 company_id = excluded.company_id, channel_id = excluded.channel_id, content = '', \
                 recipients = 0, recipient = NULL, template_id = NULL, due_at = NULL, send_at = NULL, \
                 expires_at = NULL, created_at = excluded.created_at WHERE send.state = {resolving}"
            )
        })
        .await?;
        for table in ["recipient_block", "send_source"].into_iter().chain(OF_SEND) {
            let (ids, values) = self.ids_among(sends);
            let sql = format!(
                "DELETE FROM {table} WHERE send_id IN \
                 (SELECT id FROM send WHERE id IN (SELECT id FROM {ids} AS settled) AND state = {WITHDRAWN})"
            );
            execute(to, sql, values).await?;
        }
        Ok(())
    }

    async fn accepted(self, to: &Transaction, sends: &[Uuid]) -> Result<HashSet<Uuid>> {
        let (ids, values) = self.ids_among(sends);
        let sql = format!(
            "SELECT id FROM send WHERE id IN (SELECT id FROM {ids} AS settled) AND state > {}",
            State::Resolving.as_i16()
        );
        Ok(fetch(to, sql, values).await?.into_iter().collect())
    }

    fn ids_among(self, sends: &[Uuid]) -> (String, Vec<sea_orm::Value>) {
        Rows::of_ids(self.store.backend, sends).select(1)
    }
}

/// The database did not answer in time.
pub(super) fn late() -> Error {
    Error::Unavailable("it did not answer in time".to_owned())
}
