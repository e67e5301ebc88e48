//! Attempts of an endpoint: which events are sent next, and what their results mean.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use super::Machine;
use super::circuit::{DisableCause, EndpointState, PROBE_INTERVAL};
use super::effect::{AttemptId, Effect, Effects, GivenUp, Notice};
use super::input::{AttemptVerdict, EventItem};
use super::retries::{MOST_RETRIES, Retry, bounded};
use crate::Moment;

/// Where the events of an attempt come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AttemptSource {
    Log,
    Retries,
}

#[derive(Debug)]
struct RunningAttempt {
    items: Vec<EventItem>,
    source: AttemptSource,
    is_probe: bool,
}

/// The attempts in flight.
#[derive(Debug, Default)]
pub(super) struct Attempts {
    in_flight: BTreeMap<AttemptId, RunningAttempt>,
    /// The keys of their events.
    keys: BTreeSet<u64>,
    last: u64,
    /// The source of the last normal attempt: the other one is next.
    was_retry: bool,
}

impl Attempts {
    pub(super) fn len(&self) -> usize {
        self.in_flight.len()
    }

    /// The events of the log that are in flight.
    fn of_log(&self) -> usize {
        let attempts = self.in_flight.values().filter(|attempt| attempt.source == AttemptSource::Log);
        attempts.map(|attempt| attempt.items.len()).sum()
    }

    fn begin(&mut self, attempt: RunningAttempt) -> AttemptId {
        self.last += 1;
        let id = AttemptId(self.last);
        self.keys.extend(attempt.items.iter().filter_map(|item| item.key));
        self.in_flight.insert(id, attempt);
        id
    }

    fn end(&mut self, id: AttemptId) -> Option<RunningAttempt> {
        let attempt = self.in_flight.remove(&id)?;
        for key in attempt.items.iter().filter_map(|item| item.key) {
            self.keys.remove(&key);
        }
        Some(attempt)
    }
}

impl Machine {
    /// Begins all attempts that may begin now.
    pub(super) fn attempt(&mut self, now: Instant, effects: &mut Effects) {
        while self.attempts.len() < self.settings.max_in_flight {
            let next = if self.circuit.is_open() { self.next_probe(now) } else { self.next_batch(now) };
            let Some(attempt) = next else { return };
            let sequences: Vec<_> = attempt.items.iter().map(|item| item.sequence).collect();
            for sequence in &sequences {
                match attempt.source {
                    AttemptSource::Log => self.window.begin(*sequence),
                    AttemptSource::Retries => self.retries.begin(*sequence),
                }
            }
            let id = self.attempts.begin(attempt);
            effects.push(Effect::Attempt { id, sequences });
        }
    }

    /// The next probe: one event, while nothing else is in flight.
    fn next_probe(&mut self, now: Instant) -> Option<RunningAttempt> {
        if self.attempts.len() > 0 || now < self.circuit.probe_at {
            return None;
        }
        let retry = self.retries.longest_due(now).map(|item| (item, AttemptSource::Retries));
        let next = retry.or_else(|| self.window.waiting(now).next().map(|item| (*item, AttemptSource::Log)));
        let (item, source) = next?;
        self.circuit.probe_at = now + PROBE_INTERVAL;
        Some(RunningAttempt { items: vec![item], source, is_probe: true })
    }

    /// The next events of the log or of the retries, in turn, so that neither waits for all of the other.
    fn next_batch(&mut self, now: Instant) -> Option<RunningAttempt> {
        let is_free = |item: &EventItem| item.key.is_none_or(|key| !self.attempts.keys.contains(&key));
        let batch = |source| {
            let items: Vec<EventItem> = match source {
                AttemptSource::Log => {
                    let free = self.window.waiting(now).filter(|item| is_free(item));
                    free.take(self.settings.batch).copied().collect()
                }
                AttemptSource::Retries => {
                    let mut free = self.retries.due(now).filter(|retry| is_free(&retry.item)).peekable();
                    // Of events that failed together, one may be at fault: they are tried in smaller and smaller parts.
                    let attempts = free.peek().map_or(0, |first| first.attempts);
                    let part = (self.settings.batch >> attempts.min(7)).max(1);
                    free.take_while(|retry| retry.attempts <= attempts).take(part).map(|it| it.item).collect()
                }
            };
            (!items.is_empty()).then_some(RunningAttempt { items, source, is_probe: false })
        };
        let (first, second) = match self.attempts.was_retry {
            true => (AttemptSource::Log, AttemptSource::Retries),
            false => (AttemptSource::Retries, AttemptSource::Log),
        };
        let next = batch(first).or_else(|| batch(second))?;
        self.attempts.was_retry = next.source == AttemptSource::Retries;
        Some(next)
    }

