//! Machines: what decides for nodes, business accounts, web sessions, webhook endpoints and alerts; and the common parts of
//! all machines, those of the engine included.
//!
//! A machine decides and does nothing else. Events come in as inputs, together with the [`Moment`]; actions go out as
//! [`Effects`], which the shell carries out. A machine waits for nothing, calls nobody and has no clock, so that the
//! same inputs at the same moments have the same effects.

#![cfg_attr(test, expect(clippy::disallowed_methods, reason = "a test begins at the present moment"))]

pub mod account;
pub mod alert;
#[cfg(any(test, feature = "universe"))]
pub mod dice;
pub mod node;
pub mod placement;
pub mod planted;
pub mod web_session;
pub mod webhook;

use std::time::Instant;

use clock::Timestamp;

/// Both clocks at the time of an input. A simulated world may move them apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moment {
    /// The monotonic clock, which nobody sets: pacing, back-off and retries.
    pub monotonic: Instant,
    /// The wall clock: schedules, expiries, quotas and all stored times.
    pub wall: Timestamp,
}

/// A caller that waits for an answer: an id that the shell chose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Caller(pub u64);

/// The effects of one or more inputs, in their order. The buffer is reused, so that an effect allocates nothing here.
#[derive(Debug)]
pub struct Effects<E>(Vec<E>);

impl<E> Effects<E> {
    /// Adds an effect.
    pub fn push(&mut self, effect: E) {
        self.0.push(effect);
    }

    /// Takes out all effects, in their order; the buffer stays.
    pub fn drain(&mut self) -> impl Iterator<Item = E> {
        self.0.drain(..)
    }
}

impl<E> Default for Effects<E> {
    fn default() -> Self {
        Self(Vec::new())
    }
}
