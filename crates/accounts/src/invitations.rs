//! Accepting an invitation.
//!
//! Nothing proves that an e-mail address belongs to the person who opens the link: Pombo sends no e-mail, and the inviter
//! holds the link too. Therefore
//!
//! - an invitation says nothing about accounts. Everybody sees the same form, and each answer until the one that decides
//!   is the same, after the same work, whether the address has an account or not;
//! - an account joins a company only with its password, however the person is signed in: somebody who holds an account in
//!   another person's address gains nothing by the invitations that the person gets;
//! - a new account notes the company that vouches for it, which a reset by an operator takes away.

use super::attempt::Attempt;
use super::strength::About;
use super::{Accept, Accounts, Error, Origin, Result, Session, SignedIn, User};
use domain::user::{Email, name};
use store::users::Credentials;
use store::users::invitations::Accepted;
use store::users::links::{Link, Purpose};

impl Accounts {
    /// Uses an invitation for a person who is not signed in.
    pub(super) async fn accept_invitation(&self, link: &Link, accept: Accept<'_>) -> Result<SignedIn> {
        let Accept { password, origin, .. } = accept;
        let email = Email::parse(&link.email).map_err(|_| Error::LinkGone)?;
        let shown = name(accept.name).map_err(Error::invalid("name"))?;
        // A wrong password is a guess, as at sign-in. So is one that nobody may choose, because the answer must not tell
        // which of the two it is.
        let attempt = Attempt::begin(self, email.as_str(), origin).await?;
        let company = link.company.as_ref().map(|company| company.company_name.clone());
        let about = About::new(email.as_str(), &shown, company);
        let (result, is_common) = match self.0.passwords.is_common(password, about).await {
            Ok(is_common) => (self.enter(link, &email, &shown, is_common, accept).await, is_common),
            Err(error) => (Err(error), false),
        };
        attempt.end(&result, |signed_in| matches!(signed_in, SignedIn::Session(_))).await;
        result.map_err(|error| match error {
            Error::Refused if is_common => Error::CommonPassword,
            other => other,
        })
    }

    async fn enter(
        &self,
        link: &Link,
        email: &Email,
        shown: &str,
        is_common: bool,
        Accept { password, language, origin, .. }: Accept<'_>,
    ) -> Result<SignedIn> {
        let found = self.store().users().credentials_by_email(email).await?;
        let stored = found.as_ref().and_then(|found| found.password.as_deref());
        let fits = self.0.passwords.fits(password, stored).await?;
        match found {
            Some(Credentials { user, .. }) if fits && user.disabled_at.is_none() => {
                self.join_and_sign_in(&user, link, origin).await
            }
            None if !is_common => {
                let hash = self.0.passwords.hash(password).await?;
                let time_zone = origin.time_zone.as_deref();
                let accepted = Accepted { name: shown, password: &hash, language, time_zone };
                let user =
                    self.store().links().accept_invitation(&origin.who(email.as_str()), link, accepted).await;
                let user = user.map_err(|error| match error {
                    // Somebody added the person at this moment.
                    store::Error::Taken(_) => Error::Refused,
                    other => other.into(),
                })?;
                self.sign_in_proven(&user.ok_or(Error::LinkGone)?, origin, "invitation").await
            }
            None => Err(self.refuse(None, "no account", origin).await),
            Some(found) => {
                let reason = if found.user.disabled_at.is_some() { "disabled" } else { "password" };
                Err(self.refuse(Some(email), reason, origin).await)
            }
        }
    }

    /// Uses an invitation for a person who entered the password of their account. With a second factor, the person signs in
    /// first, and then joins.
    async fn join_and_sign_in(&self, user: &User, link: &Link, origin: &Origin) -> Result<SignedIn> {
        if user.has_totp {
            return self.ask_for_code(user).await;
        }
        if !self.store().links().join(&origin.who(&user.email), link, user).await? {
            return Err(Error::LinkGone);
        }
        let mut new = self.open_session(user, origin, "password").await?;
        if let Some(company) = &link.company {
            new.session.company = match self.choose_company(&new.session, company.company_id).await {
                Ok(company) => Some(company),
                // It is disabled: the person is a member, and chooses it once it is enabled.
                Err(Error::NotFound) => None,
                Err(error) => return Err(error),
            };
        }
        Ok(SignedIn::Session(Box::new(new)))
    }

    /// Uses an invitation for a signed-in person, to whom it must be addressed, and chooses the company for their session.
    /// The person enters the password of their account, if it has one: a link that signs in is not enough.
    ///
    /// # Errors
    ///
    /// [`Error::LinkGone`], also for an invitation of another person; [`Error::Refused`] when the password is wrong;
    /// [`Error::TooMany`], [`Error::Store`].
    pub async fn join(&self, session: &Session, token: &str, password: &str, origin: &Origin) -> Result<()> {
        let (link, user) = (self.find_link(token).await?.ok_or(Error::LinkGone)?, &session.user);
        if link.purpose != Purpose::Invitation || link.email != user.email {
            return Err(Error::LinkGone);
        }
        if user.has_password {
            self.check_password(session, password, origin).await?;
        }
        if !self.store().links().join(&origin.who(&user.email), &link, user).await? {
            return Err(Error::LinkGone);
        }
        if let Some(company) = &link.company {
            self.store().sessions().choose_company(session.id, company.company_id).await?;
        }
        Ok(())
    }
}
