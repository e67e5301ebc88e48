//! This process as one node of several: it gains and loses channels, and tells a channel's owner what concerns the
//! channel.
//!
//! Only the owner of a channel runs its actor, its account's machine and its web session. Every node reads, accepts
//! sends and receives webhooks. Messages to the owner are in the database: it searches for [work] each second, and
//! reads the [notes] of other nodes. A process that serves alone owns every channel, and does none of this.

mod heard;
mod notes;
mod questions;
mod shown;
mod work;

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use actix::ArbiterHandle;
use tokio::sync::{Mutex, Notify, Semaphore, mpsc};
use uuid::Uuid;

pub use self::shown::{ClusterNodes, Shown as ShownCluster};
use super::{Engine, Error};
use crate::asking::Owners;
use crate::notices::Told;
use crate::rounds::repeat;
use cluster::ClusterEvent;
use domain::channel::Channel;
use domain::error::{Code, Refusal};

/// How long a request waits until a channel without an owner is claimed.
const CLAIM_PATIENCE: Duration = Duration::from_secs(2);

/// The state of a node's rounds.
pub(super) struct Nodes {
    /// There may be new work, or notes.
    look: Notify,
    /// Channels without sends may have no owner any more.
    has_idle: AtomicBool,
    /// Receipts for channels of other nodes that no note has yet.
    unwritten: heard::Unwritten,
    /// Sessions are opened and closed in turns.
    sessions: Mutex<()>,
    /// Some session could not be opened when its channel was gained: the next round opens it.
    has_unopened: AtomicBool,
    /// Permits to answer other nodes.
    answering: Arc<Semaphore>,
    /// The limits of requests, also of those that other nodes pass on.
    pub(crate) limits: config::Limits,
}

impl Nodes {
    /// A node that has done nothing yet.
    pub(super) fn new(limits: &config::Limits) -> Self {
        Self {
            look: Notify::new(),
            has_idle: AtomicBool::new(false),
            unwritten: heard::Unwritten::default(),
            sessions: Mutex::default(),
            has_unopened: AtomicBool::new(false),
            answering: Arc::new(Semaphore::new(questions::AT_ONCE_HERE)),
            limits: limits.clone(),
        }
    }
}

/// The rounds of this node.
#[derive(Clone, Copy)]
pub(crate) struct NodeRounds<'e> {
    pub(crate) engine: &'e Engine,
}

impl Engine {
    /// The rounds of this node.
    pub(crate) const fn node_rounds(&self) -> NodeRounds<'_> {
        NodeRounds { engine: self }
    }
}

impl Engine {
    /// Starts the node's rounds; they end with the thread.
    pub(super) fn join(&self, thread: &ArbiterHandle, events: mpsc::UnboundedReceiver<ClusterEvent>) {
        thread.spawn(self.clone().follow(events));
        let (engine, mut seen) = (self.clone(), work::Seen::default());
        repeat(thread, "work of this node", async move || {
            engine.node_rounds().look_for_work(&mut seen).await
        });
    }

    /// Handles the events of the cluster.
    async fn follow(self, mut events: mpsc::UnboundedReceiver<ClusterEvent>) {
        while let Some(event) = events.recv().await {
            let engine = self.clone();
            match event {
                ClusterEvent::Gained(shards) => {
                    self.0.nodes.look.notify_one();
                    actix::spawn(async move { engine.node_rounds().open_sessions(shards).await });
                }
                ClusterEvent::GiveUp { shards, stopped } => {
                    self.0.nodes.look.notify_one();
                    actix::spawn(async move {
                        engine.node_rounds().let_go(shards).await;
                        // If the node has ended, the shards are released already.
                        let _ = stopped.send(());
                    });
                }
                ClusterEvent::Distrusted => {
                    actix::spawn(async move { engine.node_rounds().close_sessions(None).await });
                }
                ClusterEvent::Trusted => {
                    self.0.nodes.look.notify_one();
                    actix::spawn(async move { engine.node_rounds().reopen_sessions().await });
                }
                ClusterEvent::NodeGone => {
                    // Other nodes open its web sessions, without waiting for their scheduled round.
                    self.0.nodes.has_idle.store(true, Ordering::Release);
                    self.0.nodes.look.notify_one();
                    actix::spawn(async move { engine.node_rounds().take_over().await });
                }
                ClusterEvent::Fenced => {
                    // A node that stops closes its own fence when it leaves, perhaps while it still releases a channel.
                    if self.check_running().is_ok() {
                        self.lose_lease();
                    }
                    return;
                }
            }
        }
    }
}

