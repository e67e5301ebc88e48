//! Operations of the store that failed and are retried after a pause.

use std::time::Instant;

use uuid::Uuid;

use super::effect::Effect;
use super::moment::Step;
use super::{Machine, STORE_PAUSE};
use domain::channel::Connection;

/// An operation that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Retry {
    Fetch,
    Unknowns,
    Waits(Uuid),
    Recipients { send_id: Uuid, from: u64 },
    WebActivity,
    PauseTemplate(i64),
    SaveConnection { from: Connection },
    Connect { generation: u64 },
}

/// The operations to retry, with their times.
#[derive(Debug, Default)]
pub(super) struct Retries(Vec<(Instant, Retry)>);

impl Retries {
    /// Adds an operation that has just failed.
    pub(super) fn add(&mut self, retry: Retry, now: Instant) {
        self.0.push((now + STORE_PAUSE, retry));
    }

    /// Takes the operations that are due, in the order in which they failed.
    pub(super) fn due(&mut self, now: Instant) -> Vec<Retry> {
        self.0.extract_if(.., |(at, _)| *at <= now).map(|(_, retry)| retry).collect()
    }

    /// When the first of them is due.
    pub(super) fn next(&self) -> Option<Instant> {
        self.0.iter().map(|(at, _)| *at).min()
    }
}

impl Machine {
    pub(super) fn try_once_more(&mut self, retry: Retry, step: &mut Step<'_>) {
        match retry {
            Retry::Fetch => {
                self.queue.ended();
                self.pump(step);
            }
            Retry::Unknowns => {
                self.unknowns.may_ask();
                self.pump(step);
            }
            Retry::Waits(send_id) => {
                self.lanes.unparked(send_id, 0, 1, step.wall());
                self.pump(step);
            }
            Retry::Recipients { send_id, from } => {
                self.lanes.loaded(send_id, from, &[]);
                self.pump(step);
            }
            Retry::WebActivity => {
                self.admission.may_learn();
                self.learn_web_pacing(step);
            }
            Retry::PauseTemplate(template_id) => step.push(Effect::PauseTemplate(template_id)),
            Retry::SaveConnection { from } => self.save_over(from, step),
            Retry::Connect { generation } => {
                if generation == self.link.generation() {
                    self.connect(step);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_operation_is_retried_once_after_its_pause() {
        let (mut retries, now) = (Retries::default(), Instant::now());
        assert_eq!((retries.next(), retries.due(now)), (None, Vec::new()));
        retries.add(Retry::Fetch, now);
        retries.add(Retry::Unknowns, now + STORE_PAUSE);
        assert_eq!(retries.due(now), []);
        assert_eq!(retries.due(now + STORE_PAUSE), [Retry::Fetch]);
        assert_eq!(retries.next(), Some(now + 2 * STORE_PAUSE));
        assert_eq!(retries.due(now + 2 * STORE_PAUSE), [Retry::Unknowns]);
        assert_eq!(retries.next(), None);
    }
}
