//! The lease on dispatching: at most one process sends from a database.
//!
//! A lock that dies with its holder keeps a second process from starting (a file lock beside a SQLite
//! file, an advisory lock in PostgreSQL). Should the lock be lost while its holder lives on, because the
//! connection that held it broke, the epoch still fences: whoever takes the lease raises it, and the
//! ledger of the process before can write no more. The holder asks regularly, takes a lock that it lost again, and
//! learns that another process took over even while it has nothing to write.

use std::fmt;
use std::fs::{File, TryLockError};
use std::str::FromStr as _;
use std::time::Duration;

use sea_orm::sqlx::postgres::{PgConnectOptions, PgConnection};
use sea_orm::sqlx::sqlite::SqliteConnectOptions;
use sea_orm::sqlx::{self, Connection as _};
use sea_orm::{ConnectionTrait, DatabaseTransaction, DbBackend, QueryResult};
use tokio::sync::Mutex;
use tokio::time::timeout;

use super::{Error, Options, Result, Store, connect};
use crate::clock::Timestamp;
use crate::files;

/// PostgreSQL's number for the advisory lock: "pombo" in ASCII.
const ADVISORY_LOCK: i64 = 0x70_6f_6d_62_6f;
/// The lease on dispatching.
pub(super) const DISPATCH: &str = "dispatch";
/// Not a lease, but the mark of a restore that is not finished: no service may use the database.
pub(super) const RESTORE: &str = "restore";
/// How long the session that holds the lock may take to answer before it is given up.
const PATIENCE: Duration = Duration::from_secs(5);
/// How the server learns that the holder's machine is gone without a word: after some ten seconds without an answer it
/// ends the session, and the lock with it. Linux alone would let two hours pass. In seconds, and milliseconds.
const KEEPALIVE: [(&str, &str); 4] = [
    ("tcp_keepalives_idle", "5"),
    ("tcp_keepalives_interval", "2"),
    ("tcp_keepalives_count", "3"),
    ("tcp_user_timeout", "10000"),
];
/// Whether this session holds the lock, which it takes if nobody does. (Taking a lock that one holds counts it twice.)
const LOCK: &str = "SELECT CASE WHEN EXISTS (SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND granted \
                    AND pid = pg_backend_pid() AND objsubid = 1 \
                    AND ((classid::bigint << 32) | objid::bigint) = $1) \
                    THEN true ELSE pg_try_advisory_lock($1) END";

/// The right to dispatch; given back on drop.
#[derive(Debug)]
pub struct Lease {
    epoch: i64,
    hold: Hold,
}

/// Whether the lock on dispatching is held, by a process that still has the lease.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// No other process can take the lease.
    Locked,
    /// The lock was lost and could not be taken again yet: its old session may still be ending, or another process
    /// may be taking over.
    Unlocked,
}

#[derive(Debug)]
enum Hold {
    File(#[expect(dead_code, reason = "held for its lock")] File),
    Session(Box<Session>),
}

/// The session that holds the lock for as long as it lives: a connection of its own, outside every pool.
struct Session {
    options: PgConnectOptions,
    /// `None` while it is broken.
    connection: Mutex<Option<PgConnection>>,
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session").finish_non_exhaustive()
    }
}

impl Store {
    /// Takes the lease on dispatching. `holder` names this process for a person.
    ///
    /// # Errors
    ///
    /// [`Error::Taken`] while another process holds it.
    pub async fn acquire_lease(&self, options: &Options, holder: &str) -> Result<Lease> {
        let hold = match self.backend {
            DbBackend::Postgres => Hold::Session(Box::new(Session::lock(options).await?)),
            _ => Hold::File(lock_file(&options.url)?),
        };
        if self.row("SELECT 1 FROM lease WHERE name = $1", [RESTORE.into()]).await?.is_some() {
            return Err(Error::Schema(
                "a restore of this database was broken off: run `pombo restore` again before it is used"
                    .to_owned(),
            ));
        }
        let transaction = self.begin().await?;
        let statement = self.statement(
            "INSERT INTO lease (name, epoch, holder, acquired_at) VALUES ($1, 1, $2, $3) \
             ON CONFLICT (name) DO UPDATE SET epoch = lease.epoch + 1, holder = excluded.holder, \
             acquired_at = excluded.acquired_at RETURNING epoch",
            [DISPATCH.into(), holder.into(), Timestamp::now().millis().into()],
        );
        let epoch = epoch_of(transaction.query_one_raw(statement).await?)?;
        transaction.commit().await?;
        Ok(Lease { epoch, hold })
    }

