//! What was written in a conversation: by the person, by the company on its own phone, and through Pombo.

use actix_web::web::{Data, Json};
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use super::direction;
use crate::api::State;
use crate::api::auth::Company;
use crate::api::content::SendContent;
use crate::api::envelope::Answer;
use crate::api::error::{Error, ErrorBody};
use crate::api::list_query::Query;
use crate::api::path_id::Id;
use crate::api::schema::MessageDirection;
use crate::api::sends::messages::MessageRecord;
use crate::clock::Timestamp;
use crate::domain::inbound::InboundBody;
use crate::domain::page::cursor;
use crate::domain::send::Label;
use crate::engine::conversations::types::ThreadCursor;
use crate::engine::conversations::{OwnEntry, ShownReaction, Thread, ThreadEntry, ThreadFrom, WrittenEntry};
use crate::engine::records::messages::Addressed;
use crate::engine::records::sends::Sent;
use crate::error::Code;

/// The thread's name, for its cursors.
const LIST: &str = "conversation messages";

/// A message of a conversation.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ConversationMessage {
    /// Its id: of a message of the company, the id of the send.
    id: Uuid,
    /// Who wrote it.
    #[schema(value_type = MessageDirection, example = "in")]
    direction: &'static str,
    /// Its type; null for a message of the company whose send was removed.
    #[schema(example = "text")]
    r#type: Option<String>,
    /// When it was written; of a message of the company, when it went or was accepted.
    #[schema(value_type = String, format = DateTime)]
    at: Timestamp,
    /// WhatsApp's id, which an answer (`reply_to`) or a reaction names; null for a message that WhatsApp does not have yet.
    provider_id: Option<String>,
    /// What the person wrote, or the company on its own phone, as it was changed last; null for the company's messages through
    /// Pombo, and for what was deleted or is not kept.
    received: Option<InboundBody>,
    /// The company's message through Pombo; null for others.
    sent: Option<ConversationSentMessage>,
    /// When its writer changed it last.
    #[schema(value_type = Option<String>, format = DateTime)]
    edited_at: Option<Timestamp>,
    /// When its writer deleted it.
    #[schema(value_type = Option<String>, format = DateTime)]
    deleted_at: Option<Timestamp>,
    /// The emojis below it, at most 20.
    reactions: Vec<ConversationReaction>,
}

/// A message of the company in a conversation.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ConversationSentMessage {
    /// The send.
    send_id: Uuid,
    /// Whether the send went to several people.
    is_bulk: bool,
    /// The `reference` of the send.
    reference: Option<String>,
    /// The content; null when the send was removed.
    content: Option<SendContent>,
    /// The message, as in the list of the send's messages.
    message: MessageRecord,
}

/// An emoji below a message.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ConversationReaction {
    /// Who put it there.
    #[schema(value_type = MessageDirection, example = "in")]
    direction: &'static str,
    /// The person in a group: the number, or WhatsApp's own id; null elsewhere.
    author: Option<String>,
    /// The emoji.
    #[schema(example = "👍")]
    emoji: String,
    /// When.
    #[schema(value_type = String, format = DateTime)]
    at: Timestamp,
}

/// A part of a conversation.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ConversationPage {
    /// The messages, the earlier ones first.
    data: Vec<ConversationMessage>,
    /// Give it as `before` for the messages before these; absent when there are none.
    #[schema(value_type = String, required = false)]
    #[serde(skip_serializing_if = "Option::is_none")]
    previous_cursor: Option<String>,
    /// Give it as `after` for the messages after these, also for those that are not written yet; absent for an answer without
    /// messages: then the same cursor goes on.
    #[schema(value_type = String, required = false)]
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

impl From<ShownReaction> for ConversationReaction {
    fn from(ShownReaction { direction, author, emoji, at }: ShownReaction) -> Self {
        Self { direction: direction.as_str(), author, emoji, at }
    }
}

