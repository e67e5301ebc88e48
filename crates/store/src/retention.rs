//! Removes old records, a bounded step at a time.
//!
//! Each step is one short transaction after a read on a reading connection, so that the writer is held only for the
//! removal of a known number of rows. A send is removed first, from every list and out of reach of receipts; its
//! remains, messages and blocks, follow in the order of its ordinals, and their progress is written in the same
//! transaction: a process that ends half-way leaves nothing behind. Called by the engine's retention only.

use std::time::Duration;

use entity::forgotten_send::Model as Leftover;
use entity::{forgotten_send, message_reference, send, suppression};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect, Value};
use uuid::Uuid;

use super::dialect::{Rows, Type};
use super::lease::Lease;
use super::{Result, Store, Transaction, execute, fetch};
use crate::nouns::Retention;
use crate::one_row::{delete_rows, update_rows};
use clock::Timestamp;
use domain::send::State;

const KEYS: &[(&str, Type)] = &[("send_id", Type::Uuid), ("ordinal", Type::Int)];
/// How long the provider repeats a webhook that was not accepted, with a reserve: statements about recipients are kept
/// this long, so that an older statement that arrives later is recognised as older.
const REPEATED_FOR: Duration = Duration::from_secs(30 * 24 * 60 * 60);
const HELD: &[(&str, Type)] = &[("company_id", Type::Uuid), ("recipient", Type::Int), ("scope", Type::Int)];

/// The rows that one step removed, and whether another step has work.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Step {
    /// Sends.
    pub sends: u64,
    /// Messages of removed sends.
    pub messages: u64,
    /// Rows of another table, if the step is about one.
    pub others: u64,
    /// Whether there is more to do.
    pub more: bool,
}

/// How far the sends were examined.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Cursor(Option<Uuid>);

/// A table whose rows are each removed by their own age; ids rise with time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Aged {
    /// Inbound events of the provider.
    Events,
    /// The record of what people changed.
    Changes,
    /// Failed attempts to sign in, which are in that record too.
    FailedSignIns,
    /// Forms that sessions of the console keep.
    Forms,
    /// New sends that nobody went on writing.
    Drafts,
}

impl Aged {
    /// The table, the column with a row's time, and the condition of the rows.
    const fn words(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::Events => ("event", "created_at", "TRUE"),
            Self::Changes => ("change", "at", "TRUE"),
            // STRANGER's value, written out because the index of these rows is a partial one.
            Self::FailedSignIns => ("change", "at", "who = 'user:'"),
            Self::Forms => ("kept_form", "kept_at", "TRUE"),
            Self::Drafts => ("draft", "kept_at", "TRUE"),
        }
    }
}

/// Which rows of a table are removed, by their keys.
struct Removal<'a> {
    table: &'static str,
    /// The columns of its primary key.
    key: &'a str,
    /// The order in which rows are locked.
    order: String,
    /// The condition that each row must still meet.
    condition: String,
}

/// The lowest possible id of this moment.
pub(super) const fn first_id_at(moment: Timestamp) -> Uuid {
    let millis = moment.millis();
    Uuid::from_u128((if millis < 0 { 0 } else { millis.cast_unsigned() as u128 }) << 80)
}

