//! The clock of the database, as a node of a cluster knows it.
//!
//! Nodes whose own clocks are wrong must still send at the scheduled times, so a cluster has one clock: the database's.
//! A [`Reading`] brackets it between two moments of the monotonic clock, an [`Estimate`] combines readings, and
//! [`follow`] makes [`Timestamp::now`] take the result. Between readings the time advances with the monotonic clock, so
//! that a jump of this machine's wall clock moves no schedule.

use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Mutex, OnceLock};
use std::time::{Duration, Instant};

use uuid::{ContextV7, Uuid};

use super::Timestamp;

/// A clock of this machine that is off by more than this is reported: codes of second factors, logs and the schedules
/// of a service that runs alone depend on it. A time service keeps it within milliseconds.
pub const TOLERATED: Duration = Duration::from_secs(2);

/// The sentence about a clock that is off by more than [`TOLERATED`].
pub fn warning(ahead: i64) -> Option<String> {
    (u128::from(ahead.unsigned_abs()) > TOLERATED.as_millis()).then(|| {
        let (seconds, tenths) = (ahead.unsigned_abs() / 1_000, ahead.unsigned_abs() / 100 % 10);
        let way = if ahead > 0 { "ahead of" } else { "behind" };
        format!(
            "the clock of this machine is {seconds}.{tenths} seconds {way} the database's: let a time service set it, \
             such as chrony"
        )
    })
}

/// How far two clocks may drift apart between readings, in parts of a million: as fast as a time service may turn a
/// clock, on both sides.
const DRIFT: i64 = 1_000;
/// A smaller difference to the time in use is corrected gradually. A larger one is applied at once, and the engine
/// notices it as a jump of the clock.
const STEP: i64 = 1_000_000;
/// The gradual correction, as a fraction of the elapsed time: one second within fifty.
const SLEW: i64 = 50;
/// Stands for no time of the database.
const NONE: i64 = i64::MIN;

/// The database's time at the [`origin`] of the monotonic clock, in microseconds.
static AT_ORIGIN: AtomicI64 = AtomicI64::new(NONE);

/// One reading of the database's clock.
#[derive(Debug, Clone, Copy)]
pub struct Reading {
    /// When the database was asked.
    pub asked: Instant,
    /// When its answer arrived.
    pub answered: Instant,
    /// Its clock in between, in microseconds since the Unix epoch.
    pub micros: i64,
    /// The clock of this machine when the answer arrived.
    pub local: Timestamp,
}

impl Reading {
    /// How far the clock of this machine is ahead of the database's, in milliseconds; negative when it is behind. It
    /// counts as equal while the difference is within half the time that the answer took.
    pub fn ahead(&self) -> i64 {
        let half = self.half();
        let local = self.local.millis().saturating_mul(1_000).saturating_sub(half);
        let apart = local.saturating_sub(self.micros);
        if apart.abs() <= half { 0 } else { apart / 1_000 }
    }

    fn half(&self) -> i64 {
        micros(self.answered.saturating_duration_since(self.asked) / 2)
    }

    /// The database's time at the origin, and how far off that may be at most.
    fn at(&self, origin: Instant) -> (i64, i64) {
        let half = self.half();
        let middle = micros(self.asked.saturating_duration_since(origin)).saturating_add(half);
        (self.micros.saturating_sub(middle), half)
    }
}

/// What readings say together.
#[derive(Debug, Clone)]
pub struct Estimate {
    origin: Instant,
    /// The database's time at the origin, how far off it may be, and when that was so.
    known: Option<(i64, i64, Instant)>,
    /// The time in use, and since when.
    used: Option<(i64, Instant)>,
}

impl Estimate {
    /// An estimate that knows nothing yet; `origin` is a moment before all readings.
    pub const fn new(origin: Instant) -> Self {
        Self { origin, known: None, used: None }
    }

