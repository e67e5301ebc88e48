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

use sea_orm::QueryResult;
use uuid::Uuid;

pub use self::deliveries::{DELIVERIES_KEPT, Delivery, MOST_DELIVERIES};
pub use self::edit::{Changing, HeadersChange, MOST_ENDPOINTS, NewEndpoint};
pub use self::lag::EndpointLag;
pub use self::replay::{MOST_GIVEN_UP, Replaying, StoredReplay};
pub use self::standing::{EndpointStanding, StoredRetry, Write};
use crate::nouns::{AllWebhooks, Webhooks};
use crate::{Error, Result, fetch_one, moment};
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

const COLUMNS: &str = "id, company_id, url, shape, profile, set_for, types, channels, max_in_flight, batch, masks, cause, \
                       cause_since, failures, failing_since, failed_at, created_at";
const SECRETS: &str = "headers, secret, former_secret, former_until";
const REPLAY: &str =
    "resumed, mended, (SELECT id FROM webhook_replay WHERE endpoint_id = webhook_endpoint.id) AS replay";

impl Webhooks<'_> {
    /// The company's endpoints, the oldest first.
    pub async fn list(self) -> Result<Vec<Endpoint>> {
        let sql = format!("SELECT {COLUMNS} FROM webhook_endpoint WHERE company_id = $1 ORDER BY id");
        self.store.rows(sql, [self.company.into()]).await?.iter().map(endpoint).collect()
    }

    /// The company's endpoints with their secrets, the oldest first.
    pub async fn records(self) -> Result<Vec<EndpointRecord>> {
        let sql = format!(
            "SELECT {COLUMNS}, {SECRETS}, {REPLAY} FROM webhook_endpoint WHERE company_id = $1 ORDER BY id"
        );
        self.store.rows(sql, [self.company.into()]).await?.iter().map(record).collect()
    }

    /// The endpoint of this id, if it is the company's.
    pub async fn find(self, id: Uuid) -> Result<Option<Endpoint>> {
        let sql = format!("SELECT {COLUMNS} FROM webhook_endpoint WHERE id = $1 AND company_id = $2");
        let row = self.store.row(sql, [id.into(), self.company.into()]).await?;
        row.as_ref().map(endpoint).transpose()
    }

    /// The secrets of an endpoint, if it is the company's.
    pub async fn secrets(self, id: Uuid) -> Result<Option<EndpointSecrets>> {
        let sql = format!("SELECT {SECRETS} FROM webhook_endpoint WHERE id = $1 AND company_id = $2");
        let row = self.store.row(sql, [id.into(), self.company.into()]).await?;
        row.as_ref().map(secrets).transpose()
    }
}

impl AllWebhooks<'_> {
    /// The enabled endpoints of all companies, without rows that this program cannot read.
    pub async fn enabled(self) -> Result<Vec<EndpointRecord>> {
        let sql = format!(
            "SELECT {COLUMNS}, {SECRETS}, {REPLAY} FROM webhook_endpoint WHERE cause IS NULL ORDER BY id"
        );
        let mut records = self.store.rows(sql, []).await?.iter().filter_map(readable).collect::<Vec<_>>();
        self.reach(&mut records).await?;
        Ok(records)
    }

    /// How many endpoints of all companies get no events.
    pub async fn idle(self) -> Result<IdleEndpoints> {
        let sql = "SELECT count(*), count(CASE WHEN cause = 'person' THEN 1 END) FROM webhook_endpoint WHERE cause IS NOT NULL";
        let (all, by_person): (i64, i64) = fetch_one(&self.store.read, sql, []).await?.unwrap_or_default();
        Ok(IdleEndpoints { disabled: by_person.unsigned_abs(), stopped: (all - by_person).unsigned_abs() })
    }

    /// The endpoint of this id, enabled or not.
    pub async fn find(self, id: Uuid) -> Result<Option<EndpointRecord>> {
        let sql = format!("SELECT {COLUMNS}, {SECRETS}, {REPLAY} FROM webhook_endpoint WHERE id = $1");
        let row = self.store.row(sql, [id.into()]).await?;
        row.as_ref().map(record).transpose()
    }
}

fn record(row: &QueryResult) -> Result<EndpointRecord> {
    Ok(EndpointRecord {
        endpoint: endpoint(row)?,
        secrets: secrets(row)?,
        replay: row.try_get("", "replay")?,
        resumed: row.try_get("", "resumed")?,
        mended: row.try_get("", "mended")?,
        reach: GraphReach::default(),
    })
}

/// A record, if this program can read it: one that it cannot read stops no other one.
fn readable(row: &QueryResult) -> Option<EndpointRecord> {
    record(row).inspect_err(|error| tracing::error!(%error, "a webhook cannot be read")).ok()
}

/// Reads a row of [`COLUMNS`].
fn endpoint(row: &QueryResult) -> Result<Endpoint> {
    let id: Uuid = row.try_get("", "id")?;
    let impossible = |what: &str| Error::Impossible(format!("{what} of the webhook {id}"));
    let text = |column: &str| row.try_get::<String>("", column);
    let number = |column: &str| row.try_get::<i16>("", column);
    let (set_for, cause): (Option<String>, Option<String>) =
        (row.try_get("", "set_for")?, row.try_get("", "cause")?);
    let types: Vec<String> = serde_json::from_str(&text("types")?).map_err(|_| impossible("the types"))?;
    let settings = Settings {
        url: text("url")?,
        shape: text("shape")?.parse().map_err(|_| impossible("the shape"))?,
        profile: text("profile")?.parse().map_err(|_| impossible("the profile"))?,
        set_for: match set_for {
            Some(set_for) => Some(set_for.parse().map_err(|_| impossible("what it is set for"))?),
            None => None,
        },
        // A type that a later version added is unknown here: nothing of it is in the log.
        types: types.iter().filter_map(|word| word.parse().ok()).collect(),
        channels: serde_json::from_str(&text("channels")?).map_err(|_| impossible("the channels"))?,
        max_in_flight: u8::try_from(number("max_in_flight")?).map_err(|_| impossible("max_in_flight"))?,
        batch: u8::try_from(number("batch")?).map_err(|_| impossible("the batch"))?,
        masks_numbers: number("masks")? != 0,
    };
    let state = state(cause.as_deref(), row.try_get("", "cause_since")?);
    let health = Health {
        failures: u32::try_from(row.try_get::<i64>("", "failures")?).unwrap_or(u32::MAX),
        failing_since: moment(row, "failing_since")?,
        failed_at: moment(row, "failed_at")?,
        state: state.ok_or_else(|| impossible("the state"))?,
    };
    let created_at = Timestamp::from_millis(row.try_get("", "created_at")?);
    Ok(Endpoint { id, company_id: row.try_get("", "company_id")?, settings, health, created_at })
}

/// Reads a row of [`SECRETS`].
fn secrets(row: &QueryResult) -> Result<EndpointSecrets> {
    let former: Option<Vec<u8>> = row.try_get("", "former_secret")?;
    Ok(EndpointSecrets {
        headers: row.try_get("", "headers")?,
        secret: row.try_get("", "secret")?,
        former: former.zip(moment(row, "former_until")?),
    })
}

/// The state of an endpoint that is disabled for this cause; `None` for a cause that this program never wrote.
fn state(cause: Option<&str>, since: Option<i64>) -> Option<State> {
    let Some(cause) = cause else { return Some(State::Enabled) };
    let cause: Cause = cause.parse().ok()?;
    Some(State::Disabled { cause, since: Timestamp::from_millis(since?) })
}
