//! The shared figures of the test, written by the sending threads: phases, latencies, answers.

use std::collections::{BTreeMap, HashSet};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use parking_lot::{Mutex, MutexGuard};
use serde::Serialize;
use uuid::Uuid;

use super::client::Answer;
use super::latency::Latencies;
use super::ramp::Climbed;
use super::raw::{MOST_REQUESTS, Request};

/// What the service was doing when a single send was due.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// The first moments, in which connections are made and caches fill. They do not represent an idle
    /// service.
    WarmUp,
    /// No bulk send has been made yet.
    Idle,
    /// A bulk send waits for its 202.
    Accepting,
    /// Bulk sends are accepted, and their messages are still going out.
    Running,
    /// All messages of the bulk sends so far have gone out.
    After,
}

impl Phase {
    /// Every phase.
    pub const ALL: [Self; 5] = [Self::WarmUp, Self::Idle, Self::Accepting, Self::Running, Self::After];

    /// The phase in words, for people.
    pub const fn words(self) -> &'static str {
        match self {
            Self::WarmUp => "in the first moments",
            Self::Idle => "before any bulk send",
            Self::Accepting => "while a bulk send is being accepted",
            Self::Running => "while bulk sends run",
            Self::After => "when bulk sends have run",
        }
    }
}

/// A bulk send that was accepted.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BulkSend {
    /// The id of the send.
    pub send_id: Uuid,
    /// The name of its channel.
    pub channel: String,
    /// The name of its tag.
    pub tag: String,
    /// When it was requested, in seconds since the test began.
    pub at_s: f64,
    /// The time from the request to its 202.
    pub accept_ms: f64,
    /// Unique recipients, as the service answered.
    pub recipients: u64,
    /// The expected number of recipients; absent when the contacts are not ours.
    pub expected: Option<u64>,
}

/// A single send: what it belongs to.
#[derive(Debug, Clone, Copy)]
pub(super) struct Single {
    pub(super) phase: Phase,
    /// The part of the schedule.
    pub(super) leg: usize,
    pub(super) lane: usize,
    /// When it was due, in seconds since the test began.
    pub(super) due_s: f64,
}

#[derive(Debug, Default)]
pub(super) struct Board {
    is_ended: AtomicBool,
    has_bulk: AtomicBool,
    accepting: AtomicU32,
    is_running: AtomicBool,
    tally: Mutex<Tally>,
}

/// The counts.
#[derive(Debug, Default)]
pub(super) struct Tally {
    /// Latencies of accepted single sends, by the phase that they were due in.
    pub(super) singles: [Latencies; Phase::ALL.len()],
    /// Latencies since the newest sample.
    pub(super) lately: Vec<Duration>,
    pub(super) bulk_latencies: Latencies,
    pub(super) bulk: Vec<BulkSend>,
    /// Single sends that were due.
    pub(super) due: u64,
    /// Recipients of everything that was answered 202.
    pub(super) promised: u64,
    /// Single sends that were answered 202.
    pub(super) singles_accepted: u64,
    /// Refusals by their code, 429 among them.
    pub(super) refused: BTreeMap<String, u64>,
    /// Refusals with status 429.
    pub(super) too_many: u64,
    /// Requests without a clear answer, by what happened.
    pub(super) unclear: BTreeMap<String, u64>,
    /// The accepted single sends, for the account at the end.
    pub(super) single_ids: HashSet<Uuid>,
    /// What is known of each part of the schedule.
    pub(super) legs: Vec<Climbed>,
    /// Every request, when they are kept.
    pub(super) requests: Option<Vec<Request>>,
    /// Requests that were not kept because there were too many.
    pub(super) requests_left_out: u64,
}

impl Board {
    /// A board that keeps every request, if `keeps_requests`.
    pub(super) fn new(keeps_requests: bool) -> Self {
        let board = Self::default();
        board.tally().requests = keeps_requests.then(Vec::new);
        board
    }

