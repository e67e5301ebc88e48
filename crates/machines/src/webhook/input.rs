//! The inputs of an endpoint's machine.

use std::time::Duration;

use super::circuit::EndpointHealth;
use super::effect::AttemptId;
use super::replay::ReplayRange;
use super::retries::Retry;

/// An event of the log that the endpoint wants. The machine never sees its content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EventItem {
    /// The event's position in the log of the company. Positions rise, with gaps.
    pub sequence: i64,
    /// A person in a channel: at most one request with events of one key is in flight. Events without a key wait for no
    /// other event.
    pub key: Option<u64>,
}

/// The settings of an endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EndpointSettings {
    /// The most requests in flight: from 1 to 4.
    pub max_in_flight: usize,
    /// The most events of one request: from 1 to 100.
    pub batch: usize,
}

impl EndpointSettings {
    pub(super) fn clamped(self) -> Self {
        Self { max_in_flight: self.max_in_flight.clamp(1, 4), batch: self.batch.clamp(1, 100) }
    }
}

/// What the store holds for an endpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stored {
    /// The cursor: all events up to this sequence are delivered, given up, or have a retry.
    pub cursor: i64,
    /// The state and the failures.
    pub health: EndpointHealth,
    /// The retries.
    pub retries: Vec<Retry>,
    /// What is to be sent once more.
    pub replay: Option<ReplayRange>,
}

/// A part of the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogPage {
    /// The events that the endpoint wants, in their order; at most as many as requested.
    pub items: Vec<EventItem>,
    /// The sequence up to which the log was read, with the events that the endpoint does not want.
    pub up_to: i64,
    /// Whether the end of the log was reached.
    pub is_end: bool,
}

/// A part of the events that are sent once more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplayPage {
    /// The events, in their order; at most as many as requested.
    pub items: Vec<EventItem>,
    /// The sequence up to which was read; at the end, the last sequence that was requested.
    pub up_to: i64,
}

/// The result of an attempt. It applies to all events of the request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AttemptVerdict {
    /// The receiver accepted the request.
    Delivered,
    /// The receiver refused the request, or did not answer in time.
    Failed {
        /// The time that the receiver asked for in `Retry-After`.
        retry_after: Option<Duration>,
    },
    /// The receiver answered 410: it wants no further events. The endpoint is disabled.
    Gone,
    /// The receiver answered `webhook-delivery: abort-message`: it does not want these events.
    Abort,
    /// Nothing was sent: the log no longer has any of the events.
    Missing,
}

/// Where an endpoint goes on when it is enabled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resume {
    /// At the cursor; the retries stay.
    CatchUp,
    /// At the end of the log; earlier events and the retries are dropped.
    FromNow {
        /// The last sequence of the log.
        end: i64,
    },
}

/// An event of an endpoint, or a request.
#[derive(Debug)]
pub enum Input {
    /// The time of the last [`Effect::WakeAt`](super::Effect::WakeAt) has come. Also the first input.
    Timer,
    /// The log has new events.
    Grew,
    /// The read of the log ended; the error says why it failed.
    Read(Result<LogPage, String>),
    /// The read of events that are sent once more ended; the error says why it failed.
    ReplayRead(Result<ReplayPage, String>),
    /// An attempt ended.
    Attempted {
        /// The attempt.
        attempt: AttemptId,
        /// Its result.
        verdict: AttemptVerdict,
        /// A random number from 0 to 1, which spreads the retries.
        chance: f64,
    },
    /// The write ended. The error says why it failed; its changes may be in the store nevertheless.
    Written(Result<(), String>),
    /// The settings changed.
    Changed(EndpointSettings),
    /// The receiver seems to work again: it accepted a request that a person asked for, or a person wants events to be sent once
    /// more. The next probe of an open circuit goes at once.
    Mended,
    /// A person disables the endpoint.
    Disable,
    /// A person enables the endpoint. Ignored while it is enabled.
    Enable(Resume),
    /// The process or the endpoint ends: attempts in flight are awaited, and the rest is written.
    Stop,
}
