//! What happens to a node.

use std::time::Instant;

use uuid::Uuid;

use crate::cluster::placement::Member;

/// A node as a renewal sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) member: Member,
    pub(crate) standing: Standing,
}

/// How another node stands by the database's clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Standing {
    /// It has its lease, and takes channels.
    Serving,
    /// It has its lease, and gives its channels away.
    Draining,
    /// Its lease has lapsed, and its fence is open.
    Lapsed,
    /// Its fence is closed, and what it left is not cleared up.
    Fenced,
}

/// Something that has work and no owner here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Wanted {
    pub(crate) shard: Uuid,
    /// It moves only when its node dies or drains: a web session.
    pub(crate) stays: bool,
}

/// What happens to a node.
#[derive(Debug, Clone)]
pub(crate) enum Input {
    /// The lease was renewed; the renewal began at this moment. This node is among those seen.
    Renewed { began: Instant, seen: Vec<Seen> },
    /// It is not known whether the lease was renewed.
    NotRenewed,
    /// The fence of this node is closed.
    Fenced,
    /// These have work.
    Wanted(Vec<Wanted>),
    /// Of the shards that were claimed last, this node owns these now.
    Claimed(Vec<Uuid>),
    /// These are released.
    Released(Vec<Uuid>),
    /// The attempt to close a node's fence, or to clear up after it, is over.
    Tried(Uuid),
    /// The moment that the machine asked for has come.
    Timer,
}
