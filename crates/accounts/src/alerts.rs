//! What people are told of their companies by e-mail.

use uuid::Uuid;

use super::{Accounts, Error, Origin, Result, Session, User};
use domain::alert::AlertKind;
use store::alerts::{AlertChoice, AlertListener};

/// What people are told of their companies by e-mail.
#[derive(Clone, Copy)]
pub struct AlertChoices<'a>(&'a Accounts);

impl<'a> AlertChoices<'a> {
    /// The choices of these people.
    pub const fn of(accounts: &'a Accounts) -> Self {
        Self(accounts)
    }

    /// What a person is told of each company that the person belongs to, by name; the first hundred.
    pub async fn of_user(self, user: &User) -> Result<Vec<AlertChoice>> {
        Ok(self.0.store().alerts().choices(user.id).await?)
    }

    /// The members of a company who may sign in, by e-mail, each with what the person is told.
    pub async fn listeners(self, company: Uuid) -> Result<Vec<AlertListener>> {
        Ok(self.0.store().of(company).alerts().listeners().await?)
    }

    /// A person is told of these kinds of alerts of a company, and of no others.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] when the person is no member of the company, [`Error::Store`].
    pub async fn choose(
        self,
        session: &Session,
        company: Uuid,
        kinds: &[AlertKind],
        origin: &Origin,
    ) -> Result<()> {
        let who = origin.who(&session.user.email);
        let chosen = self.0.store().of(company).alerts().choose(&who, &session.user, kinds).await?;
        if chosen { Ok(()) } else { Err(Error::NotFound) }
    }
}
