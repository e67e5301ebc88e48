//! The second factor: a sealed secret, the step of the last code that was used, and recovery codes as hashes.

use sea_orm::ConnectionTrait as _;
use serde_json::json;
use uuid::Uuid;

use super::User;
use super::credentials::{self, Kept};
use crate::Result;
use crate::changes::{self, Change, What, Who};
use crate::nouns::Users;

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
        let sql = "DELETE FROM totp_setup WHERE session_id = $1";
        let setup = self.store.statement(sql, [keep.session_id.into()]);
        let is_set_up = is_valid && transaction.execute_raw(setup).await?.rows_affected() > 0;
        if !is_set_up || !credentials::renew(&transaction, user, Some(keep)).await? {
            transaction.rollback().await?;
            return Ok(false);
        }
        let sql = "UPDATE user_account SET totp_secret = $1, totp_step = $2 WHERE id = $3";
        let set = self.store.statement(sql, [sealed.to_vec().into(), step.into(), user.id.into()]);
        transaction.execute_raw(set).await?;
        let former = self.store.statement("DELETE FROM recovery_code WHERE user_id = $1", [user.id.into()]);
        transaction.execute_raw(former).await?;
        for code in codes {
            let sql = "INSERT INTO recovery_code (user_id, hash) VALUES ($1, $2)";
            let code = self.store.statement(sql, [user.id.into(), code.to_vec().into()]);
            transaction.execute_raw(code).await?;
        }
        let change =
            Change::now(who, What::UserTotp, &user.email, Some(json!(word(user.has_totp))), json!("on"));
        changes::record(&transaction, &[change]).await?;
        transaction.commit().await?;
        Ok(true)
    }

    /// Removes a person's second factor, and ends everything that the old credentials opened, except the session of a
    /// person who removes their own. `false` when there is none, that session ended, or the credentials changed meanwhile.
    pub async fn remove_totp(self, who: &Who, user: &User, keep: Option<Kept>) -> Result<bool> {
        let transaction = self.store.begin().await?;
        let sql = "UPDATE user_account SET totp_secret = NULL WHERE id = $1 AND totp_secret IS NOT NULL";
        let removed = transaction.execute_raw(self.store.statement(sql, [user.id.into()])).await?;
        if removed.rows_affected() == 0 || !credentials::renew(&transaction, user, keep).await? {
            transaction.rollback().await?;
            return Ok(false);
        }
        let codes = self.store.statement("DELETE FROM recovery_code WHERE user_id = $1", [user.id.into()]);
        transaction.execute_raw(codes).await?;
        let change = Change::now(who, What::UserTotp, &user.email, Some(json!("on")), json!("off"));
        changes::record(&transaction, &[change]).await?;
        transaction.commit().await?;
        Ok(true)
    }

    /// Marks the code of this step as used; `false` when this code or a later one was used before.
    pub async fn spend_totp_step(self, user_id: Uuid, step: i64) -> Result<bool> {
        let sql = "UPDATE user_account SET totp_step = $1 WHERE id = $2 AND totp_step < $1";
        let spent =
            self.store.write.execute_raw(self.store.statement(sql, [step.into(), user_id.into()])).await?;
        Ok(spent.rows_affected() > 0)
    }

    /// Removes a recovery code; `false` when the person has none of this hash.
    pub async fn spend_recovery_code(self, user_id: Uuid, hash: &[u8; 32]) -> Result<bool> {
        let sql = "DELETE FROM recovery_code WHERE user_id = $1 AND hash = $2";
        let spend = self.store.statement(sql, [user_id.into(), hash.to_vec().into()]);
        Ok(self.store.write.execute_raw(spend).await?.rows_affected() > 0)
    }

    /// How many recovery codes a person has left.
    pub async fn recovery_codes_left(self, user_id: Uuid) -> Result<u64> {
        let sql = "SELECT COUNT(*) AS total FROM recovery_code WHERE user_id = $1";
        let row = self.store.row(sql, [user_id.into()]).await?;
        let total: i64 = row.map(|row| row.try_get("", "total")).transpose()?.unwrap_or_default();
        Ok(total.unsigned_abs())
    }
}

const fn word(has: bool) -> &'static str {
    if has { "on" } else { "off" }
}
