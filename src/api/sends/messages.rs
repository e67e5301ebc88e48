//! The messages of a send: a page of them, all of them, or one message with its journey.

mod form;
pub(crate) mod journey;

use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};
use serde::Serialize;
use utoipa::ToSchema;

use self::form::{ExportForm, ListedMessages};
use super::send_id;
use crate::api::State;
use crate::api::auth::Author;
use crate::api::envelope::Envelope;
use crate::api::error::{Error, ErrorBody};
use crate::api::exports;
use crate::api::list_query::{PartParameters, Query};
use crate::api::path_id::Id;
use crate::api::schema::MessageState;
use crate::clock::Timestamp;
use crate::domain::message::{self, Failure, Outcome, Position, Selection};
use crate::domain::page::Page;
use crate::domain::request::GROUP_SUFFIX;
use crate::engine::records::messages::{Message, SendSnapshot};
use crate::engine::{Exported, no_such_send};
use crate::error::Code;

/// One recipient's message.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = SendMessage)]
pub(crate) struct MessageRecord {
    /// Its position in the send, from 0.
    ordinal: u64,
    /// The recipient: a number, or a group's id with `@g.us`.
    #[schema(example = "+5511988887777")]
    recipient: String,
    /// The state of the message.
    #[schema(value_type = MessageState, example = "sent")]
    state: &'static str,
    /// The number of attempts.
    attempts: u16,
    /// The provider's id of the message, once the provider has accepted it.
    provider_message_id: Option<String>,
    /// What went wrong last.
    error: Option<MessageError>,
    /// When the message is retried, if it is.
    #[schema(value_type = Option<String>, format = DateTime)]
    retry_at: Option<Timestamp>,
    /// When its state last changed; null when it was never attempted.
    #[schema(value_type = Option<String>, format = DateTime)]
    updated_at: Option<Timestamp>,
    /// The caller's own name for the message: the `reference` that its recipient had in the request. Absent for one without.
    #[schema(value_type = String, required = false, example = "crm-77")]
    #[serde(skip_serializing_if = "Option::is_none")]
    message_reference: Option<String>,
}

/// What went wrong with a message.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct MessageError {
    /// The provider's code, when it gave one. A negative code is Pombo's own: see the table of codes.
    #[schema(example = 131_026)]
    code: Option<i64>,
    /// In words.
    message: String,
}

impl MessageRecord {
    /// A message of the send whose snapshot this is.
    fn new(message: Message, snapshot: &SendSnapshot) -> Self {
        Self::to(message, snapshot.group())
    }

    /// A message to its number, or to this group.
    pub(crate) fn to(Message { outcome, updated_at }: Message, group: Option<&str>) -> Self {
        let Outcome { position, state, attempts, provider_message_id, error, retry_at, taken_at: _ } =
            outcome;
        let Position { ordinal, recipient } = position;
        Self {
            ordinal,
            recipient: recipient.map_or_else(
                || format!("{}{GROUP_SUFFIX}", group.unwrap_or_default()),
                |number| format!("+{number}"),
            ),
            state: state.as_str(),
            attempts,
            provider_message_id,
            error: error.map(|Failure { code, sentence }| MessageError { code, message: sentence }),
            retry_at,
            updated_at,
            message_reference: None,
        }
    }

    /// The same message with the caller's own name for it.
    pub(crate) fn named(self, message_reference: Option<String>) -> Self {
        Self { message_reference, ..self }
    }
}

