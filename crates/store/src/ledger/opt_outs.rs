//! Tells the readers of the event log of recipients who opted out, and of those who opted in again.
//!
//! The result of all statements of a batch counts: a recipient who is suppressed as before is not told.

use std::collections::{BTreeMap, BTreeSet};

use sea_orm::{ConnectionTrait, DbBackend};
use uuid::Uuid;

use crate::dialect::{Bulk, Incoming};
use crate::nouns::Ledger;
use crate::suppressions::{self, COLUMNS, Kept, SUBJECT, Subject, qualified_columns};
use crate::{Result, Store};
use clock::Timestamp;
use domain::event::log::{Fact, LogEntry};

/// The suppressions that the statements of a batch are about.
pub(super) struct OptOuts {
    /// Those without an end, before the statements.
    before: BTreeSet<Subject>,
    /// Those that the statements changed, with the time of the latest statement.
    changed: BTreeMap<Subject, (Kept, Timestamp)>,
}

impl Ledger<'_> {
    /// The suppressions of these subjects, whose rows are locked until the transaction ends; `None` when nobody reads
    /// the log.
    pub(super) async fn opt_outs(
        self,
        to: &impl ConnectionTrait,
        subjects: &BTreeSet<Subject>,
        now: Timestamp,
    ) -> Result<Option<OptOuts>> {
        if subjects.is_empty() || !self.store.event_log().is_read(to).await? {
            return Ok(None);
        }
        let asked = || {
            let mut rows = Bulk::new(self.store.backend, SUBJECT);
            for (company_id, recipient, scope) in subjects {
                rows.push([
                    (*company_id).into(),
                    recipient.as_i64().into(),
                    i64::from(scope.as_i16()).into(),
                ]);
            }
            rows
        };
        if self.store.backend == DbBackend::Postgres {
            // Another transaction may add a row at the same time. Only a row that is there can be locked, and every
            // statement counts as later than one that suppresses nobody.
            let add = |incoming: &str, now: usize| {
                format!(
                    "INSERT INTO suppression (company_id, recipient, scope, until, created_at, said_at) \
                     SELECT company_id, recipient, scope, 0, ${now}, 0 FROM {incoming} AS incoming WHERE TRUE \
                     ON CONFLICT (company_id, recipient, scope) DO NOTHING"
                )
            };
            self.store.write(to, asked(), vec![now.millis().into()], add).await?;
        }
        let mut before = BTreeSet::new();
        for Incoming { select, values, .. } in asked().into_statements() {
            let sql = format!(
                "SELECT {} FROM {select} AS asked JOIN suppression \
                 ON suppression.company_id = asked.company_id AND suppression.recipient = asked.recipient \
                 AND suppression.scope = asked.scope \
                 ORDER BY suppression.company_id, suppression.recipient, suppression.scope{}",
                qualified_columns(),
                self.store.locking_of("suppression")
            );
            for row in to.query_all_raw(self.store.statement(sql, values)).await? {
                let record = suppressions::read(&row)?.record;
                if record.until.is_none() {
                    before.insert(record.subject());
                }
            }
        }
        Ok(Some(OptOuts { before, changed: BTreeMap::new() }))
    }
}

impl OptOuts {
    /// Like [`Store::write`](crate::Store::write), for a statement that changes suppressions.
    pub(super) async fn write(
        &mut self,
        store: &Store,
        to: &impl ConnectionTrait,
        rows: Bulk,
        now: Timestamp,
        sql: impl Fn(&str, usize) -> String,
    ) -> Result<()> {
        for Incoming { select, mut values, next } in rows.into_statements() {
            values.push(now.millis().into());
            let sql = format!("{} RETURNING {COLUMNS}", sql(&select, next));
            for row in to.query_all_raw(store.statement(sql, values)).await? {
                let kept = suppressions::read(&row)?;
                let said_at = Timestamp::from_millis(row.try_get("", "said_at")?);
                self.changed.insert(kept.record.subject(), (kept, said_at));
            }
        }
        Ok(())
    }

    /// What is told, each with its company.
    pub(super) fn told(self) -> impl Iterator<Item = (Uuid, LogEntry)> {
        let Self { before, changed } = self;
        changed.into_iter().filter_map(move |(subject, (kept, said_at))| {
            let is_out = kept.record.until.is_none();
            if is_out == before.contains(&subject) {
                return None;
            }
            let (company_id, recipient, scope) = subject;
            // A statement that changes a suppression leaves its own source.
            let source = kept.source?;
            let fact = if is_out {
                Fact::of_opt_out(recipient, scope, source, said_at)
            } else {
                Fact::of_opt_in(recipient, scope, source, said_at)
            };
            Some((company_id, LogEntry::Fact(fact)))
        })
    }
}
