//! Failures of the database, in the few kinds that callers act on.

use sea_orm::sqlx::error::DatabaseError;
use sea_orm::sqlx::{self, Error as Driver};
use sea_orm::{ConnAcquireErr, DbErr, RuntimeErr};

/// Why no connection was there in time.
const LATE: &str = "it did not answer in time, or all connections to it were in use";

/// A failed call to the store.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The database is unreachable, full, locked or stopping; the same call may succeed later.
    #[error("the database is unavailable: {0}")]
    Unavailable(String),
    /// A commit without a clear answer: the rows may or may not be written.
    #[error("a commit is in doubt: {0}")]
    InDoubt(String),
    /// A unique name or id is taken already.
    #[error("already taken: {0}")]
    Taken(String),
    /// A change that would make the tier one for another kind of channel.
    #[error("the tier `{0}` is for another kind of channel")]
    OtherKind(String),
    /// Another process took over dispatching: this one may no longer write to the ledger.
    #[error("another process dispatches from this database now")]
    Fenced,
    /// The schema does not fit this program.
    #[error("{0}")]
    Schema(String),
    /// A row that the database will never accept, whatever is written with it.
    #[error("the database refuses a row: {0}")]
    Refused(String),
    /// The row refers to another one that does not exist.
    #[error("{0}")]
    Missing(String),
    /// A stored value that this program never wrote.
    #[error("the database holds an impossible value: {0}")]
    Impossible(String),
    /// Any other failure: a defect of Pombo.
    #[error("the database refused a statement: {0}")]
    Defect(DbErr),
}

impl Error {
    /// Whether the same call may succeed later.
    pub const fn is_passing(&self) -> bool {
        matches!(self, Self::Unavailable(_) | Self::InDoubt(_))
    }

    /// Whether a single row is to blame: without it, the others of its statement are written.
    pub const fn is_about_a_row(&self) -> bool {
        matches!(self, Self::Refused(_) | Self::Missing(_) | Self::Taken(_))
    }

    /// The failure of a call that commits. Unless the database itself reports that it did not commit, it is in doubt.
    pub(super) fn while_committing(error: DbErr) -> Self {
        let may_have_committed = may_have_committed(&error);
        match Self::from(error) {
            known if !may_have_committed => known,
            Self::Unavailable(words) => Self::InDoubt(words),
            other => Self::InDoubt(other.to_string()),
        }
    }
}

impl From<DbErr> for Error {
    fn from(error: DbErr) -> Self {
        match &error {
            DbErr::ConnectionAcquire(ConnAcquireErr::Timeout) => Self::Unavailable(LATE.to_owned()),
            DbErr::ConnectionAcquire(_) | DbErr::Conn(_) => Self::Unavailable(error.to_string()),
            DbErr::Exec(RuntimeErr::SqlxError(driver)) | DbErr::Query(RuntimeErr::SqlxError(driver)) => {
                classify(driver, error.to_string()).unwrap_or(Self::Defect(error))
            }
            _ => Self::Defect(error),
        }
    }
}

fn classify(driver: &sqlx::Error, words: String) -> Option<Error> {
    match driver {
        Driver::PoolTimedOut => Some(Error::Unavailable(LATE.to_owned())),
        Driver::Io(_) | Driver::Tls(_) | Driver::PoolClosed | Driver::WorkerCrashed => {
            Some(Error::Unavailable(words))
        }
        Driver::Database(refused) if refused.is_unique_violation() => Some(Error::Taken(words)),
        Driver::Database(refused) if is_passing(&**refused) => Some(Error::Unavailable(words)),
        // Not in the database's own words, which may quote the row.
        Driver::Database(refused) if is_about_a_row(&**refused) => {
            let code = refused.code().unwrap_or_default();
            let constraint = refused.constraint().map(|name| format!(", constraint {name}"));
            Some(Error::Refused(format!("code {code}{}", constraint.unwrap_or_default())))
        }
        _ => None,
    }
}

/// Whether a commit that failed like this may have happened. It may, unless a complete answer denies it or nothing was
/// sent.
fn may_have_committed(error: &DbErr) -> bool {
    match error {
        DbErr::ConnectionAcquire(_) | DbErr::Conn(_) => false,
        DbErr::Exec(RuntimeErr::SqlxError(driver)) | DbErr::Query(RuntimeErr::SqlxError(driver)) => {
            match &**driver {
                Driver::PoolTimedOut | Driver::PoolClosed => false,
                Driver::Database(refused) => leaves_doubt(&**refused),
                _ => true,
            }
        }
        _ => true,
    }
}

/// A PostgreSQL backend may have committed before it was ended (57P) or failed (58, XX), and so may one that reports
/// that it does not know (08, 40003). SQLite has written a commit that it could not flush to the disk (1034).
fn leaves_doubt(refused: &dyn DatabaseError) -> bool {
    let Some(code) = refused.code() else { return true };
    if refused.try_downcast_ref::<sqlx::postgres::PgDatabaseError>().is_some() {
        return code == "40003" || ["08", "57P", "58", "XX"].iter().any(|class| code.starts_with(class));
    }
    code == "1034"
}

/// SQLite: too big, constraint, mismatch (primary result codes 18, 19, 20). PostgreSQL: cardinality (class 21), data
/// exception (22), constraint (23), view (44), a limit of the program (54), raised by a trigger (P0).
fn is_about_a_row(refused: &dyn DatabaseError) -> bool {
    let Some(code) = refused.code() else { return false };
    if refused.try_downcast_ref::<sqlx::postgres::PgDatabaseError>().is_some() {
        return ["21", "22", "23", "44", "54", "P0"].iter().any(|class| code.starts_with(class));
    }
    let primary = code.parse::<u32>().map(|extended| extended & 0xff);
    matches!(primary, Ok(18..=20))
}

/// SQLite: busy, locked, I/O error, full disk, cannot open, read-only (primary result codes 5, 6, 10, 13,
/// 14, 8; <https://sqlite.org/rescode.html>). PostgreSQL: connection (class 08), resources such as a full
/// disk (53), operator intervention (57), system error (58), read-only standby (25006), serialisation and
/// deadlock (class 40; <https://www.postgresql.org/docs/current/errcodes-appendix.html>).
fn is_passing(refused: &dyn DatabaseError) -> bool {
    let Some(code) = refused.code() else { return false };
    if refused.try_downcast_ref::<sqlx::postgres::PgDatabaseError>().is_some() {
        return code == "25006" || ["08", "40", "53", "57", "58"].iter().any(|class| code.starts_with(class));
    }
    let primary = code.parse::<u32>().map(|extended| extended & 0xff);
    matches!(primary, Ok(5 | 6 | 8 | 10 | 13 | 14))
}
