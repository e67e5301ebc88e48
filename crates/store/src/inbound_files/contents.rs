//! Whether a name in the store of files is in use. Files of the library and files that people sent share names, so whoever
//! begins to use a name, or decides to delete what is under it, holds the lock of the company.

use sea_orm::ConnectionTrait;
use uuid::Uuid;

use super::{KEPT, LEAVING, WAITING};
use crate::{Result, Store, fetch_one};

impl Store {
    /// Holds the lock of a company's contents until the transaction ends.
    pub(crate) async fn lock_contents(&self, within: &impl ConnectionTrait, company: Uuid) -> Result<()> {
        // On SQLite, one transaction writes at a time.
        if !self.locking().is_empty() {
            let sql = format!("SELECT id FROM company WHERE id = $1{}", self.locking());
            fetch_one::<Uuid>(within, sql, [company.into()]).await?;
        }
        Ok(())
    }
}

/// Whether a person's file has this content, or is about to have it. With `but`, another one than that.
pub(crate) async fn is_used_by_inbound(
    within: &impl ConnectionTrait,
    (company, digest): (Uuid, &[u8]),
    but: Uuid,
) -> Result<bool> {
    let sql = format!(
        "SELECT message_id FROM inbound_file WHERE company_id = $1 AND digest = $2 AND message_id <> $3
         AND state IN ({WAITING}, {KEPT}) LIMIT 1"
    );
    let values = [company.into(), digest.to_vec().into(), but.into()];
    Ok(fetch_one::<Uuid>(within, sql, values).await?.is_some())
}

/// Whether this content of a person's file is being deleted.
pub(crate) async fn is_going_from_inbound(
    within: &impl ConnectionTrait,
    (company, digest): (Uuid, &[u8]),
) -> Result<bool> {
    let sql = format!(
        "SELECT message_id FROM inbound_file WHERE company_id = $1 AND digest = $2 AND digest IS NOT NULL
         AND state >= {LEAVING} LIMIT 1"
    );
    Ok(fetch_one::<Uuid>(within, sql, [company.into(), digest.to_vec().into()]).await?.is_some())
}
