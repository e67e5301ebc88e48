//! Web-session channels: list and send; linking them to phones is [`pairing`]'s.

pub(super) mod pairing;

use std::sync::Arc;

use actix_web::web::{Data, Json};
use actix_web::{HttpRequest, HttpResponse};

use super::State;
use super::auth::Company;
use super::body::Body;
use super::channel_id::ChannelId;
use super::channels::{self, Channel};
use super::envelope::Envelope;
use super::error::{Error, ErrorBody, MessageBody};
use super::idempotency::{self, IdempotencyKey};
use super::list_query::PageParameters;
use super::openapi::{Failures, WebSend};
use crate::domain::channel::{self, Kind, Status};
use crate::domain::request::WebRequest;
use crate::error::Code;

/// List web-session channels
///
/// The company's channels, newest first.
#[utoipa::path(
    get,
    path = "/api/v1/web-chat",
    operation_id = "listWebChannels",
    tag = "web session",
    params(PageParameters),
    responses((status = 200, description = "A page of channels", body = Envelope<Channel>), Failures),
)]
pub(super) async fn list(
    company: Company,
    state: Data<State>,
    request: HttpRequest,
) -> Result<Json<Envelope<Channel>>, Error> {
    channels::list(&state, company, Kind::WebSession, request.query_string()).await.map(Json)
}

/// Send a message
///
/// One message to a number or a group. Sending through linked sessions is yet to come: every send to an
/// existing channel that passes the other checks is answered `session_disconnected`.
///
/// An `Idempotency-Key` is checked after the channel and before the body is parsed, as for business accounts.
#[utoipa::path(
    post,
    path = "/api/v1/web-chat/{id}/messages",
    operation_id = "sendWebMessage",
    tag = "web session",
    params(("id" = Uuid, Path, description = "The channel"), IdempotencyKey),
    request_body = WebSend,
    responses(
        (status = 404, description = "No such channel in this company", body = MessageBody),
        (status = 409, description = "`session_disconnected`, `idempotency_in_progress`", body = ErrorBody),
        (status = 413, description = "`body_too_large`", body = ErrorBody),
        (status = 422, description = "`idempotency_key_reused`", body = ErrorBody),
        Failures,
    ),
)]
pub(super) async fn send(
    company: Company,
    id: ChannelId,
    body: Body,
    state: Data<State>,
    request: HttpRequest,
) -> Result<HttpResponse, Error> {
    let channel = own_channel(&state, company, id).await?;
    let body = body.read(&state.options).await?;
    // Nothing is accepted here yet, so that no answer can have been kept: only the key is held.
    let _turn = idempotency::turn(&state, company, &request, &body).await?;
    WebRequest::parse(&body, &state.options.send)?;
    Err(Error::refused(
        Code::SessionDisconnected,
        match channel.connection.status {
            Status::Connected => "the web session is connected, and web sessions send nothing yet".to_owned(),
            status => format!("the web session is {status}: link it to a phone first"),
        },
    ))
}

/// The web session of the path, if it is the company's; another company's looks like none.
async fn own_channel(state: &State, company: Company, id: ChannelId) -> Result<Arc<channel::Channel>, Error> {
    let id = id.0.ok_or_else(|| {
        Error::refused(Code::InvalidIdParam, "the channel's id in the path is not an id (a UUID)")
    })?;
    let found = state.engine.channel(id).await?;
    let own = |channel: &Arc<channel::Channel>| {
        channel.kind == Kind::WebSession && channel.company_id == company.id
    };
    found.filter(own).ok_or(Error::UnknownChannel)
}
