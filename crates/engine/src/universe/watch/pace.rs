//! The pace that the receiver sees: of a number, and of each pair.

use std::collections::HashMap;
use std::time::Duration;

use super::super::plan::Plan;
use domain::phone::PhoneNumber;
use domain::tier::{Quota, Tier};

/// Messages beyond the burst that are allowed: one whose permit was taken for another that turned out to be held, and
/// one for timers that are late.
const SLACK: f64 = 2.0;
/// The tolerance between two messages to one person, for timers and clocks that count in milliseconds.
const PAIR_SLACK: Duration = Duration::from_millis(5);
/// How long a message to a person who got one may wait: for its pair, and for a slow commit that puts it off.
const PAIR_WAIT: Duration = Duration::from_secs(60);
/// A tier that was changed is in force after this at the latest.
const IN_FORCE: Duration = Duration::from_secs(12);

#[derive(Debug, Clone)]
pub(super) struct Pacing {
    tier: Option<Tier>,
    rate: f64,
    burst: f64,
    /// How many messages would have to wait if all went evenly, and when that was so.
    backlog: f64,
    at: Duration,
    /// Earlier tiers that may still be in force, each with the time when that ends.
    before: Vec<(Tier, Duration)>,
    /// When the next message to a person would go if they went evenly.
    pairs: HashMap<PhoneNumber, Duration>,
    quota: Quota,
    retuned_at: Duration,
    /// Every tier so far holds messages with an unknown outcome.
    always_holds: bool,
    /// For how many seconds a bulk send had more messages that could go, and how many went in that time.
    busy_for: f64,
    went: f64,
    /// A bulk send has had more messages that could go since the last message.
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
            before: Vec::new(),
            pairs: HashMap::new(),
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
        let before = self.tier.replace(tier.clone());
        self.before.extend(before.map(|before| (before, now + IN_FORCE)));
        if self.rate > 0.0 {
            self.faster = Some((self.rate, self.burst, now + IN_FORCE));
        }
        self.rate = tier.messages_per_second.per_second();
        self.burst = f64::from(tier.burst());
        self.quota = tier.template_quota;
        self.retuned_at = now;
        let holds = tier.unknown_outcome == domain::tier::UnknownOutcome::Hold;
        self.always_holds &= holds;
    }

    /// Whether every tier so far holds messages with an unknown outcome.
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
    }

    /// A message goes. Returns the fault, if it goes too fast.
    pub(super) fn attempt(&mut self, now: Duration) -> Option<String> {
        let (mut rate, mut burst) = (self.rate, self.burst);
        if let Some((faster, larger, until)) = self.faster {
            if now < until {
                (rate, burst) = (rate.max(faster), burst.max(larger));
            } else {
                // What was lent by a larger burst is no debt of the smaller one.
                (self.faster, self.backlog) = (None, self.backlog.min(self.burst));
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

    /// Notes whether, after the last message, more could go if the rate allowed it.
    pub(super) const fn has_more(&mut self, has_more: bool) {
        self.is_busy = has_more;
    }

    /// Describes how much of the rate was left unused while there was work that nothing held.
    pub(super) fn idled(&self) -> Option<String> {
        let could_go = 0.99 * self.rate * self.busy_for - self.burst - 1.0;
        let idled = self.went < could_go;
        idled.then(|| format!("{} went in {:.1} s at {}/s", self.went, self.busy_for, self.rate))
    }

    /// A message to this person goes, for the first time or again. Returns the fault, if it goes too soon.
    pub(super) fn attempt_to(&mut self, number: PhoneNumber, now: Duration) -> Option<String> {
        self.before.retain(|(_, until)| now < *until);
        let tiers = || self.before.iter().map(|(tier, _)| tier).chain(&self.tier);
        let interval = tiers().map(|tier| tier.pair_interval).min().unwrap_or_default();
        let burst = tiers().map(|tier| tier.pair_burst).max().unwrap_or(1);
        if interval.is_zero() {
            // Nothing is paced, or need not be yet: counting begins with the next message.
            self.pairs.clear();
            return None;
        }
        let arrival = self.pairs.get(&number).copied().unwrap_or(now);
        let tolerance = interval * burst.saturating_sub(1) + PAIR_SLACK;
        self.pairs.insert(number, arrival.max(now) + interval);
        (arrival > now + tolerance).then(|| format!("{:?} before its time", arrival - now - tolerance))
    }

    /// Whether a message to this person may have to wait for others to the same person.
    pub(super) fn may_wait(&self, number: PhoneNumber, now: Duration) -> bool {
        self.pairs.get(&number).is_some_and(|arrival| *arrival + PAIR_WAIT > now)
    }
}
