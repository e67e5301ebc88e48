//! How long the provider takes to answer a send: always the same span, or a distribution that percentiles describe.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};
use serde::Deserialize;
use serde::de::{Deserializer, Error};

/// The percentiles that a latency can name, each with its place on the normal distribution's axis.
const PERCENTILES: [(&str, f64); 6] = [
    ("p50", 0.0),
    ("p75", 0.674_490),
    ("p90", 1.281_552),
    ("p95", 1.644_854),
    ("p99", 2.326_348),
    ("p999", 3.090_232),
];
/// The longest span that a latency can name.
const LONGEST: Duration = Duration::from_secs(600);
/// The slowest answer of a distribution, as a multiple of the slowest span that it names.
const TAIL: f64 = 10.0;

/// How long answers take. `Default` answers at once.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Latency(Vec<Point>);

#[derive(Debug, Clone, Copy, PartialEq)]
struct Point {
    /// The place in [`PERCENTILES`].
    percentile: usize,
    span: Duration,
}

impl Latency {
    /// How long the answer with this number takes; the same for the same number.
    pub(super) fn of(&self, number: u64) -> Duration {
        match self.0.as_slice() {
            [] => Duration::ZERO,
            [always] => always.span,
            points => {
                let mut chance = SmallRng::seed_from_u64(number);
                // Box and Muller's method makes a normal variable of two even ones.
                let (one, other): (f64, f64) = (chance.random(), chance.random());
                let normal = (-2.0 * (1.0 - one).ln()).sqrt() * (std::f64::consts::TAU * other).cos();
                at(points, normal)
            }
        }
    }
}

/// The span at this place of the normal distribution's axis: linear between the named percentiles in the logarithm
/// of the span. Two percentiles make a log-normal distribution, as latencies of real services are.
fn at(points: &[Point], normal: f64) -> Duration {
    let axis = |point: &Point| PERCENTILES[point.percentile].1;
    let beyond = points.partition_point(|point| axis(point) < normal).clamp(1, points.len() - 1);
    let (low, high) = (&points[beyond - 1], &points[beyond]);
    let share = (normal - axis(low)) / (axis(high) - axis(low));
    let (from, to) = (low.span.as_secs_f64().ln(), high.span.as_secs_f64().ln());
    let most = points.last().map_or(0.0, |point| point.span.as_secs_f64()) * TAIL;
    Duration::from_secs_f64((from + share * (to - from)).exp().min(most))
}

impl From<Duration> for Latency {
    fn from(span: Duration) -> Self {
        if span.is_zero() { Self::default() } else { Self(vec![Point { percentile: 0, span }]) }
    }
}

impl FromStr for Latency {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if !text.contains('=') {
            return span(text).map(Self::from);
        }
        let mut points: Vec<Point> = Vec::new();
        for part in text.split(',') {
            let (name, spoken) = part.split_once('=').unwrap_or((part, ""));
            let percentile = PERCENTILES.iter().position(|(known, _)| *known == name.trim());
            let percentile = percentile.ok_or_else(|| {
                let known: Vec<_> = PERCENTILES.iter().map(|(known, _)| *known).collect();
                format!("`{}` is no percentile: write {}", name.trim(), known.join(", "))
            })?;
            let span = span(spoken)?;
            if span.is_zero() || points.iter().any(|one| one.percentile >= percentile || one.span > span) {
                return Err(
                    "percentiles are given in ascending order, with spans above zero that do not fall, such as \
                     p50=80ms,p99=900ms"
                        .to_owned(),
                );
            }
            points.push(Point { percentile, span });
        }
        Ok(Self(points))
    }
}

fn span(text: &str) -> Result<Duration, String> {
    let span = humantime::parse_duration(text.trim())
        .map_err(|_| format!("`{text}` is no span: write 80ms, or p50=80ms,p99=900ms"))?;
    if span > LONGEST { Err("an answer takes at most 10 minutes".to_owned()) } else { Ok(span) }
}

impl fmt::Display for Latency {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named = |point: &Point| {
            format!("{}={}", PERCENTILES[point.percentile].0, humantime::format_duration(point.span))
        };
        match self.0.as_slice() {
            [] => formatter.write_str("0ms"),
            [always] => write!(formatter, "{}", humantime::format_duration(always.span)),
            // A span of several units has spaces, which a percentile's may have, too.
            points => formatter.write_str(&points.iter().map(named).collect::<Vec<_>>().join(",")),
        }
    }
}

impl<'de> Deserialize<'de> for Latency {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn percentile(latency: &Latency, percent: usize) -> f64 {
        let mut spans: Vec<_> =
            (0..20_000).map(|number| latency.of(number).as_secs_f64() * 1_000.0).collect();
        spans.sort_by(f64::total_cmp);
        spans[spans.len() * percent / 100]
    }

    #[test]
    fn a_distribution_has_the_percentiles_that_it_names() {
        let latency: Latency = "p50=80ms,p90=200ms,p99=900ms".parse().unwrap();
        for (percent, expected) in [(50, 80.0), (90, 200.0), (99, 900.0)] {
            let found = percentile(&latency, percent);
            assert!((found / expected - 1.0).abs() < 0.15, "p{percent} is {found}");
        }
        let slowest = (0..200_000).map(|number| latency.of(number)).max().unwrap();
        assert!(slowest > Duration::from_millis(900) && slowest <= Duration::from_secs(9), "{slowest:?}");
        assert_eq!(latency.of(7), latency.of(7));
    }

    #[test]
    fn a_latency_is_one_span_or_percentiles_in_order() {
        assert_eq!("80ms".parse::<Latency>().unwrap().of(3), Duration::from_millis(80));
        assert_eq!("0ms".parse::<Latency>().unwrap(), Latency::default());
        let latency: Latency = "p50=80ms, p99=1s 500ms".parse().unwrap();
        assert_eq!(latency.to_string().parse::<Latency>().unwrap(), latency);
        for (wrong, words) in [
            ("fast", "80ms"),
            ("p42=1s", "p50"),
            ("p99=1s,p50=2s", "ascending"),
            ("p50=2s,p99=1s", "do not fall"),
            ("p50=0ms,p99=1s", "above zero"),
            ("1h", "10 minutes"),
        ] {
            let fault = wrong.parse::<Latency>().unwrap_err();
            assert!(fault.contains(words), "{wrong}: {fault}");
        }
    }
}
