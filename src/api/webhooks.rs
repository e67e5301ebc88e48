//! Webhook endpoints: the addresses to which Pombo sends the events of a company. Listing, adding, changing and deleting
//! them; [actions] on one, sending events once more ([replay]), and the log of its [deliveries].

pub(super) mod actions;
pub(super) mod deliveries;
pub(super) mod replay;
mod settings;

use actix_web::HttpResponse;
use actix_web::web::{Data, Json};
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use self::replay::WebhookReplay;
use self::settings::{NewWebhook, WebhookPatch};
use super::State;
use super::auth::{Author, Company};
use super::body::Body;
use super::envelope::Answer;
use super::error::{Error, ErrorBody};
use super::path_id::Id;
use super::schema::{
    EventType, ReceiverOf, ReceiverProfile, WebhookDisabledReason, WebhookSealedPart, WebhookShape,
    WebhookState,
};
use crate::clock::Timestamp;
use crate::domain::event::Type;
use crate::domain::webhook::{self, Cause, Endpoint, Health, SealedPart, SetFor, Settings, Shape};
use crate::engine::ShownEndpoint;

/// A webhook endpoint, without its secret and the values of its headers.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Webhook {
    /// The id of the endpoint.
    pub(crate) id: Uuid,
    /// The address of the receiver.
    #[schema(example = "https://example.com/webhooks")]
    pub(crate) url: String,
    /// The form in which it gets events.
    #[schema(value_type = WebhookShape)]
    pub(crate) shape: &'static str,
    /// What its receiver understands; null in the shape `pombo`.
    #[schema(value_type = Option<ReceiverProfile>)]
    pub(crate) profile: Option<&'static str>,
    /// For what a program set it at the door that speaks Graph; null for one that was added here or in the console.
    #[schema(value_type = Option<ReceiverOf>)]
    pub(crate) set_for: Option<&'static str>,
    /// The types of events that it gets.
    #[schema(value_type = Vec<EventType>)]
    pub(crate) types: Vec<&'static str>,
    /// The channels whose events it gets; empty for all channels.
    pub(crate) channel_ids: Vec<Uuid>,
    /// The names of the headers that its requests have in addition to Pombo's own; null while they cannot be unsealed.
    #[schema(example = json!(["authorization"]))]
    pub(crate) header_names: Option<Vec<String>>,
    /// What of it cannot be unsealed, because the service lacks the key that sealed it; empty normally. While there is any, it gets
    /// no events, even if it is enabled: they wait, and no failures are counted. Replace the secret
    /// (`POST /api/v1/webhooks/{id}/rotate-secret`) and give the headers again, or ask the operator to set the sealing key back.
    #[schema(value_type = Vec<WebhookSealedPart>)]
    pub(crate) unsealable: Vec<&'static str>,
    /// The most requests to it at the same time.
    pub(crate) max_in_flight: u8,
    /// The most events in one request. With more than 1, the body is `{"events": […]}`.
    pub(crate) batch: u8,
    /// Whether the numbers of people are masked, except for their last four digits.
    pub(crate) mask_numbers: bool,
    /// Whether events are sent to it.
    #[schema(value_type = WebhookState)]
    pub(crate) state: &'static str,
    /// Why it is disabled; null while it is enabled.
    #[schema(value_type = Option<WebhookDisabledReason>)]
    pub(crate) disabled_reason: Option<&'static str>,
    /// Since when it is disabled; null while it is enabled.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub(crate) disabled_since: Option<Timestamp>,
    /// Failed requests in a row.
    pub(crate) failures: u32,
    /// The time of the first of them; null without failures.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub(crate) failing_since: Option<Timestamp>,
    /// Failed events that wait for another attempt.
    pub(crate) retries: u64,
    /// Events that were given up, and that a replay can send once more as long as the log has them: at most the last 10,000.
    pub(crate) given_up: u64,
    /// Events that were removed from the log before the endpoint got them, whatever their types, since it was enabled last: it
    /// was behind for longer than the log keeps events. Read sends and messages again by the API.
    pub(crate) lost: u64,
    /// When the oldest events happened that it has not got; null when it has all. Events of types that it does not get count
    /// for some seconds, too.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub(crate) waiting_since: Option<Timestamp>,
    /// The events that it gets once more, or got last; null when nobody asked for any.
    pub(crate) replay: Option<WebhookReplay>,
    /// When it was added.
    #[schema(value_type = String, format = DateTime)]
    pub(crate) created_at: Timestamp,
}

/// Every webhook endpoint of the company.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct WebhookList {
    /// The endpoints, the oldest first.
    data: Vec<Webhook>,
}

/// A new webhook endpoint, with its secret.
#[derive(Serialize, ToSchema)]
pub(super) struct CreatedWebhook {
    /// The secret that signs its requests. It cannot be shown again.
    #[schema(example = "whsec_…")]
    secret: String,
    #[serde(flatten)]
    record: Webhook,
}

