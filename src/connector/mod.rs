//! Connectors: our code for each provider.
//!
//! Only a connector knows a provider's field names, addresses and error codes; the engine gets the same few
//! types from each of them. Called by channel actors and, for templates, by the command line.

pub mod cloud_api;
mod disposition;
pub mod http;
pub mod media;
pub mod nats;
pub mod otlp;
pub mod update;
pub mod web_session;

use std::time::Duration;

pub use self::disposition::Disposition;
use crate::domain::channel::Number;
use crate::domain::message::Failure;
use crate::domain::phone::PhoneNumber;

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
