//! Notes about a conversation, which the person never sees. Their texts are sealed.

use entity::conversation_note::{ActiveModel, Column, Entity, Model};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QueryTrait, Set};
use uuid::Uuid;

use crate::nouns::Conversations;
use crate::{Result, execute};
use clock::Timestamp;

/// The most notes about a conversation.
pub(super) const MOST: i64 = 1_000;

/// A note.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConversationNote {
    /// Its id, to which the text is sealed.
    pub id: Uuid,
    /// Its author, as the record of changes names authors.
    pub author: String,
    /// The sealed text.
    pub text: Vec<u8>,
    /// When it was written.
    pub created_at: Timestamp,
    /// When its author changed it last.
    pub edited_at: Option<Timestamp>,
}

impl From<Model> for ConversationNote {
    fn from(row: Model) -> Self {
        let Model { id, company_id: _, conversation_id: _, author, text, created_at, edited_at } = row;
        let created_at = Timestamp::from_millis(created_at);
        Self { id, author, text, created_at, edited_at: edited_at.map(Timestamp::from_millis) }
    }
}

impl Conversations<'_> {
    /// The notes about a conversation, the oldest first.
    pub async fn notes(self, conversation: Uuid) -> Result<Vec<ConversationNote>> {
        let notes = Entity::find()
            .filter(Column::ConversationId.eq(conversation))
            .filter(Column::CompanyId.eq(self.company))
            .order_by_asc(Column::Id);
        Ok(notes.all(&self.store.read).await?.into_iter().map(ConversationNote::from).collect())
    }

    /// Adds a note about a conversation of the company; `false` when there is none with this id, or it has a thousand notes.
    pub async fn add_note(self, conversation: Uuid, note: &ConversationNote) -> Result<bool> {
        let sql = "INSERT INTO conversation_note (id, company_id, conversation_id, author, text, created_at) \
                   SELECT $1, company_id, id, $4, $5, $6 FROM conversation WHERE id = $2 AND company_id = $3 \
                   AND (SELECT COUNT(*) FROM conversation_note WHERE conversation_id = $2) < $7";
        let values = [
            note.id.into(),
            conversation.into(),
            self.company.into(),
            note.author.as_str().into(),
            note.text.clone().into(),
            note.created_at.millis().into(),
            MOST.into(),
        ];
        Ok(execute(&self.store.write, sql, values).await? > 0)
    }

    /// Changes the text of a note; `false` when the conversation has no such note of this author.
    pub async fn edit_note(
        self,
        (conversation, id): (Uuid, Uuid),
        author: &str,
        text: Vec<u8>,
        now: Timestamp,
    ) -> Result<bool> {
        let changes =
            ActiveModel { text: Set(text), edited_at: Set(Some(now.millis())), ..Default::default() };
        let own = Entity::update_many()
            .set(changes)
            .filter(Column::Id.eq(id))
            .filter(Column::ConversationId.eq(conversation))
            .filter(Column::CompanyId.eq(self.company))
            .filter(Column::Author.eq(author));
        Ok(own.exec(&self.store.write).await?.rows_affected > 0)
    }

    /// Removes a note; `false` when the conversation has no such note, or another author than the one given.
    pub async fn remove_note(self, (conversation, id): (Uuid, Uuid), author: Option<&str>) -> Result<bool> {
        let note = Entity::delete_by_id(id)
            .filter(Column::ConversationId.eq(conversation))
            .filter(Column::CompanyId.eq(self.company))
            .apply_if(author, |note, author| note.filter(Column::Author.eq(author)));
        Ok(note.exec(&self.store.write).await?.rows_affected > 0)
    }
}
