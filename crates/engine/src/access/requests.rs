//! The requests that each company may make to the API: `api_requests` of its tier.
//!
//! A company may use the whole allowance of a period at once; it comes back evenly. The tier is read again when the
//! company has another one or when tiers were applied; while the rate stays the same, used requests stay used. There is
//! one entry for each company that made a request.
//!
//! The nodes of a cluster share the rate in equal parts, of one request at least; when a node comes or goes, each
//! begins with its whole new part.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use dashmap::DashMap;
use governor::clock::{Clock, QuantaClock};
use governor::middleware::StateInformationMiddleware;
use governor::state::{InMemoryState, NotKeyed};
use governor::{Quota, RateLimiter};
use uuid::Uuid;

use crate::shared::Tiers;
use domain::rate::Rate;

/// A company's allowance, and the rest of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Allowance {
    /// Requests in each window.
    pub limit: u32,
    /// The time in which that many come back.
    pub window: Duration,
    /// Requests that may be made at once now.
    pub remaining: u32,
    /// When the whole allowance is back, if no request is made until then.
    pub reset: Duration,
}

/// A company used up its allowance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Exhausted {
    /// The allowance, of which nothing is left.
    pub allowance: Allowance,
    /// How long until the next request may be made.
    pub wait: Duration,
}

pub(crate) struct Requests<C: Clock = QuantaClock> {
    companies: DashMap<Uuid, Entry<C>>,
    clock: C,
}

struct Entry<C: Clock> {
    tier: Arc<str>,
    /// The generation of the tiers at which the tier was read.
    generation: u64,
    rate: Rate,
    /// How many nodes share the rate.
    nodes: u32,
    /// `None` when the tier has no bound.
    bucket: Option<Bucket<C>>,
}

struct Bucket<C: Clock> {
    limit: NonZeroU32,
    window: Duration,
    permits: RateLimiter<NotKeyed, InMemoryState, C, StateInformationMiddleware>,
}

impl Default for Requests {
    fn default() -> Self {
        Self::new(QuantaClock::default())
    }
}

impl<C: Clock + Clone> Requests<C> {
    fn new(clock: C) -> Self {
        Self { companies: DashMap::new(), clock }
    }

    /// Counts a request of a company with this tier, whose rate `nodes` nodes share. Returns the rest of the allowance
    /// here, or `None` without a bound.
    ///
    /// # Errors
    ///
    /// When the allowance is used up. The request does not count then.
    pub(crate) fn admit(
        &self,
        company_id: Uuid,
        tier: &Arc<str>,
        tiers: &Tiers,
        nodes: u32,
    ) -> Result<Option<Allowance>, Exhausted> {
        // Read first: a tier that is replaced during the read is read again.
        let generation = tiers.generation();
        if let Some(entry) = self.companies.get(&company_id)
            && entry.generation == generation
            && entry.tier == *tier
            && entry.nodes == nodes
        {
            return entry.admit(&self.clock);
        }
        let rate = tiers.find(tier).api_requests;
        let mut entry = self.companies.entry(company_id).or_insert_with(|| Entry {
            tier: Arc::clone(tier),
            generation,
            rate,
            nodes,
            bucket: Bucket::new(rate, nodes, &self.clock),
        });
        if entry.rate != rate || entry.nodes != nodes {
            entry.bucket = Bucket::new(rate, nodes, &self.clock);
            (entry.rate, entry.nodes) = (rate, nodes);
        }
        (entry.tier, entry.generation) = (Arc::clone(tier), generation);
        entry.admit(&self.clock)
    }
}

impl<C: Clock> Entry<C> {
    fn admit(&self, clock: &C) -> Result<Option<Allowance>, Exhausted> {
        self.bucket.as_ref().map(|bucket| bucket.admit(clock)).transpose()
    }
}

impl<C: Clock> Bucket<C> {
    fn new(rate: Rate, nodes: u32, clock: &C) -> Option<Self>
    where
        C: Clone,
    {
        let (count, window) = rate.allowance()?;
        let limit = NonZeroU32::new(if count == 0 { 0 } else { (count / nodes.max(1)).max(1) })?;
        let quota = Quota::with_period(window / limit.get())?.allow_burst(limit);
        let permits = RateLimiter::direct_with_clock(quota, clock.clone()).with_middleware();
        Some(Self { limit, window, permits })
    }

    fn admit(&self, clock: &C) -> Result<Allowance, Exhausted> {
        match self.permits.check() {
            Ok(state) => Ok(self.allowance(state.remaining_burst_capacity())),
            Err(until) => {
                Err(Exhausted { allowance: self.allowance(0), wait: until.wait_time_from(clock.now()) })
            }
        }
    }

