//! Several nodes in one world: each is a process with the engine's own machines, and with the machine of the cluster
//! that decides what runs where.
//!
//! [Rows](rows) stand for PostgreSQL: leases by the database's clock, fences, owners, and notes. Each node's machine is
//! carried out by its [beat], looks for [work](look), and tells other nodes by [notes] and by wake-ups that may get
//! lost. What goes wrong with nodes is [trouble]; what must hold of them is [watched](watch). Something happens to one
//! process at a time: the world [turns](World::turn_to) to it.

mod asking;
mod attempts;
mod beat;
mod life;
mod look;
mod notes;
mod rows;
mod trouble;
mod watch;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::time::Duration;

use uuid::Uuid;

use self::asking::Statement;
use self::look::Seen;
use self::rows::Rows;
use self::trouble::NodeTrouble;
use super::dice::Dice;
use super::plan::Plan;
use super::process::Process;
use super::world::{Event, World};
use crate::channel::machine::Attempt;
use crate::machine::Caller;
use cluster::shard;
use machines::node::{Input, Machine};
use machines::placement::Member;

/// Something that happens to a node, or to its rows.
pub(in crate::universe) enum NodeEvent {
    /// The database carries out a statement of the node; `is_heard` if the node gets the answer.
    Does { life: u64, statement: Statement, is_heard: bool },
    /// The machine gets an input.
    Hears(Box<Input>),
    /// The node gets no answer to a statement.
    HearsNothing(Statement),
    /// The timer of this number fires.
    Timer(u64),
    /// The node looks for work, in one of its rounds or because another node woke it.
    Looks { is_round: bool },
    /// A message leaves the node; `is_asked` if the lease is checked again at that moment.
    Begins { channel: usize, attempt: Box<Attempt>, is_asked: bool },
    /// An operator checks whether the node owns nothing, at most `looks` more times, and then stops it.
    Drains { looks: u32 },
    /// A process starts in this place.
    Joins { place: usize },
}

/// The places in which nodes run, and the rows that they share.
pub(in crate::universe) struct Nodes {
    rows: Rows,
    trouble: NodeTrouble,
    /// Processes of the places that the world is not turned to.
    places: Vec<Option<Process>>,
    present: usize,
}

/// The state of a process as a node.
pub(in crate::universe) struct Node {
    id: Uuid,
    machine: Machine,
    timer: u64,
    trusted_until: Duration,
    owned: BTreeSet<Uuid>,
    members: Vec<Member>,
    /// The shards that are given away, with their channels that still run.
    leaving: Vec<(Vec<Uuid>, BTreeSet<usize>)>,
    seen: Seen,
    /// Callers that stand for notes, with the numbers of these.
    acting: BTreeMap<Caller, u64>,
    /// PostgreSQL, and NATS, cannot be reached until then.
    cut_off_until: Duration,
    mute_until: Duration,
}

impl World {
    /// The world of a seed with several nodes.
    pub(in crate::universe) fn of_nodes(seed: u64, keeps: usize) -> Self {
        let mut dice = Dice::new(seed);
        let plan = Plan::of_nodes(&mut dice);
        let (places, trouble) = (dice.between(2, 4), NodeTrouble::new(&mut dice));
        let mut world = Self::of(plan, dice, keeps);
        let mut nodes = Nodes { rows: Rows::default(), trouble, places: Vec::new(), present: 0 };
        nodes.places.resize_with(usize::try_from(places).unwrap_or(2), || None);
        world.nodes = Some(nodes);
        world.watch.has_nodes = true;
        world.list_templates();
        world.mend_nodes();
        world.begin();
        world.plan_mail(seed);
        world
    }

    /// From here on, events happen to the process in this place.
    pub(super) fn turn_to(&mut self, place: usize) {
        let Some(nodes) = self.nodes.as_mut().filter(|nodes| nodes.present != place) else { return };
        nodes.places[nodes.present] = self.process.take();
        self.process = nodes.places[place].take();
        nodes.present = place;
    }

    /// From here on, events happen to the process of this life, if it is there.
    pub(in crate::universe) fn turn_to_life(&mut self, life: u64) {
        let is_it = |process: &Option<Process>| process.as_ref().is_some_and(|process| process.life == life);
        let place = self.nodes.as_ref().and_then(|nodes| nodes.places.iter().position(is_it));
        if let Some(place) = place.filter(|_| !is_it(&self.process)) {
            self.turn_to(place);
        }
    }

    /// An event that concerns no process in particular happens to any that runs.
    pub(in crate::universe) fn turn_to_anybody(&mut self, event: &Event, now: Duration) {
        let Some(nodes) = &self.nodes else { return };
        if matches!(event, Event::CommitApplies { .. } | Event::Node { .. }) {
            return;
        }
        let runs = |process: &Process| process.stands_until <= now && !process.ledger.closed;
        let others = nodes.places.iter().enumerate();
        let mut running: Vec<_> = others
            .filter(|(_, process)| process.as_ref().is_some_and(runs))
            .map(|(place, _)| place)
            .collect();
        running.extend(self.process.as_ref().filter(|process| runs(process)).map(|_| nodes.present));
        running.sort_unstable();
        if let Some(place) = self.dice.pick(&running).copied() {
            self.turn_to(place);
        }
    }

