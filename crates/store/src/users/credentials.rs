//! Replacing a person's credentials, and what ends with the old ones.
//!
//! The credentials have a version. A new password, a second factor that is set up, replaced or removed, signing out
//! everywhere, and disabling the person raise it. The same transaction ends the person's other sessions and deletes the
//! links that sign the person in or reset the password. Each proof of identity (a correct password, a link) is for the
//! version under which it was given, and opens nothing under another one.

use entity::link;
use entity::user_account::{Column, Entity};
use sea_orm::sea_query::{Expr, ExprTrait as _};
use sea_orm::{ColumnTrait as _, EntityTrait as _, QueryFilter as _};
use serde_json::json;
use uuid::Uuid;

use super::links::{Link, Purpose};
use super::{User, devices, sessions, waiting};
use crate::changes::{self, What, Who};
use crate::nouns::Users;
use crate::one_row::update_rows;
use crate::{Result, Transaction, fetch};

/// The session of a person who replaces their own credentials. It stays, with a new token.
#[derive(Debug, Clone, Copy)]
pub struct Kept {
    /// The session.
    pub session_id: Uuid,
    /// SHA-256 of its new token.
    pub hash: [u8; 32],
}

/// Locks a person's credentials until the end of the transaction; `false` when they are no longer of this version, or the
/// person is disabled.
pub(crate) async fn lock(within: &Transaction, user_id: Uuid, version: i64) -> Result<bool> {
    let lock = Entity::update_many().col_expr(Column::CredentialsVersion, Expr::value(version));
    let lock = lock.filter(Column::Id.eq(user_id)).filter(Column::CredentialsVersion.eq(version));
    Ok(lock.filter(Column::DisabledAt.is_null()).exec(within).await?.rows_affected > 0)
}

/// Raises the version of a person's credentials within a transaction, and ends what the old ones opened: sessions, their
/// tokens for programs, what waits for a code, links, and without `keep` known devices. With `keep`, the person changes
/// their own credentials: `false` when that session has ended, or the credentials changed since the person was
/// authenticated.
pub(crate) async fn renew(within: &Transaction, user: &User, keep: Option<Kept>) -> Result<bool> {
    if keep.is_some() && !lock(within, user.id, user.credentials_version).await? {
        return Ok(false);
    }
    let next = Expr::col(Column::CredentialsVersion).add(1);
    let raise = Entity::update_many().col_expr(Column::CredentialsVersion, next);
    if raise.filter(Column::Id.eq(user.id)).exec(within).await?.rows_affected == 0 {
        return Ok(false);
    }
    if let Some(Kept { session_id, hash }) = keep {
        let none = [("token_hash", None::<Vec<u8>>.into()), ("token_company_id", None::<Uuid>.into())];
        let set = [("hash", hash.to_vec().into())].into_iter().chain(none);
        let of = [("id", session_id.into()), ("user_id", user.id.into())];
        if update_rows(within, "user_session", set, of).await? == 0 {
            return Ok(false);
        }
    }
    sessions::end_all(within, user.id, keep.map(|kept| kept.session_id)).await?;
    waiting::end_all(within, user.id).await?;
    if keep.is_none() {
        // Somebody else may have signed in there.
        devices::forget(within, user.id).await?;
    }
    let links = link::Entity::delete_many().filter(link::Column::Email.eq(user.email.as_str()));
    links.filter(link::Column::Purpose.ne(Purpose::Invitation.as_str())).exec(within).await?;
    Ok(true)
}

async fn put_password(within: &Transaction, who: &Who, user: &User, hash: &str) -> Result<()> {
    let set = Entity::update_many().col_expr(Column::Password, Expr::value(hash));
    set.filter(Column::Id.eq(user.id)).exec(within).await?;
    let before = user.has_password.then(|| json!("set"));
    changes::record_one(within, who, What::UserPassword, &user.email, before, json!("replaced")).await
}

impl Users<'_> {
    /// Replaces the password of a person who is signed in, and ends everything that the old credentials opened, except this
    /// session. `false` when the session ended, or the credentials changed meanwhile.
    pub async fn set_password(self, who: &Who, user: &User, hash: &str, keep: Kept) -> Result<bool> {
        let transaction = self.store.begin().await?;
        if !renew(&transaction, user, Some(keep)).await? {
            return transaction.unchanged(false).await;
        }
        put_password(&transaction, who, user, hash).await?;
        transaction.commit().await?;
        Ok(true)
    }

    /// Replaces the password of the person that a link is for, and ends everything that the old credentials opened. The
    /// person with the new version; `None` when the link was used before, or the credentials changed since it was made.
    ///
    /// The company that invited the person no longer vouches for them when an operator made the link; the company of an
    /// owner who made it does from here on.
    pub async fn reset_password(
        self,
        who: &Who,
        link: &Link,
        user: &User,
        hash: &str,
    ) -> Result<Option<User>> {
        let transaction = self.store.begin().await?;
        // The person is locked before the link, as everywhere.
        let version = link.credentials_version.unwrap_or(user.credentials_version);
        let is_valid = lock(&transaction, user.id, version).await?
            && self.store.links().spend(&transaction, link).await?;
        if !is_valid || !renew(&transaction, user, None).await? {
            return transaction.unchanged(None).await;
        }
        put_password(&transaction, who, user, hash).await?;
        let set = Entity::update_many().col_expr(Column::VouchedBy, Expr::value(link.vouched_by));
        set.filter(Column::Id.eq(user.id)).exec(&transaction).await?;
        transaction.commit().await?;
        Ok(Some(User {
            has_password: true,
            credentials_version: version + 1,
            vouched_by: link.vouched_by,
            ..user.clone()
        }))
    }

    /// Signs a person out everywhere except in this session. `false` when the session ended, or the credentials changed
    /// meanwhile.
    pub async fn end_other_sessions(self, who: &Who, user: &User, keep: Kept) -> Result<bool> {
        let transaction = self.store.begin().await?;
        if !renew(&transaction, user, Some(keep)).await? {
            return transaction.unchanged(false).await;
        }
        let after = json!({ "session_id": keep.session_id, "status": "all others ended" });
        changes::record_one(&transaction, who, What::Session, &user.email, None, after).await?;
        transaction.commit().await?;
        Ok(true)
    }

    /// The names of the companies of a person, some if there are many: words that a password must not consist of.
    pub async fn company_names(self, user_id: Uuid) -> Result<Vec<String>> {
        let sql = "SELECT name FROM company JOIN membership ON company_id = company.id
            WHERE user_id = $1 ORDER BY membership.created_at LIMIT 10";
        fetch(&self.store.read, sql, [user_id.into()]).await
    }
}
