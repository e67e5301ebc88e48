//! Links that are valid once, for a day: invitations, resets and sign-ins. Pombo sends no e-mail: people copy
//! the links.

use uuid::Uuid;

use super::{Accounts, Error, Origin, Result, SignedIn, User};
use clock::Timestamp;
use domain::secret::Secret;
use domain::user::{Email, Language, Role, check_password, name};
use store::changes::Who;
use store::looks::Look;
use store::users::links::{self, Link, Purpose};
use store::users::memberships::Membership;
use vault::api_key;

/// A person to invite.
#[derive(Debug, Clone, Copy)]
pub struct Invite<'a> {
    /// As it was typed.
    pub email: &'a str,
    /// The name that is suggested; may be empty.
    pub name: &'a str,
    /// The company, and the role in it.
    pub company: Option<(Uuid, Role)>,
    /// Whether the person becomes an operator of every company.
    pub is_operator: bool,
}

/// A new link. It is shown once, because only its hash is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewLink {
    /// The secret part of the link.
    pub token: Secret,
    /// When it ends.
    pub expires_at: Timestamp,
}

impl NewLink {
    /// The path of the link, below the address of the service.
    pub fn path(&self) -> String {
        format!("/console/link/{}", self.token.expose())
    }
}

/// The information about a link that its holder may see. It does not say whether the person of an invitation has an
/// account: the inviter holds the link too.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkInfo {
    /// The purpose.
    pub purpose: Purpose,
    /// The person's e-mail.
    pub email: String,
    /// The name that an invitation suggests; may be empty.
    pub name: String,
    /// The company that an invitation is to, or whose owner made the link.
    pub company: Option<Membership>,
    /// Whether an invitation makes an operator.
    pub is_operator: bool,
    /// What the owners of that company chose for its pages.
    pub look: Look,
    /// When it ends.
    pub expires_at: Timestamp,
}

/// The choices of a person who uses an invitation or a reset.
#[derive(Debug, Clone, Copy)]
pub struct Accept<'a> {
    /// The token of the link.
    pub token: &'a str,
    /// The display name of a person without an account. A reset ignores it.
    pub name: &'a str,
    /// The new password; for an invitation of a person with an account, the password of the account.
    pub password: &'a str,
    /// The language of pages for a person without an account; `None` for the browser's. A reset ignores it.
    pub language: Option<Language>,
    /// Where the request comes from.
    pub origin: &'a Origin,
}

impl Accounts {
    /// Invites a person. An earlier invitation of the same e-mail to the same company is revoked. The invitation ends when
    /// a person who made it loses the right to.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`]; [`Error::NotFound`] when a person may not give these rights; [`Error::Store`].
    pub async fn invite(&self, who: &Who, invite: Invite<'_>) -> Result<NewLink> {
        let Invite { email, name: suggested, company, is_operator } = invite;
        let email = Email::parse(email).map_err(Error::invalid("email"))?;
        let suggested = match suggested.trim() {
            "" => String::new(),
            text => name(text).map_err(Error::invalid("name"))?,
        };
        self.new_link(who, Purpose::Invitation, email.as_str(), &suggested, company, is_operator).await
    }

    /// Creates a link with which a person chooses a new password. The old password is valid until then.
    pub async fn reset(&self, who: &Who, user: &User) -> Result<NewLink> {
        self.new_link(who, Purpose::Reset, &user.email, &user.name, None, false).await
    }

    /// Creates a link with which a member of a company chooses a new password, for an owner of the company. The old password
    /// is valid until then.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] when the person is no member; [`Error::OperatorsOnly`] for an operator, for a disabled person, and
    /// for one who belongs to another company too, which the link would open; [`Error::Store`].
    pub async fn member_link(&self, who: &Who, company_id: Uuid, user_id: Uuid) -> Result<NewLink> {
        let members = self.members(company_id).await?;
        let member = members.into_iter().find(|member| member.user_id == user_id).ok_or(Error::NotFound)?;
        let company = Some((company_id, member.role));
        let made = self.new_link(who, Purpose::Reset, &member.email, &member.name, company, false).await;
        made.map_err(|error| if matches!(error, Error::NotFound) { Error::OperatorsOnly } else { error })
    }

    /// Makes the link of an open invitation to a company again: the earlier link ends.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] when there is none of this id, or the person may not give its rights; [`Error::Store`].
    pub async fn invite_again(&self, who: &Who, company_id: Uuid, id: Uuid) -> Result<NewLink> {
        let open = self.invitations(Some(company_id)).await?;
        let Link { email, name, company, is_operator, .. } =
            open.into_iter().find(|link| link.id == id).ok_or(Error::NotFound)?;
        let company = company.map(|company| (company.company_id, company.role));
        self.new_link(who, Purpose::Invitation, &email, &name, company, is_operator).await
    }

