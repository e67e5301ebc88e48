//! Inputs: requests to the ledger, and results of its commits.

use std::collections::HashSet;

use uuid::Uuid;

use super::super::message::{Accept, Activate, Extend, Hear};
use crate::machine::Caller;
use store::ledger::{Committed, PendingWrites};

/// An input of the ledger. Each caller is answered exactly once.
pub(crate) enum Input {
    /// Write a new send under this id, which is greater than those before it.
    Accept { id: Uuid, accept: Accept, caller: Caller },
    /// Write more blocks of a send.
    Extend { extend: Extend, caller: Caller },
    /// The last block of a send was written.
    Activate { activate: Activate, caller: Caller },
    /// Remove a send that was not accepted in the end.
    Withdraw(Uuid),
    /// Write the work of a channel: it is never given up, and goes before everything else after a failure. While
    /// nothing `is_awaited`, the next commit may wait for more.
    Record { writes: Box<PendingWrites>, is_awaited: bool, caller: Caller },
    /// Write the reports of a provider.
    Hear { hear: Hear, caller: Caller },
    /// Write what is left, then end.
    Close(Caller),

    /// The requests that were on their way are here.
    Gathered,
    /// The commit under way is over. `batch` has its rows.
    Written { batch: Box<PendingWrites>, result: Result<Committed, Failure> },
    /// Which of these sends are in the store; the others never will be. An error means that it is still unknown.
    Settled { sends: Vec<Uuid>, result: Result<HashSet<Uuid>, Failure> },
    /// The time of the last [`Effect::WakeAt`](super::Effect::WakeAt) has come.
    Timer,
}

/// A failure of the database.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{words}")]
pub(crate) struct Failure {
    pub(crate) cause: Cause,
    /// The database's own words, for the log.
    pub(crate) words: String,
}

/// The cause of a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cause {
    /// The database is unavailable, and nothing was written.
    Unavailable,
    /// The connection broke off: the rows may be written, or may be written later.
    InDoubt,
    /// The database refuses a row permanently.
    Refused,
    /// A row refers to another row that is missing.
    Missing,
    /// Another process has the lease.
    Fenced,
    /// A defect of Pombo.
    Defect,
}

impl Cause {
    /// The cause as a word.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Unavailable => "unavailable",
            Self::InDoubt => "in_doubt",
            Self::Refused => "refused",
            Self::Missing => "missing",
            Self::Fenced => "fenced",
            Self::Defect => "defect",
        }
    }
}

impl Failure {
    /// Whether a retry may succeed.
    pub(super) const fn is_passing(&self) -> bool {
        matches!(self.cause, Cause::Unavailable | Cause::InDoubt)
    }

    /// Whether a single row is to blame: without it, the others are written.
    pub(super) const fn is_about_a_row(&self) -> bool {
        matches!(self.cause, Cause::Refused | Cause::Missing)
    }
}

impl From<store::Error> for Failure {
    fn from(error: store::Error) -> Self {
        let cause = match &error {
            store::Error::Unavailable(_) => Cause::Unavailable,
            store::Error::InDoubt(_) => Cause::InDoubt,
            store::Error::Taken(_) | store::Error::Refused(_) => Cause::Refused,
            store::Error::Missing(_) => Cause::Missing,
            store::Error::Fenced => Cause::Fenced,
            store::Error::OtherKind(_)
            | store::Error::Schema(_)
            | store::Error::Impossible(_)
            | store::Error::Defect(_) => Cause::Defect,
        };
        Self { cause, words: error.to_string() }
    }
}
