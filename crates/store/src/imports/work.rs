//! Writes the rows of an import, one step at a time.

use entity::contact_import::{ActiveModel, Column, Entity, Model};
use sea_orm::sea_query::{Expr, ExprTrait};
use sea_orm::{ColumnTrait, EntityTrait, PaginatorTrait, QueryFilter, QueryOrder, Select, SelectExt, Set};
use uuid::Uuid;

use super::{Counts, MOST_REJECTED_KEPT, State, ended};
use crate::contacts::signed;
use crate::dialect::{Cell, Rows, Type};
use crate::lease::Lease;
use crate::nouns::AllImports;
use crate::{ContactDraft, Names, Result, execute};
use clock::Timestamp;

/// A row that was rejected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rejected {
    /// Its line in the file, from 1.
    pub line: u64,
    /// Why, in English words.
    pub reason: String,
    /// The reason as a code; `None` for rows that were rejected before there were codes.
    pub code: Option<String>,
    /// The values in the reason: fields, numbers, bounds.
    pub details: Vec<String>,
    /// Its fields; one field with the whole row when it could not be parsed.
    pub fields: Vec<String>,
}

/// An import to continue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Work {
    /// The import.
    pub id: Uuid,
    /// The company whose contacts are written.
    pub company_id: Uuid,
    /// How the file is read, in JSON.
    pub settings: String,
    /// Bytes of the file.
    pub bytes: u64,
    /// Bytes of the decoded file whose rows are written.
    pub position: u64,
    /// The number of the line there.
    pub line: u64,
    /// Results of the rows so far.
    pub counts: Counts,
}

/// Some rows of a file, and how far the file is read with them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Step {
    /// Rows that are contacts.
    pub drafts: Vec<ContactDraft>,
    /// Rows that are not.
    pub rejected: Vec<Rejected>,
    /// The contacts whose e-mail address was none.
    pub emails_left_out: u64,
    /// Bytes of the file that were read for it.
    pub bytes_read: u64,
    /// Bytes of the decoded file up to the end of its last row.
    pub position: u64,
    /// The number of the line there.
    pub line: u64,
}

/// How an import ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    /// The file was read to its end, and holds so much.
    Finished {
        /// Its rows.
        rows: u64,
        /// Its bytes.
        bytes: u64,
    },
    /// It cannot be read further, for this reason.
    Failed(String),
}

impl From<Model> for Work {
    fn from(row: Model) -> Self {
        Self {
            id: row.id,
            company_id: row.company_id,
            counts: Counts::from(&row),
            settings: row.settings,
            bytes: row.bytes.cast_unsigned(),
            position: row.position.cast_unsigned(),
            line: row.line.cast_unsigned(),
        }
    }
}

