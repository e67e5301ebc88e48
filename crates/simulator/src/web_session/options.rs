//! How simulated web sessions behave.

use std::time::Duration;

use crate::written::WrittenContent;

/// The options. `Default` is for tests: codes last as long as WhatsApp's, and everything else happens at
/// once.
#[derive(Debug, Clone)]
pub struct WebSessionOptions {
    /// QR codes that an unlinked device shows before it gives up.
    pub qr_codes: u32,
    /// How long the first QR code is valid.
    pub first_qr: Duration,
    /// How long each of the others is valid.
    pub next_qr: Duration,
    /// How long a pairing code is valid.
    pub pairing_code: Duration,
    /// How long WhatsApp waits for a passkey.
    pub passkey: Duration,
    /// From the scan, or from the opening of a linked session, to its connection.
    pub connect_after: Duration,
    /// The longest time until WhatsApp has, or refuses, a message. This and the other times are random, and
    /// at least a quarter of the longest time.
    pub server_within: Duration,
    /// The longest time from there to the delivery.
    pub delivered_within: Duration,
    /// The longest time from the delivery to the reading.
    pub read_within: Duration,
    /// The longest time from the reading to the end of a voice message or video.
    pub played_within: Duration,
    /// The share of messages to people that they answer, 0 to 1.
    pub answer_probability: f64,
    /// The longest time from the hand-over of a message to its answer.
    pub answered_within: Duration,
    /// What they answer, each time one of these.
    pub answers: Vec<WrittenContent>,
    /// The seed of the random times.
    pub seed: u64,
    /// How many of the newest messages are shown, and recognised when they are repeated with the same id; up
    /// to 4 kB each with long texts.
    pub messages: usize,
}

impl Default for WebSessionOptions {
    fn default() -> Self {
        Self {
            qr_codes: 6,
            first_qr: Duration::from_secs(60),
            next_qr: Duration::from_secs(20),
            pairing_code: Duration::from_secs(160),
            passkey: Duration::from_secs(300),
            connect_after: Duration::ZERO,
            server_within: Duration::ZERO,
            delivered_within: Duration::ZERO,
            read_within: Duration::ZERO,
            played_within: Duration::ZERO,
            answer_probability: 0.0,
            answered_within: Duration::ZERO,
            answers: WrittenContent::usual(),
            seed: 1,
            messages: 1_000,
        }
    }
}

impl WebSessionOptions {
    /// Options with the pace of people, so that an observer sees the steps one after the other.
    pub fn lifelike() -> Self {
        Self {
            connect_after: Duration::from_secs(1),
            server_within: Duration::from_millis(400),
            delivered_within: Duration::from_secs(2),
            read_within: Duration::from_secs(6),
            played_within: Duration::from_secs(4),
            ..Self::default()
        }
    }
}
