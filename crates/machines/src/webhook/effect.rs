//! The effects of an endpoint's machine.

use std::time::Instant;

use super::circuit::{DisableCause, EndpointHealth};
use super::retries::Retry;
use clock::Timestamp;

/// The effects of one or more inputs.
pub type Effects = crate::Effects<Effect>;

/// The id of an attempt, unique within one machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct AttemptId(pub u64);

/// Something that the shell does for the machine, in the order of the effects. An effect that brings an input brings it later, and exactly once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// Read the log. Brings [`Input::Read`](super::Input::Read).
    Read {
        /// The sequence after which the events begin.
        after: i64,
        /// The most events to return.
        limit: usize,
    },
    /// Read events that are sent once more. Brings [`Input::ReplayRead`](super::Input::ReplayRead).
    ReadReplay {
        /// The sequence after which the events begin.
        after: i64,
        /// The sequence of the last of them.
        up_to: i64,
        /// The most events to return.
        limit: usize,
    },
    /// Send these events in one request, in this order, without those that the log no longer has. Brings
    /// [`Input::Attempted`](super::Input::Attempted).
    Attempt {
        /// The attempt.
        id: AttemptId,
        /// From 1 to [`EndpointSettings::batch`](super::EndpointSettings::batch) sequences, rising.
        sequences: Vec<i64>,
    },
    /// Write these changes in one transaction; the previous write has ended. Brings
    /// [`Input::Written`](super::Input::Written).
    Write(Write),
    /// Tell people and other programs.
    Tell(Notice),
    /// Wake the machine at this time, which replaces the previous one. Brings [`Input::Timer`](super::Input::Timer).
    WakeAt(Instant),
    /// The machine ends: nothing is in flight, and everything is written.
    End,
}

/// Changes of what the store holds for the endpoint. A repetition changes nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Write {
    /// The new cursor.
    pub cursor: Option<i64>,
    /// The new state and failures.
    pub health: Option<EndpointHealth>,
    /// Retries to insert or replace.
    pub put: Vec<Retry>,
    /// The sequences of retries to remove, if they exist.
    pub remove: Vec<i64>,
    /// The sequences of events that are given up although the log has them.
    pub give_up: Vec<i64>,
    /// The sequence up to which events that are sent once more became retries.
    pub replay: Option<i64>,
}

/// A change of an endpoint, or of its events, that people and other programs are told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Notice {
    /// The endpoint is disabled: it gets no events until a person enables it.
    Disabled {
        /// Why.
        cause: DisableCause,
        /// Since when.
        since: Timestamp,
    },
    /// The endpoint accepts events again, after at least five minutes of failures only.
    Recovered {
        /// The first of the failures.
        since: Timestamp,
    },
    /// These events are given up: the endpoint does not get them.
    GivenUp {
        /// The events.
        sequences: Vec<i64>,
        /// Why.
        reason: GivenUp,
    },
}

/// Why an event is given up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GivenUp {
    /// The receiver does not want it.
    Aborted,
    /// All attempts failed.
    Exhausted,
    /// Too many events failed, and this one failed most often.
    Crowded,
    /// The log no longer has it.
    Missing,
}
