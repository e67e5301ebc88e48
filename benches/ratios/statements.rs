//! The speed of PostgreSQL itself: rows are gathered while one statement runs, and the next statement writes
//! them. The tables, their indexes and the connection are the service's, without its checks.

use std::time::Duration;

use pombo::config::Config;
use pombo::store::{self, Store};
use sea_orm::sqlx::postgres::{PgConnection, PgPoolOptions, Postgres};
use sea_orm::sqlx::{self, AssertSqlSafe, Pool};
use tokio::sync::{mpsc, oneshot};
use uuid::Uuid;

use crate::service::database_url;

/// The most rows of one statement, so that it fits into one write to the socket.
const MOST_ROWS: usize = 400;
/// Rows that may wait.
const WAITING: usize = 4_096;

/// An accepted request, and the caller that waits until it is durable.
pub(crate) struct Accepted {
    pub(crate) body: String,
    pub(crate) done: oneshot::Sender<()>,
}

/// A database of the server that the environment names, migrated; one connection to it. `None` on SQLite.
pub(crate) async fn database() -> Option<Pool<Postgres>> {
    std::env::var_os("POMBO_BENCH_POSTGRES")?;
    let url = database_url(&Config::default()).await;
    let options = store::Options {
        url: url.clone(),
        connections: 8,
        acquire_timeout: Duration::from_secs(5),
        statement_timeout: Duration::ZERO,
        synchronous_full: true,
        migrate: true,
    };
    Store::open(&options).await.unwrap().close().await;
    let plain = format!("{url}?sslmode=disable");
    Some(PgPoolOptions::new().max_connections(1).connect(&plain).await.unwrap())
}

/// Writes the incoming rows until all senders are gone, and returns the number of rows.
pub(crate) async fn accept(database: Pool<Postgres>, mut incoming: mpsc::Receiver<Accepted>) -> u64 {
    const SQL: &str = "INSERT INTO send (id, company_id, channel_id, state, content, recipients, recipient, high_water, \
                       settled, created_at) SELECT id, $3, $3, 1, content, 1, 5511988887777, 0, 0, 1 \
                       FROM UNNEST($1::uuid[], $2::text[]) AS incoming (id, content)";
    let (mut connection, of) = (database.acquire().await.unwrap(), Uuid::now_v7());
    let (mut accepted, mut rows) = (0, Vec::new());
    while incoming.recv_many(&mut rows, MOST_ROWS).await > 0 {
        let ids: Vec<_> = rows.iter().map(|_| Uuid::now_v7()).collect();
        let contents: Vec<_> = rows.iter().map(|row| row.body.as_str()).collect();
        run(&mut connection, sqlx::query(SQL).bind(ids).bind(contents).bind(of)).await;
        accepted += rows.len() as u64;
        for row in rows.drain(..) {
            let _ = row.done.send(());
        }
    }
    accepted
}

/// Writes incoming outcomes of one send's messages, by their ordinals, and the send's progress in one
/// statement. Ends when all senders are gone.
pub(crate) async fn record(database: Pool<Postgres>, mut incoming: mpsc::Receiver<u64>) {
    let (mut connection, send) = (database.acquire().await.unwrap(), Uuid::now_v7());
    let insert = "INSERT INTO send (id, company_id, channel_id, state, content, recipients, high_water, settled, created_at) \
                  VALUES ($1, $1, $1, 1, '{}', 1000000, 0, 0, 1)";
    run(&mut connection, sqlx::query(insert).bind(send)).await;
    let sql = "WITH written AS (INSERT INTO message (send_id, ordinal, company_id, recipient, state, attempts, \
               provider_message_id, taken_at, updated_at) SELECT $1, ordinal, $1, 5511900000000 + ordinal, 3, 1, name, 1, 1 \
               FROM UNNEST($2::bigint[], $3::text[]) AS incoming (ordinal, name)) \
               UPDATE send SET settled = $4, high_water = $4 WHERE id = $1";
    let (mut rows, mut settled) = (Vec::new(), 0_i64);
    while incoming.recv_many(&mut rows, MOST_ROWS).await > 0 {
        let ordinals: Vec<_> = rows.iter().map(|ordinal: &u64| ordinal.cast_signed()).collect();
        let name = "wamid.HBgLMTY0NjcwNDM1OTUVAgARGBI1RjQyNUE3NEYxMzAzMzQ5MkEA";
        let names = vec![name; rows.len()];
        settled += ordinals.len() as i64;
        let query = sqlx::query(AssertSqlSafe(sql)).bind(send).bind(ordinals).bind(names).bind(settled);
        run(&mut connection, query).await;
        rows.clear();
    }
}

/// A channel to a writer.
pub(crate) fn channel<T>() -> (mpsc::Sender<T>, mpsc::Receiver<T>) {
    mpsc::channel(WAITING)
}

type Query<'q> = sqlx::query::Query<'q, Postgres, sqlx::postgres::PgArguments>;

async fn run(connection: &mut PgConnection, query: Query<'_>) {
    query.execute(connection).await.unwrap();
}
