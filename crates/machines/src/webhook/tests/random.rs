//! Random lives of an endpoint, in virtual time: a receiver that accepts, fails, hangs and comes back, a log that grows
//! and is cut, a store that loses writes, a process that dies, and people who test, enable and disable.

mod log;
mod rules;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use self::rules::Rules;
use super::*;
use crate::dice::Dice;

const WORLDS: u64 = 300;
/// The most events of a world.
const EVENTS: usize = 400;

/// An event that is under way, with the process that it is for.
#[derive(Debug)]
enum Event {
    Input(u32, Input),
    Timer(u32, Instant),
    Write(u32, Write),
    Start,
    Growth,
    Chance,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Receiver {
    Up,
    Flaky,
    Down,
    Gone,
}

struct World {
    dice: Dice,
    origin: Instant,
    now: Duration,
    queue: BinaryHeap<Reverse<(Duration, u64)>>,
    events: BTreeMap<u64, Event>,
    next: u64,
    machine: Option<Machine>,
    /// The number of the process.
    process: u32,
    wakes_at: Option<Instant>,
    settings: EndpointSettings,
    /// How long the log keeps events.
    keep: Duration,
    stored: Stored,
    /// The events, when they happened, and whether the endpoint wants them.
    log: Vec<(EventItem, Timestamp, bool)>,
    receiver: Receiver,
    /// Every event whose sequence is a multiple of this always fails.
    poison: i64,
    /// The store fails until then.
    store_fails_until: Duration,
    longest_outage: Duration,
    rules: Rules,
    /// From the end on, nothing goes wrong.
    is_calm: bool,
}

impl World {
    fn new(seed: u64) -> Self {
        let mut dice = Dice::new(seed);
        let batch = *dice.pick(&[1, 1, 2, 5, 30, 100]).unwrap();
        let keep = if dice.happens(200) { DAY } else { 7 * DAY };
        let settings = EndpointSettings { max_in_flight: dice.between(1, 4) as usize, batch };
        let longest_outage = *dice.pick(&[HOUR, HOUR, HOUR, 6 * HOUR, DAY]).unwrap();
        let mut world = Self {
            origin: Instant::now(),
            now: Duration::ZERO,
            queue: BinaryHeap::new(),
            events: BTreeMap::new(),
            next: 0,
            machine: None,
            process: 0,
            wakes_at: None,
            settings,
            keep,
            stored: new(),
            log: Vec::new(),
            receiver: Receiver::Up,
            poison: if dice.happens(300) { 11 } else { i64::MAX },
            store_fails_until: Duration::ZERO,
            longest_outage: if seed.is_multiple_of(10) { 7 * DAY } else { longest_outage },
            rules: Rules::default(),
            is_calm: false,
            dice,
        };
        world.after(Duration::ZERO, Event::Start);
        world.after(SECOND, Event::Growth);
        world.after(MINUTE, Event::Chance);
        world
    }

    fn after(&mut self, delay: Duration, event: Event) {
        self.next += 1;
        self.queue.push(Reverse((self.now + delay, self.next)));
        self.events.insert(self.next, event);
    }

    fn moment(&self) -> Moment {
        Moment { monotonic: self.origin + self.now, wall: WALL.plus(self.now) }
    }

    fn run_until(&mut self, end: Duration) {
        while let Some(Reverse((at, number))) = self.queue.peek().copied() {
            if at > end {
                break;
            }
            self.queue.pop();
            self.now = at;
            match self.events.remove(&number).unwrap() {
                Event::Input(process, input) if process == self.process => self.feed(input),
                Event::Timer(process, at) if process == self.process && self.wakes_at == Some(at) => {
                    self.feed(Input::Timer);
                }
                Event::Write(process, write) if process == self.process => self.write(write),
                Event::Input(..) | Event::Timer(..) | Event::Write(..) => {}
                Event::Start => self.start(),
                Event::Growth => self.grow(),
                Event::Chance => self.chance(),
            }
        }
        self.now = end;
    }

    fn start(&mut self) {
        let machine = Machine::new(Uuid::nil(), self.settings, self.stored.clone(), self.moment());
        self.machine = Some(machine);
        self.rules.start(self.process, &self.stored);
        self.feed(Input::Timer);
    }

    /// The process dies; a write under way may be carried out.
    fn kill(&mut self) {
        let is_lost = self.dice.happens(500);
        let write = self.events.values().find_map(|event| match event {
            Event::Write(process, write) if *process == self.process => Some(write.clone()),
            _ => None,
        });
        if let Some(write) = write.filter(|_| !is_lost) {
            self.carry_out(write);
        }
        self.process += 1;
        self.machine = None;
        let pause = self.dice.time(SECOND / 10, 2 * MINUTE);
        self.after(pause, Event::Start);
    }

