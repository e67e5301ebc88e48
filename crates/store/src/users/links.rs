//! Links that are valid once: invitations, resets of a password, and links that sign in. A used link is removed in the
//! transaction of its action, so that only one of two concurrent uses succeeds.
//!
//! An invitation is valid while its inviter may give its rights; another link, while the person's credentials are those
//! that they had when it was made. A link that an owner made for a member is valid while the owner is one, and while the
//! person is no operator and belongs to that company alone: it opens nothing of another company. All this is checked at
//! each use, in the statement that finds or removes the link.

use std::time::Duration;

use entity::link::{Column, Entity, Model};
use entity::user_account;
use sea_orm::{ColumnTrait as _, EntityTrait as _, Insert, QueryFilter as _, QueryResult};
use serde_json::json;
use uuid::Uuid;

use super::memberships::{self, role};
use crate::changes::{self, What, Who};
use crate::nouns::Links;
use crate::{Error, Result, Transaction, execute, fetch_one};
use clock::Timestamp;
use domain::user::Role;

/// How long a link is valid.
pub const VALID: Duration = Duration::from_secs(24 * 3_600);

domain::worded! {
    /// The purpose of a link.
    pub enum Purpose {
        /// A person is invited.
        Invitation = "invitation",
        /// A person chooses a new password.
        Reset = "reset",
        /// A person is signed in.
        SignIn = "sign_in",
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
    /// The company that an invitation is to, and the role that it gives; for another link, the company whose owner makes it
    /// for a member, with the member's role.
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
    /// The company of [`NewLink::company`], with its name.
    pub company: Option<memberships::Membership>,
    /// Whether an invitation makes an operator.
    pub is_operator: bool,
    /// Its author, as in the record of changes.
    pub made_by: String,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it expires.
    pub expires_at: Timestamp,
    /// The version of the person's credentials when the link was made; `None` for an invitation.
    pub credentials_version: Option<i64>,
    /// The company that vouches for a person whom an owner invites; `None` when an operator invites.
    pub vouched_by: Option<Uuid>,
}

/// Whether a link is still valid, beside its time.
macro_rules! valid {
    () => {
        "(inviter_id IS NULL OR EXISTS (SELECT 1 FROM user_account AS inviter
            WHERE inviter.id = link.inviter_id AND inviter.disabled_at IS NULL
                AND (inviter.is_operator = 1 OR link.is_operator = 0 AND EXISTS (SELECT 1 FROM membership
                    WHERE membership.user_id = inviter.id AND membership.company_id = link.company_id
                        AND membership.role = 'owner'))))
        AND (purpose = 'invitation' OR EXISTS (SELECT 1 FROM user_account AS person
            WHERE person.email = link.email AND person.disabled_at IS NULL
                AND person.credentials_version = link.credentials_version
                AND (link.company_id IS NULL OR person.is_operator = 0
                    AND EXISTS (SELECT 1 FROM membership
                        WHERE membership.user_id = person.id AND membership.company_id = link.company_id)
                    AND NOT EXISTS (SELECT 1 FROM membership
                        WHERE membership.user_id = person.id AND membership.company_id <> link.company_id))))"
    };
}

pub(super) const SELECT: &str = concat!(
    "SELECT link.id, purpose, email, link.name, company_id, company.name AS company_name, role,
        is_operator, made_by, link.created_at, expires_at, credentials_version,
        CASE WHEN (SELECT inviter.is_operator FROM user_account AS inviter WHERE inviter.id = link.inviter_id) = 0
            THEN company_id END AS vouched_by
    FROM link LEFT JOIN company ON company.id = company_id
    WHERE expires_at > $1 AND ",
    valid!()
);
/// Removes a link that is valid.
const SPEND: &str = concat!("DELETE FROM link WHERE id = $1 AND expires_at > $2 AND ", valid!());

/// Reads a row of [`SELECT`].
pub(super) fn read(row: &QueryResult) -> Result<Link> {
    let purpose: String = row.try_get("", "purpose")?;
    let company_id: Option<Uuid> = row.try_get("", "company_id")?;
    let company_name: Option<String> = row.try_get("", "company_name")?;
    let word: Option<String> = row.try_get("", "role")?;
    let company = match (company_id, company_name, word) {
        (Some(company_id), Some(company_name), Some(word)) => {
            Some(memberships::Membership { company_id, company_name, role: role(&word)?, is_disabled: false })
        }
        _ => None,
    };
    Ok(Link {
        id: row.try_get("", "id")?,
        purpose: purpose.parse().map_err(|_| Error::Impossible(format!("link for `{purpose}`")))?,
        email: row.try_get("", "email")?,
        name: row.try_get("", "name")?,
        company,
        is_operator: row.try_get::<i16>("", "is_operator")? != 0,
        made_by: row.try_get("", "made_by")?,
        created_at: Timestamp::from_millis(row.try_get("", "created_at")?),
        expires_at: Timestamp::from_millis(row.try_get("", "expires_at")?),
        credentials_version: row.try_get("", "credentials_version")?,
        vouched_by: row.try_get("", "vouched_by")?,
    })
}

