//! The nodes of a cluster, the end of each node's lease, and the state of its fence.
//!
//! All times are by the database's clock, which the nodes have in common. Everything here needs PostgreSQL.

mod join;
mod key;
mod note;
mod owner;
mod report;

use std::time::Duration;

use sea_orm::{ConnectionTrait, QueryResult};
use serde_json::json;
use uuid::Uuid;

pub(super) use self::join::refuse_other_protocols;
pub use self::join::{NewNode, PROTOCOL, Protocol};
pub use self::note::{Note, NoteOfSend};
pub use self::owner::Owner;
pub use self::report::{Moves, Place, Server};
use super::changes::{What, Who, record_one};
use super::{Error, Lease, Result, execute, fetch, fetch_one};
use crate::ledger::personal::OF_SEND;
use crate::nouns::Nodes;
use crate::one_row::{delete_rows, update_rows};
use clock::Timestamp;
use domain::send::State as SendState;

/// The database's clock in Unix milliseconds, at this moment and not at the transaction's beginning.
const NOW: &str = "(EXTRACT(EPOCH FROM clock_timestamp()) * 1000)::BIGINT";
/// How long rows of nodes are kept after their end.
const KEPT: Duration = Duration::from_secs(3_600);

/// The stage of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// It serves.
    Serving,
    /// It gives its channels away and takes no others.
    Draining,
    /// Its fence is closed, and its remains may have to be cleared up.
    Fenced,
    /// Its fence is closed, and its remains are cleared up.
    Gone,
}

impl Stage {
    /// The word that people and programs read.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Serving => "serving",
            Self::Draining => "draining",
            Self::Fenced | Self::Gone => "gone",
        }
    }

    const fn as_i16(self) -> i16 {
        match self {
            Self::Serving => 0,
            Self::Draining => 1,
            Self::Fenced => 2,
            Self::Gone => 3,
        }
    }

    fn from_i16(stored: i16) -> Result<Self> {
        let all = [Self::Serving, Self::Draining, Self::Fenced, Self::Gone];
        let found = all.into_iter().find(|stage| stage.as_i16() == stored);
        found.ok_or_else(|| Error::Impossible(format!("{stored} is no stage of a node")))
    }
}

/// A node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// The id of this process: a process that restarts is another node.
    pub id: Uuid,
    /// The cluster that it joined.
    pub cluster: String,
    /// Its name, for people.
    pub name: String,
    /// Its address.
    pub address: String,
    /// The version of the program.
    pub version: String,
    /// How much of the work it takes.
    pub cores: u32,
    /// When it joined.
    pub started_at: Timestamp,
    /// How long its lease lasts, in milliseconds; not above zero when it has lapsed.
    pub lapses_in: i64,
    /// Its stage.
    pub stage: Stage,
    /// Whether it lacks a sealing key of this database, and so takes no channels.
    pub lacks_key: bool,
    /// How far its clock is ahead of the database's, in milliseconds; `None` when it has not told.
    pub clock_ahead: Option<i64>,
}

impl Node {
    /// Whether it has its lease.
    pub const fn is_alive(&self) -> bool {
        matches!(self.stage, Stage::Serving | Stage::Draining) && self.lapses_in > 0
    }
}

/// The columns of a [`Node`] in the table.
const COLUMNS: &str =
    "id, cluster, name, address, version, cores, started_at, lapses_at, state, lacks_key, clock_ahead";

/// The columns of a [`Node`] in a query.
fn shown() -> String {
    COLUMNS.replace("lapses_at", &format!("lapses_at - {NOW} AS lapses_in"))
}

fn node(row: &QueryResult) -> Result<Node> {
    Ok(Node {
        id: row.try_get("", "id")?,
        cluster: row.try_get("", "cluster")?,
        name: row.try_get("", "name")?,
        address: row.try_get("", "address")?,
        version: row.try_get("", "version")?,
        cores: u32::try_from(row.try_get::<i64>("", "cores")?).unwrap_or(1),
        started_at: Timestamp::from_millis(row.try_get("", "started_at")?),
        lapses_in: row.try_get("", "lapses_in")?,
        stage: Stage::from_i16(row.try_get("", "state")?)?,
        lacks_key: row.try_get::<i16>("", "lacks_key")? != 0,
        clock_ahead: row.try_get("", "clock_ahead")?,
    })
}

