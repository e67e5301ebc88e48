//! Channels of every company: list, add, rename, put under another tier, connect again, remove.

mod addition;
pub(crate) mod load;

use std::collections::BTreeMap;

use actix_web::HttpResponse;
use actix_web::web::{Data, Json};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;
use uuid::Uuid;

use self::addition::NewChannel;
use super::{Operator, tiers};
use crate::api::State;
use crate::api::body::Body;
use crate::api::channels::Channel;
use crate::api::envelope::{Answer, Envelope};
use crate::api::error::{Error, ErrorBody};
use crate::api::list_query::{PageParameters, Query, SearchParameter};
use crate::api::path_id::Id;
use crate::clock::Timestamp;
use crate::domain::bodies;
use crate::domain::body::Field;
use crate::domain::channel::Kind;
use crate::domain::secret::Secret;
use crate::domain::tier::{OptionValue, OwnOptions, Tier};
use crate::engine::records;
use crate::engine::records::channels::Owned;
use crate::error::Code;

/// The longest token, in characters. No token of the provider is nearly as long.
const TOKEN_CHARS: usize = 16 * 1024;

/// A channel with its company. It never contains tokens and secrets.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct OwnedChannel {
    /// The company of the channel.
    company: Owner,
    #[serde(flatten)]
    channel: Channel,
    /// Options of the tier for which the channel has values of its own, as a tier writes them.
    #[schema(value_type = BTreeMap<String, OptionValue>, example = json!({ "messages_per_second": "20/s" }))]
    own_options: OwnOptions,
    /// The end of its tier and its own options; null when it has them for good.
    tier_end: Option<TierEnd>,
}

/// The end of a tier that a channel has for a while.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct TierEnd {
    /// The tier that counts again then.
    #[schema(example = "standard")]
    pub(crate) tier: String,
    /// The channel's own options that count again then.
    #[schema(value_type = BTreeMap<String, OptionValue>)]
    pub(crate) own_options: OwnOptions,
    /// When they count again.
    #[schema(value_type = String, format = DateTime)]
    pub(crate) at: Timestamp,
}

impl From<records::channels::TierEnd> for TierEnd {
    fn from(records::channels::TierEnd { tier, own_options, at }: records::channels::TierEnd) -> Self {
        Self { tier, own_options, at }
    }
}

/// The company of a channel.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Owner {
    /// The id of the company.
    id: Uuid,
    /// Unique.
    #[schema(example = "Bakery")]
    name: String,
}

bodies! {
    /// The new tier of a channel.
    pub(super) struct ChannelTier of Value {
        /// A tier for the channel's kind.
        #[schema(example = "high")]
        tier: String,
        /// Options of the tier for which the channel has values of its own, as a tier writes them; without them, the tier
        /// alone counts.
        #[schema(example = json!({ "messages_per_second": "20/s" }))]
        options: Option<BTreeMap<String, OptionValue>>,
        /// Only until this time; then the tier and the options count again that the channel had for good.
        #[schema(format = DateTime)]
        until: Option<String>,
    }

    /// How to connect a channel again.
    pub(super) struct Reconnection of Value {
        /// The provider's new access token; without it, the stored token is tried again.
        token: Option<String>,
    }

    /// A change of a channel.
    pub(super) struct ChannelName of Value {
        /// The name of the channel.
        #[schema(example = "Support", max_length = 200)]
        name: String,
    }
}

impl From<Owned> for OwnedChannel {
    fn from(Owned { channel, company, tier_end }: Owned) -> Self {
        let company = Owner { id: channel.company_id, name: company };
        let own_options = channel.own_options.clone();
        Self { company, channel: channel.into(), own_options, tier_end: tier_end.map(TierEnd::from) }
    }
}

