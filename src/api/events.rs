//! The events of a company: a part of them, all that there are, or a stream.

mod stream;

use std::time::Instant;

use actix_web::web::{Bytes, Data};
use actix_web::{HttpRequest, HttpResponse};
use futures_util::TryStreamExt as _;
use futures_util::stream::try_unfold;
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use super::State;
use super::auth::Company;
use super::error::{Error, ErrorBody};
use super::lines::{NDJSON, accepts};
use super::list_query::Query;
use super::sends::id;
use crate::domain::event::log::Sequence;
use crate::domain::event::{Event, Type};
use crate::domain::nearest::nearest;
use crate::engine::events::{After, EventFilter, EventPart};
use crate::error::Code;

/// The media type of server-sent events.
const STREAM: &str = "text/event-stream";
/// Events in an answer when the client does not say.
const DEFAULT_LIMIT: u64 = 100;
/// Events that are read at once.
const STEP: usize = 1_000;

/// A part of a company's events.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct EventPage {
    /// The events, in the order in which they happened.
    data: Vec<Event>,
    /// Where the next part begins: give it as `after`. It is there for an answer without events, too.
    #[schema(example = "458753")]
    next_cursor: String,
    /// Whether there are more events now.
    has_more: bool,
}

impl From<EventPart> for EventPage {
    fn from(EventPart { events, next, more }: EventPart) -> Self {
        Self { data: events, next_cursor: next.as_i64().to_string(), has_more: more }
    }
}

/// Read events
///
/// What happened to the company's sends, messages, channels, templates and webhook endpoints, and which people opted out,
/// from the log of events. Nothing is lost, and each event comes once: a program gives the `next_cursor` of the answer
/// before as `after`. The log of a company is written from its first reading on, for `events.keep` (7 days) or up to
/// `events.max_bytes`, whichever is less.
///
/// With `wait`, an answer without events comes when there is one, or when the time is over. With
/// `Accept: application/x-ndjson` the answer has all events that there are now, one JSON object on each line; the
/// `sequence` of the last one is the next `after`.
///
/// With `Accept: text/event-stream` the answer is a stream of events as they happen (server-sent events): `id` is the
/// `sequence`, `event` the type, and `data` the event as JSON. A client that connects again sends the last `id` as
/// `Last-Event-ID` and misses nothing. A comment comes every 15 seconds. The
/// stream ends when the service stops, when the key is revoked, and for a client that reads so slowly that its
/// events are no longer kept.
#[utoipa::path(
    get,
    path = "/api/v1/events",
    operation_id = "readEvents",
    params(
        ("after" = Option<String>, Query, example = "458753", description = "The `next_cursor` of the answer before, \
             or the `sequence` of an event; `latest` begins with what happens from now on. Absent, or 0: the oldest event \
             that is kept"),
        ("types" = Option<String>, Query, example = "message.failed,send.*", description = "Only events of these types, \
             separated by commas; `send.*` is all of a kind"),
        ("channel_id" = Option<Uuid>, Query, description = "Only events of this channel"),
        ("limit" = Option<u64>, Query, minimum = 1, description = "Events in the answer; 100 when absent"),
        ("wait" = Option<String>, Query, example = "25s", description = "How long to wait for an event, at most 60s"),
        ("Last-Event-ID" = Option<String>, Header, description = "Of a stream: the last `id` that the client got. It \
             counts before `after`"),
    ),
    responses(
        (status = 200, description = "A part of the events, all that follow, or a stream", content(
            (EventPage = "application/json"),
            (Event = "application/x-ndjson"),
            (String = "text/event-stream"),
        )),
        (status = 410, description = "`cursor_expired`", body = ErrorBody),
    ),
)]
pub(super) async fn list(
    company: Company,
    state: Data<State>,
    query: Query,
    request: HttpRequest,
) -> Result<HttpResponse, Error> {
    if accepts(&request, STREAM) {
        return stream::open(company, state, &query, &request).await;
    }
    let (after, asked, limit, wait) = (after(&query)?, asked(&query)?, limit(&query)?, query.wait()?);
    let place = state.engine.events().place(company.id, after).await?;
    if accepts(&request, NDJSON) {
        let end = state.engine.events().place(company.id, After::End).await?;
        return Ok(lines(state, company.id, (place, end), asked));
    }
    let read = async |place| state.engine.events().read(company.id, place, &asked, limit).await;
    let Some(patience) = wait else {
        return Ok(HttpResponse::Ok().json(EventPage::from(read(place).await?)));
    };
    let (mut seat, began) = (state.engine.events().wait(company.id)?, Instant::now());
    let mut part = read(place).await?;
    while part.events.is_empty() && began.elapsed() < patience && !seat.is_closing() {
        if !part.more && !seat.changed(patience.saturating_sub(began.elapsed())).await {
            break;
        }
        part = read(part.next).await?;
    }
    Ok(HttpResponse::Ok().json(EventPage::from(part)))
}

