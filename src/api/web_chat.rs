//! Web-session channels: list and send. [`pairing`] and [`passkey`] link them to phones; [`picture`] looks up
//! profile pictures.

mod answer;
mod content;
mod dry_run;
mod file;
pub(super) mod pairing;
pub(super) mod passkey;
pub(super) mod picture;
pub(super) mod templates;

use std::sync::Arc;

use actix_web::http::header::ContentType;
use actix_web::web::{Data, Json};
use actix_web::{HttpRequest, HttpResponse};
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use self::answer::WebSent;
use self::dry_run::WebTried;
use super::State;
use super::auth::{Author, Company};
use super::body::Body;
use super::channels::{self, Channel};
use super::chat::limits::{self, ChannelLimits};
use super::envelope::{Answer, Envelope};
use super::error::{Error, ErrorBody, MessageBody};
use super::idempotency::{self, IdempotencyKey, Turn};
use super::list_query::{PageParameters, Query, SearchParameter};
use super::path_id::Id;
use crate::domain::channel::{self, Kind};
use crate::domain::request::{WebRequest, WebSend};
use crate::engine::Form;
use crate::error::Code;
use crate::surface::body::Room;

/// The form of the answer to a message that was handed over.
pub const SENT: Form = Form {
    name: "api",
    render: |sent| serde_json::to_string(&WebSendAnswer::Sent(WebSent::from(sent))).unwrap_or_default(),
};

/// List web-session channels
///
/// The company's channels, newest first.
#[utoipa::path(
    get,
    path = "/api/v1/web-chat",
    operation_id = "listWebChannels",
    params(PageParameters, SearchParameter),
    responses((status = 200, description = "A page of channels", body = Envelope<Channel>)),
)]
pub(super) async fn list(company: Company, state: Data<State>, query: Query) -> Answer<Envelope<Channel>> {
    channels::list(&state, company, Kind::WebSession, &query).await.map(Json)
}

/// Explain a channel's limits
///
/// Each limit in force, the option that set it, what is left, and when the next slot opens.
#[utoipa::path(
    get,
    path = "/api/v1/web-chat/{id}/limits",
    operation_id = "explainWebLimits",
    params(("id" = Uuid, Path, description = "The channel")),
    responses(
        (status = 200, description = "The limits", body = ChannelLimits),
        (status = 404, description = "No such channel in this company", body = MessageBody),
    ),
)]
pub(super) async fn limits(
    company: Company,
    id: Id,
    state: Data<State>,
    request: HttpRequest,
) -> Answer<ChannelLimits> {
    let channel = own_channel(&state, company, id).await?;
    limits::explain(&state, &channel, &request).await
}

/// The answer to a send through a web session.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
pub(crate) enum WebSendAnswer {
    /// The message was handed over.
    Sent(WebSent),
    /// The request was a dry run.
    Tried(WebTried),
}

