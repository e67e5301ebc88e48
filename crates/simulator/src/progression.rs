//! The progression of a message: its statuses, their order, and the delay of each.

use std::time::Duration;

use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};
use serde::Serialize;

use super::options::ReceiptOptions;

/// A status of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Step {
    Sent,
    Delivered,
    Read,
    Failed,
}

/// The statuses of a message that are still to come.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Progression {
    steps: Vec<Step>,
    place: usize,
    /// Whether every status is sent twice.
    pub(super) is_doubled: bool,
}

impl Progression {
    /// The progression of the message with this sequence; the same for the same seed.
    pub(super) fn of(options: &ReceiptOptions, sequence: u64, has_failed: bool) -> Self {
        let mut chance = SmallRng::seed_from_u64(options.seed.rotate_left(32) ^ sequence);
        let is_read = chance.random_bool(options.read_probability);
        let is_reversed = chance.random_bool(options.reorder_probability);
        let is_doubled = chance.random_bool(options.duplicate_probability);
        let mut steps = match (has_failed, is_read) {
            (true, _) => vec![Step::Failed],
            (false, true) => vec![Step::Sent, Step::Delivered, Step::Read],
            (false, false) => vec![Step::Sent, Step::Delivered],
        };
        if is_reversed {
            steps.reverse();
        }
        Self { steps, place: 0, is_doubled }
    }

    /// Takes the next status.
    pub(super) fn advance(&mut self) -> Option<Step> {
        let step = self.steps.get(self.place).copied();
        self.place += 1;
        step
    }

    /// The delay of the next status after the one before; `None` after the last.
    pub(super) fn wait(&self, options: &ReceiptOptions) -> Option<Duration> {
        let waits = [options.sent_after, options.delivered_after, options.read_after];
        self.steps.get(self.place).and(waits.get(self.place)).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_progression_ends_at_delivered_or_read_and_a_failure_has_one_step() {
        let options = ReceiptOptions { read_probability: 1.0, ..ReceiptOptions::default() };
        assert_eq!(Progression::of(&options, 1, false).steps, [Step::Sent, Step::Delivered, Step::Read]);
        let unread = ReceiptOptions { read_probability: 0.0, ..ReceiptOptions::default() };
        assert_eq!(Progression::of(&unread, 1, false).steps, [Step::Sent, Step::Delivered]);
        assert_eq!(Progression::of(&options, 1, true).steps, [Step::Failed]);
        let reversed = ReceiptOptions { reorder_probability: 1.0, ..unread };
        assert_eq!(Progression::of(&reversed, 1, false).steps, [Step::Delivered, Step::Sent]);
    }

    #[test]
    fn the_same_seed_reads_the_same_messages() {
        let options = ReceiptOptions::default();
        let progressions =
            || (0..100).map(|sequence| Progression::of(&options, sequence, false)).collect::<Vec<_>>();
        assert_eq!(progressions(), progressions());
        let read = progressions().iter().filter(|progression| progression.steps.len() == 3).count();
        assert!((30..70).contains(&read), "{read}");
    }
}
