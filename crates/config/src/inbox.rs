//! `[inbox]`: what people write to channels.

use std::time::Duration;

use serde::Deserialize;

use domain::time_span;

/// `[inbox]`: what people write to channels.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Inbox {
    /// How long contents are kept, and conversations in which nothing happens; zero keeps no contents.
    #[serde(with = "time_span")]
    pub keep: Duration,
}

impl Inbox {
    /// How long rows are kept at least, whatever `keep` says: WhatsApp repeats messages that were not accepted for seven days.
    pub const LEAST: Duration = Duration::from_secs(8 * 24 * 60 * 60);
}