impl Nodes<'_> {
    /// Renews the lease of this node, and reads the stages of the nodes that are not gone, this one first.
    ///
    /// # Errors
    ///
    /// [`Error::Fenced`] when its fence is closed.
    pub async fn renew(self, id: Uuid, lasts: Duration) -> Result<Vec<Node>> {
        let sql = format!(
            "WITH renewed AS (UPDATE node SET lapses_at = {NOW} + $2 WHERE id = $1 AND state < 2 RETURNING {COLUMNS}), \
             seen AS (SELECT 0 AS place, * FROM renewed UNION ALL \
             SELECT 1, {COLUMNS} FROM node WHERE id <> $1 AND state < 3) \
             SELECT {} FROM seen ORDER BY place, id",
            shown()
        );
        let statement = self.store.statement(sql, [id.into(), millis(lasts).into()]);
        let rows = self.store.write.query_all_raw(statement).await?;
        let nodes = rows.iter().map(node).collect::<Result<Vec<_>>>()?;
        if nodes.first().is_none_or(|first| first.id != id) {
            return Err(Error::Fenced);
        }
        Ok(nodes)
    }

    /// All nodes that are remembered, the oldest first.
    pub async fn all(self) -> Result<Vec<Node>> {
        let sql = format!("SELECT {} FROM node ORDER BY id", shown());
        self.store.rows(sql, []).await?.iter().map(node).collect()
    }

    /// Closes the fence of a node whose lease has lapsed, once its present writes are done. `false` when the lease has
    /// not lapsed, or the fence was closed before.
    pub async fn close_fence(self, id: Uuid) -> Result<bool> {
        // The node's row is changed first: the node's own renewal waits for that, and then finds the node fenced.
        self.close_fence_if(id, &format!("lapses_at <= {NOW}")).await
    }

    /// Gives up the node's lease: the node writes nothing from now on, and its shards are free.
    pub async fn leave(self, id: Uuid) -> Result<()> {
        self.close_fence_if(id, "TRUE").await.map(drop)
    }

    async fn close_fence_if(self, id: Uuid, holds: &str) -> Result<bool> {
        let sql = format!(
            "WITH over AS (UPDATE node SET state = $2 WHERE id = $1 AND state < 2 AND {holds} RETURNING id) \
             UPDATE node_fence SET closed = 1 WHERE node_id IN (SELECT id FROM over)"
        );
        let values = [id.into(), Stage::Fenced.as_i16().into()];
        Ok(execute(&self.store.write, sql, values).await? > 0)
    }

    /// Clears up after a fenced node: removes sends whose audience it was resolving, and its claims of idempotency
    /// keys, and ends the messages that its channels put back in canceled or expired sends. The call can be repeated,
    /// and made by several nodes at once.
    pub async fn clear_up_after(self, lease: &Lease, node: Uuid, now: Timestamp) -> Result<u64> {
        self.store.sends().end_left_messages(now).await?;
        let transaction = self.store.begin_fenced(lease).await?;
        let removed = self.remove_resolved_by_nobody(&transaction).await?;
        delete_rows(&transaction, "key_in_progress", [("node_id", node.into())]).await?;
        let of = [("id", node.into()), ("state", Stage::Fenced.as_i16().into())];
        update_rows(&transaction, "node", [("state", Stage::Gone.as_i16().into())], of).await?;
        transaction.commit().await?;
        self.remove_nodes().await?;
        Ok(removed)
    }

    /// Removes sends whose audience is not complete and that no node with an open fence completes.
    pub async fn remove_abandoned(self, lease: &Lease) -> Result<u64> {
        let transaction = self.store.begin_fenced(lease).await?;
        let removed = self.remove_resolved_by_nobody(&transaction).await?;
        transaction.commit().await?;
        Ok(removed)
    }

    async fn remove_resolved_by_nobody(self, to: &impl ConnectionTrait) -> Result<u64> {
        let abandoned = format!(
            "SELECT id FROM send WHERE state < 2 AND state = {} AND NOT EXISTS (SELECT 1 FROM node_fence \
             WHERE node_fence.node_id = send.resolver AND closed = 0)",
            SendState::Resolving.as_i16()
        );
        // Locked in the order of their ids, so that two nodes that clear up do not wait for each other.
        let locked = format!("{abandoned} ORDER BY id FOR UPDATE");
        let ids = fetch::<Uuid>(to, locked, []).await?;
        for id in &ids {
            for table in ["recipient_block", "send_source"].into_iter().chain(OF_SEND) {
                delete_rows(to, table, [("send_id", (*id).into())]).await?;
            }
            delete_rows(to, "send", [("id", (*id).into())]).await?;
        }
        Ok(ids.len() as u64)
    }

    async fn remove_nodes(self) -> Result<()> {
        let gone = format!(
            "SELECT id FROM node WHERE state = {} AND lapses_at < {NOW} - {}",
            Stage::Gone.as_i16(),
            KEPT.as_millis()
        );
        for (table, key) in [("node_fence", "node_id"), ("node", "id")] {
            execute(&self.store.write, format!("DELETE FROM {table} WHERE {key} IN ({gone})"), []).await?;
        }
        Ok(())
    }

    /// Asks a node to give its channels away and to take no others; `false` when it does not serve (any more).
    pub async fn drain(self, who: &Who, id: Uuid) -> Result<bool> {
        self.change_stage(who, id, Stage::Serving, Stage::Draining).await
    }

    /// Lets a node that drains take channels again; `false` when it does not serve (any more).
    pub async fn undrain(self, who: &Who, id: Uuid) -> Result<bool> {
        self.change_stage(who, id, Stage::Draining, Stage::Serving).await
    }

    /// Changes the stage of a node that serves, and records that; nothing changes unless the stage is `from`. Returns
    /// `false` when the node does not serve (any more).
    async fn change_stage(self, who: &Who, id: Uuid, from: Stage, to: Stage) -> Result<bool> {
        let transaction = self.store.begin().await?;
        let sql = "SELECT name, state FROM node WHERE id = $1 AND state < 2 FOR UPDATE";
        let row = fetch_one::<(String, i16)>(&transaction, sql, [id.into()]).await?;
        let Some((name, state)) = row else { return Ok(false) };
        if Stage::from_i16(state)? == from {
            update_rows(&transaction, "node", [("state", to.as_i16().into())], [("id", id.into())]).await?;
            let [before, after] = [from, to].map(|stage| json!({ "name": name, "state": stage.as_str() }));
            record_one(&transaction, who, What::Node, id, Some(before), after).await?;
        }
        transaction.commit().await?;
        Ok(true)
    }
}

fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}
