//! API keys of companies: list, add, revoke.

use actix_web::web::{Data, Json};
use actix_web::{HttpRequest, HttpResponse};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;
use uuid::Uuid;

use super::{Operator, companies};
use crate::api::State;
use crate::api::body::Body;
use crate::api::envelope::{Answer, Envelope};
use crate::api::error::{Error, ErrorBody};
use crate::api::list_query::{PageParameters, Query};
use crate::api::path_id::Id;
use crate::api::schema::KeyScope;
use crate::clock::Timestamp;
use crate::domain::bodies;
use crate::domain::scope::{Scope, Scopes};
use crate::engine::records::CompanyRecords;
use crate::engine::records::keys::{self, ApiKey};
use crate::error::Code;
use crate::vault::api_key;

/// The most channels that a key is bound to.
const MOST_CHANNELS: usize = 100;

/// An API key, without the key itself.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Key {
    /// The id of the key.
    pub(crate) id: Uuid,
    /// The name that the company gave the key.
    #[schema(example = "website")]
    pub(crate) name: String,
    /// The beginning of the key.
    #[schema(example = "pombo_Xy3kQ9")]
    pub(crate) prefix: String,
    /// The scopes of the key.
    #[schema(value_type = Vec<KeyScope>)]
    pub(crate) scopes: Vec<&'static str>,
    /// The channels that the key is good for; null for all. Only keys with the scope `graph` alone are bound to channels.
    #[schema(value_type = Option<Vec<Uuid>>)]
    pub(crate) channel_ids: Option<Vec<Uuid>>,
    /// Whether the key is valid now.
    pub(crate) is_valid: bool,
    /// When it was last used, to the minute; null when it was never used.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub(crate) last_used_at: Option<Timestamp>,
    /// When it expires; null when it does not expire.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub(crate) expires_at: Option<Timestamp>,
    /// When it was revoked; null when it is not revoked.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub(crate) revoked_at: Option<Timestamp>,
    /// When it was added.
    #[schema(value_type = String, format = DateTime)]
    pub(crate) created_at: Timestamp,
}

/// A new API key. This is the only answer that contains the key itself.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct CreatedKey {
    /// The key, for the Authorization header. It cannot be shown again.
    #[schema(example = "pombo_Xy3kQ9…")]
    key: String,
    #[serde(flatten)]
    record: Key,
}

bodies! {
    /// An API key to add.
    pub(super) struct NewKey of Value {
        /// A name to recognise the key by.
        #[schema(example = "website", max_length = 200)]
        name: String,
        /// The scopes of the key; all scopes when left out.
        scopes: Option<Vec<KeyScope>>,
        /// The channels that the key is good for, at most 100; all of the company when left out. `scopes` must then be `graph`
        /// alone, which it is when left out.
        #[schema(max_items = 100)]
        channel_ids: Option<Vec<Uuid>>,
        /// When it expires; without it, the key does not expire.
        #[schema(format = DateTime)]
        expires_at: Option<String>,
    }
}

impl From<ApiKey> for Key {
    fn from(key: ApiKey) -> Self {
        Self {
            is_valid: key.is_valid(Timestamp::now()),
            id: key.id,
            name: key.name,
            prefix: key.prefix,
            scopes: key.scopes.words(),
            channel_ids: key.channels.map(|ids| ids.to_vec()),
            last_used_at: key.last_used_at,
            expires_at: key.expires_at,
            revoked_at: key.revoked_at,
            created_at: key.created_at,
        }
    }
}

/// List a company's API keys
///
/// Newest first, including revoked and expired keys.
#[utoipa::path(
    get,
    path = "/operator/v1/companies/{id}/keys",
    operation_id = "listKeys",
    params(("id" = Uuid, Path, description = "The company"), PageParameters),
    responses(
        (status = 200, description = "A page of keys", body = Envelope<Key>),
        (status = 404, description = "`company_not_found`", body = ErrorBody),
    ),
)]
pub(crate) async fn list(_: Operator, state: Data<State>, id: Id, query: Query) -> Answer<Envelope<Key>> {
    let page = query.page()?;
    let company = companies::find(&state, id.0).await?;
    let keys = state.engine.operator().await?.company(company.id).keys().page(page).await?;
    Ok(Json(Envelope::new(page, keys)))
}

