//! The bucket of permits at one rate: governor's GCRA, with the time passed in.
//!
//! A change of the rate creates a new bucket with the permits of the old one, so that no change gives a burst or takes
//! an earned permit away.

use std::cell::Cell;
use std::num::NonZeroU32;
use std::rc::Rc;
use std::time::{Duration, Instant};

use crate::planted::{Fault, is_planted};
use governor::clock::Clock;
use governor::middleware::NoOpMiddleware;
use governor::nanos::Nanos;
use governor::state::{NotKeyed, StateStore};
use governor::{Quota, RateLimiter};

/// Timers may fire this late (tokio's have a granularity of 1 ms). Being late by this many nanoseconds does not lower
/// the rate. The allowance is never more than half the distance of two permits, so that it never adds a permit.
const LATENESS: u64 = 2_000_000;

/// The most nanoseconds that a whole burst is worth: no more than 146 years, so that sums do not overflow.
const MOST: u64 = u64::MAX / 4;

pub(super) struct Bucket {
    permits: RateLimiter<NotKeyed, Told, Told, NoOpMiddleware<Nanos>>,
    told: Told,
    origin: Instant,
    pace: Pace,
}

/// The clock and state that governor needs: the time, and the last arrival. Nanoseconds since the bucket's origin.
#[derive(Clone, Default)]
struct Told(Rc<Moments>);

#[derive(Default)]
struct Moments {
    now: Cell<u64>,
    /// When the next permit would come if they came evenly: a full bucket's has passed.
    arrival: Cell<u64>,
}

impl Clock for Told {
    type Instant = Nanos;

    fn now(&self) -> Nanos {
        self.0.now.get().into()
    }
}

impl StateStore for Told {
    type Key = NotKeyed;

    fn measure_and_replace<T, F, E>(&self, _: &NotKeyed, decide: F) -> Result<T, E>
    where
        F: Fn(Option<Nanos>) -> Result<(T, Nanos), E>,
    {
        let (decision, arrival) = decide(Some(self.0.arrival.get().into()))?;
        self.0.arrival.set(arrival.into());
        Ok(decision)
    }
}

#[derive(Clone, Copy)]
struct Pace {
    /// Nanoseconds from one permit to the next.
    period: u64,
    /// Permits that fit.
    burst: NonZeroU32,
}

impl Pace {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "rates and bursts are positive, and what is too large saturates and is then bounded"
    )]
    fn new(rate: f64, burst: f64) -> Self {
        // Rounded up: never faster than the rate.
        let rate = if is_planted(Fault::LimiterTooFast) { rate * 1.1 } else { rate };
        let period = ((1e9 / rate).ceil() as u64).clamp(1, MOST);
        let fits = u32::try_from(MOST / period).unwrap_or(u32::MAX).max(1);
        let burst = NonZeroU32::new((burst.round() as u32).min(fits)).unwrap_or(NonZeroU32::MIN);
        Self { period, burst }
    }

    /// What a full bucket is worth, in nanoseconds.
    fn whole(self) -> u64 {
        self.period * u64::from(self.burst.get())
    }

    /// The allowance for late timers at this rate.
    fn lateness(self) -> u64 {
        LATENESS.min(self.period / 2)
    }

    fn bucket(self, origin: Instant, arrival: u64) -> Bucket {
        let period = Quota::with_period(Duration::from_nanos(self.period));
        let quota = period.unwrap_or(Quota::per_second(NonZeroU32::MAX)).allow_burst(self.burst);
        let told = Told::default();
        let permits = RateLimiter::new(quota, told.clone(), told.clone());
        told.0.arrival.set(arrival);
        Bucket { permits, told, origin, pace: self }
    }
}

impl Bucket {
    /// An empty bucket that earns `rate` permits a second.
    pub(super) fn empty(rate: f64, burst: f64, now: Instant) -> Self {
        let pace = Pace::new(rate, burst);
        pace.bucket(now, pace.whole())
    }

    /// A bucket with another rate that holds as many permits as this one, or as many as fit.
    pub(super) fn repaced(&self, rate: f64, burst: f64, now: Instant) -> Self {
        let (old, pace) = (self.pace, Pace::new(rate, burst));
        let since = self.since(now);
        let missing = self.told.0.arrival.get().saturating_sub(since);
        let held = u128::from(old.whole().saturating_sub(missing));
        let held = held * u128::from(pace.period) / u128::from(old.period);
        let held = u64::try_from(held).unwrap_or(u64::MAX).min(pace.whole());
        pace.bucket(self.origin, since + (pace.whole() - held))
    }

    /// Takes a permit, or says how long it takes to earn one.
    pub(super) fn take(&self, now: Instant) -> Result<(), Duration> {
        let since = self.since(now);
        // A caller that is a little late counts as having come when the permit was due.
        let late = self.pace.lateness();
        let in_time = self.told.0.arrival.get().clamp(since.saturating_sub(late), since);
        self.told.0.now.set(in_time);
        self.permits.check().map_err(|until| until.wait_time_from(since.into()))
    }

    fn since(&self, now: Instant) -> u64 {
        u64::try_from(now.saturating_duration_since(self.origin).as_nanos()).unwrap_or(MOST).min(MOST)
    }
}
