//! Channels of every company: list, put under another tier, connect again.

use actix_web::HttpRequest;
use actix_web::web::{Data, Json};
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use super::reference::{ChannelTier, Reconnection};
use super::{Operator, body, tiers};
use crate::api::State;
use crate::api::body::Body;
use crate::api::channel_id::ChannelId;
use crate::api::channels::Channel;
use crate::api::envelope::Envelope;
use crate::api::error::{Error, ErrorBody};
use crate::api::list_query::{ListQuery, PageParameters};
use crate::api::openapi::Failures;
use crate::domain::channel::{self, Kind};
use crate::domain::secret::Secret;
use crate::domain::tier::Tier;
use crate::error::Code;
use crate::store::channel::Owned;

/// No token comes near this many characters.
const TOKEN_CHARS: usize = 16 * 1024;

/// A channel, and whose it is. Tokens and secrets are never part of it.
#[derive(Debug, Serialize, ToSchema)]
pub(in crate::api) struct OwnedChannel {
    /// The company that it belongs to.
    company: Owner,
    #[serde(flatten)]
    channel: Channel,
}

/// The company that a channel belongs to.
#[derive(Debug, Serialize, ToSchema)]
pub(in crate::api) struct Owner {
    /// Names the company.
    id: Uuid,
    /// Unique.
    #[schema(example = "Bakery")]
    name: String,
}

impl From<Owned> for OwnedChannel {
    fn from(Owned { channel, company }: Owned) -> Self {
        Self { company: Owner { id: channel.company_id, name: company }, channel: channel.into() }
    }
}

/// List every company's channels
///
/// Both kinds, newest first. `search` is matched against the channel's name and number; a company's whole name
/// or id finds all its channels.
#[utoipa::path(
    get,
    path = "/operator/v1/channels",
    operation_id = "listAllChannels",
    tag = "operator",
    security(("operator_key" = [])),
    params(PageParameters),
    responses((status = 200, description = "A page of channels", body = Envelope<OwnedChannel>), Failures),
)]
pub(in crate::api) async fn list(
    _: Operator,
    state: Data<State>,
    request: HttpRequest,
) -> Result<Json<Envelope<OwnedChannel>>, Error> {
    let query = ListQuery::new(request.query_string(), &state.options);
    let (page, search) = (query.page()?, query.search()?);
    let channels = state.engine.all_records().await?.all_channels(page, search.as_deref()).await?;
    Ok(Json(Envelope::new(page, channels)))
}

/// Put a channel under another tier
///
/// A running channel follows within a second, in the middle of a send too.
#[utoipa::path(
    put,
    path = "/operator/v1/channels/{id}/tier",
    operation_id = "setChannelTier",
    tag = "operator",
    security(("operator_key" = [])),
    params(("id" = Uuid, Path, description = "The channel")),
    request_body = ChannelTier,
    responses(
        (status = 200, description = "The channel", body = OwnedChannel),
        (status = 404, description = "`channel_not_found`, `tier_not_found`", body = ErrorBody),
        (status = 408, description = "`body_too_slow`", body = ErrorBody),
        (status = 413, description = "`body_too_large`", body = ErrorBody),
        Failures,
    ),
)]
pub(in crate::api) async fn set_tier(
    operator: Operator,
    id: ChannelId,
    body: Body,
    state: Data<State>,
) -> Result<Json<OwnedChannel>, Error> {
    let channel = find(&state, id).await?.channel;
    let mut fields = body::object(&body.read(&state.options).await?)?;
    let name = body::text(&mut fields, "tier")?
        .ok_or_else(|| Error::refused(Code::InvalidField, "`tier` is missing: give a tier's name"))?;
    let tier = tiers::find(&state, &name).await?;
    check_kind(&tier.settings, &channel)?;
    state.engine.all_records().await?.set_channel_tier(&operator.who(), channel.id, &tier.name).await?;
    find(&state, id).await.map(OwnedChannel::from).map(Json)
}

/// Connect a business account again
///
/// With a new access token where the provider refuses the old one; without a body, the old one is tried again.
/// The channel is `connecting` until the provider confirmed it, and its queue goes on.
#[utoipa::path(
    post,
    path = "/operator/v1/channels/{id}/reconnect",
    operation_id = "reconnectChannel",
    tag = "operator",
    security(("operator_key" = [])),
    params(("id" = Uuid, Path, description = "The channel")),
    request_body = Option<Reconnection>,
    responses(
        (status = 200, description = "The channel", body = OwnedChannel),
        (status = 404, description = "`channel_not_found`", body = ErrorBody),
        (status = 408, description = "`body_too_slow`", body = ErrorBody),
        (status = 413, description = "`body_too_large`", body = ErrorBody),
        Failures,
    ),
)]
pub(in crate::api) async fn reconnect(
    operator: Operator,
    id: ChannelId,
    body: Body,
    state: Data<State>,
) -> Result<Json<OwnedChannel>, Error> {
    let channel = find(&state, id).await?.channel;
    if channel.kind != Kind::BusinessAccount {
        return Err(Error::refused(
            Code::ChannelNotFound,
            "this channel is a web session, which a phone links; it has no token",
        ));
    }
    let body = body.read(&state.options).await?;
    let token = if body.trim_ascii().is_empty() { None } else { token(&body)? };
    state.engine.reconnect(&operator.who(), channel.id, token).await?;
    find(&state, id).await.map(OwnedChannel::from).map(Json)
}

/// The channel of the path, whoever's it is.
async fn find(state: &State, id: ChannelId) -> Result<Owned, Error> {
    let found = match id.0 {
        Some(id) => state.engine.all_records().await?.find_owned_channel(id).await?,
        None => None,
    };
    found.ok_or_else(|| {
        Error::refused(
            Code::ChannelNotFound,
            "there is no channel with this id: GET /operator/v1/channels lists those that there are",
        )
    })
}

fn check_kind(settings: &str, channel: &channel::Channel) -> Result<(), Error> {
    let tier: Tier = serde_json::from_str(settings).map_err(|_| {
        Error::refused(Code::InvalidTier, "this tier cannot be read any more: PUT it anew before using it")
    })?;
    if tier.kind == channel.kind {
        return Ok(());
    }
    let sentence = format!(
        "the tier is for a {}, and the channel is a {}: choose another tier",
        tier.kind, channel.kind
    );
    Err(Error::refused(Code::InvalidTier, sentence))
}

/// The new token of a body. What is wrong with one is told without showing it.
fn token(body: &[u8]) -> Result<Option<Secret>, Error> {
    let Some(token) = body::text(&mut body::object(body)?, "token")?.map(Secret::new) else {
        return Ok(None);
    };
    let is_sound = token.expose().bytes().all(|byte| byte.is_ascii_graphic());
    if !is_sound || token.expose().len() > TOKEN_CHARS {
        let sentence = "`token` is longer than any token, or has spaces or other signs that no token has";
        return Err(Error::refused(Code::InvalidField, sentence));
    }
    Ok(Some(token))
}