/// Send a message
///
/// Sends one message to a number or a group. The request is answered when the message is handed over to
/// WhatsApp. The send that the answer names has the message's status afterwards.
///
/// The channel's pace is checked first: 429 means that the message would wait too long for its turn, and
/// `Retry-After` says when to retry. Then the file behind `link` is fetched, and a new number is looked up at
/// WhatsApp. After any refusal, nothing was sent and nothing will be sent.
///
/// With `dry_run=true` the same checks are made and refused in the same way, but nothing is sent: the answer
/// has the recipient, the file and the time until the message's turn. A dry run uses none of the channel's
/// allowance, and is not kept under an `Idempotency-Key`.
///
/// A send that is paused while its caller waits goes out if it is resumed in time. Otherwise it expires, and
/// the answer is 409 `send_is_over`, as for a send that is canceled.
///
/// An `Idempotency-Key` is checked after the channel and before the body is parsed, as for business accounts. After a
/// crash of the service, a repeated request gets the first answer if the message may have gone out, and is
/// carried out if it has not.
#[utoipa::path(
    post,
    path = "/api/v1/web-chat/{id}/messages",
    operation_id = "sendWebMessage",
    params(
        ("id" = Uuid, Path, description = "The channel"),
        ("dry_run" = Option<bool>, Query, description = "Whether only to check the request, and send \
             nothing"),
        IdempotencyKey,
    ),
    request_body = WebSend,
    responses(
        (
            status = 200,
            description = "The message was handed over, or the result of a dry run",
            body = WebSendAnswer,
            headers(("Idempotency-Replayed" = String, description = "`true` when this answer was given \
                 before")),
        ),
        (status = 404, description = "No such channel in this company", body = MessageBody),
        (status = 409, description = "`session_disconnected`, `send_is_over`, `idempotency_in_progress`", body = ErrorBody),
        (status = 422, description = "`not_on_whatsapp`, `idempotency_key_reused`", body = ErrorBody),
        (status = 500, description = "An internal failure; the body has no details", body = MessageBody),
    ),
)]
pub(super) async fn send(
    Author { company, who }: Author,
    id: Id,
    body: Body,
    state: Data<State>,
    query: Query,
    request: HttpRequest,
) -> Result<HttpResponse, Error> {
    let channel = own_channel(&state, company, id).await?;
    let is_dry_run = query.flag("dry_run")?;
    let body = body.read(&state.options).await?;
    let held = match idempotency::turn(&state, company, &request, body.bytes()).await? {
        Turn::First(held) => held,
        Turn::Told(answer) => return Ok(idempotency::replay_text(answer)),
        Turn::Repeated(accepted) => {
            let sentence = format!(
                "a request under this Idempotency-Key was carried out by an earlier version of the service, which \
                 did not keep its answer: GET /api/v1/sends/{} shows its state",
                accepted.send_id
            );
            return Err(Error::refused(Code::IdempotencyKeyReused, sentence));
        }
    };
    let own = state.clone();
    let parse = move |bytes: &[u8], room: &mut Room| -> Result<_, Error> {
        let weight = WebRequest::weight(bytes);
        room.charge(weight)?;
        Ok((WebRequest::parse(bytes, &own.options.send)?, weight))
    };
    let ((mut asked, weight), mut room) = body.read(parse).await?;
    // A message waits for its turn, and its body must not take more than the message meanwhile.
    let limits = &state.options.send;
    room.shrink_to(4 * (limits.text_chars + limits.caption_chars + limits.link_chars) + weight);
    if is_dry_run {
        let dry_run = state.engine.web_sends().dry_run(&channel, asked).await?;
        return Ok(HttpResponse::Ok().json(WebSendAnswer::Tried(WebTried::from(dry_run))));
    }
    asked.label.made_by = Some(who.to_string());
    let answer = state.engine.web_sends().send(&channel, asked, held, SENT).await?;
    Ok(HttpResponse::Ok().content_type(ContentType::json()).body(answer))
}

/// The web session of the path, if it is the company's. Another company's channel is treated as unknown.
async fn own_channel(state: &State, company: Company, id: Id) -> Result<Arc<channel::Channel>, Error> {
    let id = id.0.ok_or_else(|| {
        Error::refused(Code::InvalidIdParam, "the channel's id in the path is not an id (a UUID)")
    })?;
    own_by_id(state, company, id).await?.ok_or(Error::UnknownChannel)
}

/// The web session that a body names, if it is the company's.
pub(super) async fn own_session(
    state: &State,
    company: Company,
    id: Uuid,
) -> Result<Arc<channel::Channel>, Error> {
    let sentence = "the company has no web session with this id: GET /api/v1/web-chat lists yours";
    own_by_id(state, company, id).await?.ok_or_else(|| Error::refused(Code::ChannelNotFound, sentence))
}

async fn own_by_id(
    state: &State,
    company: Company,
    id: Uuid,
) -> Result<Option<Arc<channel::Channel>>, Error> {
    let found = state.engine.channel(id).await?;
    let own = |channel: &Arc<channel::Channel>| {
        channel.kind == Kind::WebSession && channel.company_id == company.id
    };
    Ok(found.filter(own))
}
