//! Connecting to the database and bringing its schema up to date.

use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use migration::{Migrator, MigratorTrait};
use sea_orm::sqlx::Connection as _;
use sea_orm::sqlx::postgres::{PgConnectOptions, PgSslMode};
use sea_orm::sqlx::sqlite::{SqliteJournalMode, SqliteSynchronous};
use sea_orm::{
    ConnAcquireErr, ConnectOptions, Database, DatabaseConnection, DbBackend, DbErr, RuntimeErr, sqlx,
};

use super::contacts::reached::RecentLists;
use super::event_log::LogState;
use super::pool::{GRACE, IDLE, Pool, Server, on_server};
use super::share::{CLUSTER, Pools, Shares};
use super::{Error, Purpose, Result, Store, address, log, nodes, schema};

/// How long a SQLite connection waits for another process' write lock.
pub(super) const BUSY_TIMEOUT: Duration = Duration::from_secs(10);
/// Page cache of one SQLite connection, in KiB (SQLite takes a negative number for KiB).
const SQLITE_CACHE: &str = "-8192";
/// The same for the writing connection, which uses the pages of many indexes again.
const SQLITE_WRITER_CACHE: &str = "-32768";

/// Statements of the engine may take this many times as long as those of requests: the engine reads whole audiences,
/// and cleans up.
const LONG: u32 = 10;
const UNBOUNDED: Duration = Duration::ZERO;
/// Additional time for the network to PostgreSQL; at most as long as the statement itself may take.
const SPARE: Duration = Duration::from_secs(5);
/// How long the database may work on a statement of a node's heartbeat: less than its lease lasts.
const HEARTBEAT: Duration = Duration::from_secs(3);

/// How long the server keeps an idle transaction of the service open. A node whose machine is cut off or hangs must not
/// hold up the others by its row locks.
const SILENCE: Duration = Duration::from_secs(3);

/// How to reach the database. Its `Debug` omits the address, which may contain a password.
#[derive(Clone)]
pub struct Options {
    /// `sqlite://PATH` or `postgres://…`.
    pub url: String,
    /// The maximum number of connections, including those of the ledger and of the lease; see [`Store::reserved_for`].
    pub connections: u32,
    /// How long a call waits for a free connection.
    pub acquire_timeout: Duration,
    /// PostgreSQL only: how long one statement of [`Purpose::Requests`] and [`Purpose::Dispatch`] may take.
    /// [`Purpose::Engine`] has ten times as long; zero means no limit.
    pub statement_timeout: Duration,
    /// SQLite only: wait for the disk at every commit, so that nothing is lost even when the power fails.
    pub synchronous_full: bool,
    /// Bring the schema up to date on opening.
    pub migrate: bool,
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { url: _, connections, acquire_timeout, statement_timeout, synchronous_full, migrate } =
            self;
        f.debug_struct("Options")
            .field("url", &"…")
            .field("connections", connections)
            .field("acquire_timeout", acquire_timeout)
            .field("statement_timeout", statement_timeout)
            .field("synchronous_full", synchronous_full)
            .field("migrate", migrate)
            .finish()
    }
}

