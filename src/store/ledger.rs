//! Writing sends and the ledger: one batch, one transaction, one statement for each kind of row.
//!
//! Only the engine's ledger calls this. A batch that says what was dispatched first checks the lease's
//! epoch, so that a process that lost the lease cannot write it.

use sea_orm::{ConnectionTrait, Value};
use uuid::Uuid;

use super::dialect::{Cell, Rows, Type};
use super::lease::Lease;
use super::{Error, Result, Store};
use crate::clock::Timestamp;
use crate::domain::message::{Failure, Outcome};
use crate::domain::send::{Block, Mark, Recipients, State};

/// A send to be inserted.
#[derive(Debug, Clone)]
pub struct NewSend {
    /// Its id; later sends have greater ones.
    pub id: Uuid,
    /// Whose it is.
    pub company_id: Uuid,
    /// Which channel sends it.
    pub channel_id: Uuid,
    /// [`State::Active`], or [`State::Resolving`] while more blocks follow.
    pub state: State,
    /// What is sent, as JSON.
    pub content: String,
    /// Who receives it.
    pub recipients: Recipients,
}

/// Everything that one transaction writes.
#[derive(Debug, Default, Clone)]
pub struct Batch {
    /// New sends.
    pub sends: Vec<NewSend>,
    /// Recipient blocks of new sends.
    pub blocks: Vec<(Uuid, Block)>,
    /// Sends whose last block was written: they become active with this many recipients.
    pub activations: Vec<(Uuid, u64)>,
    /// Outcomes, with send and company.
    pub outcomes: Vec<(Uuid, Uuid, Outcome)>,
    /// Progress of sends.
    pub marks: Vec<Mark>,
    /// Sends that were never answered with success: they and their blocks go.
    pub withdrawals: Vec<Uuid>,
}

impl Batch {
    /// Whether there is nothing to write.
    pub const fn is_empty(&self) -> bool {
        self.sends.is_empty()
            && self.blocks.is_empty()
            && self.activations.is_empty()
            && self.outcomes.is_empty()
            && self.marks.is_empty()
            && self.withdrawals.is_empty()
    }

    const fn is_sends_only(&self) -> bool {
        !self.sends.is_empty()
            && self.blocks.is_empty()
            && self.activations.is_empty()
            && self.outcomes.is_empty()
            && self.marks.is_empty()
            && self.withdrawals.is_empty()
    }

    /// Whether it says what was dispatched. Accepting needs no lease: whoever holds it finds the send.
    const fn dispatches(&self) -> bool {
        !self.outcomes.is_empty() || !self.marks.is_empty()
    }
}

const SEND: &[(&str, Type)] = &[
    ("id", Type::Uuid),
    ("company_id", Type::Uuid),
    ("channel_id", Type::Uuid),
    ("state", Type::Int),
    ("content", Type::Text),
    ("recipients", Type::Int),
    ("recipient", Type::Int),
];
const BLOCK: &[(&str, Type)] = &[
    ("send_id", Type::Uuid),
    ("first_ordinal", Type::Int),
    ("recipients", Type::Int),
    ("packed", Type::Bytes),
];
const OUTCOME: &[(&str, Type)] = &[
    ("send_id", Type::Uuid),
    ("ordinal", Type::Int),
    ("company_id", Type::Uuid),
    ("recipient", Type::Int),
    ("state", Type::Int),
    ("attempts", Type::Int),
    ("provider_message_id", Type::Text),
    ("error_code", Type::Int),
    ("error", Type::Text),
    ("retry_at", Type::Int),
];
const IDS: &[(&str, Type)] = &[("id", Type::Uuid)];
const MARK: &[(&str, Type)] =
    &[("id", Type::Uuid), ("high_water", Type::Int), ("settled", Type::Int), ("state", Type::Int)];

