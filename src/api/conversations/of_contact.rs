//! The conversations with the person of a contact: exporting and erasing what was written in them.

use actix_web::web::{Bytes, Data};
use actix_web::{HttpRequest, HttpResponse};
use futures_util::TryStreamExt as _;
use futures_util::stream::try_unfold;
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use super::messages::ConversationMessage;
use super::{ConversationList, ConversationRecord, records};
use crate::api::State;
use crate::api::auth::{Author, Company};
use crate::api::contacts::one::no_such_contact;
use crate::api::error::{Error, ErrorBody};
use crate::api::exports;
use crate::api::lines::{AsLines, NDJSON};
use crate::api::path_id::Id;
use crate::engine::Exported;
use crate::engine::conversations::types::ThreadCursor;
use crate::engine::conversations::{Thread, ThreadFrom};

/// Messages that are read at once.
const STEP: u64 = 500;

/// A message of an export.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ExportedMessage {
    /// The conversation.
    conversation_id: Uuid,
    /// The channel.
    channel_id: Uuid,
    /// The message, as in the conversation.
    #[serde(flatten)]
    message: ConversationMessage,
}

/// List or export the conversations with a contact
///
/// The conversations with the person of a contact, on all channels and under any number of the person, those with the latest
/// activity first. With `Accept: application/x-ndjson` the answer has all messages of these conversations, one JSON object on
/// each line: those of one conversation after the other, the later ones first. The record of changes says who took them.
#[utoipa::path(
    get,
    path = "/api/v1/contacts/{id}/conversations",
    operation_id = "exportConversations",
    params(("id" = Uuid, Path, description = "The contact")),
    responses(
        (status = 200, description = "The conversations, or all that was written in them", content(
            (ConversationList = "application/json"),
            (ExportedMessage = "application/x-ndjson"),
        )),
        (status = 404, description = "`contact_not_found`", body = ErrorBody),
    ),
)]
pub(crate) async fn export(
    author: Author,
    state: Data<State>,
    id: Id,
    AsLines(as_lines): AsLines,
    request: HttpRequest,
) -> Result<HttpResponse, Error> {
    let company = author.company;
    check_contact(&state, company, id).await?;
    let listed = state.engine.conversations(company.id).of_contact(id.or_nil()).await?;
    if !as_lines {
        let data: Vec<ConversationRecord> = records(&state, company, listed).await?;
        return Ok(HttpResponse::Ok().json(ConversationList { data, next_cursor: None }));
    }
    let left: Vec<_> =
        listed.into_iter().rev().map(|one| (one.conversation.id, one.conversation.channel_id)).collect();
    exports::record(&state, &author, &request, Exported::Conversations(id.or_nil())).await?;
    Ok(lines(state, company.id, left))
}

/// All messages of these conversations, the last one first. Each step is read once the client has received the one before.
fn lines(state: Data<State>, company: Uuid, left: Vec<(Uuid, Uuid)>) -> HttpResponse {
    let begin = (state, company, left, None::<ThreadCursor>);
    let steps = try_unfold(begin, async |(state, company, mut left, before)| {
        let Some((conversation_id, channel_id)) = left.last().copied() else { return Ok(None) };
        let from = before.map_or(ThreadFrom::Latest, ThreadFrom::Before);
        let thread = state.engine.conversations(company).thread(conversation_id, from, STEP).await?;
        let Thread { conversation: _, entries, earlier, later: _ } = thread;
        let mut written = Vec::new();
        for entry in entries.into_iter().rev() {
            let message = ExportedMessage { conversation_id, channel_id, message: entry.into() };
            serde_json::to_writer(&mut written, &message).map_err(|_| Error::Internal)?;
            written.push(b'\n');
        }
        if earlier.is_none() {
            left.pop();
        }
        Ok(Some((Bytes::from(written), (state, company, left, earlier))))
    });
    let steps = steps.map_err(|error: Error| {
        tracing::error!(%error, "an export of conversations broke off");
        std::io::Error::other("the export broke off")
    });
    HttpResponse::Ok().content_type(NDJSON).streaming(Box::pin(steps))
}

/// Erase the conversations with a contact
///
/// Removes everything that was written in the conversations with the person of a contact, on all channels, with its files and
/// the notes about it. The contact stays, and so do the records of the company's sends, which say that a message went and
/// not what the person answered. Deleting a contact does the same. The record of changes says who did it, and how many
/// conversations and messages there were.
#[utoipa::path(
    delete,
    path = "/api/v1/contacts/{id}/conversations",
    operation_id = "eraseConversations",
    params(("id" = Uuid, Path, description = "The contact")),
    responses(
        (status = 204, description = "Nothing that the person wrote is kept"),
        (status = 404, description = "`contact_not_found`", body = ErrorBody),
    ),
)]
pub(crate) async fn erase(
    Author { company, who }: Author,
    state: Data<State>,
    id: Id,
) -> Result<HttpResponse, Error> {
    check_contact(&state, company, id).await?;
    state.engine.conversations(company.id).erase_of_contact(&who, id.or_nil()).await?;
    Ok(HttpResponse::NoContent().finish())
}

/// Refuses the id of a contact that the company does not have.
async fn check_contact(state: &State, company: Company, id: Id) -> Result<(), Error> {
    let found = state.engine.company(company.id).await?.contacts().among(&[id.or_nil()]).await?;
    if found.is_empty() { Err(no_such_contact()) } else { Ok(()) }
}
