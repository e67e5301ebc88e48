//! Accepted sends: pausing and canceling them, their outlook, their figures, and the journey of each message.

pub(super) mod journey;
mod messages_csv;
pub(super) mod outlook;
mod questions;
pub(super) mod steering;
pub(super) mod tallies;

pub(crate) use self::questions::{AskLimits, AskSpeed, Glance};
