//! Signed-in browsers. A session is found by the hash of the token in its cookie. It is valid while it is neither idle
//! for too long nor too old; its token for programs is valid while the session is.

use std::time::Duration;

use entity::user_session::{Column, Entity, Model};
use sea_orm::sea_query::{Condition, Expr, ExprTrait as _};
use sea_orm::{ColumnTrait as _, EntityTrait as _, Insert, QueryFilter as _, QueryOrder as _, QueryResult};
use serde_json::json;
use uuid::Uuid;

use super::memberships::{Membership, role};
use super::{User, credentials};
use crate::changes::{self, What, Who};
use crate::looks::Look;
use crate::nouns::Sessions;
use crate::one_row::{delete_rows, update_rows};
use crate::{Result, Transaction, fetch_one, moment};
use clock::Timestamp;
use domain::phone::PhoneNumber;
use domain::user::{Language, Role};

/// How long a session may be idle.
pub const IDLE: Duration = Duration::from_secs(12 * 3_600);
/// The greatest age of a session.
pub const OLDEST: Duration = Duration::from_secs(30 * 24 * 3_600);
/// How long a session that was idle for too long is remembered: its person reads why it ended, and what they typed is kept.
const REMEMBERED: Duration = Duration::from_secs(7 * 24 * 3_600);

/// A session to add.
#[derive(Debug, Clone)]
pub struct NewSession<'a> {
    /// SHA-256 of the token in the cookie.
    pub hash: [u8; 32],
    /// The address of the request.
    pub address: &'a str,
    /// The browser's description of itself.
    pub browser: &'a str,
    /// The proof of identity, for the record of changes.
    pub proof: &'a str,
}

/// A valid session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    /// Time-ordered id.
    pub id: Uuid,
    /// The person.
    pub user: User,
    /// The chosen company; `None` when there is none, it is disabled, or the person may not use it any more.
    pub company: Option<Membership>,
    /// What its owners chose for its pages.
    pub look: Look,
    /// The person's own role in that company; `None` when only an operator's rights open it.
    pub own_role: Option<Role>,
    /// The time zone of most people in the company, for a person who chose none.
    pub company_zone: Option<String>,
    /// The person is an operator, and this is the session without an operator's rights.
    pub is_curbed: bool,
    /// When the person signed in.
    pub created_at: Timestamp,
    /// When the session was last used, to the minute.
    pub last_used_at: Timestamp,
    /// The address that the person signed in from.
    pub address: String,
    /// The browser's description of itself.
    pub browser: String,
    /// The company that the session's token for programs reads; `None` without such a token.
    pub token_company_id: Option<Uuid>,
}

impl Session {
    /// The session without the rights of an operator: with those of a member, where the person is one.
    #[must_use]
    pub fn without_operator(mut self) -> Self {
        if !self.user.is_operator {
            return self;
        }
        self.user.is_operator = false;
        self.is_curbed = true;
        let company = self.company.zip(self.own_role);
        self.company = company.map(|(company, role)| Membership { role, ..company });
        self
    }
}

/// Why a session that nobody ended is no longer valid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expiry {
    /// It was idle for [`IDLE`].
    Idle,
    /// It is older than [`OLDEST`].
    Old,
}

/// The person and company of a session's token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bearer {
    /// The session.
    pub session_id: Uuid,
    /// The folded e-mail of its person.
    pub email: String,
    /// The company.
    pub company_id: Uuid,
    /// The name of the company's tier.
    pub tier: String,
    /// Whether the person is a member of the company; otherwise only an operator's rights open it.
    pub is_member: bool,
    /// Whether the company is disabled, so that nobody comes in.
    pub is_company_disabled: bool,
    /// When the session was last used, to the minute.
    pub last_used_at: Timestamp,
}