impl Links<'_> {
    /// Creates a link, which replaces another one of the same purpose for the same person (and company). Removes
    /// expired links. Returns when the link expires; `None` when a person makes it who may not, and when an owner makes it
    /// for a person who is not of that company alone.
    pub async fn add(self, who: &Who, new: NewLink<'_>) -> Result<Option<Timestamp>> {
        let NewLink { purpose, hash, email, name, company, is_operator } = new;
        let now = Timestamp::now();
        let expires_at = now.plus(VALID);
        let (company_id, role) = company.unzip();
        let role = role.map(Role::as_str);
        let transaction = self.store.begin().await?;
        let inviter_id = match who {
            Who::User { email, .. } if purpose == Purpose::Invitation || company_id.is_some() => {
                let Some(id) = self.inviter(&transaction, email, company_id, is_operator).await? else {
                    return transaction.unchanged(None).await;
                };
                Some(id)
            }
            _ => None,
        };
        let version = match purpose {
            Purpose::Invitation => None,
            Purpose::Reset | Purpose::SignIn => self.version_of(&transaction, email).await?,
        };
        if let Some(company_id) = company_id.filter(|_| purpose != Purpose::Invitation)
            && !self.is_of(&transaction, email, company_id).await?
        {
            return transaction.unchanged(None).await;
        }
        let expired = Column::ExpiresAt.lte(now.millis());
        Entity::delete_many().filter(expired).exec(&transaction).await?;
        let former = Entity::delete_many().filter(Column::Email.eq(email));
        let former = former.filter(Column::Purpose.eq(purpose.as_str()));
        former.filter(Column::CompanyId.eq(company_id)).exec(&transaction).await?;
        let row = Model {
            id: Uuid::now_v7(),
            hash: hash.to_vec(),
            purpose: purpose.as_str().to_owned(),
            email: email.to_owned(),
            name: name.to_owned(),
            company_id,
            role: role.map(str::to_owned),
            is_operator: is_operator.into(),
            made_by: who.to_string(),
            created_at: now.millis(),
            expires_at: expires_at.millis(),
            credentials_version: version,
            inviter_id,
        };
        Insert::one(row).exec_without_returning(&transaction).await?;
        let mut after = json!({ "purpose": purpose.as_str(), "expires_at": expires_at });
        if company_id.is_some() || purpose == Purpose::Invitation {
            after["company_id"] = json!(company_id);
        }
        if purpose == Purpose::Invitation {
            after["role"] = json!(role);
            after["is_operator"] = json!(is_operator);
        }
        changes::record_one(&transaction, who, What::Link, email, None, after).await?;
        transaction.commit().await?;
        Ok(Some(expires_at))
    }

    /// The person who invites, if they may give these rights.
    async fn inviter(
        self,
        within: &Transaction,
        email: &str,
        company_id: Option<Uuid>,
        is_operator: bool,
    ) -> Result<Option<Uuid>> {
        let sql = "SELECT id FROM user_account WHERE email = $1 AND disabled_at IS NULL
            AND (is_operator = 1 OR $2 = 0 AND EXISTS (SELECT 1 FROM membership
                WHERE membership.user_id = user_account.id AND company_id = $3 AND role = 'owner'))";
        let values = [email.into(), i16::from(is_operator).into(), company_id.into()];
        fetch_one(within, sql, values).await
    }

    /// Whether the person with this e-mail may sign in, is no operator, and belongs to this company alone.
    async fn is_of(self, within: &Transaction, email: &str, company_id: Uuid) -> Result<bool> {
        let sql = "SELECT COUNT(*) FROM user_account AS person
            WHERE email = $1 AND disabled_at IS NULL AND is_operator = 0
                AND EXISTS (SELECT 1 FROM membership WHERE user_id = person.id AND company_id = $2)
                AND NOT EXISTS (SELECT 1 FROM membership WHERE user_id = person.id AND company_id <> $2)";
        let found = fetch_one::<i64>(within, sql, [email.into(), company_id.into()]).await?;
        Ok(found.is_some_and(|found| found > 0))
    }

    /// The version of the credentials of the person with this e-mail.
    async fn version_of(self, within: &Transaction, email: &str) -> Result<Option<i64>> {
        let person = user_account::Entity::find().filter(user_account::Column::Email.eq(email));
        Ok(person.one(within).await?.map(|person| person.credentials_version))
    }

    /// The link whose token has this hash, if it is neither used nor expired.
    pub async fn find(self, hash: &[u8; 32], now: Timestamp) -> Result<Option<Link>> {
        let sql = format!("{SELECT} AND hash = $2");
        let row = self.store.row(sql, [now.millis().into(), hash.to_vec().into()]).await?;
        row.as_ref().map(read).transpose()
    }

    /// Marks a link as used; `false` when it was used before, or is no longer valid.
    pub async fn use_link(self, link: &Link) -> Result<bool> {
        let transaction = self.store.begin().await?;
        let used = self.spend(&transaction, link).await?;
        transaction.commit().await?;
        Ok(used)
    }

    /// Removes a link within the transaction of its use; `false` when it was used, has expired or is no longer valid.
    pub(super) async fn spend(self, within: &Transaction, link: &Link) -> Result<bool> {
        Ok(execute(within, SPEND, [link.id.into(), Timestamp::now().millis().into()]).await? > 0)
    }
}
