//! Webhooks of the provider, and the handshake that sets them up.
//!
//! There is no API key here. A handshake is authenticated by the channel's verify token, a webhook by its
//! signature over the raw bytes. A webhook is answered with 200 only once everything in it is durable: after any
//! other answer, the provider repeats the webhook for seven days.

use std::sync::Arc;
use std::time::Instant;

use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};

use super::State;
use super::body::Body;
use super::error::{Apology, Error, ErrorBody};
use super::path_id::Id;
use super::query;
use super::schema::WebhookBody;
use crate::connector::cloud_api::webhook;
use crate::connector::update::{Heard, Update};
use crate::domain::channel::{Channel, Kind};
use crate::domain::secret::Secret;
use crate::error::Code;
use crate::surface::body::Room;

/// The memory of an update with its ids. Its other texts take no more than the webhook.
const HEARD: usize = size_of::<Heard>() + 128;
/// The header that signs a webhook.
const SIGNATURE: &str = "x-hub-signature-256";

/// Set up a webhook
///
/// The provider sends this request when the callback URL is entered, and expects its challenge back.
#[utoipa::path(
    get,
    path = "/hooks/meta/{id}",
    operation_id = "verifyWebhook",
    params(
        ("id" = Uuid, Path, description = "The channel"),
        ("hub.mode" = String, Query, description = "`subscribe`"),
        ("hub.verify_token" = String, Query, description = "The verify token that `pombo channel webhook` \
             shows"),
        ("hub.challenge" = String, Query, description = "Any text"),
    ),
    responses(
        (status = 200, description = "The challenge", body = String, content_type = "text/plain"),
        (status = 403, description = "`invalid_verify_token`", body = ErrorBody),
        (status = 404, description = "`channel_not_found`", body = ErrorBody),
        (status = 500, description = "An internal failure; the body has no details", body = Apology),
        (status = 503, description = "`service_unavailable`", body = ErrorBody),
    ),
)]
pub(super) async fn handshake(
    id: Id,
    state: Data<State>,
    request: HttpRequest,
) -> Result<HttpResponse, Error> {
    let channel = business_account(&state, id).await?;
    let parameter = |name| query::value(request.query_string(), name).ok().flatten();
    let known = state.engine.webhooks().verify_token(&channel).await?;
    let given = parameter("hub.verify_token").map(|word| Secret::new(word.into_owned()));
    let is_known = given.is_some_and(|given| known.is_some_and(|known| given == *known));
    let challenge = parameter("hub.challenge");
    match challenge.filter(|_| is_known && parameter("hub.mode").as_deref() == Some("subscribe")) {
        Some(challenge) => {
            tracing::info!(channel.id = %channel.id, channel.name = %channel.name, "the provider set up the channel's webhook");
            let mut answer = HttpResponse::Ok();
            answer
                .content_type("text/plain; charset=utf-8")
                .insert_header(("x-content-type-options", "nosniff"));
            Ok(answer.body(challenge.into_owned()))
        }
        None => Err(Error::refused(
            Code::InvalidVerifyToken,
            "this is not the channel's verify token: `pombo channel webhook` shows it",
        )),
    }
}

/// Receive a webhook
///
/// Receipts, messages from people, and changes of templates, numbers and accounts.
#[utoipa::path(
    post,
    path = "/hooks/meta/{id}",
    operation_id = "receiveWebhook",
    params(
        ("id" = Uuid, Path, description = "The channel"),
        ("x-hub-signature-256" = String, Header, description = "HMAC-SHA256 over the body, with the app secret"),
    ),
    request_body(content = WebhookBody, description = "As the provider writes it"),
    responses(
        (status = 200, description = "Everything in it is stored"),
        (status = 400, description = "`invalid_body`", body = ErrorBody),
        (status = 403, description = "`invalid_signature`", body = ErrorBody),
        (status = 404, description = "`channel_not_found`", body = ErrorBody),
        (status = 500, description = "An internal failure; the body has no details", body = Apology),
        (status = 503, description = "`service_unavailable`: repeat it", body = ErrorBody),
    ),
)]
pub(super) async fn take(
    id: Id,
    state: Data<State>,
    request: HttpRequest,
    body: Body,
) -> Result<HttpResponse, Error> {
    let started = Instant::now();
    let taken = take_in(id, &state, &request, body).await;
    let result = match &taken {
        Ok(()) => "taken",
        Err(Error::Refused(refusal)) => match refusal.code {
            Code::InvalidBody | Code::BodyTooLarge | Code::BodyTooSlow => "unreadable",
            Code::ServiceUnavailable => "unavailable",
            _ => "refused",
        },
        Err(Error::Unavailable(_)) => "unavailable",
        Err(Error::Internal) => "failed",
        Err(_) => "refused",
    };
    metrics::counter!("pombo_webhooks_total", "result" => result).increment(1);
    metrics::histogram!("pombo_webhook_seconds").record(started.elapsed());
    taken.map(|()| HttpResponse::Ok().finish())
}

async fn take_in(id: Id, state: &State, request: &HttpRequest, body: Body) -> Result<(), Error> {
    let channel = business_account(state, id).await?;
    // A caller without a signature may not send a large body either.
    let signature = request.headers().get(SIGNATURE).and_then(|value| value.to_str().ok());
    let signature = signature.ok_or_else(wrongly_signed)?.to_owned();
    let secret = state.engine.webhooks().app_secret(&channel).await?.ok_or_else(wrongly_signed)?;
    let body = body.read_hook(channel.company_id, &state.options).await?;
    let (heard, _room) = body.read(move |body, room| read(&secret, body, &signature, room)).await?;
    Ok(state.engine.webhooks().hear(&channel, heard).await?)
}

/// The contents of the webhook, if its signature is the provider's.
fn read(secret: &Secret, body: &[u8], signature: &str, room: &mut Room) -> Result<Vec<Heard>, Error> {
    if !webhook::verify(secret, body, signature) {
        return Err(wrongly_signed());
    }
    let heard = webhook::parse(body).map_err(|fault| Error::refused(Code::InvalidBody, fault.to_string()))?;
    let payload =
        |heard: &Heard| if let Update::Inbound(message) = &heard.update { message.bytes() } else { 0 };
    room.charge(heard.iter().map(|heard| HEARD + payload(heard)).sum())?;
    Ok(heard)
}

fn wrongly_signed() -> Error {
    Error::refused(
        Code::InvalidSignature,
        "the webhook is not signed with the app secret of this channel: `pombo channel webhook \
         --app-secret-file` sets it",
    )
}

async fn business_account(state: &State, id: Id) -> Result<Arc<Channel>, Error> {
    let found = id.channel(state).await?;
    found.filter(|channel| channel.kind == Kind::BusinessAccount).ok_or_else(|| {
        Error::refused(
            Code::ChannelNotFound,
            "there is no business-account channel with this id: `pombo channel webhook` shows the address",
        )
    })
}
