//! Checks of the database that change nothing, for operators of a machine.

use std::path::PathBuf;
use std::str::FromStr as _;

use sea_orm::sqlx::sqlite::SqliteConnectOptions;
use sea_orm::{ConnectionTrait, DatabaseConnection, DbBackend, DbErr, Statement};

use super::lease::RESTORE;
use super::schema::Schema;
use super::{Options, Result, connect};

/// The result of the check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkup {
    /// The database's version, in its own words.
    pub version: String,
    /// Migrations of this program that it does not have.
    pub pending: usize,
    /// Migrations of this program.
    pub migrations: usize,
    /// A restore was interrupted.
    pub is_half_restored: bool,
    /// The server is a standby, which takes no writes.
    pub is_standby: bool,
    /// The role is a superuser of the server.
    pub is_superuser: bool,
    /// The connections that the server grants to all clients together; `None` without a server.
    pub server_connections: Option<u32>,
}

/// The file of the SQLite database at this address, whether it is there or not; `None` for a server.
pub fn file_of(options: &Options) -> Option<PathBuf> {
    if !options.url.starts_with("sqlite:") {
        return None;
    }
    SqliteConnectOptions::from_str(&options.url).ok().map(|database| database.get_filename().to_owned())
}

/// Checks the database. A SQLite file must exist: this call would create one.
///
/// # Errors
///
/// [`super::Error::Unavailable`] when the database does not answer, or cannot be written to; [`super::Error::Schema`]
/// when it is newer than this program.
pub async fn check_up(options: &Options) -> Result<Checkup> {
    let schema = Schema::open(options).await?;
    let migrations = schema.status().await;
    schema.close().await;
    let migrations = migrations?;
    let pending = migrations.iter().filter(|migration| !migration.is_applied).count();
    let connection = connect::writer(options).await?;
    let found = look(&connection, migrations.len(), pending).await;
    connection.close().await?;
    Ok(found?)
}

async fn look(
    on: &DatabaseConnection,
    migrations: usize,
    pending: usize,
) -> std::result::Result<Checkup, DbErr> {
    let is_postgres = on.get_database_backend() == DbBackend::Postgres;
    let sql =
        if is_postgres { "SELECT current_setting('server_version')" } else { "SELECT sqlite_version()" };
    let version: String = one(on, sql).await?.unwrap_or_default();
    let is_half_restored = pending < migrations
        && one::<i32>(on, &format!("SELECT 1 FROM lease WHERE name = '{RESTORE}'")).await?.is_some();
    let (mut is_standby, mut is_superuser, mut server_connections) = (false, false, None);
    if is_postgres {
        let sql = "SELECT rolsuper FROM pg_roles WHERE rolname = current_user";
        is_superuser = one(on, sql).await?.unwrap_or_default();
        is_standby = one(on, "SELECT pg_is_in_recovery()").await?.unwrap_or_default();
        let sql = "SELECT current_setting('max_connections')::int \
                   - current_setting('superuser_reserved_connections')::int";
        server_connections = one::<i32>(on, sql).await?.and_then(|number| u32::try_from(number).ok());
    } else {
        // Fails here when the file cannot be written.
        on.execute_unprepared("BEGIN IMMEDIATE; ROLLBACK").await?;
    }
    Ok(Checkup {
        version,
        pending,
        migrations,
        is_half_restored,
        is_standby,
        is_superuser,
        server_connections,
    })
}

async fn one<T: sea_orm::TryGetable>(
    on: &DatabaseConnection,
    sql: &str,
) -> std::result::Result<Option<T>, DbErr> {
    let statement = Statement::from_string(on.get_database_backend(), sql);
    on.query_one_raw(statement).await?.map(|row| row.try_get_by_index(0)).transpose()
}
