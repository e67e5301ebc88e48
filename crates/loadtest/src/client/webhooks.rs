//! Webhook endpoints and the log of events, as a client uses them.

use anyhow::{Context as _, bail};
use reqwest::StatusCode;
use serde::Deserialize;
use serde_json::{Value, json};
use uuid::Uuid;

use super::{Service, id};
use domain::secret::Secret;

/// Events of one answer.
const EVENTS: u64 = 1_000;
/// The events that a load test reads.
pub(crate) const TYPES: [&str; 2] = ["message.*", "send.*"];

/// A part of a company's log of events.
#[derive(Debug, Deserialize)]
pub(crate) struct LogPart {
    pub(crate) data: Vec<LoggedEvent>,
    pub(crate) next_cursor: String,
    pub(crate) has_more: bool,
}

/// An event of the log.
#[derive(Debug, Deserialize)]
pub(crate) struct LoggedEvent {
    pub(crate) id: String,
}

impl Service {
    /// Adds a webhook endpoint; its id and its secret.
    pub(crate) async fn add_webhook(&self, settings: &Value) -> anyhow::Result<(Uuid, Secret)> {
        let url = format!("{}/api/v1/webhooks", self.base_url());
        let answer = self.client.post(url).bearer_auth(self.key.expose()).json(settings).send().await;
        let answer = answer.with_context(|| format!("no answer from {}", self.base_url()))?;
        let status = answer.status();
        let body: Value = answer.json().await.unwrap_or_default();
        let said = body["error"].as_str().unwrap_or("without a sentence");
        match status {
            StatusCode::CREATED => {
                let secret = body["secret"].as_str().context("a new webhook endpoint has no secret")?;
                Ok((id(&body["id"])?, Secret::new(secret.to_owned())))
            }
            StatusCode::NOT_FOUND => bail!(
                "the service at {} has no webhooks, so it is an older version: leave --webhooks out",
                self.base_url()
            ),
            StatusCode::FORBIDDEN => {
                bail!("--webhooks needs a key with the scopes send, read, contacts and events: {said}")
            }
            _ => bail!(
                "{} refuses {} as the address of a webhook endpoint with {status}: {said}",
                self.base_url(),
                settings["url"].as_str().unwrap_or_default()
            ),
        }
    }

    /// Has the service send an example of an event to the endpoint. The error says why it did not arrive.
    pub(crate) async fn test_webhook(&self, endpoint: Uuid) -> anyhow::Result<()> {
        let url = format!("{}/api/v1/webhooks/{endpoint}/test", self.base_url());
        let request = self.client.post(url).bearer_auth(self.key.expose());
        let tested = self.json(request.json(&json!({ "type": "message.sent" }))).await?;
        if tested["is_delivered"] == true {
            return Ok(());
        }
        let fault = tested["fault"].as_str().unwrap_or("there was no answer");
        bail!("an example of an event did not reach the load test's receiver: {fault}")
    }

    /// Deletes a webhook endpoint. One that is gone is no error.
    pub(crate) async fn delete_webhook(&self, endpoint: Uuid) -> anyhow::Result<()> {
        let url = format!("{}/api/v1/webhooks/{endpoint}", self.base_url());
        let answer = self.client.delete(url).bearer_auth(self.key.expose()).send().await;
        let answer = answer.with_context(|| format!("no answer from {}", self.base_url()))?;
        match answer.status() {
            StatusCode::NO_CONTENT | StatusCode::NOT_FOUND => Ok(()),
            status => bail!("{} answered {status}", self.base_url()),
        }
    }

    /// The end of the log of events: a cursor for [`Self::events_after`].
    pub(crate) async fn end_of_events(&self) -> anyhow::Result<String> {
        let answer = self.json(self.get("/api/v1/events?after=latest&limit=1")).await?;
        let cursor = answer["next_cursor"].as_str().context("the log of events has no cursor")?;
        Ok(cursor.to_owned())
    }

    /// A part of the log of events.
    pub(crate) async fn events_after(&self, cursor: &str) -> anyhow::Result<LogPart> {
        let types = TYPES.join(",");
        let path = format!("/api/v1/events?after={cursor}&types={types}&limit={EVENTS}");
        let answer = self.json(self.get(&path)).await?;
        serde_json::from_value(answer).context("the log of events cannot be read")
    }
}
