//! The circuit of an endpoint: after some failures in a row, one probe a minute replaces the normal attempts. A sign that the
//! receiver works again brings the next one forward.

use std::time::{Duration, Instant};

use crate::Moment;
use clock::Timestamp;
use domain::webhook::OPENING_FAILURES;

/// The least time between the starts of two probes, without a sign that the receiver works again.
pub(super) const PROBE_INTERVAL: Duration = Duration::from_secs(60);
/// An endpoint that only failed for this long is disabled.
pub(super) const FAILING_LIMIT: Duration = Duration::from_secs(5 * 24 * 60 * 60);
/// After this time without a failure, the next one says nothing of the time before: nothing was sent meanwhile, or a success was
/// not stored. Two attempts of an event are never so far apart.
const FAILING_PAUSE: Duration = Duration::from_secs(2 * 24 * 60 * 60);
/// The recovery from a shorter time of failures is not told.
pub(super) const TOLD_AFTER: Duration = Duration::from_secs(5 * 60);

/// The state and the failures of an endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EndpointHealth {
    /// Failed attempts in a row. From 5 on, the circuit is open.
    pub failures: u32,
    /// The first of them, or the first one after two days without any; `None` without failures.
    pub failing_since: Option<Timestamp>,
    /// The last of them; `None` without failures.
    pub failed_at: Option<Timestamp>,
    /// The state.
    pub state: EndpointState,
}

impl EndpointHealth {
    /// The health of a new endpoint.
    pub const NEW: Self =
        Self { failures: 0, failing_since: None, failed_at: None, state: EndpointState::Enabled };
}

/// The state of an endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndpointState {
    /// Events are attempted.
    Enabled,
    /// No events are attempted.
    Disabled {
        /// Why.
        cause: DisableCause,
        /// Since when.
        since: Timestamp,
    },
}

/// Why an endpoint is disabled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DisableCause {
    /// The receiver answered 410.
    Gone,
    /// A person disabled it.
    Person,
    /// All attempts of 5 days failed.
    Failing,
}

/// The circuit, in the endpoint's health.
#[derive(Debug)]
pub(super) struct Circuit {
    pub(super) health: EndpointHealth,
    /// When the next probe may go, if the circuit is open.
    pub(super) probe_at: Instant,
}

impl Circuit {
    /// A probe may have gone just before the start, so the next one waits for the whole interval.
    pub(super) fn new(health: EndpointHealth, now: Instant) -> Self {
        Self { health, probe_at: now + PROBE_INTERVAL }
    }

    pub(super) const fn is_enabled(&self) -> bool {
        matches!(self.health.state, EndpointState::Enabled)
    }

    pub(super) const fn is_open(&self) -> bool {
        self.health.failures >= OPENING_FAILURES
    }

    /// Whether failed events become retries.
    pub(super) const fn is_closed(&self) -> bool {
        self.is_enabled() && !self.is_open()
    }

    /// The next probe, if the circuit is open, need not wait.
    pub(super) fn probe_soon(&mut self, now: Instant) {
        self.probe_at = self.probe_at.min(now);
    }

    /// An attempt failed. Returns whether the endpoint only failed for too long.
    pub(super) fn failed(&mut self, at: Moment) -> bool {
        let EndpointHealth { failures, failing_since, failed_at, .. } = self.health;
        let goes_on = failed_at.is_some_and(|last| at.wall < last.plus(FAILING_PAUSE));
        // The clock may have been set back since.
        let since = failing_since.filter(|_| goes_on).map_or(at.wall, |since| since.min(at.wall));
        let was_open = self.is_open();
        self.health = EndpointHealth {
            failures: failures.saturating_add(1),
            failing_since: Some(since),
            failed_at: Some(at.wall),
            ..self.health
        };
        if self.is_open() && !was_open {
            self.probe_at = at.monotonic + PROBE_INTERVAL;
        }
        self.is_open() && since.plus(FAILING_LIMIT) <= at.wall
    }

    /// The receiver answered as it should. Returns the first failure before, if the failures lasted long.
    pub(super) fn succeeded(&mut self, at: Moment) -> Option<Timestamp> {
        let was_open = self.is_open();
        let since = self.health.failing_since.filter(|since| was_open && since.plus(TOLD_AFTER) <= at.wall);
        self.health = EndpointHealth { state: self.health.state, ..EndpointHealth::NEW };
        since
    }
}