    fn allowance(&self, remaining: u32) -> Allowance {
        let limit = self.limit.get();
        let reset = self.window / limit * limit.saturating_sub(remaining);
        Allowance { limit, window: self.window, remaining, reset }
    }
}

#[cfg(test)]
mod tests {
    use governor::clock::FakeRelativeClock;

    use super::*;

    fn tiers(api_requests: &str) -> Tiers {
        let tiers = Tiers::default();
        apply(&tiers, api_requests);
        tiers
    }

    fn apply(tiers: &Tiers, api_requests: &str) {
        let settings = format!(
            r#"{{"name":"paced","kind":"business_account","messages_per_second":"1/s","api_requests":"{api_requests}"}}"#
        );
        tiers.replace([("paced".to_owned(), settings)]);
    }

    fn fixture() -> (FakeRelativeClock, Requests<FakeRelativeClock>, Uuid, Arc<str>) {
        let clock = FakeRelativeClock::default();
        (clock.clone(), Requests::new(clock), Uuid::now_v7(), "paced".into())
    }

    #[test]
    fn the_whole_allowance_may_be_used_at_once_and_comes_back_evenly() {
        let (clock, requests, acme, tier) = fixture();
        let tiers = tiers("4/min");
        let left = |result: Result<Option<Allowance>, Exhausted>| {
            let Allowance { limit, window, remaining, reset } = result.unwrap().unwrap();
            assert_eq!((limit, window), (4, Duration::from_secs(60)));
            (remaining, reset.as_secs())
        };
        let used: Vec<_> = (0..4).map(|_| left(requests.admit(acme, &tier, &tiers, 1))).collect();
        assert_eq!(used, [(3, 15), (2, 30), (1, 45), (0, 60)]);
        clock.advance(Duration::from_secs(5));
        for _ in 0..10 {
            let refused = requests.admit(acme, &tier, &tiers, 1).unwrap_err();
            assert_eq!((refused.wait, refused.allowance.remaining), (Duration::from_secs(10), 0));
        }
        clock.advance(Duration::from_secs(10));
        assert_eq!(left(requests.admit(acme, &tier, &tiers, 1)), (0, 60));
        clock.advance(Duration::from_secs(3600));
        assert_eq!(left(requests.admit(acme, &tier, &tiers, 1)), (3, 15));
    }

    #[test]
    fn companies_do_not_share_their_allowance() {
        let (_, requests, acme, tier) = fixture();
        let tiers = tiers("1/h");
        assert!(requests.admit(acme, &tier, &tiers, 1).is_ok());
        assert!(requests.admit(acme, &tier, &tiers, 1).is_err());
        assert!(requests.admit(Uuid::now_v7(), &tier, &tiers, 1).is_ok());
    }

    #[test]
    fn a_changed_tier_is_in_force_with_the_next_request() {
        let (_, requests, acme, tier) = fixture();
        let tiers = tiers("unlimited");
        for _ in 0..100 {
            assert_eq!(requests.admit(acme, &tier, &tiers, 1), Ok(None));
        }
        apply(&tiers, "2/h");
        assert!(requests.admit(acme, &tier, &tiers, 1).is_ok());
        apply(&tiers, "2/h");
        assert!(requests.admit(acme, &tier, &tiers, 1).is_ok());
        assert!(requests.admit(acme, &tier, &tiers, 1).is_err(), "what was used stays used at the same rate");
        apply(&tiers, "3/h");
        assert!(requests.admit(acme, &tier, &tiers, 1).is_ok());
        // The company has another tier now, whose fallback has no bound.
        assert_eq!(requests.admit(acme, &"gone".into(), &tiers, 1), Ok(None));
        assert!(requests.admit(acme, &tier, &tiers, 1).unwrap().is_some());
    }

    #[test]
    fn nodes_share_the_rate_and_each_has_its_new_part_when_one_comes_or_goes() {
        let (clock, requests, acme, tier) = fixture();
        let tiers = tiers("9/min");
        let limit = |nodes| requests.admit(acme, &tier, &tiers, nodes).unwrap().unwrap().limit;
        assert_eq!([1, 2, 3, 9, 100].map(limit), [9, 4, 3, 1, 1]);
        for _ in 0..3 {
            assert_eq!(limit(3), 3);
        }
        let refused = requests.admit(acme, &tier, &tiers, 3).unwrap_err();
        assert_eq!(refused.wait, Duration::from_secs(20), "three nodes give nine in a minute together");
        clock.advance(Duration::from_secs(20));
        assert_eq!(limit(3), 3);
    }
}
