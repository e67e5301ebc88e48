//! An attempt to prove an identity, which counts as a guess until it is known not to be one.

use super::backoff::{End, Place, Subject};
use super::devices::Devices;
use super::{Accounts, Error, Origin, Result, Session};

/// See [the module](self).
pub(super) struct Attempt<'a> {
    accounts: &'a Accounts,
    subjects: Vec<Subject>,
}

impl<'a> Attempt<'a> {
    /// Begins an attempt to sign in.
    ///
    /// # Errors
    ///
    /// [`Error::TooMany`] when the account, the network or the device has to wait, [`Error::Store`].
    pub(super) async fn begin(accounts: &'a Accounts, email: &str, origin: &Origin) -> Result<Self> {
        let place = Devices(accounts).place_of(email, origin).await?;
        Self::count(accounts, email, place, origin).await
    }

    /// Begins an attempt of a person who is signed in.
    ///
    /// # Errors
    ///
    /// [`Error::TooMany`] when the session has to wait, [`Error::Store`].
    pub(super) async fn within(accounts: &'a Accounts, session: &Session, origin: &Origin) -> Result<Self> {
        Self::count(accounts, &session.user.email, Place::Session(session.id), origin).await
    }

    async fn count(accounts: &'a Accounts, email: &str, place: Place, origin: &Origin) -> Result<Self> {
        let subjects = Subject::all(email, place);
        let begun = accounts.0.backoff.begin(accounts.store(), subjects).await?;
        let subjects = begun.map_err(|retry_after| {
            tracing::warn!(address = %origin.address, ?retry_after, "sign-in refused: too many attempts");
            Error::TooMany { retry_after }
        })?;
        Ok(Self { accounts, subjects })
    }

    /// Ends the attempt. A guess stays counted. A correct password, and a failure that is not the caller's
    /// fault, are not guesses.
    pub(super) async fn end<T>(self, result: &Result<T>, is_over: impl Fn(&T) -> bool) {
        let end = match result {
            Ok(ended) if is_over(ended) => End::Success,
            Err(Error::Refused) => End::Guess,
            Ok(_) | Err(_) => End::Open,
        };
        let Self { accounts, subjects } = self;
        if let Err(error) = accounts.0.backoff.end(accounts.store(), &subjects, end).await {
            tracing::warn!(%error, "an attempt to sign in stays counted as a guess");
        }
    }
}
