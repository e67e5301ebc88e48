//! Detects that the wall clock was set while the service runs.
//!
//! Timers run by the monotonic clock, and many of them wait for a time of the wall clock: a schedule, an expiry, a
//! quota. When the wall clock jumps, all of these have to be computed again.

use std::time::{Duration, Instant};

use clock::Timestamp;

/// A smaller difference is no jump: the machine was busy between two reads of its clocks, or one of them is being
/// adjusted.
const NO_JUMP: Duration = Duration::from_secs(1);

/// How the wall clock was set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Jump {
    /// Forward by this much, also when the machine slept.
    Forward(Duration),
    /// Back by this much.
    Back(Duration),
}

/// Both clocks, as last read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WallClock {
    wall: Timestamp,
    at: Instant,
}

impl WallClock {
    pub(crate) const fn new(wall: Timestamp, at: Instant) -> Self {
        Self { wall, at }
    }

    /// Whether the wall clock was set since the last call.
    pub(crate) fn look(&mut self, wall: Timestamp, at: Instant) -> Option<Jump> {
        let expected = self.wall.plus(at.saturating_duration_since(self.at));
        *self = Self { wall, at };
        let (forward, back) = (wall.from_now(expected), expected.from_now(wall));
        if forward > NO_JUMP {
            Some(Jump::Forward(forward))
        } else if back > NO_JUMP {
            Some(Jump::Back(back))
        } else {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_clock_that_was_set_jumps() {
        let (mut wall, mut at) = (Timestamp::from_millis(1_700_000_000_000), Instant::now());
        let mut clock = WallClock::new(wall, at);
        for (passes, set, jump) in [
            (250, 0, None),
            (60_000, 0, None),
            (250, 900, None),
            (250, -900, None),
            (250, 7_200_000, Some(Jump::Forward(Duration::from_secs(7_200)))),
            (250, 0, None),
            (250, -7_200_000, Some(Jump::Back(Duration::from_secs(7_200)))),
            (250, 0, None),
        ] {
            at += Duration::from_millis(passes);
            wall = Timestamp::from_millis(wall.millis() + passes.cast_signed() + set);
            assert_eq!(clock.look(wall, at), jump, "{passes} ms passed, set by {set} ms");
        }
    }
}
