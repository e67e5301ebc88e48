//! Connections that do not wait forever for a database that is gone.
//!
//! PostgreSQL itself ends a statement that takes too long. But when its machine or the network is gone, no answer comes
//! at all: the driver would wait forever, for an answer and for a connection to be returned. So a caller gives up a
//! little after the server would have. It also gives up a moment after another server, started at another time, has
//! answered on a new connection: the old server's statements will never be answered.
//!
//! SQLite always answers, so its statements pass through.

mod binary;

use std::fmt::Write as _;
use std::future::pending;
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::time::Duration;

use parking_lot::Mutex;
use sea_orm::sqlx::postgres::{PgConnection, PgPoolOptions, Postgres};
use sea_orm::sqlx::{self, AssertSqlSafe, Connection as _, Row as _};
use sea_orm::{
    ConnectionTrait, DatabaseConnection, DatabaseTransaction, DbBackend, DbErr, ExecResult, QueryResult,
    RuntimeErr, Statement, TransactionOptions, TransactionTrait as _,
};
use tokio::sync::watch;
use tokio::time::{Instant, sleep, timeout};

/// A connection that was idle for this long is tested before it is used.
pub(super) const IDLE: Duration = Duration::from_secs(1);
/// The time that a statement still gets after another server has taken over: it may be one of the first on the new
/// server.
pub(super) const GRACE: Duration = Duration::from_secs(1);
/// How long connections are tested before each use and after each return, once a caller gave up waiting for an answer
/// or a connection broke.
const DOUBT: Duration = Duration::from_secs(10);

/// A pool, or the one connection that writes to SQLite. Clones share it.
#[derive(Clone, Debug)]
pub(super) struct Pool(Arc<Connected>);

#[derive(Debug)]
struct Connected {
    connections: DatabaseConnection,
    line: AwaitedServer,
    /// Bytes of the longest statement that leaves at once.
    one_piece: usize,
    /// Batches of messages that are still written as if some of them had rows.
    cautious: AtomicU32,
}

/// A transaction on a connection of a [`Pool`].
#[derive(Debug)]
pub(super) struct Transaction {
    transaction: DatabaseTransaction,
    line: AwaitedServer,
}

/// The server that callers wait for.
#[derive(Clone, Debug)]
struct AwaitedServer {
    /// `None` if an answer always comes.
    server: Option<Arc<Server>>,
    /// How long to wait at most; `None` if the caller has a limit of its own.
    patience: Option<Duration>,
}

/// The server that answers, as all pools of a process see it.
#[derive(Debug)]
pub(super) struct Server {
    /// The server's start time, in its own words. Receivers are notified of changes.
    start: watch::Sender<Option<String>>,
    /// How long a statement may still take after the server was replaced.
    grace: Duration,
    doubted_until: Mutex<Option<Instant>>,
}

impl Server {
    pub(super) fn new(grace: Duration) -> Arc<Self> {
        Arc::new(Self { start: watch::Sender::new(None), grace, doubted_until: Mutex::new(None) })
    }

    /// Notes the start time of the server that answered on a new connection.
    fn meet(&self, start: String) {
        self.start.send_if_modified(|known| {
            let is_other = known.as_ref().is_some_and(|known| *known != start);
            *known = Some(start);
            if is_other {
                tracing::warn!("another database server answers, requests to the previous one are given up");
            }
            is_other
        });
    }

    fn doubt(&self) {
        let until = Instant::now() + DOUBT;
        *self.doubted_until.lock() = Some(until);
    }

    fn is_doubted(&self) -> bool {
        let until = *self.doubted_until.lock();
        until.is_some_and(|until| Instant::now() < until)
    }

    /// The answer of `asking`; `None` when the caller gives up waiting.
    async fn answer<T>(&self, asking: impl Future<Output = T>, patience: Option<Duration>) -> Option<T> {
        let mut start = self.start.subscribe();
        let asking = pin!(asking);
        // Dropped before the watched call, which returns its connection.
        let mut watched = Watched { server: self, is_over: false };
        let replaced = async {
            if start.changed().await.is_err() {
                pending::<()>().await;
            }
            sleep(self.grace).await;
        };
        let late = async {
            match patience {
                Some(patience) => sleep(patience).await,
                None => pending().await,
            }
        };
        tokio::select! {
            biased;
            answer = asking => {
                watched.is_over = true;
                Some(answer)
            }
            () = replaced => None,
            () = late => None,
        }
    }
}