const SELECT: &str =
    "SELECT user_session.id, user_session.user_id, user_session.company_id, user_session.created_at,
        last_used_at, address, browser, token_company_id, email, user_account.name, language, time_zone,
        is_operator, password, totp_secret, user_account.created_at AS added_at, credentials_version, vouched_by,
        user_account.phone_number, last_sign_in_at, company.name AS company_name, membership.role,
        company_look.name AS look_name, company_look.colour, company_look.logo_hash,
        CASE WHEN time_zone IS NULL THEN (
            SELECT others.time_zone FROM membership AS members
                JOIN user_account AS others ON others.id = members.user_id
            WHERE members.company_id = user_session.company_id AND others.time_zone IS NOT NULL
            GROUP BY others.time_zone ORDER BY count(*) DESC, others.time_zone LIMIT 1
        ) END AS company_zone
    FROM user_session JOIN user_account ON user_account.id = user_session.user_id
        LEFT JOIN company ON company.id = user_session.company_id AND company.disabled_at IS NULL
        LEFT JOIN company_look ON company_look.company_id = company.id
        LEFT JOIN membership ON membership.user_id = user_session.user_id
            AND membership.company_id = user_session.company_id
    WHERE user_account.disabled_at IS NULL AND last_used_at > $1 AND user_session.created_at > $2";

/// Reads a row of [`SELECT`].
fn read(row: &QueryResult) -> Result<Session> {
    let user = User {
        id: row.try_get("", "user_id")?,
        email: row.try_get("", "email")?,
        name: row.try_get("", "name")?,
        language: row.try_get::<Option<String>>("", "language")?.as_deref().and_then(Language::parse),
        time_zone: row.try_get("", "time_zone")?,
        is_operator: row.try_get::<i16>("", "is_operator")? != 0,
        has_password: row.try_get::<Option<String>>("", "password")?.is_some(),
        has_totp: row.try_get::<Option<Vec<u8>>>("", "totp_secret")?.is_some(),
        disabled_at: None,
        created_at: Timestamp::from_millis(row.try_get("", "added_at")?),
        credentials_version: row.try_get("", "credentials_version")?,
        vouched_by: row.try_get("", "vouched_by")?,
        phone_number: row.try_get::<Option<i64>>("", "phone_number")?.and_then(PhoneNumber::from_i64),
        last_sign_in_at: moment(row, "last_sign_in_at")?,
    };
    let own_role = row.try_get::<Option<String>>("", "role")?.as_deref().map(role).transpose()?;
    let role = if user.is_operator { Some(Role::Owner) } else { own_role };
    let company_id: Option<Uuid> = row.try_get("", "company_id")?;
    let company_name: Option<String> = row.try_get("", "company_name")?;
    let company = match (company_id, company_name, role) {
        (Some(company_id), Some(company_name), Some(role)) => {
            Some(Membership { company_id, company_name, role, is_disabled: false })
        }
        _ => None,
    };
    let look = Look {
        name: row.try_get("", "look_name")?,
        colour: row.try_get("", "colour")?,
        logo: row.try_get("", "logo_hash")?,
    };
    Ok(Session {
        id: row.try_get("", "id")?,
        user,
        company,
        look,
        own_role,
        company_zone: row.try_get("", "company_zone")?,
        is_curbed: false,
        created_at: Timestamp::from_millis(row.try_get("", "created_at")?),
        last_used_at: Timestamp::from_millis(row.try_get("", "last_used_at")?),
        address: row.try_get("", "address")?,
        browser: row.try_get("", "browser")?,
        token_company_id: row.try_get("", "token_company_id")?,
    })
}

/// The earliest last use and the earliest beginning of a valid session.
fn bounds(now: Timestamp) -> [i64; 2] {
    [now.minus(IDLE).millis(), now.minus(OLDEST).millis()]
}

/// Ends a person's sessions, except one, within a transaction.
pub(crate) async fn end_all(within: &Transaction, user_id: Uuid, keep: Option<Uuid>) -> Result<()> {
    // No session has the nil id.
    let others = Column::Id.ne(keep.unwrap_or_default());
    Entity::delete_many().filter(Column::UserId.eq(user_id)).filter(others).exec(within).await?;
    Ok(())
}