impl AllImports<'_> {
    /// The oldest running import of each company; the companies that wait longest come first; at most `limit`.
    pub async fn at_work(self, limit: u32) -> Result<Vec<Work>> {
        // All that are running: a company has few.
        let all = running().order_by_asc(Column::UpdatedAt).order_by_asc(Column::Id);
        let mut found: Vec<Work> = Vec::new();
        for work in all.all(&self.store.read).await?.into_iter().map(Work::from) {
            match found.iter_mut().find(|first| first.company_id == work.company_id) {
                Some(first) if work.id < first.id => *first = work,
                Some(_) => {}
                None => found.push(work),
            }
        }
        found.truncate(limit as usize);
        Ok(found)
    }

    /// Writes some rows and the import's new position, in one transaction. Returns the new counts; `None` when the
    /// import is no longer running.
    ///
    /// # Errors
    ///
    /// [`crate::Error::Fenced`] when this process has lost the `lease`; otherwise fails when the database does. Then nothing
    /// is written.
    pub async fn write_step(
        self,
        lease: &Lease,
        work: &Work,
        step: &Step,
        names: Names,
        now: Timestamp,
    ) -> Result<Option<Counts>> {
        let transaction = self.store.begin_fenced(lease).await?;
        let (results, names_kept) = self
            .store
            .of(work.company_id)
            .contacts()
            .import_drafts_in(&transaction, &step.drafts, names, now)
            .await?;
        let mut counts = work.counts;
        counts.names_kept += names_kept;
        counts.emails_left_out += step.emails_left_out;
        results.iter().for_each(|(_, result)| counts.add(*result));
        let numberless = step.drafts.iter().filter(|draft| draft.person.phone().is_none());
        counts.without_number += numberless.count() as u64;
        counts.rejected += step.rejected.len() as u64;
        let room = usize::try_from(MOST_REJECTED_KEPT.saturating_sub(counts.rejected_kept)).unwrap_or(0);
        let columns = &[
            ("ordinal", Type::Int),
            ("line", Type::Int),
            ("reason", Type::Text),
            ("code", Type::Text),
            ("details", Type::Text),
            ("fields", Type::Text),
        ];
        let mut rows = Rows::new(self.store.backend, columns);
        for rejected in step.rejected.iter().take(room) {
            let fields = serde_json::to_string(&rejected.fields).unwrap_or_default();
            let (ordinal, line) = (signed(counts.rejected_kept), signed(rejected.line));
            let details = serde_json::to_string(&rejected.details).unwrap_or_default();
            rows.push([
                ordinal.into(),
                line.into(),
                rejected.reason.as_str().into(),
                Cell::Text(rejected.code.as_deref()),
                details.as_str().into(),
                fields.as_str().into(),
            ]);
            counts.rejected_kept += 1;
        }
        if !rows.is_empty() {
            let (rows, values) = rows.behind([work.id.into()]);
            let insert = format!(
                "INSERT INTO contact_import_reject (import_id, ordinal, line, reason, code, details, fields)
                 SELECT $1, ordinal, line, reason, code, details, fields FROM {rows} AS rows"
            );
            execute(&transaction, insert, values).await?;
        }
        let progress = ActiveModel {
            bytes_read: Set(signed(step.bytes_read)),
            position: Set(signed(step.position)),
            line: Set(signed(step.line)),
            created: Set(signed(counts.created)),
            updated: Set(signed(counts.updated)),
            unchanged: Set(signed(counts.unchanged)),
            rejected: Set(signed(counts.rejected)),
            rejected_kept: Set(signed(counts.rejected_kept)),
            without_number: Set(signed(counts.without_number)),
            updated_at: Set(now.millis()),
            names_kept: Set(signed(counts.names_kept)),
            emails_left_out: Set(signed(counts.emails_left_out)),
            ..Default::default()
        };
        let update = Entity::update_many()
            .set(progress)
            .filter(Column::Id.eq(work.id))
            .filter(Column::State.eq(State::Running.as_i16()))
            .filter(Column::Position.eq(signed(work.position)));
        if update.exec(&transaction).await?.rows_affected == 0 {
            return transaction.unchanged(None).await;
        }
        transaction.commit().await?;
        Ok(Some(counts))
    }

    /// Ends an import. Returns false when it is still running, because the results of its rows do not add up to the rows
    /// and bytes of the file: it is never called finished then.
    pub async fn end(self, lease: &Lease, import: Uuid, end: &End) -> Result<bool> {
        let transaction = self.store.begin_fenced(lease).await?;
        let update = Entity::update_many()
            .filter(Column::Id.eq(import))
            .filter(Column::State.eq(State::Running.as_i16()));
        let update = match end {
            End::Finished { rows, bytes } => update
                .set(ended(State::Finished))
                .col_expr(Column::BytesRead, Expr::col(Column::Bytes))
                .filter(Column::Bytes.eq(signed(*bytes)))
                .filter(Expr::cust("created + updated + unchanged + rejected").eq(signed(*rows))),
            End::Failed(reason) => {
                update.set(ActiveModel { failure: Set(Some(reason.clone())), ..ended(State::Failed) })
            }
        };
        update.exec(&transaction).await?;
        // A canceled import is over as well.
        let is_over = !running().filter(Column::Id.eq(import)).exists(&transaction).await?;
        transaction.commit().await?;
        Ok(is_over)
    }

    /// Imports that are running or wait for their turn, over all companies.
    pub async fn count_running(self) -> Result<u64> {
        Ok(running().count(&self.store.read).await?)
    }
}

fn running() -> Select<Entity> {
    Entity::find().filter(Column::State.eq(State::Running.as_i16()))
}
