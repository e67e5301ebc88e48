//! Random lives of some nodes on one database, in virtual time: statements take time or get lost, nodes pause, die and
//! are cut off, and their clocks do not run alike.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use rand::rngs::SmallRng;
use rand::{RngExt as _, SeedableRng as _};

use super::*;

const SHARDS: u128 = 12;
const LENGTH: Duration = Duration::from_secs(90);

/// What the database holds, as the statements of the store change it.
#[derive(Default)]
struct Database {
    /// Until when each lease lasts; and whether the fence is open.
    nodes: BTreeMap<Uuid, (Duration, bool)>,
    cleared: BTreeSet<Uuid>,
    draining: BTreeSet<Uuid>,
    owners: BTreeMap<Uuid, Option<Uuid>>,
}

impl Database {
    fn is_open(&self, node: Uuid) -> bool {
        self.nodes.get(&node).is_some_and(|(_, is_open)| *is_open)
    }

    fn seen(&self, now: Duration) -> Vec<Seen> {
        let nodes = self.nodes.iter().filter(|(id, _)| !self.cleared.contains(id));
        let standing = |id: &Uuid, lapses_at: Duration, is_open: bool| match is_open {
            false => Standing::Fenced,
            true if lapses_at <= now => Standing::Lapsed,
            true if self.draining.contains(id) => Standing::Draining,
            true => Standing::Serving,
        };
        let seen = nodes.map(|(id, (lapses_at, is_open))| Seen {
            member: Member { id: *id, cores: 2 },
            standing: standing(id, *lapses_at, *is_open),
        });
        seen.collect()
    }
}

struct Life {
    machine: Machine,
    /// Its clock against the database's, in parts of a thousand.
    speed: i64,
    begins: Duration,
    /// It does nothing until then.
    paused_until: Duration,
    /// Its statements get lost until then.
    cut_off_until: Duration,
    is_dead: bool,
}

/// An event that is under way.
#[derive(Debug, Clone)]
enum Event {
    /// The statement reaches the database.
    Statement(Uuid, Effect, Instant),
    /// Its answer, or that there is none, reaches the node.
    Answer(Uuid, Input),
    Timer(Uuid),
    Work(Uuid),
    Chance,
}

struct World {
    origin: Instant,
    now: Duration,
    rng: SmallRng,
    database: Database,
    lives: BTreeMap<Uuid, Life>,
    queue: BinaryHeap<Reverse<(Duration, u64)>>,
    events: BTreeMap<u64, Event>,
    next: u64,
    next_node: u128,
    claims: u64,
}

impl World {
    fn new(seed: u64) -> Self {
        let mut world = Self {
            origin: Instant::now(),
            now: Duration::ZERO,
            rng: SmallRng::seed_from_u64(seed),
            database: Database::default(),
            lives: BTreeMap::new(),
            queue: BinaryHeap::new(),
            events: BTreeMap::new(),
            next: 0,
            next_node: 0x1000,
            claims: 0,
        };
        let nodes = world.rng.random_range(3..=5);
        (0..nodes).for_each(|_| world.join());
        world.after(Duration::from_millis(500), Event::Chance);
        world
    }

    fn after(&mut self, delay: Duration, event: Event) {
        self.next += 1;
        self.queue.push(Reverse((self.now + delay, self.next)));
        self.events.insert(self.next, event);
    }

    fn millis(&mut self, range: std::ops::Range<u64>) -> Duration {
        Duration::from_millis(self.rng.random_range(range))
    }

    fn join(&mut self) {
        self.next_node += 1;
        let id = node(self.next_node);
        self.database.nodes.insert(id, (self.now + LEASE, true));
        let speed = self.rng.random_range(-20..=20);
        let life = Life {
            machine: Machine::new(id, self.origin),
            speed,
            begins: self.now,
            paused_until: Duration::ZERO,
            cut_off_until: Duration::ZERO,
            is_dead: false,
        };
        self.lives.insert(id, life);
        self.feed(id, Input::Timer);
        self.after(Duration::from_millis(300), Event::Work(id));
    }

    /// The node's monotonic clock.
    fn clock(&self, life: &Life) -> Instant {
        let lived = (self.now - life.begins).as_micros() as i64;
        self.origin + Duration::from_micros((lived + lived * life.speed / 1_000).unsigned_abs())
    }