    fn feed(&mut self, input: Input) {
        let at = self.moment();
        let Some(machine) = &mut self.machine else { return };
        self.rules.hear(&input, machine.replay.rest().is_some(), self.now);
        let mut effects = Effects::default();
        machine.handle(input, at, &mut effects);
        for effect in effects.drain() {
            let process = self.process;
            match effect {
                Effect::Read { after, limit } => {
                    let result = self.page(after, limit);
                    let delay = self.dice.time(Duration::from_millis(1), SECOND);
                    self.after(delay, Event::Input(process, Input::Read(result)));
                }
                Effect::ReadReplay { after, up_to, limit } => {
                    let result = self.replay_page(after, up_to, limit);
                    let delay = self.dice.time(Duration::from_millis(1), SECOND);
                    self.after(delay, Event::Input(process, Input::ReplayRead(result)));
                }
                Effect::Attempt { id, sequences } => self.attempt(id, &sequences),
                Effect::Write(write) => {
                    let delay = self.dice.time(Duration::from_millis(1), SECOND / 2);
                    self.after(delay, Event::Write(process, write));
                }
                Effect::Tell(notice) => {
                    let begin = self.begins_after();
                    self.rules.told(&notice, begin);
                }
                Effect::WakeAt(time) => {
                    self.wakes_at = Some(time);
                    let delay = time.saturating_duration_since(at.monotonic);
                    self.after(delay, Event::Timer(process, time));
                }
                Effect::End => {
                    self.rules.ended();
                    self.kill();
                }
            }
        }
        if let Some(machine) = &self.machine {
            self.rules.check_bounds(machine, &self.settings);
        }
    }

    /// A person wants events to be sent once more: the process takes the endpoint up again.
    fn replay(&mut self) {
        if self.machine.is_some() {
            self.kill();
        }
        let [one, other] = [self.dice.below(EVENTS as u64 * 2), self.dice.below(EVENTS as u64 * 2)];
        let up_to = (one.max(other) as i64).min(self.stored.cursor);
        let after = (one.min(other) as i64).min(up_to);
        self.stored.replay = Some(ReplayRange { after, up_to });
    }

    fn attempt(&mut self, attempt: AttemptId, sequences: &[i64]) {
        let is_missing = sequences.iter().all(|sequence| *sequence <= self.begins_after());
        self.rules.attempt(attempt, sequences, &self.log, &self.settings, &self.stored, self.now);
        let verdict = match self.receiver {
            _ if is_missing => AttemptVerdict::Missing,
            _ if sequences.iter().any(|it| it % self.poison == 0) && !self.is_calm => self.failed(),
            _ if self.is_calm => AttemptVerdict::Delivered,
            Receiver::Up if self.dice.happens(20) => self.failed(),
            Receiver::Flaky if self.dice.happens(600) => self.failed(),
            Receiver::Down => self.failed(),
            Receiver::Gone => AttemptVerdict::Gone,
            Receiver::Up | Receiver::Flaky if self.dice.happens(15) => AttemptVerdict::Abort,
            Receiver::Up | Receiver::Flaky => AttemptVerdict::Delivered,
        };
        let delay = match self.dice.below(40) {
            0 => self.dice.time(15 * SECOND, 100 * SECOND),
            1..=5 => self.dice.time(SECOND, 15 * SECOND),
            _ => self.dice.time(Duration::from_millis(5), SECOND),
        };
        let chance = self.dice.below(1_000) as f64 / 999.0;
        self.after(delay, Event::Input(self.process, Input::Attempted { attempt, verdict, chance }));
    }

    fn failed(&mut self) -> AttemptVerdict {
        let longest = if self.dice.happens(700) { 2 * MINUTE } else { 30 * HOUR };
        let retry_after = self.dice.time(Duration::ZERO, longest);
        AttemptVerdict::Failed { retry_after: self.dice.happens(200).then_some(retry_after) }
    }

    fn write(&mut self, write: Write) {
        let fails = !self.is_calm && (self.now < self.store_fails_until || self.dice.happens(20));
        if !fails || self.dice.happens(300) {
            self.carry_out(write);
        }
        let result = if fails { Err("the write failed".to_owned()) } else { Ok(()) };
        self.feed(Input::Written(result));
    }

    fn carry_out(&mut self, write: Write) {
        store(&mut self.stored, write);
        self.rules.check_stored(&self.stored);
    }

