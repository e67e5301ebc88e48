//! Answers that users have begun to write, which are kept until they are sent. Their texts are sealed.

use uuid::Uuid;

use crate::nouns::Conversations;
use crate::{Result, execute, fetch};
use clock::Timestamp;

/// The most answers of a conversation that are read: as many people as type at one time, and more.
const MOST: i64 = 100;

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

impl Conversations<'_> {
    /// The answers that users have begun in a conversation, the latest first.
    pub async fn begun(self, conversation: Uuid) -> Result<Vec<BegunAnswer>> {
        let sql = "SELECT user_id, text, updated_at FROM conversation_draft \
                   WHERE conversation_id = $1 AND company_id = $2 ORDER BY updated_at DESC, user_id LIMIT $3";
        type Columns = (Uuid, Vec<u8>, i64);
        let values = [conversation.into(), self.company.into(), MOST.into()];
        let rows = fetch::<Columns>(&self.store.read, sql, values).await?;
        let begun = |(user_id, text, at): Columns| BegunAnswer {
            user_id,
            text,
            updated_at: Timestamp::from_millis(at),
        };
        Ok(rows.into_iter().map(begun).collect())
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
        let sql =
            "DELETE FROM conversation_draft WHERE conversation_id = $1 AND company_id = $2 AND user_id = $3";
        execute(&self.store.write, sql, [conversation.into(), self.company.into(), user.into()]).await?;
        Ok(())
    }
}
