//! Effects: what the supervisor does for a session's machine.

use std::time::Instant;

use super::SessionUpdate;
use super::pairing::Pairing;
use super::{NotExpected, PasskeyAnswer};
use crate::Caller;
use clock::Timestamp;
use domain::channel::Connection;
use domain::phone::PhoneNumber;
use domain::web_session::Ack;

/// The effects of one or more inputs.
pub type Effects = crate::Effects<Effect>;

/// Something that the supervisor does for the machine, one after the other. The result of an effect that is "awaited"
/// is the next input, before anything else. No input comes while another is handled.
pub enum Effect {
    /// Open a session, and make it available to senders. Awaited: [`Input::Opened`](super::Input::Opened).
    Open,
    /// Tell the session to end, and to unlink the phone if that `unlinks`. Unanswered requests to the session bring no
    /// input any more. Awaited: [`Input::Stopped`](super::Input::Stopped).
    Stop {
        /// Whether the phone is unlinked.
        unlinks: bool,
    },
    /// Drop the session: senders do not reach it any more.
    Forget,
    /// Request a pairing code from the session. Brings [`Input::CodeAnswered`](super::Input::CodeAnswered) later.
    AskCode(PhoneNumber),
    /// Pass this answer to the session, in place of an earlier one. Brings
    /// [`Input::PasskeyAnswered`](super::Input::PasskeyAnswered) later.
    AnswerPasskey(PasskeyAnswer),
    /// Check whether the session has given up. Awaited: [`Input::Looked`](super::Input::Looked).
    Look,
    /// Write this. Awaited: [`Input::Written`](super::Input::Written).
    Write(Box<Write>),
    /// Close the session to callers and to further writes, delete its keys, and write this state in the same
    /// transaction. Awaited: [`Input::Wiped`](super::Input::Wiped).
    Wipe(Connection),
    /// Pass an acknowledgement to the waiting caller, and on to be written unless the caller [writes
    /// it](super::is_written_by_sender).
    Hear(Ack),
    /// Pass on an update of messages or people; wait while too many are queued.
    Tell(SessionUpdate),
    /// Show the progress of the pairing.
    Show(Box<Pairing>),
    /// Answer this caller.
    Reply(Caller, Answer),
    /// Wake the machine at this time; this replaces the previous request. Brings [`Input::Timer`](super::Input::Timer).
    WakeAt(Instant),
    /// The machine ends.
    End,
}

/// A write of the channel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Write {
    /// The number of the phone, and when it was linked.
    pub number: Option<(PhoneNumber, Timestamp)>,
    /// The change of the channel's state. It is not written if the stored state is not the one that it replaces.
    pub connection: Option<Change>,
}

/// A change from one state to another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The state before.
    pub from: Connection,
    /// The state after.
    pub to: Connection,
}

/// An answer to a caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// The command was carried out, or begun.
    Done,
    /// The answer at the passkey gate is not accepted.
    NotExpected(NotExpected),
    /// The command was not carried out: the session is ending.
    TurnedAway,
}
