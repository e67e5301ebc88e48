//! The life of a node: it joins, is stopped, and is gone.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use uuid::Uuid;

use super::look::Seen;
use super::rows::Rows;
use super::{Node, NodeEvent};
use crate::universe::life::{CHANGES, EXPIRY, LONGEST_HOLD};
use crate::universe::process::Running;
use crate::universe::world::{Event, World};
use machines::node::{Input, Machine};

/// How often an operator checks whether a node is drained, and how many times before the node is stopped anyway.
const DRAIN_LOOK: Duration = Duration::from_millis(500);
const DRAIN_LOOKS: u32 = 40;
/// An impatient operator stops a node within this time after the order to drain, while its channels move.
const IMPATIENT: Duration = Duration::from_millis(2_500);

/// The id of the node that a process of this life is.
pub(super) fn node_id(life: u64) -> Uuid {
    Uuid::from_u128((0x0198_u128 << 112) | u128::from(life))
}

impl World {
    /// A process starts in the present place, as a new node.
    pub(super) fn join(&mut self) {
        self.lives += 1;
        let (life, now, wall) = (self.lives, self.clock.elapsed(), self.clock.wall());
        let (id, epoch) = (node_id(life), self.model.join());
        let cores = u32::try_from(self.dice.between(1, 4)).unwrap_or(1);
        self.model.clock_went_back(wall, LONGEST_HOLD);
        let Some(nodes) = &mut self.nodes else { return };
        let is_first = nodes.rows.is_nobody_there(now);
        nodes.rows.join(id, epoch, cores, now);
        self.model.remove_unresolved_by(|send_id| nodes.rows.is_abandoned(send_id));
        if is_first {
            self.model.put_off_unknown(wall.plus(self.plan.unknown_grace));
            self.model.end_left_messages(wall);
        }
        for (send_id, _) in self.model.sends().iter().filter(|(_, send)| send.is_accepted()) {
            self.watch.found(*send_id);
        }
        let mut process = self.new_process(life, epoch);
        process.channels = self.channels.iter().map(Running::idle).collect();
        process.node = Some(Box::new(Node::new(id, Machine::new(id, self.clock.now().monotonic))));
        self.process = Some(process);
        self.feed_node(Input::Timer);
        for (wait, event) in [(CHANGES, Event::Changes { life }), (EXPIRY, Event::Expiry { life })] {
            self.after(wait, event);
        }
        self.after_for_node(Duration::ZERO, NodeEvent::Looks { is_round: true });
    }

    /// Starts a node in each place without one, and reconnects all nodes.
    pub(in crate::universe) fn mend_nodes(&mut self) {
        let places = self.nodes.as_ref().map_or(0, |nodes| nodes.places.len());
        for place in 0..places {
            self.turn_to(place);
            match self.node_mut() {
                Some(node) => (node.cut_off_until, node.mute_until) = (Duration::ZERO, Duration::ZERO),
                None => self.join(),
            }
        }
    }

    /// An operator stops the present node, now, while it drains, or once it is drained.
    pub(in crate::universe) fn stop_node(&mut self) {
        if self.dice.happens(400) {
            return self.stop();
        }
        let Some(id) = self.node().map(|node| node.id) else { return };
        if let Some(nodes) = &mut self.nodes {
            nodes.rows.drain(id);
        }
        if self.dice.happens(500) {
            let wait = self.dice.time(Duration::from_millis(1), IMPATIENT);
            return self.after_for_node(wait, NodeEvent::Drains { looks: 0 });
        }
        self.after_for_node(DRAIN_LOOK, NodeEvent::Drains { looks: DRAIN_LOOKS });
    }

    pub(super) fn wait_for_drain(&mut self, looks: u32) {
        let owns_nothing = |node: &Node| node.owned.is_empty() && node.leaving.is_empty();
        if looks == 0 || self.node().is_some_and(owns_nothing) {
            return self.stop();
        }
        self.after_for_node(DRAIN_LOOK, NodeEvent::Drains { looks: looks - 1 });
    }

    /// A node that has stopped leaves the cluster, if it reaches the database: its shards are free.
    pub(in crate::universe) fn leave_cluster(&mut self) {
        let (now, is_cut_off) = (self.clock.elapsed(), self.store_fails_for_node());
        let Some(id) = self.node().map(|node| node.id).filter(|_| !is_cut_off) else { return };
        let rows = self.nodes.as_mut().map(|nodes| &mut nodes.rows);
        if let Some((epoch, shards)) = rows.and_then(|rows| Rows::close(rows, id, true, now)) {
            self.fence_is_closed(epoch, &shards);
        }
    }

    /// The process of the present place is gone, and another one starts after a while.
    pub(in crate::universe) fn node_is_gone(&mut self) {
        let away = self.dice.time(Duration::from_millis(100), Duration::from_secs(25));
        let Some(place) = self.nodes.as_ref().map(|nodes| nodes.present) else { return };
        self.after(away, Event::Node { life: None, event: Box::new(NodeEvent::Joins { place }) });
    }

    /// The fence of a node that owned these shards is closed: messages that it attempted without a written outcome are
    /// unknown.
    pub(super) fn fence_is_closed(&mut self, epoch: u64, shards: &[Uuid]) {
        self.model.close_fence(epoch);
        let lost: Vec<_> =
            (0..self.channels.len()).filter(|channel| shards.contains(&self.shard_of(*channel))).collect();
        self.watch_loss(&lost);
    }
}

impl Node {
    fn new(id: Uuid, machine: Machine) -> Self {
        Self {
            id,
            machine,
            timer: 0,
            trusted_until: Duration::ZERO,
            owned: BTreeSet::new(),
            members: Vec::new(),
            leaving: Vec::new(),
            seen: Seen::default(),
            acting: BTreeMap::new(),
            cut_off_until: Duration::ZERO,
            mute_until: Duration::ZERO,
        }
    }
}
