//! Idempotency keys whose requests run on a node of a cluster, so that no other node accepts the same request at the
//! same time.

use uuid::Uuid;

use crate::nouns::Nodes;
use crate::one_row::{delete_rows, update_rows};
use crate::{Result, execute};

impl Nodes<'_> {
    /// Takes a company's key for this node; `false` while another node whose fence is open has it.
    pub async fn claim_key(self, node: Uuid, company_id: Uuid, key: &str) -> Result<bool> {
        let sql = "INSERT INTO key_in_progress (company_id, key, node_id) VALUES ($1, $2, $3) \
                   ON CONFLICT (company_id, key) DO UPDATE SET node_id = excluded.node_id \
                   WHERE key_in_progress.node_id = excluded.node_id OR NOT EXISTS (SELECT 1 FROM node_fence \
                   WHERE node_fence.node_id = key_in_progress.node_id AND closed = 0)";
        let values = [company_id.into(), key.into(), node.into()];
        Ok(execute(&self.store.write, sql, values).await? > 0)
    }

    /// Moves a company's key from the node that has it to another one; `false` when that node does not have it (any
    /// more).
    pub async fn move_key(self, from: Uuid, to: Uuid, company_id: Uuid, key: &str) -> Result<bool> {
        let of = [("company_id", company_id.into()), ("key", key.into()), ("node_id", from.into())];
        Ok(update_rows(&self.store.write, "key_in_progress", [("node_id", to.into())], of).await? > 0)
    }

    /// Lets other nodes take the key.
    pub async fn release_key(self, node: Uuid, company_id: Uuid, key: &str) -> Result<()> {
        let of = [("company_id", company_id.into()), ("key", key.into()), ("node_id", node.into())];
        delete_rows(&self.store.write, "key_in_progress", of).await?;
        Ok(())
    }
}
