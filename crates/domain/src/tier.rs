//! A tier: the named set of rates and quotas that a channel runs under.
//!
//! Tiers are written in a file ([`parse`], [`BUILT_IN`]) or as JSON ([`from_json`]), kept in the database as
//! one JSON document each, and applied to running channels. `config/tiers.toml` says what each option means.

mod assignment;
mod difference;
mod document;
mod file;
mod judge;
mod own_options;
mod quiet_hours;
#[cfg(test)]
mod tests;

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use utoipa::openapi::schema::{KnownFormat, ObjectBuilder, OneOfBuilder, Schema, SchemaFormat, Type};
use utoipa::openapi::{Ref, RefOr};
use utoipa::{PartialSchema, ToSchema};

use crate::channel::Kind;
use crate::rate::Rate;
use crate::schema_words;
use crate::time_span;
use clock::Timestamp;

pub use assignment::{Assignment, assignments, value};
pub use difference::{OptionChange, OptionValue, difference};
pub use document::{from_json, from_record};
pub use file::{BUILT_IN, TierFault, parse, to_toml};
pub use own_options::OwnOptions;
pub use quiet_hours::{NotQuietHours, QuietHours};

/// The moving span over which [`Tier::template_quota`] counts recipients.
pub const QUOTA_SPAN: Duration = Duration::from_secs(24 * 60 * 60);
/// How long a message of a web session waits for its turn whose program does not repeat requests.
pub const TURN_SPAN: Duration = Duration::from_secs(60 * 60);

/// The longest name of a tier, in characters.
pub const MAX_NAME: usize = 40;

crate::worded! {
    /// What happens to a message with an unknown outcome.
    #[derive(Default, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum UnknownOutcome {
        /// Send it again: every recipient gets it, some may get it twice.
        #[default]
        Resend = "resend",
        /// Leave it `unknown`: no recipient gets it twice, some may not get it.
        Hold = "hold",
    }
}

/// A number of things per moving 24 hours, or no bound.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Quota {
    /// No bound by Pombo.
    #[default]
    Unlimited,
    /// At most this many; at least 1.
    AtMost(u32),
}

/// A named set of rates and quotas; one JSON document in the database.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tier {
    /// Small letters, digits and hyphens.
    pub name: String,
    /// The channels that it is for.
    pub kind: Kind,
    /// For the operator who chooses among tiers.
    #[serde(default)]
    pub description: String,
    /// The channel's pace.
    pub messages_per_second: Rate,
    /// Messages that may go at once after a pause; see [`Tier::burst`] for the default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub burst: Option<u32>,
    /// The even distance between messages to the same recipient; zero switches it off.
    #[serde(default = "pair_interval", with = "time_span")]
    pub pair_interval: Duration,
    /// Messages to the same recipient that may go at once, borrowed from the intervals after them.
    #[serde(default = "pair_burst")]
    pub pair_burst: u32,
    /// Unique recipients of templates per moving 24 hours.
    #[serde(default)]
    pub template_quota: Quota,
    /// Requests to our API by the companies of this tier, each over all its keys.
    #[serde(default = "unlimited")]
    pub api_requests: Rate,
    /// The policy for messages with an unknown outcome.
    #[serde(default)]
    pub unknown_outcome: UnknownOutcome,
    /// Business accounts: messages of sends with more than one recipient do not go in these hours.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quiet_hours: Option<QuietHours>,
    /// The quotas of the first days, first day first: of [`Tier::template_quota`] for a business account, from the day on
    /// which its channel was added; of [`Tier::daily_cap`] for a web session, from the day on which the phone was linked.
    #[serde(default)]
    pub warm_up: Vec<u32>,
    /// Web sessions: up to this much is added at random to the time between two messages.
    #[serde(default, with = "time_span")]
    pub jitter: Duration,
    /// Web sessions: messages per moving 24 hours.
    #[serde(default)]
    pub daily_cap: Quota,
    /// Web sessions: people who never wrote to the session and were never written to, per moving 24 hours.
    #[serde(default)]
    pub cold_contacts: Quota,
}

/// The provider's documented pace towards one recipient: one message in six seconds.
const fn pair_interval() -> Duration {
    Duration::from_secs(6)
}