/// List every company's channels
///
/// The channels of both kinds, newest first. `search` is matched against the channel's name and number; a
/// company's full name or id finds all its channels.
#[utoipa::path(
    get,
    path = "/operator/v1/channels",
    operation_id = "listAllChannels",
    params(PageParameters, SearchParameter),
    responses((status = 200, description = "A page of channels", body = Envelope<OwnedChannel>)),
)]
pub(crate) async fn list(_: Operator, state: Data<State>, query: Query) -> Answer<Envelope<OwnedChannel>> {
    let (page, search) = (query.page()?, query.search()?);
    let channels = state.engine.operator().await?.channels().page(page, search.as_deref()).await?;
    Ok(Json(Envelope::new(page, channels)))
}

/// Add a channel
///
/// A business account is looked up at the provider first, and saved only if the provider knows the number and
/// the account and accepts the token. With `verify` as false it is saved without a look-up, for offline
/// provisioning. A business account is `connecting` until the provider has confirmed it; a web session is
/// `pairing` until a phone is linked. Token and app secret are never shown again.
#[utoipa::path(
    post,
    path = "/operator/v1/channels",
    operation_id = "createChannel",
    request_body = NewChannel,
    responses(
        (status = 201, description = "The channel", body = OwnedChannel),
        (status = 404, description = "`company_not_found`, `tier_not_found`", body = ErrorBody),
        (status = 409, description = "`already_exists`: another channel has the number's id", body = ErrorBody),
        (status = 422, description = "`provider_refused`: the sentence has the provider's reason", body = ErrorBody),
    ),
)]
pub(crate) async fn create(
    operator: Operator,
    body: Body,
    state: Data<State>,
) -> Result<HttpResponse, Error> {
    let (new, _room) = body.fields(&state.options).await?;
    let addition = addition::read(&state, &new).await?;
    let added = state.engine.channels().add(&operator.who(), addition).await;
    let id = added.map_err(addition::refused)?.channel.id;
    let channel = find(&state, Id(Some(id))).await?;
    Ok(HttpResponse::Created().json(OwnedChannel::from(channel)))
}

/// Rename a channel
#[utoipa::path(
    patch,
    path = "/operator/v1/channels/{id}",
    operation_id = "renameChannel",
    params(("id" = Uuid, Path, description = "The channel")),
    request_body = ChannelName,
    responses(
        (status = 200, description = "The channel", body = OwnedChannel),
        (status = 404, description = "`channel_not_found`", body = ErrorBody),
    ),
)]
pub(crate) async fn rename(
    operator: Operator,
    id: Id,
    body: Body,
    state: Data<State>,
) -> Answer<OwnedChannel> {
    let channel = find(&state, id).await?.channel;
    let (ChannelName { name }, _room) = body.fields(&state.options).await?;
    let name = name.required_name()?;
    state.engine.operator().await?.channels().rename(&operator.who(), channel.id, &name).await?;
    find(&state, id).await.map(OwnedChannel::from).map(Json)
}

/// Remove a channel
///
/// The channel's sends must be over, and its phone unlinked. Its sends stay in the lists.
#[utoipa::path(
    delete,
    path = "/operator/v1/channels/{id}",
    operation_id = "removeChannel",
    params(("id" = Uuid, Path, description = "The channel")),
    responses(
        (status = 204, description = "It is removed"),
        (status = 404, description = "`channel_not_found`", body = ErrorBody),
        (status = 409, description = "`channel_in_use`", body = ErrorBody),
    ),
)]
pub(crate) async fn remove(operator: Operator, id: Id, state: Data<State>) -> Result<HttpResponse, Error> {
    let channel = find(&state, id).await?.channel;
    state.engine.channels().remove(&operator.who(), channel.id).await?;
    Ok(HttpResponse::NoContent().finish())
}