impl Store {
    /// Writes `batch` in one transaction; all of it is durable when this returns. Says which sends of its
    /// marks are not there (any more): their marks went nowhere.
    ///
    /// # Errors
    ///
    /// [`Error::Fenced`] when `lease` is no longer ours; [`Error::Unavailable`] when the database cannot
    /// write now and nothing was written; [`Error::InDoubt`] when it may have been: outcomes and marks can
    /// be written again, sends must be withdrawn.
    pub async fn commit(&self, lease: &Lease, batch: &Batch, now: Timestamp) -> Result<Vec<Uuid>> {
        if batch.is_sends_only() {
            // One statement is a transaction of its own, without the round trips of a begin and a commit.
            let inserted = self.insert_sends(&self.write, batch, now).await;
            return inserted.map(|()| Vec::new()).map_err(|error| match error {
                Error::Unavailable(words) => Error::InDoubt(words),
                other => other,
            });
        }
        let transaction = self.begin().await?;
        if batch.dispatches() {
            self.check_lease(&transaction, lease).await?;
        }
        self.insert_sends(&transaction, batch, now).await?;
        self.insert_blocks(&transaction, batch).await?;
        self.activate(&transaction, batch).await?;
        self.withdraw(&transaction, batch).await?;
        self.upsert_outcomes(&transaction, batch, now).await?;
        let gone = self.mark_progress(&transaction, batch, now).await?;
        transaction.commit().await.map_err(Error::while_committing)?;
        Ok(gone)
    }

    async fn insert_sends(&self, to: &impl ConnectionTrait, batch: &Batch, now: Timestamp) -> Result<()> {
        let mut rows = Rows::new(self.backend, SEND);
        for send in &batch.sends {
            let recipient = match send.recipients {
                Recipients::One(number) => Some(number.as_i64()),
                Recipients::Blocks(_) => None,
            };
            rows.push([
                send.id.into(),
                send.company_id.into(),
                send.channel_id.into(),
                i64::from(send.state.as_i16()).into(),
                send.content.as_str().into(),
                send.recipients.count().cast_signed().into(),
                Cell::Int(recipient),
            ]);
        }
        self.write(to, rows, vec![now.millis().into()], |incoming| {
            format!(
                "INSERT INTO send (id, company_id, channel_id, state, content, recipients, recipient, \
                 high_water, settled, created_at) \
                 SELECT id, company_id, channel_id, state, content, recipients, recipient, 0, 0, $1 \
                 FROM {incoming} AS incoming"
            )
        })
        .await?;
        Ok(())
    }

    async fn insert_blocks(&self, to: &impl ConnectionTrait, batch: &Batch) -> Result<()> {
        let mut rows = Rows::new(self.backend, BLOCK);
        for (send_id, block) in &batch.blocks {
            rows.push([
                (*send_id).into(),
                block.first_ordinal.cast_signed().into(),
                block.recipients.cast_signed().into(),
                Cell::Bytes(&block.packed),
            ]);
        }
        self.write(to, rows, Vec::new(), |incoming| {
            format!(
                "INSERT INTO recipient_block (send_id, first_ordinal, recipients, packed) \
                 SELECT send_id, first_ordinal, recipients, packed FROM {incoming} AS incoming"
            )
        })
        .await?;
        Ok(())
    }

    async fn activate(&self, to: &impl ConnectionTrait, batch: &Batch) -> Result<()> {
        for (send_id, recipients) in &batch.activations {
            let statement = self.statement(
                "UPDATE send SET state = $2, recipients = $3 WHERE id = $1",
                [(*send_id).into(), State::Active.as_i16().into(), recipients.cast_signed().into()],
            );
            to.execute_raw(statement).await?;
        }
        Ok(())
    }

