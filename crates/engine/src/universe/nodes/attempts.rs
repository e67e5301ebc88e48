//! Messages that a node begins: it checks its lease just before, and sometimes the lease lapses before the message
//! leaves.

use std::time::Duration;

use super::NodeEvent;
use crate::channel::machine::{Answered, Attempt, Input};
use crate::planted::{Fault, is_planted};
use crate::universe::world::World;
use connectors::Reply;
use domain::message::Failure;

impl World {
    /// Whether the present process trusts its lease.
    pub(in crate::universe) fn may_begin(&self) -> bool {
        let now = self.clock.elapsed();
        let trusts = |node: &super::Node| now < node.trusted_until || is_planted(Fault::LeaseNotAsked);
        self.nodes.is_none() || self.node().is_some_and(trusts)
    }

    /// A message is on its way out of the node.
    pub(in crate::universe) fn begin_soon(&mut self, channel: usize, attempt: Attempt) {
        let Some(process) = &mut self.process else { return };
        process.channels[channel].under_way += 1;
        // A node that is paused after the check sends the message when it goes on.
        let is_asked = self.dice.happens(900);
        let (wait, attempt) = (self.hop(), Box::new(attempt));
        self.after_for_node(wait, NodeEvent::Begins { channel, attempt, is_asked });
    }

    pub(super) fn leave_node(&mut self, channel: usize, attempt: &Attempt, is_asked: bool) {
        let Some(process) = &mut self.process else { return };
        process.channels[channel].under_way -= 1;
        if is_asked && !self.may_begin() {
            self.answer_not_begun(channel, attempt);
        } else {
            self.reach_provider(channel, attempt);
        }
    }

    /// The node does not trust its lease: the message is surely not sent.
    pub(in crate::universe) fn answer_not_begun(&mut self, channel: usize, attempt: &Attempt) {
        let Attempt { ticket, generation, started, .. } = *attempt;
        let failure = Failure { code: None, sentence: "the lease is not renewed".to_owned() };
        let reply = Reply::NotSent(failure);
        let answered = Answered { ticket, generation, reply, started };
        self.answer(channel, Duration::from_micros(50), Input::Answered(answered));
    }
}
