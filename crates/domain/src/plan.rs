//! How long a send takes under a tier, and which of its limits decides.
//!
//! A model of the limits that the engine enforces, without their clocks: the messages ahead of a send on its channel,
//! the pace, the recipients' own intervals, and the moving day of the template quota. The caller passes in all that is
//! known; the same figures always give the same answer. Dry runs and `pombo plan` use it.

#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::time::Duration;

use crate::channel::Level;
use crate::tier::{QUOTA_SPAN, Quota, Tier};
use crate::words::listed;
use clock::Timestamp;

/// Delays shorter than this are rounding, not a limit.
const ROUNDING: f64 = 1e-6;

/// The messages ahead of a new send on its channel, by lane.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Queue {
    /// Messages of sends to one recipient.
    pub direct: Amount,
    /// Messages of each send to many, which take turns.
    pub bulk: Vec<Amount>,
}

/// Messages: those that count against the quota of templates, and the others.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Amount {
    /// Everything except templates.
    pub plain: u64,
    /// Templates.
    pub templates: u64,
}

/// The people that the business account wrote to with templates in the last 24 hours.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Written {
    /// How many of them are among the send's own recipients: those take no further slot.
    pub known: u64,
    /// How long ago each of the others was written to, the longest first.
    pub others: Vec<Duration>,
}

/// Everything that decides how long a send takes, except the tier.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Course {
    /// Unique recipients.
    pub recipients: u64,
    /// Whether it sends a template.
    pub has_template: bool,
    /// The messages ahead.
    pub queue: Queue,
    /// The most messages to one and the same person that go before it on the channel.
    pub to_same: u64,
    /// People who got templates in the last 24 hours.
    pub written: Written,
    /// The provider's level for the number, if it is known.
    pub level: Option<Level>,
    /// Messages in a second while the provider's refusals slow the channel down.
    pub slowed_to: Option<f64>,
}

impl Course {
    /// The same course beside this other send to none of its recipients, with which it takes turns.
    #[must_use]
    pub fn beside(mut self, other: &Self) -> Self {
        let amount = if other.has_template {
            Amount { plain: 0, templates: other.recipients }
        } else {
            Amount { plain: other.recipients, templates: 0 }
        };
        self.queue.bulk.push(amount);
        self
    }
}

listed! {
    /// The limit without which a send would be over sooner.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum Binding {
        /// The tier's `messages_per_second`.
        MessagesPerSecond = "messages_per_second",
        /// The provider's level for the number.
        ProviderLevel = "provider_level",
        /// The provider recently refused messages that came too fast.
        BackOff = "back_off",
        /// The tier's `pair_interval` and `pair_burst`.
        Pair = "pair",
        /// The tier's `template_quota`.
        TemplateQuota = "template_quota",
        /// The tier's `quiet_hours`.
        QuietHours = "quiet_hours",
    }
}

/// The estimate of a send.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Estimate {
    /// From now until its last message goes; `None` when nothing but the provider's answers limits it.
    pub takes: Option<Duration>,
    /// The limit that decides, if one does.
    pub binding: Option<Binding>,
}

impl Estimate {
    /// How long it takes in seconds, rounded up; `None` as in [`Estimate::takes`].
    pub fn seconds(self) -> Option<u64> {
        self.takes.map(|takes| takes.as_secs().saturating_add(u64::from(takes.subsec_nanos() > 0)))
    }
}

impl Amount {
    /// All of them.
    pub const fn total(self) -> u64 {
        self.plain + self.templates
    }

    const fn add(&mut self, other: Self) {
        self.plain += other.plain;
        self.templates += other.templates;
    }

    /// At most `count` of a send's messages, which are all of one sort.
    fn at_most(self, count: u64) -> Self {
        Self { plain: self.plain.min(count), templates: self.templates.min(count) }
    }
}

impl Queue {
    /// The messages ahead of the last message of a new send to this many recipients. Single messages go first. Bulk
    /// sends take turns: while one sends its messages, each other sends as many, or all that it has.
    pub fn before(&self, recipients: u64) -> Amount {
        let mut before = self.direct;
        if recipients > 1 {
            self.bulk.iter().for_each(|other| before.add(other.at_most(recipients)));
        }
        before
    }

    /// Whether templates are among the messages.
    pub fn has_templates(&self) -> bool {
        self.direct.templates > 0 || self.bulk.iter().any(|bulk| bulk.templates > 0)
    }

