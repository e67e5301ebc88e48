//! The messages of sessions that their recipients answer: with what, and when.

use std::time::Duration;

use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};

use super::options::WebSessionOptions;
use crate::written::WrittenContent;

/// Decides about the answers to the messages of one device.
pub(super) struct Answers(SmallRng);

impl Answers {
    pub(super) fn new(seed: u64) -> Self {
        Self(SmallRng::seed_from_u64(!seed))
    }

    /// How soon the next message is answered, and with what; `None` for no answer.
    pub(super) fn next(&mut self, options: &WebSessionOptions) -> Option<(Duration, WrittenContent)> {
        let is_answered =
            options.answer_probability > 0.0 && self.0.random_bool(options.answer_probability.min(1.0));
        if !is_answered {
            return None;
        }
        let place = self.0.random_range(0..options.answers.len().max(1));
        let share = self.0.random_range(0.25..=1.0);
        Some((options.answered_within.mul_f64(share), options.answers.get(place)?.clone()))
    }
}
