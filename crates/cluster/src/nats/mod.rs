//! The carrier on NATS: a subject for each shard and name, below the service's own.
//!
//! `BASE.channel.SHARD.NAME` is a question when it has a reply subject, and a wake-up when it has none and its name is
//! [`WAKE`]. Only the owner of a shard subscribes to it, so the server itself reports a shard without an owner. Messages
//! are [sealed](envelope) and [fresh](fresh), because other users of the server may read and publish, too.

mod envelope;
mod fresh;
mod incoming;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use dashmap::DashMap;
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout_at};
use uuid::Uuid;

use self::envelope::{Answer, Envelope, MOST_BYTES, Question, Said, Wake};
use super::carrier::{Carrier, Link, NotCarried, Subscription};
use clock::Timestamp;
use connectors::nats::{Nats, NotConnected, Reply};
use vault::Vault;

/// The name of a wake-up.
const WAKE: &str = "wake";
/// The most requests that wait for a busy owner, for each shard. Further ones fail at once.
const WAITING: usize = 64;
/// How long an owner may take to tell its epoch, which it does at once. The server does not report a shard without an
/// owner while others, such as a tool that shows all messages, subscribe to everything.
const EPOCH_PATIENCE: Duration = Duration::from_secs(2);
/// The most owners' epochs that are kept, 32 bytes each; with more, all are asked for again.
const EPOCHS: usize = 100_000;
/// How often a question is repeated because its owner was in another epoch: the first time tells the epoch, and the
/// shard may move once more.
const ATTEMPTS: usize = 3;

/// Carries by NATS.
#[derive(Clone)]
pub struct NatsCarrier {
    nats: Nats,
    envelope: Envelope,
    /// The epochs of the shards' owners, as they last told.
    epochs: Arc<DashMap<Uuid, Uuid>>,
}

impl NatsCarrier {
    /// A carrier on this connection, between nodes that have the keys of this vault.
    pub fn new(nats: Nats, vault: Arc<Vault>) -> Self {
        let envelope = Envelope::new(vault, nats.base());
        Self { nats, envelope, epochs: Arc::default() }
    }

    /// Asks until the owner takes the question in its present epoch.
    ///
    /// Only the first message of a caller who does not know the epoch is without the body. What must be done once is
    /// asked in an epoch that was just told: an owner that then names another one may have taken the question before.
    async fn ask(
        &self,
        place: (Uuid, &str),
        body: &[u8],
        is_done_once: bool,
        until: Instant,
    ) -> Result<Vec<u8>, NotCarried> {
        let (shard, _) = place;
        let mut epoch = self.epochs.get(&shard).map(|epoch| *epoch).filter(|_| !is_done_once);
        for _ in 0..ATTEMPTS {
            let is_asked = epoch.is_some();
            let body = if is_asked { body.to_vec() } else { Vec::new() };
            let question =
                Question { epoch: epoch.unwrap_or_default(), id: Uuid::from_u128(rand::random()), body };
            let until = if is_asked { until } else { until.min(Instant::now() + EPOCH_PATIENCE) };
            let answer = match self.ask_once(place, &question, until).await {
                Ok(answer) => answer,
                // Nothing was asked yet.
                Err(NotCarried::Unanswered) if !is_asked => return Err(NotCarried::NoOwner),
                // Anybody can say in the server's place that nobody heard the question.
                Err(NotCarried::NoOwner) if is_done_once && is_asked => return Err(NotCarried::Unanswered),
                Err(error) => {
                    self.epochs.remove(&shard);
                    return Err(error);
                }
            };
            self.learn(shard, answer.epoch);
            match answer.said {
                Said::Body(body) => return Ok(body),
                Said::Failed => return Err(NotCarried::Unanswered),
                Said::NotHere => return Err(NotCarried::NoOwner),
                Said::OtherEpoch if is_asked && is_done_once => return Err(NotCarried::Unanswered),
                Said::OtherEpoch => epoch = Some(answer.epoch),
            }
        }
        Err(NotCarried::Unanswered)
    }

    /// Asks once, and waits for an answer of a node: what others say on its subject is not believed.
    async fn ask_once(
        &self,
        (shard, name): (Uuid, &str),
        question: &Question,
        until: Instant,
    ) -> Result<Answer, NotCarried> {
        let sealed = self.envelope.seal_question(shard, name, question);
        let asked = async {
            let mut replies = self.nats.ask(&subject(shard, name), sealed).await?;
            loop {
                match replies.next().await {
                    None => return Err(NotCarried::Unanswered),
                    Some(Reply::NoResponder) => return Err(NotCarried::NoOwner),
                    Some(Reply::Said(sealed)) => {
                        match self.envelope.open_answer(shard, name, question.id, &sealed) {
                            Ok(answer) => return Ok(answer),
                            Err(refused) => self.envelope.note(refused, name),
                        }
                    }
                }
            }
        };
        timeout_at(until, asked).await.unwrap_or(Err(NotCarried::Unanswered))
    }

    fn learn(&self, shard: Uuid, epoch: Uuid) {
        if self.epochs.len() >= EPOCHS {
            self.epochs.clear();
        }
        self.epochs.insert(shard, epoch);
    }
}

fn subject(shard: Uuid, name: &str) -> String {
    format!("channel.{}.{name}", shard.as_simple())
}

impl From<NotConnected> for NotCarried {
    fn from(_: NotConnected) -> Self {
        Self::Unreachable
    }
}

#[async_trait]
impl Carrier for NatsCarrier {
    async fn request(
        &self,
        shard: Uuid,
        name: &str,
        body: Vec<u8>,
        is_done_once: bool,
        within: Option<Duration>,
    ) -> Result<Vec<u8>, NotCarried> {
        let until = Instant::now() + within.unwrap_or(self.nats.timeout());
        let answer = match body.len() > MOST_BYTES {
            true => Err(NotCarried::Unreachable),
            false => self.ask((shard, name), &body, is_done_once, until).await,
        };
        let result = match &answer {
            Ok(_) => "answered",
            Err(NotCarried::NoOwner) => "no_responder",
            Err(NotCarried::Unanswered) => "no_answer",
            Err(NotCarried::Unreachable) => "not_connected",
        };
        metrics::counter!("pombo_nats_requests_total", "result" => result).increment(1);
        answer
    }

    fn wake(&self, shard: Uuid) {
        if !self.nats.is_connected() {
            return;
        }
        let wake = Wake { at: Timestamp::now(), id: Uuid::from_u128(rand::random()) };
        self.nats.tell(&subject(shard, WAKE), self.envelope.seal_wake(shard, wake));
    }

    async fn subscribe(&self, shard: Uuid) -> Result<Subscription, NotCarried> {
        let heard = self.nats.subscribe(&subject(shard, "*")).await?;
        let (tell, incoming) = mpsc::channel(WAITING);
        tokio::spawn(incoming::hand_on(self.envelope.clone(), shard, heard, tell));
        Ok(Subscription::new(incoming))
    }

    fn link(&self) -> Option<Link> {
        Some(Link { is_connected: self.nats.is_connected(), version: self.nats.version() })
    }
}
