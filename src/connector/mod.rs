//! Connectors: our code for each provider.
//!
//! Only a connector knows a provider's field names, addresses and error codes; the engine hears the same
//! few words from each of them. Called by channel actors and, for templates, by the command line.

pub mod cloud_api;

use crate::domain::channel::{Reason, Status};
use crate::domain::message::Failure;

/// What a provider's error means for the message, and for the channel that sent it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Disposition {
    /// This message will never go; others may.
    Fail,
    /// This message may go later; the attempt counts.
    Retry,
    /// The provider takes nothing from this channel just now: the channel waits, and the attempt does
    /// not count against the message.
    Wait,
    /// The channel's credentials or registration were refused: it is disconnected and keeps its queue.
    Disconnect,
    /// The account is restricted or does not pay; a new token does not help. The queue is kept.
    Block,
}

impl Disposition {
    /// The state of a channel that was refused in this way, and why; `None` when it stays as it is.
    pub fn refusal(self, failure: &Failure) -> Option<(Status, Reason)> {
        let (status, code) = match self {
            Self::Disconnect => (Status::Disconnected, "credentials_refused"),
            Self::Block => (Status::Blocked, "account_restricted"),
            Self::Fail | Self::Retry | Self::Wait => return None,
        };
        let sentence = format!("the provider refused the channel: {}", failure.sentence);
        Some((status, Reason { code: code.to_owned(), sentence, provider_code: failure.code }))
    }
}

/// What became of one attempt to hand a message over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// The provider took it, under this id.
    Accepted(String),
    /// The provider refused it.
    Refused(Disposition, Failure),
    /// It was never handed over: no connection.
    NotSent(Failure),
    /// It was handed over and no usable answer came: the provider may or may not have it.
    Uncertain(Failure),
}

/// What a provider says about the health of a channel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Health {
    /// It can send.
    Healthy {
        /// The number as shown to people.
        phone_number: Option<String>,
        /// The provider's rating of the number.
        quality_rating: Option<String>,
    },
    /// It cannot, for this reason.
    Refused(Disposition, Failure),
    /// We could not find out.
    Unknown(Failure),
}

/// A question to a provider that was not answered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The provider answered with an error.
    #[error("the provider refused: {}", .1.sentence)]
    Refused(Disposition, Failure),
    /// No usable answer.
    #[error("the provider gave no usable answer: {0}")]
    NoAnswer(String),
}
