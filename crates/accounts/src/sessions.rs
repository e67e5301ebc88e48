//! Sessions: finding a session by the token of a cookie, listing and ending sessions, and their tokens for
//! programs.

use uuid::Uuid;

use super::devices::Devices;
use super::{Accounts, Error, Membership, Origin, Result, Session, User};
use clock::Timestamp;
use domain::page::{Page, PageRequest};
use domain::secret::Secret;
use store::users::credentials::Kept;
use store::users::sessions::{self, Bearer, Expiry};
use vault::api_key;

/// A new session, with the token for its cookie.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewSession {
    /// The token for the cookie. Only its hash is stored.
    pub token: Secret,
    /// The session.
    pub session: Session,
    /// The token for the cookie by which the device is known from now on; `None` when it is known already.
    pub device: Option<Secret>,
}

impl Accounts {
    /// Signs a person in who was authenticated by `proof`.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] when the person's credentials changed since, [`Error::Store`].
    pub(super) async fn open_session(&self, user: &User, origin: &Origin, proof: &str) -> Result<NewSession> {
        let token = api_key::generate_token();
        let new = sessions::NewSession {
            hash: api_key::hash(token.expose()),
            address: &origin.address.to_string(),
            browser: &origin.browser,
            proof,
        };
        let session = self.store().sessions().add(&origin.who(&user.email), user, new).await?;
        let session = session.ok_or(Error::Refused)?;
        let device = Devices(self).remember(user, origin).await;
        Ok(NewSession { token, session, device })
    }

    /// The session of the cookie with this token, if it is valid: not idle for 12 hours, not 30 days old, not
    /// ended.
    pub async fn session(&self, token: &str) -> Result<Option<Session>> {
        let now = Timestamp::now();
        let found = self.store().sessions().find(&api_key::hash(token), now).await?;
        if let Some(session) = &found {
            self.0.last_uses.note(self.store(), session.id, session.last_used_at, now);
        }
        Ok(found)
    }

    /// The session of the cookie with this token that is no longer valid although nobody ended it, and why. It opens
    /// nothing: with it, a person reads why they have to sign in, and finds what they typed again.
    pub async fn expired_session(&self, token: &str) -> Result<Option<(Session, Expiry)>> {
        Ok(self.store().sessions().expired(&api_key::hash(token), Timestamp::now()).await?)
    }

    /// Ends the session.
    pub async fn sign_out(&self, session: &Session, origin: &Origin) -> Result<()> {
        self.store().sessions().end(&origin.who(&session.user.email), &session.user, session.id).await?;
        Ok(())
    }

    /// A person's sessions, most recently used first.
    pub async fn sessions(&self, user: &User) -> Result<Vec<Session>> {
        Ok(self.store().sessions().of_user(user.id, Timestamp::now()).await?)
    }

    /// Ends a session of this person.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] when the person has none of this id, [`Error::Store`].
    pub async fn end_session(&self, user: &User, id: Uuid, origin: &Origin) -> Result<()> {
        let ended = self.store().sessions().end(&origin.who(&user.email), user, id).await?;
        if ended { Ok(()) } else { Err(Error::NotFound) }
    }

    /// Signs the person out everywhere except in this session, and makes links and tickets of the person worthless. Returns
    /// the session's new token, for its cookie.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] when the session ended or the credentials changed meanwhile, [`Error::Store`].
    pub async fn end_other_sessions(&self, session: &Session, origin: &Origin) -> Result<Secret> {
        let (token, keep) = keep(session);
        let who = origin.who(&session.user.email);
        let ended = self.store().users().end_other_sessions(&who, &session.user, keep).await?;
        if ended { Ok(token) } else { Err(Error::NotFound) }
    }

    /// A page of the companies that a person may use, by name: every company for an operator.
    pub async fn companies_of(
        &self,
        user: &User,
        page: PageRequest,
        search: Option<&str>,
    ) -> Result<Page<Membership>> {
        Ok(self.store().users().companies_of(user, page, search).await?)
    }

    /// Chooses the company of a session.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] when the person may not use it or it is disabled, [`Error::Store`].
    pub async fn choose_company(&self, session: &Session, company_id: Uuid) -> Result<Membership> {
        let company = self.store().users().membership(&session.user, company_id).await?;
        let company = company.filter(|company| !company.is_disabled).ok_or(Error::NotFound)?;
        self.store().sessions().choose_company(session.id, company_id).await?;
        Ok(company)
    }

    /// Creates a token with which programs read the contacts and tags of the chosen company as long as the
    /// session lasts. It replaces the token before. It is shown once, because only its hash is stored.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] when no company is chosen or the session ended, [`Error::Store`].
    pub async fn new_api_token(&self, session: &Session, origin: &Origin) -> Result<Secret> {
        let company = session.company.as_ref().ok_or(Error::NotFound)?;
        let token = api_key::generate_session_token();
        let hash = api_key::hash(token.expose());
        let who = origin.who(&session.user.email);
        let made = self.store().sessions().set_token(&who, session, company.company_id, &hash).await?;
        if made { Ok(token) } else { Err(Error::NotFound) }
    }

    /// The company whose contacts the bearer of this token may read. Using the token keeps the session from being idle.
    pub async fn bearer(&self, token: &str) -> Result<Option<Bearer>> {
        if !token.starts_with(api_key::SESSION_PREFIX) {
            return Ok(None);
        }
        let now = Timestamp::now();
        let Some(owner) = self.store().sessions().find_token(&api_key::hash(token), now).await? else {
            return Ok(None);
        };
        self.0.last_uses.note(self.store(), owner.session_id, owner.last_used_at, now);
        Ok(Some(owner))
    }
}

/// A new token for the session in which a person replaces their credentials: a thief of the old one is signed out.
pub(super) fn keep(session: &Session) -> (Secret, Kept) {
    let token = api_key::generate_token();
    let hash = api_key::hash(token.expose());
    (token, Kept { session_id: session.id, hash })
}
