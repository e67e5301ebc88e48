//! Inputs: the events of a web session and its channel.

use std::time::Duration;

use super::PasskeyAnswer;
use crate::Caller;
use domain::channel::Connection;
use domain::phone::PhoneNumber;
use domain::secret::Secret;
use domain::web_session::{Event, PairingFailure, PasskeyRefused};

/// An event of a web session or its channel.
pub enum Input {
    /// The supervisor starts, and the session is opened after this time; without a time, only on command. The first
    /// input of a machine.
    Started {
        /// The time until the session is opened.
        turn: Option<Duration>,
    },
    /// The time of the last [`Effect::WakeAt`](super::Effect::WakeAt) has come.
    Timer,
    /// A command. Only while the machine [hears commands](super::Machine::hears_commands).
    Command(Command),
    /// An event of the session.
    Event(Event),
    /// No further event of the session will come.
    Silence,
    /// The session was opened, or could not be, for the reason in this sentence.
    Opened(Result<(), String>),
    /// The session was told to end. Its remaining events may follow.
    Stopped,
    /// The answer to the request for a pairing code.
    CodeAnswered(Result<Secret, PairingFailure>),
    /// The session's result for an answer at the passkey gate.
    PasskeyAnswered(Result<(), PasskeyRefused>),
    /// Whether the session has given up.
    Looked {
        /// Whether it has.
        has_given_up: bool,
    },
    /// The write ended, or the store failed with these words.
    Written(Result<Saved, String>),
    /// The keys are deleted, or the store failed with these words.
    Wiped(Result<(), String>),
}

/// A command. Each caller is answered exactly once, unless the machine ends before.
#[derive(Debug)]
pub enum Command {
    /// Link a phone if none is linked, and request a pairing code for this number.
    Pair(Option<PhoneNumber>, Caller),
    /// Pass this answer to the session that waits at the passkey gate.
    Passkey(PasskeyAnswer, Caller),
    /// Unlink the phone and delete the session's records.
    Unlink(Caller),
    /// End; the phone stays linked.
    Stop,
}

/// The outcome of writing the channel's state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Saved {
    /// The state is written.
    Done,
    /// The channel was deleted.
    Gone,
    /// The stored state was changed by somebody else: this is the state now.
    Overtaken(Connection),
}
