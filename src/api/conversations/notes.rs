//! Notes about a conversation: texts of the company's people and programs, which the person never sees.

use actix_web::web::{Data, Json};
use actix_web::{HttpRequest, HttpResponse};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::api::State;
use crate::api::auth::{Author, Company};
use crate::api::body::Body;
use crate::api::envelope::Answer;
use crate::api::error::{Error, ErrorBody};
use crate::api::path_id::Id;
use crate::clock::Timestamp;
use crate::domain::bodies;
use crate::engine::conversations::{ShownNote, no_such_note};

/// A note about a conversation.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ConversationNote)]
pub(crate) struct NoteInside {
    /// The id of the note.
    id: Uuid,
    /// Who wrote it: `user:` and an e-mail address, or `key:` and the name of an API key.
    #[schema(example = "key:website")]
    author: String,
    /// The text; null when the service lacks the key that sealed it.
    #[schema(example = "Wants the blue one.")]
    text: Option<String>,
    /// When it was written.
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    /// When its author changed it last.
    #[schema(value_type = Option<String>, format = DateTime)]
    edited_at: Option<Timestamp>,
}

/// The notes about a conversation.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ConversationNoteList {
    /// The notes, the oldest first: at most a thousand.
    data: Vec<NoteInside>,
}

bodies! {
    /// The text of a note.
    pub(crate) struct ConversationNoteText of Value {
        /// At most 4,096 characters.
        #[schema(example = "Wants the blue one.")]
        text: String,
    }
}

impl From<ShownNote> for NoteInside {
    fn from(ShownNote { id, author, text, created_at, edited_at }: ShownNote) -> Self {
        Self { id, author, text, created_at, edited_at }
    }
}

/// List the notes about a conversation
#[utoipa::path(
    get,
    path = "/api/v1/conversations/{id}/notes",
    operation_id = "listConversationNotes",
    params(("id" = Uuid, Path, description = "The conversation")),
    responses(
        (status = 200, description = "The notes", body = ConversationNoteList),
        (status = 404, description = "`conversation_not_found`", body = ErrorBody),
    ),
)]
pub(crate) async fn list(company: Company, state: Data<State>, id: Id) -> Answer<ConversationNoteList> {
    let notes = state.engine.conversations(company.id).notes(id.or_nil()).await?;
    Ok(Json(ConversationNoteList { data: notes.into_iter().map(NoteInside::from).collect() }))
}

/// Add a note to a conversation
#[utoipa::path(
    post,
    path = "/api/v1/conversations/{id}/notes",
    operation_id = "addConversationNote",
    params(("id" = Uuid, Path, description = "The conversation")),
    request_body = ConversationNoteText,
    responses(
        (status = 201, description = "The note", body = NoteInside),
        (status = 404, description = "`conversation_not_found`, also when it has a thousand notes", body = ErrorBody),
    ),
)]
pub(crate) async fn add(
    Author { company, who }: Author,
    body: Body,
    state: Data<State>,
    id: Id,
) -> Result<HttpResponse, Error> {
    let (ConversationNoteText { text }, _room) = body.fields(&state.options).await?;
    let conversations = state.engine.conversations(company.id);
    let note = conversations.add_note(&who, id.or_nil(), text.required()?).await?;
    Ok(HttpResponse::Created().json(one(&state, company, id.or_nil(), note).await?))
}

/// Change a note about a conversation
///
/// Only the author may: the API key that wrote it.
#[utoipa::path(
    patch,
    path = "/api/v1/conversations/{id}/notes/{note}",
    operation_id = "changeConversationNote",
    params(
        ("id" = Uuid, Path, description = "The conversation"),
        ("note" = Uuid, Path, description = "The note"),
    ),
    request_body = ConversationNoteText,
    responses(
        (status = 200, description = "The note, changed", body = NoteInside),
        (status = 404, description = "`note_not_found`", body = ErrorBody),
    ),
)]
pub(crate) async fn change(
    Author { company, who }: Author,
    body: Body,
    state: Data<State>,
    id: Id,
    request: HttpRequest,
) -> Answer<NoteInside> {
    let (ConversationNoteText { text }, _room) = body.fields(&state.options).await?;
    let note = note_id(&request);
    let conversations = state.engine.conversations(company.id);
    conversations.edit_note(&who, (id.or_nil(), note), text.required()?).await?;
    one(&state, company, id.or_nil(), note).await.map(Json)
}

/// Delete a note about a conversation
#[utoipa::path(
    delete,
    path = "/api/v1/conversations/{id}/notes/{note}",
    operation_id = "deleteConversationNote",
    params(
        ("id" = Uuid, Path, description = "The conversation"),
        ("note" = Uuid, Path, description = "The note"),
    ),
    responses(
        (status = 204, description = "There is no such note any more"),
        (status = 404, description = "`note_not_found`", body = ErrorBody),
    ),
)]
pub(crate) async fn delete(
    Author { company, who }: Author,
    state: Data<State>,
    id: Id,
    request: HttpRequest,
) -> Result<HttpResponse, Error> {
    let place = (id.or_nil(), note_id(&request));
    // A key acts for the company.
    state.engine.conversations(company.id).remove_note(&who, place, true).await?;
    Ok(HttpResponse::NoContent().finish())
}

/// The id of the note in the path, or the nil id, which no note has.
fn note_id(request: &HttpRequest) -> Uuid {
    request.match_info().get("note").and_then(|id| Uuid::try_parse(id).ok()).unwrap_or_default()
}

async fn one(state: &State, company: Company, conversation: Uuid, note: Uuid) -> Result<NoteInside, Error> {
    let notes = state.engine.conversations(company.id).notes(conversation).await?;
    let found = notes.into_iter().find(|known| known.id == note);
    Ok(found.map(NoteInside::from).ok_or_else(|| crate::engine::Error::from(no_such_note()))?)
}
