//! Notes about a conversation, which the person never sees. Their texts are sealed.

use uuid::Uuid;

use crate::nouns::Conversations;
use crate::{Result, execute, fetch};
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

impl Conversations<'_> {
    /// The notes about a conversation, the oldest first.
    pub async fn notes(self, conversation: Uuid) -> Result<Vec<ConversationNote>> {
        let sql = "SELECT id, author, text, created_at, edited_at FROM conversation_note \
                   WHERE conversation_id = $1 AND company_id = $2 ORDER BY id";
        type Columns = (Uuid, String, Vec<u8>, i64, Option<i64>);
        let rows =
            fetch::<Columns>(&self.store.read, sql, [conversation.into(), self.company.into()]).await?;
        let note = |(id, author, text, created, edited): Columns| ConversationNote {
            id,
            author,
            text,
            created_at: Timestamp::from_millis(created),
            edited_at: edited.map(Timestamp::from_millis),
        };
        Ok(rows.into_iter().map(note).collect())
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
        let sql = "UPDATE conversation_note SET text = $5, edited_at = $6 \
                   WHERE id = $1 AND conversation_id = $2 AND company_id = $3 AND author = $4";
        let values = [
            id.into(),
            conversation.into(),
            self.company.into(),
            author.into(),
            text.into(),
            now.millis().into(),
        ];
        Ok(execute(&self.store.write, sql, values).await? > 0)
    }

    /// Removes a note; `false` when the conversation has no such note, or another author than the one given.
    pub async fn remove_note(self, (conversation, id): (Uuid, Uuid), author: Option<&str>) -> Result<bool> {
        let sql = "DELETE FROM conversation_note WHERE id = $1 AND conversation_id = $2 AND company_id = $3 \
                   AND ($4 OR author = $5)";
        let values = [
            id.into(),
            conversation.into(),
            self.company.into(),
            author.is_none().into(),
            author.unwrap_or_default().into(),
        ];
        Ok(execute(&self.store.write, sql, values).await? > 0)
    }
}