    /// An attempt ended.
    pub(super) fn attempted(
        &mut self,
        id: AttemptId,
        verdict: AttemptVerdict,
        chance: f64,
        at: Moment,
        effects: &mut Effects,
    ) {
        let Some(attempt) = self.attempts.end(id) else { return };
        match verdict {
            AttemptVerdict::Delivered => {
                self.settle(&attempt);
                self.succeeded(at, effects);
            }
            AttemptVerdict::Abort => {
                let aborted = self.settle(&attempt);
                aborted.iter().for_each(|sequence| self.retries.give_up(*sequence));
                give_up(aborted, GivenUp::Aborted, effects);
                self.succeeded(at, effects);
            }
            AttemptVerdict::Missing => {
                give_up(self.settle(&attempt), GivenUp::Missing, effects);
                if attempt.is_probe {
                    self.circuit.probe_at = at.monotonic;
                }
            }
            AttemptVerdict::Gone => {
                self.disable(DisableCause::Gone, at, effects);
                for item in &attempt.items {
                    match attempt.source {
                        AttemptSource::Log => self.window.put_back(item.sequence, None),
                        AttemptSource::Retries => self.retries.put_back(item.sequence),
                    }
                }
            }
            AttemptVerdict::Failed { retry_after } => {
                self.failed(at, effects);
                self.try_again(&attempt, retry_after, chance, at, effects);
            }
        }
    }

    /// The events need no further attempt. Returns those that were not dropped meanwhile.
    fn settle(&mut self, attempt: &RunningAttempt) -> Vec<i64> {
        let sequences = attempt.items.iter().map(|item| item.sequence);
        match attempt.source {
            AttemptSource::Log => {
                let settled: Vec<_> = sequences.filter(|it| self.window.contains(*it)).collect();
                settled.iter().for_each(|sequence| self.window.settle(*sequence));
                settled
            }
            AttemptSource::Retries => {
                let settled: Vec<_> = sequences.filter(|it| self.retries.attempts(*it).is_some()).collect();
                settled.iter().for_each(|sequence| self.retries.remove(*sequence));
                settled
            }
        }
    }

    fn succeeded(&mut self, at: Moment, effects: &mut Effects) {
        if !self.circuit.is_enabled() {
            return;
        }
        if let Some(since) = self.circuit.succeeded(at) {
            tracing::info!(webhook.id = %self.endpoint, %since, "the webhook accepts events again");
            effects.push(Effect::Tell(Notice::Recovered { since }));
        }
        self.defer(at);
    }

    fn failed(&mut self, at: Moment, effects: &mut Effects) {
        if self.circuit.is_enabled() && self.circuit.failed(at) {
            self.disable(DisableCause::Failing, at, effects);
        }
    }

    /// Makes retries of failed events. While the circuit is open, events of the log wait in the log instead.
    fn try_again(
        &mut self,
        attempt: &RunningAttempt,
        retry_after: Option<Duration>,
        chance: f64,
        at: Moment,
        effects: &mut Effects,
    ) {
        let (mut exhausted, mut crowded) = (Vec::new(), Vec::new());
        for item in &attempt.items {
            let sequence = item.sequence;
            let before = match attempt.source {
                AttemptSource::Log if !self.window.contains(sequence) => continue,
                AttemptSource::Log if self.circuit.is_closed() && self.make_room(&mut crowded) => {
                    self.window.settle(sequence);
                    0
                }
                AttemptSource::Log => {
                    let not_before = retry_after.map(|_| at.monotonic + bounded(retry_after));
                    self.window.put_back(sequence, not_before);
                    continue;
                }
                AttemptSource::Retries => match self.retries.attempts(sequence) {
                    Some(attempts) => attempts,
                    None => continue,
                },
            };
            match Retry::after(*item, before + 1, retry_after, chance, at) {
                Some(retry) => self.retries.put(retry),
                None => {
                    self.retries.give_up(sequence);
                    exhausted.push(sequence);
                }
            }
        }
        give_up(exhausted, GivenUp::Exhausted, effects);
        give_up(crowded, GivenUp::Crowded, effects);
    }

    /// Makes room for a retry, and adds the event to `crowded` that is given up for that, if one is.
    fn make_room(&mut self, crowded: &mut Vec<i64>) -> bool {
        if self.retries.len() < MOST_RETRIES {
            return true;
        }
        let Some(sequence) = self.retries.most_failed() else { return false };
        self.retries.give_up(sequence);
        crowded.push(sequence);
        true
    }

    /// The circuit is closed: events of the log whose receiver asked for a later time become retries, so that they hold
    /// back no cursor.
    pub(super) fn defer(&mut self, at: Moment) {
        let deferred: Vec<_> = self.window.deferred(at.monotonic).collect();
        for (item, due) in deferred {
            if self.retries.len() + self.attempts.of_log() >= MOST_RETRIES {
                return;
            }
            let next_at = at.wall.plus(due.saturating_duration_since(at.monotonic));
            self.retries.put((Retry { item, attempts: 1, next_at }, due));
            self.window.settle(item.sequence);
        }
    }

    /// Disables the endpoint, unless it is.
    pub(super) fn disable(&mut self, cause: DisableCause, at: Moment, effects: &mut Effects) {
        if self.circuit.is_enabled() {
            tracing::warn!(webhook.id = %self.endpoint, ?cause, "the webhook is disabled, its events wait");
            self.circuit.health.state = EndpointState::Disabled { cause, since: at.wall };
            effects.push(Effect::Tell(Notice::Disabled { cause, since: at.wall }));
        }
    }
}

fn give_up(sequences: Vec<i64>, reason: GivenUp, effects: &mut Effects) {
    if !sequences.is_empty() {
        effects.push(Effect::Tell(Notice::GivenUp { sequences, reason }));
    }
}