/// A wait for the server. If it is dropped before its end, a connection may be returned before its answer has come.
struct Watched<'a> {
    server: &'a Server,
    is_over: bool,
}

impl Drop for Watched<'_> {
    fn drop(&mut self) {
        if !self.is_over {
            self.server.doubt();
        }
    }
}

impl AwaitedServer {
    async fn answer<T>(&self, asking: impl Future<Output = Result<T, DbErr>>) -> Result<T, DbErr> {
        let Some(server) = &self.server else { return asking.await };
        let answer = server.answer(asking, self.patience).await.unwrap_or_else(|| Err(silent()));
        if answer.as_ref().is_err_and(is_broken_off) {
            // The other connections are likely to be broken too.
            server.doubt();
        }
        answer
    }
}

/// Whether the connection of a call broke.
fn is_broken_off(error: &DbErr) -> bool {
    let (DbErr::Exec(RuntimeErr::SqlxError(driver))
    | DbErr::Query(RuntimeErr::SqlxError(driver))
    | DbErr::Conn(RuntimeErr::SqlxError(driver))) = error
    else {
        return false;
    };
    match &**driver {
        sqlx::Error::Io(_) => true,
        // The server ends its connections.
        sqlx::Error::Database(refused) => refused.code().is_some_and(|code| code.starts_with("57P")),
        _ => false,
    }
}

/// The error of a call without an answer. The connection counts as broken: it is unknown whether the statement was
/// executed.
fn silent() -> DbErr {
    driver_error(io::Error::new(io::ErrorKind::TimedOut, "the database does not answer").into())
}

/// An error of the driver as SeaORM passes it on.
pub(super) fn driver_error(error: sqlx::Error) -> DbErr {
    DbErr::Exec(RuntimeErr::SqlxError(Arc::new(error)))
}

impl Pool {
    /// A pool of connections whose answers always come.
    pub(super) fn new(connections: DatabaseConnection) -> Self {
        let line = AwaitedServer { server: None, patience: None };
        Self(Arc::new(Connected { connections, line, one_piece: usize::MAX, cautious: AtomicU32::new(0) }))
    }

    /// A pool of connections to a server, made with [`on_server`].
    pub(super) fn on(
        connections: DatabaseConnection,
        server: Arc<Server>,
        patience: Option<Duration>,
    ) -> Self {
        let one_piece = binary::one_piece(&connections.get_postgres_connection_pool().connect_options());
        let line = AwaitedServer { server: Some(server), patience };
        Self(Arc::new(Connected { connections, line, one_piece, cautious: AtomicU32::new(0) }))
    }

    /// The connections themselves. A call on them waits for its answer without a limit.
    pub(super) fn connections(&self) -> &DatabaseConnection {
        &self.0.connections
    }

    /// The maximum number of connections.
    pub(super) fn most(&self) -> u32 {
        match self.0.connections.get_database_backend() {
            DbBackend::Postgres => {
                self.0.connections.get_postgres_connection_pool().options().get_max_connections()
            }
            _ => self.0.connections.get_sqlite_connection_pool().options().get_max_connections(),
        }
    }

    /// Whether a connection is in use.
    pub(super) fn is_in_use(&self) -> bool {
        let (size, idle) = match self.0.connections.get_database_backend() {
            DbBackend::Postgres => {
                let pool = self.0.connections.get_postgres_connection_pool();
                (pool.size(), pool.num_idle())
            }
            _ => {
                let pool = self.0.connections.get_sqlite_connection_pool();
                (pool.size(), pool.num_idle())
            }
        };
        idle < size as usize
    }

    pub(super) async fn begin_with_options(&self, options: TransactionOptions) -> Result<Transaction, DbErr> {
        let transaction = self.0.line.answer(self.0.connections.begin_with_options(options)).await?;
        Ok(Transaction { transaction, line: self.0.line.clone() })
    }

