//! Removes old blocks, a bounded step at a time, and notes what a reader outside had not read.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use entity::event_block::{Column, Entity};
use entity::event_reader;
use sea_orm::sea_query::Expr;
use sea_orm::{ColumnTrait, DbBackend, EntityTrait, QueryFilter, QueryOrder, QuerySelect, Value};
use tokio::time::sleep;
use uuid::Uuid;

use super::Reader;
use crate::dialect::{Bulk, Rows, Type};
use crate::nouns::EventLog;
use crate::queries::sum_of;
use crate::{Result, Transaction, execute, fetch};
use clock::Timestamp;
use domain::event::log::Sequence;

/// Blocks that one step removes: on SQLite, others wait for the only writer meanwhile.
const STEP: u32 = 100;
/// The pause after a step.
const PAUSE: Duration = Duration::from_millis(10);
const LOSS: &[(&str, Type)] = &[
    ("company_id", Type::Uuid),
    ("through", Type::Int),
    ("events", Type::Int),
    ("first_at", Type::Int),
    ("last_at", Type::Int),
];

const BEGINNING: &[(&str, Type)] = &[("company_id", Type::Uuid), ("sequence", Type::Int)];
const COMPANY: &[(&str, Type)] = &[("company_id", Type::Uuid)];
const REMOVED: &[(&str, Type)] =
    &[("company_id", Type::Uuid), ("sequence", Type::Int), ("entries", Type::Int)];

/// A removed block: its number, its company, how many entries it had, and when it was written.
type Removed = (i64, Uuid, i64, i64);

/// How much of the log is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LogBounds {
    /// Blocks before this time are removed; `None` keeps them.
    pub before: Option<Timestamp>,
    /// The most bytes of one company's log, about.
    pub bytes: u64,
}

/// The blocks of one company that were removed.
#[derive(Debug, Clone, Copy)]
struct Loss {
    through: i64,
    events: i64,
    first: i64,
    last: i64,
}