impl NodeRounds<'_> {
    /// Stops the channels of these shards, each once its outcomes are written.
    async fn let_go(&self, shards: Vec<Uuid>) {
        let shards: HashSet<_> = shards.into_iter().collect();
        self.engine.directory().let_go(&shards).await;
        // A web session is a shard by itself.
        self.close_sessions(Some(&shards)).await;
    }

    async fn close_sessions(&self, which: Option<&HashSet<Uuid>>) {
        let _turn = self.engine.0.nodes.sessions.lock().await;
        self.engine.0.web_sessions.close(which).await;
    }

    /// Opens the sessions among these shards that are linked to a phone, unless the node has given them away meanwhile.
    async fn open_sessions(&self, shards: Vec<Uuid>) {
        let _turn = self.engine.0.nodes.sessions.lock().await;
        let owned = self.engine.0.shared.cluster.owned();
        for channel in shards.into_iter().filter(|shard| owned.contains(shard)) {
            // The lease may be trusted again before the node has noticed that it was not.
            if !self.engine.0.shared.cluster.may_begin() || self.engine.check_running().is_err() {
                self.engine.0.nodes.has_unopened.store(true, Ordering::Release);
                return;
            }
            if let Err(error) = self.engine.0.web_sessions.open_linked(channel).await {
                tracing::warn!(channel.id = %channel, %error, "cannot open a web session yet");
                self.engine.0.nodes.has_unopened.store(true, Ordering::Release);
            }
        }
    }

    /// Opens the sessions that this node owns and that are not open. Returns at once; what fails is tried in the next
    /// round.
    fn open_unopened_sessions(&self) {
        if self.engine.0.shared.cluster.may_begin()
            && self.engine.0.nodes.has_unopened.swap(false, Ordering::AcqRel)
        {
            let engine = self.engine.clone();
            actix::spawn(async move { engine.node_rounds().reopen_sessions().await });
        }
    }

    async fn reopen_sessions(&self) {
        match self.engine.store().web_sessions().linked().await {
            Ok(linked) => self.open_sessions(linked.into_iter().map(|channel| channel.id).collect()).await,
            Err(error) => {
                tracing::warn!(%error, "cannot open web sessions again yet");
                self.engine.0.nodes.has_unopened.store(true, Ordering::Release);
            }
        }
    }

    /// Reads changes that a dead node may not have passed on.
    async fn take_over(&self) {
        if let Err(error) = self.engine.load_suppressions().await {
            tracing::warn!(%error, "cannot yet read the suppressions that a dead node may have changed");
        }
    }
}

impl Owners<'_> {
    /// Makes sure that this node owns the channel; claims it when nobody does.
    ///
    /// # Errors
    ///
    /// `service_unavailable`, which names the node that owns the channel.
    pub(crate) async fn own(&self, channel: &Channel) -> Result<(), Error> {
        let cluster = &self.engine.0.shared.cluster;
        if cluster.owns(channel) {
            return Ok(());
        }
        let sentence = match cluster.owner(channel).await? {
            Some(owner) => {
                format!("this channel runs on the node {owner}, which cannot be reached now: ask that node")
            }
            None if cluster.claim(channel, CLAIM_PATIENCE).await => return Ok(()),
            None => {
                self.tell(channel, &Told::Look).await?;
                "no node runs this channel yet: try again in a second".to_owned()
            }
        };
        Err(Refusal::new(Code::ServiceUnavailable, sentence).into())
    }

    /// A send was accepted here: wakes the channel's owner.
    pub(crate) fn hint(&self, channel: &Channel) {
        let cluster = &self.engine.0.shared.cluster;
        if !cluster.owns(channel) {
            cluster.want(std::iter::once(channel));
            cluster.wake(channel);
        }
    }
}
