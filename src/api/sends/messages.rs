//! The messages of a send: a page of them, or all of them as lines.

use actix_web::http::header::ACCEPT;
use actix_web::web::{Bytes, Data};
use actix_web::{HttpRequest, HttpResponse};
use futures_util::Stream;
use futures_util::stream::try_unfold;
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use super::send_id;
use crate::api::State;
use crate::api::auth::Company;
use crate::api::envelope::Envelope;
use crate::api::error::{Error, ErrorBody};
use crate::api::list_query::ListQuery;
use crate::api::openapi::{Failures, MessageState};
use crate::clock::Timestamp;
use crate::domain::message::{self, Failure, Outcome, Position};
use crate::domain::page::Page;
use crate::domain::request::GROUP_SUFFIX;
use crate::engine::{Engine, no_such_send};
use crate::error::Code;
use crate::store::send_messages::{Message, Roster};

const NDJSON: &str = "application/x-ndjson";
/// Messages read and written at once: what a stream holds in memory.
const STRETCH: u64 = 4096;

/// One recipient's message.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = SendMessage)]
pub(in crate::api) struct MessageRecord {
    /// Its position in the send, from 0.
    ordinal: u64,
    /// To whom: a number, or a group's id with `@g.us`.
    #[schema(example = "+5511988887777")]
    recipient: String,
    /// Where it is.
    #[schema(value_type = MessageState, example = "sent")]
    state: &'static str,
    /// How often it was tried.
    attempts: u16,
    /// The provider's id, once it accepted.
    provider_message_id: Option<String>,
    /// What went wrong last.
    error: Option<MessageError>,
    /// When it is tried again, if it is.
    #[schema(value_type = Option<String>, format = DateTime)]
    retry_at: Option<Timestamp>,
    /// When something was last heard of it; null when it was never attempted.
    #[schema(value_type = Option<String>, format = DateTime)]
    updated_at: Option<Timestamp>,
}

/// What went wrong with a message.
#[derive(Debug, Serialize, ToSchema)]
pub(in crate::api) struct MessageError {
    /// The provider's code, when it gave one.
    #[schema(example = 131_026)]
    code: Option<i64>,
    /// In words.
    message: String,
}

impl MessageRecord {
    /// A message of the send whose roster this is.
    fn new(Message { outcome, updated_at }: Message, roster: &Roster) -> Self {
        let Outcome { position, state, attempts, provider_message_id, error, retry_at, taken_at: _ } =
            outcome;
        let Position { ordinal, recipient } = position;
        Self {
            ordinal,
            recipient: recipient.map_or_else(
                || format!("{}{GROUP_SUFFIX}", roster.group().unwrap_or_default()),
                |number| format!("+{number}"),
            ),
            state: state.as_str(),
            attempts,
            provider_message_id,
            error: error.map(|Failure { code, sentence }| MessageError { code, message: sentence }),
            retry_at,
            updated_at,
        }
    }
}

