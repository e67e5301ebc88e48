//! The channels' metrics.

use std::sync::Arc;

use metrics::{Counter, Histogram};

use crate::activity::Recent;
use crate::channel::machine::Figure;

/// Counters that are looked up once for each channel, because they are used for each message.
pub(super) struct Figures {
    sent: Counter,
    failed: Counter,
    retried: Counter,
    unknown: Counter,
    suppressed: Counter,
    answer: Histogram,
    /// The recent activity, for people.
    recent: Arc<Recent>,
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

    pub(super) fn note(&self, figure: Figure) {
        match figure {
            Figure::Sent => {
                self.sent.increment(1);
                self.recent.sent();
            }
            Figure::Failed => self.failed.increment(1),
            Figure::Retried => self.retried.increment(1),
            Figure::Unknown => self.unknown.increment(1),
            Figure::Suppressed => self.suppressed.increment(1),
            Figure::Answered(after) => self.answer.record(after),
            Figure::Held(reason) => {
                metrics::counter!("pombo_messages_held_total", "reason" => reason.as_str()).increment(1);
            }
            Figure::Changed(to) => {
                metrics::counter!("pombo_channel_changes_total", "to" => to.as_str()).increment(1);
            }
        }
    }
}
