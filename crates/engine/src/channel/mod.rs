//! A channel: the [`machine`] that decides, and the [`shell`] that carries out its decisions.
//!
//! The machine owns the connection's state, the limiter, the lanes and the messages in flight, and nothing that must
//! survive: sends and outcomes are in the store, and a new machine continues from there. It has no clock, no randomness
//! and no I/O. The shell is the channel's actor: it passes events to the machine, and carries out its effects.
//!
//! Around them: the [`directory`] of all channels in use, the [`load`] and the [`gauges`] of each, and what operators do with channels.

pub(super) mod addition;
mod change;
pub(super) mod checks;
pub(super) mod directory;
mod gauges;
mod leaving;
pub(super) mod load;
pub(crate) mod machine;
pub mod retiering;
mod shell;

pub use self::gauges::Sample;
pub(crate) use self::machine::{Admit, AdmitLookup, Input, PAIR_SENTENCE, Troubled, Viewed};
pub(crate) use self::shell::{
    AskPace, Explain, Gate, Handle, LookAhead, MarkRead, Release, Stop, ToChannel, connector,
};
use crate::Engine;

/// Channels, as operators and companies add and change them.
#[derive(Clone, Copy)]
pub struct Channels<'e> {
    pub(crate) engine: &'e Engine,
}

impl Engine {
    /// Channels, as operators and companies add and change them.
    pub const fn channels(&self) -> Channels<'_> {
        Channels { engine: self }
    }
}
