//! What a send or a channel waits for, as answers show it.

use serde::Serialize;
use utoipa::ToSchema;

use super::schema::WaitingReason;
use crate::clock::Timestamp;
use crate::domain::outlook::Waiting;

/// Why a send waits.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Waiting)]
pub(super) struct WaitingRecord {
    /// The reason, for programs.
    #[schema(value_type = WaitingReason, example = "scheduled")]
    reason: &'static str,
    /// The obstacle and the remedy, for a person.
    sentence: String,
    /// Until when it waits; null when that depends on a person or on later events.
    #[schema(value_type = Option<String>, format = DateTime)]
    until: Option<Timestamp>,
}

impl From<Waiting> for WaitingRecord {
    fn from(Waiting { reason, sentence, until }: Waiting) -> Self {
        Self { reason: reason.as_str(), sentence, until }
    }
}
