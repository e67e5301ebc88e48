//! A report on a cluster: the owners of shards, how often they changed, and the state of the database server.

use std::time::{Duration, Instant};

use entity::channel::{Column, Entity};
use sea_orm::{EntityTrait as _, QueryOrder as _, QuerySelect as _};
use uuid::Uuid;

use super::owner::HAS_OWNER;
use crate::nouns::{Nodes, Shards};
use crate::{Error, Result, fetch, fetch_one};
use clock::Timestamp;
use domain::channel::Kind;

/// The values that decide where a channel runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The channel.
    pub channel: Uuid,
    /// Its kind.
    pub kind: Kind,
    /// The id of its business account, if it has one.
    pub account: Option<String>,
}

/// How often shards changed hands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Moves {
    /// Releases and claims of shards that were owned before.
    pub count: i64,
    /// When a shard last moved, by the database's clock.
    pub last: Option<Timestamp>,
}

/// The state of the database server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Server {
    /// The server's version.
    pub version: String,
    /// How long it took to answer.
    pub answers_in: Duration,
    /// Connections to this database, of every client.
    pub connections: i64,
    /// Connections that the server allows.
    pub most_connections: i64,
}

impl Shards<'_> {
    /// The owners of shards that have one.
    pub async fn owners(self) -> Result<Vec<(Uuid, Uuid)>> {
        let sql = format!("SELECT shard, node_id FROM channel_owner WHERE {HAS_OWNER}");
        fetch(&self.store.read, sql, []).await
    }

    /// How often shards changed hands.
    pub async fn moves(self) -> Result<Moves> {
        let sql = "SELECT COALESCE(SUM(epoch - 1), 0)::BIGINT, MAX(moved_at) FROM channel_owner";
        let (count, last): (i64, Option<i64>) =
            fetch_one(&self.store.read, sql, []).await?.unwrap_or_default();
        Ok(Moves { count, last: last.map(Timestamp::from_millis) })
    }
}

impl Nodes<'_> {
    /// The values that decide where each channel runs, the newest channel first.
    pub async fn places(self) -> Result<Vec<Place>> {
        let newest = Entity::find().order_by_desc(Column::CreatedAt).order_by_desc(Column::Id);
        let newest = newest.select_only().columns([Column::Id, Column::Kind, Column::WabaId]);
        let rows = newest.into_tuple::<(Uuid, String, Option<String>)>().all(&self.store.read).await?;
        rows.into_iter().map(place).collect()
    }

    /// The state of the server. Needs PostgreSQL.
    pub async fn server(self) -> Result<Server> {
        let sql = "SELECT current_setting('server_version'), current_setting('max_connections')::BIGINT, \
                   COALESCE((SELECT numbackends FROM pg_stat_database WHERE datname = current_database()), 0)::BIGINT";
        let asked = Instant::now();
        let row = fetch_one(&self.store.read, sql, []).await?;
        let answers_in = asked.elapsed();
        let (version, most_connections, connections) =
            row.ok_or_else(|| Error::Impossible("a SELECT without a table has no row".to_owned()))?;
        Ok(Server { version, answers_in, connections, most_connections })
    }
}

fn place((channel, kind, account): (Uuid, String, Option<String>)) -> Result<Place> {
    let kind = kind.parse().map_err(|_| Error::Impossible(format!("`{kind}` is no kind of channel")))?;
    Ok(Place { channel, kind, account })
}
