//! The HTTP client with which a load test uses the service.

mod webhooks;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context as _, anyhow, bail};
use reqwest::header::CONTENT_TYPE;
use reqwest::{Client, RequestBuilder, StatusCode};
use serde_json::Value;
use uuid::Uuid;

pub(super) use self::webhooks::TYPES as EVENT_TYPES;
use domain::message::State;
use domain::secret::Secret;

/// The timeout of an answer. A slower answer counts as unclear.
const PATIENCE: Duration = Duration::from_secs(60);
/// How long a service may take to learn a channel's templates, and the pause between two looks.
const TEMPLATES: Duration = Duration::from_secs(30);
const PAUSE: Duration = Duration::from_millis(100);
/// How long nodes may take until one of them runs a channel.
const OWNER: Duration = Duration::from_secs(10);
/// The maximum number of single sends at once, each with a connection. A send that is due while all are in use
/// waits, which counts in its latency.
pub(super) const CONNECTIONS: usize = 256;
/// Records of one page.
const PAGE: u64 = 1_000;
/// The states of messages that were handed to the provider. Each of these messages has an event.
const HANDED_OVER: [State; 5] = [State::Unknown, State::Sent, State::Failed, State::Delivered, State::Read];

/// A service and one of its keys. Clones share its connections.
#[derive(Debug, Clone)]
pub(super) struct Service {
    client: Client,
    /// Its nodes; at least one. Sends go to them in turns, questions to the first.
    base_urls: Arc<[String]>,
    turn: Arc<AtomicUsize>,
    key: Secret,
}

/// The outcome of a send.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Answer {
    /// 202.
    Accepted { send_id: Uuid, recipients: u64 },
    /// The send was not accepted.
    Refused { status: u16, code: String },
    /// Whether the send was accepted is unknown.
    Unclear(String),
}

/// A record with an id and a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Named {
    pub(super) id: Uuid,
    pub(super) name: String,
}

/// The service's counts of a send's messages.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) failed: u64,
    pub(super) canceled: u64,
    pub(super) unfinished: u64,
    pub(super) unknown: u64,
}

/// A send as the service lists it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sent {
    pub(super) id: Uuid,
    pub(super) counts: Counts,
    pub(super) is_over: bool,
    /// Its messages that were handed to the provider, by their states.
    pub(super) handed_over: [(State, u64); HANDED_OVER.len()],
}

impl Service {
    /// A client with connections of its own. There is at least one node.
    pub(super) fn new(base_urls: &[String], key: Secret) -> anyhow::Result<Self> {
        let client = Client::builder()
            .no_proxy()
            .user_agent(concat!("pombo-loadtest/", env!("CARGO_PKG_VERSION")))
            .timeout(PATIENCE)
            .pool_max_idle_per_host(CONNECTIONS)
            .tcp_nodelay(true)
            .build()
            .context("cannot make an HTTP client")?;
        let base_urls = base_urls.iter().map(|url| url.trim_end_matches('/').to_owned()).collect();
        Ok(Self { client, base_urls, turn: Arc::default(), key })
    }

    /// The address of the first node.
    pub(super) fn base_url(&self) -> &str {
        self.base_urls.first().map_or("", String::as_str)
    }

    /// Each node by itself.
    pub(super) fn nodes(&self) -> Vec<Self> {
        let alone = |url: &String| Self { base_urls: [url.clone()].into(), ..self.clone() };
        self.base_urls.iter().map(alone).collect()
    }

    /// The node whose turn it is.
    fn next_url(&self) -> &str {
        let turn = self.turn.fetch_add(1, Ordering::Relaxed);
        self.base_urls.get(turn % self.base_urls.len().max(1)).map_or("", String::as_str)
    }

    fn get(&self, path: &str) -> RequestBuilder {
        self.client.get(format!("{}{path}", self.base_url())).bearer_auth(self.key.expose())
    }

