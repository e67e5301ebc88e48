//! Removes the remains of imports, in steps.

use entity::contact_import::{Column, Entity, Model};
use sea_orm::sea_query::Expr;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder};
use uuid::Uuid;

use super::{REMOVED, State};
use crate::nouns::AllImports;
use crate::one_row::{delete_rows, update_rows};
use crate::retention;
use crate::{Lease, Result, execute, fetch};
use clock::Timestamp;

/// How much longer a file with the recipients of a new send is kept than one of contacts that nobody begins to import, in
/// milliseconds: a week in all.
const LONGER: i64 = 6 * 24 * 3_600 * 1_000;
/// Pieces of a file, and rejected rows, that one step removes.
const CHUNKS: i64 = 4;
const REJECTS: i64 = 500;

impl AllImports<'_> {
    /// Removes remains of a finished or discarded import. Returns whether there were any.
    pub async fn clean(self) -> Result<bool> {
        // As text, because the index of these has the condition.
        let remains =
            format!("(has_chunks <> 0 AND state > {}) OR state = {REMOVED}", State::Running.as_i16());
        let first = Entity::find().filter(Expr::cust(remains)).order_by_asc(Column::State);
        let Some(Model { id, state, .. }) = first.order_by_asc(Column::Id).one(&self.store.read).await?
        else {
            return Ok(false);
        };
        if self.remove_pieces("contact_import_chunk", id, i64::MAX, CHUNKS).await? == 0 {
            if state != REMOVED {
                let set = [("has_chunks", 0_i16.into())];
                update_rows(&self.store.write, "contact_import", set, [("id", id.into())]).await?;
            } else if self.remove_pieces("contact_import_reject", id, i64::MAX, REJECTS).await? == 0 {
                delete_rows(&self.store.write, "contact_import", [("id", id.into())]).await?;
            }
        }
        Ok(true)
    }

    /// Removes the first rows of an import in this table, of those before this ordinal. Returns how many.
    pub(super) async fn remove_pieces(
        self,
        table: &str,
        import: Uuid,
        before: i64,
        limit: i64,
    ) -> Result<u64> {
        let delete = format!(
            "DELETE FROM {table} WHERE import_id = $1 AND ordinal IN (
                SELECT ordinal FROM {table} WHERE import_id = $1 AND ordinal < $2 ORDER BY ordinal LIMIT $3
             )"
        );
        execute(&self.store.write, delete, [import.into(), before.into(), limit.into()]).await
    }

    /// Discards imports that ended before `over_before`, and those that are ready but did not change since
    /// `ready_before`, or for six days more if they have the recipients of a send; at most `limit`. A file of which nothing arrived since then is one that a killed node was taking,
    /// while others went on. [`AllImports::clean`](crate::AllImports::clean) removes their remains.
    pub async fn remove(
        self,
        lease: &Lease,
        over_before: Option<Timestamp>,
        ready_before: Timestamp,
        limit: u32,
    ) -> Result<retention::Step> {
        let select = format!(
            "SELECT id FROM contact_import WHERE (state IN ({}, {}, {}) AND updated_at <= $1)
             OR (state IN ({}, {}) AND updated_at + purpose * {LONGER} <= $2) LIMIT $3",
            State::Finished.as_i16(),
            State::Failed.as_i16(),
            State::Canceled.as_i16(),
            State::Uploading.as_i16(),
            State::Ready.as_i16()
        );
        let over_before = over_before.map_or(i64::MIN, Timestamp::millis);
        let values = [over_before.into(), ready_before.millis().into(), i64::from(limit).into()];
        let found = fetch::<Uuid>(&self.store.read, select, values).await?;
        if found.is_empty() {
            return Ok(retention::Step::default());
        }
        let transaction = self.store.begin_fenced(lease).await?;
        // An import that was begun in the meantime stays.
        let others = Entity::update_many()
            .col_expr(Column::State, Expr::value(REMOVED))
            .filter(Column::State.ne(State::Running.as_i16()))
            .filter(self.store.among(Column::Id, &found))
            .exec(&transaction)
            .await?
            .rows_affected;
        transaction.commit().await?;
        let more = found.len() as u64 >= u64::from(limit);
        Ok(retention::Step { others, more, ..retention::Step::default() })
    }
}
