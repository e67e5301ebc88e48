//! Carries out the effects of a node's machine.

use std::time::Duration;

use uuid::Uuid;

use super::NodeEvent;
use super::asking::Statement;
use crate::channel::machine::Input as ToChannel;
use crate::machine::Caller;
use crate::planted::{Fault, is_planted};
use crate::universe::world::World;
use machines::node::{Effect, Input};

impl World {
    /// Passes an input to the present node's machine, and carries out its effects.
    pub(super) fn feed_node(&mut self, input: Input) {
        let now = self.clock.now().monotonic;
        let Some(node) = self.node_mut() else { return };
        let mut effects = Vec::new();
        node.machine.handle(input, now, &mut effects);
        for effect in effects {
            if self.watch.is_traced() {
                self.trace_wish(&effect);
            }
            self.do_for_node(effect);
        }
    }

    fn trace_wish(&mut self, effect: &Effect) {
        let wish = match effect {
            Effect::WakeAt(_) => return,
            Effect::Trust(until) => format!("trust until {:?}", self.clock.since_beginning(*until)),
            effect => format!("{effect:?}"),
        };
        self.watch.trace(&self.clock, &format!("    the node wants: {wish}"));
    }

    fn do_for_node(&mut self, effect: Effect) {
        match effect {
            Effect::Renew => self.ask_rows(Statement::Renew { began: self.clock.elapsed() }),
            Effect::Trust(until) => {
                let (until, now) = (self.clock.since_beginning(until), self.clock.elapsed());
                let Some(node) = self.node_mut() else { return };
                if std::mem::replace(&mut node.trusted_until, until) <= now {
                    // Trusted again, and not just for longer.
                    self.after_for_node(Duration::ZERO, NodeEvent::Looks { is_round: false });
                }
            }
            // Nothing has to be closed here: messages are held back one by one.
            Effect::Distrust | Effect::Drain | Effect::Undrain => {}
            Effect::Members(members) => {
                if let Some(node) = self.node_mut() {
                    node.members = members;
                }
            }
            Effect::CloseFence(node) => self.ask_rows(Statement::CloseFence(node)),
            Effect::ClearUp(node) => self.ask_rows(Statement::ClearUp(node)),
            Effect::Claim(shards) => self.ask_rows(Statement::Claim(shards)),
            Effect::Own(shards) => {
                if let Some(node) = self.node_mut() {
                    node.owned.extend(shards);
                }
                self.after_for_node(Duration::ZERO, NodeEvent::Looks { is_round: false });
            }
            Effect::GiveUp(shards) => self.give_up(shards),
            Effect::WakeAt(at) => {
                let wait = self.clock.since_beginning(at).saturating_sub(self.clock.elapsed());
                let Some(node) = self.node_mut() else { return };
                node.timer += 1;
                let timer = node.timer;
                self.after_for_node(wait, NodeEvent::Timer(timer));
            }
            Effect::End => self.end_fenced(),
        }
    }

    /// Stops the channels of these shards that run, and then releases the shards.
    fn give_up(&mut self, shards: Vec<Uuid>) {
        let all: Vec<_> = (0..self.channels.len()).map(|channel| self.shard_of(channel)).collect();
        let Some(process) = &mut self.process else { return };
        let Some(node) = &mut process.node else { return };
        node.owned.retain(|shard| !shards.contains(shard));
        let is_of_them = |channel: &usize| shards.contains(&all[*channel]);
        let mut running: Vec<_> = (0..all.len()).filter(is_of_them).collect();
        running.retain(|channel| process.channels[*channel].machine.is_some());
        node.leaving.push((shards.clone(), running.iter().copied().collect()));
        for channel in &running {
            process.channels[*channel].is_leaving = true;
        }
        for channel in running {
            let Some(process) = &mut self.process else { return };
            process.callers += 1;
            let caller = Caller(process.callers);
            self.inform(channel, ToChannel::Stop(caller));
        }
        if is_planted(Fault::ReleasedBeforeStopped) {
            self.ask_rows(Statement::Release(shards));
        }
        self.release_stopped();
    }

    /// The machine of a channel has ended.
    pub(in crate::universe) fn has_left(&mut self, channel: usize) {
        let Some(process) = &mut self.process else { return };
        let running = &mut process.channels[channel];
        let Some(node) = &mut process.node else { return };
        (running.wake, running.timer) = (None, running.timer + 1);
        running.turns.clear();
        // Another node acts on the notes that nobody answers here any more.
        for (caller, _) in running.stopping.drain(..) {
            node.acting.remove(&caller);
        }
        for (_, channels) in &mut node.leaving {
            channels.remove(&channel);
        }
        self.release_stopped();
    }

    fn release_stopped(&mut self) {
        let Some(node) = self.node_mut() else { return };
        let all = std::mem::take(&mut node.leaving);
        let (stopped, rest): (Vec<_>, Vec<_>) =
            all.into_iter().partition(|(_, channels)| channels.is_empty());
        node.leaving = rest;
        for (shards, _) in stopped {
            self.ask_rows(Statement::Release(shards));
        }
    }
}
