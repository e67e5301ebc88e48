//! Examines the database at an address before it is replaced.

use sea_orm::{ConnectionTrait, DbBackend, DbErr, Statement, Value};

use super::Error;
use crate::lease::RESTORE;

/// Tables whose rows mean that the database has data.
const MISSED: [&str; 3] = ["company", "user_account", "operator_key"];
/// The table of applied migrations.
pub(super) const MIGRATIONS: &str = "seaql_migrations";

/// The content of a database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    /// Nothing that would be lost.
    Free,
    /// Data.
    HasData,
    /// Tables of another program.
    Foreign,
}

impl Standing {
    /// Refuses to replace a database with data, unless forced.
    pub(super) const fn judge(self, force: bool) -> super::Result<()> {
        match self {
            Self::Free => Ok(()),
            Self::HasData if force => Ok(()),
            Self::HasData => Err(Error::HasData),
            Self::Foreign => Err(Error::Foreign),
        }
    }
}

/// Examines the database of this connection.
pub(super) async fn look(on: &impl ConnectionTrait) -> Result<Standing, DbErr> {
    if !has_table(on, MIGRATIONS).await? {
        let tables = match on.get_database_backend() {
            DbBackend::Postgres => "SELECT 1 FROM pg_tables WHERE schemaname = current_schema() LIMIT 1",
            _ => "SELECT 1 FROM sqlite_master WHERE type = 'table' LIMIT 1",
        };
        let is_empty = row(on, tables, []).await?.is_none();
        return Ok(if is_empty { Standing::Free } else { Standing::Foreign });
    }
    // The remains of an interrupted restore do not count as data: the backup has all of it.
    if has_table(on, "lease").await? {
        let broken_off = row(on, "SELECT 1 FROM lease WHERE name = $1", [RESTORE.into()]).await?;
        if broken_off.is_some() {
            return Ok(Standing::Free);
        }
    }
    for table in MISSED {
        if has_table(on, table).await?
            && row(on, &format!("SELECT 1 FROM {table} LIMIT 1"), []).await?.is_some()
        {
            return Ok(Standing::HasData);
        }
    }
    Ok(Standing::Free)
}

/// Whether there is a table of this name.
pub(super) async fn has_table(on: &impl ConnectionTrait, name: &str) -> Result<bool, DbErr> {
    let sql = match on.get_database_backend() {
        DbBackend::Postgres => {
            "SELECT 1 FROM pg_tables WHERE schemaname = current_schema() AND tablename = $1"
        }
        _ => "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = $1",
    };
    Ok(row(on, sql, [name.into()]).await?.is_some())
}

/// The first row of a query.
pub(super) async fn row<const N: usize>(
    on: &impl ConnectionTrait,
    sql: &str,
    values: [Value; N],
) -> Result<Option<sea_orm::QueryResult>, DbErr> {
    on.query_one_raw(Statement::from_sql_and_values(on.get_database_backend(), sql, values)).await
}
