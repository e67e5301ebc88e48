//! Actions on one webhook endpoint: another secret, disabling, enabling, and a test.

use std::time::Duration;

use actix_web::web::{Data, Json};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::deliveries::DeliveryResult;
use super::{Webhook, settings};
use crate::api::State;
use crate::api::auth::{Author, Company};
use crate::api::body::Body;
use crate::api::envelope::Answer;
use crate::api::error::ErrorBody;
use crate::api::path_id::Id;
use crate::api::schema::{EventType, WebhookResume};
use crate::clock::Timestamp;
use crate::domain::body::Field;
use crate::domain::event::Type;
use crate::domain::secret::Secret;
use crate::domain::webhook::{Resume, type_of};
use crate::domain::{bodies, time_span};
use crate::engine::no_such_webhook;
use crate::error::{Code, Refusal};

/// How long a former secret signs, too, when the client does not say.
const OVERLAP: Duration = Duration::from_secs(24 * 60 * 60);

bodies! {
    /// How to replace a secret.
    pub(super) struct SecretRotation of Value {
        /// How long the former secret signs, too, at most 7 days; 24 hours when left out, and "0s" for not at all.
        #[schema(example = "24h")]
        overlap: Option<String>,
        /// The new secret: `whsec_` and the base64 of 24 to 64 random bytes; Pombo makes one when left out.
        secret: Option<String>,
    }

    /// How to go on.
    pub(super) struct WebhookEnabling of Value {
        /// The first events that it gets; `cursor` when left out.
        from: Option<WebhookResume>,
    }

    /// The receiver to verify.
    pub(super) struct WebhookVerification of Value {
        /// The token that the receiver expects. It is not kept.
        #[schema(max_length = 1024)]
        verify_token: String,
    }

    /// What to send.
    pub(super) struct WebhookTest of Value {
        /// The type of the example; `message.sent` when left out.
        r#type: Option<EventType>,
    }
}

/// The new secret of a webhook endpoint. This is the only answer that contains it.
#[derive(Serialize, ToSchema)]
pub(in crate::api) struct NewSecret {
    /// The secret that signs its requests from now on. It cannot be shown again.
    #[schema(example = "whsec_…")]
    secret: String,
    /// Until when the former secret signs, too; null when it does not.
    #[schema(value_type = Option<String>, format = DateTime)]
    former_until: Option<Timestamp>,
}

/// The secret that a client gives.
pub(super) fn given_secret(field: &Field<Value, Option<String>>) -> Result<Option<Secret>, Refusal> {
    Ok(field.text()?.map(|text| Secret::new(text.to_owned())))
}

/// The word in a field; `None` when it is absent. An empty text is no word.
pub(super) fn word<T>(field: &Field<Value, T>) -> Result<Option<&str>, Refusal> {
    match field.given() {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(word)) => Ok(Some(word.trim())),
        Some(_) => Err(field.wrong_type("text")),
    }
}

/// Replace the secret of a webhook endpoint
///
/// The new secret signs at once. During the overlap the former one signs, too, so that the receiver can change to the new one
/// meanwhile: each request then has two signatures. Secrets that were replaced before sign until their own times. With an
/// overlap of "0s" none of them signs any more.
#[utoipa::path(
    post,
    path = "/api/v1/webhooks/{id}/rotate-secret",
    operation_id = "rotateWebhookSecret",
    params(("id" = Uuid, Path, description = "The endpoint")),
    request_body(content = Option<SecretRotation>, description = "May be left out"),
    responses(
        (status = 200, description = "The new secret", body = NewSecret),
        (status = 404, description = "`webhook_not_found`", body = ErrorBody),
    ),
)]
pub(in crate::api) async fn rotate_secret(
    Author { company, who }: Author,
    body: Body,
    state: Data<State>,
    id: Id,
) -> Answer<NewSecret> {
    let (SecretRotation { overlap, secret }, _room) = body.optional_fields(&state.options).await?;
    let span = match overlap.text()? {
        None => OVERLAP,
        Some(text) => {
            time_span::parse(text).ok_or_else(|| overlap.refuse(Code::InvalidField, time_span::NOT_A_SPAN))?
        }
    };
    let endpoints = state.engine.webhook_endpoints();
    let (secret, former_until) =
        endpoints.rotate(&who, company.id, id.or_nil(), given_secret(&secret)?, span).await?;
    Ok(Json(NewSecret { secret: secret.expose().to_owned(), former_until }))
}

