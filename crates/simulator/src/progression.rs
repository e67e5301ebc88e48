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

/// How far a message comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    /// It is delivered, and perhaps read.
    Arrives,
    /// It is sent, and no more is reported, as for reactions.
    IsSent,
    /// It fails.
    Fails,
}

/// The statuses of a message that are still to come.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Progression {
    steps: Vec<Step>,
    place: usize,
    /// Whether every status is sent twice.
    pub(super) is_doubled: bool,
}

/// The answer of a recipient.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PlannedAnswer {
    /// How long after the acceptance of the message it is written.
    pub(super) after: Duration,
    /// Its place among the contents of answers.
    pub(super) place: usize,
    /// Whether its webhook comes later than those of answers that are written after it.
    pub(super) is_late: bool,
    /// Whether its webhook comes twice.
    pub(super) is_doubled: bool,
}

impl Progression {
    /// The progression of the message with this sequence; the same for the same seed.
    pub(super) fn of(options: &ReceiptOptions, sequence: u64, fate: Fate) -> Self {
        let mut chance = SmallRng::seed_from_u64(options.seed.rotate_left(32) ^ sequence);
        let is_read = chance.random_bool(options.read_probability);
        let is_reversed = chance.random_bool(options.reorder_probability);
        let is_doubled = chance.random_bool(options.duplicate_probability);
        let mut steps = match (fate, is_read) {
            (Fate::Fails, _) => vec![Step::Failed],
            (Fate::IsSent, _) => vec![Step::Sent],
            (Fate::Arrives, true) => vec![Step::Sent, Step::Delivered, Step::Read],
            (Fate::Arrives, false) => vec![Step::Sent, Step::Delivered],
        };
        if is_reversed {
            steps.reverse();
        }
        Self { steps, place: 0, is_doubled }
    }

    /// The answer of the recipient of a message with this sequence; `None` when the recipient does not answer.
    pub(super) fn answer(options: &ReceiptOptions, sequence: u64) -> Option<PlannedAnswer> {
        let mut chance = SmallRng::seed_from_u64(!options.seed.rotate_left(32) ^ sequence);
        let ReceiptOptions {
            sent_after, delivered_after, read_after, answer_after, answer_probability, ..
        } = options;
        if *answer_probability <= 0.0 || !chance.random_bool(*answer_probability) {
            return None;
        }
        Some(PlannedAnswer {
            after: *sent_after + *delivered_after + *read_after + *answer_after,
            place: chance.random_range(0..options.answers.len().max(1)),
            is_late: chance.random_bool(options.reorder_probability),
            is_doubled: chance.random_bool(options.duplicate_probability),
        })
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
    fn a_progression_ends_at_delivered_or_read_and_a_failure_and_a_reaction_have_one_step() {
        let options = ReceiptOptions { read_probability: 1.0, ..ReceiptOptions::default() };
        assert_eq!(
            Progression::of(&options, 1, Fate::Arrives).steps,
            [Step::Sent, Step::Delivered, Step::Read]
        );
        let unread = ReceiptOptions { read_probability: 0.0, ..ReceiptOptions::default() };
        assert_eq!(Progression::of(&unread, 1, Fate::Arrives).steps, [Step::Sent, Step::Delivered]);
        assert_eq!(Progression::of(&options, 1, Fate::Fails).steps, [Step::Failed]);
        assert_eq!(Progression::of(&options, 1, Fate::IsSent).steps, [Step::Sent]);
        let reversed = ReceiptOptions { reorder_probability: 1.0, ..unread };
        assert_eq!(Progression::of(&reversed, 1, Fate::Arrives).steps, [Step::Delivered, Step::Sent]);
    }

    #[test]
    fn the_same_seed_reads_the_same_messages() {
        let options = ReceiptOptions::default();
        let progressions = || {
            (0..100).map(|sequence| Progression::of(&options, sequence, Fate::Arrives)).collect::<Vec<_>>()
        };
        assert_eq!(progressions(), progressions());
        let read = progressions().iter().filter(|progression| progression.steps.len() == 3).count();
        assert!((30..70).contains(&read), "{read}");
    }
}
