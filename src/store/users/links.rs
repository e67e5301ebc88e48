//! Links that are valid once: invitations, resets of a password, and links that sign in. A used link is removed in the
//! transaction of its action, so that only one of two concurrent uses succeeds.

use std::time::Duration;

use sea_orm::{ConnectionTrait as _, FromQueryResult};
use serde_json::json;
use uuid::Uuid;

use super::memberships::{self, role};
use super::{NewUser, User};
use crate::clock::Timestamp;
use crate::domain::user::{Email, Language, Role};
use crate::store::changes::{self, Change, What, Who};
use crate::store::{Error, Result, Store, Transaction};

/// How long a link is valid.
pub const VALID: Duration = Duration::from_secs(24 * 3_600);

/// The purpose of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// A person is invited.
    Invitation,
    /// A person chooses a new password.
    Reset,
    /// A person is signed in.
    SignIn,
}

impl Purpose {
    const ALL: [Self; 3] = [Self::Invitation, Self::Reset, Self::SignIn];

    /// The word in answers and in the database.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Invitation => "invitation",
            Self::Reset => "reset",
            Self::SignIn => "sign_in",
        }
    }
}

/// A link to create.
#[derive(Debug, Clone)]
pub struct NewLink<'a> {
    /// Its purpose.
    pub purpose: Purpose,
    /// SHA-256 of its token.
    pub hash: [u8; 32],
    /// The person's e-mail address.
    pub email: &'a str,
    /// The name that an invitation suggests.
    pub name: &'a str,
    /// The company that an invitation is to, and the role that it gives.
    pub company: Option<(Uuid, Role)>,
    /// Whether an invitation makes an operator.
    pub is_operator: bool,
}

/// A link that was not used yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// Time-ordered id.
    pub id: Uuid,
    /// Its purpose.
    pub purpose: Purpose,
    /// The person's e-mail address.
    pub email: String,
    /// The name that an invitation suggests.
    pub name: String,
    /// The company that an invitation is to, its name, and the role that it gives.
    pub company: Option<memberships::Membership>,
    /// Whether an invitation makes an operator.
    pub is_operator: bool,
    /// Its author, as in the record of changes.
    pub made_by: String,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it expires.
    pub expires_at: Timestamp,
}

/// The choices of an invited person.
#[derive(Debug, Clone, Copy)]
pub struct Accepted<'a> {
    /// The person's display name.
    pub name: &'a str,
    /// Hash of the password.
    pub password: &'a str,
    /// The language of pages.
    pub language: Option<Language>,
}

#[derive(FromQueryResult)]
struct Row {
    id: Uuid,
    purpose: String,
    email: String,
    name: String,
    company_id: Option<Uuid>,
    company_name: Option<String>,
    role: Option<String>,
    is_operator: i16,
    made_by: String,
    created_at: i64,
    expires_at: i64,
}

const SELECT: &str =
    "SELECT link.id, purpose, email, link.name, company_id, company.name AS company_name, role,
        is_operator, made_by, link.created_at, expires_at
    FROM link LEFT JOIN company ON company.id = company_id
    WHERE expires_at > $1";

impl TryFrom<Row> for Link {
    type Error = Error;

    fn try_from(row: Row) -> Result<Self> {
        let purpose = Purpose::ALL.into_iter().find(|purpose| purpose.as_str() == row.purpose);
        let company = match (row.company_id, row.company_name, row.role) {
            (Some(company_id), Some(company_name), Some(word)) => {
                Some(memberships::Membership { company_id, company_name, role: role(&word)? })
            }
            _ => None,
        };
        Ok(Self {
            id: row.id,
            purpose: purpose.ok_or_else(|| Error::Impossible(format!("link for `{}`", row.purpose)))?,
            email: row.email,
            name: row.name,
            company,
            is_operator: row.is_operator != 0,
            made_by: row.made_by,
            created_at: Timestamp::from_millis(row.created_at),
            expires_at: Timestamp::from_millis(row.expires_at),
        })
    }
}

