//! Effects: what a session's machine wants done.

use std::time::Instant;

use super::super::pairing::Pairing;
use super::super::passkey::{NotExpected, PasskeyAnswer};
use super::super::updates::SessionUpdate;
use crate::clock::Timestamp;
use crate::connector::web_session::Ack;
use crate::domain::channel::Connection;
use crate::domain::phone::PhoneNumber;
use crate::engine::machine::{self, Caller};

/// The effects of one or more inputs.
pub(in crate::engine) type Effects = machine::Effects<Effect>;

/// Something that the shell does for the machine, each after the one before. What those bring that are "awaited" is the
/// next input, before anything else; nothing of it comes while an input is handled.
pub(in crate::engine) enum Effect {
    /// Open a session, and tell the senders that there is one. Awaited: [`Input::Opened`](super::Input::Opened).
    Open,
    /// Tell the session to end, and to unlink the phone if that `unlinks`. What it was asked brings nothing any more.
    /// Awaited: [`Input::Stopped`](super::Input::Stopped).
    Stop { unlinks: bool },
    /// Nobody reaches the session any more.
    Forget,
    /// Ask the session for a code. Brings [`Input::CodeAnswered`](super::Input::CodeAnswered) later.
    AskCode(PhoneNumber),
    /// Hand this to the session instead of what it was handed before. Brings
    /// [`Input::PasskeyAnswered`](super::Input::PasskeyAnswered) later.
    AnswerPasskey(PasskeyAnswer),
    /// See whether the session has given up. Awaited: [`Input::Looked`](super::Input::Looked).
    Look,
    /// Write this. Awaited: [`Input::Written`](super::Input::Written).
    Write(Box<Write>),
    /// Close the session to callers, let it write nothing more, delete its keys, and write this state with that.
    /// Awaited: [`Input::Wiped`](super::Input::Wiped).
    Wipe(Connection),
    /// Tell the waiting caller the outcome of a message, and hand it on unless that one
    /// [writes it](super::is_written_by_sender).
    Hear(Ack),
    /// Hand on what is to be written of messages and people; wait while too much is.
    Tell(SessionUpdate),
    /// Show how far the channel is with being linked to a phone.
    Show(Box<Pairing>),
    /// Answer this caller, who waits.
    Reply(Caller, Answer),
    /// Wake the machine then, and at no moment that was asked for before. Brings [`Input::Timer`](super::Input::Timer).
    WakeAt(Instant),
    /// The machine is at its end.
    End,
}

/// What is to be written of a channel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::engine) struct Write {
    /// The number of the phone, and when it was linked.
    pub(in crate::engine) number: Option<(PhoneNumber, Timestamp)>,
    /// The channel's state, unless another is stored than the one that it is to take the place of.
    pub(in crate::engine) connection: Option<Change>,
}

/// A state that is to take the place of another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::engine) struct Change {
    pub(in crate::engine) from: Connection,
    pub(in crate::engine) to: Connection,
}

/// What a caller is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::engine) enum Answer {
    /// It is done, or begun.
    Done,
    /// The answer at the passkey gate is not taken.
    NotExpected(NotExpected),
    /// It is not carried out: the session is just ending.
    TurnedAway,
}
