//! The endpoints that programs set for channels which are gone: nobody would think of removing them.

use uuid::Uuid;

use crate::changes::Who;
use crate::nouns::Webhooks;
use crate::{Result, Transaction, fetch};
use domain::webhook::{InAccount, SetFor};

impl Webhooks<'_> {
    /// Removes the endpoints that programs set for channels of which none is left, in the transaction that removes the last one.
    /// `true` when there was any: then the readers of the log are others.
    pub(crate) async fn remove_orphans(self, within: &Transaction, who: &Who) -> Result<bool> {
        let sql = "SELECT id, set_for, channels FROM webhook_endpoint \
                   WHERE company_id = $1 AND set_for IS NOT NULL ORDER BY id";
        let set = fetch::<(Uuid, String, String)>(within, sql, [self.company.into()]).await?;
        if set.is_empty() {
            return Ok(false);
        }
        let sql = "SELECT id, waba_id FROM channel WHERE company_id = $1";
        let left: Vec<InAccount> = fetch(within, sql, [self.company.into()]).await?;
        let mut is_any = false;
        for (id, set_for, bound) in set {
            // What another version wrote stays.
            let (Ok(set_for), Ok(bound)) =
                (set_for.parse::<SetFor>(), serde_json::from_str::<Vec<Uuid>>(&bound))
            else {
                continue;
            };
            if set_for.is_orphan(&bound, &left) {
                is_any |= self.remove_within(within, who, id).await?;
            }
        }
        Ok(is_any)
    }
}
