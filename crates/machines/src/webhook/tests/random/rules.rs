//! What must hold in every world, checked at each attempt, write and notice against a record of all events.

use std::collections::BTreeMap;

use super::super::retries::MOST_RETRIES;
use super::*;

/// What happened to one event that the endpoint wants.
#[derive(Debug)]
struct Fate {
    key: Option<u64>,
    attempts: u32,
    failures: u32,
    /// The process that attempted it last.
    process: u32,
    /// When the process may attempt it again after a failure.
    not_before: Option<Duration>,
    /// It was delivered or given up.
    is_settled: bool,
    /// The log or a person dropped it.
    is_dropped: bool,
}

#[derive(Default)]
pub(super) struct Rules {
    fates: BTreeMap<i64, Fate>,
    in_flight: BTreeMap<AttemptId, Vec<i64>>,
    process: u32,
    failures: u32,
    last_probe: Option<(AttemptId, Duration)>,
    pub(super) is_disabled: bool,
    is_stopping: bool,
    /// The most that any settings of this process allowed.
    capacity: usize,
    pub(super) counts: BTreeMap<String, u64>,
}

fn capacity(settings: &EndpointSettings) -> usize {
    (4 * settings.max_in_flight * settings.batch).max(64)
}

impl Rules {
    fn count(&mut self, word: &str) {
        *self.counts.entry(word.to_owned()).or_default() += 1;
    }

    pub(super) fn add(&mut self, item: EventItem) {
        let fate = Fate {
            key: item.key,
            attempts: 0,
            failures: 0,
            process: 0,
            not_before: None,
            is_settled: false,
            is_dropped: false,
        };
        self.fates.insert(item.sequence, fate);
    }

    pub(super) fn start(&mut self, process: u32, stored: &Stored) {
        self.process = process;
        self.in_flight.clear();
        self.failures = stored.health.failures;
        self.is_disabled = stored.health.state != EndpointState::Enabled;
        self.is_stopping = false;
        // Retries beyond the cursor may be those of a greater window.
        self.capacity = 64 + stored.retries.iter().filter(|it| it.item.sequence > stored.cursor).count();
        self.count("starts");
    }

    pub(super) fn settings_changed(&mut self, settings: &EndpointSettings) {
        self.capacity = self.capacity.max(capacity(settings));
    }

    pub(super) fn ended(&mut self) {
        assert!(self.is_stopping && self.in_flight.is_empty());
        self.count("ends");
    }

    pub(super) fn hear(&mut self, input: &Input, replays: bool, now: Duration) {
        match input {
            Input::ReplayRead(Ok(page)) if replays => {
                for item in &page.items {
                    let Some(fate) = self.fates.get_mut(&item.sequence) else { continue };
                    fate.not_before = Some(now);
                    if std::mem::take(&mut fate.is_settled) {
                        (fate.failures, fate.is_dropped) = (0, false);
                        self.count("sent once more");
                    }
                }
            }
            Input::Attempted { attempt, verdict, .. } => self.verdict(*attempt, *verdict, now),
            Input::Enable(resume) if self.is_disabled => {
                (self.is_disabled, self.failures) = (false, 0);
                if let Resume::FromNow { end } = resume {
                    let dropped = self.fates.range_mut(..=end).filter(|(_, fate)| !fate.is_settled);
                    let dropped = dropped.map(|(_, fate)| fate.is_dropped = true).count();
                    *self.counts.entry("dropped by a person".to_owned()).or_default() += dropped as u64;
                }
            }
            Input::Mended if self.failures >= 5 && !self.is_disabled => {
                self.last_probe = None;
                self.count("mended");
            }
            Input::Stop => self.is_stopping = true,
            _ => {}
        }
    }

    fn verdict(&mut self, attempt: AttemptId, verdict: AttemptVerdict, now: Duration) {
        let sequences = self.in_flight.remove(&attempt).unwrap();
        for sequence in &sequences {
            let fate = self.fates.get_mut(sequence).unwrap();
            match verdict {
                AttemptVerdict::Delivered | AttemptVerdict::Abort | AttemptVerdict::Missing => {
                    fate.is_settled = true;
                }
                AttemptVerdict::Failed { retry_after } => {
                    fate.failures += 1;
                    fate.not_before = Some(now + retry_after.unwrap_or_default().min(DAY));
                }
                AttemptVerdict::Gone => fate.not_before = Some(now),
            }
        }
        match verdict {
            _ if self.is_disabled => {}
            AttemptVerdict::Delivered | AttemptVerdict::Abort => self.failures = 0,
            AttemptVerdict::Failed { .. } => self.failures += 1,
            AttemptVerdict::Gone => {}
            AttemptVerdict::Missing => {
                self.last_probe.take_if(|(probe, _)| *probe == attempt);
            }
        }
    }

