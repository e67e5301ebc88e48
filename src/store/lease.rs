//! The lease on dispatching: at most one process sends from a database.
//!
//! A lock that dies with its holder keeps a second process from starting (a file lock beside a SQLite
//! file, an advisory lock in PostgreSQL). Should the lock be lost while its holder lives on, because the
//! connection that held it broke, the epoch still fences: whoever takes the lease raises it, and the
//! ledger of the process before can write no more.

use std::fs::{File, OpenOptions, TryLockError};
use std::str::FromStr as _;
use std::time::Duration;

use sea_orm::sqlx::sqlite::SqliteConnectOptions;
use sea_orm::{
    ConnectOptions, ConnectionTrait, Database, DatabaseConnection, DatabaseTransaction, DbBackend,
};
use sea_orm::{QueryResult, Statement};

use super::{Error, Options, Result, Store};
use crate::clock::Timestamp;

/// PostgreSQL's number for the advisory lock: "pombo" in ASCII.
const ADVISORY_LOCK: i64 = 0x70_6f_6d_62_6f;
const NAME: &str = "dispatch";

/// The right to dispatch; given back on drop.
#[derive(Debug)]
pub struct Lease {
    epoch: i64,
    hold: Hold,
}

#[derive(Debug)]
enum Hold {
    File(#[expect(dead_code, reason = "held for its lock")] File),
    Connection(#[expect(dead_code, reason = "held for its lock")] DatabaseConnection),
}

impl Store {
    /// Takes the lease on dispatching. `holder` names this process for a person.
    ///
    /// # Errors
    ///
    /// [`Error::Taken`] while another process holds it.
    pub async fn acquire_lease(&self, options: &Options, holder: &str) -> Result<Lease> {
        let hold = match self.backend {
            DbBackend::Postgres => Hold::Connection(lock_connection(options).await?),
            _ => Hold::File(lock_file(&options.url)?),
        };
        let transaction = self.begin().await?;
        let statement = self.statement(
            "INSERT INTO lease (name, epoch, holder, acquired_at) VALUES ($1, 1, $2, $3) \
             ON CONFLICT (name) DO UPDATE SET epoch = lease.epoch + 1, holder = excluded.holder, \
             acquired_at = excluded.acquired_at RETURNING epoch",
            [NAME.into(), holder.into(), Timestamp::now().millis().into()],
        );
        let epoch = epoch_of(transaction.query_one_raw(statement).await?)?;
        transaction.commit().await?;
        Ok(Lease { epoch, hold })
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
        let row = within.query_one_raw(self.statement(sql, [NAME.into(), millis.into()])).await?;
        if epoch_of(row)? == fence { Ok(()) } else { Err(Error::Fenced) }
    }
}

impl Lease {
    /// The epoch that every write has to check; `None` where the lease cannot be lost.
    pub(super) const fn fence(&self) -> Option<i64> {
        match self.hold {
            Hold::File(_) => None,
            Hold::Connection(_) => Some(self.epoch),
        }
    }
}

/// A sub-select that yields a row while the lease has the epoch in this parameter, and makes the next holder wait
/// until its statement is over.
pub(super) fn held_in(epoch: usize) -> String {
    format!("SELECT 1 FROM lease WHERE name = '{NAME}' AND epoch = ${epoch} FOR SHARE")
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
    let file =
        OpenOptions::new().create(true).truncate(false).write(true).open(&path).map_err(unavailable)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(taken()),
        Err(TryLockError::Error(error)) => Err(unavailable(error)),
    }
}

/// A connection of its own that holds the lock for as long as it lives.
async fn lock_connection(options: &Options) -> Result<DatabaseConnection> {
    let mut pool = ConnectOptions::new(options.url.clone());
    pool.max_connections(1)
        .min_connections(1)
        .connect_timeout(options.acquire_timeout)
        .acquire_timeout(options.acquire_timeout)
        .idle_timeout(None)
        .max_lifetime(None)
        .sqlx_logging(false)
        .set_application_name("pombo dispatch lease");
    let connection = Database::connect(pool).await?;
    let statement = Statement::from_sql_and_values(
        DbBackend::Postgres,
        "SELECT pg_try_advisory_lock($1)",
        [ADVISORY_LOCK.into()],
    );
    let row = connection.query_one_raw(statement).await?;
    let locked: Option<bool> = row.map(|row| row.try_get_by_index(0)).transpose()?;
    if locked == Some(true) { Ok(connection) } else { Err(taken()) }
}
