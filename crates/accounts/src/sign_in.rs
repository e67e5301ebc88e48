//! Signing in: password, then the code of a second factor if there is one.

use super::attempt::Attempt;
use super::failures::Entry;
use super::{Accounts, Error, NewSession, Origin, Result, Session, User};
use clock::Timestamp;
use domain::secret::Secret;
use domain::user::Email;
use store::changes::Who;
use store::users::Credentials;
use vault::api_key;

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
    /// password is neither typed again nor kept. Valid for ten minutes, on every node.
    CodeNeeded {
        /// Proves that the password was correct.
        ticket: Secret,
    },
}

/// Whether a code completes the sign-in of a person whose password or link was correct: the person may sign in, and still
/// has a second factor. Replaced credentials have ended the ticket.
const fn awaits_code(found: &Credentials) -> bool {
    found.user.disabled_at.is_none() && found.user.has_totp
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
        let attempt = Attempt::begin(self, email.as_ref().map_or("", Email::as_str), sign_in.origin).await?;
        let result = self.try_sign_in(email, sign_in).await;
        attempt.end(&result, |signed_in| matches!(signed_in, SignedIn::Session(_))).await;
        result
    }

    async fn try_sign_in(&self, email: Option<Email>, sign_in: SignIn<'_>) -> Result<SignedIn> {
        let SignIn { email: _, password, code, origin } = sign_in;
        let found = match &email {
            Some(email) => self.store().users().credentials_by_email(email).await?,
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
            None if found.user.has_totp => return self.ask_for_code(&found.user).await,
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
        let user_id = self.store().users().ticket(&ticket).await?.ok_or(Error::NotFound)?;
        let found =
            self.store().users().credentials(user_id).await?.filter(awaits_code).ok_or(Error::NotFound)?;
        let attempt = Attempt::begin(self, &found.user.email, origin).await?;
        let result = self.open_with_code(&found, &ticket, code, origin).await;
        attempt.end(&result, |_| true).await;
        result
    }

    async fn open_with_code(
        &self,
        found: &Credentials,
        ticket: &[u8; 32],
        code: &str,
        origin: &Origin,
    ) -> Result<NewSession> {
        self.check_code(found, code, origin).await?;
        if !self.store().users().use_ticket(ticket).await? {
            return Err(Error::NotFound);
        }
        self.open_session(&found.user, origin, "password and code").await
    }

    /// Signs in a person who was authenticated without a password, unless a code is needed too.
    pub(super) async fn sign_in_proven(&self, user: &User, origin: &Origin, proof: &str) -> Result<SignedIn> {
        if user.has_totp {
            return self.ask_for_code(user).await;
        }
        Ok(SignedIn::Session(Box::new(self.open_session(user, origin, proof).await?)))
    }

    /// Checks the password of a person who is signed in, for actions that need it again.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] when the password is wrong, [`Error::TooMany`], [`Error::Store`].
    pub(super) async fn check_password(
        &self,
        session: &Session,
        password: &str,
        origin: &Origin,
    ) -> Result<()> {
        let attempt = Attempt::within(self, session, origin).await?;
        let result = self.is_password(&session.user, password, origin).await;
        attempt.end(&result, |()| true).await;
        result
    }

    async fn is_password(&self, user: &User, password: &str, origin: &Origin) -> Result<()> {
        let found = self.store().users().credentials(user.id).await?;
        let stored = found.as_ref().and_then(|found| found.password.as_deref());
        if self.0.passwords.fits(password, stored).await? {
            return Ok(());
        }
        let email = Email::parse(&user.email).ok();
        Err(self.refuse(email.as_ref(), "password", origin).await)
    }

    pub(super) async fn ask_for_code(&self, user: &User) -> Result<SignedIn> {
        let ticket = api_key::generate_token();
        let made = self.store().users().put_ticket(&api_key::hash(ticket.expose()), user).await?;
        if made { Ok(SignedIn::CodeNeeded { ticket }) } else { Err(Error::Refused) }
    }

    pub(super) async fn check_code(&self, found: &Credentials, code: &str, origin: &Origin) -> Result<()> {
        if self.is_code(found, code).await? {
            return Ok(());
        }
        let email = Email::parse(&found.user.email).ok();
        Err(self.refuse(email.as_ref(), "code", origin).await)
    }

    /// Records the failure, and returns the error that the caller may see. `email` is set for a known person.
    pub(super) async fn refuse(&self, email: Option<&Email>, reason: &str, origin: &Origin) -> Error {
        let entry = self.0.failures.lock().note(origin.address, Timestamp::now());
        let recorded = match entry {
            Entry::Own => {
                let who = Who::Stranger { address: origin.address };
                let email = email.map_or("", Email::as_str);
                self.store().sign_ins().record_failed(&who, email, reason).await
            }
            Entry::Folded(fold) => fold.record(self.store()).await,
        };
        recorded.map_or_else(Error::from, |()| Error::Refused)
    }
}
