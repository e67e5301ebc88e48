//! What a program does with a conversation besides writing in it: reading, typing, assigning, closing and opening it.

use actix_web::HttpResponse;
use actix_web::web::Data;
use serde_json::Value;

use super::{ConversationRecord, member, shown};
use crate::api::State;
use crate::api::auth::{Author, Company};
use crate::api::body::Body;
use crate::api::envelope::Answer;
use crate::api::error::{Error, ErrorBody};
use crate::api::path_id::Id;
use crate::clock::Timestamp;
use crate::domain::bodies;
use crate::domain::inbound::ConversationState;
use crate::error::Code;

bodies! {
    /// Which messages were read.
    pub(crate) struct ConversationReading of Value {
        /// The time of the last message that was read, its `at`; messages after it stay unread. Now when absent.
        #[schema(format = DateTime)]
        up_to: Option<String>,
        /// Whether the person sees that the messages were read; what the company chose when absent (`read_marks` of the automatic
        /// answers).
        #[schema(example = true)]
        tell: Option<bool>,
    }

    /// Whether somebody types.
    pub(crate) struct ConversationTyping of Value {
        /// `false` when somebody has stopped; `true` when absent. A business account cannot end it: it ends with the message, or
        /// after 25 seconds.
        #[schema(example = true)]
        typing: Option<bool>,
    }

    /// Who deals with a conversation.
    pub(crate) struct ConversationAssignment of Value {
        /// The e-mail address or the id of a member of the company who answers; nobody when absent.
        #[schema(example = "ana@example.com")]
        user: Option<String>,
    }
}

/// Mark a conversation as read
///
/// Marks the messages of a conversation as read, for everybody in the company. The person sees it in WhatsApp, unless `tell`
/// is `false`, or absent and the company chose so: through a business account all earlier messages with them, through a web session the unread ones, at most
/// 200. If the person cannot be told now, the request is refused, and the messages are read nevertheless: a repeated request
/// tells the person of the last message.
#[utoipa::path(
    post,
    path = "/api/v1/conversations/{id}/read",
    operation_id = "markConversationRead",
    params(("id" = Uuid, Path, description = "The conversation")),
    request_body(content = Option<ConversationReading>, description = "May be left out"),
    responses(
        (status = 200, description = "The conversation", body = ConversationRecord),
        (status = 404, description = "`conversation_not_found`, `channel_not_found`", body = ErrorBody),
        (status = 409, description = "`session_disconnected`", body = ErrorBody),
    ),
)]
pub(crate) async fn read(
    company: Company,
    id: Id,
    body: Body,
    state: Data<State>,
) -> Answer<ConversationRecord> {
    let (ConversationReading { up_to, tell }, _room) = body.optional_fields(&state.options).await?;
    let up_to = up_to.moment()?.unwrap_or_else(Timestamp::now);
    let (id, conversations) = (id.or_nil(), state.engine.conversations(company.id));
    match tell.choice()? {
        Some(true) => conversations.mark_read_and_tell(id, up_to).await?,
        Some(false) => conversations.mark_read(id, up_to).await?,
        None => conversations.mark_read_as_chosen(id, up_to).await?,
    }
    shown(&state, company, id).await
}

/// Mark a conversation as unread
///
/// For everybody in the company, as a reminder. The person does not see it.
#[utoipa::path(
    post,
    path = "/api/v1/conversations/{id}/unread",
    operation_id = "markConversationUnread",
    params(("id" = Uuid, Path, description = "The conversation")),
    responses(
        (status = 200, description = "The conversation", body = ConversationRecord),
        (status = 404, description = "`conversation_not_found`", body = ErrorBody),
    ),
)]
pub(crate) async fn unread(company: Company, id: Id, state: Data<State>) -> Answer<ConversationRecord> {
    state.engine.conversations(company.id).mark_unread(id.or_nil()).await?;
    shown(&state, company, id.or_nil()).await
}

