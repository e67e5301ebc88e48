//! Which node owns which channels: claims that one node at most can win, and releases.
//!
//! Channels are owned by the *shard*. A row changes hands only when it was released or when its owner's fence is
//! closed, so that of several nodes that claim it at the same time, the first one wins: the others find an owner whose
//! fence is open.

use uuid::Uuid;

use super::NOW;
use crate::dialect::{Rows, Type};
use crate::nouns::Shards;
use crate::{Lease, Result, execute, fetch, fetch_one};
use clock::Timestamp;

/// The owner of a shard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Owner {
    /// The channels that move together.
    pub shard: Uuid,
    /// The node.
    pub node: Uuid,
    /// How often the owner changed.
    pub epoch: i64,
}

const SHARD: &[(&str, Type)] = &[("shard", Type::Uuid)];
/// Whether the node that owns a row may still write.
pub(super) const HAS_OWNER: &str =
    "EXISTS (SELECT 1 FROM node_fence WHERE node_fence.node_id = channel_owner.node_id AND closed = 0)";

impl Shards<'_> {
    /// Claims those of these shards that have no owner, for the node that has this lease. Returns the shards that the
    /// node owns now.
    ///
    /// # Errors
    ///
    /// When the database fails; [`Error::Fenced`](crate::Error::Fenced) when its own fence is closed.
    pub async fn claim(self, lease: &Lease, shards: &[Uuid]) -> Result<Vec<Uuid>> {
        let Some(node) = lease.node() else { return Ok(Vec::new()) };
        let (wanted, values) = self.sorted(shards, 2);
        let sql = format!(
            "INSERT INTO channel_owner (shard, node_id, epoch, moved_at) \
             SELECT shard, $1, 1, {NOW} FROM {wanted} AS wanted ORDER BY shard \
             ON CONFLICT (shard) DO UPDATE SET node_id = excluded.node_id, epoch = channel_owner.epoch + 1, \
             moved_at = excluded.moved_at WHERE channel_owner.node_id = excluded.node_id OR NOT {HAS_OWNER} \
             RETURNING shard"
        );
        let transaction = self.store.begin_fenced(lease).await?;
        let won = fetch(&transaction, sql, [node.into()].into_iter().chain(values)).await?;
        transaction.commit().await?;
        Ok(won)
    }

    /// Releases these shards of the node that has this lease, once their channels have stopped. Before that, ends the
    /// messages that these channels put back in sends that were canceled or ended in the meantime.
    pub async fn release(self, lease: &Lease, shards: &[Uuid], now: Timestamp) -> Result<()> {
        let Some(node) = lease.node() else { return Ok(()) };
        self.store.sends().end_left_messages(now).await?;
        let (released, values) = self.sorted(shards, 2);
        let sql = format!(
            "UPDATE channel_owner SET node_id = NULL, epoch = epoch + 1, moved_at = {NOW} WHERE node_id = $1 \
             AND shard IN (SELECT shard FROM channel_owner WHERE node_id = $1 \
             AND shard IN (SELECT shard FROM {released} AS released) ORDER BY shard FOR UPDATE)"
        );
        let transaction = self.store.begin_fenced(lease).await?;
        execute(&transaction, sql, [node.into()].into_iter().chain(values)).await?;
        transaction.commit().await?;
        Ok(())
    }

    /// The node that owns this shard, if one does.
    pub async fn owner_of(self, shard: Uuid) -> Result<Option<Owner>> {
        let sql = format!("SELECT shard, node_id, epoch FROM channel_owner WHERE shard = $1 AND {HAS_OWNER}");
        let row = fetch_one(&self.store.read, sql, [shard.into()]).await?;
        Ok(row.map(|(shard, node, epoch)| Owner { shard, node, epoch }))
    }

    /// These shards, each once and in the order in which rows are locked.
    fn sorted(self, shards: &[Uuid], first: usize) -> (String, Vec<sea_orm::Value>) {
        let mut sorted = shards.to_vec();
        sorted.sort_unstable();
        sorted.dedup();
        let mut rows = Rows::new(self.store.backend, SHARD);
        sorted.into_iter().for_each(|shard| rows.push([shard.into()]));
        rows.select(first)
    }
}
