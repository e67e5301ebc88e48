//! What a provider's error means, in the engine's words.

use crate::domain::channel::{Reason, ReasonCode, Status};
use crate::domain::message::Failure;
use crate::domain::suppression::Suppression;

/// What a provider's error means for the message, its recipient, its template, and the channel that sent it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Disposition {
    /// This message will never go; others may.
    Fail,
    /// This message may go later; the attempt counts.
    Retry,
    /// The provider is down or overloaded: the channel waits, and the attempt does not count.
    Wait,
    /// This channel's number sends faster than it may: half the rate from here on. The provider did nothing
    /// with the message, so the attempt does not count.
    SlowNumber,
    /// The business account was asked more often than it may: its channels wait.
    SlowAccount,
    /// The app that the token belongs to asked more often than it may: all of its channels wait.
    SlowApp,
    /// The provider is at work on this number, for a minute at most: the channel pauses 5 to 60 s.
    Maintenance,
    /// This number wrote to this recipient too often: only what goes to this recipient waits.
    Pair,
    /// The template cannot be used just now: what uses it waits, this message too, until the provider lets the
    /// template go or a person gives up.
    HoldTemplate,
    /// The provider keeps this recipient from more marketing: nothing of it goes to them for 24 hours.
    HoldRecipient,
    /// This recipient is not to be sent so much any more, until they or a person say otherwise.
    Suppress(Suppression),
    /// The channel's credentials or registration were refused: it is disconnected and keeps its queue.
    Disconnect,
    /// The account is restricted or does not pay; a new token does not help. The queue is kept.
    Block,
    /// The number is restricted because people reported it, which more attempts make worse: blocked, for hours.
    Restrict,
}

impl Disposition {
    /// The state of a channel that was refused in this way, and why; `None` when it stays as it is.
    pub fn refusal(self, failure: &Failure) -> Option<(Status, Reason)> {
        let (status, code) = match self {
            Self::Disconnect => (Status::Disconnected, ReasonCode::CredentialsRefused),
            Self::Block | Self::Restrict => (Status::Blocked, ReasonCode::AccountRestricted),
            Self::Fail
            | Self::Retry
            | Self::Wait
            | Self::SlowNumber
            | Self::SlowAccount
            | Self::SlowApp
            | Self::Maintenance
            | Self::Pair
            | Self::HoldTemplate
            | Self::HoldRecipient
            | Self::Suppress(_) => return None,
        };
        let sentence = format!("the provider refused the channel: {}", failure.sentence);
        Some((status, Reason { code: code.into(), sentence, provider_code: failure.code }))
    }
}
