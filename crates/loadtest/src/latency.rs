//! Latencies in a high dynamic range histogram, which keeps rare values.

use std::time::Duration;

use hdrhistogram::Histogram;
use serde::Serialize;

/// The longest latency, an hour in microseconds; longer ones count as this.
const LONGEST: u64 = 3_600_000_000;
/// Significant digits that are kept of every value.
const DIGITS: u8 = 3;
/// The percentiles of a curve: ever finer towards the slowest.
const CURVE: &[f64] = &[
    0.0, 10.0, 25.0, 50.0, 60.0, 70.0, 75.0, 80.0, 85.0, 90.0, 92.5, 95.0, 96.5, 98.0, 99.0, 99.3, 99.6,
    99.8, 99.9, 99.95, 99.98, 99.99, 99.995, 99.998, 99.999,
];

/// Recorded latencies.
#[derive(Debug, Clone, Default)]
pub(super) struct Latencies(Option<Histogram<u64>>);

/// The summary of latencies in milliseconds; all 0 when there are none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Summary {
    /// How many there are.
    pub count: u64,
    /// Half of them are faster.
    pub p50: f64,
    /// Nine in ten are faster.
    pub p90: f64,
    /// All but one in a hundred are faster.
    pub p99: f64,
    /// All but one in a thousand are faster.
    pub p999: f64,
    /// The slowest.
    pub max: f64,
}

impl Latencies {
    pub(super) fn new() -> Self {
        Self::default()
    }

    pub(super) fn record(&mut self, latency: Duration) {
        // The bounds are valid, so creating the histogram never fails.
        let Some(histogram) = histogram(&mut self.0) else { return };
        let micros = u64::try_from(latency.as_micros()).unwrap_or(u64::MAX);
        histogram.saturating_record(micros.max(1));
    }

    /// All latencies of several histograms together.
    pub(super) fn sum(parts: &[Self]) -> Self {
        let mut sum = Self::new();
        for part in parts.iter().filter_map(|part| part.0.as_ref()) {
            // Both have the same bounds, so that nothing is out of range.
            let _ = histogram(&mut sum.0).map(|sum| sum.add(part));
        }
        sum
    }

    pub(super) fn summary(&self) -> Summary {
        let Some(histogram) = &self.0 else { return Summary::default() };
        let at = |percentile| millis(histogram.value_at_percentile(percentile));
        Summary {
            count: histogram.len(),
            p50: at(50.0),
            p90: at(90.0),
            p99: at(99.0),
            p999: at(99.9),
            max: millis(histogram.max()),
        }
    }

    /// Percentiles with their values in milliseconds, up to the highest for which there are enough latencies.
    pub(super) fn curve(&self) -> Vec<(f64, f64)> {
        let Some(histogram) = &self.0 else { return Vec::new() };
        // At least one latency must lie beyond a percentile. A small tolerance compensates for inexact
        // hundredths.
        let is_told = |percentile: &&f64| (100.0 - **percentile) * histogram.len() as f64 >= 100.0 - 1e-6;
        let points = CURVE.iter().filter(is_told);
        points.map(|percentile| (*percentile, millis(histogram.value_at_percentile(*percentile)))).collect()
    }
}

fn histogram(kept: &mut Option<Histogram<u64>>) -> Option<&mut Histogram<u64>> {
    if kept.is_none() {
        *kept = Histogram::new_with_bounds(1, LONGEST, DIGITS).ok();
    }
    kept.as_mut()
}

fn millis(micros: u64) -> f64 {
    micros as f64 / 1_000.0
}

/// The percentile of a few latencies, by the nearest rank; 0 when there are none. They are sorted.
pub(super) fn percentile(latencies: &mut [Duration], percent: usize) -> Duration {
    latencies.sort_unstable();
    let rank = (latencies.len() * percent).div_ceil(100).max(1);
    latencies.get(rank - 1).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_keep_three_digits_and_the_slowest() {
        let mut latencies = Latencies::new();
        (1..=1_000).for_each(|micros| latencies.record(Duration::from_micros(micros * 100)));
        let Summary { count, p50, p90, p99, p999, max } = latencies.summary();
        assert_eq!(count, 1_000);
        for (value, expected) in [(p50, 50.0), (p90, 90.0), (p99, 99.0), (p999, 99.9), (max, 100.0)] {
            assert!((value - expected).abs() < expected / 500.0, "{value} is not {expected}");
        }
        let curve = latencies.curve();
        assert_eq!(curve.last().map(|(percentile, _)| *percentile), Some(99.9));
        assert_eq!(Latencies::new().summary(), Summary::default());
    }

    #[test]
    fn a_percentile_of_few_is_one_of_them() {
        let mut few: Vec<_> = [5, 1, 4, 2, 3].map(Duration::from_millis).to_vec();
        assert_eq!(percentile(&mut few, 50), Duration::from_millis(3));
        assert_eq!(percentile(&mut few, 99), Duration::from_millis(5));
        assert_eq!(percentile(&mut [], 99), Duration::ZERO);
    }
}