impl Store {
    /// Creates a link, which replaces another one of the same purpose for the same person (and company). Removes
    /// expired links.
    ///
    /// # Errors
    ///
    /// When the database fails.
    pub async fn add_link(&self, who: &Who, new: NewLink<'_>) -> Result<Timestamp> {
        let NewLink { purpose, hash, email, name, company, is_operator } = new;
        let now = Timestamp::now();
        let expires_at = now.plus(VALID);
        let (company_id, role) = company.unzip();
        let role = role.map(Role::as_str);
        let transaction = self.begin().await?;
        let ended = self.statement("DELETE FROM link WHERE expires_at <= $1", [now.millis().into()]);
        transaction.execute_raw(ended).await?;
        let sql = "DELETE FROM link WHERE email = $1 AND purpose = $2 AND company_id IS NOT DISTINCT FROM $3";
        let former = self.statement(sql, [email.into(), purpose.as_str().into(), company_id.into()]);
        transaction.execute_raw(former).await?;
        let sql = "INSERT INTO link (id, hash, purpose, email, name, company_id, role, is_operator, made_by,
                created_at, expires_at)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)";
        let values = [
            Uuid::now_v7().into(),
            hash.to_vec().into(),
            purpose.as_str().into(),
            email.into(),
            name.into(),
            company_id.into(),
            role.into(),
            i16::from(is_operator).into(),
            who.to_string().into(),
            now.millis().into(),
            expires_at.millis().into(),
        ];
        transaction.execute_raw(self.statement(sql, values)).await?;
        let mut after = json!({ "purpose": purpose.as_str(), "expires_at": expires_at });
        if purpose == Purpose::Invitation {
            after["company_id"] = json!(company_id);
            after["role"] = json!(role);
            after["is_operator"] = json!(is_operator);
        }
        changes::record(&transaction, &[Change::now(who, What::Link, email, None, after)]).await?;
        transaction.commit().await?;
        Ok(expires_at)
    }

    /// The link whose token has this hash, if it is neither used nor expired.
    ///
    /// # Errors
    ///
    /// When the database fails.
    pub async fn find_link(&self, hash: &[u8; 32], now: Timestamp) -> Result<Option<Link>> {
        let sql = format!("{SELECT} AND hash = $2");
        let row = self.row(sql, [now.millis().into(), hash.to_vec().into()]).await?;
        row.map(|row| Row::from_query_result(&row, "")?.try_into()).transpose()
    }

    /// Invitations that were not used yet, the newest first: those to this company, or all.
    ///
    /// # Errors
    ///
    /// When the database fails.
    pub async fn invitations(&self, company_id: Option<Uuid>, now: Timestamp) -> Result<Vec<Link>> {
        let mut values = vec![now.millis().into()];
        let mut sql = format!("{SELECT} AND purpose = 'invitation'");
        if let Some(company_id) = company_id {
            sql.push_str(" AND company_id = $2");
            values.push(company_id.into());
        }
        sql.push_str(" ORDER BY link.id DESC");
        let rows = self.rows(sql, values).await?;
        rows.iter().map(|row| Row::from_query_result(row, "")?.try_into()).collect()
    }

    /// Withdraws an invitation, to this company if one is given; `false` when there is none of this id.
    ///
    /// # Errors
    ///
    /// When the database fails.
    pub async fn withdraw_invitation(&self, who: &Who, company_id: Option<Uuid>, id: Uuid) -> Result<bool> {
        let open = self.invitations(company_id, Timestamp::now()).await?;
        let Some(link) = open.into_iter().find(|link| link.id == id) else { return Ok(false) };
        let transaction = self.begin().await?;
        if !self.spend(&transaction, &link).await? {
            transaction.rollback().await?;
            return Ok(false);
        }
        let before = json!({ "purpose": link.purpose.as_str() });
        let change = Change::now(who, What::Link, &link.email, Some(before), json!("withdrawn"));
        changes::record(&transaction, &[change]).await?;
        transaction.commit().await?;
        Ok(true)
    }

    /// Marks a link as used; `false` when it was used before.
    ///
    /// # Errors
    ///
    /// When the database fails.
    pub async fn use_link(&self, link: &Link) -> Result<bool> {
        let transaction = self.begin().await?;
        let used = self.spend(&transaction, link).await?;
        transaction.commit().await?;
        Ok(used)
    }

    /// Adds the person that an invitation is for; `None` when it was used before.
    ///
    /// # Errors
    ///
    /// [`Error::Taken`] when there is such a person already.
    pub async fn accept_invitation(
        &self,
        who: &Who,
        link: &Link,
        accepted: Accepted<'_>,
    ) -> Result<Option<User>> {
        let transaction = self.begin().await?;
        if !self.spend(&transaction, link).await? {
            transaction.rollback().await?;
            return Ok(None);
        }
        let email = Email::parse(&link.email)
            .map_err(|_| Error::Impossible(format!("link {} is for no e-mail address", link.id)))?;
        let new = NewUser {
            email: &email,
            name: accepted.name,
            password: Some(accepted.password),
            language: accepted.language,
            is_operator: link.is_operator,
            membership: link.company.as_ref().map(|company| (company.company_id, company.role)),
        };
        let user = super::add(&transaction, who, new).await?;
        transaction.commit().await?;
        Ok(Some(user))
    }

    /// Gives an existing person the rights of an invitation; `false` when it was used before.
    ///
    /// # Errors
    ///
    /// When the database fails.
    pub async fn join(&self, who: &Who, link: &Link, user: &User) -> Result<bool> {
        let transaction = self.begin().await?;
        if !self.spend(&transaction, link).await? {
            transaction.rollback().await?;
            return Ok(false);
        }
        if let Some(company) = &link.company {
            memberships::raise(&transaction, who, user, company.company_id, company.role).await?;
        }
        if link.is_operator && !user.is_operator {
            let sql = "UPDATE user_account SET is_operator = 1 WHERE id = $1";
            transaction.execute_raw(self.statement(sql, [user.id.into()])).await?;
            let operator = |is: bool| json!({ "is_operator": is });
            let change = Change::now(who, What::User, &user.email, Some(operator(false)), operator(true));
            changes::record(&transaction, &[change]).await?;
        }
        transaction.commit().await?;
        Ok(true)
    }

    /// Replaces the password of the person that a link is for, and ends their sessions; `false` when it was used
    /// before.
    ///
    /// # Errors
    ///
    /// When the database fails.
    pub async fn reset_password(&self, who: &Who, link: &Link, user: &User, password: &str) -> Result<bool> {
        let transaction = self.begin().await?;
        if !self.spend(&transaction, link).await? {
            transaction.rollback().await?;
            return Ok(false);
        }
        super::replace_password(&transaction, who, user, password, None).await?;
        transaction.commit().await?;
        Ok(true)
    }

    async fn spend(&self, within: &Transaction, link: &Link) -> Result<bool> {
        let spend = self.statement("DELETE FROM link WHERE id = $1", [link.id.into()]);
        Ok(within.execute_raw(spend).await?.rows_affected() > 0)
    }
}
