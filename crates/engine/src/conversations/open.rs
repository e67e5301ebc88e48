//! Conversations as a list shows them, with their last line opened.

use super::Conversations;
use crate::Error;
use domain::error::{Code, Refusal};
use store::conversations::Conversation;
use vault::context;

/// A conversation, and the words of its last entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedConversation {
    /// The conversation.
    pub conversation: Conversation,
    /// The last entry in one line; empty for one without words, and `None` when it is not kept.
    pub line: Option<String>,
}

/// The refusal for an id that is no conversation of the company.
pub fn no_such_conversation() -> Refusal {
    Refusal::new(Code::ConversationNotFound, "the company has no conversation with this id")
}

impl Conversations<'_> {
    /// These conversations with their lines.
    pub(super) async fn opened(&self, found: Vec<Conversation>) -> Result<Vec<ListedConversation>, Error> {
        let mut listed = Vec::with_capacity(found.len());
        for conversation in found {
            let last = &conversation.last;
            let line = if last.line.is_empty() {
                self.engine.0.shared.keeps_inbox.then(String::new)
            } else {
                let context = context::conversation_line(last.id);
                let opened = self.engine.0.shared.contents.open(&last.line, &context).await?;
                opened.and_then(|line| String::from_utf8(line).ok())
            };
            listed.push(ListedConversation { conversation, line });
        }
        Ok(listed)
    }
}
