//! Effects: what the ledger's machine wants done.

use std::time::{Duration, Instant};

use uuid::Uuid;

use super::super::message::{Arrived, Condition, Error, Written};
use crate::engine::machine::{self, Caller};
use crate::store::ledger::PendingWrites;

/// The effects of one or more inputs.
pub(crate) type Effects = machine::Effects<Effect>;

/// Something that the shell does for the machine. Effects are carried out in their order. Those that bring an input
/// bring it later, never while an input is handled, and exactly once.
pub(crate) enum Effect {
    /// Let others hand over what they are just handing over. Brings [`Input::Gathered`](super::Input::Gathered).
    Gather,
    /// Write this in one transaction. Brings [`Input::Written`](super::Input::Written). There is at most one commit
    /// under way.
    Commit(Commit),
    /// Withdraw those of these sends that are not in the store, for good, and say which are. Brings
    /// [`Input::Settled`](super::Input::Settled). There is at most one such question under way, perhaps beside a
    /// commit.
    Settle(Vec<Uuid>),
    /// Tell a channel of its sends, without waiting for it. Brings nothing.
    Tell { channel_id: Uuid, arrived: Arrived },
    /// Answer this caller, who waits. Brings nothing.
    Reply(Caller, Result<Answer, Error>),
    /// Show how the ledger does. Brings nothing.
    Show(Condition),
    /// Wake the machine then, and at no moment that was asked for before. Brings [`Input::Timer`](super::Input::Timer).
    WakeAt(Instant),
    /// Count this. Brings nothing.
    Note(Figure),
    /// The machine is at its end: everything is written, and every caller was answered.
    End,
}

/// What one transaction is to write.
pub(crate) struct Commit {
    pub(crate) batch: Box<PendingWrites>,
    /// Sends alone may be committed by the statement that writes them.
    pub(crate) in_one_statement: bool,
}

/// What a caller is told.
#[derive(Debug)]
pub(crate) enum Answer {
    /// The send is accepted under this id.
    Accepted(Uuid),
    /// What a channel did is written, with what was found out by that.
    Written(Written),
    /// It is done.
    Done,
}

/// Something that is counted for people and monitoring.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Figure {
    /// A commit of a whole batch came to its end after this time.
    Took(Duration),
    /// So many sends and outcomes were written.
    Rows(u64),
    /// A commit failed.
    Failed,
    /// So many receipts were of no send that is known.
    UnknownSend(u64),
    /// So many receipts were of messages that were never attempted.
    NeverAttempted(u64),
    /// So many sends may or may not be in the store.
    InDoubt(usize),
    /// The database refuses a row of this kind permanently; what was done then.
    RefusedRow { row: &'static str, then: &'static str },
}