    async fn json(&self, request: RequestBuilder) -> anyhow::Result<Value> {
        let answer = request.send().await.with_context(|| format!("no answer from {}", self.base_url()))?;
        let status = answer.status();
        let body: Value = answer.json().await.unwrap_or_default();
        if !status.is_success() {
            let said = body["error"].as_str().unwrap_or("without a sentence");
            bail!("{} answered {status}: {said}", self.base_url());
        }
        Ok(body)
    }

    /// Requests a send through this channel.
    pub(super) async fn send(&self, channel: Uuid, body: Vec<u8>) -> Answer {
        let url = format!("{}/api/v1/chat/{channel}/messages", self.next_url());
        let request = self.client.post(url).bearer_auth(self.key.expose());
        let sent = request.header(CONTENT_TYPE, "application/json").body(body).send().await;
        let answer = match sent {
            Ok(answer) => answer,
            Err(error) if error.is_connect() => {
                return Answer::Refused { status: 0, code: "no_connection".to_owned() };
            }
            Err(error) => return Answer::Unclear(cause(&error).to_owned()),
        };
        let status = answer.status();
        match answer.json::<Value>().await {
            Err(error) => Answer::Unclear(cause(&error).to_owned()),
            Ok(body) => read(status, &body),
        }
    }

    /// The connected business channels of the key's company.
    pub(super) async fn channels(&self) -> anyhow::Result<Vec<Named>> {
        self.named("/api/v1/chat", |record| record["status"] == "connected").await
    }

    /// The tags of the key's company that have contacts.
    pub(super) async fn tags(&self) -> anyhow::Result<Vec<Named>> {
        self.named("/api/v1/contacts/tags", |record| record["_count"]["contact_tag"] != 0).await
    }

    async fn named(&self, path: &str, is_wanted: fn(&Value) -> bool) -> anyhow::Result<Vec<Named>> {
        let mut all = Vec::new();
        for page in 1.. {
            let answer = self.json(self.get(&format!("{path}?limit={PAGE}&page={page}"))).await?;
            let records = answer["data"].as_array().context("the list has no data: is this Pombo?")?;
            for record in records.iter().filter(|record| is_wanted(record)) {
                all.push(Named {
                    id: id(&record["id"])?,
                    name: record["name"].as_str().unwrap_or_default().to_owned(),
                });
            }
            if answer["totalPages"].as_u64().is_none_or(|pages| page >= pages) {
                break;
            }
        }
        Ok(all)
    }