/// All events after one place and up to another. Each step is read once the client has received the one before.
fn lines(
    state: Data<State>,
    company: Uuid,
    (place, end): (Sequence, Sequence),
    asked: EventFilter,
) -> HttpResponse {
    let steps =
        try_unfold((Some(place), end, state, company, asked), async |(place, end, state, company, asked)| {
            let Some(place) = place else { return Ok(None) };
            let part = state.engine.events().read(company, place, &asked, STEP).await?;
            let mut written = Vec::new();
            for event in part.events.iter().filter(|event| event.sequence <= end) {
                serde_json::to_writer(&mut written, event).map_err(|_| Error::Internal)?;
                written.push(b'\n');
            }
            let next = (part.more && part.next < end).then_some(part.next);
            Ok(Some((Bytes::from(written), (next, end, state, company, asked))))
        });
    let steps = steps.map_err(|error: Error| {
        tracing::error!(%error, "a list of events broke off");
        std::io::Error::other("the list broke off")
    });
    HttpResponse::Ok().content_type(NDJSON).streaming(Box::pin(steps))
}

/// `after`.
fn after(query: &Query) -> Result<After, Error> {
    query.text("after")?.as_deref().map_or(Ok(After::Beginning), place)
}

fn place(text: &str) -> Result<After, Error> {
    let after = match text {
        "latest" => Ok(After::End),
        "0" => Ok(After::Beginning),
        number => number.parse().map(After::Event),
    };
    after.map_err(|_| {
        let what = "must be the `next_cursor` of an answer, the `sequence` of an event, or `latest`";
        Error::of("after", Code::InvalidField, what)
    })
}

/// `types` and `channel_id`.
fn asked(query: &Query) -> Result<EventFilter, Error> {
    let mut types = Vec::new();
    for word in query.text("types")?.iter().flat_map(|text| text.split(',')).map(str::trim) {
        let kind = word.strip_suffix('*').filter(|kind| kind.ends_with('.'));
        let is_meant = |known: &Type| match kind {
            Some(kind) => known.as_str().starts_with(kind),
            None => known.as_str() == word,
        };
        let mut is_known = false;
        // What the stream at NATS missed is of no concern here.
        for known in Type::ALL.iter().filter(|known| **known != Type::OutboxLost && is_meant(known)) {
            is_known = true;
            if !types.contains(known) {
                types.push(*known);
            }
        }
        if !is_known {
            let near = nearest(word, Type::ALL.iter().map(|known| known.as_str()));
            let near = near.map(|near| format!(": did you mean `{near}`?")).unwrap_or_default();
            return Err(Error::of("types", Code::InvalidField, format_args!("has no type `{word}`{near}")));
        }
    }
    Ok(EventFilter { types, channel_id: id(query, "channel_id", "a channel")? })
}

fn limit(query: &Query) -> Result<usize, Error> {
    let limit = query.page()?.limit;
    let limit = if query.text("limit")?.is_some() { limit } else { DEFAULT_LIMIT.min(query.most()) };
    Ok(usize::try_from(limit).unwrap_or(usize::MAX))
}