impl Sessions<'_> {
    /// Signs a person in, and removes expired sessions. The company is the one that the person chose last, else the
    /// only one they may use. `None` when the person is disabled, or their credentials changed since they were
    /// authenticated.
    pub async fn add(self, who: &Who, user: &User, new: NewSession<'_>) -> Result<Option<Session>> {
        let NewSession { hash, address, browser, proof } = new;
        let (id, now) = (Uuid::now_v7(), Timestamp::now());
        let company = self.company_to_begin_with(user).await?;
        let transaction = self.store.begin().await?;
        if !credentials::lock(&transaction, user.id, user.credentials_version).await? {
            return transaction.unchanged(None).await;
        }
        let row = Model {
            id,
            hash: hash.to_vec(),
            user_id: user.id,
            company_id: company.as_ref().map(|company| company.company_id),
            created_at: now.millis(),
            last_used_at: now.millis(),
            address: address.to_owned(),
            browser: browser.to_owned(),
            token_hash: None,
            token_company_id: None,
        };
        Insert::one(row).exec_without_returning(&transaction).await?;
        let [idle, oldest] = bounds(now.minus(REMEMBERED));
        let too_old = Column::UserId.eq(user.id).and(Column::CreatedAt.lte(oldest));
        let gone = Condition::any().add(Column::LastUsedAt.lte(idle)).add(too_old);
        Entity::delete_many().filter(gone).exec(&transaction).await?;
        let set = [("last_sign_in_at", now.millis().into())];
        update_rows(&transaction, "user_account", set, [("id", user.id.into())]).await?;
        let signed_in = json!({ "status": "signed in", "by": proof, "browser": browser });
        changes::record_one(&transaction, who, What::SignIn, &user.email, None, signed_in).await?;
        transaction.commit().await?;
        let own_role = company.as_ref().map(|company| company.role).filter(|_| !user.is_operator);
        Ok(Some(Session {
            id,
            user: User { last_sign_in_at: Some(now), ..user.clone() },
            company,
            look: Look::default(),
            own_role,
            company_zone: None,
            is_curbed: false,
            created_at: now,
            last_used_at: now,
            address: address.to_owned(),
            browser: browser.to_owned(),
            token_company_id: None,
        }))
    }

    async fn company_to_begin_with(self, user: &User) -> Result<Option<Membership>> {
        let last = Entity::find().filter(Column::UserId.eq(user.id)).filter(Column::CompanyId.is_not_null());
        let last = last.order_by_desc(Column::LastUsedAt).order_by_desc(Column::Id);
        let last = last.one(&self.store.read).await?;
        if let Some(company_id) = last.and_then(|session| session.company_id)
            && let Some(company) = self.store.users().membership(user, company_id).await?
            && !company.is_disabled
        {
            return Ok(Some(company));
        }
        let first = domain::page::PageRequest { page: 1, limit: 1 };
        let companies = self.store.users().companies_of(user, first, None).await?;
        let only = companies.total == 1;
        Ok(companies.records.into_iter().next().filter(|company| only && !company.is_disabled))
    }

    /// The session of the cookie with this hash, if it is valid.
    pub async fn find(self, hash: &[u8; 32], now: Timestamp) -> Result<Option<Session>> {
        let [idle, oldest] = bounds(now);
        let sql = format!("{SELECT} AND hash = $3");
        let row = self.store.row(sql, [idle.into(), oldest.into(), hash.to_vec().into()]).await?;
        row.as_ref().map(read).transpose()
    }

    /// The session of the cookie with this hash that is no longer valid although nobody ended it, and why. It opens
    /// nothing. `None` when it is valid, was ended, or is no longer remembered.
    pub async fn expired(self, hash: &[u8; 32], now: Timestamp) -> Result<Option<(Session, Expiry)>> {
        let sql = format!("{SELECT} AND hash = $3");
        let row = self.store.row(sql, [i64::MIN.into(), i64::MIN.into(), hash.to_vec().into()]).await?;
        let Some(session) = row.as_ref().map(read).transpose()? else { return Ok(None) };
        let [idle, oldest] = bounds(now);
        let expiry = match (session.last_used_at.millis() <= idle, session.created_at.millis() <= oldest) {
            (true, _) => Expiry::Idle,
            (false, true) => Expiry::Old,
            (false, false) => return Ok(None),
        };
        Ok(Some((session, expiry)))
    }

    /// A person's valid sessions, the latest used first.
    pub async fn of_user(self, user_id: Uuid, now: Timestamp) -> Result<Vec<Session>> {
        let [idle, oldest] = bounds(now);
        let sql = format!(
            "{SELECT} AND user_session.user_id = $3 ORDER BY last_used_at DESC, user_session.id DESC"
        );
        let values = [idle.into(), oldest.into(), user_id.into()];
        self.store.rows(sql, values).await?.iter().map(read).collect()
    }

    /// Ends a session of this person; `false` when there is none of this id.
    pub async fn end(self, who: &Who, user: &User, id: Uuid) -> Result<bool> {
        let transaction = self.store.begin().await?;
        let of = [("id", id.into()), ("user_id", user.id.into())];
        if delete_rows(&transaction, "user_session", of).await? == 0 {
            return transaction.unchanged(false).await;
        }
        let after = json!({ "session_id": id, "status": "ended" });
        changes::record_one(&transaction, who, What::Session, &user.email, None, after).await?;
        transaction.commit().await?;
        Ok(true)
    }

    /// Records that a session is used.
    pub async fn touch(self, id: Uuid, now: Timestamp) -> Result<()> {
        let used = Entity::update_many().col_expr(Column::LastUsedAt, Expr::value(now.millis()));
        let used = used.filter(Column::Id.eq(id)).filter(Column::LastUsedAt.lt(now.millis()));
        used.exec(&self.store.write).await?;
        Ok(())
    }

    /// Chooses the company that a session works with.
    pub async fn choose_company(self, session_id: Uuid, company_id: Uuid) -> Result<()> {
        let set = [("company_id", company_id.into())];
        update_rows(&self.store.write, "user_session", set, [("id", session_id.into())]).await?;
        Ok(())
    }

    /// Gives a session a token for programs, which reads this company and replaces an earlier token. `false` when the
    /// session ended.
    pub async fn set_token(
        self,
        who: &Who,
        session: &Session,
        company_id: Uuid,
        hash: &[u8; 32],
    ) -> Result<bool> {
        let transaction = self.store.begin().await?;
        let set = [("token_hash", hash.to_vec().into()), ("token_company_id", company_id.into())];
        if update_rows(&transaction, "user_session", set, [("id", session.id.into())]).await? == 0 {
            return transaction.unchanged(false).await;
        }
        let after = json!({ "session_id": session.id, "status": "token made", "company_id": company_id });
        changes::record_one(&transaction, who, What::Session, &session.user.email, None, after).await?;
        transaction.commit().await?;
        Ok(true)
    }

    /// The company that the token of this hash reads; `None` once its session is not valid, or its person may no longer
    /// use the company, or became an agent, who sees conversations alone.
    pub async fn find_token(self, hash: &[u8; 32], now: Timestamp) -> Result<Option<Bearer>> {
        let [idle, oldest] = bounds(now);
        let sql = "SELECT user_session.id, user_account.email, token_company_id, last_used_at, tier, membership.role, company.disabled_at
            FROM user_session JOIN user_account ON user_account.id = user_session.user_id
                JOIN company ON company.id = token_company_id
                LEFT JOIN membership ON membership.user_id = user_session.user_id
                    AND membership.company_id = token_company_id
            WHERE token_hash = $3 AND user_account.disabled_at IS NULL
                AND last_used_at > $1 AND user_session.created_at > $2
                AND (is_operator = 1 OR membership.role <> 'agent')";
        let values = [idle.into(), oldest.into(), hash.to_vec().into()];
        type BearerRow = (Uuid, String, Uuid, i64, String, Option<String>, Option<i64>);
        let bearer = fetch_one::<BearerRow>(&self.store.read, sql, values).await?;
        Ok(bearer.map(|(session_id, email, company_id, last_used_at, tier, role, disabled_at)| Bearer {
            session_id,
            email,
            company_id,
            tier,
            is_member: role.is_some(),
            is_company_disabled: disabled_at.is_some(),
            last_used_at: Timestamp::from_millis(last_used_at),
        }))
    }
}
