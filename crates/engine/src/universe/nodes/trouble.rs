//! Trouble of nodes: pauses, and servers that cannot be reached.

use std::time::Duration;

use crate::universe::world::World;
use cluster::HOUSEKEEPING;
use machines::dice::Dice;

/// How often each thing goes wrong, in a thousand times: each second, and for each wake-up.
#[derive(Debug, Clone, Copy)]
pub(super) struct NodeTrouble {
    pause: u64,
    cut_off: u64,
    mute: u64,
    word_lost: u64,
}

impl NodeTrouble {
    pub(super) fn new(dice: &mut Dice) -> Self {
        let mut some = |often: u64, most: u64| if dice.happens(often) { dice.between(1, most) } else { 0 };
        Self { pause: some(600, 50), cut_off: some(500, 40), mute: some(400, 40), word_lost: some(500, 400) }
    }
}

impl World {
    /// Trouble of the present node in any second.
    pub(in crate::universe) fn trouble_nodes(&mut self) {
        let Some(trouble) = self.nodes.as_ref().map(|nodes| nodes.trouble) else { return };
        let now = self.clock.elapsed();
        let until = now + self.dice.time(Duration::from_millis(500), Duration::from_secs(15));
        let [pauses, is_cut_off, is_mute] =
            [trouble.pause, trouble.cut_off, trouble.mute].map(|often| self.goes_wrong(often));
        let Some(process) = &mut self.process else { return };
        let Some(node) = &mut process.node else { return };
        if is_cut_off {
            node.cut_off_until = until;
        }
        if is_mute {
            node.mute_until = until;
        }
        if pauses {
            process.stands_until = until;
            self.watch.upset(until);
        }
    }

    /// Whether the present node does not reach the database.
    pub(in crate::universe) fn is_cut_off(&self) -> bool {
        let now = self.clock.elapsed();
        self.is_troubled() && self.node().is_some_and(|node| node.cut_off_until > now)
    }

    /// Whether the store does not answer now.
    pub(in crate::universe) fn store_fails(&mut self) -> bool {
        self.goes_wrong(self.plan.trouble.read_fails) || self.is_cut_off()
    }

    /// Whether the present process is a node to which the store does not answer now.
    pub(super) fn store_fails_for_node(&mut self) -> bool {
        self.node().is_some() && self.store_fails()
    }

    /// Whether a message of the present node to another gets lost.
    pub(super) fn is_word_lost(&mut self) -> bool {
        let Some(trouble) = self.nodes.as_ref().map(|nodes| nodes.trouble) else { return false };
        let now = self.clock.elapsed();
        let is_mute = self.is_troubled() && self.node().is_some_and(|node| node.mute_until > now);
        self.goes_wrong(trouble.word_lost) || is_mute
    }

    /// Whether the present process does the housekeeping for all.
    pub(in crate::universe) fn keeps_house(&self) -> bool {
        let now = self.clock.elapsed();
        let keeps = |node: &super::Node| node.owned.contains(&HOUSEKEEPING) && now < node.trusted_until;
        self.nodes.is_none() || self.node().is_some_and(keeps)
    }
}