    async fn upsert_outcomes(&self, to: &impl ConnectionTrait, batch: &Batch, now: Timestamp) -> Result<()> {
        let mut rows = Rows::new(self.backend, OUTCOME);
        for (send_id, company_id, outcome) in &batch.outcomes {
            rows.push([
                (*send_id).into(),
                outcome.position.ordinal.cast_signed().into(),
                (*company_id).into(),
                outcome.position.recipient.as_i64().into(),
                i64::from(outcome.state.as_i16()).into(),
                i64::from(outcome.attempts.min(i16::MAX.cast_unsigned())).into(),
                Cell::Text(outcome.provider_message_id.as_deref()),
                Cell::Int(outcome.error.as_ref().and_then(|failure: &Failure| failure.code)),
                Cell::Text(outcome.error.as_ref().map(|failure| failure.sentence.as_str())),
                Cell::Int(outcome.retry_at.map(Timestamp::millis)),
            ]);
        }
        // `WHERE TRUE` keeps SQLite's parser from reading ON as a join's.
        self.write(to, rows, vec![now.millis().into()], |incoming| {
            format!(
                "INSERT INTO message (send_id, ordinal, company_id, recipient, state, attempts, \
                 provider_message_id, error_code, error, retry_at, updated_at) \
                 SELECT send_id, ordinal, company_id, recipient, state, attempts, provider_message_id, \
                 error_code, error, retry_at, $1 FROM {incoming} AS incoming WHERE TRUE \
                 ON CONFLICT (send_id, ordinal) DO UPDATE SET state = excluded.state, \
                 attempts = excluded.attempts, provider_message_id = excluded.provider_message_id, \
                 error_code = excluded.error_code, error = excluded.error, retry_at = excluded.retry_at, \
                 updated_at = excluded.updated_at"
            )
        })
        .await?;
        Ok(())
    }

    async fn mark_progress(
        &self,
        to: &impl ConnectionTrait,
        batch: &Batch,
        now: Timestamp,
    ) -> Result<Vec<Uuid>> {
        let mut rows = Rows::new(self.backend, MARK);
        for mark in &batch.marks {
            let state = if mark.finished { State::Finished } else { State::Active };
            rows.push([
                mark.send_id.into(),
                mark.progress.high_water.cast_signed().into(),
                mark.progress.settled.cast_signed().into(),
                i64::from(state.as_i16()).into(),
            ]);
        }
        let written = self.write(to, rows, vec![now.millis().into()], |incoming| {
            format!(
                "UPDATE send SET high_water = incoming.high_water, settled = incoming.settled, \
                 state = incoming.state, finished_at = CASE incoming.state WHEN {finished} THEN $1 END \
                 FROM {incoming} AS incoming WHERE send.id = incoming.id",
                finished = State::Finished.as_i16()
            )
        });
        if written.await? >= batch.marks.len() as u64 {
            return Ok(Vec::new());
        }
        let mut asked = Rows::new(self.backend, IDS);
        for mark in &batch.marks {
            asked.push([mark.send_id.into()]);
        }
        let (asked, values) = asked.select(1);
        let sql = format!(
            "SELECT asked.id FROM {asked} AS asked WHERE NOT EXISTS (SELECT 1 FROM send WHERE send.id = asked.id)"
        );
        let gone = to.query_all_raw(self.statement(sql, values)).await?;
        gone.iter().map(|row| Ok(row.try_get_by_index(0)?)).collect()
    }

    async fn withdraw(&self, to: &impl ConnectionTrait, batch: &Batch) -> Result<()> {
        for table in ["recipient_block WHERE send_id", "send WHERE id"] {
            let mut rows = Rows::new(self.backend, IDS);
            for send_id in &batch.withdrawals {
                rows.push([(*send_id).into()]);
            }
            self.write(to, rows, Vec::new(), |gone| {
                format!("DELETE FROM {table} IN (SELECT id FROM {gone} AS gone)")
            })
            .await?;
        }
        Ok(())
    }

    /// Runs the statement that `sql` makes around the sub-select of `rows`, if there are any, and says how
    /// many rows it touched. The statement's own parameters, `leading`, come first.
    async fn write(
        &self,
        to: &impl ConnectionTrait,
        rows: Rows,
        leading: Vec<Value>,
        sql: impl FnOnce(&str) -> String,
    ) -> Result<u64> {
        if rows.is_empty() {
            return Ok(0);
        }
        let (incoming, values) = rows.select(leading.len() + 1);
        let statement = self.statement(sql(&incoming), leading.into_iter().chain(values));
        Ok(to.execute_raw(statement).await?.rows_affected())
    }
}
