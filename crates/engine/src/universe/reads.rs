//! Reading the store for channels: the answers are as old as the wait for them.

use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

use uuid::Uuid;

use super::world::{Event, World};
use crate::channel::machine::{
    Counting, Failed, Fetch, Fetched, Found, Input, Question, Restoring, Waits, WebActivity,
};
use clock::Timestamp;
use domain::channel::Kind;
use domain::message::Key;
use domain::phone::PhoneNumber;
use domain::send::Recipients;
use store::sends::Unfinished;
use store::suppressions::Word;

/// A question to the store.
pub(super) enum Reading {
    Sends(Box<Fetch>),
    Waits(Uuid),
    Recipients { send_id: Uuid, from: u64 },
    States { question: Question, messages: Vec<Key> },
    WebActivity(Timestamp),
}

impl World {
    /// Asks the store, which takes its time.
    pub(super) fn ask_store(&mut self, channel: usize, reading: Reading) {
        let wait = self.read_time();
        let Some(process) = &mut self.process else { return };
        process.channels[channel].under_way += 1;
        let life = process.life;
        self.after(wait, Event::Read { life, channel, reading: Box::new(reading) });
    }

    fn read_time(&mut self) -> Duration {
        if self.goes_wrong(self.plan.trouble.read_is_slow) {
            return self.dice.time(Duration::from_millis(100), Duration::from_secs(5));
        }
        Duration::from_micros(self.dice.between(100, 3_000))
    }

    /// The store answers; the answer takes its time too.
    pub(super) fn read(&mut self, channel: usize, reading: Reading) {
        let fails = self.store_fails();
        let input = match reading {
            Reading::Sends(fetch) => {
                let size = fetch.size;
                let result = if fails { failed() } else { self.fetch(channel, *fetch) };
                Input::Fetched { size, result }
            }
            Reading::Waits(send_id) => {
                let horizon = self.clock.wall().plus(Waits::HORIZON);
                let waiting = || self.model.waiting(send_id, horizon, Waits::AT_ONCE);
                let result = if fails { failed() } else { Ok(Waits::new(send_id, waiting())) };
                Input::WaitsRead { send_id, result }
            }
            Reading::Recipients { send_id, from } => {
                let result = if fails { failed() } else { self.numbers_from(send_id, from) };
                Input::RecipientsRead { send_id, from, result }
            }
            Reading::States { question, messages } => {
                let result = if fails {
                    failed()
                } else {
                    let state = |key: &Key| Some((*key, self.model.message(*key)?.state));
                    Ok(messages.iter().filter_map(state).collect())
                };
                Input::StatesRead { question, result }
            }
            Reading::WebActivity(since) => {
                let result = if fails { failed() } else { Ok(self.web_activity(channel, since)) };
                Input::WebActivityRead(result)
            }
        };
        let wait = self.read_time();
        let Some(process) = &self.process else { return };
        let life = process.life;
        self.after(wait, Event::Tell { life, channel, input: Box::new(input), is_answer: true });
    }

    /// What a web session did since then.
    fn web_activity(&self, channel: usize, since: Timestamp) -> WebActivity {
        let attempts = self.model.web_attempts_since(self.channels[channel].id, since);
        let strangers = self.web.keys.first_sent_since(channel, since);
        let kept = self.model.kept_turns(self.channels[channel].id, self.clock.wall());
        let is_stranger = |number: &PhoneNumber| self.web.keys.is_stranger(channel, *number);
        let kept = kept.into_iter().map(|(id, number)| (id, number.filter(is_stranger))).collect();
        WebActivity { attempts, strangers, asked: Vec::new(), kept }
    }

    fn fetch(&self, channel: usize, fetch: Fetch) -> Result<Fetched, Failed> {
        let Fetch { size, ready, held, room, counted } = fetch;
        let record = &self.channels[channel];
        let limit = held.len() + room;
        let next_due = self.model.next_due_send(record.id, ready.now);
        let unfinished = self.model.unfinished(record.id, size, ready, limit);
        let mut all = unfinished.len() < limit;
        let mut new = unfinished.into_iter().filter(|send| !held.contains(&send.id));
        let mut fetched = Fetched {
            found: Vec::new(),
            broken: Vec::new(),
            all,
            next_due,
            took: None,
            nobody_counted: HashMap::new(),
        };
        self.restore_all(record.kind, new.by_ref().take(room).collect(), &mut fetched);
        all &= new.next().is_none();
        if let Some(counting) = counted.filter(|_| fetched.found.len() < room) {
            let places = self.look_for_counted(channel, size, &counting, &held, room - fetched.found.len());
            all &= places.len() < room - fetched.found.len();
            let ids: Vec<_> = places.keys().copied().collect();
            let first = fetched.found.len();
            self.restore_all(record.kind, self.model.unfinished_among(&ids), &mut fetched);
            for found in &mut fetched.found[first..] {
                found.counted_at = places.get(&found.id()).copied().flatten();
            }
            fetched.took = Some(Duration::from_micros(500));
        }
        Ok(Fetched { all, ..fetched })
    }

