//! Business-account channels: list, templates, send.

pub(super) mod answer;
pub(super) mod limits;
pub(super) mod templates;
pub(super) mod window;

use std::sync::Arc;

use actix_web::web::{Data, Json};
use actix_web::{HttpRequest, HttpResponse};

use self::answer::{Queued, Rehearsed};
use self::limits::Limits;
use super::State;
use super::auth::{Author, Company};
use super::body::Body;
use super::channels::{self, Channel};
use super::envelope::{Answer, Envelope};
use super::error::{Error, ErrorBody};
use super::idempotency::{self, IdempotencyKey, Turn};
use super::list_query::{PageParameters, Query, SearchParameter};
use super::path_id::Id;
use super::templates::{Template, list as list_templates};
use crate::domain::channel::{self, Kind};
use crate::domain::request::{BusinessRequest, BusinessSend};
use crate::engine::Accepted;
use crate::error::Code;
use crate::surface::body::Room;

/// List business-account channels
///
/// The company's channels, newest first.
#[utoipa::path(
    get,
    path = "/api/v1/chat",
    operation_id = "listBusinessChannels",
    params(PageParameters, SearchParameter),
    responses((status = 200, description = "A page of channels", body = Envelope<Channel>)),
)]
pub(super) async fn list(company: Company, state: Data<State>, query: Query) -> Answer<Envelope<Channel>> {
    channels::list(&state, company, Kind::BusinessAccount, &query).await.map(Json)
}

/// List approved templates
///
/// The templates of the channel's business account that the provider approved, newest first.
#[utoipa::path(
    get,
    path = "/api/v1/chat/{id}/templates",
    operation_id = "listTemplates",
    params(
        ("id" = Uuid, Path, description = "The channel"),
        PageParameters, SearchParameter,
        ("language" = Option<String>, Query, description = "The whole language code, such as `pt_BR`"),
        ("category" = Option<String>, Query, description = "The whole category, such as `MARKETING`"),
    ),
    responses(
        (status = 200, description = "A page of templates", body = Envelope<Template>),
        (status = 403, description = "`credential_resource_mismatch`", body = ErrorBody),
        (status = 404, description = "`channel_not_found`", body = ErrorBody),
    ),
)]
pub(super) async fn approved(
    company: Company,
    id: Id,
    state: Data<State>,
    query: Query,
) -> Answer<Envelope<Template>> {
    let channel = own_channel(&state, company, id).await?;
    list_templates(&state, &channel, &query).await.map(Json)
}

/// Explain a channel's limits
///
/// Each limit in force, the option or the provider's answer that set it, what is left, and when the next slot
/// opens.
#[utoipa::path(
    get,
    path = "/api/v1/chat/{id}/limits",
    operation_id = "explainLimits",
    params(("id" = Uuid, Path, description = "The channel")),
    responses(
        (status = 200, description = "The limits", body = Limits),
        (status = 403, description = "`credential_resource_mismatch`", body = ErrorBody),
        (status = 404, description = "`channel_not_found`", body = ErrorBody),
    ),
)]
pub(super) async fn limits(
    company: Company,
    id: Id,
    state: Data<State>,
    request: HttpRequest,
) -> Answer<Limits> {
    let channel = own_channel(&state, company, id).await?;
    limits::explain(&state, &channel, &request).await
}

/// Send messages
///
/// Sends one message to one or many recipients. An accepted send is durable when it is answered.
///
/// With `dry_run=true` all checks are made and refused in the same way, but nothing is queued: the answer is
/// 200 with the number of recipients and the estimated duration.
///
/// With an `Idempotency-Key` an accepted request is carried out once: a request that is repeated under its key
/// within 24 hours gets the first answer again, byte for byte, with `Idempotency-Replayed: true`. Only accepted
/// requests are kept: a refused request did nothing, and may be corrected and repeated under its key; a request
/// that was answered 503 is processed again. The key is checked after the channel and before the body is
/// parsed.
#[utoipa::path(
    post,
    path = "/api/v1/chat/{id}/messages",
    operation_id = "sendBusinessMessages",
    params(
        ("id" = Uuid, Path, description = "The channel"),
        ("dry_run" = Option<bool>, Query, description = "Whether only to check the request, and send \
             nothing"),
        IdempotencyKey,
    ),
    request_body = BusinessSend,
    responses(
        (
            status = 202,
            description = "Queued for sending",
            body = Queued,
            headers(
                ("Location" = String, description = "The address of the send's record"),
                ("Idempotency-Replayed" = String, description = "`true` when this answer was given before"),
            ),
        ),
        (status = 200, description = "What a dry run would have queued", body = Rehearsed),
        (status = 403, description = "`credential_resource_mismatch`", body = ErrorBody),
        (status = 404, description = "`channel_not_found`, `template_not_found`", body = ErrorBody),
        (status = 409, description = "`window_closed`: send a template; `idempotency_in_progress`: repeat it after `Retry-After` \
                                      seconds; `no_public_address`", body = ErrorBody),
        (status = 422, description = "`idempotency_key_reused`", body = ErrorBody),
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
        Turn::Repeated(accepted) => {
            let (ignored, _room) = body.read(fields_without_effect).await?;
            return Ok(Queued::from(Accepted { ignored, ..accepted }).replayed());
        }
        // The path is part of the fingerprint of the request. This channel is not a web session.
        Turn::Told(_) => return Err(Error::Internal),
    };
    let own = state.clone();
    let parse = move |bytes: &[u8], room: &mut Room| -> Result<_, Error> {
        room.charge(BusinessRequest::weight(bytes))?;
        Ok(BusinessRequest::parse(bytes, &own.options.send)?)
    };
    let (mut asked, _room) = body.read(parse).await?;
    if is_dry_run {
        let dry_run = state.engine.dry_run(&channel, asked).await?;
        return Ok(HttpResponse::Ok().json(Rehearsed::from(dry_run)));
    }
    asked.label.made_by = Some(who.to_string());
    let accepted = state.engine.send(&channel, asked, held).await?;
    Ok(Queued::from(accepted).answer())
}

/// Fields that an answer names are not stored: the repeated request has the same.
fn fields_without_effect(bytes: &[u8], room: &mut Room) -> Result<Vec<String>, Error> {
    room.charge(BusinessRequest::weight(bytes))?;
    Ok(BusinessRequest::ignored(bytes))
}

/// The business-account channel of the path, if it is the company's.
async fn own_channel(state: &State, company: Company, id: Id) -> Result<Arc<channel::Channel>, Error> {
    let found = id.channel(state).await?;
    let channel = found.filter(|channel| channel.kind == Kind::BusinessAccount).ok_or_else(|| {
        Error::refused(
            Code::ChannelNotFound,
            "there is no business-account channel with this id: GET /api/v1/chat lists yours",
        )
    })?;
    if channel.company_id != company.id {
        return Err(Error::refused(
            Code::CredentialResourceMismatch,
            "this channel belongs to another company than the API key",
        ));
    }
    Ok(channel)
}
