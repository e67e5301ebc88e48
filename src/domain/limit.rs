//! A limit as it is shown: what it allows, who set it, what is left of it.

use std::time::Duration;

use crate::clock::Timestamp;
use crate::domain::outlook::Waiting;

/// Every name of a limit, in the order in which they are shown.
pub const NAMES: [&str; 10] = [
    "messages_per_second",
    "provider_level",
    "back_off",
    "pause",
    "pair",
    "template_quota",
    "daily_cap",
    "cold_contacts",
    "provider_messaging_limit",
    "api_requests",
];

/// One limit of a channel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limit {
    /// What is limited: one of [`NAMES`]. Two limits may limit the same thing: the one in force
    /// says so.
    pub name: &'static str,
    /// How much it allows, such as `80/s`.
    pub value: String,
    /// Which option or provider's answer set it.
    pub set_by: String,
    /// Whether it is the one that decides now.
    pub is_binding: bool,
    /// How much is left now, where that is counted.
    pub left: Option<u64>,
    /// When the next slot opens, if none is open.
    pub next_slot: Option<Timestamp>,
}

/// Everything that limits a channel now.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Limits {
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
    /// How fast it sent lately.
    pub pace: Pace,
}

/// How fast a channel sent lately, in steps of one length, the oldest first.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Pace {
    /// Messages per second now.
    pub per_second: f64,
    /// The length of a step; the last one has just begun.
    pub step: Duration,
    /// The steps.
    pub points: Vec<PacePoint>,
}

/// One step of a channel's pace.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PacePoint {
    /// When it began.
    pub from: Timestamp,
    /// Messages per second that were handed over.
    pub per_second: f64,
    /// Messages per second that were allowed; `None` when nothing limited them.
    pub limit: Option<f64>,
}

/// An allowance of which nothing is left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spent {
    /// What is limited: one of [`NAMES`].
    pub name: &'static str,
    /// How much is allowed in each window; 0 where nothing goes for now, whatever was done before.
    pub allows: u32,
    /// The time in which as much comes back.
    pub window: Duration,
}

impl Spent {
    /// Nothing goes for so long.
    pub const fn pause(window: Duration) -> Self {
        Self { name: "pause", allows: 0, window }
    }
}
