//! Accepted sends: their progress, and pausing, resuming, moving, canceling and retrying them.

pub(super) mod figures;
pub(super) mod messages;
mod record;
pub(super) mod reschedule;
pub(super) mod retry;
pub(super) mod skipped;

use std::collections::HashMap;

use actix_web::HttpResponse;
use actix_web::web::{Data, Json};
use uuid::Uuid;

use self::record::SendRecord;
use super::State;
use super::auth::{Author, Company};
use super::content::SendContent;
use super::envelope::{Answer, Envelope};
use super::error::{Error, ErrorBody};
use super::lines::{AsLines, lines};
use super::list_query::{PartParameters, Query};
use super::path_id::Id;
use super::schema::SendState;
use crate::clock::Timestamp;
use crate::domain::outlook::Outlook;
use crate::domain::page::{Page, Window};
use crate::domain::send::{Source, UnknownStage};
use crate::engine::no_such_send;
use crate::engine::records::sends::{Filter, Record};
use crate::error::Code;

/// A send with the outlook of its channel.
type WithOutlook = (Record, Outlook);

/// List sends
///
/// The company's accepted sends, newest first. With `Accept: application/x-ndjson` the answer has all sends, or those
/// after `cursor`, one JSON object on each line.
#[utoipa::path(
    get,
    path = "/api/v1/sends",
    operation_id = "listSends",
    params(
        PartParameters,
        ("state" = Option<SendState>, Query, description = "Only sends in this state"),
        ("channel_id" = Option<Uuid>, Query, description = "Only sends through this channel"),
        ("reference" = Option<String>, Query, max_length = 128, description = "Only sends with this `reference`"),
        ("search" = Option<String>, Query, description = "Only sends that were given a `name` with this text in it; case \
             and accents are ignored"),
        ("contact_tag_id" = Option<Uuid>, Query, description = "Only sends to this tag"),
        ("retry_of" = Option<Uuid>, Query, description = "Only retries of this send; `contact_tag_id` is \
             then ignored"),
        ("from" = Option<String>, Query, format = DateTime, description = "Only sends accepted at this time or later"),
        ("to" = Option<String>, Query, format = DateTime, description = "Only sends accepted before this \
             time"),
    ),
    responses((status = 200, description = "A page of sends, or all of them", content(
        (Envelope<SendRecord> = "application/json"),
        (SendRecord = "application/x-ndjson"),
    ))),
)]
pub(super) async fn list(
    company: Company,
    state: Data<State>,
    query: Query,
    AsLines(as_lines): AsLines,
) -> Result<HttpResponse, Error> {
    let (listing, filter) = (query.listing("sends")?, filter(&query)?);
    let read = async move |window: Window<Uuid>| -> Result<Page<WithOutlook>, Error> {
        let Page { records, total } =
            state.engine.company(company.id).await?.sends().page(window, &filter, Timestamp::now()).await?;
        Ok(Page { records: with_outlook(&state, records).await?, total })
    };
    let key = |(send, _): &WithOutlook| send.id;
    if as_lines {
        return Ok(lines::<WithOutlook, SendRecord, _>(listing.rest(), read, key));
    }
    let sends = read(listing.window()).await?;
    Ok(HttpResponse::Ok().json(Envelope::<SendRecord>::listed(&listing, sends, key)))
}

/// Show a send
///
/// The state and progress of a send, its content, and the reason if it waits.
///
/// With `wait`, the answer comes when the send ends, when its `state` or its `counts` change, or when the time is over,
/// whichever comes first; for a send that is over, at once. Receipts change the counts of sends with up to 16,384
/// recipients; larger ones are answered when further messages go out.
#[utoipa::path(
    get,
    path = "/api/v1/sends/{id}",
    operation_id = "showSend",
    params(
        ("id" = Uuid, Path, description = "The send"),
        ("wait" = Option<String>, Query, example = "30s", description = "How long to wait for a change, at most 60s"),
    ),
    responses(
        (status = 200, description = "The send", body = SendRecord),
        (status = 404, description = "`send_not_found`", body = ErrorBody),
    ),
)]
pub(super) async fn one(company: Company, state: Data<State>, id: Id, query: Query) -> Answer<SendRecord> {
    let (id, wait) = (send_id(id)?, query.wait()?);
    if let Some(patience) = wait {
        let found = state.engine.company(company.id).await?.sends().find(id, Timestamp::now()).await?;
        state.engine.sends().changed(company.id, &found.ok_or_else(no_such_send)?, patience).await?;
    }
    show(&state, company, id).await
}

