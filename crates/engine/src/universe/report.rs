//! Runs many worlds, and reports on them.

use std::collections::BTreeMap;
use std::fmt;

use super::nodes::Nodes;
use super::watch::Violation;
use super::world::{Figures, World};
use crate::planted::Fault;

/// The results of some worlds.
#[derive(Debug, Clone, Default)]
pub struct Report {
    /// How many worlds ran.
    pub seeds: u64,
    /// The figures of all of them.
    pub(super) figures: Figures,
    /// The rules that were broken, each with its seed.
    pub broken: Vec<Broken>,
}

/// The steps that the story of a broken rule ends with.
const SHOWN: usize = 100;

/// A rule that was broken in a world.
#[derive(Debug, Clone)]
pub struct Broken {
    /// The seed of the world.
    pub seed: u64,
    /// Whether it has several nodes.
    pub is_of_nodes: bool,
    /// The rule, a sentence.
    pub rule: &'static str,
    /// The broken rule, and the last hundred steps.
    pub what: String,
}

impl Report {
    /// Runs the world of a seed, and adds its result. Returns whether no rule was broken.
    pub fn run(&mut self, seed: u64) -> bool {
        self.run_world(seed, World::new, trace)
    }

    /// As [`Report::run`], for the world of a seed with several nodes.
    pub fn run_nodes(&mut self, seed: u64) -> bool {
        self.run_world(seed, World::of_nodes, trace_nodes)
    }

    fn run_world(
        &mut self,
        seed: u64,
        world: fn(u64, usize) -> World,
        trace: fn(u64, usize) -> String,
    ) -> bool {
        let mut world = world(seed, 0);
        world.run();
        world.figures.moves = world.nodes.as_ref().map_or(0, Nodes::moves);
        self.seeds += 1;
        self.figures.add(world.figures);
        let Some(Violation { rule, .. }) = world.watch.violation() else { return true };
        let rule = *rule;
        let is_of_nodes = world.nodes.is_some();
        self.broken.push(Broken { seed, is_of_nodes, rule, what: trace(seed, SHOWN) });
        false
    }

    /// Each rule that was broken, how often, and the story of the first world that broke it.
    pub fn stories(&self) -> String {
        let mut rules: BTreeMap<&str, Vec<&Broken>> = BTreeMap::new();
        for broken in &self.broken {
            rules.entry(broken.rule).or_default().push(broken);
        }
        let story = |(rule, broken): (&str, Vec<&Broken>)| {
            let named = |broken: &&Broken| {
                let kind = if broken.is_of_nodes { " with nodes" } else { "" };
                format!("{}{kind}", broken.seed)
            };
            let seeds: Vec<_> = broken.iter().map(named).collect();
            let first = broken.first().map_or("", |broken| broken.what.as_str());
            format!("{first}\n{} worlds break: {rule} (seeds {})\n", broken.len(), seeds.join(", "))
        };
        rules.into_iter().map(story).collect()
    }

    /// Adds the results of other worlds.
    pub fn add(&mut self, other: Self) {
        let Self { seeds, figures, broken } = other;
        self.seeds += seeds;
        self.figures.add(figures);
        self.broken.extend(broken);
        self.broken.sort_by_key(|broken| broken.seed);
    }
}

/// Plants a fault by its name in all worlds of this thread. `false` when there is none of this name.
pub fn plant(name: &str) -> bool {
    let fault = Fault::ALL.into_iter().find(|fault| format!("{fault:?}") == name);
    Fault::plant(fault);
    fault.is_some()
}

/// Runs the world of a seed once more, and returns its last `steps` steps and the broken rule.
pub fn trace(seed: u64, steps: usize) -> String {
    trace_of(seed, World::new(seed, steps))
}

/// As [`trace`], for the world of a seed with several nodes.
pub fn trace_nodes(seed: u64, steps: usize) -> String {
    trace_of(seed, World::of_nodes(seed, steps))
}

fn trace_of(seed: u64, mut world: World) -> String {
    world.run();
    let mut told: Vec<_> = world.watch.steps().map(str::to_owned).collect();
    if let Some(Violation { rule, what }) = world.watch.violation() {
        told.push(format!("seed {seed} breaks: {rule}\n{what}"));
    }
    told.join("\n")
}

impl Figures {
    const fn add(&mut self, other: Self) {
        self.steps += other.steps;
        self.crashes += other.crashes;
        self.faults += other.faults;
        self.refused_rows += other.refused_rows;
        self.settled += other.settled;
        self.opened += other.opened;
        self.paired += other.paired;
        self.unlinked += other.unlinked;
        self.handed_over += other.handed_over;
        self.attempts += other.attempts;
        self.moves += other.moves;
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { seeds, figures, broken } = self;
        write!(
            f,
            "seeds {seeds}, steps {}, crashes {}, faults {}, violations {}",
            figures.steps,
            figures.crashes,
            figures.faults,
            broken.len()
        )
    }
}
