//! An endpoint's machine, driven by hand.

mod circuit;
mod disabling;
mod order;
mod random;
mod replaying;
mod retrying;
mod storing;

use std::collections::VecDeque;

use super::*;
use clock::Timestamp;

const WALL: Timestamp = Timestamp::from_millis(1_700_000_000_000);
const SECOND: Duration = Duration::from_secs(1);
const MINUTE: Duration = Duration::from_secs(60);
const HOUR: Duration = Duration::from_secs(60 * 60);
const DAY: Duration = Duration::from_secs(24 * 60 * 60);
const FAILED: AttemptVerdict = AttemptVerdict::Failed { retry_after: None };

fn new() -> Stored {
    Stored { cursor: 0, health: EndpointHealth::NEW, retries: Vec::new(), replay: None }
}

fn settings(max_in_flight: usize, batch: usize) -> EndpointSettings {
    EndpointSettings { max_in_flight, batch }
}

/// The machine, with a log and a store that answer at once, unless the test holds them.
struct Stage {
    machine: Machine,
    settings: EndpointSettings,
    now: Moment,
    log: Vec<EventItem>,
    /// The log begins after this sequence.
    begins_after: i64,
    stored: Stored,
    /// Attempts in flight.
    attempts: Vec<(AttemptId, Vec<i64>)>,
    notices: Vec<Notice>,
    reads: Vec<(i64, usize)>,
    /// The reads of the replay.
    replays: Vec<ReplayRange>,
    writes: Vec<Write>,
    /// The test answers writes.
    holds_writes: bool,
    wakes_at: Option<Instant>,
    is_over: bool,
}

impl Stage {
    fn new(max_in_flight: usize, batch: usize) -> Self {
        Self::start(new(), settings(max_in_flight, batch))
    }

    fn start(stored: Stored, settings: EndpointSettings) -> Self {
        let now = Moment { monotonic: Instant::now(), wall: WALL };
        let mut stage = Self {
            machine: Machine::new(Uuid::nil(), settings, stored.clone(), now),
            settings,
            now,
            log: Vec::new(),
            begins_after: i64::MIN,
            stored,
            attempts: Vec::new(),
            notices: Vec::new(),
            reads: Vec::new(),
            replays: Vec::new(),
            writes: Vec::new(),
            holds_writes: false,
            wakes_at: None,
            is_over: false,
        };
        stage.input(Input::Timer);
        stage
    }

    /// The process dies and starts again.
    fn restart(&mut self, settings: EndpointSettings) {
        let (log, now, begins_after) = (std::mem::take(&mut self.log), self.now, self.begins_after);
        self.machine = Machine::new(Uuid::nil(), settings, self.stored.clone(), now);
        (self.log, self.begins_after) = (log, begins_after);
        self.attempts.clear();
        self.input(Input::Timer);
    }

    fn input(&mut self, input: Input) {
        let mut inputs = VecDeque::from([input]);
        while let Some(input) = inputs.pop_front() {
            let mut effects = Effects::default();
            self.machine.handle(input, self.now, &mut effects);
            for effect in effects.drain() {
                match effect {
                    Effect::Read { after, limit } => {
                        self.reads.push((after, limit));
                        inputs.push_back(Input::Read(Ok(self.page(after, limit))));
                    }
                    Effect::ReadReplay { after, up_to, limit } => {
                        self.replays.push(ReplayRange { after, up_to });
                        inputs.push_back(Input::ReplayRead(Ok(self.replay_page(after, up_to, limit))));
                    }
                    Effect::Attempt { id, sequences } => self.attempts.push((id, sequences)),
                    Effect::Write(write) => {
                        self.writes.push(write.clone());
                        if !self.holds_writes {
                            store(&mut self.stored, write);
                            inputs.push_back(Input::Written(Ok(())));
                        }
                    }
                    Effect::Tell(notice) => self.notices.push(notice),
                    Effect::WakeAt(time) => self.wakes_at = Some(time),
                    Effect::End => self.is_over = true,
                }
            }
        }
    }

