//! The meanings of a provider's error for the engine.

use std::time::Duration;

use clock::Timestamp;

use crate::channel::{Number, Reason, ReasonCode, Status};
use crate::message::Failure;
use crate::phone::PhoneNumber;
use crate::suppression::Suppression;

/// When an access token ends, as far as its provider says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenEnd {
    /// It has no end.
    Never,
    /// At this time.
    At(Timestamp),
    /// The provider did not say.
    Unknown,
}

/// The meaning of a provider's error for the message, its recipient, its template, and its channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Disposition {
    /// This message can never be sent; others may.
    Fail,
    /// This message may be sent later; the attempt counts.
    Retry,
    /// The provider is down or overloaded: the channel waits, and the attempt does not count.
    Wait,
    /// This channel's number sends faster than it may: the rate is halved. The provider did not process the
    /// message, so the attempt does not count.
    SlowNumber,
    /// The business account made more requests than it may: its channels wait.
    SlowAccount,
    /// The app of the token made more requests than it may: all of its channels wait.
    SlowApp,
    /// The provider maintains this number, for a minute at most: the channel pauses for 5 to 60 s.
    Maintenance,
    /// This number wrote to this recipient too often: only messages to this recipient wait.
    Pair,
    /// The template cannot be used now: sends with it wait, including this message, until the provider
    /// approves the template again or a person cancels them.
    HoldTemplate,
    /// The provider withholds marketing from this recipient: no marketing is sent to them for 24 hours.
    HoldRecipient,
    /// This recipient is suppressed, until they or an operator lift it.
    Suppress(Suppression),
    /// The channel's credentials or registration were refused: it is disconnected and keeps its queue.
    Disconnect,
    /// The account is restricted or its payment failed; a new token does not help. The queue is kept.
    Block,
    /// The number is restricted because people reported it, and more attempts make it worse: the channel is
    /// blocked for hours.
    Restrict,
}

impl Disposition {
    /// The new state of a refused channel, with the reason; `None` when the state does not change.
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

/// The outcome of one attempt to send a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// The provider accepted the message.
    Accepted {
        /// The provider's id of the message.
        id: String,
        /// The number under which the provider knows the recipient, if it says one.
        known_as: Option<PhoneNumber>,
    },
    /// The provider refused the message.
    Refused {
        /// The meaning of the refusal.
        disposition: Disposition,
        /// The provider's error.
        failure: Failure,
        /// The provider's delay before a retry, if it gives one; a day at most.
        retry_after: Option<Duration>,
    },
    /// The message was not handed over: there was no connection.
    NotSent(Failure),
    /// The message was not handed over, because this process or its machine has no file, port, address or
    /// memory for a connection.
    NoSocket(Failure),
    /// The message can never be handed over; no request was made.
    Unsendable(Failure),
    /// The message was handed over, and no usable answer came: the provider may or may not have it.
    Uncertain(Failure),
}

/// The result of probing a channel at its provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Health {
    /// The channel can send.
    Healthy(Number),
    /// The channel cannot send, for this reason.
    Refused(Disposition, Failure),
    /// The probe had no result.
    Unknown(Failure),
}
