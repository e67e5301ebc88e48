//! What waits for a person's code: sign-ins after a correct password, and new second factors. They wait where every
//! node sees them, for [`PATIENCE`] by the database's clock.

use std::time::Duration;

use uuid::Uuid;

use super::{User, credentials};
use crate::dialect::now;
use crate::nouns::Users;
use crate::one_row::delete_rows;
use crate::{Result, Transaction, execute, fetch_one};

/// Time between the password and the code, and between setting up a second factor and confirming it.
pub const PATIENCE: Duration = Duration::from_secs(10 * 60);
/// The sign-ins of one person that wait for a code; the oldest makes room. Each needed the password.
const MOST_TICKETS: i64 = 10;

fn patience() -> i64 {
    i64::try_from(PATIENCE.as_millis()).unwrap_or(i64::MAX)
}

/// Ends what waits for a code of this person, within a transaction: it rests on credentials that are replaced.
pub(crate) async fn end_all(within: &Transaction, user_id: Uuid) -> Result<()> {
    for table in ["sign_in_ticket", "totp_setup"] {
        delete_rows(within, table, [("user_id", user_id.into())]).await?;
    }
    Ok(())
}

impl Users<'_> {
    /// Keeps a sign-in that waits for a code, by the hash of its ticket. `false` when the person is disabled, or the
    /// credentials changed since they were authenticated.
    pub async fn put_ticket(self, hash: &[u8; 32], user: &User) -> Result<bool> {
        let (user_id, now, transaction) = (user.id, now(self.store.backend), self.store.begin().await?);
        if !credentials::lock(&transaction, user_id, user.credentials_version).await? {
            return transaction.unchanged(false).await;
        }
        let sql = format!("INSERT INTO sign_in_ticket (hash, user_id, made_at) VALUES ($1, $2, {now})");
        execute(&transaction, sql, [hash.to_vec().into(), user_id.into()]).await?;
        let sql = format!(
            "DELETE FROM sign_in_ticket WHERE user_id = $1 AND (made_at <= {now} - $2 OR hash IN (
             SELECT hash FROM sign_in_ticket WHERE user_id = $1
             ORDER BY made_at DESC, hash LIMIT {} OFFSET {MOST_TICKETS}))",
            i64::MAX
        );
        execute(&transaction, sql, [user_id.into(), patience().into()]).await?;
        transaction.commit().await?;
        Ok(true)
    }

    /// The person whose sign-in waits for a code, unless the ticket has expired.
    pub async fn ticket(self, hash: &[u8; 32]) -> Result<Option<Uuid>> {
        let now = now(self.store.backend);
        let sql = format!("SELECT user_id FROM sign_in_ticket WHERE hash = $1 AND made_at > {now} - $2");
        fetch_one(&self.store.read, sql, [hash.to_vec().into(), patience().into()]).await
    }

    /// Uses a ticket up; `false` when it was used before.
    pub async fn use_ticket(self, hash: &[u8; 32]) -> Result<bool> {
        Ok(delete_rows(&self.store.write, "sign_in_ticket", [("hash", hash.to_vec().into())]).await? > 0)
    }

    /// Keeps a session's new second factor, sealed, until a code confirms it. It replaces an earlier one.
    pub async fn put_totp_setup(self, session_id: Uuid, user_id: Uuid, sealed: &[u8]) -> Result<()> {
        let (now, transaction) = (now(self.store.backend), self.store.begin().await?);
        self.store.lock_row(&transaction, "user_account", user_id).await?;
        let sql = format!(
            "INSERT INTO totp_setup (session_id, user_id, sealed, made_at) VALUES ($1, $2, $3, {now})
             ON CONFLICT (session_id) DO UPDATE SET sealed = excluded.sealed, made_at = excluded.made_at"
        );
        let values = [session_id.into(), user_id.into(), sealed.to_vec().into()];
        execute(&transaction, sql, values).await?;
        let sql = format!("DELETE FROM totp_setup WHERE user_id = $1 AND made_at <= {now} - $2");
        execute(&transaction, sql, [user_id.into(), patience().into()]).await?;
        transaction.commit().await?;
        Ok(())
    }

    /// A session's new second factor, sealed, unless it has expired.
    pub async fn totp_setup(self, session_id: Uuid) -> Result<Option<Vec<u8>>> {
        let now = now(self.store.backend);
        let sql = format!("SELECT sealed FROM totp_setup WHERE session_id = $1 AND made_at > {now} - $2");
        fetch_one(&self.store.read, sql, [session_id.into(), patience().into()]).await
    }
}