/// List a send's messages
///
/// One message for each recipient, attempted or not, by ordinal. With `Accept: application/x-ndjson` or
/// `Accept: text/csv` the answer is the one of `GET /api/v1/sends/{id}/messages/export`: it has all messages, and `page`,
/// `limit` and `cursor` are ignored.
#[utoipa::path(
    get,
    path = "/api/v1/sends/{id}/messages",
    operation_id = "listSendMessages",
    params(
        ("id" = Uuid, Path, description = "The send"),
        PartParameters,
        ("state" = Option<MessageState>, Query, description = "Only messages in this state"),
        ("error_code" = Option<i64>, Query, description = "Only messages with this code, the provider's or \
             Pombo's own"),
    ),
    responses(
        (status = 200, description = "A page of messages, or all of them", content(
            (Envelope<MessageRecord> = "application/json"),
            (MessageRecord = "application/x-ndjson"),
            (String = "text/csv"),
        )),
        (status = 404, description = "`send_not_found`", body = ErrorBody),
    ),
)]
pub(crate) async fn list(
    author: Author,
    state: Data<State>,
    id: Id,
    query: Query,
    request: HttpRequest,
) -> Result<HttpResponse, Error> {
    let (id, company) = (send_id(id)?, author.company);
    let (listing, selection) = (query.listing::<u64>("messages"), selection(&query)?);
    let records = state.engine.company(company.id).await?;
    let snapshot = records.sends().snapshot(id).await?.ok_or_else(no_such_send)?;
    if let Some(form) = ExportForm::accepted(&request) {
        drop(records);
        exports::record(&state, &author, &request, Exported::Messages(id)).await?;
        let engine = state.engine.clone();
        return Ok(form.answer(ListedMessages {
            engine,
            company_id: company.id,
            send_id: id,
            snapshot,
            selection,
        }));
    }
    let listing = listing?;
    let found = if selection.codes.is_empty() {
        records.messages().page(&snapshot, selection.states.first().copied(), listing.window()).await?
    } else {
        records.messages().with_codes(&snapshot, &selection, listing.window()).await?
    };
    let Page { records: messages, total } = found;
    drop(records);
    let mut references = state.engine.sends().references(company.id, id, &messages).await?;
    let record = |message: Message| {
        let reference = references.remove(&message.outcome.position.ordinal);
        MessageRecord::new(message, &snapshot).named(reference)
    };
    let records = messages.into_iter().map(record).collect();
    let part = Page { records, total };
    Ok(HttpResponse::Ok().json(Envelope::<MessageRecord>::listed(&listing, part, |message| message.ordinal)))
}

/// Export a send's messages
///
/// All messages of a send, or those in a state or with a code, by ordinal: one JSON object on each line, or CSV with
/// `Accept: text/csv`, whose first line names the columns. An answer whose connection breaks is incomplete. In CSV, a text
/// that a spreadsheet would read as a formula has an apostrophe before it, and numbers have no plus sign. The record of changes
/// says who took them.
#[utoipa::path(
    get,
    path = "/api/v1/sends/{id}/messages/export",
    operation_id = "exportSendMessages",
    params(
        ("id" = Uuid, Path, description = "The send"),
        ("state" = Option<MessageState>, Query, description = "Only messages in this state"),
        ("error_code" = Option<i64>, Query, description = "Only messages with this code, the provider's or \
             Pombo's own"),
    ),
    responses(
        (status = 200, description = "All messages", content(
            (MessageRecord = "application/x-ndjson"),
            (String = "text/csv"),
        )),
        (status = 404, description = "`send_not_found`", body = ErrorBody),
    ),
)]
pub(crate) async fn export(
    author: Author,
    state: Data<State>,
    id: Id,
    query: Query,
    request: HttpRequest,
) -> Result<HttpResponse, Error> {
    let (id, selection, company) = (send_id(id)?, selection(&query)?, author.company);
    let records = state.engine.company(company.id).await?;
    let snapshot = records.sends().snapshot(id).await?.ok_or_else(no_such_send)?;
    drop(records);
    exports::record(&state, &author, &request, Exported::Messages(id)).await?;
    let form = ExportForm::accepted(&request).unwrap_or(ExportForm::Lines);
    let engine = state.engine.clone();
    Ok(form.answer(ListedMessages { engine, company_id: company.id, send_id: id, snapshot, selection }))
}

/// The requested messages: those in one state, and with one code.
fn selection(query: &Query) -> Result<Selection, Error> {
    let codes = query.text("error_code")?.map(|code| {
        code.parse().map_err(|_| {
            Error::of("error_code", Code::InvalidField, "must be a code of the provider, such as 131026")
        })
    });
    let codes = codes.transpose()?.into_iter().collect();
    Ok(Selection { states: wanted(query)?.into_iter().collect(), codes })
}

/// The requested state.
pub(crate) fn wanted(query: &Query) -> Result<Option<message::State>, Error> {
    let Some(word) = query.text("state")? else { return Ok(None) };
    let found = message::State::from_word(&word);
    found.map(Some).ok_or_else(|| {
        let words = message::State::ALL.map(message::State::as_str).join(", ");
        Error::of("state", Code::InvalidField, format_args!("must be one of {words}"))
    })
}
