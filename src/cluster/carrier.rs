//! What carries requests and wake-ups between the nodes of a cluster.
//!
//! Nothing that must be true depends on a carrier: every node polls the database once a second besides. A carrier
//! makes nodes hear of work sooner, and answers requests that only the owner of a channel can answer. [`Nobody`] is
//! for a cluster without one.

use std::time::Duration;

use async_trait::async_trait;
use tokio::sync::{mpsc, oneshot};
use uuid::Uuid;

/// Carries requests and wake-ups to the node that owns a shard: channels that are always on one node. Each node also owns a
/// shard without channels, which has the node's id. Calls may be dropped at any time.
#[async_trait]
pub trait Carrier: Send + Sync {
    /// Whether anything is ever carried.
    fn is_there(&self) -> bool {
        true
    }

    /// Asks the owner of a shard: `name` says what (letters, digits and `_`), `body` is JSON. The owner's
    /// answer, which is JSON too.
    ///
    /// The call returns within this time; without one, within the time that the configuration gives to other nodes.
    ///
    /// # Errors
    ///
    /// [`NotCarried`].
    async fn request(
        &self,
        shard: Uuid,
        name: &str,
        body: Vec<u8>,
        within: Option<Duration>,
    ) -> Result<Vec<u8>, NotCarried>;

    /// Tells the owner of a shard to look for new work of it. It may get lost, and never waits for the owner.
    fn wake(&self, shard: Uuid);

    /// Takes what comes for this shard from here on, until the subscription is dropped. The node that owns the
    /// shard subscribes, and no other. Broken connections are mended by the implementation.
    ///
    /// # Errors
    ///
    /// [`NotCarried`] when the subscription cannot even be noted. Without a carrier it succeeds and nothing comes.
    async fn subscribe(&self, shard: Uuid) -> Result<Subscription, NotCarried>;

    /// How the connection is; `None` for one that needs none.
    fn link(&self) -> Option<Link> {
        None
    }
}

/// The connection of a carrier.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// Whether there is one now.
    pub is_connected: bool,
    /// The version of the server that it leads to, or led to last; `None` when there never was one.
    pub version: Option<String>,
}

/// What comes for a shard that this node owns. Dropping it ends the subscription.
#[derive(Debug)]
pub struct Subscription {
    incoming: mpsc::Receiver<Incoming>,
}

impl Subscription {
    /// A subscription that hands on what is sent into this channel, whose other side sees that it was dropped.
    pub const fn new(incoming: mpsc::Receiver<Incoming>) -> Self {
        Self { incoming }
    }

    /// The next thing that comes; `None` when nothing can come any more.
    pub async fn next(&mut self) -> Option<Incoming> {
        self.incoming.recv().await
    }
}

/// What another node says to the owner of a shard.
#[derive(Debug)]
pub enum Incoming {
    /// There may be new work.
    Wake,
    /// Something that only the owner can answer.
    Request(Request),
}

/// A request of another node.
#[derive(Debug)]
pub struct Request {
    /// What is asked.
    pub name: String,
    /// JSON.
    pub body: Vec<u8>,
    /// Takes the answer, as JSON. Dropped without one, the other node hears that it failed.
    pub answer: oneshot::Sender<Vec<u8>>,
}

/// Why a request was not answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotCarried {
    /// No node has subscribed to the shard, or nothing carries at all: the request reached nobody.
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