    /// The oldest sends of templates that are for people who count against the quota already, each with the first
    /// message that is.
    fn look_for_counted(
        &self,
        channel: usize,
        size: store::sends::Size,
        counting: &Counting,
        held: &std::collections::HashSet<Uuid>,
        room: usize,
    ) -> HashMap<Uuid, Option<u64>> {
        let record = &self.channels[channel];
        let waiting =
            self.model.waiting_templates(record.id, size, self.clock.wall(), Uuid::nil(), usize::MAX);
        let mut places = HashMap::new();
        for candidate in waiting.iter().filter(|candidate| !held.contains(&candidate.id)) {
            if places.len() >= room {
                break;
            }
            let place = match candidate.recipients {
                Recipients::One(number) => counting.counts(number).then_some(None),
                Recipients::Group => Some(None),
                Recipients::Blocks(count) => {
                    let mut rest = candidate.high_water..count;
                    let counts = |ordinal: u64| {
                        self.number(candidate.id, ordinal).is_some_and(|it| counting.counts(it))
                    };
                    rest.find(|ordinal| counts(*ordinal)).map(Some)
                }
            };
            if let Some(place) = place {
                places.insert(candidate.id, place);
            }
        }
        places
    }

    fn restore_all(&self, kind: Kind, sends: Vec<Unfinished>, fetched: &mut Fetched) {
        for send in sends {
            let id = send.id;
            match self.restore(kind, send) {
                Some(found) => fetched.found.push(found),
                None => fetched.broken.push(id),
            }
        }
    }

    fn restore(&self, kind: Kind, send: Unfinished) -> Option<Found> {
        let wall = self.clock.wall();
        let started = send.progress.high_water > 0;
        let horizon = wall.plus(Waits::HORIZON);
        let waiting =
            if started { self.model.waiting(send.id, horizon, Waits::AT_ONCE) } else { Default::default() };
        let recorded: BTreeSet<_> = self.model.recorded(send.id, send.progress).into_iter().collect();
        let between = send.progress.settled..send.progress.high_water;
        let mut unknown = Vec::new();
        for ordinal in between.filter(|ordinal| !recorded.contains(ordinal)) {
            let recipient = match send.recipients {
                Recipients::One(number) => Some(number),
                Recipients::Group => None,
                Recipients::Blocks(_) => Some(self.number(send.id, ordinal)?),
            };
            unknown.push((ordinal, recipient));
        }
        Found::new(Restoring { kind, send, waiting, recorded, unknown, wall }).ok()
    }

    /// The recipient at this place of a bulk send.
    pub(super) fn number(&self, send_id: Uuid, ordinal: u64) -> Option<PhoneNumber> {
        let (first, numbers) = self.model.block_at(send_id, ordinal).ok()?;
        numbers.get(usize::try_from(ordinal - first).ok()?).copied()
    }

    fn numbers_from(&self, send_id: Uuid, from: u64) -> Result<Vec<PhoneNumber>, Failed> {
        let (first, mut numbers) = self.model.block_at(send_id, from).map_err(|_| Failed::Permanently)?;
        let used = usize::try_from(from - first).unwrap_or(usize::MAX).min(numbers.len());
        numbers.drain(..used);
        if numbers.is_empty() { Err(Failed::Permanently) } else { Ok(numbers) }
    }

    /// Reads the suppressions of these recipients again.
    pub(super) fn look_up(&mut self, words: &[Word]) {
        let Some(process) = &self.process else { return };
        let subjects: Vec<_> = words.iter().map(Word::subject).collect();
        for record in self.model.suppressions_among(&subjects, self.clock.wall()) {
            process.common.suppressions.add(record);
        }
    }
}

/// The store does not answer now.
const fn failed<T>() -> Result<T, Failed> {
    Err(Failed::Temporarily)
}
