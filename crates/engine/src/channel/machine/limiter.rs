//! The limiter: when a channel's next message may go.
//!
//! The pace is the least of the tier's rate, of the provider's level for the number, and of the back-off after the
//! provider's throttle answers. The caller passes the time in: there are no timers and no clock here, so that a test
//! can run a minute in a moment.

mod back_off;
mod bucket;
mod meter;
#[cfg(test)]
mod tests;

use std::time::{Duration, Instant};

use self::back_off::BackOff;
use self::bucket::Bucket;
use self::meter::Meter;
use domain::rate::Rate;
use domain::tier::Tier;

/// The span over which the provider counts a number's messages. A message that was started less than this after a halving
/// may be refused because of those that were in flight then.
const COUNTED: Duration = Duration::from_secs(1);

/// The lowest rate that is assumed for an unlimited number when it is throttled.
const LEAST_MEASURED: f64 = 2.0;

/// Paces the messages of one number.
pub(super) struct Limiter {
    ceiling: Ceiling,
    back_off: Option<BackOff>,
    /// `None` while the pace is unlimited.
    bucket: Option<Bucket>,
    /// The recent messages: the only measure of an unlimited pace.
    meter: Meter,
    /// When the pace was last halved.
    halved: Option<Instant>,
    /// A permit was taken, and no message has used it yet.
    has_permit: bool,
}

/// The limit that decides the pace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Binding {
    /// The channel's tier, or nothing when the rate is unlimited.
    Tier,
    /// The provider's level for the number.
    ProviderLevel,
    /// The back-off after a throttle answer of the provider.
    BackOff {
        /// When the full pace will be back, unless the provider throttles again.
        until: Instant,
    },
}

/// The full pace, without any back-off.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Ceiling {
    /// Messages a second; infinite without a limit.
    rate: f64,
    /// Messages that may go at once at that rate.
    burst: f64,
    /// Whether it is the provider's level and not the tier.
    by_level: bool,
}

impl Ceiling {
    fn new(tier: &Tier, level: Option<Rate>) -> Self {
        let of_tier = tier.messages_per_second.per_second();
        let of_level = level.map_or(f64::INFINITY, Rate::per_second);
        let rate = of_tier.min(of_level);
        let burst = f64::from(tier.burst());
        // A level below the tier shrinks the burst with the rate. An unlimited tier has no rate to shrink the burst by.
        let burst = if of_tier.is_finite() { burst * rate / of_tier } else { burst.min(rate / 100.0) };
        Self { rate, burst, by_level: of_level < of_tier }
    }

    /// The burst at a rate that may be less than the full one.
    fn burst_at(self, rate: f64) -> f64 {
        if self.rate.is_finite() { self.burst * rate / self.rate } else { self.burst.min(rate / 100.0) }
    }
}

impl Limiter {
    /// A limiter for a number of this tier and with this level at the provider, if that is known. It begins
    /// with an empty bucket: a full one would go over the rate in the first second.
    pub(super) fn new(tier: &Tier, level: Option<Rate>, now: Instant) -> Self {
        let mut limiter = Self {
            ceiling: Ceiling::new(tier, level),
            back_off: None,
            bucket: None,
            meter: Meter::new(now),
            halved: None,
            has_permit: false,
        };
        limiter.set_pace(now);
        limiter
    }

    /// Follows a changed tier or level. A back-off goes on, and no new burst is given. Without a change of the pace,
    /// this does nothing.
    pub(super) fn retune(&mut self, tier: &Tier, level: Option<Rate>, now: Instant) {
        let ceiling = Ceiling::new(tier, level);
        if ceiling == self.ceiling {
            return;
        }
        self.recover(now);
        self.ceiling = ceiling;
        if let Some(back_off) = &mut self.back_off {
            back_off.limit(ceiling.rate);
            if now >= back_off.end() {
                self.back_off = None;
            }
        }
        self.set_pace(now);
    }

    /// Takes a permit for the next message, unless there is one that no message used.
    ///
    /// # Errors
    ///
    /// How long to wait before asking again when there is none.
    pub(super) fn permit(&mut self, now: Instant) -> Result<(), Duration> {
        if !self.has_permit {
            self.take(now)?;
            self.has_permit = true;
        }
        Ok(())
    }

    /// A message used the permit.
    pub(super) const fn use_permit(&mut self) {
        self.has_permit = false;
    }

    /// Takes a permit for one message.
    ///
    /// # Errors
    ///
    /// How long to wait before asking again when there is none.
    fn take(&mut self, now: Instant) -> Result<(), Duration> {
        self.recover(now);
        let Some(bucket) = &self.bucket else {
            self.meter.count(now);
            return Ok(());
        };
        let step = self.back_off.as_ref().map(|back_off| back_off.next_step().saturating_duration_since(now));
        // A step up can bring the permit sooner than the present rate does.
        bucket.take(now).map_err(|wait| step.map_or(wait, |step| wait.min(step)))
    }

    /// The provider refused a message that was started at `started` because this number sends too fast (code 130429):
    /// halves the present rate at once. Refusals of messages that were in flight at the last halving, or that the
    /// provider counts together with those, say nothing of the halved rate and change nothing. Returns whether the rate
    /// was halved.
    pub(super) fn slow_down(&mut self, started: Instant, now: Instant) -> bool {
        if self.halved.is_some_and(|halved| started <= halved + COUNTED) {
            return false;
        }
        self.recover(now);
        let back_off = match self.back_off.take() {
            Some(back_off) => back_off.halved(now),
            None if self.ceiling.rate.is_finite() => BackOff::begin(self.ceiling.rate, now),
            None => BackOff::begin(self.meter.per_second(now).max(LEAST_MEASURED), now),
        };
        self.back_off = Some(back_off);
        self.halved = Some(now);
        self.set_pace(now);
        true
    }

    /// The present rate, in messages a second; infinite without a limit.
    pub(super) fn rate(&self, now: Instant) -> f64 {
        match &self.back_off {
            Some(back_off) if now < back_off.end() => back_off.rate(now),
            Some(_) | None => self.ceiling.rate,
        }
    }

    /// The rate without a back-off, in messages a second; infinite without a limit.
    pub(super) const fn full_rate(&self) -> f64 {
        self.ceiling.rate
    }

    /// The limit that sets that rate.
    pub(super) fn binding(&self, now: Instant) -> Binding {
        match self.back_off.as_ref().map(BackOff::end) {
            Some(until) if now < until => Binding::BackOff { until },
            _ if self.ceiling.by_level => Binding::ProviderLevel,
            _ => Binding::Tier,
        }
    }

    /// Takes the steps of a back-off that are due.
    fn recover(&mut self, now: Instant) {
        let Some(back_off) = &mut self.back_off else { return };
        if now < back_off.next_step() {
            return;
        }
        back_off.step(now);
        if now >= back_off.end() {
            self.back_off = None;
        }
        self.set_pace(now);
    }

    /// Adapts the bucket to the present rate.
    fn set_pace(&mut self, now: Instant) {
        let rate = self.rate(now);
        self.bucket = rate.is_finite().then(|| {
            let burst = self.ceiling.burst_at(rate);
            match &self.bucket {
                Some(bucket) => bucket.repaced(rate, burst, now),
                None => Bucket::empty(rate, burst, now),
            }
        });
    }
}
