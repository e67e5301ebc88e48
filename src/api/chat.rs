//! Business-account channels: list, templates, send.

pub(super) mod answer;
pub(super) mod limits;
pub(super) mod profile;
pub(super) mod templates;
mod upload;
pub(super) mod window;

use std::sync::Arc;

use actix_web::web::{Bytes, Data, Json};
use actix_web::{HttpRequest, HttpResponse};

use self::answer::{Queued, Rehearsed};
use self::limits::ChannelLimits;
use self::upload::{SendWithFile, Upload};
use super::State;
use super::auth::{Author, Company};
use super::body::Body;
use super::channels::{self, Channel};
use super::envelope::{Answer, Envelope};
use super::error::{Error, ErrorBody};
use super::idempotency::{self, IdempotencyKey, Turn};
use super::lines::{CSV, accepts};
use super::list_query::{PageParameters, Query, SearchParameter};
use super::options::Options;
use super::path_id::Id;
use super::tables::csv_answer;
use super::templates::{Template, list as list_templates};
use crate::domain::channel::{self, Kind};
use crate::domain::request::{BusinessRequest, BusinessSend, QuickSend, RequestedContent, SplitSend};
use crate::engine::Accepted;
use crate::error::Code;
use crate::surface::body::{Fault, Room, Whole};
use crate::surface::multipart::Multipart;

/// The bytes of a body from which on it is worth looking for recipients that can be read where they stand.
const QUICKLY: usize = 16 * 1024;

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
        (status = 200, description = "The limits", body = ChannelLimits),
        (status = 403, description = "`credential_resource_mismatch`", body = ErrorBody),
        (status = 404, description = "`channel_not_found`", body = ErrorBody),
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

/// Send messages
///
/// Sends one message to one or many recipients. An accepted send is durable when it is answered.
///
/// People whose window is closed take only templates, and are skipped (`window_closed`). With `template_instead` they get that
/// template by a send of its own, which is accepted together with this one.
///
/// With `recipients` each recipient has values of their own, for which `{{value.NAME}}` stands in the message. More than a
/// body can have come in a file: as `multipart/form-data`, the send is the part `send`, and the file is the part
/// `recipients`. A file that breaks off, or has a fault that is not one of a single row, sends nothing.
///
/// With `dry_run=true` all checks are made and refused in the same way, but nothing is queued: the answer is
/// 200 with the number of recipients, the estimated duration, and for a send with values the first messages. With
/// `Accept: text/csv` it is the skipped entries, at most 20,000, whose first line names the columns.
///
/// With an `Idempotency-Key` an accepted request is carried out once: a request that is repeated under its key
/// within 24 hours gets the first answer again, byte for byte, with `Idempotency-Replayed: true`. Only accepted
/// requests are kept: a refused request did nothing, and may be corrected and repeated under its key; a request
/// that was answered 503 is processed again. The key is checked after the channel and before the body is
/// parsed. Of a form it covers the content of all parts.
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
    request_body(
        content((BusinessSend = "application/json"), (SendWithFile = "multipart/form-data")),
        description = "The send, or a form with the send and a file of its recipients",
    ),
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
        (status = 200, description = "What a dry run would have queued, or with `Accept: text/csv` what it would skip", content(
            (Rehearsed = "application/json"),
            (String = "text/csv"),
        )),
        (status = 403, description = "`credential_resource_mismatch`", body = ErrorBody),
        (status = 404, description = "`channel_not_found`, `template_not_found`", body = ErrorBody),
        (status = 409, description = "`window_closed`: send a template, or give one as `template_instead`; `idempotency_in_progress`: repeat it after `Retry-After` \
                                      seconds; `no_public_address`", body = ErrorBody),
        (status = 422, description = "`idempotency_key_reused`; `recipients_skipped`; `value_not_allowed`", body = ErrorBody),
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
    let given = Given::receive(body, &state.options).await?;
    let held = match idempotency::turn(&state, company, &request, &given.digested()).await? {
        Turn::First(held) => held,
        Turn::Repeated(accepted) => {
            let asked = given.read(&state).await;
            let ignored = match asked {
                Ok((asked, _room)) => ignored_again(&state, company, asked, &accepted).await?,
                // What was accepted once can be read, unless the limits changed.
                Err(_) => Vec::new(),
            };
            return Ok(Queued::from(Accepted { ignored, ..accepted }).replayed());
        }
        // The path is part of the fingerprint of the request. This channel is not a web session.
        Turn::Told(_) => return Err(Error::Internal),
    };
    let (mut asked, _room) = given.read(&state).await?;
    if is_dry_run {
        let dry_run = state.engine.dry_run(&channel, asked).await?;
        if accepts(&request, CSV) {
            return csv_answer("skipped", &dry_run.skipped.first);
        }
        return Ok(HttpResponse::Ok().json(Rehearsed::from(dry_run)));
    }
    asked.label.made_by = Some(who.to_string());
    let accepted = state.engine.send(&channel, asked, held).await?;
    Ok(Queued::from(accepted).answer())
}