    /// Closes each connection when it is returned.
    pub(super) async fn close(&self) -> Result<(), DbErr> {
        self.0.connections.close_by_ref().await
    }
}

impl Transaction {
    pub(super) async fn commit(self) -> Result<(), DbErr> {
        self.line.answer(self.transaction.commit()).await
    }

    pub(super) async fn rollback(self) -> Result<(), DbErr> {
        self.line.answer(self.transaction.rollback()).await
    }
}

#[async_trait::async_trait]
impl ConnectionTrait for Pool {
    fn get_database_backend(&self) -> DbBackend {
        self.0.connections.get_database_backend()
    }

    async fn execute_raw(&self, statement: Statement) -> Result<ExecResult, DbErr> {
        self.0.line.answer(self.0.connections.execute_raw(statement)).await
    }

    async fn execute_unprepared(&self, sql: &str) -> Result<ExecResult, DbErr> {
        self.0.line.answer(self.0.connections.execute_unprepared(sql)).await
    }

    async fn query_one_raw(&self, statement: Statement) -> Result<Option<QueryResult>, DbErr> {
        self.0.line.answer(self.0.connections.query_one_raw(statement)).await
    }

    async fn query_all_raw(&self, statement: Statement) -> Result<Vec<QueryResult>, DbErr> {
        self.0.line.answer(self.0.connections.query_all_raw(statement)).await
    }
}

#[async_trait::async_trait]
impl ConnectionTrait for Transaction {
    fn get_database_backend(&self) -> DbBackend {
        self.transaction.get_database_backend()
    }

    async fn execute_raw(&self, statement: Statement) -> Result<ExecResult, DbErr> {
        self.line.answer(self.transaction.execute_raw(statement)).await
    }

    async fn execute_unprepared(&self, sql: &str) -> Result<ExecResult, DbErr> {
        self.line.answer(self.transaction.execute_unprepared(sql)).await
    }

    async fn query_one_raw(&self, statement: Statement) -> Result<Option<QueryResult>, DbErr> {
        self.line.answer(self.transaction.query_one_raw(statement)).await
    }

    async fn query_all_raw(&self, statement: Statement) -> Result<Vec<QueryResult>, DbErr> {
        self.line.answer(self.transaction.query_all_raw(statement)).await
    }
}

/// Options for connections to `server`. Each new connection gets the settings `set`, names and values. A connection
/// that takes longer than `patience` to answer a ping is closed.
pub(super) fn on_server(
    options: PgPoolOptions,
    server: &Arc<Server>,
    patience: Duration,
    set: &[(&'static str, String)],
) -> PgPoolOptions {
    let [met, doubted, released] = [(); 3].map(|()| Arc::clone(server));
    let mut sql = "SELECT pg_postmaster_start_time()::text".to_owned();
    for index in 0..set.len() {
        let _ = write!(sql, ", set_config(${}, ${}, false)", 2 * index + 1, 2 * index + 2);
    }
    let set = set.to_vec();
    options
        .after_connect(move |connection, _| {
            let (server, sql, set) = (Arc::clone(&met), sql.clone(), set.clone());
            Box::pin(async move {
                let query = sqlx::query::<Postgres>(AssertSqlSafe(sql));
                let query = set.into_iter().fold(query, |query, (name, value)| query.bind(name).bind(value));
                server.meet(query.fetch_one(connection).await?.try_get(0)?);
                Ok(())
            })
        })
        .before_acquire(move |connection, state| {
            let server = Arc::clone(&doubted);
            Box::pin(async move {
                if state.idle_for < IDLE && !server.is_doubted() {
                    return Ok(true);
                }
                stands(connection, patience).await
            })
        })
        .after_release(move |connection, _| {
            let server = Arc::clone(&released);
            Box::pin(async move {
                // The driver pings next, and waits for the answer without a limit.
                if !server.is_doubted() {
                    return Ok(true);
                }
                stands(connection, patience).await
            })
        })
}

/// Whether the connection answers in time.
async fn stands(connection: &mut PgConnection, patience: Duration) -> sqlx::Result<bool> {
    timeout(patience, connection.ping()).await.map_or(Ok(false), |answer| answer.map(|()| true))
}

#[cfg(test)]
mod tests;