/// The provider documents 45, but numbers have been refused from about ten a minute.
const fn pair_burst() -> u32 {
    10
}

const fn unlimited() -> Rate {
    Rate::UNLIMITED
}

/// The day of [`Tier::warm_up`] on which this moment is; the first one begins at `since` and is 0.
pub fn day(since: Timestamp, now: Timestamp) -> u32 {
    u32::try_from(now.from_now(since).as_secs() / QUOTA_SPAN.as_secs()).unwrap_or(u32::MAX)
}

/// Whether the text can be the name of a tier.
pub fn is_name(text: &str) -> bool {
    let plain =
        |character: u8| character.is_ascii_lowercase() || character.is_ascii_digit() || character == b'-';
    (1..=MAX_NAME).contains(&text.len()) && text.bytes().all(plain)
}

/// Every option of a tier, in the order of the struct, each with a value that it can have, as files and JSON write it.
const EXAMPLES: [(&str, &str); 15] = [
    ("name", "\"slow\""),
    ("kind", "\"business_account\""),
    ("description", "\"For new numbers\""),
    ("messages_per_second", "\"80/s\""),
    ("burst", "1"),
    ("pair_interval", "\"6s\""),
    ("pair_burst", "10"),
    ("template_quota", "2000"),
    ("api_requests", "\"50/s\""),
    ("unknown_outcome", "\"resend\""),
    ("quiet_hours", "\"21:00-08:00 Europe/Madrid\""),
    ("warm_up", "[20, 40, 80]"),
    ("jitter", "\"4s\""),
    ("daily_cap", "200"),
    ("cold_contacts", "10"),
];

/// A value that the option can have, as files and JSON write it; empty for what is no option.
pub fn example(option: &str) -> &'static str {
    EXAMPLES.iter().find(|(name, _)| *name == option).map_or("", |(_, example)| example)
}

impl Tier {
    /// The names of all options, in the order of the struct.
    pub const OPTIONS: &[&str] = &{
        let mut names = [""; EXAMPLES.len()];
        let mut next = 0;
        while next < names.len() {
            names[next] = EXAMPLES[next].0;
            next += 1;
        }
        names
    };

    /// Messages that may go at once: as set, or one per cent of the per-second rate and at least 1.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "never negative, and an unlimited rate saturates to the largest burst, which is what it means"
    )]
    pub fn burst(&self) -> u32 {
        self.burst.unwrap_or_else(|| (self.messages_per_second.per_second() / 100.0).round().max(1.0) as u32)
    }

    /// Messages in 24 hours on this day of a web session, counted from the day of linking, which is 0.
    pub fn daily_cap_on(&self, day: u32) -> Quota {
        self.warming(self.daily_cap, day)
    }

    /// Unique recipients of templates in 24 hours on this day of a business account's channel, counted from the day on
    /// which it was added, which is 0.
    pub fn template_quota_on(&self, day: u32) -> Quota {
        match self.kind {
            Kind::BusinessAccount => self.warming(self.template_quota, day),
            Kind::WebSession => self.template_quota,
        }
    }

    /// The least of `quota` and the day's number in [`Tier::warm_up`].
    fn warming(&self, quota: Quota, day: u32) -> Quota {
        let warming = usize::try_from(day).ok().and_then(|day| self.warm_up.get(day)).copied();
        match (warming, quota) {
            (Some(warming), Quota::AtMost(most)) => Quota::AtMost(warming.min(most)),
            (Some(warming), Quota::Unlimited) => Quota::AtMost(warming),
            (None, quota) => quota,
        }
    }

    /// Until when bulk sends rest, if this moment is in [`Tier::quiet_hours`].
    pub fn quiet_until(&self, at: Timestamp) -> Option<Timestamp> {
        self.quiet_hours.as_ref()?.until(at)
    }

    /// When work of this length is done that begins at `at`; that of bulk sends rests in [`Tier::quiet_hours`].
    pub fn done(&self, at: Timestamp, work: Duration, is_bulk: bool) -> Timestamp {
        let quiet = self.quiet_hours.as_ref().filter(|_| is_bulk);
        quiet.map_or_else(|| at.plus(work), |quiet| quiet.done(at, work))
    }

    /// The faults of values that are well-formed by themselves, a sentence for each; empty without any.
    pub fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        let mut require = |holds: bool, sentence: &str| {
            if !holds {
                faults.push(sentence.to_owned());
            }
        };
        require(is_name(&self.name), "its name must be 1 to 40 small letters, digits and hyphens");
        require(
            self.burst != Some(0),
            "`burst` must be at least 1; leave it out for one per cent of the rate",
        );
        require(!self.warm_up.contains(&0), "every day of `warm_up` must be at least 1");
        let rises_within = |quota: Quota| {
            self.warm_up.is_sorted() && self.warm_up.last().is_none_or(|last| quota.allows(*last))
        };
        match self.kind {
            Kind::BusinessAccount => {
                require(self.pair_burst > 0, "`pair_burst` must be at least 1");
                let paced = !self.jitter.is_zero()
                    || self.daily_cap != Quota::Unlimited
                    || self.cold_contacts != Quota::Unlimited;
                require(
                    !paced,
                    "`jitter`, `daily_cap` and `cold_contacts` are for web sessions; remove them or set \
                     `kind = \"web_session\"`",
                );
                require(
                    rises_within(self.template_quota),
                    "`warm_up` must rise from day to day and stay within `template_quota`",
                );
            }
            Kind::WebSession => {
                require(
                    self.template_quota == Quota::Unlimited,
                    "`template_quota` is for business accounts, a web session sends no templates; remove it",
                );
                require(
                    self.quiet_hours.is_none(),
                    "`quiet_hours` is for business accounts, a web session has only sends to one recipient; remove it",
                );
                require(
                    rises_within(self.daily_cap),
                    "`warm_up` must rise from day to day and stay within `daily_cap`",
                );
            }
        }
        faults
    }
}