    fn page(&self, after: i64, limit: usize) -> LogPage {
        let rest = self.log.iter().filter(|item| item.sequence > after.max(self.begins_after)).copied();
        let items: Vec<_> = rest.clone().take(limit).collect();
        let is_end = rest.count() == items.len();
        let up_to = items.last().map_or(after.max(self.begins_after), |item| item.sequence);
        LogPage { items, up_to, is_end }
    }

    fn replay_page(&self, after: i64, up_to: i64, limit: usize) -> ReplayPage {
        let within = self.log.iter().filter(|item| (after + 1..=up_to).contains(&item.sequence)).copied();
        let items: Vec<_> = within.take(limit).collect();
        let read = items.last().filter(|_| items.len() == limit).map_or(up_to, |item| item.sequence);
        ReplayPage { items, up_to: read }
    }

    /// Events with these sequences and keys.
    fn append(&mut self, events: impl IntoIterator<Item = (i64, u64)>) {
        self.log.extend(events.into_iter().map(|(sequence, key)| EventItem { sequence, key: Some(key) }));
        self.input(Input::Grew);
    }

    /// Events, each of another person.
    fn append_of_each(&mut self, sequences: impl IntoIterator<Item = i64>) {
        self.append(sequences.into_iter().map(|sequence| (sequence, sequence.unsigned_abs())));
    }

    /// The events in flight, by requests.
    fn in_flight(&self) -> Vec<Vec<i64>> {
        self.attempts.iter().map(|(_, sequences)| sequences.clone()).collect()
    }

    /// The request that begins with this event ends.
    fn end_with(&mut self, sequence: i64, verdict: AttemptVerdict, chance: f64) {
        let place = self.attempts.iter().position(|(_, sequences)| sequences[0] == sequence);
        let place = place.unwrap_or_else(|| panic!("{sequence} is not in flight: {:?}", self.in_flight()));
        let (attempt, _) = self.attempts.remove(place);
        self.input(Input::Attempted { attempt, verdict, chance });
    }

    fn end(&mut self, sequence: i64, verdict: AttemptVerdict) {
        self.end_with(sequence, verdict, 0.5);
    }

    /// Fails attempts of these events until the circuit opens.
    fn open_circuit(&mut self, sequences: impl IntoIterator<Item = i64>) {
        sequences.into_iter().for_each(|sequence| self.end(sequence, FAILED));
        assert!(self.machine.health().failures >= 5);
    }

    /// The time passes, and the machine is woken when it asked for that.
    fn pass(&mut self, time: Duration) {
        let until = self.now.monotonic + time;
        while let Some(wake) = self.wakes_at.filter(|wake| *wake <= until) {
            self.wakes_at = None;
            self.turn(wake.saturating_duration_since(self.now.monotonic));
            self.input(Input::Timer);
        }
        self.turn(until.saturating_duration_since(self.now.monotonic));
    }

    fn turn(&mut self, time: Duration) {
        self.now = Moment { monotonic: self.now.monotonic + time, wall: self.now.wall.plus(time) };
    }

    fn notices(&mut self) -> Vec<Notice> {
        std::mem::take(&mut self.notices)
    }

    /// The sequences and attempts of the stored retries.
    fn retries(&self) -> Vec<(i64, u16)> {
        self.stored.retries.iter().map(|retry| (retry.item.sequence, retry.attempts)).collect()
    }
}

/// Carries out a write, as the store does.
fn store(stored: &mut Stored, write: Write) {
    let Write { cursor, health, put, remove, give_up, replay } = write;
    stored.cursor = cursor.unwrap_or(stored.cursor);
    stored.health = health.unwrap_or(stored.health);
    let is_new = |sequence| {
        remove.contains(&sequence)
            || give_up.contains(&sequence)
            || put.iter().any(|retry: &Retry| retry.item.sequence == sequence)
    };
    stored.retries.retain(|retry| !is_new(retry.item.sequence));
    stored.retries.extend(put);
    stored.retries.sort_by_key(|retry| retry.item.sequence);
    if let (Some(range), Some(after)) = (&mut stored.replay, replay) {
        range.after = after;
    }
}