    fn feed(&mut self, id: Uuid, input: Input) {
        let life = &self.lives[&id];
        let now = self.clock(life);
        let mut effects = Vec::new();
        self.lives.get_mut(&id).unwrap().machine.handle(input, now, &mut effects);
        for effect in effects {
            let delay = match effect {
                Effect::WakeAt(at) => {
                    self.after(at.saturating_duration_since(now), Event::Timer(id));
                    continue;
                }
                // The channels are stopped first.
                Effect::GiveUp(_) => self.millis(1..3_000),
                Effect::Renew | Effect::Claim(_) | Effect::CloseFence(_) | Effect::ClearUp(_) => {
                    self.statement()
                }
                Effect::Trust(_)
                | Effect::Distrust
                | Effect::Members(_)
                | Effect::Drain
                | Effect::Undrain
                | Effect::Own(_)
                | Effect::End => {
                    continue;
                }
            };
            self.after(delay, Event::Statement(id, effect, now));
        }
    }

    fn statement(&mut self) -> Duration {
        if self.rng.random_ratio(1, 30) { self.millis(1..4_000) } else { self.millis(1..20) }
    }

    fn run(&mut self) {
        while let Some(Reverse((at, number))) = self.queue.pop() {
            if at > LENGTH {
                break;
            }
            self.now = at;
            let event = self.events.remove(&number).unwrap();
            self.step(event);
            self.check();
        }
    }

    fn step(&mut self, event: Event) {
        let id = match &event {
            Event::Statement(id, ..) | Event::Answer(id, _) | Event::Timer(id) | Event::Work(id) => *id,
            Event::Chance => return self.chance(),
        };
        let Life { is_dead, paused_until, cut_off_until, .. } = self.lives[&id];
        if is_dead {
            return;
        }
        if !matches!(event, Event::Statement(..)) && self.now < paused_until {
            return self.after(paused_until - self.now, event);
        }
        match event {
            Event::Statement(id, effect, began) => {
                let is_lost = self.now < cut_off_until;
                let answer = if is_lost { None } else { Some(self.carry_out(id, &effect, began)) };
                // A statement may be done although its answer is lost.
                let is_unheard = is_lost || self.rng.random_ratio(1, 60);
                let repeats = matches!(effect, Effect::Claim(_) | Effect::GiveUp(_));
                if is_unheard && repeats {
                    return self.after(Duration::from_millis(250), Event::Statement(id, effect, began));
                }
                let input = match (answer.filter(|_| !is_unheard), effect) {
                    (Some(answer), _) => answer,
                    (None, Effect::CloseFence(node) | Effect::ClearUp(node)) => Input::Tried(node),
                    (None, _) => Input::NotRenewed,
                };
                let delay = self.millis(1..20);
                self.after(delay, Event::Answer(id, input));
            }
            Event::Answer(id, input) => self.feed(id, input),
            Event::Timer(id) => self.feed(id, Input::Timer),
            Event::Work(id) => {
                let wanted = (1..=SHARDS).map(|shard| Wanted { shard: node(shard), stays: shard % 3 == 0 });
                self.feed(id, Input::Wanted(wanted.collect()));
                self.after(Duration::from_millis(700), Event::Work(id));
            }
            Event::Chance => {}
        }
    }

    /// Carries out a statement as the store does, with its check of the node's fence.
    fn carry_out(&mut self, id: Uuid, effect: &Effect, began: Instant) -> Input {
        let now = self.now;
        let is_open = self.database.is_open(id);
        match effect {
            Effect::Renew if is_open => {
                self.database.nodes.insert(id, (now + LEASE, true));
                Input::Renewed { began, seen: self.database.seen(now) }
            }
            Effect::Claim(shards) if is_open => {
                let mut won = Vec::new();
                for shard in shards {
                    let owner = self.database.owners.get(shard).copied().flatten();
                    if owner.is_none_or(|owner| owner == id || !self.database.is_open(owner)) {
                        self.database.owners.insert(*shard, Some(id));
                        won.push(*shard);
                    }
                }
                self.claims += won.len() as u64;
                Input::Claimed(won)
            }
            Effect::GiveUp(shards) if is_open => {
                for shard in shards {
                    if self.database.owners.get(shard) == Some(&Some(id)) {
                        self.database.owners.insert(*shard, None);
                    }
                }
                Input::Released(shards.clone())
            }
            Effect::CloseFence(node) => {
                if let Some((lapses_at, is_open)) = self.database.nodes.get_mut(node)
                    && *lapses_at <= now
                {
                    *is_open = false;
                }
                Input::Tried(*node)
            }
            Effect::ClearUp(node) => {
                self.database.cleared.insert(*node);
                Input::Tried(*node)
            }
            _ => Input::Fenced,
        }
    }

