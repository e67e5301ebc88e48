//! Accepted sends: pausing and canceling them, their outlook, their figures, and the journey of each message.

pub(super) mod costs;
pub(super) mod days;
pub(super) mod journey;
mod messages_csv;
pub(super) mod outlook;
mod questions;
mod references;
pub(super) mod skipped_csv;
pub(super) mod steering;
pub(super) mod tallies;
pub(super) mod to_person;
mod values;
pub(super) mod watching;

pub(crate) use self::questions::{AskLimits, AskSpeed, Glance};
use crate::Engine;

/// Accepted sends, and the messages of each.
#[derive(Clone, Copy)]
pub struct Sends<'e> {
    pub(crate) engine: &'e Engine,
}

impl Engine {
    /// Accepted sends, and the messages of each.
    pub const fn sends(&self) -> Sends<'_> {
        Sends { engine: self }
    }
}
