//! The moment of an input, and the tools for handling it.

use std::time::Instant;

use rand::{Rng, RngExt as _};

use super::effect::{Effect, Effects, Figure};
use crate::machine::Moment;
use clock::Timestamp;

/// One input that is being handled: its moment, its source of random numbers, and its effects.
pub(super) struct Step<'a> {
    at: Moment,
    rng: &'a mut dyn Rng,
    effects: &'a mut Effects,
}

impl<'a> Step<'a> {
    pub(super) fn new(at: Moment, rng: &'a mut impl Rng, effects: &'a mut Effects) -> Self {
        Self { at, rng, effects }
    }

    /// Both clocks: the monotonic one, then the wall's.
    pub(super) const fn clocks(&self) -> (Instant, Timestamp) {
        (self.at.monotonic, self.at.wall)
    }

    /// The moment of the input.
    pub(super) const fn moment(&self) -> Moment {
        self.at
    }

    /// The monotonic clock.
    pub(super) const fn now(&self) -> Instant {
        self.at.monotonic
    }

    /// The wall clock.
    pub(super) const fn wall(&self) -> Timestamp {
        self.at.wall
    }

    /// A random number from 0 to 1, to spread waits.
    pub(super) fn chance(&mut self) -> f64 {
        self.rng.random()
    }

    /// Adds an effect.
    pub(super) fn push(&mut self, effect: Effect) {
        self.effects.push(effect);
    }

    /// Counts a figure.
    pub(super) fn note(&mut self, figure: Figure) {
        self.effects.push(Effect::Note(figure));
    }
}