impl From<ThreadEntry> for ConversationMessage {
    fn from(entry: ThreadEntry) -> Self {
        let direction = direction(entry.side());
        match entry {
            ThreadEntry::Written(written) => {
                let WrittenEntry {
                    id,
                    provider_id,
                    direction: _,
                    kind,
                    at,
                    body,
                    edited_at,
                    deleted_at,
                    reactions,
                } = *written;
                Self {
                    id,
                    direction,
                    r#type: Some(kind),
                    at,
                    provider_id: Some(provider_id),
                    received: body,
                    sent: None,
                    edited_at,
                    deleted_at,
                    reactions: reactions.into_iter().map(ConversationReaction::from).collect(),
                }
            }
            ThreadEntry::Own(own) => {
                let OwnEntry { message, is_bulk, at, content, reactions } = *own;
                let Addressed { send_id, channel_id, reference, message, message_reference } = message;
                let provider_id = message.outcome.provider_message_id.clone();
                let r#type = content.as_ref().map(|content| content.kind().as_str().to_owned());
                // The record of the send has the rest.
                let of_send =
                    |content| Sent { channel_id, content, template_id: None, label: Label::default() };
                let sent = ConversationSentMessage {
                    send_id,
                    is_bulk,
                    reference,
                    content: content.map(of_send).map(SendContent::from),
                    message: MessageRecord::to(message, None).named(message_reference),
                };
                Self {
                    id: send_id,
                    direction,
                    r#type,
                    at,
                    provider_id,
                    received: None,
                    sent: Some(sent),
                    edited_at: None,
                    deleted_at: None,
                    reactions: reactions.into_iter().map(ConversationReaction::from).collect(),
                }
            }
        }
    }
}

impl From<Thread> for ConversationPage {
    fn from(Thread { conversation: _, entries, earlier, later }: Thread) -> Self {
        Self {
            data: entries.into_iter().map(ConversationMessage::from).collect(),
            previous_cursor: earlier.map(written),
            next_cursor: later.map(written),
        }
    }
}

fn written(place: ThreadCursor) -> String {
    cursor::write(LIST, 1, &(place.at.millis(), place.id))
}

/// Read a conversation
///
/// The latest messages of a conversation, the earlier ones first: what the person wrote, what the company wrote on its own
/// phone, and what it sent through Pombo, bulk sends included. `before` goes back, and `after` goes on: a program that
/// repeats `after` with the last `next_cursor` gets each new message. Reactions, edits and deletions are shown at their
/// messages; events tell of them.
#[utoipa::path(
    get,
    path = "/api/v1/conversations/{id}/messages",
    operation_id = "readConversation",
    params(
        ("id" = Uuid, Path, description = "The conversation"),
        ("limit" = Option<u64>, Query, minimum = 1, description = "Messages in the answer; 10 when absent"),
        ("before" = Option<String>, Query, description = "The `previous_cursor` of an answer"),
        ("after" = Option<String>, Query, description = "The `next_cursor` of an answer. Give this or `before`"),
    ),
    responses(
        (status = 200, description = "A part of the conversation", body = ConversationPage),
        (status = 404, description = "`conversation_not_found`", body = ErrorBody),
    ),
)]
pub(crate) async fn list(
    company: Company,
    state: Data<State>,
    query: Query,
    id: Id,
) -> Answer<ConversationPage> {
    let limit = query.page()?.limit;
    let from = match (place(&query, "before")?, place(&query, "after")?) {
        (None, None) => ThreadFrom::Latest,
        (Some(place), None) => ThreadFrom::Before(place),
        (None, Some(place)) => ThreadFrom::After(place),
        (Some(_), Some(_)) => {
            return Err(Error::refused(Code::InvalidPagination, "give `before` or `after`, not both"));
        }
    };
    let thread = state.engine.conversations(company.id).thread(id.or_nil(), from, limit).await?;
    Ok(Json(ConversationPage::from(thread)))
}

fn place(query: &Query, name: &str) -> Result<Option<ThreadCursor>, Error> {
    let Some(text) = query.text(name)? else { return Ok(None) };
    let Some((_, (at, id))) = cursor::read::<(i64, Uuid)>(LIST, &text) else {
        let what = "is no cursor of a conversation: give one of an answer, or none for the latest messages";
        return Err(Error::of(name, Code::InvalidPagination, what));
    };
    Ok(Some(ThreadCursor { at: Timestamp::from_millis(at), id }))
}
