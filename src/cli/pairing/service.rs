//! A running service, asked about the pairing of one channel.

use reqwest::Method;
use serde_json::Value;
use uuid::Uuid;

use crate::cli::remote::Remote;

pub(in crate::cli) struct Service {
    remote: Remote,
    channel: Uuid,
}

impl Service {
    /// The service, with a key of the company that has the channel.
    pub(in crate::cli) const fn new(remote: Remote, channel: Uuid) -> Self {
        Self { remote, channel }
    }

    pub(super) const fn channel(&self) -> Uuid {
        self.channel
    }

    /// Sends a request about the pairing and returns its state, with the errors of [`Remote::ask`].
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
        let path = format!("/api/v1/web-chat/{}/pairing{below}", self.channel);
        let request = self.remote.request(method, &path);
        self.remote.ask(if let Some(body) = body { request.json(&body) } else { request }).await
    }
}