/// Pause a send
///
/// After the answer, no message of the send starts until it is resumed. Messages in flight get their outcome as
/// usual. Pausing a paused send changes nothing.
#[utoipa::path(
    post,
    path = "/api/v1/sends/{id}/pause",
    operation_id = "pauseSend",
    params(("id" = Uuid, Path, description = "The send")),
    responses(
        (status = 200, description = "The send, paused", body = SendRecord),
        (status = 404, description = "`send_not_found`", body = ErrorBody),
        (status = 409, description = "`send_is_over`", body = ErrorBody),
    ),
)]
pub(super) async fn pause(Author { company, who }: Author, state: Data<State>, id: Id) -> Answer<SendRecord> {
    let id = send_id(id)?;
    state.engine.sends().pause(&who, company.id, id).await?;
    show(&state, company, id).await
}

/// Resume a send
///
/// The send continues where it was paused. Resuming a send that is not paused changes nothing.
#[utoipa::path(
    post,
    path = "/api/v1/sends/{id}/resume",
    operation_id = "resumeSend",
    params(("id" = Uuid, Path, description = "The send")),
    responses(
        (status = 200, description = "The send, running", body = SendRecord),
        (status = 404, description = "`send_not_found`", body = ErrorBody),
        (status = 409, description = "`send_is_over`", body = ErrorBody),
    ),
)]
pub(super) async fn resume(
    Author { company, who }: Author,
    state: Data<State>,
    id: Id,
) -> Answer<SendRecord> {
    let id = send_id(id)?;
    state.engine.sends().resume(&who, company.id, id).await?;
    show(&state, company, id).await
}

/// Cancel a send
///
/// After the answer, no message of the send starts any more: messages that had not started end as `canceled`.
/// Canceling a canceled send changes nothing.
#[utoipa::path(
    post,
    path = "/api/v1/sends/{id}/cancel",
    operation_id = "cancelSend",
    params(("id" = Uuid, Path, description = "The send")),
    responses(
        (status = 200, description = "The send, canceled", body = SendRecord),
        (status = 404, description = "`send_not_found`", body = ErrorBody),
        (status = 409, description = "`send_is_over`: it finished or expired before", body = ErrorBody),
    ),
)]
pub(super) async fn cancel(
    Author { company, who }: Author,
    state: Data<State>,
    id: Id,
) -> Answer<SendRecord> {
    let id = send_id(id)?;
    state.engine.sends().cancel(&who, company.id, id).await?;
    show(&state, company, id).await
}

async fn show(state: &State, company: Company, id: Uuid) -> Answer<SendRecord> {
    let records = state.engine.company(company.id).await?;
    let found = records.sends().find(id, Timestamp::now()).await?;
    let sent = records.sends().sent(id).await?.ok_or_else(no_such_send)?;
    drop(records);
    let mut shown = with_outlook(state, found.into_iter().collect()).await?;
    let shown = shown.pop().ok_or_else(no_such_send)?;
    Ok(Json(SendRecord::from(shown).with(SendContent::from(sent))))
}

/// Each record with its channel's outlook.
async fn with_outlook(state: &State, records: Vec<Record>) -> Result<Vec<WithOutlook>, Error> {
    let mut channels: HashMap<Uuid, Vec<&Record>> = HashMap::new();
    for record in &records {
        channels.entry(record.channel_id).or_default().push(record);
    }
    let mut outlooks = HashMap::new();
    for (channel_id, records) in channels {
        outlooks.extend(state.engine.sends().outlook(channel_id, &records).await?);
    }
    let with = |record: Record| {
        let outlook = outlooks.remove(&record.id).unwrap_or_default();
        (record, outlook)
    };
    Ok(records.into_iter().map(with).collect())
}

/// The send of the path. A value that is not a UUID names no send.
fn send_id(Id(id): Id) -> Result<Uuid, Error> {
    Ok(id.ok_or_else(no_such_send)?)
}

fn filter(query: &Query) -> Result<Filter, Error> {
    let stage = query.text("state")?.map(|word| word.parse()).transpose();
    let stage = stage.map_err(|wrong: UnknownStage| Error::of("state", Code::InvalidField, wrong))?;
    let channel_id = id(query, "channel_id", "a channel")?;
    let tag = id(query, "contact_tag_id", "a tag")?.map(Source::Tag);
    let source = id(query, "retry_of", "a send")?.map(Source::Send).or(tag);
    let (from, to) = (query.moment("from")?, query.moment("to")?);
    let (reference, search) = (query.text("reference")?, query.search()?);
    Ok(Filter { stage, channel_id, source, reference, search, from, to })
}

pub(super) fn id(query: &Query, name: &str, what: &str) -> Result<Option<Uuid>, Error> {
    let id = query.text(name)?.map(|id| Uuid::try_parse(&id)).transpose();
    id.map_err(|_| Error::of(name, Code::InvalidField, format_args!("is not the id of {what} (a UUID)")))
}
