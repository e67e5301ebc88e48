//! A simulated world, in one thread and virtual time, from one seed: it drives the engine's real machines and tries to
//! break them.
//!
//! The machines of the channels, of the [ledger] and of web sessions are the engine's own; the [store](model) is a
//! model that a test compares with both databases; the [provider], the [phones](web), [people] and the [rounds] of the
//! sentinel are the world's. A process may crash between any two steps, and [starts](life) again from what is durable.
//! What must hold is [watched](watch) at each step.
//!
//! Compiled for tests, and for the program `universe` with the feature of that name; nothing of it is in the product.

mod accounts;
mod answers;
mod calm;
mod clock;
mod commits;
use ::machines::dice;
mod effects;
mod event_queue;
mod events;
mod ledger;
mod life;
mod mail;
mod model;
mod nodes;
mod people;
mod plan;
mod process;
mod provider;
mod reads;
mod report;
mod rounds;
mod stop;
#[cfg(test)]
mod tests;
mod values;
mod watch;
mod web;
mod webhooks;
mod words;
mod world;

pub use self::report::{Broken, Report, plant, trace, trace_nodes};
