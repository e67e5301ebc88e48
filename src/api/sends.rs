//! Accepted sends: their progress, and pausing, resuming, canceling and retrying them.

pub(super) mod figures;
pub(super) mod messages;
mod record;
pub(super) mod retry;

use std::collections::HashMap;

use actix_web::web::{Data, Json};
use uuid::Uuid;

use self::record::SendRecord;
use super::State;
use super::auth::Company;
use super::envelope::{Answer, Envelope};
use super::error::{Error, ErrorBody};
use super::list_query::Query;
use super::path_id::Id;
use super::schema::SendState;
use crate::clock::Timestamp;
use crate::domain::outlook::Outlook;
use crate::domain::page::Page;
use crate::domain::send::{Source, UnknownStage};
use crate::engine::no_such_send;
use crate::engine::records::sends::{Filter, Record};
use crate::error::Code;

/// List sends
///
/// The company's accepted sends, newest first.
#[utoipa::path(
    get,
    path = "/api/v1/sends",
    operation_id = "listSends",
    params(
        ("page" = Option<u64>, Query, minimum = 1, description = "From 1; 1 when absent"),
        ("limit" = Option<u64>, Query, minimum = 1, description = "Records on a page; 10 when absent"),
        ("state" = Option<SendState>, Query, description = "Only sends in this state"),
        ("channel_id" = Option<Uuid>, Query, description = "Only sends through this channel"),
        ("contact_tag_id" = Option<Uuid>, Query, description = "Only sends to this tag"),
        ("retry_of" = Option<Uuid>, Query, description = "Only retries of this send; `contact_tag_id` is \
             then ignored"),
        ("from" = Option<String>, Query, format = DateTime, description = "Only sends accepted at this time or later"),
        ("to" = Option<String>, Query, format = DateTime, description = "Only sends accepted before this \
             time"),
    ),
    responses((status = 200, description = "A page of sends", body = Envelope<SendRecord>)),
)]
pub(super) async fn list(company: Company, state: Data<State>, query: Query) -> Answer<Envelope<SendRecord>> {
    let (page, filter) = (query.page()?, filter(&query)?);
    let Page { records, total } =
        state.engine.company(company.id).await?.sends().page(page, filter, Timestamp::now()).await?;
    let records = with_outlook(&state, records).await?;
    Ok(Json(Envelope::new(page, Page { records, total })))
}

/// Show a send
///
/// The state and progress of a send, and the reason if it waits.
#[utoipa::path(
    get,
    path = "/api/v1/sends/{id}",
    operation_id = "showSend",
    params(("id" = Uuid, Path, description = "The send")),
    responses(
        (status = 200, description = "The send", body = SendRecord),
        (status = 404, description = "`send_not_found`", body = ErrorBody),
    ),
)]
pub(super) async fn one(company: Company, state: Data<State>, id: Id) -> Answer<SendRecord> {
    show(&state, company, send_id(id)?).await
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
pub(super) async fn pause(company: Company, state: Data<State>, id: Id) -> Answer<SendRecord> {
    let id = send_id(id)?;
    state.engine.sends().pause(company.id, id).await?;
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
pub(super) async fn resume(company: Company, state: Data<State>, id: Id) -> Answer<SendRecord> {
    let id = send_id(id)?;
    state.engine.sends().resume(company.id, id).await?;
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
pub(super) async fn cancel(company: Company, state: Data<State>, id: Id) -> Answer<SendRecord> {
    let id = send_id(id)?;
    state.engine.sends().cancel(company.id, id).await?;
    show(&state, company, id).await
}

async fn show(state: &State, company: Company, id: Uuid) -> Answer<SendRecord> {
    let found = state.engine.company(company.id).await?.sends().find(id, Timestamp::now()).await?;
    let mut shown = with_outlook(state, found.into_iter().collect()).await?;
    let shown = shown.pop().ok_or_else(no_such_send)?;
    Ok(Json(shown.into()))
}

/// Each record with its channel's outlook.
async fn with_outlook(state: &State, records: Vec<Record>) -> Result<Vec<(Record, Outlook)>, Error> {
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
    let stage = stage
        .map_err(|wrong: UnknownStage| Error::refused(Code::InvalidField, format!("`state` {wrong}")))?;
    let channel_id = id(query, "channel_id", "a channel")?;
    let tag = id(query, "contact_tag_id", "a tag")?.map(Source::Tag);
    let source = id(query, "retry_of", "a send")?.map(Source::Send).or(tag);
    let (from, to) = (query.moment("from")?, query.moment("to")?);
    Ok(Filter { stage, channel_id, source, from, to })
}

fn id(query: &Query, name: &str, what: &str) -> Result<Option<Uuid>, Error> {
    let id = query.text(name)?.map(|id| Uuid::try_parse(&id)).transpose();
    id.map_err(|_| Error::refused(Code::InvalidField, format!("`{name}` is not the id of {what} (a UUID)")))
}
