//! A channel: the [`machine`] that decides, and the [`shell`] that carries out.
//!
//! The machine owns the state of the connection, the limiter, the lanes and what is in flight, and nothing that must
//! survive: sends and outcomes are in the store, and a new machine goes on from there. It has no clock, no chance and
//! no I/O of its own. The shell is the channel's actor: it hands the machine what happens, and does what the machine
//! wants done.
//!
//! Around them: the [`directory`] of all channels in use, the [`reader`] that they read the store through, their recent
//! [`activity`], the [`load`] of each, and what operators do with channels.

pub mod activity;
pub(super) mod addition;
mod change;
pub(super) mod directory;
mod last_seconds;
pub(super) mod load;
pub(crate) mod machine;
pub(super) mod reader;
pub mod retiering;
mod shell;

pub(crate) use self::machine::{Admit, PAIR_SENTENCE, Troubled, Viewed};
pub(crate) use self::shell::{
    AskPace, ClockWasSet, Explain, Gate, Handle, Heard, Look, LookAhead, OfAccount, Overlooked, Recheck,
    Refresh, Release, Stop, TemplatesChanged, ToChannel, connector,
};
