//! Files that leave: removed by their age, and those whose content is deleted.

use entity::media_file::{ActiveModel, Column, Entity};
use sea_orm::sea_query::{Condition, Expr, ExprTrait as _};
use sea_orm::{ColumnTrait as _, EntityTrait as _, QueryFilter as _, QueryOrder as _, QuerySelect as _, Set};
use uuid::Uuid;

use super::{ARRIVING, FileRow, KEPT, LEAVING, LibraryFile, REMOVED, read};
use crate::file_contents::is_used_by_inbound;
use crate::nouns::AllMediaFiles;
use crate::one_row::{delete_rows, update_rows};
use crate::{Lease, Result, fetch_one};
use clock::Timestamp;
use domain::link::file_link;

/// Files whose content can be deleted, because no file that a person sent has the same content.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LeavingFiles {
    /// Each with its id, its company and its digest.
    pub files: Vec<(Uuid, Uuid, [u8; 32])>,
    /// The last file that was looked at; `None` when there are no more.
    pub last: Option<Uuid>,
}

impl AllMediaFiles<'_> {
    /// The file of this id, of any company, as long as its content is there. A removed file is one, because a message with
    /// it may be under way.
    pub async fn find(self, id: Uuid) -> Result<Option<LibraryFile>> {
        let file = Entity::find_by_id(id).filter(Column::State.is_in([KEPT, REMOVED]));
        file.into_partial_model::<FileRow>().one(&self.store.read).await?.map(read).transpose()
    }

    /// Removes files, at most `limit`, that were neither uploaded nor used since `before`. Returns how many.
    pub async fn remove_unused(self, lease: &Lease, before: Timestamp, limit: u32) -> Result<u64> {
        let before = before.millis();
        let unused = Condition::all()
            .add(Column::State.eq(KEPT))
            .add(Column::CreatedAt.lt(before))
            .add(Column::UsedAt.is_null().or(Column::UsedAt.lt(before)));
        let found = Entity::find().filter(unused.clone()).limit(u64::from(limit));
        let found = found.select_only().column(Column::Id).into_tuple::<Uuid>();
        let found = found.all(&self.store.read).await?;
        if found.is_empty() {
            return Ok(0);
        }
        let transaction = self.store.begin_fenced(lease).await?;
        let mut removed = 0;
        for id in found {
            let columns = ActiveModel {
                state: Set(REMOVED),
                removed_at: Set(Some(Timestamp::now().millis())),
                ..Default::default()
            };
            // A file that was used in the meantime stays.
            let update = Entity::update_many().set(columns).filter(Column::Id.eq(id)).filter(unused.clone());
            removed += update.exec(&transaction).await?.rows_affected;
        }
        transaction.commit().await?;
        Ok(removed)
    }

    /// Looks at no more than `limit` files with ids above `after`, and claims those whose content can be deleted: removed,
    /// and since before `removed_before` needed by no unfinished send; or arriving since before `arriving_before`.
    pub async fn claim_leaving(
        self,
        lease: &Lease,
        (removed_before, arriving_before): (Timestamp, Timestamp),
        after: Uuid,
        limit: u32,
    ) -> Result<LeavingFiles> {
        type Columns = (Uuid, Uuid, Vec<u8>, i16, Option<i64>);
        let has_arrived = Column::State.ne(ARRIVING).or(Column::CreatedAt.lt(arriving_before.millis()));
        let found = Entity::find()
            // The condition of the partial index.
            .filter(Expr::cust(format!("state <> {KEPT}")))
            .filter(Column::Id.gt(after))
            .filter(has_arrived)
            .order_by_asc(Column::Id)
            .limit(u64::from(limit))
            .select_only()
            .columns([Column::Id, Column::CompanyId, Column::Digest, Column::State, Column::RemovedAt])
            .into_tuple::<Columns>()
            .all(&self.store.read)
            .await?;
        let last = found.last().map(|(id, ..)| *id).filter(|_| found.len() >= limit as usize);
        let mut leaving = LeavingFiles { files: Vec::new(), last };
        for (id, company, digest, state, removed_at) in found {
            let is_removed = state == REMOVED;
            if is_removed && !self.may_leave(lease, (company, id), removed_at, removed_before).await? {
                continue;
            }
            let transaction = self.store.begin_fenced(lease).await?;
            self.store.lock_row(&transaction, "company", company).await?;
            let of = [("id", id.into()), ("state", state.into())];
            let is_claimed =
                update_rows(&transaction, "media_file", [("state", LEAVING.into())], of).await? > 0;
            // What a person sent has the same content: that stays.
            let is_used = is_used_by_inbound(&transaction, (company, digest.as_slice()), Uuid::nil()).await?;
            if is_claimed && is_used {
                delete_rows(&transaction, "media_file", [("id", id.into())]).await?;
            }
            transaction.commit().await?;
            if is_claimed && !is_used {
                leaving.files.push((id, company, super::digest(digest)?));
            }
        }
        Ok(leaving)
    }

    /// Whether the content of a removed file can be deleted. While a send needs it, it has no time of removal; the time
    /// begins when none does: a provider fetches the files of the last messages some time after it accepted them.
    async fn may_leave(
        self,
        lease: &Lease,
        (company, id): (Uuid, Uuid),
        removed_at: Option<i64>,
        before: Timestamp,
    ) -> Result<bool> {
        let removed_at = match (self.is_needed(company, id).await?, removed_at) {
            (true, None) => return Ok(false),
            (true, Some(_)) => None,
            (false, None) => Some(Timestamp::now().millis()),
            (false, Some(at)) => return Ok(at < before.millis()),
        };
        let transaction = self.store.begin_fenced(lease).await?;
        let of = [("id", id.into()), ("state", REMOVED.into())];
        update_rows(&transaction, "media_file", [("removed_at", removed_at.into())], of).await?;
        transaction.commit().await?;
        Ok(false)
    }

    /// Whether a send that is not over has this file in its content.
    async fn is_needed(self, company: Uuid, id: Uuid) -> Result<bool> {
        // The condition repeats that of the partial index of unfinished sends, so that databases use the index.
        let select = "SELECT id FROM send WHERE channel_id IN (SELECT id FROM channel WHERE company_id = $1)
                      AND state < 2 AND state >= 0 AND content LIKE $2 LIMIT 1";
        let values = [company.into(), format!("%{}%", file_link(id)).into()];
        Ok(fetch_one::<Uuid>(&self.store.read, select, values).await?.is_some())
    }

    /// Forgets a file whose content was deleted.
    pub async fn forget(self, id: Uuid) -> Result<()> {
        let of = [("id", id.into()), ("state", LEAVING.into())];
        delete_rows(&self.store.write, "media_file", of).await?;
        Ok(())
    }
}
