//! The carrier on NATS: a subject for each shard and name, below the service's own.
//!
//! `BASE.channel.SHARD.NAME` is a request when it has a reply subject, and a wake-up when it has none and its name is
//! [`WAKE`]. Only the owner of a shard subscribes to it, so the server itself reports a shard without an owner.

use std::time::Duration;

use async_trait::async_trait;
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{mpsc, oneshot};
use uuid::Uuid;

use super::carrier::{Carrier, Incoming, Link, NotCarried, Request, Subscription};
use crate::connector::nats::{self, Heard, Nats, NotAnswered};

/// The name of a wake-up.
const WAKE: &str = "wake";
/// The most requests that wait for a busy owner, for each shard. Further ones fail at once.
const WAITING: usize = 64;

/// Carries by NATS.
#[derive(Debug, Clone)]
pub struct NatsCarrier(Nats);

impl NatsCarrier {
    /// A carrier on this connection.
    pub const fn new(nats: Nats) -> Self {
        Self(nats)
    }
}

fn subject(shard: Uuid, name: &str) -> String {
    format!("channel.{}.{name}", shard.as_simple())
}

impl From<NotAnswered> for NotCarried {
    fn from(error: NotAnswered) -> Self {
        match error {
            NotAnswered::NoResponder => Self::NoOwner,
            NotAnswered::NoAnswer => Self::Unanswered,
            NotAnswered::NotConnected => Self::Unreachable,
        }
    }
}

#[async_trait]
impl Carrier for NatsCarrier {
    async fn request(
        &self,
        shard: Uuid,
        name: &str,
        body: Vec<u8>,
        within: Option<Duration>,
    ) -> Result<Vec<u8>, NotCarried> {
        Ok(self.0.request(&subject(shard, name), body, within).await?)
    }

    fn wake(&self, shard: Uuid) {
        self.0.tell(&subject(shard, WAKE));
    }

    async fn subscribe(&self, shard: Uuid) -> Result<Subscription, NotCarried> {
        let heard = self.0.subscribe(&subject(shard, "*")).await?;
        let (tell, incoming) = mpsc::channel(WAITING);
        tokio::spawn(hand_on(heard, tell));
        Ok(Subscription::new(incoming))
    }

    fn link(&self) -> Option<Link> {
        Some(Link { is_connected: self.0.is_connected(), version: self.0.version() })
    }
}

/// Passes messages on until nobody listens any more.
async fn hand_on(mut heard: nats::Subscription, tell: mpsc::Sender<Incoming>) {
    loop {
        let next = tokio::select! {
            next = heard.next() => next,
            () = tell.closed() => None,
        };
        let Some(Heard { name, body, answer }) = next else { return };
        let Some(answer) = answer else {
            // A wake-up without room may get lost: those in front of it make the owner search.
            if name == WAKE {
                let _ = tell.try_send(Incoming::Wake);
            }
            continue;
        };
        let (give, given) = oneshot::channel();
        match tell.try_send(Incoming::Request(Request { name, body, answer: give })) {
            Ok(()) => {
                tokio::spawn(async move {
                    if let Ok(body) = given.await {
                        answer.give(body).await;
                    }
                });
            }
            // A dropped answer tells the other node that nothing was done.
            Err(TrySendError::Full(_) | TrySendError::Closed(_)) => drop(answer),
        }
    }
}
