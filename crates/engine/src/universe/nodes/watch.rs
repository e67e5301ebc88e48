//! The rules of several nodes.

use uuid::Uuid;

use super::Nodes;
use super::life::node_id;
use crate::universe::model::Model;
use crate::universe::world::World;
use cluster::shard;
use domain::channel::Channel;
use domain::message::State;
use store::ledger::PendingWrites;

impl Nodes {
    /// Describes a write of this batch about a channel that the writer does not own.
    pub(in crate::universe) fn written_by_another(
        &self,
        model: &Model,
        channels: &[Channel],
        epoch: u64,
        batch: &PendingWrites,
    ) -> Option<String> {
        let writer = self.rows.writer(epoch)?;
        let marks = batch.marks.iter().map(|mark| mark.send_id);
        let mut sends = marks.chain(batch.outcomes.iter().map(|row| row.send_id));
        sends.find_map(|send_id| {
            let channel_id = model.send(send_id)?.channel_id;
            let channel = channels.iter().find(|channel| channel.id == channel_id)?;
            let owner = self.rows.owner(shard(channel));
            let what = || format!("{writer} writes of {send_id}, of {}, which {owner:?} owns", channel.name);
            (owner != Some(writer)).then(what)
        })
    }

    /// Remembers which node resolves the audiences of sends.
    pub(in crate::universe) fn note_resolvers(&mut self, epoch: u64, batch: &PendingWrites) {
        let Some(writer) = self.rows.writer(epoch) else { return };
        for send in &batch.sends {
            self.rows.resolves(send.id, writer);
        }
    }

    /// How often shards changed hands.
    pub(in crate::universe) fn moves(&self) -> u64 {
        self.rows.moves()
    }
}

impl World {
    /// Describes which node owns a channel by the rows, if that is not the present one.
    pub(in crate::universe) fn broken_by_other_owner(&self, channel: usize) -> Option<String> {
        let (rows, node) = (&self.nodes.as_ref()?.rows, self.node()?);
        let owner = rows.owner(self.shard_of(channel));
        (owner != Some(node.id)).then(|| format!("{owner:?} owns it, and not {}", node.id))
    }

    /// Checks that a node that released these shards left no message in doubt.
    pub(super) fn watch_release(&mut self, life: u64, shards: &[Uuid]) {
        let mut left = self.watch.attempted_here(life).collect::<Vec<_>>();
        left.sort_unstable_by_key(|key| (key.send_id, key.ordinal));
        left.retain(|key| {
            let channel = self.model.send(key.send_id).and_then(|send| self.channel_of(send.channel_id));
            channel.is_some_and(|channel| shards.contains(&self.shard_of(channel)))
                && self.model.message(*key).is_none_or(|row| row.state == State::Sending)
        });
        if let Some(key) = left.first() {
            let what =
                format!("{} released the channel of {key}: {:?}", node_id(life), self.model.message(*key));
            self.watch.break_("a channel that is given away leaves nothing in doubt", what);
        }
    }
}
