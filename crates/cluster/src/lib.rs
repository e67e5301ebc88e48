//! Clusters: several processes on one PostgreSQL, and which of them owns which channels.
//!
//! The database decides. A node has a lease by the database's clock, and owns the shards in its rows until it releases
//! them or its fence is closed. The [machine] decides how the node acts, the [shell] carries that out, and [`Cluster`]
//! is the engine's access. A process that serves alone owns every channel, and nothing here runs.

mod carrier;
mod nats;
mod shell;
mod status;

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use dashmap::DashSet;
use parking_lot::RwLock;
use tokio::sync::{Notify, mpsc, oneshot};
use tokio::time::timeout;
use uuid::Uuid;

pub use self::carrier::{Carrier, Incoming, Link, Nobody, NotCarried, Request, Subscription};
use self::machine::{Input, Wanted};
pub use self::nats::NatsCarrier;
pub use self::placement::{HOUSEKEEPING, shard};
use self::placement::{Member, proposed};
pub use self::shell::Heartbeat;
pub use self::status::{Moves, Node, NodeState, NodeStatus, Server, Status, channels_of, status};
pub(crate) use ::machines::node as machine;
pub use ::machines::node::LEASE;
pub(crate) use ::machines::placement;
use domain::channel::{Channel, Kind};
use store::{Lease, Purpose, Store};

/// An event of the cluster, for the engine.
#[derive(Debug)]
pub enum ClusterEvent {
    /// This node owns these shards now.
    Gained(Vec<Uuid>),
    /// These shards will be given away: stop their channels. They are released when `stopped` is sent or dropped.
    GiveUp {
        /// The shards.
        shards: Vec<Uuid>,
        /// Sent when their channels have ended and everything is written.
        stopped: oneshot::Sender<()>,
    },
    /// The lease is not renewed: nothing may begin, and web sessions must close.
    Distrusted,
    /// The lease is renewed again.
    Trusted,
    /// A node is gone. Changes that it did not pass on are read from the database.
    NodeGone,
    /// This node can write no more and has to end.
    Fenced,
}

/// A process's membership in a cluster; clones share it.
#[derive(Clone)]
pub struct Cluster(Option<Arc<Nodes>>);

/// The state of a node of several.
struct Nodes {
    id: Uuid,
    store: Store,
    carrier: Arc<dyn Carrier>,
    owned: DashSet<Uuid>,
    members: RwLock<Arc<Vec<Member>>>,
    origin: Instant,
    /// Until when the lease is trusted, in microseconds after the origin.
    trusted_until: AtomicU64,
    is_draining: AtomicBool,
    inputs: mpsc::UnboundedSender<Input>,
    /// Notified when a shard was claimed.
    claimed: Notify,
}

impl fmt::Debug for Cluster {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Cluster").field(&self.node()).finish()
    }
}

impl Cluster {
    /// A process that serves alone.
    pub const fn alone() -> Self {
        Self(None)
    }

    /// The membership of the node with this lease; a process with another kind of lease is alone. The shell has to run
    /// while the process serves. The lease is not trusted before its first renewal.
    pub fn of(
        store: &Store,
        lease: &Arc<Lease>,
        carrier: Arc<dyn Carrier>,
    ) -> (Self, Option<(Heartbeat, mpsc::UnboundedReceiver<ClusterEvent>)>) {
        let began = Instant::now();
        let Some(id) = lease.node() else { return (Self::alone(), None) };
        let (inputs, incoming) = mpsc::unbounded_channel();
        let (tell, told) = mpsc::unbounded_channel();
        let nodes = Arc::new(Nodes {
            id,
            store: store.reserved_for(Purpose::Cluster),
            carrier,
            owned: DashSet::new(),
            members: RwLock::default(),
            origin: began,
            trusted_until: AtomicU64::new(0),
            is_draining: AtomicBool::new(false),
            inputs,
            claimed: Notify::new(),
        });
        let shell = Heartbeat::new(Arc::clone(&nodes), Arc::clone(lease), began, incoming, tell);
        (Self(Some(nodes)), Some((shell, told)))
    }

    /// The id of this node; `None` for a process that serves alone.
    pub fn node(&self) -> Option<Uuid> {
        self.0.as_ref().map(|nodes| nodes.id)
    }

    /// Whether the process serves alone.
    pub const fn is_alone(&self) -> bool {
        self.0.is_none()
    }

    /// Whether this process runs the channel.
    pub fn owns(&self, channel: &Channel) -> bool {
        self.0.as_ref().is_none_or(|nodes| nodes.owned.contains(&shard(channel)))
    }

    /// Whether this process does the housekeeping for all.
    pub fn keeps_house(&self) -> bool {
        self.0.as_ref().is_none_or(|nodes| nodes.owned.contains(&HOUSEKEEPING) && nodes.is_trusted())
    }

    /// Whether a message may begin at this moment.
    pub fn may_begin(&self) -> bool {
        self.0.as_ref().is_none_or(|nodes| nodes.is_trusted())
    }

    /// Whether this node is proposed for a channel that nobody owns.
    pub fn is_proposed(&self, channel: &Channel) -> bool {
        self.0.as_ref().is_none_or(|nodes| nodes.is_proposed(shard(channel)))
    }

