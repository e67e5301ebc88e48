//! People, their password, and the members of companies.

use std::collections::HashMap;

use uuid::Uuid;

use super::sessions::keep;
use super::strength::About;
use super::{Accounts, Error, Member, Membership, Origin, Result, Session, User};
use domain::page::{Page, PageRequest};
use domain::secret::Secret;
use domain::user::{Email, Role, check_password, name};
use store::changes::Who;
use store::users::NewUser;
use store::users::memberships::Changed;

/// A person to add without an invitation.
#[derive(Debug, Clone, Copy)]
pub struct Create<'a> {
    /// As it was typed.
    pub email: &'a str,
    /// The person's display name.
    pub name: &'a str,
    /// The first password; with `None`, the person chooses one with a link.
    pub password: Option<&'a str>,
    /// The company, and the role in it.
    pub company: Option<(Uuid, Role)>,
    /// Whether the person is an operator of every company.
    pub is_operator: bool,
}

impl Accounts {
    /// Adds a person.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`], [`Error::CommonPassword`], [`Error::Exists`], [`Error::TooMany`], [`Error::Store`].
    pub async fn create(&self, who: &Who, create: Create<'_>) -> Result<User> {
        let email = Email::parse(create.email).map_err(Error::invalid("email"))?;
        let name = name(create.name).map_err(Error::invalid("name"))?;
        let password = match create.password {
            Some(password) => {
                check_password(password).map_err(Error::invalid("password"))?;
                let company = match create.company {
                    Some((id, _)) => self.store().companies().find(id).await?.map(|company| company.name),
                    None => None,
                };
                let about = About::new(email.as_str(), &name, company);
                if self.0.passwords.is_common(password, about).await? {
                    return Err(Error::CommonPassword);
                }
                Some(self.0.passwords.hash(password).await?)
            }
            None => None,
        };
        let new = NewUser {
            email: &email,
            name: &name,
            password: password.as_deref(),
            language: None,
            time_zone: None,
            is_operator: create.is_operator,
            membership: create.company,
            vouched_by: None,
        };
        self.store().users().add(who, new).await.map_err(|error| match error {
            store::Error::Taken(_) => Error::Exists,
            other => other.into(),
        })
    }

    /// A page of all people, by e-mail; `search` is matched in e-mail and name.
    pub async fn users(&self, page: PageRequest, search: Option<&str>) -> Result<Page<User>> {
        Ok(self.store().users().page(page, search).await?)
    }

    /// The companies of each of these people that they are members of, by name.
    pub async fn companies_of_each(&self, users: &[User]) -> Result<HashMap<Uuid, Vec<Membership>>> {
        let ids: Vec<_> = users.iter().map(|user| user.id).collect();
        Ok(self.store().users().companies_of_each(&ids).await?)
    }

    /// The person of this id.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`], [`Error::Store`].
    pub async fn user(&self, id: Uuid) -> Result<User> {
        self.store().users().find(id).await?.ok_or(Error::NotFound)
    }

    /// The person of this e-mail, as it was typed.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`], [`Error::NotFound`], [`Error::Store`].
    pub async fn user_by_email(&self, email: &str) -> Result<User> {
        let email = Email::parse(email).map_err(Error::invalid("email"))?;
        self.store().users().find_by_email(&email).await?.ok_or(Error::NotFound)
    }

    /// Disables a person, and ends their sessions, links and invitations; or lets them sign in again. Returns whether that
    /// changed anything.
    pub async fn set_disabled(&self, who: &Who, user: &User, disabled: bool) -> Result<bool> {
        Ok(self.store().users().set_disabled(who, user, disabled).await?)
    }

    /// Replaces the password of a person who enters the old one again, and ends all their other sessions. Returns the
    /// session's new token, for its cookie.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] when the old password is wrong or the credentials changed meanwhile, [`Error::Invalid`],
    /// [`Error::CommonPassword`], [`Error::TooMany`], [`Error::Store`].
    pub async fn change_password(
        &self,
        session: &Session,
        current: &str,
        new: &str,
        origin: &Origin,
    ) -> Result<Secret> {
        check_password(new).map_err(Error::invalid("password"))?;
        self.check_password(session, current, origin).await?;
        if self.0.passwords.is_common(new, self.about(&session.user).await?).await? {
            return Err(Error::CommonPassword);
        }
        let hash = self.0.passwords.hash(new).await?;
        let (token, keep) = keep(session);
        let who = origin.who(&session.user.email);
        let changed = self.store().users().set_password(&who, &session.user, &hash, keep).await?;
        if changed { Ok(token) } else { Err(Error::Refused) }
    }

    /// What an attacker who knows the person tries first.
    pub(super) async fn about(&self, user: &User) -> Result<About> {
        Ok(About::new(&user.email, &user.name, self.store().users().company_names(user.id).await?))
    }

    /// Removes the second factor of a person who lost it, for an operator.
    pub async fn forget_totp(&self, who: &Who, user: &User) -> Result<bool> {
        Ok(self.store().users().remove_totp(who, user, None).await?)
    }

    /// The members of a company, by e-mail.
    pub async fn members(&self, company_id: Uuid) -> Result<Vec<Member>> {
        Ok(self.store().of(company_id).members().all().await?)
    }

    /// Gives a member another role. With a lesser one, the invitations that the member made or was given end.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] when the person is not a member, [`Error::LastOwner`], [`Error::Store`].
    pub async fn set_role(&self, who: &Who, company_id: Uuid, user_id: Uuid, role: Role) -> Result<()> {
        let user = self.user(user_id).await?;
        done(self.store().of(company_id).members().set_role(who, &user, role).await?)
    }

    /// Removes a member from a company, and ends the invitations to it that the member made or was given.
    ///
    /// # Errors
    ///
    /// Those of [`Accounts::set_role`].
    pub async fn remove_member(&self, who: &Who, company_id: Uuid, user_id: Uuid) -> Result<()> {
        let user = self.user(user_id).await?;
        done(self.store().of(company_id).members().remove(who, &user).await?)
    }
}

const fn done(changed: Changed) -> Result<()> {
    match changed {
        Changed::Done => Ok(()),
        Changed::NoMember => Err(Error::NotFound),
        Changed::LastOwner => Err(Error::LastOwner),
    }
}