/// Put a channel under another tier
///
/// A running channel applies the tier within a second, even during a send. With `options`, it has its own values for some
/// of the tier's options; with `until`, it has the tier and these for a while only.
#[utoipa::path(
    put,
    path = "/operator/v1/channels/{id}/tier",
    operation_id = "setChannelTier",
    params(("id" = Uuid, Path, description = "The channel")),
    request_body = ChannelTier,
    responses(
        (status = 200, description = "The channel", body = OwnedChannel),
        (status = 404, description = "`channel_not_found`, `tier_not_found`", body = ErrorBody),
    ),
)]
pub(crate) async fn set_tier(
    operator: Operator,
    id: Id,
    body: Body,
    state: Data<State>,
) -> Answer<OwnedChannel> {
    let channel = find(&state, id).await?.channel;
    let (ChannelTier { tier, options, until }, _room) = body.fields(&state.options).await?;
    let until = until.moment()?;
    if until.is_some_and(|until| until <= Timestamp::now()) {
        return Err(Error::refused(
            Code::InvalidField,
            "`until` is over: give a time in the future, or leave it out",
        ));
    }
    let missing = || tier.refuse(Code::InvalidField, "is missing: give a tier's name");
    let tier = tiers::read(&tiers::find(&state, tier.text()?.ok_or_else(missing)?).await?)?;
    check_kind(&tier, channel.kind)?;
    let own = match options.given() {
        None | Some(Value::Null) => OwnOptions::default(),
        Some(Value::Object(own)) => {
            OwnOptions::new(own.clone(), &tier).map_err(|faults| tiers::invalid(&faults))?
        }
        Some(_) => return Err(options.wrong_type("an object of options").into()),
    };
    let records = state.engine.operator().await?;
    records.channels().set_tier(&operator.who(), channel.id, (&tier.name, &own), until).await?;
    drop(records);
    find(&state, id).await.map(OwnedChannel::from).map(Json)
}

/// Connect a business account again
///
/// Give a new access token if the provider refuses the old one; without a body, the stored token is tried
/// again. The channel is `connecting` until the provider has confirmed it. Its queue is kept and then
/// continues.
#[utoipa::path(
    post,
    path = "/operator/v1/channels/{id}/reconnect",
    operation_id = "reconnectChannel",
    params(("id" = Uuid, Path, description = "The channel")),
    request_body = Option<Reconnection>,
    responses(
        (status = 200, description = "The channel", body = OwnedChannel),
        (status = 404, description = "`channel_not_found`", body = ErrorBody),
    ),
)]
pub(crate) async fn reconnect(
    operator: Operator,
    id: Id,
    body: Body,
    state: Data<State>,
) -> Answer<OwnedChannel> {
    let channel = find(&state, id).await?.channel;
    if channel.kind != Kind::BusinessAccount {
        return Err(Error::refused(
            Code::ChannelNotFound,
            "this channel is a web session, which a phone links; it has no token",
        ));
    }
    let (Reconnection { token }, _room) = body.optional_fields(&state.options).await?;
    // A refusal never contains the token.
    let token = secret(&token)?;
    state.engine.channels().reconnect(&operator.who(), channel.id, token).await?;
    find(&state, id).await.map(OwnedChannel::from).map(Json)
}

/// The channel of the path, of any company.
async fn find(state: &State, id: Id) -> Result<Owned, Error> {
    let found = match id.0 {
        Some(id) => state.engine.operator().await?.channels().find_owned(id).await?,
        None => None,
    };
    found.ok_or_else(|| {
        Error::refused(
            Code::ChannelNotFound,
            "there is no channel with this id: GET /operator/v1/channels lists the channels",
        )
    })
}

fn check_kind(tier: &Tier, kind: Kind) -> Result<(), Error> {
    if tier.kind == kind {
        return Ok(());
    }
    let sentence =
        format!("the tier is for a {}, and the channel is a {kind}: choose another tier", tier.kind);
    Err(Error::refused(Code::InvalidTier, sentence))
}

/// A field that is a token or another secret.
fn secret(field: &Field<Value, Option<String>>) -> Result<Option<Secret>, Error> {
    let Some(token) = field.text()?.map(|token| Secret::new(token.to_owned())) else {
        return Ok(None);
    };
    let is_sound = token.expose().bytes().all(|byte| byte.is_ascii_graphic());
    if !is_sound || token.expose().len() > TOKEN_CHARS {
        let sentence = "is longer than any token, or has spaces or other characters that no token has";
        return Err(field.refuse(Code::InvalidField, sentence).into());
    }
    Ok(Some(token))
}