    /// Asks for channels that have work and that this node does not own. It claims those that have no owner and for
    /// which it is proposed.
    pub fn want<'a>(&self, channels: impl Iterator<Item = &'a Channel>) {
        let Some(nodes) = &self.0 else { return };
        let wanted =
            channels.map(|channel| Wanted { shard: shard(channel), stays: channel.kind == Kind::WebSession });
        nodes.want(wanted.collect());
    }

    /// Asks for the housekeeping.
    pub fn want_house(&self) {
        if let Some(nodes) = &self.0
            && !nodes.owned.contains(&HOUSEKEEPING)
        {
            nodes.want(vec![Wanted { shard: HOUSEKEEPING, stays: false }]);
        }
    }

    /// Whether this node owns the channel, after claiming it if nobody did; waits for the claim at most this long.
    pub async fn claim(&self, channel: &Channel, patience: Duration) -> bool {
        let Some(nodes) = &self.0 else { return true };
        if self.owns(channel) {
            return true;
        }
        if !self.is_proposed(channel) {
            return false;
        }
        let claimed = async {
            loop {
                let told = nodes.claimed.notified();
                self.want(std::iter::once(channel));
                told.await;
                if self.owns(channel) {
                    break;
                }
            }
        };
        timeout(patience, claimed).await.is_ok()
    }

    /// The name and address of another node that owns the channel; `None` when no other node does.
    pub async fn owner(&self, channel: &Channel) -> store::Result<Option<String>> {
        let Some(nodes) = &self.0 else { return Ok(None) };
        let Some(owner) = nodes.store.shards().owner_of(shard(channel)).await? else { return Ok(None) };
        if owner.node == nodes.id {
            return Ok(None);
        }
        let all = nodes.store.nodes().all().await?;
        let named = all.into_iter().find(|node| node.id == owner.node);
        Ok(named.map(|node| format!("{} ({})", node.name, node.address)))
    }

    /// Removes a note to the owner of a channel that this node has acted on; `false` when another node owns the
    /// channel, which this one may not have noticed yet: the note stays for that node.
    pub async fn remove_note(&self, channel: &Channel, note: i64) -> store::Result<bool> {
        match &self.0 {
            Some(nodes) => nodes.store.notes().remove_of_owner(note, shard(channel), nodes.id).await,
            None => Ok(false),
        }
    }

    /// Tells the owner of a channel, if it is another node, to look for new work.
    pub fn wake(&self, channel: &Channel) {
        if let Some(nodes) = &self.0 {
            nodes.carrier.wake(shard(channel));
        }
    }

    /// Wakes all other nodes.
    pub fn wake_all(&self) {
        let Some(nodes) = &self.0 else { return };
        for member in nodes.members().iter().filter(|member| member.id != nodes.id) {
            nodes.carrier.wake(member.id);
        }
    }

    /// The carrier between nodes; `None` for a process that serves alone, and for a cluster without one.
    pub fn carrier(&self) -> Option<Arc<dyn Carrier>> {
        self.0.as_ref().filter(|nodes| nodes.carrier.is_there()).map(|nodes| Arc::clone(&nodes.carrier))
    }

    /// The shards of channels that this node owns.
    pub fn owned(&self) -> HashSet<Uuid> {
        let Some(nodes) = &self.0 else { return HashSet::new() };
        nodes.owned.iter().map(|shard| *shard).filter(|shard| *shard != HOUSEKEEPING).collect()
    }

    /// Why this node should get no requests now, as a sentence.
    pub fn obstacle(&self) -> Option<&'static str> {
        let nodes = self.0.as_ref()?;
        if nodes.is_draining.load(Ordering::Relaxed) {
            return Some("this node is draining");
        }
        (!nodes.is_trusted()).then_some("the lease of this node is not renewed")
    }

    /// How long this node still trusts its lease; `None` for a process that serves alone.
    pub fn trust(&self) -> Option<Duration> {
        let nodes = self.0.as_ref()?;
        let left = nodes.trusted_until.load(Ordering::Acquire).saturating_sub(micros(nodes.origin.elapsed()));
        Some(Duration::from_micros(left))
    }

    /// How many shards this node owns, and how many nodes take channels; `None` for a process that serves alone.
    pub fn figures(&self) -> Option<(usize, usize)> {
        self.0.as_ref().map(|nodes| (nodes.owned.len(), nodes.members().len()))
    }

    /// How many nodes take channels; 1 for a process that serves alone.
    pub fn size(&self) -> u32 {
        let members = self.0.as_ref().map_or(1, |nodes| nodes.members().len());
        u32::try_from(members).unwrap_or(u32::MAX).max(1)
    }

    /// Leaves the cluster: its shards are free for others. Their channels must have ended.
    pub async fn leave(&self) {
        let Some(nodes) = &self.0 else { return };
        nodes.trusted_until.store(0, Ordering::Release);
        match nodes.store.nodes().leave(nodes.id).await {
            Ok(()) => tracing::info!("left the cluster"),
            Err(error) => {
                tracing::warn!(%error, "cannot leave the cluster, others take over when the lease of this node has lapsed");
            }
        }
    }
}

impl Nodes {
    fn is_trusted(&self) -> bool {
        micros(self.origin.elapsed()) < self.trusted_until.load(Ordering::Acquire)
    }

    fn members(&self) -> Arc<Vec<Member>> {
        Arc::clone(&self.members.read())
    }

    fn is_proposed(&self, shard: Uuid) -> bool {
        proposed(&self.members(), shard) == Some(self.id)
    }

    fn want(&self, wanted: Vec<Wanted>) {
        if !wanted.is_empty() {
            // A shell that has ended makes no claims.
            let _ = self.inputs.send(Input::Wanted(wanted));
        }
    }
}

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}
