//! What the channel does now, as its shell publishes it for gauges. It may be read long after the last input, so that it
//! holds moments, and no figures that are only right at one of them.

use std::time::Instant;

use super::Machine;
use super::limiter::Binding;
use crate::last_seconds::LastSeconds;
use clock::Timestamp;
use domain::outlook::Reason;

/// The state of a channel after its last input.
#[derive(Debug, Clone)]
pub(crate) struct Present {
    /// Why no message of the channel may start.
    pub(crate) held: Option<Reason>,
    templates_closed_until: Option<Timestamp>,
    seconds: LastSeconds,
    origin: Instant,
    full_rate: f64,
    slowed: Option<(f64, Instant)>,
}

impl Present {
    /// What the channel of this machine does now.
    pub(crate) fn of(machine: &Machine, now: Instant) -> Self {
        let binding = machine.limiter.binding(now);
        let held = machine.held.as_ref().map(|held| match (held.reason, binding) {
            (Reason::Rate, Binding::BackOff { .. }) => Reason::BackOff,
            (reason, _) => reason,
        });
        let slowed = match binding {
            Binding::BackOff { until } => Some((machine.limiter.rate(now), until)),
            Binding::Tier | Binding::ProviderLevel => None,
        };
        let (seconds, origin) = machine.history.recent();
        Self {
            held,
            templates_closed_until: machine.templates.closed_until(),
            seconds,
            origin,
            full_rate: machine.limiter.full_rate(),
            slowed,
        }
    }

    /// Messages a second that the channel started lately.
    pub(crate) fn rate(&self, now: Instant) -> f64 {
        self.seconds.per_second(now.saturating_duration_since(self.origin))
    }

    /// Messages a second that the channel may start; infinite without a limit.
    pub(crate) fn limit(&self, now: Instant) -> f64 {
        self.slowed.filter(|(_, until)| now < *until).map_or(self.full_rate, |(rate, _)| rate)
    }

    /// Whether templates to new people wait for their quota.
    pub(crate) fn waits_for_quota(&self, wall: Timestamp) -> bool {
        self.templates_closed_until.is_some_and(|until| until > wall)
    }
}
