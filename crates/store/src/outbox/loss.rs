//! A full outbox: the oldest events are removed, and an event in their place says how many.
//!
//! The oldest events are removed because newer ones have the present state. Only the publisher removes them, so that
//! the ledger never waits for the removal.

use std::collections::BTreeMap;

use sea_orm::ConnectionTrait as _;
use uuid::Uuid;

use super::Kind;
use crate::dialect::{Bulk, Rows, Type};
use crate::nouns::Outbox;
use crate::{Result, Transaction};

/// Rows that one step removes.
const STEP: u32 = 10_000;
const COMPANY: &[(&str, Type)] = &[("company_id", Type::Uuid)];
const LOST: &[(&str, Type)] = &[
    ("seq", Type::Int),
    ("company_id", Type::Uuid),
    ("number", Type::Int),
    ("at", Type::Int),
    ("written_at", Type::Int),
];

/// The events of one company that were dropped.
#[derive(Debug, Clone, Copy)]
struct Loss {
    /// The number of one of them, under which the loss is published.
    seq: i64,
    count: i64,
    last: i64,
    first: i64,
}

impl Loss {
    fn add(&mut self, other: Self) {
        self.seq = self.seq.max(other.seq);
        self.count += other.count;
        self.last = self.last.max(other.last);
        self.first = self.first.min(other.first);
    }
}

impl Outbox<'_> {
    /// Drops the oldest events until `most` of them are left, in steps. Returns how many were dropped.
    ///
    /// # Errors
    ///
    /// When the database fails; the steps before stay.
    pub async fn drop_oldest(self, most: u64) -> Result<u64> {
        let mut dropped = 0;
        loop {
            let step = self.drop_step(i64::try_from(most).unwrap_or(i64::MAX)).await?;
            dropped += step;
            if step < u64::from(STEP) {
                return Ok(dropped);
            }
        }
    }

    async fn drop_step(self, most: i64) -> Result<u64> {
        let sql = "SELECT seq FROM outbox_event ORDER BY seq DESC LIMIT 1";
        let Some(row) = self.store.row(sql, []).await? else { return Ok(0) };
        let last: i64 = row.try_get_by_index(0)?;
        let transaction = self.store.begin().await?;
        let sql = format!(
            "DELETE FROM outbox_event WHERE seq IN (SELECT seq FROM outbox_event WHERE seq <= $1 AND kind <> {lost} \
             ORDER BY seq LIMIT $2) RETURNING seq, company_id, CAST(1 AS BIGINT), at, at",
            lost = Kind::Lost.as_i16(),
        );
        let end = last.saturating_sub(most);
        let values = [end.into(), i64::from(STEP).into()];
        let mut losses = BTreeMap::new();
        let statement = self.store.statement(sql, values);
        let dropped = add_losses(&mut losses, &transaction.query_all_raw(statement).await?)?;
        if dropped == 0 {
            transaction.rollback().await?;
            return Ok(0);
        }
        self.tell_losses(&transaction, losses, end).await?;
        transaction.commit().await?;
        Ok(dropped)
    }

    /// Writes one event for each company, which includes its earlier losses up to `end`.
    async fn tell_losses(self, to: &Transaction, mut losses: BTreeMap<Uuid, Loss>, end: i64) -> Result<()> {
        let mut companies = Rows::new(self.store.backend, COMPANY);
        losses.keys().for_each(|company| companies.push([(*company).into()]));
        let (companies, values) = companies.select(2);
        let values = [end.into()].into_iter().chain(values);
        let sql = format!(
            "DELETE FROM outbox_event WHERE kind = {lost} AND seq <= $1 \
             AND company_id IN (SELECT company_id FROM {companies} AS touched) \
             RETURNING seq, company_id, number, at, written_at",
            lost = Kind::Lost.as_i16(),
        );
        let earlier = to.query_all_raw(self.store.statement(sql, values)).await?;
        add_losses(&mut losses, &earlier)?;
        let mut rows = Bulk::new(self.store.backend, LOST);
        for (company_id, Loss { seq, count, last, first }) in losses {
            rows.push([seq.into(), company_id.into(), count.into(), last.into(), first.into()]);
        }
        self.store
            .write(to, rows, Vec::new(), |incoming, _| {
                format!(
                    "INSERT INTO outbox_event (seq, kind, company_id, number, at, written_at) \
                 SELECT seq, {lost}, company_id, number, at, written_at FROM {incoming} AS incoming",
                    lost = Kind::Lost.as_i16(),
                )
            })
            .await?;
        Ok(())
    }
}

/// Adds rows to the losses of their companies, and returns how many rows there were.
fn add_losses(losses: &mut BTreeMap<Uuid, Loss>, rows: &[sea_orm::QueryResult]) -> Result<u64> {
    for row in rows {
        let company: Uuid = row.try_get_by_index(1)?;
        let loss = Loss {
            seq: row.try_get_by_index(0)?,
            count: row.try_get_by_index(2)?,
            last: row.try_get_by_index(3)?,
            first: row.try_get_by_index(4)?,
        };
        losses.entry(company).and_modify(|sum: &mut Loss| sum.add(loss)).or_insert(loss);
    }
    Ok(rows.len() as u64)
}
