//! Files that leave: with their message, by their age, or because they were given up; then their content is deleted.

use entity::inbound_file::{ActiveModel, Column, Entity};
use sea_orm::sea_query::Expr;
use sea_orm::{ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect, Set};
use uuid::Uuid;

use super::{GIVEN_UP, LEAVING, MISSING, change};
use crate::dialect::Rows;
use crate::file_contents::{is_used_by_inbound, library_use};
use crate::lease::Lease;
use crate::nouns::AllInboundFiles;
use crate::retention::{Step, first_id_at};
use crate::{Result, execute};
use clock::Timestamp;

/// What a file becomes that leaves. A content that is being stored is left alone until the time for that is over.
pub(crate) const LEAVES: &str = "state = 3, next_at = CASE WHEN digest IS NULL THEN 0 ELSE next_at END";

/// A file whose content can be deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LeavingFile {
    /// The message.
    pub message_id: Uuid,
    /// Its company.
    pub company_id: Uuid,
    /// The digest of its content (SHA-256).
    pub digest: [u8; 32],
}

impl AllInboundFiles<'_> {
    /// The files of these messages leave, in the transaction that removes the messages: of those whose column `column` has
    /// one of `ids`.
    pub(crate) async fn leave_with_messages(
        self,
        within: &impl ConnectionTrait,
        column: &str,
        ids: &[Uuid],
    ) -> Result<()> {
        let (rows, mut values) = Rows::of_ids(self.store.backend, ids).select(1);
        let empty = values.len() + 1;
        values.push(Vec::<u8>::new().into());
        let sql = format!(
            "UPDATE inbound_file SET {LEAVES}, source = ${empty} WHERE state <> {LEAVING} AND message_id IN
             (SELECT conversation_message.id FROM {rows} AS gone CROSS JOIN conversation_message
              WHERE conversation_message.{column} = gone.id)"
        );
        execute(within, sql, values).await?;
        Ok(())
    }

    /// Files whose messages arrived before `before` leave, the oldest first, at most `limit`.
    pub async fn leave_by_age(self, lease: &Lease, before: Timestamp, limit: u32) -> Result<Step> {
        let old = Entity::find()
            .filter(Column::MessageId.lt(first_id_at(before)))
            .filter(Column::State.ne(LEAVING))
            .order_by_asc(Column::MessageId)
            .limit(u64::from(limit));
        let old = old.select_only().column(Column::MessageId).into_tuple::<Uuid>();
        let found = old.all(&self.store.read).await?;
        if found.is_empty() {
            return Ok(Step::default());
        }
        let transaction = self.store.begin_fenced(lease).await?;
        let (rows, mut values) = Rows::of_ids(self.store.backend, &found).select(1);
        let empty = values.len() + 1;
        values.push(Vec::<u8>::new().into());
        let sql = format!(
            "UPDATE inbound_file SET {LEAVES}, source = ${empty}
             WHERE message_id IN (SELECT id FROM {rows} AS gone)"
        );
        execute(&transaction, sql, values).await?;
        transaction.commit().await?;
        let others = found.len() as u64;
        Ok(Step { others, more: others >= u64::from(limit), ..Step::default() })
    }

    /// Looks at no more than `limit` files that leave, and returns those whose content can be deleted, and whether there may be
    /// more. Files without content, and those whose content another file has, are over with this.
    pub async fn claim_leaving(
        self,
        lease: &Lease,
        now: Timestamp,
        limit: u32,
    ) -> Result<(Vec<LeavingFile>, bool)> {
        let leaving = Entity::find()
            // As text, because the index of these has the condition.
            .filter(Expr::cust(format!("state >= {LEAVING}")))
            .filter(Column::NextAt.lte(now.millis()))
            .order_by_asc(Column::NextAt)
            .limit(u64::from(limit));
        let columns = [Column::MessageId, Column::CompanyId, Column::Digest];
        let found = leaving.select_only().columns(columns).into_tuple::<(Uuid, Uuid, Option<Vec<u8>>)>();
        let found = found.all(&self.store.read).await?;
        let more = found.len() >= limit as usize;
        let mut leaving = Vec::new();
        for (message_id, company_id, content) in found {
            let transaction = self.store.begin_fenced(lease).await?;
            self.store.lock_row(&transaction, "company", company_id).await?;
            let is_used = match &content {
                Some(content) => {
                    let content = (company_id, content.as_slice());
                    library_use(&transaction, content).await?.is_some()
                        || is_used_by_inbound(&transaction, content, message_id).await?
                }
                None => true,
            };
            if is_used {
                forget(&transaction, message_id).await?;
            } else if let Some(content) = content {
                leaving.push(LeavingFile { message_id, company_id, digest: super::digest(content)? });
            }
            transaction.commit().await?;
        }
        Ok((leaving, more))
    }

    /// Forgets a file whose content was deleted.
    pub async fn forget(self, message: Uuid) -> Result<()> {
        let transaction = self.store.begin().await?;
        forget(&transaction, message).await?;
        transaction.commit().await?;
        Ok(())
    }
}

/// The row of a file whose content is gone, or belongs to others.
async fn forget(within: &impl ConnectionTrait, message: Uuid) -> Result<()> {
    Entity::delete_by_id(message).filter(Column::State.eq(LEAVING)).exec(within).await?;
    let missing = ActiveModel { state: Set(MISSING), digest: Set(None), ..Default::default() };
    change(message, GIVEN_UP).set(missing).exec(within).await?;
    Ok(())
}
