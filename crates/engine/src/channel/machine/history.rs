//! The channel's recent pace: counts of the last minutes, in memory, for a chart.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use crate::last_seconds::LastSeconds;
use clock::Timestamp;
use domain::limit::{Pace, PacePoint};

/// The span that is counted together.
const STEP: Duration = Duration::from_secs(10);
/// The number of steps kept: ten minutes, in at most 1.5 kB.
const STEPS: u64 = 60;

/// Steps without messages are not kept.
pub(super) struct History {
    origin: Instant,
    steps: VecDeque<Step>,
    seconds: LastSeconds,
}

/// The messages of one step.
struct Step {
    /// The number of the step since the origin.
    number: u64,
    messages: u32,
    /// The limit at the last of them, in messages a second; infinite without a limit.
    limit: f64,
}

impl History {
    pub(super) fn new(now: Instant) -> Self {
        Self { origin: now, steps: VecDeque::new(), seconds: LastSeconds::default() }
    }

    /// Counts a message that goes while the limit is `limit` messages a second.
    pub(super) fn count(&mut self, now: Instant, limit: f64) {
        let (number, _) = self.step(now);
        self.seconds.count(now.saturating_duration_since(self.origin));
        match self.steps.back_mut().filter(|step| step.number >= number) {
            Some(step) => {
                step.messages = step.messages.saturating_add(1);
                step.limit = limit;
            }
            None => {
                self.forget(number);
                self.steps.push_back(Step { number, messages: 1, limit });
            }
        }
    }

    /// The pace of the last minutes. Steps without messages get the present limit.
    pub(super) fn pace(&self, now: Instant, wall: Timestamp, limit: f64) -> Pace {
        let (present, passed) = self.step(now);
        let finite = |rate: f64| rate.is_finite().then_some(rate);
        let find = |number| self.steps.iter().find(|step| step.number == number);
        let messages = |number| find(number).map_or(0.0, |step| f64::from(step.messages));
        let first = present.saturating_sub(STEPS - 1);
        let points = (first..=present).map(|number| {
            let steps_ago = u32::try_from(present - number).unwrap_or(u32::MAX);
            let ago = STEP.saturating_mul(steps_ago).saturating_add(passed);
            let span = if number == present { passed.max(Duration::from_secs(1)) } else { STEP };
            PacePoint {
                from: wall.minus(ago),
                per_second: messages(number) / span.as_secs_f64(),
                limit: finite(find(number).map_or(limit, |step| step.limit)),
            }
        });
        let per_second = self.seconds.per_second(now.saturating_duration_since(self.origin));
        Pace { per_second, step: STEP, points: points.collect() }
    }

    /// The messages of the last seconds, and the moment that they are counted from.
    pub(super) fn recent(&self) -> (LastSeconds, Instant) {
        (self.seconds.clone(), self.origin)
    }

    /// The step of this moment, and how much of it has passed.
    fn step(&self, now: Instant) -> (u64, Duration) {
        let since = now.saturating_duration_since(self.origin);
        let number = since.as_secs() / STEP.as_secs();
        (number, since - STEP * u32::try_from(number).unwrap_or(u32::MAX))
    }

    fn forget(&mut self, present: u64) {
        while self.steps.front().is_some_and(|step| step.number + STEPS <= present) {
            self.steps.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WALL: Timestamp = Timestamp::from_millis(1_000_000_000);

    fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn the_pace_is_measured_over_the_last_ten_seconds() {
        let start = Instant::now();
        let mut history = History::new(start);
        for second in 0..20 {
            (0..5).for_each(|_| history.count(start + seconds(second), 80.0));
        }
        let pace = history.pace(start + seconds(20), WALL, 80.0);
        assert!((pace.per_second - 5.0).abs() < 0.01, "{pace:?}");
        let rates: Vec<_> = pace.points.iter().map(|point| point.per_second).collect();
        assert_eq!(rates, [5.0, 5.0, 0.0]);
        let begun: Vec<_> = pace.points.iter().map(|point| point.from).collect();
        assert_eq!(begun, [20, 10, 0].map(|ago| WALL.minus(seconds(ago))));
        let pace = history.pace(start + seconds(25), WALL, 80.0);
        assert!((pace.per_second - 2.5).abs() < 0.01, "{pace:?}");
        assert!(history.pace(start + seconds(30), WALL, 80.0).per_second < 0.01);
    }

    #[test]
    fn each_step_keeps_its_limit_and_steps_without_messages_get_the_present_one() {
        let start = Instant::now();
        let mut history = History::new(start);
        history.count(start, 40.0);
        history.count(start + seconds(10), f64::INFINITY);
        let pace = history.pace(start + seconds(30), WALL, 80.0);
        let limits: Vec<_> = pace.points.iter().map(|point| point.limit).collect();
        assert_eq!(limits, [Some(40.0), None, Some(80.0), Some(80.0)]);
    }

    #[test]
    fn steps_older_than_ten_minutes_are_removed() {
        let start = Instant::now();
        let mut history = History::new(start);
        for step in 0..1_000 {
            history.count(start + seconds(step * 10), 80.0);
        }
        assert_eq!(history.steps.len() as u64, STEPS);
        let pace = history.pace(start + seconds(10_000), WALL, 80.0);
        assert_eq!(pace.points.len() as u64, STEPS);
        assert_eq!(history.pace(start + seconds(90_000), WALL, 80.0).per_second.to_bits(), 0);
    }
}