impl EventLog<'_> {
    /// Removes what is beyond the bounds. Returns how many events the stream outside had not read.
    ///
    /// # Errors
    ///
    /// When the database fails; the steps before stay.
    pub async fn trim(self, bounds: LogBounds) -> Result<u64> {
        let mut lost = 0;
        if let Some(before) = bounds.before {
            let sql = "SELECT seq FROM event_block WHERE written_at < $1 ORDER BY written_at, seq LIMIT $2";
            lost += self.remove(sql, vec![before.millis().into()]).await?;
            let sql = "DELETE FROM event_loss WHERE last_at < $1";
            execute(&self.store.write, sql, [before.millis().into()]).await?;
            let unused = event_reader::Entity::delete_many();
            let unused = unused.filter(event_reader::Column::UsedAt.lt(before.millis()));
            unused.exec(&self.store.write).await?;
        }
        for (company, excess) in self.too_large(bounds.bytes).await? {
            lost += self.shorten(company, excess).await?;
        }
        Ok(lost)
    }

    /// Removes the oldest blocks of a company that take at least this many bytes.
    async fn shorten(self, company: Uuid, mut excess: i64) -> Result<u64> {
        let mut lost = 0;
        while excess > 0 {
            let oldest = Entity::find().filter(Column::CompanyId.eq(company)).order_by_asc(Column::Seq);
            let oldest = oldest.limit(u64::from(STEP)).select_only().columns([Column::Seq, Column::Bytes]);
            let mut through = None;
            for (block, bytes) in oldest.into_tuple::<(i64, i64)>().all(&self.store.read).await? {
                if excess <= 0 {
                    break;
                }
                through = Some(block);
                excess -= bytes;
            }
            let Some(through) = through else { break };
            let sql = "SELECT seq FROM event_block WHERE company_id = $1 AND seq <= $3 ORDER BY seq LIMIT $2";
            lost += self.remove(sql, vec![company.into(), through.into()]).await?;
        }
        Ok(lost)
    }

    /// How many bytes the log has, about.
    pub async fn bytes(self) -> Result<u64> {
        let all = Entity::find().select_only().expr(sum_of(Expr::col(Column::Bytes))).into_tuple::<i64>();
        Ok(all.one(&self.store.read).await?.unwrap_or_default().cast_unsigned())
    }

    /// The companies whose logs are larger than this, each with the bytes that have no room.
    async fn too_large(self, bytes: u64) -> Result<Vec<(Uuid, i64)>> {
        let sql = "SELECT company_id, CAST(SUM(bytes) AS BIGINT) FROM event_block GROUP BY company_id \
                   HAVING SUM(bytes) > $1";
        let most = i64::try_from(bytes).unwrap_or(i64::MAX);
        let sizes = fetch::<(Uuid, i64)>(&self.store.read, sql, [most.into()]).await?;
        Ok(sizes.into_iter().map(|(company, bytes)| (company, bytes - most)).collect())
    }

    /// Removes the blocks that `chosen` picks, in their order, in steps. Its second parameter is the size of a step.
    async fn remove(self, chosen: &str, mut values: Vec<Value>) -> Result<u64> {
        values.insert(1, i64::from(STEP).into());
        let mut lost = 0;
        loop {
            let transaction = self.store.begin().await?;
            let sql = format!(
                "DELETE FROM event_block WHERE seq IN ({chosen}{}) RETURNING seq, company_id, entries, written_at",
                self.store.locking()
            );
            let removed = fetch::<Removed>(&transaction, sql, values.clone()).await?;
            // Read here, so that what is published meanwhile is no loss.
            let stream = Reader::Nats.row().one(&transaction).await?;
            let place = stream.map(|reader| Sequence::from_i64(reader.sequence));
            let unread = losses(&removed, place);
            lost += unread.values().map(|loss| loss.events.unsigned_abs()).sum::<u64>();
            self.note(&transaction, unread).await?;
            self.lock_readers(&transaction, &removed).await?;
            self.raise(&transaction, &removed).await?;
            self.count_lost(&transaction, &removed).await?;
            transaction.commit().await?;
            if removed.len() < STEP as usize {
                return Ok(lost);
            }
            sleep(PAUSE).await;
        }
    }

    /// Locks the readers of these blocks until the transaction ends, in their order: the following statements change them in any
    /// order.
    async fn lock_readers(self, to: &Transaction, removed: &[Removed]) -> Result<()> {
        if self.store.backend != DbBackend::Postgres {
            return Ok(());
        }
        let companies: BTreeSet<Uuid> = removed.iter().map(|(_, company, ..)| *company).collect();
        if companies.is_empty() {
            return Ok(());
        }
        for (table, key) in [("event_reader", "kind, company_id"), ("webhook_endpoint", "id")] {
            let mut rows = Rows::new(self.store.backend, COMPANY);
            companies.iter().for_each(|company| rows.push([(*company).into()]));
            let (rows, values) = rows.select(1);
            let sql = format!(
                "SELECT 1 FROM {table} WHERE company_id IN (SELECT company_id FROM {rows} AS removed) ORDER BY {key}{}",
                self.store.locking()
            );
            execute(to, sql, values).await?;
        }
        Ok(())
    }

    /// The logs of these companies begin after the last entries of their blocks.
    async fn raise(self, to: &Transaction, removed: &[Removed]) -> Result<()> {
        let mut last = BTreeMap::<Uuid, Sequence>::new();
        for &(block, company, entries, _) in removed {
            let sequence = Sequence::from_i64(Sequence::new(block, 0).as_i64() + entries - 1);
            let through = last.entry(company).or_default();
            *through = (*through).max(sequence);
        }
        let mut rows = Bulk::new(self.store.backend, BEGINNING);
        for (company, sequence) in last {
            rows.push([company.into(), sequence.as_i64().into()]);
        }
        let update = |incoming: &str, _| {
            format!(
                "UPDATE event_reader SET sequence = incoming.sequence FROM {incoming} AS incoming \
                 WHERE event_reader.kind = 'company' AND event_reader.company_id = incoming.company_id \
                 AND event_reader.sequence < incoming.sequence"
            )
        };
        self.store.write(to, rows, Vec::new(), update).await?;
        Ok(())
    }

    /// Counts what webhook endpoints have not got and cannot get any more.
    async fn count_lost(self, to: &Transaction, removed: &[Removed]) -> Result<()> {
        let mut rows = Bulk::new(self.store.backend, REMOVED);
        for &(block, company, entries, _) in removed {
            rows.push([company.into(), Sequence::end_of(block).as_i64().into(), entries.into()]);
        }
        let update = |incoming: &str, _| {
            format!(
                "UPDATE webhook_endpoint SET lost = lost + gone.events FROM \
                 (SELECT behind.id, CAST(SUM(incoming.entries) AS BIGINT) AS events FROM {incoming} AS incoming \
                 JOIN webhook_endpoint AS behind ON behind.company_id = incoming.company_id \
                 AND behind.sequence < incoming.sequence GROUP BY behind.id) AS gone \
                 WHERE webhook_endpoint.id = gone.id"
            )
        };
        self.store.write(to, rows, Vec::new(), update).await?;
        Ok(())
    }

    async fn note(self, to: &Transaction, losses: BTreeMap<Uuid, Loss>) -> Result<()> {
        let mut rows = Bulk::new(self.store.backend, LOSS);
        for (company_id, Loss { through, events, first, last }) in losses {
            rows.push([company_id.into(), through.into(), events.into(), first.into(), last.into()]);
        }
        let insert = |incoming: &str, _| {
            format!(
                "INSERT INTO event_loss (company_id, through, events, first_at, last_at) \
                 SELECT company_id, through, events, first_at, last_at FROM {incoming} AS incoming WHERE TRUE \
                 ON CONFLICT (company_id, through) DO NOTHING"
            )
        };
        self.store.write(to, rows, Vec::new(), insert).await?;
        Ok(())
    }
}

/// What of these blocks the stream outside has not read, if there is one.
fn losses(removed: &[Removed], place: Option<Sequence>) -> BTreeMap<Uuid, Loss> {
    let mut losses = BTreeMap::<Uuid, Loss>::new();
    for &(block, company, events, written_at) in removed {
        if place.is_none_or(|place| Sequence::end_of(block) <= place) {
            continue;
        }
        let loss = losses.entry(company);
        let loss = loss.or_insert(Loss { through: block, events: 0, first: written_at, last: written_at });
        loss.through = loss.through.max(block);
        loss.events += events;
        loss.first = loss.first.min(written_at);
        loss.last = loss.last.max(written_at);
    }
    losses
}
