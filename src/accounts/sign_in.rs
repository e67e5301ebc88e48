//! Signing in: password, then the code of a second factor if there is one.

use std::time::Instant;

use uuid::Uuid;

use super::backoff::Account;
use super::failures::Entry;
use super::{Accounts, Error, NewSession, Origin, Result, User, lock};
use crate::clock::Timestamp;
use crate::domain::secret::Secret;
use crate::domain::user::Email;
use crate::store::changes::Who;
use crate::store::users::Credentials;
use crate::vault::api_key;

/// An attempt to sign in.
#[derive(Debug, Clone, Copy)]
pub struct SignIn<'a> {
    /// As it was typed.
    pub email: &'a str,
    /// As it was typed.
    pub password: &'a str,
    /// The code of the second factor, or a recovery code, if it is entered in the same step.
    pub code: Option<&'a str>,
    /// The origin of the attempt.
    pub origin: &'a Origin,
}

/// The result of an attempt with a correct password.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SignedIn {
    /// The person is signed in.
    Session(Box<NewSession>),
    /// A code is needed too: [`Accounts::sign_in_with_code`] takes it with this ticket, so that the
    /// password is neither typed again nor kept. Valid for ten minutes, in this process.
    CodeNeeded {
        /// Proves that the password was correct.
        ticket: Secret,
    },
}

/// A person whose password or link was correct, under this version of their credentials. Under another version, nothing
/// is proved.
#[derive(Debug, Clone, Copy)]
pub(super) struct Proved {
    pub(super) user_id: Uuid,
    pub(super) version: i64,
}

impl Proved {
    /// Whether a code completes the sign-in: the person may sign in, still has a second factor, and has the credentials that
    /// were proved.
    const fn awaits_code(self, found: &Credentials) -> bool {
        let user = &found.user;
        user.disabled_at.is_none() && user.has_totp && user.credentials_version == self.version
    }
}

/// An attempt, which counts as a guess until it is known not to be one.
pub(super) struct Attempt<'a> {
    accounts: &'a Accounts,
    account: Account,
    origin: &'a Origin,
}

impl<'a> Attempt<'a> {
    /// # Errors
    ///
    /// [`Error::TooMany`] when the account or the network has to wait.
    pub(super) fn begin(accounts: &'a Accounts, email: &str, origin: &'a Origin) -> Result<Self> {
        let account = Account::of(email);
        let begun = lock(&accounts.0.backoff).begin(account, origin.address, Instant::now());
        begun.map_err(|retry_after| {
            tracing::warn!(address = %origin.address, ?retry_after, "sign-in refused: too many attempts");
            Error::TooMany { retry_after }
        })?;
        Ok(Self { accounts, account, origin })
    }

    /// Ends the attempt. A guess stays counted. A correct password, and a failure that is not the caller's
    /// fault, are not guesses.
    pub(super) fn end<T>(self, result: &Result<T>, is_over: impl Fn(&T) -> bool) {
        let mut backoff = lock(&self.accounts.0.backoff);
        match result {
            Ok(ended) if is_over(ended) => backoff.succeed(self.account, self.origin.address),
            Err(Error::Refused) => {}
            Ok(_) | Err(_) => backoff.take_back(self.account, self.origin.address),
        }
    }
}

impl Accounts {
    /// Signs a person in, unless a code is needed too.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] when e-mail, password or code is wrong, or the person is disabled: always after the same time.
    /// [`Error::TooMany`] after too many attempts, [`Error::Store`].
    pub async fn sign_in(&self, sign_in: SignIn<'_>) -> Result<SignedIn> {
        let email = Email::parse(sign_in.email).ok();
        let attempt = Attempt::begin(self, email.as_ref().map_or("", Email::as_str), sign_in.origin)?;
        let result = self.try_sign_in(email, sign_in).await;
        attempt.end(&result, |signed_in| matches!(signed_in, SignedIn::Session(_)));
        result
    }