    pub(super) fn attempt(
        &mut self,
        id: AttemptId,
        sequences: &[i64],
        log: &[(EventItem, Timestamp, bool)],
        settings: &EndpointSettings,
        stored: &Stored,
        now: Duration,
    ) {
        assert!(!self.is_disabled && !self.is_stopping, "an attempt while disabled or stopping");
        assert!(self.in_flight.len() < settings.max_in_flight, "too many attempts in flight");
        assert!((1..=settings.batch).contains(&sequences.len()), "{sequences:?}");
        assert!(sequences.is_sorted_by(|one, other| one < other), "{sequences:?}");
        if self.failures >= 5 {
            assert!(self.in_flight.is_empty() && sequences.len() == 1, "a probe is one event, alone");
            let last = self.last_probe.replace((id, now));
            assert!(last.is_none_or(|(_, last)| now >= last + MINUTE), "more than one probe a minute");
            self.count("probes");
        }
        if sequences.len() > 1 {
            self.count("batches");
        }
        let keys: Vec<_> =
            self.in_flight.values().flatten().filter_map(|sequence| self.fates[sequence].key).collect();
        let is_free = |key: Option<u64>| key.is_none_or(|key| !keys.contains(&key));
        for sequence in sequences {
            let fate = &self.fates[sequence];
            assert!(is_free(fate.key), "{sequence}: two attempts of one key");
            let is_open = *sequence > stored.cursor
                || stored.retries.iter().any(|retry| retry.item.sequence == *sequence)
                || stored.replay.is_some_and(|range| (range.after + 1..=range.up_to).contains(sequence));
            assert!(is_open, "{sequence} is over, and the store knows");
            if fate.attempts == 0 {
                let earlier = self.fates.range(..sequence).rev().take(capacity(settings) + 400);
                let passed = earlier.filter(|(earlier, fate)| {
                    fate.attempts == 0
                        && !fate.is_dropped
                        && is_free(fate.key)
                        && !sequences.contains(earlier)
                });
                assert_eq!(passed.map(|(earlier, _)| *earlier).next(), None, "{sequence} passes an event");
                self.count("first attempts");
            } else if fate.process == self.process {
                let not_before = fate.not_before.expect("a repetition without a failure");
                assert!(now >= not_before, "{sequence} is repeated too early");
                self.count("repetitions after a failure");
            } else {
                self.count("repetitions after a restart");
            }
        }
        assert!(log.iter().all(|(item, _, is_wanted)| *is_wanted || !sequences.contains(&item.sequence)));
        for sequence in sequences {
            let fate = self.fates.get_mut(sequence).unwrap();
            fate.attempts += 1;
            (fate.process, fate.not_before) = (self.process, None);
        }
        self.in_flight.insert(id, sequences.to_vec());
        self.settings_changed(settings);
        let beyond = self.fates.range(stored.cursor + 1..);
        let beyond = beyond.filter(|(_, fate)| fate.attempts > 0 && fate.process == self.process);
        assert!(beyond.count() <= self.capacity, "too many attempts beyond the stored cursor");
    }

    /// Events after `after` up to `begin` were removed from the log before they were read.
    pub(super) fn removed(&mut self, after: i64, begin: i64) {
        if begin > after {
            self.fates.range_mut(after + 1..=begin).for_each(|(_, fate)| fate.is_dropped = true);
            self.count("lost");
        }
    }

    /// `begin` is the sequence after which the log begins.
    pub(super) fn told(&mut self, notice: &Notice, begin: i64) {
        match notice {
            Notice::Disabled { cause, .. } => {
                assert!(!self.is_disabled, "disabled twice");
                assert!(*cause != DisableCause::Failing || self.failures >= 5);
                self.is_disabled = true;
                self.count(&format!("disabled: {cause:?}"));
            }
            Notice::Recovered { .. } => {
                assert_eq!(self.failures, 0);
                self.count("recovered");
            }
            Notice::GivenUp { sequences, reason } => {
                for sequence in sequences {
                    let fate = self.fates.get_mut(sequence).unwrap();
                    let is_old = *sequence <= begin;
                    match reason {
                        GivenUp::Exhausted => assert!(fate.failures >= 10, "{fate:?}"),
                        GivenUp::Crowded => panic!("so many events do not fail here: {fate:?}"),
                        GivenUp::Missing => assert!(is_old),
                        GivenUp::Aborted => assert!(fate.is_settled),
                    }
                    fate.is_settled = true;
                    self.count(&format!("{reason:?}").to_lowercase());
                }
            }
        }
    }

    pub(super) fn check_bounds(&mut self, machine: &Machine, settings: &EndpointSettings) {
        self.settings_changed(settings);
        assert!(machine.window.len() <= self.capacity, "{} events in memory", machine.window.len());
        assert!(machine.retries.len() <= MOST_RETRIES);
        assert_eq!(machine.attempts.len(), self.in_flight.len());
    }

    /// The stored cursor has passed only events whose outcome or retry is stored.
    pub(super) fn check_stored(&self, stored: &Stored) {
        for (sequence, fate) in self.fates.range(..=stored.cursor) {
            let has_retry = || stored.retries.iter().any(|retry| retry.item.sequence == *sequence);
            let is_replayed =
                || stored.replay.is_some_and(|range| (range.after + 1..=range.up_to).contains(sequence));
            let is_open = !fate.is_settled && !fate.is_dropped;
            assert!(!is_open || has_retry() || is_replayed(), "{sequence} is lost: {fate:?}");
        }
    }

    /// Every event has come to its end.
    pub(super) fn check_end(&self, stored: &Stored) {
        self.check_stored(stored);
        let open: Vec<_> =
            self.fates.iter().filter(|(_, fate)| !fate.is_settled && !fate.is_dropped).collect();
        assert!(open.is_empty() && self.in_flight.is_empty(), "{open:?}");
    }
}
