//! The effects of a node's machine.

use std::time::Instant;

use uuid::Uuid;

use crate::placement::Member;

/// Something that the shell does for the machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// Renew the lease, and read the standing of the nodes.
    Renew,
    /// Trust the lease until this time, unless told otherwise.
    Trust(Instant),
    /// Stop trusting the lease: begin nothing, close web sessions.
    Distrust,
    /// These nodes take channels.
    Members(Vec<Member>),
    /// Give the channels away, and take no others.
    Drain,
    /// Take channels again.
    Undrain,
    /// Close the fence of a node whose lease has lapsed.
    CloseFence(Uuid),
    /// Clear up after a fenced node.
    ClearUp(Uuid),
    /// Claim these shards.
    Claim(Vec<Uuid>),
    /// This node owns these shards now.
    Own(Vec<Uuid>),
    /// Stop the channels of these shards, then release them.
    GiveUp(Vec<Uuid>),
    /// This node can write no more, and ends.
    End,
    /// Wake the machine at this time.
    WakeAt(Instant),
}
