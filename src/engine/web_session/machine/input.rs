//! Inputs: what happens to a web session and its channel.

use std::time::Duration;

use super::super::passkey::PasskeyAnswer;
use crate::connector::web_session::{Event, PairingFailure, PasskeyRefused};
use crate::domain::channel::Connection;
use crate::domain::phone::PhoneNumber;
use crate::domain::secret::Secret;
use crate::engine::machine::Caller;

/// Something that happens to a web session and its channel.
pub(in crate::engine) enum Input {
    /// The channel is taken up, and its session opened after this time; without one, only when somebody wants it. The
    /// first input of a machine.
    Started { turn: Option<Duration> },
    /// The moment that was asked for last has come.
    Timer,
    /// Somebody wants something. Only while the machine [hears commands](super::Machine::hears_commands).
    Command(Command),
    /// The session told something.
    Event(Event),
    /// The session will tell nothing more.
    Silence,
    /// The session was opened, or it failed in this sentence.
    Opened(Result<(), String>),
    /// The session was told to end. What it has still to tell may follow, up to its end.
    Stopped,
    /// The answer to the question for a code.
    CodeAnswered(Result<Secret, PairingFailure>),
    /// What the session says to an answer at the passkey gate.
    PasskeyAnswered(Result<(), PasskeyRefused>),
    /// Whether the session has given up.
    Looked { has_given_up: bool },
    /// What was to be written is, or the store failed with these words.
    Written(Result<Saved, String>),
    /// The keys are deleted, or the store failed with these words.
    Wiped(Result<(), String>),
}

/// What somebody wants. Each caller is answered exactly once, unless the machine ends before.
#[derive(Debug)]
pub(in crate::engine) enum Command {
    /// Link a phone if none is linked, and ask for a code for this number.
    Pair(Option<PhoneNumber>, Caller),
    /// Hand this to the session that waits at the passkey gate.
    Passkey(PasskeyAnswer, Caller),
    /// Unlink the phone and keep nothing.
    Unlink(Caller),
    /// End; the phone stays linked.
    Stop,
}

/// The outcome of writing the channel's state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::engine) enum Saved {
    /// It is written.
    Done,
    /// There is no such channel any more.
    Gone,
    /// Somebody else changed it before: this is the state now.
    Overtaken(Connection),
}
