//! The second factor: a sealed secret, the step of the last code that was used, and recovery codes as hashes.

use entity::user_account::{Column, Entity};
use sea_orm::sea_query::Expr;
use sea_orm::{ColumnTrait as _, EntityTrait as _, QueryFilter as _};
use serde_json::json;
use uuid::Uuid;

use super::User;
use super::credentials::{self, Kept};
use crate::Result;
use crate::changes::{self, What, Who};
use crate::nouns::Users;
use crate::one_row::{delete_rows, find_row, insert_row, update_rows};

impl Users<'_> {
    /// Replaces the second factor of a person who is signed in by the one that this session has set up, with these recovery
    /// codes, and ends everything that the old credentials opened, except this session. Codes up to `step` count as
    /// used. `false` when the setup is gone, the session ended, or the credentials changed meanwhile.
    pub async fn set_totp(
        self,
        who: &Who,
        user: &User,
        keep: Kept,
        sealed: &[u8],
        step: i64,
        codes: &[[u8; 32]],
    ) -> Result<bool> {
        let transaction = self.store.begin().await?;
        // The person is locked before what belongs to them, as everywhere.
        let is_valid = credentials::lock(&transaction, user.id, user.credentials_version).await?;
        let of = [("session_id", keep.session_id.into())];
        let is_set_up = is_valid && delete_rows(&transaction, "totp_setup", of).await? > 0;
        if !is_set_up || !credentials::renew(&transaction, user, Some(keep)).await? {
            return transaction.unchanged(false).await;
        }
        let set = [("totp_secret", sealed.to_vec().into()), ("totp_step", step.into())];
        update_rows(&transaction, "user_account", set, [("id", user.id.into())]).await?;
        delete_rows(&transaction, "recovery_code", [("user_id", user.id.into())]).await?;
        for code in codes {
            let row = [("user_id", user.id.into()), ("hash", code.to_vec().into())];
            insert_row(&transaction, "recovery_code", row).await?;
        }
        let before = Some(json!(word(user.has_totp)));
        changes::record_one(&transaction, who, What::UserTotp, &user.email, before, json!("on")).await?;
        transaction.commit().await?;
        Ok(true)
    }

    /// Removes a person's second factor, and ends everything that the old credentials opened, except the session of a
    /// person who removes their own. `false` when there is none, that session ended, or the credentials changed meanwhile.
    pub async fn remove_totp(self, who: &Who, user: &User, keep: Option<Kept>) -> Result<bool> {
        let transaction = self.store.begin().await?;
        let removal = Entity::update_many().col_expr(Column::TotpSecret, Expr::null());
        let removal = removal.filter(Column::Id.eq(user.id)).filter(Column::TotpSecret.is_not_null());
        let is_removed = removal.exec(&transaction).await?.rows_affected > 0;
        if !is_removed || !credentials::renew(&transaction, user, keep).await? {
            return transaction.unchanged(false).await;
        }
        delete_rows(&transaction, "recovery_code", [("user_id", user.id.into())]).await?;
        changes::record_one(&transaction, who, What::UserTotp, &user.email, Some(json!("on")), json!("off"))
            .await?;
        transaction.commit().await?;
        Ok(true)
    }

    /// Marks the code of this step as used; `false` when this code or a later one was used before.
    pub async fn spend_totp_step(self, user_id: Uuid, step: i64) -> Result<bool> {
        let spent = Entity::update_many().col_expr(Column::TotpStep, Expr::value(step));
        let spent = spent.filter(Column::Id.eq(user_id)).filter(Column::TotpStep.lt(step));
        Ok(spent.exec(&self.store.write).await?.rows_affected > 0)
    }

    /// Removes a recovery code; `false` when the person has none of this hash.
    pub async fn spend_recovery_code(self, user_id: Uuid, hash: &[u8; 32]) -> Result<bool> {
        let of = [("user_id", user_id.into()), ("hash", hash.to_vec().into())];
        Ok(delete_rows(&self.store.write, "recovery_code", of).await? > 0)
    }

    /// How many recovery codes a person has left.
    pub async fn recovery_codes_left(self, user_id: Uuid) -> Result<u64> {
        let of = [("user_id", user_id.into())];
        let left = find_row::<i64>(&self.store.read, ("recovery_code", "COUNT(*)"), of).await?;
        Ok(left.unwrap_or_default().cast_unsigned())
    }
}

const fn word(has: bool) -> &'static str {
    if has { "on" } else { "off" }
}
