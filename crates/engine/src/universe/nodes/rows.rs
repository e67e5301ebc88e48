//! The rows that nodes share, with the meaning of the statements of [`store::nodes`]: nodes with leases by the
//! database's clock and fences, and owners with epochs.

use std::collections::BTreeMap;
use std::time::Duration;

use uuid::Uuid;

use super::notes::Notes;
use crate::planted::{Fault, is_planted};
use cluster::LEASE;
use machines::node::{Seen, Standing};
use machines::placement::Member;
use store::nodes::Stage;

#[derive(Debug, Default)]
pub(super) struct Rows {
    nodes: BTreeMap<Uuid, Row>,
    owners: BTreeMap<Uuid, Owner>,
    pub(super) notes: Notes,
    /// The nodes that resolve the audiences of sends, or did.
    resolvers: BTreeMap<Uuid, Uuid>,
}

#[derive(Debug)]
struct Row {
    cores: u32,
    /// The epoch under which it writes.
    epoch: u64,
    lapses_at: Duration,
    stage: Stage,
    is_open: bool,
}

#[derive(Debug, Default)]
struct Owner {
    node: Option<Uuid>,
    /// How often the owner changed.
    epoch: u64,
}

impl Rows {
    pub(super) fn join(&mut self, id: Uuid, epoch: u64, cores: u32, now: Duration) {
        let row = Row { cores, epoch, lapses_at: now + LEASE, stage: Stage::Serving, is_open: true };
        self.nodes.insert(id, row);
    }

    /// Whether no node has its lease.
    pub(super) fn is_nobody_there(&self, now: Duration) -> bool {
        !self.nodes.values().any(|row| row.is_open && row.lapses_at > now)
    }

    /// Renews a lease, and returns the standing of the nodes; `None` when the node's fence is closed.
    pub(super) fn renew(&mut self, id: Uuid, now: Duration) -> Option<Vec<Seen>> {
        self.nodes.get_mut(&id).filter(|row| row.is_open)?.lapses_at = now + LEASE;
        let seen = self.nodes.iter().filter(|(_, row)| row.stage != Stage::Gone);
        let standing = |row: &Row| match row.stage {
            Stage::Fenced | Stage::Gone => Standing::Fenced,
            Stage::Serving | Stage::Draining if row.lapses_at <= now => Standing::Lapsed,
            Stage::Serving => Standing::Serving,
            Stage::Draining => Standing::Draining,
        };
        let seen = seen
            .map(|(id, row)| Seen { member: Member { id: *id, cores: row.cores }, standing: standing(row) });
        Some(seen.collect())
    }

    /// Asks a node to give its channels away.
    pub(super) fn drain(&mut self, id: Uuid) {
        if let Some(row) = self.nodes.get_mut(&id).filter(|row| row.is_open) {
            row.stage = Stage::Draining;
        }
    }

    /// Closes the fence of a node whose lease has lapsed, or that leaves. Returns the epoch under which it wrote, and
    /// the shards that it owned.
    pub(super) fn close(&mut self, id: Uuid, is_leaving: bool, now: Duration) -> Option<(u64, Vec<Uuid>)> {
        let may_close = |row: &&mut Row| row.is_open && (is_leaving || row.lapses_at <= now);
        let row = self.nodes.get_mut(&id).filter(may_close)?;
        (row.is_open, row.stage) = (false, Stage::Fenced);
        let epoch = row.epoch;
        let owned = self.owners.iter().filter(|(_, owner)| owner.node == Some(id));
        Some((epoch, owned.map(|(shard, _)| *shard).collect()))
    }

    /// Notes that a fenced node is cleared up.
    pub(super) fn clear_up(&mut self, id: Uuid) {
        if let Some(row) = self.nodes.get_mut(&id).filter(|row| row.stage == Stage::Fenced) {
            row.stage = Stage::Gone;
        }
    }

    pub(super) fn is_open(&self, id: Uuid) -> bool {
        self.nodes.get(&id).is_some_and(|row| row.is_open)
    }

    /// Claims those of these shards that no other node owns. Returns those that the node owns now; `None` when its
    /// fence is closed.
    pub(super) fn claim(&mut self, id: Uuid, shards: &[Uuid], now: Duration) -> Option<Vec<Uuid>> {
        self.is_open(id)
            .then(|| shards.iter().copied().filter(|shard| self.claim_one(id, *shard, now)).collect())
    }

    fn claim_one(&mut self, id: Uuid, shard: Uuid, now: Duration) -> bool {
        let owner = self.owners.get(&shard).and_then(|owner| owner.node);
        let has_lapsed = |owner: &Uuid| self.nodes.get(owner).is_none_or(|row| row.lapses_at <= now);
        let is_free = owner.is_none_or(|owner| owner == id || !self.is_open(owner))
            || is_planted(Fault::OwnerNotCompared)
            || is_planted(Fault::ClaimedBeforeFence) && owner.as_ref().is_some_and(has_lapsed);
        if is_free {
            let row = self.owners.entry(shard).or_default();
            *row = Owner { node: Some(id), epoch: row.epoch + 1 };
        }
        is_free
    }

    /// Releases those of these shards that the node owns, and returns them; `None` when its fence is closed.
    pub(super) fn release(&mut self, id: Uuid, shards: &[Uuid]) -> Option<Vec<Uuid>> {
        if !self.is_open(id) {
            return None;
        }
        let mut released = Vec::new();
        for shard in shards {
            if let Some(owner) = self.owners.get_mut(shard).filter(|owner| owner.node == Some(id)) {
                *owner = Owner { node: None, epoch: owner.epoch + 1 };
                released.push(*shard);
            }
        }
        Some(released)
    }

    /// The node that owns a shard, whose fence is open.
    pub(super) fn owner(&self, shard: Uuid) -> Option<Uuid> {
        self.owners.get(&shard)?.node.filter(|owner| self.is_open(*owner))
    }

    /// How often shards changed hands.
    pub(super) fn moves(&self) -> u64 {
        self.owners.values().map(|owner| owner.epoch.saturating_sub(1)).sum()
    }

    /// The node that writes under this epoch, or did.
    pub(super) fn writer(&self, epoch: u64) -> Option<Uuid> {
        self.nodes.iter().find(|(_, row)| row.epoch == epoch).map(|(id, _)| *id)
    }

    pub(super) fn resolves(&mut self, send_id: Uuid, node: Uuid) {
        self.resolvers.insert(send_id, node);
    }

    /// Whether no node with an open fence resolves the audience of this send.
    pub(super) fn is_abandoned(&self, send_id: Uuid) -> bool {
        self.resolvers.get(&send_id).is_none_or(|node| !self.is_open(*node))
    }
}