impl From<ShownEndpoint> for Webhook {
    fn from(shown: ShownEndpoint) -> Self {
        let ShownEndpoint {
            endpoint,
            header_names,
            unsealable,
            retries,
            given_up,
            lost,
            waiting_since,
            replay,
        } = shown;
        let Endpoint { id, company_id: _, settings, health, created_at } = endpoint;
        let types = settings.effective_types().iter().copied().map(Type::as_str).collect();
        let Settings {
            url,
            shape,
            profile,
            set_for,
            types: _,
            channels,
            max_in_flight,
            batch,
            masks_numbers,
        } = settings;
        let Health { failures, failing_since, failed_at: _, state } = health;
        let disabled = match state {
            webhook::State::Enabled => None,
            webhook::State::Disabled { cause, since } => Some((cause, since)),
        };
        Self {
            id,
            url,
            shape: shape.as_str(),
            profile: (shape == Shape::Graph).then(|| profile.as_str()),
            set_for: set_for.as_ref().map(SetFor::word),
            types,
            channel_ids: channels,
            header_names,
            unsealable: unsealable.into_iter().map(SealedPart::as_str).collect(),
            max_in_flight,
            batch,
            mask_numbers: masks_numbers,
            state: if disabled.is_none() { "enabled" } else { "disabled" },
            disabled_reason: disabled.map(|(cause, _)| Cause::as_str(cause)),
            disabled_since: disabled.map(|(_, since)| since),
            failures,
            failing_since,
            retries,
            given_up,
            lost,
            waiting_since,
            replay: replay.map(WebhookReplay::from),
            created_at,
        }
    }
}

/// List webhook endpoints
///
/// All endpoints of the company, the oldest first: at most 20.
#[utoipa::path(
    get,
    path = "/api/v1/webhooks",
    operation_id = "listWebhooks",
    responses((status = 200, description = "Every endpoint", body = WebhookList)),
)]
pub(super) async fn list(company: Company, state: Data<State>) -> Answer<WebhookList> {
    let all = state.engine.webhook_endpoints().list(company.id).await?;
    Ok(Json(WebhookList { data: all.into_iter().map(Webhook::from).collect() }))
}

/// Add a webhook endpoint
///
/// From now on, the events of the company are sent to the address, each as the body of a POST request that is signed as the
/// [Standard Webhooks](https://www.standardwebhooks.com) specification says. Only this answer contains the secret that
/// verifies them. An address is refused if it is not https, or leads to a network that the operator does not allow. No
/// request is made, except with a `verify_token`: use `POST /api/v1/webhooks/{id}/test` for that.
#[utoipa::path(
    post,
    path = "/api/v1/webhooks",
    operation_id = "addWebhook",
    request_body = NewWebhook,
    responses(
        (status = 201, description = "The endpoint", body = CreatedWebhook),
        (status = 409, description = "`too_many_webhooks`", body = ErrorBody),
    ),
)]
pub(super) async fn add(
    Author { company, who }: Author,
    body: Body,
    state: Data<State>,
) -> Result<HttpResponse, Error> {
    let (new, _room) = body.fields::<NewWebhook>(&state.options).await?;
    let (settings, secret, token) = new.read()?;
    let endpoints = state.engine.webhook_endpoints();
    let (added, secret) = endpoints.add(&who, company.id, settings, secret, token).await?;
    let created = CreatedWebhook { secret: secret.expose().to_owned(), record: added.into() };
    Ok(HttpResponse::Created().json(created))
}

/// Show a webhook endpoint
#[utoipa::path(
    get,
    path = "/api/v1/webhooks/{id}",
    operation_id = "showWebhook",
    params(("id" = Uuid, Path, description = "The endpoint")),
    responses(
        (status = 200, description = "The endpoint", body = Webhook),
        (status = 404, description = "`webhook_not_found`", body = ErrorBody),
    ),
)]
pub(super) async fn show(company: Company, state: Data<State>, id: Id) -> Answer<Webhook> {
    let shown = state.engine.webhook_endpoints().find(company.id, id.or_nil()).await?;
    Ok(Json(shown.into()))
}

/// Change a webhook endpoint
///
/// Fields that are left out are kept. `types`, `channel_ids` and `headers` are replaced as a whole; an empty list or object
/// means the default types, all channels, or no headers. Events that wait are sent as the new settings say.
#[utoipa::path(
    patch,
    path = "/api/v1/webhooks/{id}",
    operation_id = "changeWebhook",
    params(("id" = Uuid, Path, description = "The endpoint")),
    request_body = WebhookPatch,
    responses(
        (status = 200, description = "The endpoint, changed", body = Webhook),
        (status = 404, description = "`webhook_not_found`", body = ErrorBody),
    ),
)]
pub(super) async fn change(
    Author { company, who }: Author,
    body: Body,
    state: Data<State>,
    id: Id,
) -> Answer<Webhook> {
    let (patch, _room) = body.fields::<WebhookPatch>(&state.options).await?;
    let endpoints = state.engine.webhook_endpoints();
    let changed = endpoints.change(&who, company.id, id.or_nil(), patch.read()?).await?;
    Ok(Json(changed.into()))
}

/// Delete a webhook endpoint
///
/// Nothing more is sent to it, except for requests that are on their way. The log of its deliveries is deleted, too.
#[utoipa::path(
    delete,
    path = "/api/v1/webhooks/{id}",
    operation_id = "deleteWebhook",
    params(("id" = Uuid, Path, description = "The endpoint")),
    responses(
        (status = 204, description = "There is no such endpoint any more"),
        (status = 404, description = "`webhook_not_found`", body = ErrorBody),
    ),
)]
pub(super) async fn delete(
    Author { company, who }: Author,
    state: Data<State>,
    id: Id,
) -> Result<HttpResponse, Error> {
    state.engine.webhook_endpoints().remove(&who, company.id, id.or_nil()).await?;
    Ok(HttpResponse::NoContent().finish())
}
