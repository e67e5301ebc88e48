//! Webhook endpoints: their settings, the progress of each in the log of events, its retries, and the log of its
//! deliveries.
//!
//! People change endpoints, and raise a counter by which a running service sees it. The engine writes their progress. The
//! two meet in one row: the engine can disable an endpoint, but only a person enables it, and the place in the log never
//! goes back. Secrets and headers come sealed, and are stored as they come.

mod deliveries;
mod edit;
mod lag;
mod orphans;
mod reach;
mod replay;
mod standing;

use entity::webhook_endpoint::{Column, Entity, Model};
use entity::webhook_replay;
use sea_orm::{
    ColumnTrait as _, EntityTrait as _, JoinType, QueryFilter as _, QueryOrder as _, QuerySelect as _,
    Select, SelectTwo,
};
use uuid::Uuid;

pub use self::deliveries::{DELIVERIES_KEPT, Delivery, MOST_DELIVERIES};
pub use self::edit::{Changing, HeadersChange, MOST_ENDPOINTS, NewEndpoint};
pub use self::lag::EndpointLag;
pub use self::replay::{MOST_GIVEN_UP, Replaying, StoredReplay};
pub use self::standing::{EndpointStanding, StoredRetry, Write};
use crate::nouns::{AllWebhooks, Webhooks};
use crate::{Error, Result};
use clock::Timestamp;
use domain::webhook::{Cause, Endpoint, GraphReach, Health, Settings, State};

/// The secrets of an endpoint, as the caller sealed them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndpointSecrets {
    /// The headers of its requests.
    pub headers: Option<Vec<u8>>,
    /// The secret that signs its requests.
    pub secret: Vec<u8>,
    /// The secrets that were replaced and sign, too, and the time at which the last of them ends.
    pub former: Option<(Vec<u8>, Timestamp)>,
}

/// An endpoint with what its requests need.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndpointRecord {
    /// The endpoint.
    pub endpoint: Endpoint,
    /// Its secrets.
    pub secrets: EndpointSecrets,
    /// Its last replay.
    pub replay: Option<Uuid>,
    /// How often a person enabled it, or gave it another address.
    pub resumed: i64,
    /// How often there was a sign that its receiver works again: see [`Webhooks::mended`].
    pub mended: i64,
    /// Which channels and accounts it hears of in the shape `graph`, beside others of the company. Only
    /// [`AllWebhooks::enabled`] reads that; by default it hears of all.
    pub reach: GraphReach,
}

/// How many endpoints get no events.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct IdleEndpoints {
    /// A person disabled them.
    pub disabled: u64,
    /// Their receivers answered 410, or all attempts failed for too long.
    pub stopped: u64,
}

/// All endpoints, each with its last replay.
fn with_replays() -> SelectTwo<Entity, webhook_replay::Entity> {
    let replay = Entity::belongs_to(webhook_replay::Entity);
    let replay = replay.from(Column::Id).to(webhook_replay::Column::EndpointId);
    Entity::find().join(JoinType::LeftJoin, replay.into()).select_also(webhook_replay::Entity)
}

impl Webhooks<'_> {
    /// The company's endpoints, the oldest first.
    pub async fn list(self) -> Result<Vec<Endpoint>> {
        let own = Entity::find().filter(Column::CompanyId.eq(self.company)).order_by_asc(Column::Id);
        own.all(&self.store.read).await?.iter().map(endpoint).collect()
    }

    /// The company's endpoints with their secrets, the oldest first.
    pub async fn records(self) -> Result<Vec<EndpointRecord>> {
        let own = with_replays().filter(Column::CompanyId.eq(self.company)).order_by_asc(Column::Id);
        own.all(&self.store.read).await?.into_iter().map(record).collect()
    }

    /// The endpoint of this id, if it is the company's.
    pub async fn find(self, id: Uuid) -> Result<Option<Endpoint>> {
        self.own(id).one(&self.store.read).await?.as_ref().map(endpoint).transpose()
    }

    /// The secrets of an endpoint, if it is the company's.
    pub async fn secrets(self, id: Uuid) -> Result<Option<EndpointSecrets>> {
        Ok(self.own(id).one(&self.store.read).await?.map(secrets))
    }

    fn own(self, id: Uuid) -> Select<Entity> {
        Entity::find_by_id(id).filter(Column::CompanyId.eq(self.company))
    }
}

