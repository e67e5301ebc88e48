//! Limits, as they are shown: their allowance, their origin, and the rest.

mod allows;
mod level_hint;
mod origin;

use std::time::Duration;

use serde::{Deserialize, Serialize};

pub use self::allows::Allows;
pub use self::level_hint::LevelHint;
pub use self::origin::Origin;
use crate::outlook::Waiting;
use crate::tier::Quota;
use clock::Timestamp;

crate::worded! {
    /// The subject of a limit, in the order in which limits are shown.
    #[derive(Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Name {
        /// The pace of the tier.
        MessagesPerSecond = "messages_per_second",
        /// The pace of the provider's level for the number.
        ProviderLevel = "provider_level",
        /// The pace after the provider refused messages that came too fast.
        BackOff = "back_off",
        /// Nothing goes for a while.
        Pause = "pause",
        /// Messages to one recipient.
        Pair = "pair",
        /// Sends with several recipients rest.
        QuietHours = "quiet_hours",
        /// People who get templates in 24 hours.
        TemplateQuota = "template_quota",
        /// Messages of a web session in 24 hours.
        DailyCap = "daily_cap",
        /// People in 24 hours who never wrote to a web session.
        ColdContacts = "cold_contacts",
        /// People whom the provider lets the business write to first in 24 hours.
        ProviderMessagingLimit = "provider_messaging_limit",
        /// The company's requests to the API.
        ApiRequests = "api_requests",
    }
}

/// One limit of a channel.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Limit {
    /// The subject. Two limits may have the same one: the one in force is marked.
    pub name: Name,
    /// How much it allows.
    pub allows: Allows,
    /// Which option or provider's answer set it.
    pub set_by: Origin,
    /// Whether this limit decides now.
    pub is_binding: bool,
    /// How much is left now, where that is counted.
    pub left: Option<u64>,
    /// When the next slot opens, if none is open.
    pub next_slot: Option<Timestamp>,
}

impl Limit {
    /// A quota of 24 hours is nearly used up when less than this share of it is left, as a divisor.
    const LOW: u64 = 10;
    /// It has recovered when this share of it is left.
    const RECOVERED: u64 = 5;

    /// What is left of a quota of 24 hours, and how much it is; `None` for another limit, and while nobody knows.
    pub fn quota(&self) -> Option<(u64, u64)> {
        let quota = match self.allows {
            Allows::People(quota)
            | Allows::Provider(quota)
            | Allows::Messages(quota)
            | Allows::Strangers(quota) => quota,
            _ => return None,
        };
        let (Quota::AtMost(most), Some(left)) = (quota, self.left) else { return None };
        Some((left, u64::from(most)))
    }

    /// The same of a quota that is nearly used up.
    pub fn low_quota(&self) -> Option<(u64, u64)> {
        self.quota().filter(|(left, most)| left.saturating_mul(Self::LOW) < *most)
    }

    /// Whether so much of a quota is free that its next end is told again.
    pub fn has_recovered(&self) -> bool {
        self.quota().is_some_and(|(left, most)| left.saturating_mul(Self::RECOVERED) >= most)
    }
}

/// Everything that limits a channel now.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Limits {
    /// How the tier relates to the provider's level, where they differ. A node of an older version tells none.
    #[serde(default)]
    pub level_hint: Option<LevelHint>,
    /// Messages per second now; `None` when nothing limits them.
    pub rate: Option<f64>,
    /// Every limit, whether it decides or not.
    pub limits: Vec<Limit>,
    /// Why no message goes at this moment, if so.
    pub waiting: Option<Waiting>,
    /// Sends that the channel works at now.
    pub active_sends: u64,
    /// Messages on their way to the provider.
    pub in_flight: u64,
    /// The recent pace.
    pub pace: Pace,
}

/// The recent pace of a channel, in steps of equal length, the oldest first.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Pace {
    /// Messages per second now.
    pub per_second: f64,
    /// The length of a step; the last one has just begun.
    pub step: Duration,
    /// The steps.
    pub points: Vec<PacePoint>,
}

/// One step of a channel's pace.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PacePoint {
    /// When it began.
    pub from: Timestamp,
    /// Messages per second that were handed over.
    pub per_second: f64,
    /// Messages per second that were allowed; `None` when nothing limited them.
    pub limit: Option<f64>,
}

/// An allowance of which nothing is left.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spent {
    /// The subject.
    pub name: Name,
    /// How much is allowed in each window; 0 if nothing may go for now, whatever was sent before.
    pub allows: u32,
    /// The time in which as much comes back.
    pub window: Duration,
}

impl Spent {
    /// A pause of this length.
    pub const fn pause(window: Duration) -> Self {
        Self { name: Name::Pause, allows: 0, window }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limit(allows: Allows, left: Option<u64>) -> Limit {
        let (name, set_by) = (Name::TemplateQuota, Origin::Provider);
        Limit { name, allows, set_by, is_binding: false, left, next_slot: None }
    }

    #[test]
    fn a_quota_is_low_when_less_than_a_tenth_is_left_until_a_fifth_is() {
        let people = Allows::People(Quota::AtMost(1_000));
        let of = |allows, left| limit(allows, left).low_quota();
        assert_eq!((of(people, Some(100)), of(people, None)), (None, None));
        assert_eq!((of(people, Some(99)), of(people, Some(0))), (Some((99, 1_000)), Some((0, 1_000))));
        assert_eq!(of(Allows::People(Quota::Unlimited), Some(0)), None);
        assert_eq!(of(Allows::Nothing, Some(0)), None);
        let recovered = [199, 200].map(|left| limit(people, Some(left)).has_recovered());
        assert_eq!(recovered, [false, true]);
    }
}
