//! The origin of a limit. Its text is in answers of the API; pages have texts in their own languages.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize};

use crate::channel::Level;
use crate::outlook::Reason;

/// The origin of a limit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// Options of a tier.
    Tier {
        /// The tier.
        name: String,
        /// The options, one or two.
        #[serde(deserialize_with = "options")]
        options: &'static [&'static str],
    },
    /// The channel's own values of some options.
    Own {
        /// The tier whose values they replace.
        tier: String,
        /// The options, one or two.
        #[serde(deserialize_with = "options")]
        options: &'static [&'static str],
    },
    /// The option of a tier for new numbers.
    WarmUp {
        /// The tier.
        tier: String,
        /// Which day it is, from 1.
        day: u64,
    },
    /// The provider's level for the number.
    Level {
        /// The level.
        level: Level,
        /// Whether the provider reported it.
        is_known: bool,
    },
    /// The provider's refusals of messages that came too fast.
    Refusals,
    /// The provider, for a whole business; it is not enforced here.
    Provider,
    /// The reason of the wait.
    Wait {
        /// The word for it.
        reason: Reason,
        /// The reason as a sentence.
        sentence: String,
    },
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tier { name, options } => write!(f, "tier `{name}`, {}", of(options)),
            Self::Own { tier, options } => {
                write!(f, "the channel's own {}, instead of the tier `{tier}`", of(options))
            }
            Self::WarmUp { tier, day } => {
                write!(f, "tier `{tier}`, option warm_up: day {day} of the number here")
            }
            Self::Level { level, is_known: true } => {
                write!(f, "the provider: the number's level is {level}")
            }
            Self::Level { level, is_known: false } => {
                write!(f, "the provider, which has not said the number's level: it is taken to be {level}")
            }
            Self::Refusals => f.write_str("the provider's answer 130429"),
            Self::Provider => f.write_str(
                "the provider, for all numbers of this business together; shown, not enforced here",
            ),
            Self::Wait { reason: _, sentence } => f.write_str(sentence),
        }
    }
}

fn of(options: &[&str]) -> String {
    let word = if options.len() == 1 { "option" } else { "options" };
    format!("{word} {}", options.join(" and "))
}

/// The options that set limits, as limits name them.
const OPTIONS: &[&[&str]] = &[
    &["messages_per_second"],
    &["messages_per_second", "burst"],
    &["messages_per_second", "jitter"],
    &["pair_interval", "pair_burst"],
    &["quiet_hours"],
    &["template_quota"],
    &["daily_cap"],
    &["cold_contacts"],
];

/// Reads the options as another node wrote them; options that only its version knows are skipped.
fn options<'de, D: Deserializer<'de>>(deserializer: D) -> Result<&'static [&'static str], D::Error> {
    let written = Vec::<String>::deserialize(deserializer)?;
    Ok(OPTIONS.iter().copied().find(|options| **options == *written).unwrap_or_default())
}
