//! The limiter: when a channel's next message may go.

use std::num::NonZeroU32;
use std::time::Duration;

use governor::clock::{Clock, QuantaClock};
use governor::{DefaultDirectRateLimiter, Quota, RateLimiter};

use crate::domain::tier::Tier;

/// Paces messages at a tier's rate.
pub(super) struct Limiter {
    /// `None` when the tier knows no rate.
    bucket: Option<DefaultDirectRateLimiter>,
    clock: QuantaClock,
}

impl Limiter {
    /// A limiter that begins with an empty bucket: a full one would let a burst through at the start and
    /// go over the rate in the first second.
    pub(super) fn new(tier: &Tier) -> Self {
        let bucket = tier.messages_per_second.period().and_then(Quota::with_period).map(|quota| {
            let burst = NonZeroU32::new(tier.burst()).unwrap_or(NonZeroU32::MIN);
            let bucket = RateLimiter::direct(quota.allow_burst(burst));
            let drained = bucket.check_n(burst);
            debug_assert!(matches!(drained, Ok(Ok(()))), "a new bucket is full");
            bucket
        });
        Self { bucket, clock: QuantaClock::default() }
    }

    /// Takes a permit for one message.
    ///
    /// # Errors
    ///
    /// How long to wait when there is none.
    pub(super) fn take(&self) -> Result<(), Duration> {
        let Some(bucket) = &self.bucket else { return Ok(()) };
        bucket.check().map_err(|until| until.wait_time_from(self.clock.now()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::tier::{BUILT_IN, parse};

    #[test]
    fn a_new_limiter_has_no_burst_to_spend() {
        let tiers = parse(BUILT_IN).unwrap();
        let tier = |name: &str| tiers.iter().find(|tier| tier.name == name).unwrap();
        let wait = Limiter::new(tier("standard")).take().unwrap_err();
        assert!(wait <= Duration::from_micros(12_500), "{wait:?}");
        assert_eq!(Limiter::new(tier("unlimited")).take(), Ok(()));
    }
}