impl Retention<'_> {
    /// Whether the ledger commits, or on SQLite any connection writes: work that is not urgent should wait then.
    pub fn is_writing(self) -> bool {
        self.store.pools.writer.is_in_use()
    }

    /// Removes sends that ended before `before` and had no receipt since, at most `limit` of them, beginning after
    /// `cursor`, which moves on.
    pub async fn remove_sends(
        self,
        lease: &Lease,
        before: Timestamp,
        cursor: &mut Cursor,
        limit: u32,
    ) -> Result<Step> {
        let over = format!("state > {} AND finished_at <= $1", State::Active.as_i16());
        // A send is older than its end: no younger id has to be examined.
        let which = format!("id > $2 AND id < $3 AND {over}");
        let values = [
            before.millis().into(),
            cursor.0.unwrap_or(Uuid::nil()).into(),
            first_id_at(before.plus(Duration::from_millis(1))).into(),
            i64::from(limit).into(),
        ];
        let found = self.ids(("send", &which), values).await?;
        let Some(last) = found.last() else { return Ok(Step::default()) };
        let (last, more) = (*last, found.len() as u64 >= u64::from(limit));
        let (asked, values) = Rows::of_ids(self.store.backend, &found).select(2);
        let sql = format!(
            "SELECT id FROM {asked} AS asked WHERE NOT EXISTS \
             (SELECT 1 FROM message WHERE message.send_id = asked.id AND message.updated_at > $1)"
        );
        let values = [before.millis().into()].into_iter().chain(values);
        let silent = fetch::<Uuid>(&self.store.read, sql, values).await?;
        let mut step = Step { more, ..Step::default() };
        if !silent.is_empty() {
            let transaction = self.store.begin_fenced(lease).await?;
            self.store.ledger().lock_sends(&transaction, silent.iter().copied()).await?;
            let keep = format!(
                "INSERT INTO forgotten_send (id, recipients, next_ordinal) \
                 SELECT id, recipients, 0 FROM send WHERE {over} AND id IN "
            );
            let remove = format!("DELETE FROM send WHERE {over} AND id IN ");
            for statement in [keep, remove] {
                let (rows, values) = Rows::of_ids(self.store.backend, &silent).select(2);
                let values = [Value::from(before.millis())].into_iter().chain(values);
                let sql = format!("{statement}(SELECT id FROM {rows} AS silent)");
                step.sends = execute(&transaction, sql, values).await?;
            }
            self.store.ledger().remove_sources(&transaction, &silent).await?;
            transaction.commit().await?;
        }
        *cursor = Cursor(Some(last));
        Ok(step)
    }

    /// Removes the remains of removed sends: at most `limit` messages, and their blocks.
    pub async fn remove_messages(self, lease: &Lease, limit: u32) -> Result<Step> {
        let limit = i64::from(limit);
        let oldest = forgotten_send::Entity::find().order_by_asc(forgotten_send::Column::Id);
        let leftovers = oldest.limit(limit.unsigned_abs()).all(&self.store.read).await?;
        let Some(first) = leftovers.first() else { return Ok(Step::default()) };
        let transaction = self.store.begin_fenced(lease).await?;
        let (messages, done) = if first.next_ordinal > 0 || first.recipients > limit {
            (self.remove_part(&transaction, first, limit).await?, 1)
        } else {
            let mut room = limit;
            let fits = leftovers.iter().take_while(|leftover| {
                room -= leftover.recipients;
                leftover.next_ordinal == 0 && room >= 0
            });
            let whole = fits.count();
            (self.remove_whole(&transaction, &leftovers[..whole]).await?, whole)
        };
        transaction.commit().await?;
        // A large send is examined once more, to find that it is done.
        let more = done < leftovers.len() || first.recipients > limit || leftovers.len() as i64 >= limit;
        Ok(Step { messages, more, ..Step::default() })
    }

    /// Removes the messages and blocks of a large send from its next ordinal on. Returns how many messages.
    async fn remove_part(self, to: &Transaction, of: &Leftover, limit: i64) -> Result<u64> {
        let Leftover { id, recipients, next_ordinal } = *of;
        let end = next_ordinal.saturating_add(limit).min(recipients);
        let range: [Value; 3] = [id.into(), next_ordinal.into(), end.into()];
        let messages = format!(
            "DELETE FROM message WHERE send_id = $1 AND ordinal IN (SELECT ordinal FROM message \
             WHERE send_id = $1 AND ordinal >= $2 AND ordinal < $3 ORDER BY ordinal{})",
            self.store.locking()
        );
        let removed = execute(to, messages, range.clone()).await?;
        for table in ["recipient_block", "send_values"] {
            let sql = format!(
                "DELETE FROM {table} WHERE send_id = $1 AND first_ordinal >= $2 AND first_ordinal < $3"
            );
            execute(to, sql, range.clone()).await?;
        }
        message_reference::Entity::delete_many()
            .filter(message_reference::Column::SendId.eq(id))
            .filter(message_reference::Column::Ordinal.gte(next_ordinal))
            .filter(message_reference::Column::Ordinal.lt(end))
            .exec(to)
            .await?;
        if end >= recipients {
            self.store.ledger().remove_personal(to, &[id]).await?;
            delete_rows(to, "forgotten_send", [("id", id.into())]).await?;
        } else {
            update_rows(to, "forgotten_send", [("next_ordinal", end.into())], [("id", id.into())]).await?;
        }
        Ok(removed)
    }

    /// Removes the messages and blocks of these sends. Returns how many messages.
    async fn remove_whole(self, to: &Transaction, sends: &[Leftover]) -> Result<u64> {
        // By whole keys: with a condition on the sends alone, PostgreSQL may read the whole table.
        let mut keys = Rows::new(self.store.backend, KEYS);
        for Leftover { id, recipients, .. } in sends {
            (0..*recipients).for_each(|ordinal| keys.push([(*id).into(), ordinal.into()]));
        }
        let (keys, values) = keys.select(1);
        let sql = format!(
            "DELETE FROM message WHERE (send_id, ordinal) IN \
             (SELECT message.send_id, message.ordinal FROM {keys} AS gone JOIN message \
             ON message.send_id = gone.send_id AND message.ordinal = gone.ordinal \
             ORDER BY message.send_id, message.ordinal{of_message})",
            of_message = self.store.locking_of("message")
        );
        let removed = execute(to, sql, values).await?;
        let sends: Vec<_> = sends.iter().map(|leftover| leftover.id).collect();
        self.store.ledger().remove_personal(to, &sends).await?;
        self.store.delete_among(to, "recipient_block", "send_id", &sends).await?;
        self.store.delete_among(to, "forgotten_send", "id", &sends).await?;
        Ok(removed)
    }

    /// Removes rows that are older than `before`, the oldest first, at most `limit`.
    pub async fn remove_aged(
        self,
        lease: &Lease,
        table: Aged,
        before: Timestamp,
        limit: u32,
    ) -> Result<Step> {
        let (table, time, which) = table.words();
        let which = format!("{which} AND id < $2 AND {time} <= $1");
        let bound = first_id_at(before.plus(Duration::from_millis(1)));
        let values = [before.millis().into(), bound.into(), i64::from(limit).into()];
        let found = self.ids((table, &which), values).await?;
        let more = found.len() as u64 >= u64::from(limit);
        let removal = Removal { table, key: "id", order: "id".to_owned(), condition: "TRUE".to_owned() };
        let others = self.remove(lease, removal, Rows::of_ids(self.store.backend, &found)).await?;
        Ok(Step { others, more, ..Step::default() })
    }

    /// Deletes sends that were withdrawn before `before`, at most `limit`: by then, the commits that their tombstones
    /// exclude have ended.
    pub async fn remove_withdrawn(self, lease: &Lease, before: Timestamp, limit: u32) -> Result<Step> {
        let values = [before.millis().into(), i64::from(limit).into()];
        let found = self.ids(("send", "state < 0 AND created_at <= $1"), values).await?;
        if found.is_empty() {
            return Ok(Step::default());
        }
        let transaction = self.store.begin_fenced(lease).await?;
        self.store.ledger().remove_personal(&transaction, &found).await?;
        self.store.delete_among(&transaction, "recipient_block", "send_id", &found).await?;
        let withdrawn = send::Entity::delete_many().filter(send::Column::State.lt(0_i16));
        let withdrawn = withdrawn.filter(self.store.among(send::Column::Id, &found));
        let others = withdrawn.exec(&transaction).await?.rows_affected;
        transaction.commit().await?;
        let more = found.len() as u64 >= u64::from(limit);
        Ok(Step { others, more, ..Step::default() })
    }

    /// Removes holds and suppressions that ended before `now`, at most `limit`: those whose last statement is so old
    /// that any repetition by the provider is newer.
    pub async fn remove_suppressions(self, lease: &Lease, now: Timestamp, limit: u32) -> Result<Step> {
        let said_before = now.minus(REPEATED_FOR);
        let ended = suppression::Entity::find()
            .filter(suppression::Column::Until.lte(now.millis()))
            .filter(suppression::Column::SaidAt.lte(said_before.millis()));
        let found = ended.limit(u64::from(limit)).all(&self.store.read).await?;
        let mut rows = Rows::new(self.store.backend, HELD);
        for row in &found {
            rows.push([row.company_id.into(), row.recipient.into(), i64::from(row.scope).into()]);
        }
        let more = found.len() as u64 >= u64::from(limit);
        let key = "company_id, recipient, scope";
        let condition = format!("until <= {} AND said_at <= {}", now.millis(), said_before.millis());
        let removal = Removal { table: "suppression", key, order: key.to_owned(), condition };
        let others = self.remove(lease, removal, rows).await?;
        Ok(Step { others, more, ..Step::default() })
    }

    /// Deletes the rows with these keys. Returns how many.
    async fn remove(self, lease: &Lease, removal: Removal<'_>, keys: Rows) -> Result<u64> {
        if keys.is_empty() {
            return Ok(0);
        }
        let (rows, values) = keys.select(1);
        let transaction = self.store.begin_fenced(lease).await?;
        let Removal { table, key, order, condition } = removal;
        let sql = format!(
            "DELETE FROM {table} WHERE {condition} AND ({key}) IN (SELECT {key} FROM {table} \
             WHERE {condition} AND ({key}) IN (SELECT * FROM {rows} AS keys) ORDER BY {order}{})",
            self.store.locking()
        );
        let removed = execute(&transaction, sql, values).await?;
        transaction.commit().await?;
        Ok(removed)
    }

    /// The lowest ids of the rows of a table that meet a condition. The last value is how many at most.
    async fn ids<const N: usize>(
        self,
        (table, which): (&str, &str),
        values: [Value; N],
    ) -> Result<Vec<Uuid>> {
        let sql = format!("SELECT id FROM {table} WHERE {which} ORDER BY id LIMIT ${N}");
        fetch(&self.store.read, sql, values).await
    }
}

impl Store {
    pub(super) async fn begin_fenced(&self, lease: &Lease) -> Result<Transaction> {
        let transaction = self.begin().await?;
        self.lease().check(&transaction, lease).await?;
        Ok(transaction)
    }
}
