//! Notes on a contact: short texts of the company's people and programs, which nobody else gets.

use actix_web::web::{Data, Json};
use actix_web::{HttpRequest, HttpResponse};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use super::fields::{self, wrong_field};
use super::one::no_such_contact;
use crate::api::State;
use crate::api::auth::{Author, Company};
use crate::api::body::Body;
use crate::api::envelope::{Answer, Envelope};
use crate::api::error::{Error, ErrorBody};
use crate::api::list_query::{PageParameters, Query};
use crate::api::path_id::Id;
use crate::clock::Timestamp;
use crate::engine::records::contacts::{ContactNote, MOST_NOTES, NOTE_CHARS, NewNote, NotesOf};
use crate::error::Code;

/// A note on a contact.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Note {
    /// The id of the note.
    id: Uuid,
    /// The text.
    #[schema(example = "Prefers to be called in the afternoon.")]
    text: String,
    /// Who wrote it: `user:` and an e-mail address, or `key:` and the name of an API key.
    #[schema(example = "key:website")]
    author: String,
    /// When it was written.
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    /// When it was written or last changed.
    #[schema(value_type = String, format = DateTime)]
    updated_at: Timestamp,
}

/// A note to add.
#[derive(Deserialize, ToSchema)]
pub(crate) struct NoteBody {
    /// At most 2,000 characters.
    #[schema(example = "Prefers to be called in the afternoon.")]
    text: String,
}

impl From<ContactNote> for Note {
    fn from(ContactNote { id, author, body, created_at, updated_at }: ContactNote) -> Self {
        Self { id, text: body, author, created_at, updated_at }
    }
}

/// List the notes on a contact
///
/// The newest first. They are in no export, go with their contact, and stay when it is merged with others.
#[utoipa::path(
    get,
    path = "/api/v1/contacts/{id}/notes",
    operation_id = "listNotes",
    params(("id" = Uuid, Path, description = "The contact"), PageParameters),
    responses(
        (status = 200, description = "A page of notes", body = Envelope<Note>),
        (status = 404, description = "`contact_not_found`", body = ErrorBody),
    ),
)]
pub(crate) async fn list(
    company: Company,
    state: Data<State>,
    query: Query,
    id: Id,
) -> Answer<Envelope<Note>> {
    let page = query.page()?;
    check_contact(&state, company, id).await?;
    let notes = state.engine.company(company.id).await?.contact_notes().page(id.or_nil(), page).await?;
    Ok(Json(Envelope::new(page, notes)))
}

/// Add a note to a contact
///
/// A contact has at most 200 notes. The record of changes says that a note was added, and not what it says.
#[utoipa::path(
    post,
    path = "/api/v1/contacts/{id}/notes",
    operation_id = "addNote",
    params(("id" = Uuid, Path, description = "The contact")),
    request_body = NoteBody,
    responses(
        (status = 201, description = "The note", body = Note),
        (status = 404, description = "`contact_not_found`", body = ErrorBody),
        (status = 409, description = "`too_many_notes`", body = ErrorBody),
    ),
)]
pub(crate) async fn add(
    Author { company, who }: Author,
    body: Body,
    state: Data<State>,
    id: Id,
) -> Result<HttpResponse, Error> {
    let (NoteBody { text }, _room) = fields::read(body, &state).await?;
    let text = text.trim();
    if text.is_empty() || text.chars().count() > NOTE_CHARS || text.contains('\0') {
        let what = format_args!("must have from 1 to {NOTE_CHARS} characters, and no NUL");
        return Err(wrong_field("text", what));
    }
    let records = state.engine.company(company.id).await?;
    let (contact, now) = (id.or_nil(), Timestamp::now());
    match records.contact_notes().add(&who, contact, text, now).await? {
        NewNote::Added(id) => {
            let (body, author) = (text.to_owned(), who.to_string());
            let note = ContactNote { id, author, body, created_at: now, updated_at: now };
            Ok(HttpResponse::Created().json(Note::from(note)))
        }
        NewNote::NoContact => Err(no_such_contact()),
        NewNote::Full => {
            let sentence = format!("the contact has {MOST_NOTES} notes: delete one that nobody needs");
            Err(Error::refused(Code::TooManyNotes, sentence))
        }
    }
}

/// Delete a note
#[utoipa::path(
    delete,
    path = "/api/v1/contacts/{id}/notes/{note}",
    operation_id = "deleteNote",
    params(
        ("id" = Uuid, Path, description = "The contact"),
        ("note" = Uuid, Path, description = "The note"),
    ),
    responses(
        (status = 204, description = "There is no such note any more"),
        (status = 404, description = "`contact_not_found`, `note_not_found`", body = ErrorBody),
    ),
)]
pub(crate) async fn delete(
    Author { company, who }: Author,
    state: Data<State>,
    id: Id,
    request: HttpRequest,
) -> Result<HttpResponse, Error> {
    check_contact(&state, company, id).await?;
    let note = request.match_info().get("note").and_then(|id| Uuid::try_parse(id).ok()).unwrap_or_default();
    let records = state.engine.company(company.id).await?;
    // A key acts for the company.
    match records.contact_notes().delete(&who, (id.or_nil(), note), NotesOf::Everybody).await? {
        true => Ok(HttpResponse::NoContent().finish()),
        false => {
            let sentence = "the contact has no such note: GET …/notes lists its notes";
            Err(Error::refused(Code::NoteNotFound, sentence))
        }
    }
}

/// Refuses the id of a contact that the company does not have.
async fn check_contact(state: &State, company: Company, id: Id) -> Result<(), Error> {
    let found = state.engine.company(company.id).await?.contacts().among(&[id.or_nil()]).await?;
    if found.is_empty() { Err(no_such_contact()) } else { Ok(()) }
}
