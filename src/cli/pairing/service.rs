//! A running service, asked about the pairing of one channel.

use std::time::Duration;

use anyhow::{Context as _, bail};
use reqwest::{Client, Method};
use serde_json::Value;
use uuid::Uuid;

use crate::connector::http;
use crate::domain::secret::Secret;

/// The timeout of a request; unlinking waits for WhatsApp.
const PATIENCE: Duration = Duration::from_secs(60);

pub(in crate::cli) struct Service {
    client: Client,
    base_url: String,
    key: Secret,
    channel: Uuid,
}

/// No service answers at this address.
#[derive(Debug, thiserror::Error)]
#[error("no service answers at {0}: start it with `pombo serve`, or give its address with --url")]
pub(in crate::cli) struct Unanswered(String);

impl Service {
    /// The service at this address, and a key of the company that has the channel.
    pub(in crate::cli) fn new(base_url: &str, key: Secret, channel: Uuid) -> anyhow::Result<Self> {
        let client = http::direct().timeout(PATIENCE).build().context("cannot make an HTTP client")?;
        let base_url = base_url.trim_end_matches('/').to_owned();
        Ok(Self { client, base_url, key, channel })
    }

    pub(super) fn channel(&self) -> Uuid {
        self.channel
    }

    /// Sends a request about the pairing and returns its state; the error is [`Unanswered`] when there is no
    /// answer.
    pub(in crate::cli) async fn ask(&self, method: Method, body: Option<Value>) -> anyhow::Result<Value> {
        self.ask_at("", method, body).await
    }

    /// Like [`Service::ask`], for a path `below` the path of the pairing.
    pub(super) async fn ask_at(
        &self,
        below: &str,
        method: Method,
        body: Option<Value>,
    ) -> anyhow::Result<Value> {
        let url = format!("{}/api/v1/web-chat/{}/pairing{below}", self.base_url, self.channel);
        let mut request = self.client.request(method, url).bearer_auth(self.key.expose());
        if let Some(body) = body {
            request = request.json(&body);
        }
        let answer = request.send().await.map_err(|_| Unanswered(self.base_url.clone()))?;
        let status = answer.status();
        let body: Value = answer.json().await.unwrap_or_default();
        if !status.is_success() {
            let said = body["error"].as_str().or(body["message"].as_str()).unwrap_or("no reason was given");
            bail!("{} answered {status}: {said}", self.base_url);
        }
        Ok(body)
    }
}
