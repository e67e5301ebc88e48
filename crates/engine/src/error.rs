//! The engine's errors: of calls, and of its start.

use std::time::Duration;

use actix::MailboxError;

use super::RETRY_AFTER;
use domain::error::Refusal;
use domain::limit::Spent;
use domain::request::Skipped;

/// Why a call did not succeed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The request is refused.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The request is refused because it has no recipient.
    #[error("{refusal}")]
    Nobody {
        /// Why.
        refusal: Refusal,
        /// The entries that were skipped.
        skipped: Skipped,
    },
    /// The request exceeds a limit of the channel now.
    #[error("{sentence}")]
    TooSoon {
        /// When to retry.
        retry_after: Duration,
        /// For people: which limit holds, and what sets it.
        sentence: String,
        /// Which allowance is used up.
        spent: Spent,
    },
    /// A retry may succeed later.
    #[error("unavailable")]
    Unavailable {
        /// When to retry.
        retry_after: Duration,
    },
    /// A defect of Pombo; the log has the details.
    #[error("internal error")]
    Internal,
}

/// Why the engine did not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The store failed, or another process dispatches from it.
    #[error(transparent)]
    Store(#[from] store::Error),
    /// No client for the provider could be created.
    #[error(transparent)]
    Connector(#[from] connectors::Error),
    /// The bucket for files cannot be used.
    #[error(transparent)]
    Files(#[from] connectors::file_store::StoreFault),
}

impl From<store::Error> for Error {
    fn from(error: store::Error) -> Self {
        if error.is_passing() {
            tracing::warn!(%error, "the database is unavailable");
            Self::Unavailable { retry_after: RETRY_AFTER }
        } else {
            tracing::error!(%error, "a query failed");
            Self::Internal
        }
    }
}

/// An actor that ended is started again on the next call.
impl From<MailboxError> for Error {
    fn from(_: MailboxError) -> Self {
        Self::Unavailable { retry_after: RETRY_AFTER }
    }
}
