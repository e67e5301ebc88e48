//! The pace that the receiver sees: of a number, and of each pair.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use super::super::plan::Plan;
use crate::domain::phone::PhoneNumber;
use crate::domain::tier::{Quota, Tier};

/// Messages beyond the burst that are let pass: one whose permit was taken for another that turned out to be held, and
/// one for timers that are late.
const SLACK: f64 = 2.0;
/// A tier that was changed is in force after this at the latest.
const IN_FORCE: Duration = Duration::from_secs(12);

/// See the module.
#[derive(Debug, Clone)]
pub(super) struct Pacing {
    tier: Option<Tier>,
    rate: f64,
    burst: f64,
    /// What would have to wait, in messages, if they went evenly; and when that was so.
    backlog: f64,
    at: Duration,
    /// The least interval and the largest burst of all tiers that the channel had.
    pair_interval: Duration,
    pair_burst: u32,
    pairs: HashMap<PhoneNumber, Duration>,
    known: HashSet<PhoneNumber>,
    quota: Quota,
    retuned_at: Duration,
    /// Every tier so far holds what is in doubt.
    always_holds: bool,
    /// So long, in seconds, more messages of a bulk send could go than went at the full rate; and how many went.
    busy_for: f64,
    went: f64,
    /// The same is so since the last message.
    is_busy: bool,
    /// The fastest tier of the last moments: a change takes a while to be in force.
    faster: Option<(f64, f64, Duration)>,
}

fn find<'a>(plan: &'a Plan, name: &str) -> Option<&'a Tier> {
    plan.tiers.iter().find(|tier| tier.name == name).or_else(|| plan.tiers.first())
}

impl Pacing {
    pub(super) fn new(plan: &Plan, tier: &str) -> Self {
        let mut pacing = Self {
            tier: None,
            rate: 0.0,
            burst: 0.0,
            backlog: 0.0,
            at: Duration::ZERO,
            pair_interval: Duration::MAX,
            pair_burst: 0,
            pairs: HashMap::new(),
            known: HashSet::new(),
            quota: Quota::Unlimited,
            retuned_at: Duration::ZERO,
            always_holds: true,
            busy_for: 0.0,
            went: 0.0,
            is_busy: false,
            faster: None,
        };
        pacing.retune(plan, tier, Duration::ZERO);
        pacing
    }

    pub(super) fn retune(&mut self, plan: &Plan, tier: &str, now: Duration) {
        let Some(tier) = find(plan, tier) else { return };
        if self.tier.as_ref() == Some(tier) {
            return;
        }
        self.tier = Some(tier.clone());
        if self.rate > 0.0 {
            self.faster = Some((self.rate, self.burst, now + IN_FORCE));
        }
        self.rate = tier.messages_per_second.per_second();
        self.burst = f64::from(tier.burst());
        self.pair_interval = self.pair_interval.min(tier.pair_interval);
        self.pair_burst = self.pair_burst.max(tier.pair_burst);
        self.quota = tier.template_quota;
        self.retuned_at = now;
        let holds = tier.unknown_outcome == crate::domain::tier::UnknownOutcome::Hold;
        self.always_holds &= holds;
    }

    /// Whether every tier so far said that what is in doubt is held.
    pub(super) const fn always_holds(&self) -> bool {
        self.always_holds
    }

    /// The quota, once it is surely in force.
    pub(super) fn quota(&self, now: Duration) -> Option<Quota> {
        (self.retuned_at.is_zero() || self.retuned_at + IN_FORCE < now).then_some(self.quota)
    }

    /// A new process lends a burst to each pair again.
    pub(super) fn crashed(&mut self) {
        self.pairs.clear();
        self.known.clear();
    }

    /// A message goes. What is wrong with that, if it goes too fast.
    pub(super) fn attempt(&mut self, now: Duration) -> Option<String> {
        let (mut rate, mut burst) = (self.rate, self.burst);
        if let Some((faster, larger, until)) = self.faster {
            if now < until {
                (rate, burst) = (rate.max(faster), burst.max(larger));
            } else {
                self.faster = None;
            }
        }
        let passed = (now - self.at).as_secs_f64();
        if self.is_busy {
            self.busy_for += passed;
            self.went += 1.0;
        }
        self.backlog = (self.backlog - passed * rate).max(0.0);
        self.at = now;
        let too_fast = self.backlog > burst + SLACK;
        self.backlog += 1.0;
        too_fast.then(|| {
            format!("{:.2} messages ahead of {rate}/s with a burst of {burst}", self.backlog - burst)
        })
    }

    /// Whether more could go than the rate lets, from the message on that went last.
    pub(super) const fn has_more(&mut self, has_more: bool) {
        self.is_busy = has_more;
    }

    /// What is wrong with the use that was made of the rate while there was work and nothing held it.
    pub(super) fn idled(&self) -> Option<String> {
        let could_go = 0.99 * self.rate * self.busy_for - self.burst - 1.0;
        let idled = self.went < could_go;
        idled.then(|| format!("{} went in {:.1} s at {}/s", self.went, self.busy_for, self.rate))
    }

    /// A message to this person goes. What is wrong with that, if it goes too soon: one that is fresh, and takes its slot
    /// now, keeps the distance from those before that did.
    pub(super) fn attempt_to(
        &mut self,
        number: PhoneNumber,
        is_fresh: bool,
        now: Duration,
    ) -> Option<String> {
        self.known.insert(number);
        if !is_fresh {
            return None;
        }
        let arrival = self.pairs.get(&number).copied().unwrap_or(now);
        let tolerance = self.pair_interval * self.pair_burst.saturating_sub(1) + Duration::from_millis(5);
        let is_too_soon = arrival > now + tolerance;
        self.pairs.insert(number, arrival.max(now) + self.pair_interval);
        is_too_soon.then(|| format!("{:?} before its time", arrival - now - tolerance))
    }

    /// Whether this person was written to.
    pub(super) fn knows(&self, number: PhoneNumber) -> bool {
        self.known.contains(&number)
    }
}
