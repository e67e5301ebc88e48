//! Inputs: what the ledger is asked, and what happens to its commits.

use std::collections::HashSet;

use uuid::Uuid;

use super::super::message::{Accept, Activate, Extend, Hear};
use crate::engine::machine::Caller;
use crate::store;
use crate::store::ledger::{Committed, PendingWrites};

/// Something that happens to the ledger. Each caller is answered exactly once.
pub(crate) enum Input {
    /// Write a new send under this id, which is greater than those before it.
    Accept { id: Uuid, accept: Accept, caller: Caller },
    /// Write more blocks of a send.
    Extend { extend: Extend, caller: Caller },
    /// The last block of a send was written.
    Activate { activate: Activate, caller: Caller },
    /// Remove a send that was not accepted after all.
    Withdraw(Uuid),
    /// Write what a channel did: it is never given up, and goes before everything else after a failure. Where nothing
    /// `is_awaited`, the next commit may gather more of the kind first.
    Record { writes: Box<PendingWrites>, is_awaited: bool, caller: Caller },
    /// Write what a provider told.
    Hear { hear: Hear, caller: Caller },
    /// Write what is left, then end.
    Close(Caller),

    /// What others were just handing over is here.
    Gathered,
    /// The commit under way is over. `batch` is what was to be written.
    Written { batch: Box<PendingWrites>, result: Result<Committed, Failure> },
    /// It is known which of these sends are in the store; the others never will be. Or it is not known yet.
    Settled { sends: Vec<Uuid>, result: Result<HashSet<Uuid>, Failure> },
    /// The moment that was asked for last has come.
    Timer,
}

/// The database did not do what it was asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{words}")]
pub(crate) struct Failure {
    pub(crate) cause: Cause,
    /// What it says itself, for the log.
    pub(crate) words: String,
}

/// Why the database did not do what it was asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cause {
    /// It cannot now, and nothing was written.
    Unavailable,
    /// It broke off: what was to be written may be there, or come to be there later.
    InDoubt,
    /// It takes a row neither now nor later.
    Refused,
    /// A row builds upon something that is not there (any more).
    Missing,
    /// Another process has the lease.
    Fenced,
    /// A defect of ours.
    Defect,
}

impl Cause {
    /// In a word.
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
    /// Whether the same may succeed later.
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