    /// Creates a link that signs a person in.
    pub async fn sign_in_link(&self, who: &Who, user: &User) -> Result<NewLink> {
        self.new_link(who, Purpose::SignIn, &user.email, &user.name, None, false).await
    }

    async fn new_link(
        &self,
        who: &Who,
        purpose: Purpose,
        email: &str,
        name: &str,
        company: Option<(Uuid, Role)>,
        is_operator: bool,
    ) -> Result<NewLink> {
        let token = api_key::generate_token();
        let hash = api_key::hash(token.expose());
        let new = links::NewLink { purpose, hash, email, name, company, is_operator };
        let expires_at = self.store().links().add(who, new).await?.ok_or(Error::NotFound)?;
        Ok(NewLink { token, expires_at })
    }

    /// The information about a link; `None` when it is unknown, used or expired. The call does not use the
    /// link.
    pub async fn link(&self, token: &str) -> Result<Option<LinkInfo>> {
        let Some(link) = self.find_link(token).await? else { return Ok(None) };
        let Link { purpose, email, name, company, is_operator, expires_at, .. } = link;
        let look = match &company {
            Some(company) => self.store().of(company.company_id).look().chosen().await?,
            None => Look::default(),
        };
        Ok(Some(LinkInfo { purpose, email, name, company, is_operator, look, expires_at }))
    }

    /// Uses an invitation or a reset, and signs the person in. A reset takes a new password. An invitation takes a new one
    /// from a person without an account, and the account's from another: see [`super::invitations`].
    ///
    /// # Errors
    ///
    /// [`Error::LinkGone`]. With the others the link stays valid: [`Error::Invalid`], [`Error::CommonPassword`];
    /// [`Error::Refused`] when the password is not that of the account; [`Error::TooMany`], [`Error::Store`].
    pub async fn accept(&self, accept: Accept<'_>) -> Result<SignedIn> {
        let link = self.find_link(accept.token).await?.ok_or(Error::LinkGone)?;
        check_password(accept.password).map_err(Error::invalid("password"))?;
        match link.purpose {
            Purpose::Invitation => self.accept_invitation(&link, accept).await,
            Purpose::Reset => self.accept_reset(&link, accept).await,
            Purpose::SignIn => Err(Error::LinkGone),
        }
    }

    async fn accept_reset(&self, link: &Link, accept: Accept<'_>) -> Result<SignedIn> {
        let Accept { password, origin, .. } = accept;
        let user = self.person_of(link).await?.ok_or(Error::LinkGone)?;
        if self.0.passwords.is_common(password, self.about(&user).await?).await? {
            return Err(Error::CommonPassword);
        }
        let hash = self.0.passwords.hash(password).await?;
        let who = origin.who(&user.email);
        let user =
            self.store().users().reset_password(&who, link, &user, &hash).await?.ok_or(Error::LinkGone)?;
        self.sign_in_proven(&user, origin, "reset").await
    }

    /// Uses a link that signs in.
    ///
    /// # Errors
    ///
    /// [`Error::LinkGone`], [`Error::Store`].
    pub async fn use_sign_in_link(&self, token: &str, origin: &Origin) -> Result<SignedIn> {
        let link = self.find_link(token).await?.ok_or(Error::LinkGone)?;
        let user = self.person_of(&link).await?.ok_or(Error::LinkGone)?;
        if link.purpose != Purpose::SignIn || !self.store().links().use_link(&link).await? {
            return Err(Error::LinkGone);
        }
        self.sign_in_proven(&user, origin, "link").await
    }

    /// Unused invitations to this company, or to all companies, newest first.
    pub async fn invitations(&self, company_id: Option<Uuid>) -> Result<Vec<Link>> {
        Ok(self.store().links().invitations(company_id, Timestamp::now()).await?)
    }

    /// Withdraws an invitation; if a company is given, only an invitation to it.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] when there is none of this id, [`Error::Store`].
    pub async fn withdraw_invitation(&self, who: &Who, company_id: Option<Uuid>, id: Uuid) -> Result<()> {
        let withdrawn = self.store().links().withdraw_invitation(who, company_id, id).await?;
        if withdrawn { Ok(()) } else { Err(Error::NotFound) }
    }

    pub(super) async fn find_link(&self, token: &str) -> Result<Option<Link>> {
        Ok(self.store().links().find(&api_key::hash(token), Timestamp::now()).await?)
    }

    /// The person that a link is for, unless they are disabled.
    async fn person_of(&self, link: &Link) -> Result<Option<User>> {
        let Ok(email) = Email::parse(&link.email) else { return Ok(None) };
        let found = self.store().users().find_by_email(&email).await?;
        Ok(found.filter(|user| user.disabled_at.is_none()))
    }
}
