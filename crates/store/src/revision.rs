//! Revisions: counters that tell a running service that another process changed something.
//!
//! A change of one of the topics raises its counter in the same transaction. A service polls the counters, and reads a
//! topic again when its counter rose.

use super::{Error, Result, Store, Transaction, fetch, fetch_one};

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
    let sql = "UPDATE revision SET value = value + 1 WHERE topic = $1 RETURNING value";
    let value = fetch_one(transaction, sql, [topic.as_str().into()]).await?;
    value.ok_or_else(|| Error::Impossible(format!("no revision `{}`", topic.as_str())))
}

impl Store {
    /// All counters, in one query.
    pub async fn revisions(&self) -> Result<Revisions> {
        let mut revisions = Revisions::default();
        let counters = fetch::<(String, i64)>(&self.read, "SELECT topic, value FROM revision", []).await?;
        for (topic, value) in counters {
            match topic.as_str() {
                "api_key" => revisions.api_key = value,
                "channel" => revisions.channel = value,
                "suppression" => revisions.suppression = value,
                "template" => revisions.template = value,
                "tier" => revisions.tier = value,
                "webhook" => revisions.webhook = value,
                // Of a later program.
                _ => {}
            }
        }
        Ok(revisions)
    }
}