pub(super) async fn open(options: &Options) -> Result<Store> {
    let sqlite = options.url.starts_with("sqlite:");
    let shares = Shares::of(options.connections, sqlite);
    // The other pools connect when they are first needed: a command needs none of them. A command's statements have no
    // limit, and it may read a file in the middle of a transaction.
    let silence = if options.statement_timeout.is_zero() { UNBOUNDED } else { SILENCE };
    let bounds = |statement| ServerBounds { statement, silence };
    let usual = bounds(options.statement_timeout);
    let long = bounds(options.statement_timeout.saturating_mul(LONG));
    let later = Connecting::WhenNeeded;
    let server = Server::new(GRACE);
    let pool = async |connections, connecting, bounds: ServerBounds| {
        let to = (!sqlite).then_some(&server);
        let connections = connect(options, connections, SQLITE_CACHE, connecting, bounds, to).await?;
        let patience = bounds.patience(options.acquire_timeout);
        Ok::<_, Error>(match to {
            Some(server) => Pool::on(connections, Arc::clone(server), patience),
            None => Pool::new(connections),
        })
    };
    let pools = Pools {
        requests: pool(shares.requests, Connecting::AtOnce, usual).await?,
        engine: pool(shares.engine, later, long).await?,
        dispatch: pool(shares.dispatch, later, usual).await?,
        writer: match shares.ledger {
            None => Pool::new(writer(options).await?),
            // The ledger sets the bound of each of its transactions itself.
            Some(ledger) => pool(ledger, later, bounds(UNBOUNDED)).await?,
        },
        cluster: pool(CLUSTER, later, bounds(HEARTBEAT)).await?,
        log: LogState::default(),
        lists: RecentLists::default(),
    };
    let backend = if sqlite { DbBackend::Sqlite } else { DbBackend::Postgres };
    let store = Store::on(Arc::new(pools), backend, Purpose::Requests);
    let pending = Migrator::get_pending_migrations_read_only(store.write.connections())
        .await
        .map_err(schema::unknown)?
        .len();
    if pending > 0 && options.migrate {
        nodes::refuse_other_protocols(store.write.connections()).await?;
        if sqlite {
            Migrator::up(store.write.connections(), None).await?;
        } else {
            // A connection without a time limit for the migrations.
            let patient = writer(options).await?;
            Migrator::up(&patient, None).await?;
            patient.close().await?;
        }
        tracing::info!(migrations = pending, "brought the database's schema up to date");
    } else if pending > 0 {
        return Err(Error::Schema(format!(
            "the database's schema is {pending} migrations behind this program: run `pombo migrate up`"
        )));
    }
    Ok(store)
}

/// Creates the database's file with rights for its owner alone; SQLite gives the files beside it the same rights. The
/// driver would create it readable by everybody who may enter its directory.
fn create_file(url: &str) -> Result<()> {
    let database = address::sqlite(url)?;
    let path = database.get_filename();
    let is_memory = url.contains(":memory:") || url.contains("mode=memory");
    if is_memory || path.exists() {
        return Ok(());
    }
    files::open_or_create(path)
        .map(drop)
        .map_err(|error| Error::Unavailable(format!("cannot create {}: {error}", path.display())))
}

/// One connection, the only one of a SQLite database that writes. Its statements have no time limit.
pub(super) async fn writer(options: &Options) -> Result<DatabaseConnection> {
    let bounds = ServerBounds { statement: UNBOUNDED, silence: UNBOUNDED };
    connect(options, 1, SQLITE_WRITER_CACHE, Connecting::AtOnce, bounds, None).await
}

/// When a pool opens its first connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Connecting {
    AtOnce,
    WhenNeeded,
}

/// The bounds after which PostgreSQL ends statements and transactions; zero for none.
#[derive(Debug, Clone, Copy)]
struct ServerBounds {
    /// The longest time of a statement.
    statement: Duration,
    /// The longest idle time of a transaction.
    silence: Duration,
}

impl ServerBounds {
    /// The settings for PostgreSQL; empty without bounds, so that the settings of the database's owner hold.
    fn settings(self) -> Vec<(&'static str, String)> {
        if self.statement.is_zero() && self.silence.is_zero() {
            return Vec::new();
        }
        let millis = |bound: Duration| i32::try_from(bound.as_millis()).unwrap_or(i32::MAX).to_string();
        vec![
            ("statement_timeout", millis(self.statement)),
            ("idle_in_transaction_session_timeout", millis(self.silence)),
        ]
    }

    /// How long an answer may take, including the wait for a free connection: a little longer than PostgreSQL needs to
    /// report its own timeout. `None` without a limit.
    fn patience(self, acquire: Duration) -> Option<Duration> {
        let spare = self.statement.min(SPARE);
        (!self.statement.is_zero()).then(|| acquire + self.statement + spare)
    }
}