/// Add an API key
///
/// Only this answer contains the key.
#[utoipa::path(
    post,
    path = "/operator/v1/companies/{id}/keys",
    operation_id = "createKey",
    params(("id" = Uuid, Path, description = "The company")),
    request_body = NewKey,
    responses(
        (status = 201, description = "The key", body = CreatedKey),
        (status = 404, description = "`company_not_found`", body = ErrorBody),
    ),
)]
pub(crate) async fn create(
    operator: Operator,
    body: Body,
    state: Data<State>,
    id: Id,
) -> Result<HttpResponse, Error> {
    let company = companies::find(&state, id.0).await?;
    let (NewKey { name, scopes, channel_ids, expires_at }, _room) = body.fields(&state.options).await?;
    let name = name.required_name()?;
    let expected = format!("a list of some of {}", Scope::ALL.map(Scope::as_str).join(", "));
    let scopes = scopes.list(&expected, Scope::parse)?;
    let expected = format!("a list of at most {MOST_CHANNELS} ids of channels");
    let channels = channel_ids.list(&expected, |id| Uuid::try_parse(id).ok())?;
    let scopes = match (scopes.is_empty(), channels.is_empty()) {
        (true, true) => Scopes::ALL,
        (true, false) => Scopes::from_iter([Scope::Graph]),
        (false, _) => scopes.into_iter().collect(),
    };
    let expires_at = expires_at.moment()?;
    let (plain, prefix) = api_key::generate();
    let hash = api_key::hash(plain.expose());
    let new = keys::NewKey { name: &name, prefix: &prefix, hash, expires_at, scopes };
    let records = state.engine.operator().await?.company(company.id);
    let bound = bound_to(&records, &channels, scopes).await?;
    let added = records.keys().add_for(&operator.who(), new, bound).await?;
    drop(records);
    let created = CreatedKey { key: plain.expose().to_owned(), record: added.into() };
    Ok(HttpResponse::Created().json(created))
}

/// The channels of a new key, if it is bound to some.
async fn bound_to<'a>(
    records: &CompanyRecords,
    channels: &'a [Uuid],
    scopes: Scopes,
) -> Result<Option<&'a [Uuid]>, Error> {
    if channels.is_empty() {
        return Ok(None);
    }
    let refuse = |what: &str| Err(Error::of("channel_ids", Code::InvalidField, what));
    if channels.len() > MOST_CHANNELS {
        return refuse("has more than 100 ids");
    }
    if !scopes.may_be_bound() {
        return refuse("binds a key whose `scopes` are not `graph` alone: leave other scopes out");
    }
    match records.channels().first_unknown(channels).await? {
        Some(_) => refuse("has the id of a channel that the company does not have"),
        None => Ok(Some(channels)),
    }
}

/// Revoke an API key
///
/// A running service refuses the key within a second.
#[utoipa::path(
    delete,
    path = "/operator/v1/companies/{id}/keys/{key}",
    operation_id = "revokeKey",
    params(
        ("id" = Uuid, Path, description = "The company"),
        ("key" = Uuid, Path, description = "The key's id"),
    ),
    responses(
        (status = 204, description = "It is revoked. Other nodes of a cluster follow within `engine.watch_interval`"),
        (status = 404, description = "`company_not_found`, `key_not_found`", body = ErrorBody),
    ),
)]
pub(crate) async fn revoke(
    operator: Operator,
    state: Data<State>,
    id: Id,
    request: HttpRequest,
) -> Result<HttpResponse, Error> {
    let company = companies::find(&state, id.0).await?;
    let key = request.match_info().get("key").and_then(|key| Uuid::try_parse(key).ok());
    let records = state.engine.operator().await?.company(company.id);
    let revoked = match key {
        Some(id) => state.engine.revoke_key(&operator.who(), &records, id).await?,
        None => false,
    };
    if revoked {
        return Ok(HttpResponse::NoContent().finish());
    }
    let sentence = "the company has no active API key with this id: GET …/keys lists its keys";
    Err(Error::refused(Code::KeyNotFound, sentence))
}
