//! The inputs of a node's machine.

use std::time::Instant;

use uuid::Uuid;

use crate::placement::Member;

/// A node as a renewal sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seen {
    /// The node.
    pub member: Member,
    /// Its standing.
    pub standing: Standing,
}

/// The standing of another node, by the database's clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// The node has its lease, and takes channels.
    Serving,
    /// The node has its lease, and gives its channels away.
    Draining,
    /// The node has its lease, and lacks a sealing key: it takes no channels until it has the key.
    LacksKey,
    /// The node's lease has lapsed, and its fence is open.
    Lapsed,
    /// The node's fence is closed, and its remains are not cleared up.
    Fenced,
}

/// A shard that has work and that this node does not own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Wanted {
    /// The shard.
    pub shard: Uuid,
    /// The shard moves only when its node dies or drains: a web session.
    pub stays: bool,
}

/// The inputs of a node's machine.
#[derive(Debug, Clone)]
pub enum Input {
    /// The lease was renewed; the renewal began at this moment. This node is among those seen.
    Renewed {
        /// When the renewal began.
        began: Instant,
        /// The nodes that the database knows.
        seen: Vec<Seen>,
    },
    /// The renewal failed, or its result is unknown.
    NotRenewed,
    /// The fence of this node is closed.
    Fenced,
    /// These shards have work.
    Wanted(Vec<Wanted>),
    /// The claim ended: this node owns these of the claimed shards now.
    Claimed(Vec<Uuid>),
    /// These shards are released.
    Released(Vec<Uuid>),
    /// The attempt to close a node's fence, or to clear up after it, is over.
    Tried(Uuid),
    /// The time of the last [`Effect::WakeAt`](super::Effect::WakeAt) has come.
    Timer,
}
