//! The sends: some to all contacts with the tag, others to one number each, at the pace of their channel.
//!
//! A send without a clear answer, because the service was killed or busy, is repeated under the same
//! idempotency key until it is answered 202. Only then do its messages count as promised.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};
use simulator::Simulator;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::MissedTickBehavior;
use uuid::Uuid;

use crate::channel::Channel;
use crate::service::Service;

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(15);
/// The wait before a send is repeated.
const AGAIN: Duration = Duration::from_millis(200);
/// Tag sends that may be outstanding on a channel before the next one waits for its turn.
const OUTSTANDING: u64 = 3;

/// All tasks that send.
pub(crate) struct Traffic {
    tasks: JoinSet<()>,
    undecided: Arc<AtomicU64>,
}

/// What a task needs to send through one channel.
#[derive(Clone)]
struct Sender {
    client: reqwest::Client,
    url: watch::Receiver<String>,
    key: String,
    tag: String,
    contacts: u64,
    channel: Arc<Channel>,
    end: Instant,
    undecided: Arc<AtomicU64>,
}

impl Traffic {
    /// Sends through all channels until `end`.
    pub(crate) async fn start(
        service: &Service,
        channels: &[Arc<Channel>],
        simulator: &Arc<Simulator>,
        end: Instant,
    ) -> anyhow::Result<Self> {
        let client = reqwest::Client::builder().timeout(PATIENCE).build()?;
        let url = service.url();
        let tag = tag(&client, &url, &service.key).await?;
        let undecided = Arc::new(AtomicU64::new(0));
        let mut tasks = JoinSet::new();
        for channel in channels {
            let sender = Sender {
                client: client.clone(),
                url: url.clone(),
                key: service.key.clone(),
                tag: tag.clone(),
                contacts: service.contacts.len() as u64,
                channel: Arc::clone(channel),
                end,
                undecided: Arc::clone(&undecided),
            };
            tasks.spawn(sender.clone().bulk(Arc::clone(simulator)));
            tasks.spawn(sender.single());
        }
        Ok(Self { tasks, undecided })
    }

    /// Waits until every started send is answered, at the latest until `deadline`. Returns the number of
    /// sends without an answer.
    pub(crate) async fn finish(mut self, deadline: Instant) -> u64 {
        let all = async { while self.tasks.join_next().await.is_some() {} };
        let in_time = tokio::time::timeout_at(deadline.into(), all).await;
        drop(in_time);
        self.undecided.load(Ordering::Relaxed)
    }
}

async fn tag(client: &reqwest::Client, url: &watch::Receiver<String>, key: &str) -> anyhow::Result<String> {
    let request = client.get(format!("{}/api/v1/contacts/tags", url.borrow().as_str())).bearer_auth(key);
    let tags: Value = request.send().await?.json().await?;
    let everyone = tags["data"].as_array().and_then(|tags| tags.iter().find(|tag| tag["name"] == "everyone"));
    let id = everyone.and_then(|tag| tag["id"].as_str());
    id.map(str::to_owned).with_context(|| format!("the tag is not there: {tags}"))
}

impl Sender {
    /// Sends to the tag, while not too many sends are outstanding.
    async fn bulk(self, simulator: Arc<Simulator>) {
        let mut ticks = self.ticks(self.channel.plan.bulk_every);
        while Instant::now() < self.end {
            ticks.tick().await;
            let arrived = self.channel.figures(&simulator).messages;
            if self.channel.promised().saturating_sub(arrived) >= OUTSTANDING * self.contacts {
                continue;
            }
            let body = json!({ "type": "text", "message": "to everyone", "contact_tag_id": self.tag });
            if self.send(&body, self.contacts).await {
                self.channel.promise_bulk();
            }
        }
    }

    /// Sends to one new number after the other.
    async fn single(self) {
        let mut ticks = self.ticks(self.channel.plan.single_every);
        let mut number = self.channel.plan.first_single;
        while Instant::now() < self.end {
            ticks.tick().await;
            let body = json!({ "type": "text", "message": "to you", "phone_number": format!("+{number}") });
            if self.send(&body, 1).await {
                self.channel.promise_single(number);
            }
            number += 1;
        }
    }

    fn ticks(&self, every: Duration) -> tokio::time::Interval {
        let mut ticks = tokio::time::interval(every);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        ticks
    }

    /// Repeats a send until it is answered 202; false if it is refused permanently.
    async fn send(&self, body: &Value, recipients: u64) -> bool {
        let name = Uuid::now_v7().to_string();
        self.undecided.fetch_add(1, Ordering::Relaxed);
        loop {
            match self.attempt(&name, body, recipients).await {
                Ok(is_accepted) => {
                    self.undecided.fetch_sub(1, Ordering::Relaxed);
                    return is_accepted;
                }
                Err(_) => tokio::time::sleep(AGAIN).await,
            }
        }
    }

    /// One attempt; an error is no clear answer.
    async fn attempt(&self, name: &str, body: &Value, recipients: u64) -> anyhow::Result<bool> {
        let url = format!("{}/api/v1/chat/{}/messages", self.url.borrow().as_str(), self.channel.id);
        let request = self.client.post(url).bearer_auth(&self.key).header("Idempotency-Key", name);
        let answer = request.json(body).send().await?;
        let status = answer.status();
        // The service is busy, or the channel is not connected at the moment: try later.
        ensure!(status.is_success() || status == 422, "{status}");
        let said: Value = answer.json().await?;
        Ok(said["recipients_count"] == recipients)
    }
}
