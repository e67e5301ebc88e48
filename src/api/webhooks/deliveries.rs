//! The log of deliveries to a webhook endpoint, and sending an event once more.

use actix_web::web::{Data, Json};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::api::State;
use crate::api::auth::Company;
use crate::api::body::Body;
use crate::api::envelope::{Answer, Envelope};
use crate::api::error::{Error, ErrorBody};
use crate::api::list_query::{PartParameters, Query};
use crate::api::path_id::Id;
use crate::clock::Timestamp;
use crate::connector::webhook;
use crate::domain::bodies;
use crate::domain::event::log::Sequence;
use crate::engine::records::webhooks::Delivery;
use crate::engine::{Resent, SentExample, no_such_webhook};
use crate::error::Code;

/// One request to a webhook endpoint, with the receiver's answer.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct WebhookDelivery {
    /// The id of the delivery.
    pub(crate) id: Uuid,
    /// When the request began.
    #[schema(value_type = String, format = DateTime)]
    pub(crate) at: Timestamp,
    /// The id of the event, or of the first one in the request.
    pub(crate) event_id: String,
    /// The type of that event.
    #[schema(example = "message.failed")]
    pub(crate) r#type: String,
    /// The `sequence` of that event, by which it can be sent once more; null for an example.
    #[schema(example = 458754)]
    pub(crate) sequence: Option<i64>,
    /// The number of events in the request.
    pub(crate) events: u64,
    /// The number of the attempt, from 1.
    pub(crate) attempt: u16,
    /// The status of the answer; null without an answer.
    pub(crate) status: Option<u16>,
    /// How long the request and its answer took, in milliseconds.
    pub(crate) took_ms: u64,
    /// The first 2 KiB of the answer; null when it was empty.
    pub(crate) answer: Option<String>,
    /// What went wrong, for a person; null when nothing did.
    pub(crate) fault: Option<String>,
    /// The headers of the request, without those that belong to HTTP itself.
    pub(crate) headers: Vec<WebhookRequestHeader>,
}

/// A header of a request to a webhook endpoint.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct WebhookRequestHeader {
    /// Its name.
    #[schema(example = "webhook-id")]
    name: String,
    /// Its value; null for the endpoint's own headers, whose values are not kept in the log.
    value: Option<String>,
}

/// The result of a request to a webhook endpoint.
#[derive(Debug, Serialize, ToSchema)]
pub(in crate::api) struct DeliveryResult {
    /// Whether the receiver accepted the event: it answered with a status from 200 to 299.
    is_delivered: bool,
    /// The status of the answer; null without an answer.
    status: Option<u16>,
    /// How long the request and its answer took, in milliseconds.
    took_ms: u64,
    /// The first 2 KiB of the answer; null when it was empty.
    answer: Option<String>,
    /// What went wrong, for a person; null when nothing did.
    fault: Option<String>,
    /// The body of the request, as its receiver got it; only of a test.
    #[schema(value_type = String, required = false)]
    #[serde(skip_serializing_if = "Option::is_none")]
    request: Option<String>,
}

bodies! {
    /// An event to send once more.
    pub(super) struct WebhookResend of Value {
        /// The `sequence` of the event.
        #[schema(example = 458754)]
        sequence: i64,
    }
}

impl From<Delivery> for WebhookDelivery {
    fn from(delivery: Delivery) -> Self {
        let Delivery {
            id,
            endpoint_id: _,
            at,
            event_id,
            r#type,
            sequence,
            events,
            attempt,
            status,
            took,
            answer,
            fault,
            fault_kind: _,
            sent,
        } = delivery;
        let headers = sent.all(&event_id, at).into_iter();
        let headers = headers.map(|(name, value)| WebhookRequestHeader { name: name.to_owned(), value });
        let headers = headers.collect();
        let took_ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
        let sequence = sequence.map(Sequence::as_i64);
        Self { id, at, event_id, r#type, sequence, events, attempt, status, took_ms, answer, fault, headers }
    }
}

impl From<webhook::DeliveryAnswer> for DeliveryResult {
    fn from(answer: webhook::DeliveryAnswer) -> Self {
        let is_delivered = answer.is_delivered();
        let webhook::DeliveryAnswer { status, took, kept, retry_after: _, aborts: _, fault } = answer;
        Self {
            is_delivered,
            status,
            took_ms: u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
            answer: Some(kept).filter(|kept| !kept.is_empty()),
            fault: fault.map(|fault| fault.to_string()),
            request: None,
        }
    }
}

impl From<SentExample> for DeliveryResult {
    fn from(SentExample { body, answer }: SentExample) -> Self {
        Self { request: Some(body), ..answer.into() }
    }
}

/// List deliveries
///
/// The requests to the endpoint, the newest first: those of the last 7 days, at most 1,000. They appear within some seconds.
#[utoipa::path(
    get,
    path = "/api/v1/webhooks/{id}/deliveries",
    operation_id = "listWebhookDeliveries",
    params(("id" = Uuid, Path, description = "The endpoint"), PartParameters),
    responses(
        (status = 200, description = "A page of deliveries", body = Envelope<WebhookDelivery>),
        (status = 404, description = "`webhook_not_found`", body = ErrorBody),
    ),
)]
pub(in crate::api) async fn list(
    company: Company,
    state: Data<State>,
    id: Id,
    query: Query,
) -> Answer<Envelope<WebhookDelivery>> {
    let listing = query.listing("webhook deliveries")?;
    let endpoints = state.engine.webhook_endpoints();
    let part = endpoints.deliveries(company.id, id.or_nil(), listing.window()).await?;
    Ok(Json(Envelope::listed(&listing, part, |delivery: &Delivery| delivery.id)))
}

/// Send an event once more
///
/// Sends the event to the endpoint now, whatever types and channels it has, and answers how the receiver answered. The event has
/// the same `id` as before: a receiver that skips ids that it knows skips it.
#[utoipa::path(
    post,
    path = "/api/v1/webhooks/{id}/deliveries/resend",
    operation_id = "resendWebhookEvent",
    params(("id" = Uuid, Path, description = "The endpoint")),
    request_body = WebhookResend,
    responses(
        (status = 200, description = "The receiver's answer, or why there is none", body = DeliveryResult),
        (status = 404, description = "`webhook_not_found`; `event_not_found`: the log has no such event, or no longer", body = ErrorBody),
        (status = 409, description = "`webhook_unsealable`", body = ErrorBody),
    ),
)]
pub(in crate::api) async fn resend(
    company: Company,
    body: Body,
    state: Data<State>,
    id: Id,
) -> Answer<DeliveryResult> {
    let (WebhookResend { sequence }, _room) = body.fields(&state.options).await?;
    let given = sequence.number()?.ok_or_else(|| sequence.missing())?;
    let place: Sequence =
        given.trim().parse().map_err(|_| sequence.wrong_type("the `sequence` of an event"))?;
    match state.engine.webhook_endpoints().resend(company.id, id.or_nil(), place).await? {
        Resent::Answered(answer) => Ok(Json(answer.into())),
        Resent::NoEndpoint => Err(no_such_webhook().into()),
        Resent::NoEvent => {
            let sentence = "the log of the company's events has no event with this `sequence`, or no longer: GET \
                 /api/v1/events shows the events that it has";
            Err(Error::refused(Code::EventNotFound, sentence))
        }
    }
}