    /// Ends sending.
    pub(super) fn end(&self) {
        self.is_ended.store(true, Ordering::Relaxed);
    }

    pub(super) fn is_ended(&self) -> bool {
        self.is_ended.load(Ordering::Relaxed)
    }

    /// The phase at this moment.
    pub(super) fn phase(&self) -> Phase {
        if self.accepting.load(Ordering::Relaxed) > 0 {
            Phase::Accepting
        } else if !self.has_bulk.load(Ordering::Relaxed) {
            Phase::Idle
        } else if self.is_running.load(Ordering::Relaxed) {
            Phase::Running
        } else {
            Phase::After
        }
    }

    /// Notes that a bulk send is requested.
    pub(super) fn begin_bulk(&self) {
        self.has_bulk.store(true, Ordering::Relaxed);
        self.accepting.fetch_add(1, Ordering::Relaxed);
    }

    /// Notes that the request was answered.
    pub(super) fn end_bulk(&self) {
        self.is_running.store(true, Ordering::Relaxed);
        self.accepting.fetch_sub(1, Ordering::Relaxed);
    }

    /// Sets whether messages of bulk sends are still pending.
    pub(super) fn set_running(&self, is_running: bool) {
        self.is_running.store(is_running, Ordering::Relaxed);
    }

    pub(super) fn tally(&self) -> MutexGuard<'_, Tally> {
        self.tally.lock()
    }
}

impl Tally {
    /// Notes that a single send of this part of the schedule is due.
    pub(super) fn due(&mut self, leg: usize) {
        self.due += 1;
        self.leg(leg).due += 1;
    }

    fn leg(&mut self, leg: usize) -> &mut Climbed {
        if self.legs.len() <= leg {
            self.legs.resize_with(leg + 1, Climbed::default);
        }
        &mut self.legs[leg]
    }

    /// Notes the answer to a single send, `latency` after it was due.
    pub(super) fn single(&mut self, of: Single, latency: Duration, answer: &Answer) {
        self.keep("single", of.phase, of.lane, of.due_s, latency, answer);
        match answer {
            Answer::Accepted { send_id, recipients } => {
                self.singles[of.phase as usize].record(latency);
                self.lately.push(latency);
                self.promised += recipients;
                self.singles_accepted += 1;
                self.single_ids.insert(*send_id);
                let leg = self.leg(of.leg);
                leg.accepted += 1;
                leg.latencies.record(latency);
            }
            other => self.failed(other),
        }
    }

    /// Keeps a request for its CSV, if requests are kept.
    pub(super) fn keep(
        &mut self,
        kind: &'static str,
        phase: Phase,
        lane: usize,
        due_s: f64,
        latency: Duration,
        answer: &Answer,
    ) {
        let Some(requests) = &mut self.requests else { return };
        if requests.len() >= MOST_REQUESTS {
            self.requests_left_out += 1;
            return;
        }
        let answer = match answer {
            Answer::Accepted { .. } => "accepted",
            Answer::Refused { code: what, .. } | Answer::Unclear(what) => what,
        };
        requests.push(Request {
            due_s,
            latency_ms: latency.as_secs_f64() * 1_000.0,
            kind,
            phase,
            channel: lane + 1,
            answer: answer.to_owned(),
        });
    }

    /// Notes an answer other than 202.
    pub(super) fn failed(&mut self, answer: &Answer) {
        match answer {
            Answer::Accepted { .. } => {}
            Answer::Refused { status, code } => {
                *self.refused.entry(code.clone()).or_default() += 1;
                self.too_many += u64::from(*status == 429);
            }
            Answer::Unclear(what) => *self.unclear.entry(what.clone()).or_default() += 1,
        }
    }

    /// All single sends together.
    pub(super) fn latencies(&self) -> Latencies {
        Latencies::sum(&self.singles)
    }

    /// Requests that were refused or had no clear answer.
    pub(super) fn errors(&self) -> u64 {
        self.refused.values().chain(self.unclear.values()).sum()
    }
}
