//! Business-account channels: list, templates, send.

use std::sync::Arc;

use actix_web::http::StatusCode;
use actix_web::web::{self, Data, Json};
use actix_web::{HttpRequest, Responder};
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use super::State;
use super::auth::Company;
use super::body::Body;
use super::channel_id::ChannelId;
use super::channels::{self, Channel};
use super::envelope::Envelope;
use super::error::{Error, ErrorBody};
use super::list_query::{ListQuery, PageParameters};
use super::openapi::{BusinessSend, Failures};
use super::templates::{self, Template};
use crate::domain::channel::{self, Kind};
use crate::domain::request::{BusinessRequest, SkippedEntry};
use crate::engine::{Accepted, Terms};
use crate::error::Code;

/// A body up to this size is parsed where it was read; a larger one where it holds up no other request.
const PARSED_IN_PLACE: usize = 256 * 1024;

/// What became of a send.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Queued {
    /// That it is queued for sending.
    #[schema(example = "Message queued for sending")]
    message: &'static str,
    /// Unique numbers that the message goes to.
    recipients_count: u64,
    /// Names the send.
    send_id: Uuid,
    /// Entries of `phone_number` that are not numbers.
    skipped_count: u64,
    /// The first hundred of them.
    skipped: Vec<Skipped>,
}

/// An entry of `phone_number` that is not a number.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Skipped {
    /// The entry's beginning.
    input: String,
    /// What is wrong with it.
    #[schema(example = "has fewer than 7 digits")]
    reason: String,
}

impl From<Accepted> for Queued {
    fn from(Accepted { send_id, recipients, skipped }: Accepted) -> Self {
        let shown = |SkippedEntry { input, reason }| Skipped { input, reason };
        Self {
            message: if recipients == 1 {
                "Message queued for sending"
            } else {
                "Messages queued for sending"
            },
            recipients_count: recipients,
            send_id,
            skipped_count: skipped.count,
            skipped: skipped.first.into_iter().map(shown).collect(),
        }
    }
}

/// List business-account channels
///
/// The company's channels, newest first.
#[utoipa::path(
    get,
    path = "/api/v1/chat",
    operation_id = "listBusinessChannels",
    tag = "business account",
    params(PageParameters),
    responses((status = 200, description = "A page of channels", body = Envelope<Channel>), Failures),
)]
pub(super) async fn list(
    company: Company,
    state: Data<State>,
    request: HttpRequest,
) -> Result<Json<Envelope<Channel>>, Error> {
    channels::list(&state, company, Kind::BusinessAccount, request.query_string()).await.map(Json)
}

/// List approved templates
///
/// The templates of the channel's business account that the provider approved, newest first.
#[utoipa::path(
    get,
    path = "/api/v1/chat/{id}/templates",
    operation_id = "listTemplates",
    tag = "business account",
    params(
        ("id" = Uuid, Path, description = "The channel"),
        PageParameters,
        ("language" = Option<String>, Query, description = "The whole language code, such as `pt_BR`"),
        ("category" = Option<String>, Query, description = "The whole category, such as `MARKETING`"),
    ),
    responses(
        (status = 200, description = "A page of templates", body = Envelope<Template>),
        (status = 403, description = "`credential_resource_mismatch`", body = ErrorBody),
        (status = 404, description = "`channel_not_found`", body = ErrorBody),
        Failures,
    ),
)]
pub(super) async fn templates(
    company: Company,
    id: ChannelId,
    state: Data<State>,
    request: HttpRequest,
) -> Result<Json<Envelope<Template>>, Error> {
    let channel = own_channel(&state, company, id).await?;
    let query = ListQuery::new(request.query_string(), &state.options);
    templates::list(&state, &channel, &query).await.map(Json)
}

/// Send messages
///
/// One message to one or many recipients. Everything that the answer promises is durable when it comes.
#[utoipa::path(
    post,
    path = "/api/v1/chat/{id}/messages",
    operation_id = "sendBusinessMessages",
    tag = "business account",
    params(("id" = Uuid, Path, description = "The channel")),
    request_body = BusinessSend,
    responses(
        (status = 202, description = "Queued for sending", body = Queued),
        (status = 403, description = "`credential_resource_mismatch`", body = ErrorBody),
        (status = 404, description = "`channel_not_found`, `template_not_found`", body = ErrorBody),
        (status = 413, description = "`body_too_large`", body = ErrorBody),
        Failures,
    ),
)]
pub(super) async fn send(
    company: Company,
    id: ChannelId,
    body: Body,
    state: Data<State>,
) -> Result<impl Responder, Error> {
    let channel = own_channel(&state, company, id).await?;
    let body = body.read(&state.options).await?;
    let request = parse(&state, body).await?;
    let accepted = state.engine.send(&channel, request, Terms::default()).await?;
    Ok((Json(Queued::from(accepted)), StatusCode::ACCEPTED))
}

async fn parse(state: &Data<State>, body: web::Bytes) -> Result<BusinessRequest, Error> {
    if body.len() <= PARSED_IN_PLACE {
        return Ok(BusinessRequest::parse(&body, &state.options.send)?);
    }
    let state = state.clone();
    let parsed = web::block(move || BusinessRequest::parse(&body, &state.options.send)).await;
    Ok(parsed.map_err(|error| {
        tracing::error!(%error, "parsing a body was cut short");
        Error::Internal
    })??)
}

/// The business-account channel of the path, if it is the company's.
async fn own_channel(state: &State, company: Company, id: ChannelId) -> Result<Arc<channel::Channel>, Error> {
    let found = match id.0 {
        Some(id) => state.engine.channel(id).await?,
        None => None,
    };
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