    /// Takes a reading in. Returns the time to use from now on: the database's at the origin, in microseconds.
    ///
    /// A reading bounds the clock. Where its bounds meet those of the earlier readings, both hold; otherwise the
    /// database's clock was set, another server answers, or this machine slept, and only the new reading holds.
    pub fn take(&mut self, reading: &Reading) -> i64 {
        let at = reading.answered;
        let (middle, half) = reading.at(self.origin);
        let fresh = (middle.saturating_sub(half), middle.saturating_add(half));
        let met = self.known.and_then(|(middle, error, since)| {
            let error = error.saturating_add(drift(at.saturating_duration_since(since)));
            let low = fresh.0.max(middle.saturating_sub(error));
            let high = fresh.1.min(middle.saturating_add(error));
            (low <= high).then_some((low, high))
        });
        let (low, high) = met.unwrap_or(fresh);
        let error = high.saturating_sub(low) / 2;
        let middle = low.saturating_add(error);
        self.known = Some((middle, error, at));
        let used = match self.used {
            Some((used, since)) => approached(used, middle, at.saturating_duration_since(since)),
            None => middle,
        };
        self.used = Some((used, at));
        used
    }
}

/// The time to use next: `wanted`, or a step towards it.
fn approached(used: i64, wanted: i64, elapsed: Duration) -> i64 {
    let apart = wanted.saturating_sub(used);
    if apart.abs() > STEP {
        return wanted;
    }
    let most = micros(elapsed) / SLEW;
    used.saturating_add(apart.clamp(-most, most))
}

fn drift(elapsed: Duration) -> i64 {
    micros(elapsed).saturating_mul(DRIFT) / 1_000_000
}

fn micros(duration: Duration) -> i64 {
    i64::try_from(duration.as_micros()).unwrap_or(i64::MAX)
}

/// The moment from which the monotonic clock is counted.
pub fn origin() -> Instant {
    static ORIGIN: OnceLock<Instant> = OnceLock::new();
    *ORIGIN.get_or_init(Instant::now)
}

/// From now on, [`Timestamp::now`] is the database's time: `at_origin` at [`origin`], in microseconds, and what has
/// passed since.
pub fn follow(at_origin: i64) {
    AT_ORIGIN.store(at_origin, Ordering::Relaxed);
}

/// A new id, in the order of time that the nodes of a cluster have in common.
pub fn new_id() -> Uuid {
    static CONTEXT: Mutex<AssertUnwindSafe<ContextV7>> = Mutex::new(AssertUnwindSafe(ContextV7::new()));
    let Some(now) = now_micros().and_then(|now| u64::try_from(now).ok()) else { return Uuid::now_v7() };
    let nanos = u32::try_from(now % 1_000_000 * 1_000).unwrap_or_default();
    Uuid::new_v7(uuid::Timestamp::from_unix(&CONTEXT, now / 1_000_000, nanos))
}

pub(super) fn now() -> Option<Timestamp> {
    now_micros().map(|micros| Timestamp::from_millis(micros.div_euclid(1_000)))
}

