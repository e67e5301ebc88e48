//! Why a call did not succeed.

use std::time::Duration;

use crate::domain::user::Invalid;
use crate::store;
use crate::vault;

/// Why a call did not succeed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// E-mail, password or code do not fit; nothing says which, nor whether there is such an account.
    #[error("e-mail, password or code is wrong")]
    Refused,
    /// Too many attempts failed, or too many passwords are being checked.
    #[error("too many attempts")]
    TooMany {
        /// When to try again.
        retry_after: Duration,
    },
    /// The link is unknown, was used, or has ended.
    #[error("the link was used, has ended, or never was one")]
    LinkGone,
    /// The person of this e-mail is there already: they accept an invitation after they signed in.
    #[error("another user has this e-mail")]
    Exists,
    /// There is no such person, member, session or invitation.
    #[error("not found")]
    NotFound,
    /// The company would be left without an owner.
    #[error("a company keeps at least one owner")]
    LastOwner,
    /// A field cannot be what it is.
    #[error("`{field}` {fault}")]
    Invalid {
        /// `email`, `name`, `password` or `time_zone`.
        field: &'static str,
        /// Completes a sentence that begins with the field.
        fault: Invalid,
    },
    /// The secret of a second factor does not open.
    #[error("the second factor cannot be checked: {0}")]
    Vault(#[from] vault::Error),
    /// Hashing a password broke down, or a secret is no secret of a second factor; a defect of ours.
    #[error("{0}")]
    Defect(String),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] store::Error),
}

impl Error {
    /// The field whose text cannot be what it is.
    pub(super) const fn invalid(field: &'static str) -> impl Fn(Invalid) -> Self {
        move |fault| Self::Invalid { field, fault }
    }
}
