//! Effects: what the shell does for the ledger's machine.

use std::time::{Duration, Instant};

use uuid::Uuid;

use super::super::message::{Arrived, Condition, Error, Written};
use crate::machine::{self, Caller};
use store::ledger::PendingWrites;

/// The effects of one or more inputs.
pub(crate) type Effects = machine::Effects<Effect>;

/// Something that the shell does for the machine. Effects are carried out in their order. An effect that brings an
/// input brings it later, never while an input is handled, and exactly once.
pub(crate) enum Effect {
    /// Let requests that are on their way arrive. Brings [`Input::Gathered`](super::Input::Gathered).
    Gather,
    /// Write this in one transaction. Brings [`Input::Written`](super::Input::Written). At most one commit is under
    /// way.
    Commit(Commit),
    /// Find out which of these sends are in the store, and permanently withdraw the others. Brings
    /// [`Input::Settled`](super::Input::Settled). At most one such question is under way, perhaps beside a commit.
    Settle(Vec<Uuid>),
    /// Tell a channel of its sends, without waiting for the channel. Brings nothing.
    Tell { channel_id: Uuid, arrived: Arrived },
    /// Answer this caller. Brings nothing.
    Reply(Caller, Result<Answer, Error>),
    /// Publish the ledger's condition. Brings nothing.
    Show(Condition),
    /// Wake the machine at this time, which replaces the previous one. Brings [`Input::Timer`](super::Input::Timer).
    WakeAt(Instant),
    /// Count this. Brings nothing.
    Note(Figure),
    /// The machine ends: everything is written, and every caller was answered.
    End,
}

/// The content of one transaction.
pub(crate) struct Commit {
    pub(crate) batch: Box<PendingWrites>,
    /// A batch of sends alone may be committed by the statement that writes it.
    pub(crate) in_one_statement: bool,
}

/// An answer to a caller.
#[derive(Debug)]
pub(crate) enum Answer {
    /// The send is accepted under this id.
    Accepted(Uuid),
    /// The channel's record is written, with this result.
    Written(Written),
    /// The request was carried out.
    Done,
}

/// Something that is counted for metrics.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Figure {
    /// A commit of a whole batch took this long.
    Took(Duration),
    /// This many sends and outcomes were written.
    Rows(u64),
    /// A commit failed.
    Failed,
    /// This many receipts named an unknown send.
    UnknownSend(u64),
    /// This many receipts were for messages that were never attempted.
    NeverAttempted(u64),
    /// This many sends are in doubt.
    InDoubt(usize),
    /// The database refused a row of this kind permanently; `then` says what was done with it.
    RefusedRow { row: &'static str, then: &'static str },
}
