//! A sample: the figures at one moment of a load test.

use std::time::{Duration, Instant};

use serde::Serialize;

use super::latency::percentile;
use super::meter::Used;

/// The figures at one moment. Unknown values are absent.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Sample {
    /// Seconds since the test began.
    pub at_s: f64,
    /// Recipients of everything that was accepted so far.
    pub promised: u64,
    /// Messages that arrived so far.
    pub arrived: Option<u64>,
    /// Receipts that the service took so far.
    pub receipts: Option<u64>,
    /// Single sends that were answered since the sample before.
    pub singles: u64,
    /// The median of their latencies.
    pub single_p50_ms: Option<f64>,
    /// All but one in a hundred of them were faster.
    pub single_p99_ms: Option<f64>,
    /// Processor time that the service took, in per cent of one core.
    pub service_cpu_percent: Option<f64>,
    /// Resident memory of the service.
    pub service_mib: Option<f64>,
    /// Processor time that the simulator took, in per cent of one core.
    pub simulator_cpu_percent: Option<f64>,
    /// Resident memory of the simulator.
    pub simulator_mib: Option<f64>,
    /// Processor time that the load test itself took, in per cent of one core.
    pub loadtest_cpu_percent: Option<f64>,
    /// Size of the database.
    pub database_mib: Option<f64>,
    /// Different events that arrived at the receiver of webhooks so far.
    pub events: Option<u64>,
}

/// The shortest interval for a share: the clock of processor time ticks only a hundred times a second.
const SHORTEST: Duration = Duration::from_millis(100);

/// Converts processor time to a share of the time since the last reading.
#[derive(Debug, Default)]
pub(super) struct Share(Option<(Instant, Duration)>);

impl Share {
    /// In per cent of one core; `None` for the first reading, and for one that follows too soon.
    pub(super) fn of(&mut self, now: Instant, used: Option<Used>) -> Option<f64> {
        let cpu = used?.cpu;
        let (before, cpu_before) = *self.0.get_or_insert((now, cpu));
        let passed = now.saturating_duration_since(before);
        if passed < SHORTEST {
            return None;
        }
        self.0 = Some((now, cpu));
        Some(cpu.saturating_sub(cpu_before).as_secs_f64() / passed.as_secs_f64() * 100.0)
    }
}

pub(super) fn mib(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 20)
}

/// The median and the 99th percentile of some latencies, in milliseconds.
pub(super) fn percentiles(latencies: &mut [Duration]) -> (Option<f64>, Option<f64>) {
    if latencies.is_empty() {
        return (None, None);
    }
    let mut at = |percent| Some(percentile(latencies, percent).as_secs_f64() * 1_000.0);
    (at(50), at(99))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_what_was_used_between_two_readings() {
        let (mut share, begin) = (Share::default(), Instant::now());
        let used = |millis| Some(Used { cpu: Duration::from_millis(millis), resident: 0 });
        assert_eq!(share.of(begin, used(500)), None);
        assert_eq!(share.of(begin + Duration::from_millis(20), used(520)), None);
        let percent = share.of(begin + Duration::from_secs(2), used(3_500)).unwrap();
        assert!((percent - 150.0).abs() < 1e-6, "{percent}");
    }
}