impl AllWebhooks<'_> {
    /// The enabled endpoints of all companies, without rows that this program cannot read.
    pub async fn enabled(self) -> Result<Vec<EndpointRecord>> {
        let enabled = with_replays().filter(Column::Cause.is_null()).order_by_asc(Column::Id);
        let enabled = enabled.all(&self.store.read).await?;
        let mut records = enabled.into_iter().filter_map(readable).collect::<Vec<_>>();
        self.reach(&mut records).await?;
        Ok(records)
    }

    /// How many endpoints of all companies get no events.
    pub async fn idle(self) -> Result<IdleEndpoints> {
        let idle = Entity::find().filter(Column::Cause.is_not_null()).select_only().column(Column::Cause);
        let causes = idle.into_tuple::<String>().all(&self.store.read).await?;
        let disabled = causes.iter().filter(|cause| *cause == "person").count() as u64;
        Ok(IdleEndpoints { disabled, stopped: causes.len() as u64 - disabled })
    }

    /// The endpoint of this id, enabled or not.
    pub async fn find(self, id: Uuid) -> Result<Option<EndpointRecord>> {
        let found = with_replays().filter(Column::Id.eq(id)).one(&self.store.read).await?;
        found.map(record).transpose()
    }
}

/// An endpoint, and its last replay.
type EndpointRow = (Model, Option<webhook_replay::Model>);

fn record((model, replay): EndpointRow) -> Result<EndpointRecord> {
    Ok(EndpointRecord {
        endpoint: endpoint(&model)?,
        replay: replay.map(|replay| replay.id),
        resumed: model.resumed,
        mended: model.mended,
        reach: GraphReach::default(),
        secrets: secrets(model),
    })
}

/// A record, if this program can read it: one that it cannot read stops no other one.
fn readable(row: EndpointRow) -> Option<EndpointRecord> {
    record(row).inspect_err(|error| tracing::error!(%error, "a webhook cannot be read")).ok()
}

fn endpoint(model: &Model) -> Result<Endpoint> {
    let impossible = |what| impossible(model, what);
    let types: Vec<String> = serde_json::from_str(&model.types).map_err(|_| impossible("the types"))?;
    let settings = Settings {
        url: model.url.clone(),
        shape: model.shape.parse().map_err(|_| impossible("the shape"))?,
        profile: model.profile.parse().map_err(|_| impossible("the profile"))?,
        set_for: match &model.set_for {
            Some(set_for) => Some(set_for.parse().map_err(|_| impossible("what it is set for"))?),
            None => None,
        },
        // A type that a later version added is unknown here: nothing of it is in the log.
        types: types.iter().filter_map(|word| word.parse().ok()).collect(),
        channels: serde_json::from_str(&model.channels).map_err(|_| impossible("the channels"))?,
        max_in_flight: u8::try_from(model.max_in_flight).map_err(|_| impossible("max_in_flight"))?,
        batch: u8::try_from(model.batch).map_err(|_| impossible("the batch"))?,
        masks_numbers: model.masks != 0,
    };
    let (health, created_at) = (health(model)?, Timestamp::from_millis(model.created_at));
    Ok(Endpoint { id: model.id, company_id: model.company_id, settings, health, created_at })
}

fn health(model: &Model) -> Result<Health> {
    Ok(Health {
        failures: u32::try_from(model.failures).unwrap_or(u32::MAX),
        failing_since: model.failing_since.map(Timestamp::from_millis),
        failed_at: model.failed_at.map(Timestamp::from_millis),
        state: state(model).ok_or_else(|| impossible(model, "the state"))?,
    })
}

fn secrets(model: Model) -> EndpointSecrets {
    let Model { headers, secret, former_secret, former_until, .. } = model;
    EndpointSecrets { headers, secret, former: former_secret.zip(former_until.map(Timestamp::from_millis)) }
}

/// The state of an endpoint; `None` for a cause that this program never wrote.
fn state(model: &Model) -> Option<State> {
    let Some(cause) = &model.cause else { return Some(State::Enabled) };
    let cause: Cause = cause.parse().ok()?;
    Some(State::Disabled { cause, since: Timestamp::from_millis(model.cause_since?) })
}

fn impossible(model: &Model, what: &str) -> Error {
    Error::Impossible(format!("{what} of the webhook {}", model.id))
}