    async fn try_sign_in(&self, email: Option<Email>, sign_in: SignIn<'_>) -> Result<SignedIn> {
        let SignIn { email: _, password, code, origin } = sign_in;
        let found = match &email {
            Some(email) => self.store().credentials_by_email(email).await?,
            None => None,
        };
        let stored = found.as_ref().and_then(|found| found.password.as_deref());
        let fits = self.0.passwords.fits(password, stored).await?;
        let reason = match &found {
            None => "no account",
            Some(found) if found.user.disabled_at.is_some() => "disabled",
            Some(_) if !fits => "password",
            Some(_) => "",
        };
        let Some(found) = found.filter(|_| reason.is_empty()) else {
            let email = email.as_ref();
            let user = if reason == "no account" { None } else { email };
            return Err(self.refuse(user, reason, origin).await);
        };
        match code {
            Some(code) if found.user.has_totp => self.check_code(&found, code, origin).await?,
            None if found.user.has_totp => return Ok(self.ask_for_code(&found.user)),
            _ => {}
        }
        let proof = if found.user.has_totp { "password and code" } else { "password" };
        let session = self.open_session(&found.user, origin, proof).await?;
        Ok(SignedIn::Session(Box::new(session)))
    }

    /// Signs a person in after a correct password, with the code of the second factor or a recovery code.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] when the person has to start again: the ticket has expired, or password or second factor changed
    /// since. Otherwise as [`Accounts::sign_in`].
    pub async fn sign_in_with_code(&self, ticket: &str, code: &str, origin: &Origin) -> Result<NewSession> {
        let ticket = api_key::hash(ticket);
        let proved = lock(&self.0.tickets).find(&ticket, Instant::now()).ok_or(Error::NotFound)?;
        let found = self.store().credentials(proved.user_id).await?;
        let Some(found) = found.filter(|found| proved.awaits_code(found)) else {
            lock(&self.0.tickets).remove(&ticket);
            return Err(Error::NotFound);
        };
        let attempt = Attempt::begin(self, &found.user.email, origin)?;
        let result = self.open_with_code(&found, code, origin).await;
        attempt.end(&result, |_| true);
        if result.is_ok() {
            lock(&self.0.tickets).remove(&ticket);
        }
        result
    }

    async fn open_with_code(&self, found: &Credentials, code: &str, origin: &Origin) -> Result<NewSession> {
        self.check_code(found, code, origin).await?;
        self.open_session(&found.user, origin, "password and code").await
    }

    /// Signs in a person who was authenticated without a password, unless a code is needed too.
    pub(super) async fn sign_in_proven(&self, user: &User, origin: &Origin, proof: &str) -> Result<SignedIn> {
        if user.has_totp {
            return Ok(self.ask_for_code(user));
        }
        Ok(SignedIn::Session(Box::new(self.open_session(user, origin, proof).await?)))
    }

    /// Checks the person's password, for actions that need it again.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] when the password is wrong, [`Error::TooMany`], [`Error::Store`].
    pub(super) async fn check_password(&self, user: &User, password: &str, origin: &Origin) -> Result<()> {
        let attempt = Attempt::begin(self, &user.email, origin)?;
        let result = self.is_password(user, password, origin).await;
        attempt.end(&result, |()| true);
        result
    }

    async fn is_password(&self, user: &User, password: &str, origin: &Origin) -> Result<()> {
        let found = self.store().credentials(user.id).await?;
        let stored = found.as_ref().and_then(|found| found.password.as_deref());
        if self.0.passwords.fits(password, stored).await? {
            return Ok(());
        }
        let email = Email::parse(&user.email).ok();
        Err(self.refuse(email.as_ref(), "password", origin).await)
    }

    pub(super) fn ask_for_code(&self, user: &User) -> SignedIn {
        let ticket = api_key::generate_token();
        let proved = Proved { user_id: user.id, version: user.credentials_version };
        lock(&self.0.tickets).put(api_key::hash(ticket.expose()), proved, Instant::now());
        SignedIn::CodeNeeded { ticket }
    }

    async fn check_code(&self, found: &Credentials, code: &str, origin: &Origin) -> Result<()> {
        if self.is_code(found, code).await? {
            return Ok(());
        }
        let email = Email::parse(&found.user.email).ok();
        Err(self.refuse(email.as_ref(), "code", origin).await)
    }

    /// Records the failure, and returns the error that the caller may see. `email` is set for a known person.
    pub(super) async fn refuse(&self, email: Option<&Email>, reason: &str, origin: &Origin) -> Error {
        let entry = lock(&self.0.failures).note(origin.address, Timestamp::now());
        let recorded = match entry {
            Entry::Own => {
                let who = Who::Stranger { address: origin.address };
                let email = email.map_or("", Email::as_str);
                self.store().record_failed_sign_in(&who, email, reason).await
            }
            Entry::Folded(fold) => fold.record(self.store()).await,
        };
        recorded.map_or_else(Error::from, |()| Error::Refused)
    }
}
