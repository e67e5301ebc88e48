//! Limits, as they are shown: their allowance, their origin, and the rest.

mod allows;
mod level_hint;
mod origin;

use std::time::Duration;

use serde::{Deserialize, Serialize};

pub use self::allows::Allows;
pub use self::level_hint::LevelHint;
pub use self::origin::Origin;
use super::words::words;
use crate::outlook::Waiting;
use clock::Timestamp;

/// The subject of a limit, in the order in which limits are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Name {
    /// The pace of the tier.
    MessagesPerSecond,
    /// The pace of the provider's level for the number.
    ProviderLevel,
    /// The pace after the provider refused messages that came too fast.
    BackOff,
    /// Nothing goes for a while.
    Pause,
    /// Messages to one recipient.
    Pair,
    /// Sends with several recipients rest.
    QuietHours,
    /// People who get templates in 24 hours.
    TemplateQuota,
    /// Messages of a web session in 24 hours.
    DailyCap,
    /// People in 24 hours who never wrote to a web session.
    ColdContacts,
    /// People whom the provider lets the business write to first in 24 hours.
    ProviderMessagingLimit,
    /// The company's requests to the API.
    ApiRequests,
}

words!(Name {
    MessagesPerSecond = "messages_per_second",
    ProviderLevel = "provider_level",
    BackOff = "back_off",
    Pause = "pause",
    Pair = "pair",
    QuietHours = "quiet_hours",
    TemplateQuota = "template_quota",
    DailyCap = "daily_cap",
    ColdContacts = "cold_contacts",
    ProviderMessagingLimit = "provider_messaging_limit",
    ApiRequests = "api_requests",
});

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