/// Opens a pool. `cache` is the page cache of one SQLite connection. `bounds` and `server` are for PostgreSQL; with
/// `server`, connections are abandoned when the server is gone.
async fn connect(
    options: &Options,
    connections: u32,
    cache: &'static str,
    connecting: Connecting,
    bounds: ServerBounds,
    server: Option<&Arc<Server>>,
) -> Result<DatabaseConnection> {
    let synchronous =
        if options.synchronous_full { SqliteSynchronous::Full } else { SqliteSynchronous::Normal };
    if options.url.starts_with("sqlite:") {
        create_file(&options.url)?;
    }
    let mut pool = ConnectOptions::new(address::for_driver(&options.url)?);
    pool.max_connections(connections)
        .min_connections(u32::from(connecting == Connecting::AtOnce))
        .connect_lazy(connecting == Connecting::WhenNeeded)
        .connect_timeout(options.acquire_timeout)
        .acquire_timeout(options.acquire_timeout)
        // A test before each use would double the round trips.
        .test_before_acquire_if_idle_for(IDLE)
        .sqlx_logging(false)
        .set_application_name("pombo")
        .map_sqlx_sqlite_opts(move |sqlite| {
            sqlite
                .create_if_missing(true)
                .journal_mode(SqliteJournalMode::Wal)
                .synchronous(synchronous)
                .busy_timeout(BUSY_TIMEOUT)
                .foreign_keys(true)
                .pragma("cache_size", cache)
                .pragma("wal_autocheckpoint", log::LONGEST)
                .pragma("journal_size_limit", log::LIMIT)
                .pragma("temp_store", "MEMORY")
        });
    pool.map_sqlx_postgres_opts(plain_on_this_machine);
    if let Some(server) = server {
        // The settings are not a part of the session's start: a proxy in front of the server may refuse them there.
        let (server, set) = (Arc::clone(server), bounds.settings());
        // A caller that waits for a connection has time for the next one, if the first is dead.
        let sign_of_life = options.acquire_timeout / 2;
        pool.map_sqlx_postgres_pool_opts(move |pool| on_server(pool, &server, sign_of_life, &set));
    }
    // A commit that fails because the disk is full ends SQLite's transaction, but the driver still counts it, and a
    // later transaction, taken for nested, would never be durable: such a connection is not used again.
    pool.map_sqlx_sqlite_before_acquire(|connection, _| {
        Box::pin(async move { Ok(!connection.is_in_transaction()) })
    });
    Database::connect(pool).await.map_err(|error| unreached(error, options))
}

/// The failure to open a pool. A server that does not answer is named, with its port.
fn unreached(error: DbErr, options: &Options) -> Error {
    let is_late = match &error {
        DbErr::ConnectionAcquire(ConnAcquireErr::Timeout) => true,
        DbErr::Conn(RuntimeErr::SqlxError(driver)) => matches!(&**driver, sqlx::Error::PoolTimedOut),
        _ => false,
    };
    match domain::address::place(&options.url).filter(|_| is_late) {
        Some(place) => {
            Error::Unavailable(format!("it did not answer at {place} within {:?}", options.acquire_timeout))
        }
        None => error.into(),
    }
}

/// A connection within this machine is not encrypted, unless the address requires it.
pub(super) fn plain_on_this_machine(postgres: PgConnectOptions) -> PgConnectOptions {
    let is_asked = !matches!(postgres.get_ssl_mode(), PgSslMode::Prefer | PgSslMode::Allow);
    if is_asked || !is_this_machine(postgres.get_host()) {
        postgres
    } else {
        postgres.ssl_mode(PgSslMode::Disable)
    }
}

/// Whether connections to `host` stay on this machine.
pub(super) fn is_this_machine(host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    bare == "localhost" || bare.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_of_this_machine_go_without_encryption() {
        for here in ["localhost", "127.0.0.1", "127.1.2.3", "::1", "[::1]"] {
            assert!(is_this_machine(here), "{here}");
        }
        for elsewhere in ["db.example.com", "10.0.0.1", "localhost.example.com", "", "::2"] {
            assert!(!is_this_machine(elsewhere), "{elsewhere}");
        }
    }

    #[test]
    fn debug_output_omits_the_address_with_its_password() {
        let options = Options {
            url: "postgres://pombo:hunter2@host/pombo".to_owned(),
            connections: 8,
            acquire_timeout: Duration::from_secs(5),
            statement_timeout: Duration::ZERO,
            synchronous_full: true,
            migrate: true,
        };
        let shown = format!("{options:?}");
        assert!(shown.contains("connections: 8") && !shown.contains("hunter2"), "{shown}");
    }
}
