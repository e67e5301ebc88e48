//! Notes: messages of a node to the owner of a channel, or to all nodes, through the database.
//!
//! The owner of a channel removes a note once it has acted on it. A note to all nodes is read by each of them and
//! removed when it is old.

use std::time::Duration;

use sea_orm::ConnectionTrait;
use uuid::Uuid;

use super::owner::HAS_OWNER;
use super::{NOW, millis};
use crate::nouns::Notes;
use crate::one_row::{delete_rows, find_row};
use crate::{Result, execute, fetch, fetch_one};
use domain::send::State;

/// Notes that are read at once.
const AT_ONCE: u32 = 1_000;
/// How long a note to all nodes is kept. A node that did not renew its lease for this long is gone. A note to the owner
/// of a channel without an owner is removed at this age too: the store has its content.
const KEPT: Duration = Duration::from_secs(60);

/// The content of the note.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// Later notes have greater ids, but may become readable in another order.
    pub id: i64,
    /// The channel whose owner it is for; `None` when it is for every node.
    pub channel: Option<Uuid>,
    /// The content of the note.
    pub name: String,
    /// JSON.
    pub body: String,
}

/// A note to the owner of a send's channel, which is written in the transaction that changes the send: the owner learns
/// of the change even if the node that writes the note fails.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoteOfSend {
    /// As in [`Note::name`].
    pub name: &'static str,
    /// As in [`Note::body`].
    pub body: String,
}

impl Notes<'_> {
    /// Writes a note to the owner of the send's channel if the send is of this company and in this state. Returns the
    /// note's id.
    pub(crate) async fn add_of_send(
        self,
        connection: &impl ConnectionTrait,
        (company_id, send_id): (Uuid, Uuid),
        state: State,
        note: &NoteOfSend,
    ) -> Result<Option<i64>> {
        let sql = format!(
            "INSERT INTO node_note (channel_id, name, body, written_at) SELECT channel_id, $1, $2, {NOW} FROM send \
             WHERE id = $3 AND company_id = $4 AND state = $5 RETURNING id"
        );
        let values = [
            note.name.into(),
            (&*note.body).into(),
            send_id.into(),
            company_id.into(),
            state.as_i16().into(),
        ];
        fetch_one(connection, sql, values).await
    }

    /// Writes a note, and returns its id.
    pub async fn add(self, channel: Option<Uuid>, name: &str, body: &str) -> Result<i64> {
        let sql = format!(
            "INSERT INTO node_note (channel_id, name, body, written_at) VALUES ($1, $2, $3, {NOW}) RETURNING id"
        );
        let values = [channel.into(), name.into(), body.into()];
        let id = fetch_one(&self.store.write, sql, values).await?;
        id.ok_or_else(|| crate::Error::Impossible("a note has no id".to_owned()))
    }

    /// The notes to the owners of channels, and those to all nodes with a greater id than this; the oldest first.
    pub async fn after(self, behind: i64) -> Result<Vec<Note>> {
        let [owners, all] = ["IS NOT NULL", "IS NULL AND id > $1"].map(|channel| {
            format!(
                "(SELECT id, channel_id, name, body FROM node_note WHERE channel_id {channel} ORDER BY id LIMIT {AT_ONCE})"
            )
        });
        let sql = format!("{owners} UNION ALL {all}");
        let rows = fetch(&self.store.read, sql, [behind.into()]).await?;
        Ok(rows.into_iter().map(|(id, channel, name, body)| Note { id, channel, name, body }).collect())
    }

    /// Whether the owner has not acted on the note yet.
    pub async fn has(self, id: i64) -> Result<bool> {
        Ok(find_row::<i64>(&self.store.read, ("node_note", "id"), [("id", id.into())]).await?.is_some())
    }

    /// Removes a note to the owner of this shard that the node has acted on. Returns whether it did. A node that no
    /// longer owns the shard, and does not know that yet, removes nothing: the note is for the new owner.
    pub async fn remove_of_owner(self, id: i64, shard: Uuid, node: Uuid) -> Result<bool> {
        let sql = format!(
            "DELETE FROM node_note WHERE id = $1 AND EXISTS (SELECT 1 FROM channel_owner WHERE shard = $2 \
             AND node_id = $3 AND {HAS_OWNER})"
        );
        let done = execute(&self.store.write, sql, [id.into(), shard.into(), node.into()]).await?;
        Ok(done > 0)
    }

    /// Removes a note that no node has to act on.
    pub async fn remove(self, id: i64) -> Result<()> {
        delete_rows(&self.store.write, "node_note", [("id", id.into())]).await?;
        Ok(())
    }

    /// Removes the notes that are old.
    pub async fn remove_old(self) -> Result<()> {
        let sql = format!(
            "DELETE FROM node_note WHERE id IN (SELECT id FROM node_note WHERE written_at < {NOW} - $1 ORDER BY id \
             FOR UPDATE SKIP LOCKED)"
        );
        execute(&self.store.write, sql, [millis(KEPT).into()]).await?;
        Ok(())
    }
}
