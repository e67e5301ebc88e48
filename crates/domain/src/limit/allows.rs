//! How much a limit allows. Its text is in answers of the API; pages have texts in their own languages.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::rate::Rate;
use crate::tier::Quota;
use clock::Timestamp;

/// How much a limit allows.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Allows {
    /// Messages at this rate, and some at once after a rest.
    Pace {
        /// How often one goes.
        rate: Rate,
        /// How many at once.
        burst: u32,
    },
    /// Messages at this rate, with additional random time between two.
    Jittered {
        /// How often one goes at most.
        rate: Rate,
        /// The most that is added.
        jitter: Duration,
    },
    /// Messages at this rate.
    Rate(Rate),
    /// Messages at a lower rate for now.
    Slowed {
        /// Messages in a second.
        per_second: f64,
        /// When the full rate is back.
        until: Timestamp,
    },
    /// No message.
    Nothing,
    /// Messages to the same recipient.
    ToSame {
        /// The distance between two.
        interval: Duration,
        /// How many at once after a rest.
        burst: u32,
    },
    /// People in 24 hours.
    People(Quota),
    /// People in 24 hours, as the provider counts them.
    Provider(Quota),
    /// Messages in 24 hours.
    Messages(Quota),
    /// People in 24 hours who never wrote to the channel.
    Strangers(Quota),
    /// Messages of sends with one recipient.
    Singles,
}

impl fmt::Display for Allows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // Without a rate there is nothing to catch up with.
            Self::Pace { rate, burst: _ } if rate.is_unlimited() => rate.fmt(f),
            Self::Pace { rate, burst } => write!(f, "{rate}, burst {burst}"),
            Self::Jittered { rate, jitter } => {
                write!(f, "{rate}, and up to {} more between two", humantime::format_duration(*jitter))
            }
            Self::Rate(rate) => rate.fmt(f),
            Self::Slowed { per_second, until } => {
                write!(f, "{per_second:.1}/s, the full rate again at {until}")
            }
            Self::Nothing => f.write_str("nothing"),
            Self::ToSame { interval, burst } => {
                let interval = humantime::format_duration(*interval);
                write!(f, "one in {interval} to the same recipient, {burst} at once")
            }
            Self::People(quota) => write!(f, "{quota} people in 24 hours"),
            Self::Provider(quota) => quota.fmt(f),
            Self::Messages(quota) => write!(f, "{quota} messages in 24 hours"),
            Self::Strangers(quota) => write!(f, "{quota} people in 24 hours who never wrote to it"),
            Self::Singles => f.write_str("only sends to one recipient"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pace_without_a_rate_has_no_burst() {
        let told = |rate, burst| Allows::Pace { rate, burst }.to_string();
        assert_eq!(told(Rate::UNLIMITED, u32::MAX), "unlimited");
        assert_eq!(told("80/s".parse().unwrap(), 1), "80/s, burst 1");
    }
}