    /// Every process that is there.
    pub(in crate::universe) fn processes(&self) -> impl Iterator<Item = &Process> {
        let others = self.nodes.iter().flat_map(|nodes| nodes.places.iter().flatten());
        self.process.iter().chain(others)
    }

    /// Something happens to a node, or to its rows.
    pub(in crate::universe) fn node_event(&mut self, event: NodeEvent) {
        match event {
            NodeEvent::Does { life, statement, is_heard } => self.do_statement(life, statement, is_heard),
            NodeEvent::Hears(input) => self.feed_node(*input),
            NodeEvent::HearsNothing(statement) => self.hear_nothing(statement),
            NodeEvent::Timer(timer) => {
                if self.node().is_some_and(|node| node.timer == timer) {
                    self.feed_node(Input::Timer);
                }
            }
            NodeEvent::Looks { is_round } => self.look_for_work(is_round),
            NodeEvent::Begins { channel, attempt, is_asked } => self.leave_node(channel, &attempt, is_asked),
            NodeEvent::Drains { looks } => self.wait_for_drain(looks),
            NodeEvent::Joins { place } => {
                self.turn_to(place);
                if self.process.is_none() {
                    self.join();
                }
            }
        }
    }

    fn node(&self) -> Option<&Node> {
        self.process.as_ref()?.node.as_deref()
    }

    fn node_mut(&mut self) -> Option<&mut Node> {
        self.process.as_mut()?.node.as_deref_mut()
    }

    fn after_for_node(&mut self, wait: Duration, event: NodeEvent) {
        let life = self.process.as_ref().map(|process| process.life);
        if life.is_some() {
            self.after(wait, Event::Node { life, event: Box::new(event) });
        }
    }

    /// Whether the present process is a node that was fenced.
    pub(in crate::universe) fn is_fenced(&self) -> bool {
        let is_open = |process: &Process| self.model.is_held_by(process.epoch);
        self.nodes.is_some() && !self.process.as_ref().is_some_and(is_open)
    }

    fn shard_of(&self, channel: usize) -> Uuid {
        shard(&self.channels[channel])
    }

    /// Whether the present node owns a channel.
    fn owns(&self, channel: usize) -> bool {
        let shard = self.shard_of(channel);
        self.node().is_some_and(|node| node.owned.contains(&shard))
    }

    /// The channels that are the present node's by the rows; all in a world of one process.
    pub(in crate::universe) fn channels_owned(&self) -> Vec<usize> {
        let all = 0..self.channels.len();
        match (&self.nodes, self.node()) {
            (Some(nodes), Some(node)) => {
                all.filter(|channel| nodes.rows.owner(self.shard_of(*channel)) == Some(node.id)).collect()
            }
            _ => all.collect(),
        }
    }

    /// The life of the process that runs a channel.
    pub(in crate::universe) fn life_that_runs(&self, channel: usize) -> Option<u64> {
        self.nodes.as_ref()?;
        let runs = |process: &&Process| {
            process.channels[channel].machine.is_some() && self.model.is_held_by(process.epoch)
        };
        self.processes().find(runs).map(|process| process.life)
    }

    /// Whether a channel does not run in the present process.
    pub(in crate::universe) fn runs_elsewhere(&self, channel: usize) -> bool {
        let runs = |process: &Process| process.channels[channel].machine.is_some();
        self.nodes.is_some() && !self.process.as_ref().is_some_and(runs)
    }
}

impl fmt::Display for NodeEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Does { life, statement, is_heard } => {
                let unheard = if *is_heard { "" } else { ", of which it does not hear" };
                write!(f, "the database does for node {life}: {statement:?}{unheard}")
            }
            // A moment of the monotonic clock differs in each run.
            Self::Hears(input) => match &**input {
                Input::Renewed { seen, .. } => write!(f, "hears that its lease is renewed; it sees {seen:?}"),
                input => write!(f, "hears {input:?}"),
            },
            Self::HearsNothing(statement) => write!(f, "hears nothing of {statement:?}"),
            Self::Timer(_) => f.write_str("timer"),
            Self::Looks { .. } => f.write_str("looks for work"),
            Self::Begins { channel, attempt, is_asked } => {
                let asked = if *is_asked { "" } else { ", whatever its lease" };
                write!(f, "channel {channel}: {} leaves{asked}", attempt.ticket.key())
            }
            Self::Drains { .. } => f.write_str("is it drained?"),
            Self::Joins { place } => write!(f, "a node starts in place {place}"),
        }
    }
}