    /// How many messages are left in all.
    pub fn total(&self) -> u64 {
        self.direct.total() + self.bulk.iter().map(|bulk| bulk.total()).sum::<u64>()
    }
}

/// How long a send takes under `tier`, and the limit that decides.
pub fn estimate(course: &Course, tier: &Tier) -> Estimate {
    let (rate, pace) = pace(course, tier);
    let period = if rate.is_finite() { 1.0 / rate } else { 0.0 };
    let before = course.queue.before(course.recipients);
    let (at_pace, at_last) = match tier.template_quota {
        Quota::AtMost(quota) if course.has_template => {
            let at_pace = (before.total() + course.recipients) as f64 * period;
            (at_pace, under_quota(course, before, quota.into(), period))
        }
        Quota::AtMost(quota) => {
            // Templates beyond the quota wait in the store and let everything else go first.
            let used = course.written.others.len() as u64 + course.written.known;
            let templates = before.templates.min(u64::from(quota).saturating_sub(used));
            let at_pace = (before.plain + templates + course.recipients) as f64 * period;
            (at_pace, at_pace)
        }
        Quota::Unlimited => {
            let at_pace = (before.total() + course.recipients) as f64 * period;
            (at_pace, at_pace)
        }
    };
    let at_pair = last_slot(course.to_same, tier);
    let binding = if at_last > at_pace + ROUNDING && at_last >= at_pair {
        Some(Binding::TemplateQuota)
    } else if at_pair > at_pace + ROUNDING {
        Some(Binding::Pair)
    } else {
        pace
    };
    let seconds = at_last.max(at_pair);
    Estimate {
        takes: binding.map(|_| Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)),
        binding,
    }
}

/// [`estimate`] of a send that begins at `now`, with the hours in which it rests.
pub fn estimate_from(now: Timestamp, course: &Course, tier: &Tier) -> Estimate {
    let estimate = estimate(course, tier);
    let Some(takes) = estimate.takes else { return estimate };
    let rested = tier.done(now, takes, course.recipients > 1).from_now(now);
    // Moments have whole milliseconds.
    if rested <= takes {
        return estimate;
    }
    Estimate { takes: Some(rested), binding: Some(Binding::QuietHours) }
}

/// Messages in a second, infinite when nothing limits them, and the limit that sets the pace.
fn pace(course: &Course, tier: &Tier) -> (f64, Option<Binding>) {
    let of_tier = tier.messages_per_second.per_second();
    let of_level = course.level.map_or(f64::INFINITY, |level| level.rate().per_second());
    let (rate, binding) = if of_level < of_tier {
        (of_level, Binding::ProviderLevel)
    } else {
        (of_tier, Binding::MessagesPerSecond)
    };
    match course.slowed_to.filter(|slowed| *slowed < rate) {
        Some(slowed) => (slowed, Some(Binding::BackOff)),
        None => (rate, rate.is_finite().then_some(binding)),
    }
}

/// When the last of some messages to the same person may go: some at once, the others one interval each.
fn last_slot(to_same: u64, tier: &Tier) -> f64 {
    let waits = (to_same + 1).saturating_sub(tier.pair_burst.max(1).into());
    waits as f64 * tier.pair_interval.as_secs_f64()
}

/// When the last message goes if only `quota` people may be written to in a moving day, in seconds from now.
///
/// Templates ahead are counted as if each went to a new person. The send's own recipients who count already come first,
/// and count as if they had been written to right now, because the times of their messages are not known.
fn under_quota(course: &Course, before: Amount, quota: u64, period: f64) -> f64 {
    let day = QUOTA_SPAN.as_secs_f64();
    let Written { known, others } = &course.written;
    let known = (*known).min(course.recipients);
    // People who count, by the time of their last message, the oldest first.
    let mut counted: VecDeque<f64> = others.iter().map(|ago| -ago.as_secs_f64()).collect();
    counted.extend((0..known).map(|_| 0.0));
    let mut last = (before.plain + known) as f64 * period;
    for _ in 0..before.templates + course.recipients - known {
        let mut at = last + period;
        while counted.len() as u64 >= quota.max(1) {
            let Some(oldest) = counted.pop_front() else { break };
            at = at.max(oldest + day);
        }
        counted.push_back(at);
        last = at;
    }
    last
}