/// Disable a webhook endpoint
///
/// No events are sent to it until it is enabled. Events wait in the log, which keeps them for `events.keep` (7 days).
#[utoipa::path(
    post,
    path = "/api/v1/webhooks/{id}/disable",
    operation_id = "disableWebhook",
    params(("id" = Uuid, Path, description = "The endpoint")),
    responses(
        (status = 200, description = "The endpoint, disabled", body = Webhook),
        (status = 404, description = "`webhook_not_found`", body = ErrorBody),
    ),
)]
pub(in crate::api) async fn disable(
    Author { company, who }: Author,
    state: Data<State>,
    id: Id,
) -> Answer<Webhook> {
    let disabled = state.engine.webhook_endpoints().disable(&who, company.id, id.or_nil()).await?;
    Ok(Json(disabled.into()))
}

/// Enable a webhook endpoint
///
/// Its failures no longer count. By default it gets all events that happened while it was disabled, as far as the log still has
/// them, in their order.
#[utoipa::path(
    post,
    path = "/api/v1/webhooks/{id}/enable",
    operation_id = "enableWebhook",
    params(("id" = Uuid, Path, description = "The endpoint")),
    request_body(content = Option<WebhookEnabling>, description = "May be left out"),
    responses(
        (status = 200, description = "The endpoint, enabled", body = Webhook),
        (status = 404, description = "`webhook_not_found`", body = ErrorBody),
    ),
)]
pub(in crate::api) async fn enable(
    Author { company, who }: Author,
    body: Body,
    state: Data<State>,
    id: Id,
) -> Answer<Webhook> {
    let (WebhookEnabling { from }, _room) = body.optional_fields(&state.options).await?;
    let resume = match word(&from)? {
        None => Resume::CatchUp,
        Some(word) => word.parse().map_err(|_| from.wrong_type("cursor or now"))?,
    };
    let enabled = state.engine.webhook_endpoints().enable(&who, company.id, id.or_nil(), resume).await?;
    Ok(Json(enabled.into()))
}

/// Verify the receiver of a webhook endpoint
///
/// For endpoints of the shape `graph`: asks the receiver once whether it expects webhooks, as Meta does, with a challenge that it has
/// to answer. Many receivers need that before they take webhooks, and some accept a token only once. An answer without the
/// challenge is refused with `invalid_field`, which says what came instead.
#[utoipa::path(
    post,
    path = "/api/v1/webhooks/{id}/verify",
    operation_id = "verifyWebhookEndpoint",
    params(("id" = Uuid, Path, description = "The endpoint")),
    request_body = WebhookVerification,
    responses(
        (status = 200, description = "The endpoint, whose receiver is verified", body = Webhook),
        (status = 404, description = "`webhook_not_found`", body = ErrorBody),
    ),
)]
pub(in crate::api) async fn verify(
    company: Company,
    body: Body,
    state: Data<State>,
    id: Id,
) -> Answer<Webhook> {
    let (WebhookVerification { verify_token }, _room) =
        body.fields::<WebhookVerification>(&state.options).await?;
    let token = settings::token(verify_token.required()?)?;
    let endpoints = state.engine.webhook_endpoints();
    Ok(Json(endpoints.verify_endpoint(company.id, id.or_nil(), &token).await?.into()))
}

/// Test a webhook endpoint
///
/// Sends an example of an event of the chosen type to the endpoint, whether it is enabled or not, and answers with what was sent
/// and how the receiver answered. The request is made, signed and logged as all are, and has the header `x-pombo-test: true`. The `id`
/// of the event begins with `example.`, and its send and its channel do not exist. A test that fails does not count as a failure of the
/// endpoint. After one that is accepted, an endpoint that gets one event a minute because of its failures gets the next one at once.
///
/// A type that the endpoint cannot get in the shape `graph`, or with its profile, is refused with `invalid_field`.
#[utoipa::path(
    post,
    path = "/api/v1/webhooks/{id}/test",
    operation_id = "testWebhook",
    params(("id" = Uuid, Path, description = "The endpoint")),
    request_body(content = Option<WebhookTest>, description = "May be left out"),
    responses(
        (status = 200, description = "The receiver's answer, or why there is none", body = DeliveryResult),
        (status = 404, description = "`webhook_not_found`", body = ErrorBody),
        (status = 409, description = "`webhook_unsealable`", body = ErrorBody),
    ),
)]
pub(in crate::api) async fn test(
    company: Company,
    body: Body,
    state: Data<State>,
    id: Id,
) -> Answer<DeliveryResult> {
    let (WebhookTest { r#type }, _room) = body.optional_fields(&state.options).await?;
    let r#type = word(&r#type)?.map_or(Ok(Type::MessageSent), type_of)?;
    let sent = state.engine.webhook_endpoints().test(company.id, id.or_nil(), r#type).await?;
    Ok(Json(sent.ok_or_else(no_such_webhook)?.into()))
}
