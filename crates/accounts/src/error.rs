//! The errors of accounts.

use std::time::Duration;

use domain::user::Invalid;

/// Why a call did not succeed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// E-mail, password or code is wrong. The error does not say which, or whether the account exists.
    #[error("e-mail, password or code is wrong")]
    Refused,
    /// Too many attempts failed, or too many passwords are being checked.
    #[error("too many attempts")]
    TooMany {
        /// When to retry.
        retry_after: Duration,
    },
    /// The link is unknown, used or expired.
    #[error("the link is unknown, used or expired")]
    LinkGone,
    /// There is a user with this e-mail already.
    #[error("another user has this e-mail")]
    Exists,
    /// There is no such person, member, session or invitation.
    #[error("not found")]
    NotFound,
    /// The company would be left without an owner.
    #[error("a company keeps at least one owner")]
    LastOwner,
    /// An owner may not make a link for this person, who is an operator, is disabled, or belongs to another company too.
    #[error("only an operator makes a link for this person")]
    OperatorsOnly,
    /// A field is invalid.
    #[error("`{field}` {fault}")]
    Invalid {
        /// `email`, `name`, `password` or `time_zone`.
        field: &'static str,
        /// Completes a sentence that begins with the field.
        fault: Invalid,
    },
    /// The new password is one of the first million that an attacker tries.
    #[error("the password is easy to guess: it is common, or made of the person's own data")]
    CommonPassword,
    /// The secret of a second factor cannot be opened.
    #[error("the second factor cannot be checked: {0}")]
    Vault(#[from] vault::Error),
    /// Hashing a password failed, or a stored secret is not valid for a second factor: an internal failure.
    #[error("{0}")]
    Defect(String),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] store::Error),
}

impl Error {
    /// The error for an invalid field.
    pub(super) const fn invalid(field: &'static str) -> impl Fn(Invalid) -> Self {
        move |fault| Self::Invalid { field, fault }
    }
}
