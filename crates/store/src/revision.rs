//! Revisions: counters that tell a running service that another process changed something.
//!
//! A change of one of the topics raises its counter in the same transaction. A service polls the counters, and reads a
//! topic again when its counter rose.

use sea_orm::{ConnectionTrait, FromQueryResult, Statement};

use super::{Error, Result, Store, Transaction};

/// The topics that another process can change while a service runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Topic {
    ApiKey,
    Channel,
    Suppression,
    Template,
    Tier,
    Webhook,
}

impl Topic {
    const fn as_str(self) -> &'static str {
        match self {
            Self::ApiKey => "api_key",
            Self::Channel => "channel",
            Self::Suppression => "suppression",
            Self::Template => "template",
            Self::Tier => "tier",
            Self::Webhook => "webhook",
        }
    }
}

/// The present counters.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Revisions {
    /// Raised when an API key is added or revoked.
    pub api_key: i64,
    /// Raised when a channel is added or changed.
    pub channel: i64,
    /// Raised when a recipient is suppressed, or a suppression ends.
    pub suppression: i64,
    /// Raised when a template is added or changed.
    pub template: i64,
    /// Raised when tiers are applied.
    pub tier: i64,
    /// Raised when a person adds, changes or removes a webhook endpoint.
    pub webhook: i64,
}

/// Raises `topic` and returns its new value. The counter's row stays locked until `transaction` ends, so that values
/// become visible in order.
pub(super) async fn bump(transaction: &Transaction, topic: Topic) -> Result<i64> {
    let statement = Statement::from_sql_and_values(
        transaction.get_database_backend(),
        "UPDATE revision SET value = value + 1 WHERE topic = $1 RETURNING value",
        [topic.as_str().into()],
    );
    let row = transaction.query_one_raw(statement).await?;
    let row = row.ok_or_else(|| Error::Impossible(format!("no revision `{}`", topic.as_str())))?;
    Ok(row.try_get("", "value")?)
}

#[derive(FromQueryResult)]
struct Counter {
    topic: String,
    value: i64,
}

impl Store {
    /// All counters, in one query.
    pub async fn revisions(&self) -> Result<Revisions> {
        let mut revisions = Revisions::default();
        for row in self.rows("SELECT topic, value FROM revision", []).await? {
            let counter = Counter::from_query_result(&row, "")?;
            match counter.topic.as_str() {
                "api_key" => revisions.api_key = counter.value,
                "channel" => revisions.channel = counter.value,
                "suppression" => revisions.suppression = counter.value,
                "template" => revisions.template = counter.value,
                "tier" => revisions.tier = counter.value,
                "webhook" => revisions.webhook = counter.value,
                // Of a later program.
                _ => {}
            }
        }
        Ok(revisions)
    }
}