fn now_micros() -> Option<i64> {
    let at_origin = AT_ORIGIN.load(Ordering::Relaxed);
    (at_origin != NONE).then(|| at_origin.saturating_add(micros(origin().elapsed())))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A moment of 2023, in microseconds.
    const THEN: i64 = 1_700_000_000_000_000;
    const SECOND: Duration = Duration::from_secs(1);

    /// A database whose clock was at [`THEN`] at the origin, and a machine whose clock is ahead of it.
    struct Stage {
        origin: Instant,
        at: Duration,
        ahead: i64,
        /// What was added to the database's clock.
        set: i64,
        estimate: Estimate,
    }

    impl Stage {
        fn new(ahead: i64) -> Self {
            let origin = Instant::now();
            Self { origin, at: Duration::ZERO, ahead, set: 0, estimate: Estimate::new(origin) }
        }

        /// A reading whose question took this long, and its answer.
        fn reading(&mut self, there: u64, back: u64) -> Reading {
            let [there, back] = [there, back].map(Duration::from_millis);
            let asked = self.origin + self.at;
            let read = micros(self.at + there) + THEN + self.set;
            self.at += there + back;
            let local = (micros(self.at) + THEN + self.ahead).div_euclid(1_000);
            let local = Timestamp::from_millis(local);
            Reading { asked, answered: self.origin + self.at, micros: read, local }
        }

        /// Takes a reading in after a second. Returns how far the time in use is off, in milliseconds.
        fn read(&mut self, there: u64, back: u64) -> i64 {
            self.at += SECOND;
            let reading = self.reading(there, back);
            (self.estimate.take(&reading) - THEN - self.set) / 1_000
        }
    }

    #[test]
    fn the_difference_of_the_clocks_counts_beyond_half_the_time_of_an_answer() {
        for (ahead, there, back, found) in [
            (90_000, 1, 1, 90_000..=90_001),
            (-90_000, 1, 1, -90_001..=-90_000),
            // The middle is off by the difference of both ways at most.
            (90_000, 0, 400, 89_800..=90_200),
            (5_000, 400, 0, 4_800..=5_200),
            (150, 200, 200, 0..=0),
            (-150, 200, 200, 0..=0),
            (0, 700, 20, 0..=0),
        ] {
            let seen = Stage::new(ahead * 1_000).reading(there, back).ahead();
            assert!(found.contains(&seen), "ahead by {ahead} ms, {there} ms there, {back} ms back: {seen}");
        }
    }

    #[test]
    fn only_a_clock_that_is_far_off_is_reported() {
        for (ahead, words) in [
            (0, None),
            (2_000, None),
            (-2_000, None),
            (2_050, Some("2.0 seconds ahead of the database's")),
            (-90_349, Some("90.3 seconds behind the database's")),
            (i64::MIN, Some("seconds behind")),
        ] {
            let said = warning(ahead);
            assert_eq!(said.is_some(), words.is_some(), "{ahead}");
            assert!(said.is_none_or(|said| words.is_some_and(|words| said.contains(words))), "{ahead}");
        }
    }

    #[test]
    fn the_first_reading_counts_at_once_however_wrong_the_own_clock_is() {
        for ahead in [-90_000_000, 0, 90_000_000] {
            assert_eq!(Stage::new(ahead).read(2, 2), 0, "ahead by {ahead}");
        }
    }

    #[test]
    fn quick_answers_narrow_the_estimate_and_slow_ones_do_not_spoil_it() {
        let mut stage = Stage::new(0);
        assert_eq!(stage.read(0, 400), -200, "one slow answer is off by half of it");
        for _ in 0..20 {
            stage.read(1, 1);
        }
        assert_eq!(stage.read(1, 1), 0);
        for (there, back) in [(0, 400), (400, 0), (3_000, 0), (0, 3_000)] {
            let off = stage.read(there, back).abs();
            assert!(off <= 3, "{there} ms there, {back} ms back: {off}");
        }
    }

    #[test]
    fn a_small_correction_is_gradual() {
        let mut stage = Stage::new(0);
        stage.read(1, 1);
        stage.set = -500_000;
        let (mut last, mut steps) = (500, 0);
        while last > 0 {
            let off = stage.read(1, 1);
            assert!(off <= last && last - off <= 21, "{last} and then {off}");
            (last, steps) = (off, steps + 1);
        }
        assert!((24..=26).contains(&steps), "{steps}");
    }

    #[test]
    fn a_clock_that_was_set_is_followed_at_once() {
        let mut stage = Stage::new(0);
        for set in [0, 3_600_000_000, -3_600_000_000, 90_000_000] {
            stage.set = set;
            assert_eq!(stage.read(1, 1), 0, "set by {set}");
        }
    }

    #[test]
    fn clocks_that_drift_apart_stay_within_the_bounds() {
        let mut stage = Stage::new(0);
        for _ in 0..1_000 {
            // The database's clock gains half a millisecond in each second.
            stage.set += 500;
            let off = stage.read(1, 1).abs();
            assert!(off <= 3, "{off}");
        }
    }
}