    fn chance(&mut self) {
        self.after(Duration::from_millis(500), Event::Chance);
        let ids: Vec<_> = self.lives.iter().filter(|(_, life)| !life.is_dead).map(|(id, _)| *id).collect();
        let Some(id) = ids.get(self.rng.random_range(0..ids.len().max(1))).copied() else {
            return self.join();
        };
        let now = self.now;
        let pause = self.millis(500..12_000);
        match self.rng.random_range(0..40) {
            0..6 => self.lives.get_mut(&id).unwrap().paused_until = now + pause,
            6..12 => self.lives.get_mut(&id).unwrap().cut_off_until = now + pause,
            12..14 => self.lives.get_mut(&id).unwrap().is_dead = true,
            14..17 if self.lives.len() < 12 => self.join(),
            17 => {
                self.database.draining.insert(id);
            }
            18..20 => {
                self.database.draining.remove(&id);
            }
            _ => {}
        }
    }

    /// Checks that no two nodes with open fences believe that they own one shard, and that no two nodes may begin its
    /// messages.
    fn check(&self) {
        for shard in (1..=SHARDS).map(node) {
            let owns = |id: &Uuid, life: &Life| {
                !life.is_dead && life.machine.owns(shard) && self.database.is_open(*id)
            };
            let owners: Vec<_> =
                self.lives.iter().filter(|(id, life)| owns(id, life)).map(|(id, _)| *id).collect();
            assert!(owners.len() <= 1, "{owners:?} own {shard} after {:?}", self.now);
            let begins = |life: &&Life| {
                !life.is_dead && life.machine.owns(shard) && life.machine.trusts(self.clock(life))
            };
            let beginning = self.lives.values().filter(begins).count();
            assert!(beginning <= 1, "{beginning} nodes may begin messages of {shard} after {:?}", self.now);
        }
    }
}

#[test]
fn no_channel_has_two_owners_whatever_happens_to_the_nodes() {
    let (mut claims, mut taken_over) = (0, 0);
    for seed in 0..25 {
        let mut world = World::new(seed);
        world.run();
        claims += world.claims;
        taken_over += world.database.nodes.values().filter(|(_, is_open)| !is_open).count();
    }
    assert!(claims > 1_000 && taken_over > 30, "{claims} claims, {taken_over} fenced: too little happens");
}

#[test]
fn the_shards_of_a_dead_node_soon_have_other_owners() {
    let mut slowest = Duration::ZERO;
    for seed in 0..15 {
        let mut world = World::new(seed);
        // Only the planned failure happens.
        world.events.retain(|_, event| !matches!(event, Event::Chance));
        world.queue.retain(|Reverse((_, number))| world.events.contains_key(number));
        let died = Duration::from_secs(20) + world.millis(0..2_000);
        let mut dead = None;
        while let Some(Reverse((at, number))) = world.queue.pop() {
            world.now = at;
            let event = world.events.remove(&number).unwrap();
            world.step(event);
            world.check();
            let owner = |world: &World, shard| world.database.owners.get(&node(shard)).copied().flatten();
            match dead {
                None if at >= died => {
                    dead = owner(&world, 1);
                    world.lives.get_mut(&dead.unwrap()).unwrap().is_dead = true;
                }
                Some(dead)
                    if (1..=SHARDS).all(|shard| owner(&world, shard).is_some_and(|owner| owner != dead)) =>
                {
                    slowest = slowest.max(at - died);
                    break;
                }
                _ => assert!(at < Duration::from_secs(60), "nobody takes over"),
            }
        }
    }
    assert!(slowest < Duration::from_secs(12), "{slowest:?}");
}