    fn grow(&mut self) {
        let pause = if self.dice.happens(700) {
            self.dice.time(SECOND, MINUTE)
        } else {
            self.dice.time(SECOND, 8 * HOUR)
        };
        self.after(pause, Event::Growth);
        if self.log.len() >= EVENTS || self.is_calm {
            return;
        }
        for _ in 0..self.dice.between(1, 12) {
            let last = self.log.last().map_or(0, |(item, ..)| item.sequence);
            let sequence = last + self.dice.between(1, 3) as i64;
            let key = self.dice.happens(900).then(|| self.dice.below(6));
            let is_wanted = self.dice.happens(700);
            let item = EventItem { sequence, key };
            self.log.push((item, self.moment().wall, is_wanted));
            if is_wanted {
                self.rules.add(item);
            }
        }
        self.feed(Input::Grew);
    }

    fn chance(&mut self) {
        if self.is_calm {
            return;
        }
        if self.rules.is_disabled && self.dice.happens(400) {
            self.enable();
        }
        match self.dice.below(30) {
            0..4 if self.machine.is_some() => self.kill(),
            4 => self.feed(Input::Stop),
            5 => self.feed(Input::Disable),
            6..8 => self.store_fails_until = self.now + self.dice.time(SECOND, 10 * MINUTE),
            8 => {
                let [max_in_flight, batch] = [self.dice.between(1, 4), self.dice.between(1, 100)];
                self.settings =
                    EndpointSettings { max_in_flight: max_in_flight as usize, batch: batch as usize };
                self.rules.settings_changed(&self.settings);
                self.feed(Input::Changed(self.settings));
            }
            9..12 => self.receiver = Receiver::Flaky,
            12..17 => self.receiver = Receiver::Down,
            17 => self.receiver = Receiver::Gone,
            18..20 => self.replay(),
            _ => {
                self.receiver = Receiver::Up;
                // A person tests it.
                if self.dice.happens(300) {
                    self.feed(Input::Mended);
                }
            }
        }
        let outage = self.dice.time(MINUTE, self.longest_outage);
        let pause = if self.receiver == Receiver::Up { self.dice.time(SECOND, 3 * HOUR) } else { outage };
        self.after(pause, Event::Chance);
    }

    fn enable(&mut self) {
        if self.machine.is_none() {
            return;
        }
        let end = self.log.last().map_or(0, |(item, ..)| item.sequence);
        let resume = if self.dice.happens(200) { Resume::FromNow { end } } else { Resume::CatchUp };
        self.feed(Input::Enable(resume));
    }

    /// Nothing goes wrong any more, and people enable the endpoint: soon everything is done.
    fn end(&mut self) {
        self.is_calm = true;
        self.receiver = Receiver::Up;
        self.run_until(self.now + 10 * MINUTE);
        if self.rules.is_disabled {
            self.feed(Input::Enable(Resume::CatchUp));
        }
        self.run_until(self.now + 30 * HOUR);
        self.rules.check_end(&self.stored);
        let last = self.log.last().map_or(0, |(item, ..)| item.sequence);
        assert_eq!((self.stored.cursor, self.stored.retries.len()), (last, 0), "everything is done");
        assert_eq!(self.stored.health.state, EndpointState::Enabled);
        assert!(
            self.stored.replay.is_none_or(|range| range.after >= range.up_to),
            "{:?}",
            self.stored.replay
        );
    }
}

#[test]
fn nothing_is_lost_or_out_of_order_whatever_happens_to_the_endpoint() {
    let mut counts = BTreeMap::new();
    for seed in 0..WORLDS {
        let mut world = World::new(seed);
        let days = world.dice.between(1, 6) as u32;
        world.run_until(if seed.is_multiple_of(10) { 20 } else { days } * DAY);
        world.end();
        for (word, count) in world.rules.counts {
            *counts.entry(word).or_insert(0_u64) += count;
        }
    }
    let least = [
        ("first attempts", 20_000),
        ("repetitions after a failure", 10_000),
        ("repetitions after a restart", 300),
        ("probes", 10_000),
        ("mended", 50),
        ("batches", 500),
        ("aborted", 100),
        ("exhausted", 100),
        ("missing", 10),
        ("lost", 10),
        ("recovered", 100),
        ("disabled: Gone", 20),
        ("disabled: Person", 20),
        ("disabled: Failing", 5),
        ("sent once more", 1_000),
        ("starts", 500),
        ("ends", 50),
        ("dropped by a person", 100),
    ];
    for (word, least) in least {
        let count = counts.get(word).copied().unwrap_or_default();
        assert!(count >= least, "{word}: {count}, too little happens: {counts:?}");
    }
}
