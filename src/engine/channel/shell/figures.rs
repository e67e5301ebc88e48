//! The channels' part in the service's metrics.

use std::sync::Arc;

use metrics::{Counter, Histogram};

use crate::domain::channel::Status;
use crate::domain::outlook::Reason;
use crate::engine::activity::Recent;

/// Counters that are asked for once for each channel: they are hot.
pub(super) struct Figures {
    pub(super) sent: Counter,
    pub(super) failed: Counter,
    pub(super) retried: Counter,
    pub(super) unknown: Counter,
    pub(super) suppressed: Counter,
    pub(super) answer: Histogram,
    /// For people who look.
    pub(super) recent: Arc<Recent>,
}

impl Figures {
    pub(super) fn new(recent: Arc<Recent>) -> Self {
        let messages =
            |outcome: &'static str| metrics::counter!("pombo_messages_total", "outcome" => outcome);
        Self {
            sent: messages("sent"),
            failed: messages("failed"),
            retried: messages("retried"),
            unknown: messages("unknown"),
            suppressed: messages("suppressed"),
            answer: metrics::histogram!("pombo_provider_answer_seconds"),
            recent,
        }
    }
}

/// A message waits for this reason.
pub(super) fn held(reason: Reason) {
    metrics::counter!("pombo_messages_held_total", "reason" => reason.as_str()).increment(1);
}

/// A channel goes over to this status.
pub(super) fn changed(to: Status) {
    metrics::counter!("pombo_channel_changes_total", "to" => to.as_str()).increment(1);
}
