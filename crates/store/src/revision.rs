//! Revisions: counters that tell a running service that another process changed something.
//!
//! A change of one of the topics raises its counter in the same transaction. A service polls the counters, and reads a
//! topic again when its counter rose.

use super::{Error, Result, Store, Transaction, fetch, fetch_one};

domain::worded! {
    /// The topics that another process can change while a service runs.
    pub(super) enum Topic {
        ApiKey = "api_key",
        Channel = "channel",
        Suppression = "suppression",
        Template = "template",
        Tier = "tier",
        Webhook = "webhook",
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
            match topic.parse::<Topic>() {
                Ok(Topic::ApiKey) => revisions.api_key = value,
                Ok(Topic::Channel) => revisions.channel = value,
                Ok(Topic::Suppression) => revisions.suppression = value,
                Ok(Topic::Template) => revisions.template = value,
                Ok(Topic::Tier) => revisions.tier = value,
                Ok(Topic::Webhook) => revisions.webhook = value,
                // Of a later program.
                Err(_) => {}
            }
        }
        Ok(revisions)
    }
}