/// Fields that an answer names are not stored: the repeated request has the same, and values that have no place in the
/// content of its send.
async fn ignored_again(
    state: &State,
    company: Company,
    asked: BusinessRequest,
    accepted: &Accepted,
) -> Result<Vec<String>, Error> {
    let BusinessRequest { content, mut ignored, audience, .. } = asked;
    let Some(personal) = audience.personal else { return Ok(ignored) };
    let records = state.engine.company(company.id).await?;
    // A template is known as it was sent.
    let mut contents = Vec::new();
    for send_id in [Some(accepted.send_id), accepted.instead.map(|instead| instead.send_id)] {
        let Some(send_id) = send_id else { continue };
        contents.extend(records.sends().sent(send_id).await?.map(|sent| sent.content));
    }
    if let RequestedContent::OrTemplate(content, _) = content {
        contents.push(content);
    }
    if !contents.is_empty() {
        ignored.extend(personal.unused(&contents));
    }
    Ok(ignored)
}

/// What a request gives: a body, or a form with a file.
enum Given {
    Body(Whole),
    Form(Box<Upload>),
}

impl Given {
    /// Receives what a request gives.
    async fn receive(body: Body, options: &Options) -> Result<Self, Error> {
        if Multipart::is(&body) {
            return Ok(Self::Form(Box::new(Upload::receive(body, options).await?)));
        }
        Ok(Self::Body(body.whole(options.values_body_bytes).await?))
    }

    /// What the fingerprint of the request is made of.
    fn digested(&self) -> Bytes {
        match self {
            Self::Body(body) => body.bytes().clone(),
            Self::Form(form) => Bytes::copy_from_slice(&form.digest()),
        }
    }

    /// Reads the request, with the memory that it takes.
    async fn read(self, state: &Data<State>) -> Result<(BusinessRequest, Room), Error> {
        let body = match self {
            Self::Form(form) => return form.read(state).await,
            Self::Body(body) => body,
        };
        let own = state.clone();
        let parse = move |bytes: &[u8], room: &mut Room| -> Result<_, Error> {
            let most = own.options.body_bytes;
            let (mut charged, limits) = (0, &own.options.send);
            if bytes.len() > QUICKLY
                && let Some(send) = QuickSend::of(bytes)
            {
                charged = send.weight();
                room.charge(charged)?;
                if let Some(request) = send.read(limits, |more| room.charge(more))? {
                    return Ok(request);
                }
            }
            let split = SplitSend::of(bytes);
            if bytes.len() > most && !split.as_ref().is_ok_and(SplitSend::gives_recipients) {
                return Err(Fault::TooLarge(most).into());
            }
            let split = split?;
            room.charge(split.weight().saturating_sub(charged))?;
            Ok(split.read(limits)?)
        };
        body.read(parse).await
    }
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