/// Show that somebody types
///
/// The person sees for some seconds that somebody types an answer: repeat it while somebody does. Through a business account
/// the person also sees that the messages were read.
#[utoipa::path(
    post,
    path = "/api/v1/conversations/{id}/typing",
    operation_id = "showTyping",
    params(("id" = Uuid, Path, description = "The conversation")),
    request_body(content = Option<ConversationTyping>, description = "May be left out"),
    responses(
        (status = 204, description = "The person sees it"),
        (status = 404, description = "`conversation_not_found`, `channel_not_found`", body = ErrorBody),
        (status = 409, description = "`window_closed`: the person wrote nothing to a business account; \
                                      `session_disconnected`", body = ErrorBody),
    ),
)]
pub(crate) async fn typing(
    company: Company,
    id: Id,
    body: Body,
    state: Data<State>,
) -> Result<HttpResponse, Error> {
    let (ConversationTyping { typing }, _room) = body.optional_fields(&state.options).await?;
    let is_typing = typing.choice()?.unwrap_or(true);
    state.engine.conversations(company.id).show_typing(id.or_nil(), is_typing).await?;
    Ok(HttpResponse::NoContent().finish())
}

/// Assign a conversation
///
/// Gives a conversation to a member of the company who may answer it, as agents, members and owners may, or to nobody.
#[utoipa::path(
    post,
    path = "/api/v1/conversations/{id}/assign",
    operation_id = "assignConversation",
    params(("id" = Uuid, Path, description = "The conversation")),
    request_body = ConversationAssignment,
    responses(
        (status = 200, description = "The conversation", body = ConversationRecord),
        (status = 404, description = "`conversation_not_found`, `user_not_found`", body = ErrorBody),
        (status = 409, description = "`user_cannot_answer`", body = ErrorBody),
    ),
)]
pub(crate) async fn assign(
    Author { company, who }: Author,
    id: Id,
    body: Body,
    state: Data<State>,
) -> Answer<ConversationRecord> {
    let (ConversationAssignment { user }, _room) = body.fields(&state.options).await?;
    let to = match user.text()? {
        None => None,
        Some(text) => {
            let found = member(&state, company, text).await?;
            let what = "is no member of this company: give an e-mail address or the id of a user";
            Some(found.ok_or_else(|| Error::of("user", Code::UserNotFound, what))?)
        }
    };
    state.engine.conversations(company.id).assign(&who, id.or_nil(), to).await?;
    shown(&state, company, id.or_nil()).await
}

/// Close a conversation
///
/// It is dealt with, and nothing in it is unread. A message from the person opens it again.
#[utoipa::path(
    post,
    path = "/api/v1/conversations/{id}/close",
    operation_id = "closeConversation",
    params(("id" = Uuid, Path, description = "The conversation")),
    responses(
        (status = 200, description = "The conversation", body = ConversationRecord),
        (status = 404, description = "`conversation_not_found`", body = ErrorBody),
    ),
)]
pub(crate) async fn close(author: Author, id: Id, state: Data<State>) -> Answer<ConversationRecord> {
    set_state(&state, author, id, ConversationState::Closed).await
}

/// Reopen a conversation
#[utoipa::path(
    post,
    path = "/api/v1/conversations/{id}/reopen",
    operation_id = "reopenConversation",
    params(("id" = Uuid, Path, description = "The conversation")),
    responses(
        (status = 200, description = "The conversation", body = ConversationRecord),
        (status = 404, description = "`conversation_not_found`", body = ErrorBody),
    ),
)]
pub(crate) async fn reopen(author: Author, id: Id, state: Data<State>) -> Answer<ConversationRecord> {
    set_state(&state, author, id, ConversationState::Open).await
}

async fn set_state(
    state: &State,
    Author { company, who }: Author,
    id: Id,
    to: ConversationState,
) -> Answer<ConversationRecord> {
    state.engine.conversations(company.id).set_state(&who, id.or_nil(), to).await?;
    shown(state, company, id.or_nil()).await
}