    /// Makes sure that this process holds the lock, and takes it again where its session broke.
    ///
    /// # Errors
    ///
    /// [`Error::Fenced`] when another process took the lease since; [`Error::Unavailable`] when the database does not
    /// answer.
    pub async fn confirm_lease(&self, lease: &Lease) -> Result<Standing> {
        let Hold::Session(session) = &lease.hold else { return Ok(Standing::Locked) };
        let is_locked = session.try_lock().await;
        // Asked after the lock: whoever had it in between has raised the epoch.
        let row = self.row("SELECT epoch FROM lease WHERE name = $1", [DISPATCH.into()]).await?;
        if epoch_of(row)? != lease.epoch {
            return Err(Error::Fenced);
        }
        Ok(if is_locked? { Standing::Locked } else { Standing::Unlocked })
    }

    /// Refuses when another process took the lease since. The next holder waits for this transaction, so that it
    /// sees what is written here. A file lock cannot be lost while its holder lives, so there is nothing to check.
    pub(super) async fn check_lease(&self, within: &DatabaseTransaction, lease: &Lease) -> Result<()> {
        self.check_lease_within(within, lease, Duration::MAX).await
    }

    /// The same. From then on the database gives up a statement of the transaction that takes longer than `patience`, so
    /// that one that waits for a lock does not keep its connection.
    pub(super) async fn check_lease_within(
        &self,
        within: &DatabaseTransaction,
        lease: &Lease,
        patience: Duration,
    ) -> Result<()> {
        let Some(fence) = lease.fence() else { return Ok(()) };
        // Zero is without end.
        let millis = i32::try_from(patience.as_millis()).unwrap_or(0).to_string();
        let sql =
            "SELECT epoch, set_config('statement_timeout', $2, TRUE) FROM lease WHERE name = $1 FOR SHARE";
        let row = within.query_one_raw(self.statement(sql, [DISPATCH.into(), millis.into()])).await?;
        if epoch_of(row)? == fence { Ok(()) } else { Err(Error::Fenced) }
    }
}

impl Lease {
    /// The epoch that every write has to check; `None` where the lease cannot be lost.
    pub(super) const fn fence(&self) -> Option<i64> {
        match self.hold {
            Hold::File(_) => None,
            Hold::Session(_) => Some(self.epoch),
        }
    }
}

/// Keeps every service out for as long as this lives.
#[derive(Debug)]
pub(super) struct KeptOut(#[expect(dead_code, reason = "held for its lock")] Hold);

/// The lock on dispatching, without a database behind it.
pub(super) async fn keep_out(options: &Options) -> Result<KeptOut> {
    Ok(KeptOut(if options.url.starts_with("sqlite:") {
        Hold::File(lock_file(&options.url)?)
    } else {
        Hold::Session(Box::new(Session::lock(options).await?))
    }))
}

/// A sub-select that yields a row while the lease has the epoch in this parameter, and makes the next holder wait
/// until its statement is over.
pub(super) fn held_in(epoch: usize) -> String {
    format!("SELECT 1 FROM lease WHERE name = '{DISPATCH}' AND epoch = ${epoch} FOR SHARE")
}

fn epoch_of(row: Option<QueryResult>) -> Result<i64> {
    let row = row.ok_or_else(|| Error::Impossible("the lease has no row".to_owned()))?;
    Ok(row.try_get_by_index(0)?)
}

fn taken() -> Error {
    Error::Taken("another `pombo serve` already dispatches from this database: stop it first".to_owned())
}

fn lock_file(url: &str) -> Result<File> {
    let database = SqliteConnectOptions::from_str(url)
        .map_err(|error| Error::Unavailable(format!("database.url is no address: {error}")))?;
    let path = database.get_filename().with_extension("lock");
    let unavailable =
        |error: std::io::Error| Error::Unavailable(format!("cannot lock {}: {error}", path.display()));
    let file = files::open_or_create(&path).map_err(unavailable)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(taken()),
        Err(TryLockError::Error(error)) => Err(unavailable(error)),
    }
}