schema_words! {
    /// No limit.
    pub Unlimited = ["unlimited"];
}

impl PartialSchema for Quota {
    fn schema() -> RefOr<Schema> {
        let count = ObjectBuilder::new()
            .schema_type(Type::Integer)
            .format(Some(SchemaFormat::KnownFormat(KnownFormat::Int32)))
            .minimum(Some(1));
        let unlimited = Ref::from_schema_name(Unlimited::name());
        let about = Some("A number, or `unlimited`.");
        OneOfBuilder::new().description(about).item(count).item(unlimited).into()
    }
}

impl ToSchema for Quota {
    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        schemas.push((Unlimited::name().into_owned(), Unlimited::schema()));
    }
}

impl Quota {
    /// Whether `count` is within the quota.
    pub const fn allows(self, count: u32) -> bool {
        match self {
            Self::Unlimited => true,
            Self::AtMost(most) => count <= most,
        }
    }
}

impl fmt::Display for Quota {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unlimited => f.write_str("unlimited"),
            Self::AtMost(most) => most.fmt(f),
        }
    }
}

impl FromStr for Quota {
    type Err = NotAQuota;

    fn from_str(text: &str) -> Result<Self, NotAQuota> {
        if text == "unlimited" {
            return Ok(Self::Unlimited);
        }
        text.parse().ok().filter(|most| *most > 0).map(Self::AtMost).ok_or(NotAQuota)
    }
}

/// A text that is neither a number of at least 1 nor "unlimited".
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be a whole number of at least 1, or \"unlimited\"")]
pub struct NotAQuota;

impl Serialize for Quota {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Unlimited => serializer.serialize_str("unlimited"),
            Self::AtMost(most) => serializer.serialize_u32(*most),
        }
    }
}

impl<'de> Deserialize<'de> for Quota {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Written {
            Number(u32),
            Word(String),
        }
        match Written::deserialize(deserializer) {
            Ok(Written::Number(most @ 1..)) => Ok(Self::AtMost(most)),
            Ok(Written::Word(word)) if word == "unlimited" => Ok(Self::Unlimited),
            Ok(Written::Number(_) | Written::Word(_)) | Err(_) => {
                Err(de::Error::custom("is not a quota: a whole number of at least 1, or \"unlimited\""))
            }
        }
    }
}
