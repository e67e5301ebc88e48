//! Answers that users have begun to write: kept until they are sent, and shown to others as writing.

use std::time::Duration;

use uuid::Uuid;

use super::{Conversations, no_such_conversation};
use crate::Error;
use clock::Timestamp;
use store::conversations::BegunAnswer;
use vault::context;

/// The most characters of a begun answer that are kept: those of the longest text that WhatsApp takes.
pub const BEGUN_CHARS: usize = 4_096;
/// How long after typing a user counts as writing.
const WRITING: Duration = Duration::from_secs(10);

/// What users have begun to write in a conversation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BegunAnswers {
    /// The user's own text, if there is one that can be opened.
    pub own: Option<String>,
    /// Other users who are writing now, those who typed last first.
    pub writing: Vec<Uuid>,
}

impl Conversations<'_> {
    /// What users have begun to write in a conversation, as `user` sees it.
    pub async fn begun(&self, conversation: Uuid, user: Uuid, now: Timestamp) -> Result<BegunAnswers, Error> {
        let records = self.engine.records_of(self.company).await?;
        let found = records.of(self.company).conversations().begun(conversation).await?;
        drop(records);
        let mut begun = BegunAnswers::default();
        for BegunAnswer { user_id, text, updated_at } in found {
            if user_id == user {
                let context = context::conversation_draft(conversation, user);
                let opened = self.engine.0.shared.contents.open(&text, &context).await?;
                begun.own = opened.and_then(|text| String::from_utf8(text).ok());
            } else if updated_at.plus(WRITING) > now {
                begun.writing.push(user_id);
            }
        }
        Ok(begun)
    }

    /// Keeps what a user has begun, up to [`BEGUN_CHARS`] characters of it. A blank text removes what was kept.
    ///
    /// # Errors
    ///
    /// `conversation_not_found`.
    pub async fn keep_begun(&self, conversation: Uuid, user: Uuid, text: &str) -> Result<(), Error> {
        if text.trim().is_empty() {
            return Ok(self.store().remove_begun(conversation, user).await?);
        }
        let text: String = text.chars().take(BEGUN_CHARS).collect();
        let key = self.engine.0.shared.contents.current(self.company).await?;
        let text = key.seal(text.as_bytes(), &context::conversation_draft(conversation, user));
        let begun = BegunAnswer { user_id: user, text, updated_at: Timestamp::now() };
        if self.store().keep_begun(conversation, &begun).await? {
            Ok(())
        } else {
            Err(no_such_conversation().into())
        }
    }
}
