//! Both clocks of the simulated machine: the monotonic clock, and the wall clock, which can be set.

use std::time::{Duration, Instant};

use crate::channel::machine::Moment;
use crate::planted::{Fault, is_planted};
use clock::Timestamp;

/// The time at which every world begins.
const BEGINNING: Timestamp = Timestamp::from_millis(1_800_000_000_000);

#[derive(Debug)]
pub(super) struct Clock {
    /// Only differences to it count.
    origin: Instant,
    elapsed: Duration,
    /// By how much the wall clock was set, in milliseconds.
    set_by: i64,
}

impl Clock {
    pub(super) fn new() -> Self {
        Self { origin: Instant::now(), elapsed: Duration::ZERO, set_by: 0 }
    }

    /// The time since the world began.
    pub(super) const fn elapsed(&self) -> Duration {
        self.elapsed
    }

    /// Sets the time.
    pub(super) const fn go_to(&mut self, elapsed: Duration) {
        self.elapsed = elapsed;
    }

    /// Sets the wall clock forward, or back.
    pub(super) const fn set(&mut self, millis: i64) {
        self.set_by += millis;
    }

    /// Both clocks.
    pub(super) fn now(&self) -> Moment {
        let mut monotonic = self.origin + self.elapsed;
        if is_planted(Fault::WallClockUsed) {
            monotonic += Duration::from_millis(u64::try_from(self.set_by).unwrap_or(0));
        }
        Moment { monotonic, wall: self.wall() }
    }

    /// The wall clock.
    pub(super) fn wall(&self) -> Timestamp {
        self.wall_at(self.elapsed)
    }

    /// The wall clock at another time, unless it is set.
    pub(super) fn wall_at(&self, elapsed: Duration) -> Timestamp {
        Timestamp::from_millis(BEGINNING.plus(elapsed).millis() + self.set_by)
    }

    /// The moment of the monotonic clock at this time since the world began.
    pub(super) fn at(&self, elapsed: Duration) -> Instant {
        self.origin + elapsed
    }

    /// A moment of the monotonic clock, as the time since the world began.
    pub(super) fn since_beginning(&self, at: Instant) -> Duration {
        at.saturating_duration_since(self.origin)
    }
}
