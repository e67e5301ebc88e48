//! The devices that people signed in on before, each known by the hash of the token in its cookie. A token is no proof
//! of identity: it only gives the device's guesses an allowance of their own.

use std::time::Duration;

use uuid::Uuid;

use crate::dialect::now;
use crate::nouns::Users;
use crate::one_row::{delete_rows, find_row};
use crate::{Result, Transaction, execute, fetch_one};

/// How long after its last sign-in a device is known.
pub const KNOWN: Duration = Duration::from_secs(180 * 24 * 3_600);
/// The most devices of a person; the one that was used least recently makes room. Each device has an allowance of
/// guesses, so there must not be many.
const MOST: i64 = 20;

fn known() -> i64 {
    i64::try_from(KNOWN.as_millis()).unwrap_or(i64::MAX)
}

/// Forgets a person's devices, within a transaction.
pub(crate) async fn forget(within: &Transaction, user_id: Uuid) -> Result<()> {
    delete_rows(within, "known_device", [("user_id", user_id.into())]).await?;
    Ok(())
}

impl Users<'_> {
    /// The person of this e-mail, if they signed in on the device with this hash before.
    pub async fn person_of_device(self, email: &str, hash: &[u8; 32]) -> Result<Option<Uuid>> {
        let sql = format!(
            "SELECT user_id FROM known_device JOIN user_account ON user_account.id = user_id
             WHERE email = $1 AND hash = $2 AND last_used_at > {} - $3",
            now(self.store.backend)
        );
        fetch_one(&self.store.read, sql, [email.into(), hash.to_vec().into(), known().into()]).await
    }

    /// Whether anybody signed in on the device with this hash.
    pub async fn is_device(self, hash: &[u8; 32]) -> Result<bool> {
        let of = [("hash", hash.to_vec().into())];
        Ok(find_row::<Uuid>(&self.store.read, ("known_device", "user_id"), of).await?.is_some())
    }

    /// Notes that a person signed in on the device with this hash.
    pub async fn remember_device(self, user_id: Uuid, hash: &[u8; 32]) -> Result<()> {
        let transaction = self.store.begin().await?;
        // Several rows change at once, in no certain order.
        self.store.lock_row(&transaction, "user_account", user_id).await?;
        let sql = format!(
            "INSERT INTO known_device (user_id, hash, last_used_at) VALUES ($1, $2, {})
             ON CONFLICT (user_id, hash) DO UPDATE SET last_used_at = excluded.last_used_at",
            now(self.store.backend)
        );
        execute(&transaction, sql, [user_id.into(), hash.to_vec().into()]).await?;
        let sql = format!(
            "DELETE FROM known_device WHERE user_id = $1 AND hash IN (SELECT hash FROM known_device
             WHERE user_id = $1 ORDER BY last_used_at DESC, hash LIMIT {} OFFSET {MOST})",
            i64::MAX
        );
        execute(&transaction, sql, [user_id.into()]).await?;
        transaction.commit().await?;
        Ok(())
    }
}
