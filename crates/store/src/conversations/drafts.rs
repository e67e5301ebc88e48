//! Answers that users have begun to write, which are kept until they are sent. Their texts are sealed.

use entity::conversation_draft::{Column, Entity, Model};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect};
use uuid::Uuid;

use crate::nouns::Conversations;
use crate::{Result, execute};
use clock::Timestamp;

/// The most answers of a conversation that are read: as many people as type at one time, and more.
const MOST: u64 = 100;

/// An answer that a user has begun.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BegunAnswer {
    /// Its author.
    pub user_id: Uuid,
    /// The sealed text.
    pub text: Vec<u8>,
    /// When the user typed last.
    pub updated_at: Timestamp,
}

impl From<Model> for BegunAnswer {
    fn from(Model { conversation_id: _, user_id, company_id: _, text, updated_at }: Model) -> Self {
        Self { user_id, text, updated_at: Timestamp::from_millis(updated_at) }
    }
}

impl Conversations<'_> {
    /// The answers that users have begun in a conversation, the latest first.
    pub async fn begun(self, conversation: Uuid) -> Result<Vec<BegunAnswer>> {
        let begun = Entity::find()
            .filter(Column::ConversationId.eq(conversation))
            .filter(Column::CompanyId.eq(self.company))
            .order_by_desc(Column::UpdatedAt)
            .order_by_asc(Column::UserId)
            .limit(MOST);
        Ok(begun.all(&self.store.read).await?.into_iter().map(BegunAnswer::from).collect())
    }

    /// Keeps what a user has begun, in place of what was kept; `false` when there is no such conversation.
    pub async fn keep_begun(self, conversation: Uuid, begun: &BegunAnswer) -> Result<bool> {
        let sql = "INSERT INTO conversation_draft (conversation_id, user_id, company_id, text, updated_at) \
                   SELECT id, $3, company_id, $4, $5 FROM conversation WHERE id = $1 AND company_id = $2 \
                   ON CONFLICT (conversation_id, user_id) \
                   DO UPDATE SET text = excluded.text, updated_at = excluded.updated_at";
        let values = [
            conversation.into(),
            self.company.into(),
            begun.user_id.into(),
            begun.text.clone().into(),
            begun.updated_at.millis().into(),
        ];
        Ok(execute(&self.store.write, sql, values).await? > 0)
    }

    /// Removes what a user has begun, if there is anything.
    pub async fn remove_begun(self, conversation: Uuid, user: Uuid) -> Result<()> {
        let begun = Entity::delete_by_id((conversation, user)).filter(Column::CompanyId.eq(self.company));
        begun.exec(&self.store.write).await?;
        Ok(())
    }
}
