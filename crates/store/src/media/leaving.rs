//! Files that leave: removed by their age, and those whose content is deleted.

use uuid::Uuid;

use super::{ARRIVING, COLUMNS, KEPT, LEAVING, LibraryFile, REMOVED, read};
use crate::file_contents::is_used_by_inbound;
use crate::nouns::AllMediaFiles;
use crate::one_row::delete_rows;
use crate::{Lease, Result, execute, fetch, fetch_one};
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
        let select =
            format!("SELECT {COLUMNS} FROM media_file WHERE id = $1 AND state IN ({KEPT}, {REMOVED})");
        self.store.row(select, [id.into()]).await?.as_ref().map(read).transpose()
    }

    /// Removes files, at most `limit`, that were neither uploaded nor used since `before`. Returns how many.
    pub async fn remove_unused(self, lease: &Lease, before: Timestamp, limit: u32) -> Result<u64> {
        let select = format!(
            "SELECT id FROM media_file
             WHERE state = {KEPT} AND created_at < $1 AND (used_at IS NULL OR used_at < $1) LIMIT $2"
        );
        let values = [before.millis().into(), i64::from(limit).into()];
        let found = fetch::<Uuid>(&self.store.read, select, values).await?;
        if found.is_empty() {
            return Ok(0);
        }
        let transaction = self.store.begin_fenced(lease).await?;
        // A file that was used in the meantime stays.
        let update = format!(
            "UPDATE media_file SET state = {REMOVED}, removed_at = $3
             WHERE id = $1 AND state = {KEPT} AND created_at < $2 AND (used_at IS NULL OR used_at < $2)"
        );
        let mut removed = 0;
        for id in found {
            let values = [id.into(), before.millis().into(), Timestamp::now().millis().into()];
            removed += execute(&transaction, update.as_str(), values).await?;
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
        let select = format!(
            "SELECT id, company_id, digest, state, removed_at FROM media_file WHERE state <> {KEPT} AND id > $1
             AND (state <> {ARRIVING} OR created_at < $2) ORDER BY id LIMIT $3"
        );
        let values = [after.into(), arriving_before.millis().into(), i64::from(limit).into()];
        type Columns = (Uuid, Uuid, Vec<u8>, i16, Option<i64>);
        let found = fetch::<Columns>(&self.store.read, select, values).await?;
        let last = found.last().map(|(id, ..)| *id).filter(|_| found.len() >= limit as usize);
        let mut leaving = LeavingFiles { files: Vec::new(), last };
        for (id, company, digest, state, removed_at) in found {
            let is_removed = state == REMOVED;
            if is_removed && !self.may_leave(lease, (company, id), removed_at, removed_before).await? {
                continue;
            }
            let transaction = self.store.begin_fenced(lease).await?;
            self.store.lock_row(&transaction, "company", company).await?;
            let update = format!("UPDATE media_file SET state = {LEAVING} WHERE id = $1 AND state = $2");
            let is_claimed = execute(&transaction, update, [id.into(), state.into()]).await? > 0;
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
        let update = format!("UPDATE media_file SET removed_at = $2 WHERE id = $1 AND state = {REMOVED}");
        execute(&transaction, update, [id.into(), removed_at.into()]).await?;
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
        let delete = format!("DELETE FROM media_file WHERE id = $1 AND state = {LEAVING}");
        execute(&self.store.write, delete, [id.into()]).await?;
        Ok(())
    }
}