impl Session {
    /// A session that holds the lock.
    async fn lock(options: &Options) -> Result<Self> {
        let options = PgConnectOptions::from_str(&options.url)
            .map_err(|error| Error::Unavailable(format!("database.url is no address: {error}")))?;
        let options = connect::plain_on_this_machine(options).application_name("pombo dispatch lease");
        let session = Self { options, connection: Mutex::new(None) };
        if session.try_lock().await? { Ok(session) } else { Err(taken()) }
    }

    /// Takes the lock, unless this session holds it. One that is broken, or does not answer, is replaced. `false`
    /// while another session has the lock.
    async fn try_lock(&self) -> Result<bool> {
        let mut place = self.connection.lock().await;
        if let Some(connection) = place.as_mut() {
            match timeout(PATIENCE, lock(connection)).await {
                Ok(Ok(is_locked)) => return Ok(is_locked),
                Ok(Err(error)) => tracing::warn!(%error, "the session with the lock on dispatching broke"),
                Err(_) => tracing::warn!("the session with the lock on dispatching does not answer"),
            }
            *place = None;
        }
        let taking = async {
            let mut connection = PgConnection::connect_with(&self.options).await?;
            keep_alive(&mut connection).await?;
            let is_locked = lock(&mut connection).await?;
            Ok::<_, sqlx::Error>((connection, is_locked))
        };
        let late = |_| Error::Unavailable("the database does not answer".to_owned());
        let (connection, is_locked) = timeout(PATIENCE, taking)
            .await
            .map_err(late)?
            .map_err(|error| Error::Unavailable(error.to_string()))?;
        *place = Some(connection);
        Ok(is_locked)
    }
}

async fn lock(connection: &mut PgConnection) -> sqlx::Result<bool> {
    sqlx::query_scalar(LOCK).bind(ADVISORY_LOCK).fetch_one(connection).await
}

/// Sets [`KEEPALIVE`]. A server that cannot do it goes on without.
async fn keep_alive(connection: &mut PgConnection) -> sqlx::Result<()> {
    for (setting, value) in KEEPALIVE {
        let set = sqlx::query("SELECT set_config($1, $2, false)").bind(setting).bind(value);
        match set.execute(&mut *connection).await {
            Err(sqlx::Error::Database(error)) => {
                tracing::warn!(setting, %error, "the server does not watch the session with the lock on dispatching");
            }
            result => {
                result?;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[actix::test]
    #[ignore = "needs PostgreSQL: run scripts/test"]
    async fn the_server_watches_whether_the_machine_of_the_session_with_the_lock_still_answers() {
        let server = std::env::var("POMBO_TEST_POSTGRES").expect("POMBO_TEST_POSTGRES names no server");
        let scratch = crate::store::scratch::Scratch::create(&server).await.unwrap();
        let options = Options {
            url: scratch.url().to_owned(),
            connections: 6,
            acquire_timeout: Duration::from_secs(10),
            statement_timeout: Duration::ZERO,
            synchronous_full: true,
            migrate: true,
        };
        let store = Store::open(&options).await.unwrap();
        let lease = store.acquire_lease(&options, "test").await.unwrap();
        let Hold::Session(session) = &lease.hold else { panic!("no session holds the lock") };
        for round in ["the first session", "the one after it broke"] {
            let mut place = session.connection.lock().await;
            let connection = place.as_mut().unwrap();
            for (setting, value) in KEEPALIVE {
                let shown: String = sqlx::query_scalar("SELECT current_setting($1)")
                    .bind(setting)
                    .fetch_one(&mut *connection)
                    .await
                    .unwrap();
                let shown = shown.replace("10s", "10000");
                assert_eq!(shown, value, "{setting} of {round}");
            }
            let broken =
                sqlx::query("SELECT pg_terminate_backend(pg_backend_pid())").execute(connection).await;
            assert!(broken.is_err());
            drop(place);
            // The session that ends gives its lock back when it is gone, moments after it was told to.
            let locked = async {
                while store.confirm_lease(&lease).await.unwrap() != Standing::Locked {
                    tokio::task::yield_now().await;
                }
            };
            timeout(Duration::from_secs(30), locked).await.unwrap();
        }
        drop(lease);
        store.close().await;
        scratch.remove().await.unwrap();
    }
}
