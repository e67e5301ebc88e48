//! Invitations: adding the invited person, or giving a person who has an account another company.
//!
//! An invitation ends with its inviter's rights, and an invitation of a member who is removed or demoted ends with the
//! member's role: nobody comes back by a link from before.

use serde_json::json;
use uuid::Uuid;

use super::links::{self, Link};
use super::{NewUser, User, credentials, memberships};
use crate::changes::{self, What, Who};
use crate::nouns::Links;
use crate::one_row::update_rows;
use crate::{Error, Result, Transaction, execute, users};
use clock::Timestamp;
use domain::user::{Email, Language};

/// The choices of an invited person.
#[derive(Debug, Clone, Copy)]
pub struct Accepted<'a> {
    /// The person's display name.
    pub name: &'a str,
    /// Hash of the password.
    pub password: &'a str,
    /// The language of pages.
    pub language: Option<Language>,
    /// The time zone of the person's browser.
    pub time_zone: Option<&'a str>,
}

/// Makes changes of a company's members take turns. It comes first in a transaction, so that none waits for another in a
/// circle.
async fn lock_company(within: &Transaction, link: &Link) -> Result<()> {
    if let Some(company) = &link.company {
        memberships::lock(within, company.company_id).await?;
    }
    Ok(())
}

/// Ends what a person who loses a role left behind in a company, within a transaction: the invitations to it that are for
/// them, with any author, and those that they made and may not make any more.
pub(super) async fn end(within: &Transaction, user: &User, company_id: Uuid) -> Result<()> {
    let sql = "DELETE FROM link WHERE purpose = 'invitation' AND company_id = $1
        AND (email = $2 OR inviter_id = $3 AND NOT EXISTS (SELECT 1 FROM user_account AS inviter
            WHERE inviter.id = $3 AND (inviter.is_operator = 1 OR EXISTS (SELECT 1 FROM membership
                WHERE membership.user_id = inviter.id AND membership.company_id = $1
                    AND membership.role = 'owner'))))";
    let values = [company_id.into(), user.email.as_str().into(), user.id.into()];
    execute(within, sql, values).await?;
    Ok(())
}

impl Links<'_> {
    /// Invitations that are valid and were not used yet, the newest first: those to this company, or all.
    pub async fn invitations(self, company_id: Option<Uuid>, now: Timestamp) -> Result<Vec<Link>> {
        let mut values = vec![now.millis().into()];
        let mut sql = format!("{} AND purpose = 'invitation'", links::SELECT);
        if let Some(company_id) = company_id {
            sql.push_str(" AND company_id = $2");
            values.push(company_id.into());
        }
        sql.push_str(" ORDER BY link.id DESC");
        let rows = self.store.rows(sql, values).await?;
        rows.iter().map(links::read).collect()
    }

    /// Withdraws an invitation, to this company if one is given; `false` when there is none of this id.
    pub async fn withdraw_invitation(self, who: &Who, company_id: Option<Uuid>, id: Uuid) -> Result<bool> {
        let open = self.invitations(company_id, Timestamp::now()).await?;
        let Some(link) = open.into_iter().find(|link| link.id == id) else { return Ok(false) };
        let transaction = self.store.begin().await?;
        if !self.spend(&transaction, &link).await? {
            return transaction.unchanged(false).await;
        }
        let before = json!({ "purpose": link.purpose.as_str() });
        changes::record_one(&transaction, who, What::Link, &link.email, Some(before), json!("withdrawn"))
            .await?;
        transaction.commit().await?;
        Ok(true)
    }

    /// Adds the person that an invitation is for; `None` when it was used before, or is no longer valid.
    ///
    /// # Errors
    ///
    /// [`Error::Taken`] when there is such a person already.
    pub async fn accept_invitation(
        self,
        who: &Who,
        link: &Link,
        accepted: Accepted<'_>,
    ) -> Result<Option<User>> {
        let transaction = self.store.begin().await?;
        lock_company(&transaction, link).await?;
        if !self.spend(&transaction, link).await? {
            return transaction.unchanged(None).await;
        }
        let email = Email::parse(&link.email)
            .map_err(|_| Error::Impossible(format!("link {} is for no e-mail address", link.id)))?;
        let new = NewUser {
            email: &email,
            name: accepted.name,
            password: Some(accepted.password),
            language: accepted.language,
            time_zone: accepted.time_zone,
            is_operator: link.is_operator,
            membership: link.company.as_ref().map(|company| (company.company_id, company.role)),
            vouched_by: link.vouched_by,
        };
        let user = users::add(&transaction, who, new).await?;
        transaction.commit().await?;
        Ok(Some(user))
    }

    /// Gives an existing person the rights of an invitation. `false` when it was used before or is no longer valid, and when
    /// the person's credentials changed since they were authenticated.
    pub async fn join(self, who: &Who, link: &Link, user: &User) -> Result<bool> {
        let transaction = self.store.begin().await?;
        lock_company(&transaction, link).await?;
        let is_person = credentials::lock(&transaction, user.id, user.credentials_version).await?;
        if !is_person || !self.spend(&transaction, link).await? {
            return transaction.unchanged(false).await;
        }
        if let Some(company) = &link.company {
            memberships::raise(&transaction, who, user, company.company_id, company.role).await?;
        }
        if link.is_operator && !user.is_operator {
            let set = [("is_operator", 1_i16.into())];
            update_rows(&transaction, "user_account", set, [("id", user.id.into())]).await?;
            let [before, after] = [false, true].map(|is| json!({ "is_operator": is }));
            changes::record_one(&transaction, who, What::User, &user.email, Some(before), after).await?;
        }
        transaction.commit().await?;
        Ok(true)
    }
}
