//! How simulated web sessions behave.

use std::time::Duration;

/// The options. `Default` is what tests want: codes as WhatsApp gives them, and everything else at once.
#[derive(Debug, Clone)]
pub struct WebSessionOptions {
    /// QR codes that an unlinked device shows before it gives up.
    pub qr_codes: u32,
    /// How long the first QR code is good.
    pub first_qr: Duration,
    /// How long each of the others is good.
    pub next_qr: Duration,
    /// How long a pairing code is good.
    pub pairing_code: Duration,
    /// How long WhatsApp waits for a passkey.
    pub passkey: Duration,
    /// From the scan, or from the opening of a linked session, to its connection.
    pub connect_after: Duration,
    /// The longest time until WhatsApp has, or refuses, a message. It and the others are random, a quarter of it at
    /// least.
    pub server_within: Duration,
    /// The longest time from there to the delivery.
    pub delivered_within: Duration,
    /// The longest time from the delivery to the reading.
    pub read_within: Duration,
    /// The longest time from the reading to the end of a voice message or video.
    pub played_within: Duration,
    /// Makes those times fall the same way again.
    pub seed: u64,
    /// How many of the newest messages are shown, and known again when they come under the same id; 4 kB each where
    /// texts are long.
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
            seed: 1,
            messages: 1_000,
        }
    }
}

impl WebSessionOptions {
    /// At the pace of people, so that somebody who looks sees one thing after the other.
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
