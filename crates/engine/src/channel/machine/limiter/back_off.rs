//! The back-off of a number that the provider throttles: down by half, up in small steps.
//!
//! Halving at once and rising slowly settles near the rate that the provider accepts.

use std::time::{Duration, Instant};

/// The time between two steps up, and before the first step after a halving.
const STEP: Duration = Duration::from_secs(1);
/// A step up, as a part of the full rate.
const GAIN: f64 = 0.05;
/// Never slower than this many messages in a second, or than a tenth of the full rate where that is less.
const FLOOR: f64 = 1.0;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct BackOff {
    /// Messages in a second, from `since` to the next step.
    rate: f64,
    /// The rate at which the back-off is over, likewise.
    full: f64,
    since: Instant,
}

impl BackOff {
    /// The first halving of the full rate, which is finite.
    pub(super) fn begin(full: f64, now: Instant) -> Self {
        Self { rate: full, full, since: now }.halved(now)
    }

    /// Another halving.
    pub(super) fn halved(self, now: Instant) -> Self {
        let floor = FLOOR.min(self.full / 10.0);
        Self { rate: (self.rate(now) / 2.0).max(floor), since: now, ..self }
    }

    /// The full rate changed. If it became unlimited, the back-off still ends at the old one.
    pub(super) fn limit(&mut self, full: f64) {
        if full.is_finite() {
            self.rate = self.rate.min(full);
            self.full = full;
        }
    }

    /// Messages in a second.
    pub(super) fn rate(&self, now: Instant) -> f64 {
        (self.rate + f64::from(self.steps(now)) * GAIN * self.full).min(self.full)
    }

    /// Takes the steps up that are due.
    pub(super) fn step(&mut self, now: Instant) {
        self.rate = self.rate(now);
        self.since += STEP * self.steps(now);
    }

    /// When the rate rises next.
    pub(super) fn next_step(&self) -> Instant {
        self.since + STEP
    }

    /// When the full rate will be back.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "between nothing and the twenty steps from nothing to the full rate"
    )]
    pub(super) fn end(&self) -> Instant {
        // A rounding error is no step: sums of twentieths are not exact.
        let steps = ((self.full - self.rate) / (GAIN * self.full) - 1e-9).ceil().clamp(0.0, 1.0 / GAIN);
        self.since + STEP * steps as u32
    }

    /// The number of steps that are due.
    fn steps(&self, now: Instant) -> u32 {
        u32::try_from(now.saturating_duration_since(self.since).as_secs()).unwrap_or(u32::MAX)
    }
}
