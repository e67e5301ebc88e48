//! Webhooks to companies: delivers events to the receivers that companies run.
//!
//! A delivery is one POST with a signature by the Standard Webhooks specification ([`signature`]), over HTTP/1.1. The
//! address of a receiver is not trusted: it is checked before each delivery, and by the addresses that are connected to
//! ([`crate::guard`]). Redirects are not followed, and time and answer are bounded ([`deliver`]). This module retries
//! nothing and stores nothing. It never puts an address, a header or an answer into the log. It is called for each
//! attempt.

mod answer;
mod deliver;
mod fault;
pub mod signature;
#[cfg(test)]
mod tests;
mod verify;

use std::fmt;
use std::ops::RangeInclusive;
use std::time::Duration;

use uuid::Uuid;

pub use self::deliver::Sender;
pub use self::fault::DeliveryFault;
pub use self::signature::{AppSecret, SigningKey};
pub use self::verify::Unverified;
use clock::Timestamp;
use domain::secret::Secret;

/// The most bytes of an answer's text that are kept.
pub const KEPT_BYTES: usize = 2 * 1024;
/// The most bytes of an answer that are read.
pub const ANSWER_BYTES: usize = 8 * 1024;
/// The shortest and the longest [`DeliveryAnswer::retry_after`].
pub const RETRY_AFTER: RangeInclusive<Duration> = Duration::from_secs(1)..=Duration::from_secs(24 * 60 * 60);

/// One attempt to deliver an event, or a batch of events.
pub struct Delivery {
    /// The company of the endpoint. Companies share the look-ups of host names.
    pub company_id: Uuid,
    /// The address of the endpoint.
    pub url: String,
    /// Headers of the endpoint, besides those of every delivery. Their values are never shown.
    pub headers: Vec<(String, Secret)>,
    /// The id, which is the same for every attempt: `webhook-id`.
    pub id: String,
    /// When the attempt begins: `webhook-timestamp`.
    pub at: Timestamp,
    /// The [signatures](signature::sign) of its id, time and body: `webhook-signature`.
    pub signature: String,
    /// For a receiver of Meta's webhooks: its [signature](AppSecret::sign) of the body, and the number of the attempt.
    pub hub: Option<(String, u16)>,
    /// The body, JSON.
    pub body: Vec<u8>,
}

impl fmt::Debug for Delivery {
    /// Never the address, which may contain a token, and never the content.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Delivery({}, {} bytes)", self.id, self.body.len())
    }
}

/// The result of one attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliveryAnswer {
    /// The status; `None` without an answer.
    pub status: Option<u16>,
    /// The time from the beginning of the attempt to the end of what was read of the answer.
    pub took: Duration,
    /// The beginning of the answer's body as text, at most [`KEPT_BYTES`] long, without control characters other than
    /// line breaks and tabs.
    pub kept: String,
    /// The delay that the receiver asks for with `Retry-After`, in seconds or as a date; within [`RETRY_AFTER`].
    /// `None` for an answer that accepts the delivery.
    pub retry_after: Option<Duration>,
    /// Whether the receiver asks with `webhook-delivery: abort-message` for no further attempts of this delivery.
    pub aborts: bool,
    /// What went wrong. Also set for a delivery that was accepted with an answer that is too long or too slow, so
    /// that a person can see it: [`Self::is_delivered`] decides.
    pub fault: Option<DeliveryFault>,
}

impl DeliveryAnswer {
    /// Whether the receiver accepted the delivery: a status from 200 to 299, whatever the body is.
    pub fn is_delivered(&self) -> bool {
        self.status.is_some_and(|status| (200..300).contains(&status))
    }

    /// Whether the receiver wants no further events: status 410.
    pub fn is_gone(&self) -> bool {
        self.status == Some(410)
    }

    fn without_status(fault: DeliveryFault) -> Self {
        Self {
            status: None,
            took: Duration::ZERO,
            kept: String::new(),
            retry_after: None,
            aborts: false,
            fault: Some(fault),
        }
    }
}
