//! Carriers: transport of requests and wake-ups between the nodes of a cluster.
//!
//! Correctness never depends on a carrier: every node also polls the database once a second. A carrier makes nodes hear
//! of work sooner, and transports requests that only the owner of a channel can answer. [`Nobody`] is for a cluster
//! without one.

use std::time::Duration;

use async_trait::async_trait;
use tokio::sync::{mpsc, oneshot};
use uuid::Uuid;

/// Carries requests and wake-ups to the node that owns a shard. Each node also owns a shard without channels, which has
/// the node's id. Calls may be dropped at any time.
#[async_trait]
pub trait Carrier: Send + Sync {
    /// Whether this carrier transports anything.
    fn is_there(&self) -> bool {
        true
    }

    /// Sends a request to the owner of a shard: `name` (letters, digits and `_`) is the kind, `body` is JSON. Returns
    /// the owner's answer, also JSON. The owner of a request that `is_done_once` never gets it twice.
    ///
    /// The call returns within the given time or, without one, within the configured time.
    async fn request(
        &self,
        shard: Uuid,
        name: &str,
        body: Vec<u8>,
        is_done_once: bool,
        within: Option<Duration>,
    ) -> Result<Vec<u8>, NotCarried>;

    /// Wakes the owner of a shard to search for new work. A wake-up may get lost, and never waits for the owner.
    fn wake(&self, shard: Uuid);

    /// Receives messages for this shard from here on, until the subscription is dropped. Only the node that owns the
    /// shard subscribes. The implementation repairs broken connections.
    ///
    /// # Errors
    ///
    /// [`NotCarried`] when the subscription cannot be made. Without a carrier it succeeds, and nothing comes.
    async fn subscribe(&self, shard: Uuid) -> Result<Subscription, NotCarried>;

    /// The state of the connection; `None` for a carrier without one.
    fn link(&self) -> Option<Link> {
        None
    }
}

/// The connection of a carrier.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// Whether there is one now.
    pub is_connected: bool,
    /// The version of the present or last server; `None` when there never was one.
    pub version: Option<String>,
}

/// The messages for a shard that this node owns. Dropping this ends the subscription.
#[derive(Debug)]
pub struct Subscription {
    incoming: mpsc::Receiver<Incoming>,
}

impl Subscription {
    /// A subscription that yields the messages of this channel; the sender sees when it is dropped.
    pub const fn new(incoming: mpsc::Receiver<Incoming>) -> Self {
        Self { incoming }
    }

    /// The next message; `None` when none can come any more.
    pub async fn next(&mut self) -> Option<Incoming> {
        self.incoming.recv().await
    }
}

/// A message of another node to the owner of a shard.
#[derive(Debug)]
pub enum Incoming {
    /// There may be new work.
    Wake,
    /// A question that only the owner can answer.
    Request(Request),
}

/// A request of another node.
#[derive(Debug)]
pub struct Request {
    /// The kind of the request.
    pub name: String,
    /// The body, as JSON.
    pub body: Vec<u8>,
    /// Takes the answer, as JSON. If it is dropped without one, the other node hears that the request failed.
    pub answer: oneshot::Sender<Vec<u8>>,
}

/// Why a request was not answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotCarried {
    /// No node has subscribed to the shard, or none says that it takes requests, or there is no carrier: the request
    /// reached nobody.
    #[error("no node takes requests for this channel")]
    NoOwner,
    /// The other node did not answer in time, or gave no answer. It may have acted on the request.
    #[error("the node that owns this channel did not answer")]
    Unanswered,
    /// The carrier cannot be reached: the request reached nobody.
    #[error("the connection between the nodes is down")]
    Unreachable,
}

/// Carries nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct Nobody;

#[async_trait]
impl Carrier for Nobody {
    fn is_there(&self) -> bool {
        false
    }

    async fn request(
        &self,
        _: Uuid,
        _: &str,
        _: Vec<u8>,
        _: bool,
        _: Option<Duration>,
    ) -> Result<Vec<u8>, NotCarried> {
        Err(NotCarried::NoOwner)
    }

    fn wake(&self, _: Uuid) {}

    async fn subscribe(&self, _: Uuid) -> Result<Subscription, NotCarried> {
        let (_, incoming) = mpsc::channel(1);
        Ok(Subscription::new(incoming))
    }
}
