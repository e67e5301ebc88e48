//! What people change about themselves: their name, language, time zone and own number.

use super::{Accounts, Error, Language, Origin, Result, Session};
use domain::phone::PhoneNumber;
use domain::user::{name, time_zone};

/// What people change about themselves.
#[derive(Clone, Copy)]
pub struct OwnProfile<'a>(&'a Accounts);

impl<'a> OwnProfile<'a> {
    /// The profiles of these people.
    pub const fn of(accounts: &'a Accounts) -> Self {
        Self(accounts)
    }

    /// Changes a person's display name, language and time zone.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`], [`Error::Store`].
    pub async fn set(
        self,
        session: &Session,
        shown: &str,
        language: Option<Language>,
        zone: Option<&str>,
        origin: &Origin,
    ) -> Result<()> {
        let shown = name(shown).map_err(Error::invalid("name"))?;
        let zone = zone.map(time_zone).transpose().map_err(Error::invalid("time_zone"))?;
        let who = origin.who(&session.user.email);
        let users = self.0.store().users();
        users.set_profile(&who, &session.user, &shown, language, zone.as_deref()).await?;
        Ok(())
    }

    /// Sets a person's own number, to which they get tests of sends; `None` removes it.
    pub async fn set_phone_number(
        self,
        session: &Session,
        number: Option<PhoneNumber>,
        origin: &Origin,
    ) -> Result<()> {
        let who = origin.who(&session.user.email);
        self.0.store().users().set_phone_number(&who, &session.user, number).await?;
        Ok(())
    }
}
