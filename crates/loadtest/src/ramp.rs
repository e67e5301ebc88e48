//! A ramp: single sends in steps of rising rate, and the knee, the highest rate that the service keeps up with.

use std::fmt;
use std::str::FromStr;
use std::time::{Duration, Instant};

use serde::Serialize;

use super::latency::{Latencies, Summary};
use super::schedule::Leg;
use domain::rate::Rate;

/// The steps of a ramp. Each is this many times as fast as the one before, so that the knee is found as precisely at a
/// low rate as at a high one.
pub const STEPS: u32 = 12;
/// The share of requests that must be accepted.
const ACCEPTED: f64 = 0.99;
/// How many times as slow as the quickest step before it a step may be at the 99th percentile.
const TIMES: f64 = 5.0;
/// A 99th percentile below this many milliseconds is never too slow.
const QUICK_MS: f64 = 25.0;

/// From one rate to a higher one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ramp {
    from: f64,
    to: f64,
}

/// What is known of one step, while the test runs.
#[derive(Debug, Clone, Default)]
pub(super) struct Climbed {
    pub(super) due: u64,
    pub(super) accepted: u64,
    pub(super) latencies: Latencies,
}

/// The result of a ramp.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Climb {
    /// The highest rate before the first step that the service did not keep up with, in requests a second; null when it
    /// did not keep up with the first.
    pub knee_per_s: Option<f64>,
    /// Whether the service kept up with the last step, so that the knee is beyond it.
    pub is_beyond: bool,
    /// The steps.
    pub steps: Vec<RampStep>,
}

/// One step of a ramp.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RampStep {
    /// When it began, in seconds since the test began.
    pub at_s: f64,
    /// Requests in a second.
    pub per_s: f64,
    /// Requests that were due.
    pub due: u64,
    /// Requests that were answered 202.
    pub accepted: u64,
    /// From the due time of each request to its 202.
    pub latency_ms: Summary,
    /// Whether the service kept up with it.
    pub keeps_up: bool,
}

impl Ramp {
    /// The rate of a step, in requests a second.
    pub fn per_second(self, step: u32) -> f64 {
        let share = f64::from(step) / f64::from(STEPS - 1);
        self.from * (self.to / self.from).powf(share)
    }

    /// The parts of a schedule of this length.
    pub(super) fn legs(self, begin: Instant, lasting: Duration) -> Vec<Leg> {
        let mut first = 0;
        let leg = |step| {
            let length = lasting / STEPS;
            let period = Duration::from_secs_f64(1.0 / self.per_second(step)).max(Duration::from_nanos(1));
            let leg = Leg { first, begin: begin + length * step, period };
            first += u64::try_from(length.as_nanos().div_ceil(period.as_nanos())).unwrap_or(u64::MAX);
            leg
        };
        (0..STEPS).map(leg).collect()
    }

    /// The result, from what was counted at each step.
    pub(super) fn climb(self, lasting: Duration, climbed: &[Climbed]) -> Climb {
        let mut quickest = f64::INFINITY;
        let steps: Vec<_> = (0..STEPS)
            .zip(climbed)
            .filter(|(_, climbed)| climbed.due > 0)
            .map(|(step, climbed)| {
                let latency_ms = climbed.latencies.summary();
                let is_accepted = climbed.accepted as f64 >= climbed.due as f64 * ACCEPTED;
                let is_quick = latency_ms.p99 <= (quickest * TIMES).max(QUICK_MS);
                quickest = quickest.min(latency_ms.p99);
                RampStep {
                    at_s: (lasting / STEPS * step).as_secs_f64(),
                    per_s: self.per_second(step),
                    due: climbed.due,
                    accepted: climbed.accepted,
                    latency_ms,
                    keeps_up: is_accepted && is_quick,
                }
            })
            .collect();
        let good = steps.iter().take_while(|step| step.keeps_up).count();
        let knee_per_s = good.checked_sub(1).and_then(|last| steps.get(last)).map(|step| step.per_s);
        Climb { knee_per_s, is_beyond: !steps.is_empty() && good == steps.len(), steps }
    }
}

impl FromStr for Ramp {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let form = || "a ramp goes from one rate to a higher one, such as 100/s..5000/s".to_owned();
        let (from, to) = text.split_once("..").ok_or_else(form)?;
        let rate =
            |text: &str| text.trim().parse::<Rate>().map_err(|reason| format!("`{}` {reason}", text.trim()));
        let (from, to) = (rate(from)?.per_second(), rate(to)?.per_second());
        if from.is_finite() && to.is_finite() && from > 0.0 && to > from {
            Ok(Self { from, to })
        } else {
            Err(form())
        }
    }
}

impl fmt::Display for Ramp {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/s..{}/s", self.from, self.to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn climbed(due: u64, accepted: u64, millis: u64) -> Climbed {
        let mut latencies = Latencies::new();
        (0..accepted).for_each(|_| latencies.record(Duration::from_millis(millis)));
        Climbed { due, accepted, latencies }
    }

    #[test]
    fn the_knee_is_the_last_step_before_latency_rises_or_requests_are_refused() {
        let ramp: Ramp = "10/s..10000/s".parse().unwrap();
        let lasting = Duration::from_secs(12);
        for wrong in [climbed(1_000, 1_000, 300), climbed(1_000, 900, 4), climbed(1_000, 0, 4)] {
            let steps =
                [climbed(10, 10, 2), climbed(20, 20, 3), climbed(40, 40, 20), wrong, climbed(90, 90, 2)];
            let climb = ramp.climb(lasting, &steps);
            let keeps: Vec<_> = climb.steps.iter().map(|step| step.keeps_up).collect();
            assert_eq!(keeps, [true, true, true, false, true]);
            assert_eq!((climb.knee_per_s, climb.is_beyond), (Some(ramp.per_second(2)), false));
        }
        let all = ramp.climb(lasting, &[climbed(10, 10, 2)]);
        assert_eq!((all.knee_per_s, all.is_beyond), (Some(10.0), true));
        assert_eq!(ramp.climb(lasting, &[climbed(10, 1, 2)]).knee_per_s, None);
        assert_eq!(ramp.climb(lasting, &[]), Climb { knee_per_s: None, is_beyond: false, steps: Vec::new() });
    }

    #[test]
    fn a_ramp_rises_by_the_same_factor_at_each_step() {
        let ramp: Ramp = "10/s..1000/s".parse().unwrap();
        let rates = [0, STEPS - 1].map(|step| ramp.per_second(step));
        assert!((rates[0] - 10.0).abs() < 1e-9 && (rates[1] - 1_000.0).abs() < 1e-6, "{rates:?}");
        let (begin, lasting) = (Instant::now(), Duration::from_secs(12));
        let legs = ramp.legs(begin, lasting);
        assert_eq!((legs.len(), legs[0].first, legs[1].first), (12, 0, 10));
        assert_eq!(legs[1].begin, begin + Duration::from_secs(1));
        for wrong in ["10/s", "100/s..10/s", "10/s..fast", "10/s..unlimited"] {
            assert!(wrong.parse::<Ramp>().is_err(), "{wrong}");
        }
    }
}
