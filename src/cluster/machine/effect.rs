//! What a node is to do.

use std::time::Instant;

use uuid::Uuid;

use crate::cluster::placement::Member;

/// What is to be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Effect {
    /// Renew the lease, and read how the nodes stand.
    Renew,
    /// Trust the lease until then, unless told otherwise.
    Trust(Instant),
    /// The lease is trusted no more: begin nothing, close web sessions.
    Distrust,
    /// These nodes take channels.
    Members(Vec<Member>),
    /// Give the channels away, and take no others.
    Drain,
    /// Close the fence of a node whose lease has lapsed.
    CloseFence(Uuid),
    /// Remove what a fenced node left half done.
    ClearUp(Uuid),
    /// Claim these.
    Claim(Vec<Uuid>),
    /// These are ours now.
    Own(Vec<Uuid>),
    /// Stop what runs of these, and release them then.
    GiveUp(Vec<Uuid>),
    /// This node can write no more, and ends.
    End,
    /// Bring the timer then.
    WakeAt(Instant),
}