    /// The limits of a channel, from `GET …/limits` of the node that runs it: nodes without a connection between them
    /// cannot ask each other. A channel that no node runs yet is waited for.
    pub(super) async fn limits(&self, channel: Uuid) -> anyhow::Result<Value> {
        let deadline = Instant::now() + OWNER;
        loop {
            let mut last = None;
            for node in self.nodes() {
                match node.json(node.get(&format!("/api/v1/chat/{channel}/limits"))).await {
                    Ok(limits) => return Ok(limits),
                    Err(error) => last = Some(error),
                }
            }
            if let Some(error) = last.filter(|_| Instant::now() >= deadline) {
                return Err(error);
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// The id of a channel's approved template of this name, once the service knows it.
    pub(super) async fn template(&self, channel: Uuid, name: &str) -> anyhow::Result<u64> {
        let deadline = Instant::now() + TEMPLATES;
        loop {
            let listed = self
                .json(self.get(&format!("/api/v1/chat/{channel}/templates?search={name}&limit={PAGE}")))
                .await?;
            let mut records = listed["data"].as_array().into_iter().flatten();
            if let Some(id) =
                records.find(|record| record["name"] == name).and_then(|record| record["id"].as_u64())
            {
                return Ok(id);
            }
            if Instant::now() >= deadline {
                bail!("there is no template {name}");
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// Whether a send is over.
    pub(super) async fn is_over(&self, send: Uuid) -> anyhow::Result<bool> {
        Ok(is_over(&self.json(self.get(&format!("/api/v1/sends/{send}"))).await?))
    }

    /// A page of the channel's sends, newest first, and the number of pages; with `state`, only sends in that state.
    pub(super) async fn sends(
        &self,
        channel: Uuid,
        state: Option<&str>,
        page: u64,
    ) -> anyhow::Result<(Vec<Sent>, u64)> {
        let state = state.map(|state| format!("&state={state}")).unwrap_or_default();
        let path = format!("/api/v1/sends?channel_id={channel}{state}&limit={PAGE}&page={page}");
        let answer = self.json(self.get(&path)).await?;
        let records = answer["data"].as_array().context("the list of sends has no data")?;
        let records = records.iter().map(sent).collect::<anyhow::Result<_>>()?;
        Ok((records, answer["totalPages"].as_u64().unwrap_or_default()))
    }

    /// Cancels a send; one that is over stays as it is.
    pub(super) async fn cancel(&self, send: Uuid) -> anyhow::Result<()> {
        let url = format!("{}/api/v1/sends/{send}/cancel", self.base_url());
        let answer = self.client.post(url).bearer_auth(self.key.expose()).send().await?;
        match answer.status() {
            StatusCode::OK | StatusCode::CONFLICT => Ok(()),
            status => Err(anyhow!("canceling a send was answered {status}")),
        }
    }

    /// The text of `/metrics`; `None` when the service shows none.
    pub(super) async fn metrics(&self) -> Option<String> {
        let answer = self.client.get(format!("{}/metrics", self.base_url())).send().await.ok()?;
        if answer.status().is_success() { answer.text().await.ok() } else { None }
    }
}

fn read(status: StatusCode, body: &Value) -> Answer {
    if status == StatusCode::ACCEPTED
        && let (Ok(send_id), Some(recipients)) = (id(&body["send_id"]), body["recipients_count"].as_u64())
    {
        return Answer::Accepted { send_id, recipients };
    }
    // A request that was answered 503 was not accepted; for other failures of the server this is unknown.
    if status.is_server_error() && status != StatusCode::SERVICE_UNAVAILABLE || status.is_success() {
        return Answer::Unclear(format!("status {}", status.as_u16()));
    }
    let code = body["code"].as_str().map_or_else(|| format!("status {}", status.as_u16()), str::to_owned);
    Answer::Refused { status: status.as_u16(), code }
}

fn cause(error: &reqwest::Error) -> &'static str {
    if error.is_timeout() { "time-out" } else { "broken connection" }
}

fn id(value: &Value) -> anyhow::Result<Uuid> {
    value.as_str().and_then(|text| Uuid::try_parse(text).ok()).with_context(|| format!("{value} is no id"))
}

fn is_over(record: &Value) -> bool {
    matches!(record["state"].as_str(), Some("finished" | "canceled" | "expired"))
}

fn sent(record: &Value) -> anyhow::Result<Sent> {
    let count = |state: &str| record["counts"][state].as_u64().unwrap_or_default();
    let counts = Counts {
        failed: count("failed") + count("expired") + count("suppressed"),
        canceled: count("canceled"),
        unfinished: count("queued") + count("sending"),
        unknown: count("unknown"),
    };
    let handed_over = HANDED_OVER.map(|state| (state, count(state.as_str())));
    Ok(Sent { id: id(&record["id"])?, counts, is_over: is_over(record), handed_over })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_answer_is_acceptance_refusal_or_unclear() {
        let send_id = Uuid::now_v7();
        let accepted = json!({ "send_id": send_id, "recipients_count": 3 });
        let code = json!({ "error": "too many", "code": "rate_limited" });
        for (status, body, expected) in [
            (202, &accepted, Answer::Accepted { send_id, recipients: 3 }),
            (429, &code, Answer::Refused { status: 429, code: "rate_limited".to_owned() }),
            (503, &json!({}), Answer::Refused { status: 503, code: "status 503".to_owned() }),
            (500, &code, Answer::Unclear("status 500".to_owned())),
            (202, &json!({}), Answer::Unclear("status 202".to_owned())),
        ] {
            assert_eq!(read(StatusCode::from_u16(status).unwrap(), body), expected);
        }
    }
}
