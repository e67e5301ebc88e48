//! A share of messages that fail, as a person writes it: `1%:131026`.

use std::fmt;
use std::str::FromStr;

use serde_json::{Value, json};

/// Codes that the provider reports in a webhook after it accepted the message; it answers the send itself with the
/// others.
const LATER: [u32; 7] = [130_472, 130_497, 131_026, 131_049, 131_050, 131_053, 137_000];
/// Failures without a code: the name of the outcome in a script.
const WORDS: [&str; 4] = ["reset", "bad_gateway", "drop_reply", "garbled_reply"];

/// A share of messages, and how they fail.
#[derive(Debug, Clone, PartialEq)]
pub struct Fail {
    /// 0 to 1.
    share: f64,
    how: How,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum How {
    /// The send is refused with this code.
    Refused(u32),
    /// The message is accepted, and a webhook says that it failed.
    Later(u32),
    /// An outcome of [`WORDS`].
    Word(&'static str),
}

impl Fail {
    /// Whether a webhook reports the failure, so that it needs a receiver.
    pub fn is_reported(&self) -> bool {
        matches!(self.how, How::Later(_))
    }

    /// The rule of a script; the seed decides which messages it chooses.
    pub(super) fn rule(&self, seed: u64) -> Value {
        let outcome = match self.how {
            How::Refused(code) => json!({ "error": { "code": code } }),
            How::Later(code) => json!({ "async_failed": { "code": code } }),
            How::Word(word) => json!({ word: true }),
        };
        json!({ "probability": self.share, "seed": seed, "outcome": outcome })
    }
}

impl FromStr for Fail {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let fault = || {
            format!(
                "`{text}` is no share of messages and its failure: write 1%:131026, 0.5%:131000:now, or 0.1%: and one \
                 of {}",
                WORDS.join(", ")
            )
        };
        let mut parts = text.split(':');
        let (share, how, when) = (parts.next(), parts.next(), parts.next());
        let percent: f64 =
            share.and_then(|share| share.trim().strip_suffix('%')?.parse().ok()).ok_or_else(fault)?;
        if !(percent > 0.0 && percent <= 100.0) || parts.next().is_some() {
            return Err(fault());
        }
        let how = how.map(str::trim).unwrap_or_default();
        let word = WORDS.iter().find(|word| **word == how);
        let how = match (word, how.parse::<u32>(), when) {
            (Some(word), _, None) => How::Word(word),
            (None, Ok(code), Some("later")) => How::Later(code),
            (None, Ok(code), Some("now")) => How::Refused(code),
            (None, Ok(code), None) if LATER.contains(&code) => How::Later(code),
            (None, Ok(code), None) => How::Refused(code),
            _ => return Err(fault()),
        };
        Ok(Self { share: percent / 100.0, how })
    }
}

impl fmt::Display for Fail {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A share is written as it was given, without what a binary fraction adds.
        let percent = (self.share * 1e8).round() / 1e6;
        match self.how {
            How::Refused(code) => write!(formatter, "{percent}%:{code}:now"),
            How::Later(code) => write!(formatter, "{percent}%:{code}:later"),
            How::Word(word) => write!(formatter, "{percent}%:{word}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script::read_rule;

    #[test]
    fn a_failure_comes_when_the_provider_would_report_it() {
        for (text, is_reported) in [
            ("1%:131026", true),
            ("0.7%:131000", false),
            ("1%:131026:now", false),
            ("100%:131000:later", true),
            ("0.001%:drop_reply", false),
        ] {
            let fail: Fail = text.parse().unwrap();
            assert_eq!(fail.is_reported(), is_reported, "{text}");
            assert_eq!(fail.to_string().parse::<Fail>().unwrap(), fail);
            assert!(read_rule(0, &fail.rule(1)).is_ok(), "{text}");
        }
        for wrong in
            ["131026", "0%:131026", "101%:131026", "1%:lost", "1%:131026:soon", "1%:reset:now", "1:131026"]
        {
            assert!(wrong.parse::<Fail>().unwrap_err().contains("1%:131026"), "{wrong}");
        }
    }
}
