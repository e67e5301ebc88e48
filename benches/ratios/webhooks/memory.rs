//! The memory of endpoints whose receivers are away for three days while their companies are busy: their machines alone, in
//! virtual time. What a machine keeps while its receiver is away must not grow with what happens meanwhile.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use machines::Moment;
use machines::webhook::{
    AttemptId, AttemptVerdict, Effect, Effects, EndpointHealth, EndpointSettings, EventItem, Input, LogPage,
    Machine, Stored,
};
use pombo::clock::Timestamp;
use uuid::Uuid;

use crate::Row;
use crate::service::resident_kib;

/// So many endpoints that a page of memory more or less is not seen.
const ENDPOINTS: usize = 32;
/// With these, a machine has the most events in memory.
const SETTINGS: EndpointSettings = EndpointSettings { max_in_flight: 4, batch: 100 };
const EVENTS_A_DAY: u64 = 1_000_000;
/// The people of a company: each is in every so many events.
const PEOPLE: i64 = 50_000;
const HOUR: Duration = Duration::from_secs(60 * 60);
const DAY: Duration = Duration::from_secs(24 * 60 * 60);
const OUTAGE: Duration = Duration::from_secs(3 * 24 * 60 * 60);
/// How often the log grows and the clock moves.
const STEP: Duration = Duration::from_secs(5);
/// How long a receiver is awaited that does not answer.
const TIMEOUT: Duration = Duration::from_secs(10);
/// At least this many attempts fail: one a minute.
const FAILURES: u32 = 4_000;

/// An endpoint with a receiver that never answers.
struct DeadEndpoint {
    machine: Machine,
    /// Attempts in flight, and when each is given up.
    attempts: Vec<(AttemptId, Instant)>,
    wakes_at: Option<Instant>,
    effects: Effects,
}

pub(super) fn measure() -> Row {
    // The program's own pages, which count as memory, are in use when the measurement begins.
    let mut warm = endpoints(1);
    live(&mut warm, HOUR);
    let before = resident_kib();
    let mut all = endpoints(ENDPOINTS);
    let [begin, end] =
        live(&mut all, OUTAGE).map(|most| most.saturating_sub(before) as f64 / ENDPOINTS as f64);
    for endpoint in &all {
        let failures = endpoint.machine.health().failures;
        assert!(failures > FAILURES, "{failures} attempts failed");
    }
    // Until here, the others could not take its memory.
    drop(warm);
    Row {
        what: "memory of a dead endpoint in the last hour of three days, 1 M events a day",
        ours: format!("{end:.0} KiB"),
        yardstick: format!("the first hour: {begin:.0} KiB"),
        ratio: format!("{:.2}", end / begin),
        bound: "≤ 1.05",
    }
}

fn endpoints(count: usize) -> Vec<DeadEndpoint> {
    (0..count).map(|_| DeadEndpoint::new(now())).collect()
}

fn now() -> Moment {
    Moment { monotonic: Instant::now(), wall: Timestamp::now() }
}

/// Passes this time. Returns the most memory of the process in the first hour and in the last one, in KiB.
fn live(endpoints: &mut [DeadEndpoint], time: Duration) -> [i64; 2] {
    let (origin, mut passed, [mut first, mut last]) = (now(), Duration::ZERO, [0, 0]);
    while passed < time {
        passed += STEP;
        let at = Moment { monotonic: origin.monotonic + passed, wall: origin.wall.plus(passed) };
        let newest = i64::try_from(passed.as_secs() * EVENTS_A_DAY / DAY.as_secs()).unwrap();
        endpoints.iter_mut().for_each(|endpoint| endpoint.pass(at, newest));
        if passed <= HOUR {
            first = first.max(resident_kib());
        }
        if passed + HOUR > time {
            last = last.max(resident_kib());
        }
    }
    [first, last]
}

impl DeadEndpoint {
    fn new(at: Moment) -> Self {
        let stored = Stored { cursor: 0, health: EndpointHealth::NEW, retries: Vec::new(), replay: None };
        Self {
            machine: Machine::new(Uuid::nil(), SETTINGS, stored, at),
            attempts: Vec::new(),
            // The first input is that of the timer.
            wakes_at: Some(at.monotonic),
            effects: Effects::default(),
        }
    }

    /// Hears of everything up to this time, and of events up to the newest one. The store answers at once.
    fn pass(&mut self, at: Moment, newest: i64) {
        let mut inputs = VecDeque::new();
        if self.wakes_at.take_if(|time| *time <= at.monotonic).is_some() {
            inputs.push_back(Input::Timer);
        }
        inputs.push_back(Input::Grew);
        let given_up = self.attempts.extract_if(.., |(_, end)| *end <= at.monotonic);
        inputs.extend(given_up.map(|(attempt, _)| failed(attempt)));
        while let Some(input) = inputs.pop_front() {
            self.machine.handle(input, at, &mut self.effects);
            for effect in self.effects.drain() {
                match effect {
                    Effect::Read { after, limit } => {
                        inputs.push_back(Input::Read(Ok(page(after, limit, newest))));
                    }
                    Effect::Attempt { id, .. } => self.attempts.push((id, at.monotonic + TIMEOUT)),
                    Effect::Write(_) => inputs.push_back(Input::Written(Ok(()))),
                    Effect::WakeAt(time) => self.wakes_at = Some(time),
                    // Nobody wants events once more, and nobody stops the process.
                    Effect::Tell(_) | Effect::ReadReplay { .. } | Effect::End => {}
                }
            }
        }
    }
}

fn failed(attempt: AttemptId) -> Input {
    let chance = (attempt.0 % 100) as f64 / 99.0;
    Input::Attempted { attempt, verdict: AttemptVerdict::Failed { retry_after: None }, chance }
}

/// A part of the log, whose sequences have no gaps here.
fn page(after: i64, limit: usize, newest: i64) -> LogPage {
    let last = newest.min(after + i64::try_from(limit).unwrap());
    let item = |sequence: i64| EventItem { sequence, key: Some((sequence % PEOPLE).unsigned_abs()) };
    LogPage { items: (after + 1..=last).map(item).collect(), up_to: last, is_end: last == newest }
}