/// List a send's messages
///
/// One for each recipient, whether attempted or not, by ordinal. With `Accept: application/x-ndjson` all of
/// them come, one JSON object on each line, and `page` and `limit` are not looked at; an answer that breaks off
/// is not whole.
#[utoipa::path(
    get,
    path = "/api/v1/sends/{id}/messages",
    operation_id = "listSendMessages",
    tag = "sends",
    params(
        ("id" = Uuid, Path, description = "The send"),
        ("page" = Option<u64>, Query, minimum = 1, description = "From 1; 1 when absent"),
        ("limit" = Option<u64>, Query, minimum = 1, description = "Records on a page; 10 when absent"),
        ("state" = Option<MessageState>, Query, description = "Only messages in this state"),
    ),
    responses(
        (status = 200, description = "A page of messages, or all of them", content(
            (Envelope<MessageRecord> = "application/json"),
            (MessageRecord = "application/x-ndjson"),
        )),
        (status = 404, description = "`send_not_found`", body = ErrorBody),
        Failures,
    ),
)]
pub(in crate::api) async fn list(
    company: Company,
    state: Data<State>,
    request: HttpRequest,
) -> Result<HttpResponse, Error> {
    let id = send_id(&request)?;
    let query = ListQuery::new(request.query_string(), &state.options);
    let (page, wanted) = (query.page(), wanted(&query)?);
    let records = state.engine.records_of(company.id).await?;
    let roster = records.roster(company.id, id).await?.ok_or_else(no_such_send)?;
    if wants_lines(&request) {
        let lines = lines(state.engine.clone(), company.id, roster, wanted);
        return Ok(HttpResponse::Ok().content_type(NDJSON).streaming(lines));
    }
    let page = page?;
    let Page { records, total } = records.messages(&roster, wanted, page).await?;
    let records = records.into_iter().map(|message| MessageRecord::new(message, &roster)).collect();
    Ok(HttpResponse::Ok().json(Envelope::<MessageRecord>::new(page, Page { records, total })))
}

fn wanted(query: &ListQuery<'_>) -> Result<Option<message::State>, Error> {
    let Some(word) = query.text("state")? else { return Ok(None) };
    let found = message::State::from_word(&word);
    found.map(Some).ok_or_else(|| {
        let words = message::State::ALL.map(message::State::as_str).join(", ");
        Error::refused(Code::InvalidField, format!("`state` must be one of {words}"))
    })
}

/// Whether the client takes lines: it says so by name.
fn wants_lines(request: &HttpRequest) -> bool {
    let accepted = request.headers().get_all(ACCEPT).filter_map(|value| value.to_str().ok());
    let mut types = accepted.flat_map(|value| value.split(',')).map(|part| part.split(';').next());
    types.any(|name| name.is_some_and(|name| name.trim().eq_ignore_ascii_case(NDJSON)))
}

/// All messages, a stretch of lines at a time, each read when the client has taken the one before.
fn lines(
    engine: Engine,
    company_id: Uuid,
    roster: Roster,
    wanted: Option<message::State>,
) -> impl Stream<Item = Result<Bytes, std::io::Error>> {
    try_unfold(Some(0), move |next| {
        let (engine, roster) = (engine.clone(), roster.clone());
        async move {
            let Some(next) = next else { return Ok(None) };
            let broken = |error: &dyn std::fmt::Display| {
                tracing::error!(%error, "a list of messages broke off");
                std::io::Error::other("the list broke off")
            };
            // A turn for each stretch: a slow client keeps nobody from reading.
            let records = engine.records_of(company_id).await.map_err(|error| broken(&error))?;
            let messages = records.messages_from(&roster, wanted, next, STRETCH).await;
            let messages = messages.map_err(|error| broken(&error))?;
            let Some(last) = messages.last() else { return Ok(None) };
            let next = (messages.len() as u64 == STRETCH).then_some(last.outcome.position.ordinal + 1);
            let mut written = Vec::new();
            for message in messages {
                serde_json::to_writer(&mut written, &MessageRecord::new(message, &roster))?;
                written.push(b'\n');
            }
            Ok(Some((Bytes::from(written), next)))
        }
    })
}

#[cfg(test)]
mod tests {
    use actix_web::test::TestRequest;

    use super::*;

    #[test]
    fn lines_are_for_those_who_ask_for_them() {
        let asks = |accept: &str| {
            wants_lines(&TestRequest::default().insert_header((ACCEPT, accept)).to_http_request())
        };
        for accept in
            ["application/x-ndjson", "Application/X-NDJSON;q=1", "application/json, application/x-ndjson"]
        {
            assert!(asks(accept), "{accept}");
        }
        for accept in ["*/*", "application/json", "", "application/x-ndjson+x"] {
            assert!(!asks(accept), "{accept}");
        }
        assert!(!wants_lines(&TestRequest::default().to_http_request()));
    }
}
