//! Connectors: our code for each provider, and for the receivers of companies' webhooks.
//!
//! Only a connector knows a provider's field names, addresses and error codes; the engine gets the same few
//! types from each of them. Called by channel actors and, for templates, by the command line.

pub mod chatwoot;
pub mod cloud_api;
pub mod fair_semaphore;
pub mod file_store;
pub mod guard;
pub mod http;
pub mod mail;
pub mod media;
pub mod nats;
pub mod otlp;
pub mod scanner;
pub mod update;
pub mod webhook;

pub use ::driver as web_session;
use domain::message::Failure;
pub use domain::provider::{Disposition, Health, Reply};

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
