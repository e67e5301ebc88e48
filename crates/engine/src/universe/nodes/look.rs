//! A node's search for work: channels without an owner, and sends that other nodes accepted.

use std::collections::BTreeMap;
use std::time::Duration;

use uuid::Uuid;

use super::NodeEvent;
use crate::channel::machine::Input as ToChannel;
use crate::planted::{Fault, is_planted};
use crate::universe::world::World;
use cluster::HOUSEKEEPING;
use domain::channel::Status;
use domain::send::Control;
use machines::node::{Input, Wanted};
use machines::placement::proposed;
use store::sends::{Ready, Size};

/// How often a node looks for work.
const INTERVAL: Duration = Duration::from_secs(1);
/// How often, in rounds, channels without sends are checked, and each channel reads the store.
const SELDOM: u64 = 5;
const AGAIN: u64 = 15;

/// What earlier rounds saw of the channels.
#[derive(Debug, Default)]
pub(super) struct Seen {
    round: u64,
    /// The newest send that is neither over nor paused, and how many such sends there are, by channel.
    recent: BTreeMap<usize, (Option<Uuid>, usize)>,
}

impl World {
    pub(super) fn look_for_work(&mut self, is_round: bool) {
        if is_round {
            self.after_for_node(INTERVAL, NodeEvent::Looks { is_round });
        }
        let Some(process) = &self.process else { return };
        if process.is_stopping || process.ledger.closed || is_round && is_planted(Fault::WorkNotLookedFor) {
            return;
        }
        let Some(node) = self.node_mut() else { return };
        node.seen.round += 1;
        let is_seldom = node.seen.round % SELDOM == 1;
        if self.store_fails() {
            return;
        }
        for record in self.model.suppressions(self.clock.wall()) {
            if let Some(process) = &self.process {
                process.common.suppressions.add(record);
            }
        }
        let mut wanted = vec![Wanted { shard: HOUSEKEEPING, stays: false }];
        self.read_notes(&mut wanted);
        for channel in 0..self.channels.len() {
            let has_work = self.has_work(channel);
            let is_unconfirmed = self.channels[channel].connection.status != Status::Connected;
            let is_looked_at = has_work || (is_seldom && is_unconfirmed);
            if !is_looked_at {
                continue;
            }
            if !self.owns(channel) {
                wanted.push(self.wanted(channel));
            } else if self.runs_elsewhere(channel) {
                self.take_up(channel);
            } else if has_work {
                self.see_sends(channel);
            }
        }
        self.feed_node(Input::Wanted(wanted));
    }

    pub(super) fn wanted(&self, channel: usize) -> Wanted {
        Wanted { shard: self.shard_of(channel), stays: false }
    }

    fn has_work(&self, channel: usize) -> bool {
        let id = self.channels[channel].id;
        self.model.sends().values().any(|send| send.is_active() && send.channel_id == id)
    }

    /// A channel that the node owns begins to run.
    pub(super) fn take_up(&mut self, channel: usize) {
        let recent = self.recent(channel);
        let Some(process) = &mut self.process else { return };
        let running = &mut process.channels[channel];
        // Answers to the earlier machine would reach the new one.
        if running.machine.is_some() || running.under_way > 0 {
            return;
        }
        running.is_leaving = false;
        if let Some(node) = &mut process.node {
            node.seen.recent.insert(channel, recent);
        }
        self.watch.moved(channel);
        self.start_channel(channel);
    }

    fn recent(&self, channel: usize) -> (Option<Uuid>, usize) {
        let id = self.channels[channel].id;
        let goes = self.model.sends().iter().filter(|(_, send)| {
            send.is_active() && send.channel_id == id && send.control == Control::Running
        });
        let ids: Vec<_> = goes.map(|(id, _)| *id).collect();
        (ids.last().copied(), ids.len().min(100))
    }

    /// Tells a channel that runs here of sends that other nodes accepted.
    fn see_sends(&mut self, channel: usize) {
        let recent = self.recent(channel);
        let Some(node) = self.node_mut() else { return };
        let is_new = node.seen.recent.insert(channel, recent) != Some(recent);
        if is_new || node.seen.round.is_multiple_of(AGAIN) {
            return self.inform(channel, ToChannel::Look);
        }
        let (id, ready) = (self.channels[channel].id, Ready { now: self.clock.wall(), templates: true });
        let oldest = |size| self.model.unfinished(id, size, ready, 1).first().map(|send| send.id);
        let (direct, bulk) = (oldest(Size::Direct), oldest(Size::Bulk));
        if direct.or(bulk).is_some() {
            self.inform(channel, ToChannel::Overlooked { direct, bulk });
        }
    }

    /// A send was accepted here for a channel that does not run here: tells its owner to look for it.
    pub(in crate::universe) fn hint(&mut self, channel: usize) {
        if self.owns(channel) {
            return self.after_for_node(Duration::ZERO, NodeEvent::Looks { is_round: false });
        }
        let wanted = self.wanted(channel);
        if self.node().is_some_and(|node| proposed(&node.members, wanted.shard) == Some(node.id)) {
            self.feed_node(Input::Wanted(vec![wanted]));
        }
        self.wake(channel);
    }
}
