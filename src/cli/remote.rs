//! A running service, asked over HTTP as any program of the company asks it, and the key for that.

use std::time::Duration;

use anyhow::Context as _;
use reqwest::{Client, Method, RequestBuilder, Response};
use serde_json::Value;
use uuid::Uuid;

use super::session::Session;
use crate::clock::Timestamp;
use crate::connector::http;
use crate::domain::scope::{Scope, Scopes};
use crate::domain::secret::Secret;
use crate::store::api_keys::NewKey;
use crate::vault::api_key;

/// The timeout of a request; unlinking waits for WhatsApp.
const PATIENCE: Duration = Duration::from_secs(60);

/// A service and a key of a company.
pub(super) struct Remote {
    client: Client,
    base_url: String,
    key: Secret,
}

/// No service answers at this address.
#[derive(Debug, thiserror::Error)]
#[error("no service answers at {0}: start it with `pombo serve`, or give its address with --url")]
pub(super) struct Unanswered(String);

/// The service refused a request.
#[derive(Debug, thiserror::Error)]
#[error("{url} answered {status}: {said}")]
pub(super) struct Declined {
    url: String,
    pub(super) status: u16,
    said: String,
    /// The whole answer.
    pub(super) body: Value,
}

impl Remote {
    pub(super) fn new(base_url: &str, key: Secret) -> anyhow::Result<Self> {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = http::direct().timeout(PATIENCE).build().context("cannot make an HTTP client")?;
        Ok(Self { client, base_url: base_url.trim_end_matches('/').to_owned(), key })
    }

    /// A request to a path, with the key.
    pub(super) fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.client.request(method, format!("{}{path}", self.base_url)).bearer_auth(self.key.expose())
    }

    /// Carries a request out; the error is [`Unanswered`] when there is no answer, and [`Declined`] when it is no success.
    pub(super) async fn carry(&self, request: RequestBuilder) -> anyhow::Result<Response> {
        let answer = request.send().await.map_err(|_| Unanswered(self.base_url.clone()))?;
        let status = answer.status();
        if status.is_success() {
            return Ok(answer);
        }
        let body: Value = answer.json().await.unwrap_or_default();
        let said = body["error"].as_str().or(body["message"].as_str()).unwrap_or("no reason was given");
        Err(Declined { url: self.base_url.clone(), status: status.as_u16(), said: said.to_owned(), body }
            .into())
    }

    /// The JSON of an answer; as [`Remote::carry`].
    pub(super) async fn ask(&self, request: RequestBuilder) -> anyhow::Result<Value> {
        Ok(self.carry(request).await?.json().await.unwrap_or_default())
    }

    /// The JSON at a path; as [`Remote::carry`].
    pub(super) async fn get(&self, path: &str) -> anyhow::Result<Value> {
        self.ask(self.request(Method::GET, path)).await
    }
}

/// A key that a command makes for itself. A person who can run commands can open the database anyway.
pub(super) struct OwnKey(Uuid);

impl OwnKey {
    /// Adds a key of a company that is valid for this long if it is not revoked, and a service that is asked with it.
    pub(super) async fn add(
        session: &Session,
        (company, base_url): (Uuid, &str),
        name: &str,
        scopes: &[Scope],
        span: Duration,
    ) -> anyhow::Result<(Self, Remote)> {
        let (key, prefix) = api_key::generate();
        let hash = api_key::hash(key.expose());
        let remote = Remote::new(base_url, key)?;
        let new = NewKey {
            name,
            prefix: &prefix,
            hash,
            expires_at: Some(Timestamp::now().plus(span)),
            scopes: Scopes::from_iter(scopes.iter().copied()),
        };
        let id = session.app.store.of(company).keys().add(&session.who(), new).await?.id;
        Ok((Self(id), remote))
    }

    /// Revokes the key, when the command ends.
    pub(super) async fn revoke(self, session: &Session) {
        if let Err(error) = session.app.store.keys().revoke(&session.who(), self.0).await {
            tracing::warn!(%error, "the key of this command could not be revoked; it expires by itself");
        }
    }
}
