//! Copies the rows of a SQLite file into our own tables.
//!
//! The file may have been made by a stranger: its triggers, views and other objects are left out, and nothing that it
//! defines is trusted. Its tables are only read, in the columns that our tables have.

use std::collections::BTreeSet;
use std::path::Path;

use sea_orm::sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sea_orm::sqlx::{self, AssertSqlSafe, Connection as _};

use super::look::MIGRATIONS;
use super::{Error, Result, known, quoted};

/// SQLite's own table of the numbers that are not used again.
const COUNTERS: &str = "sqlite_sequence";

/// An object of the stranger's schema.
struct Object {
    kind: String,
    name: String,
    sql: Option<String>,
}

impl Object {
    /// Whether it has rows of its own, which a view and a virtual table do not have.
    fn is_plain_table(&self) -> bool {
        let sql = self.sql.as_deref().unwrap_or_default().to_ascii_uppercase();
        self.kind == "table" && sql.starts_with("CREATE TABLE")
    }

    fn is_internal(&self) -> bool {
        self.name.starts_with("sqlite_")
    }

    /// Whether SQLite keeps in it the largest number that a table has ever had.
    fn has_counters(&self) -> bool {
        self.name == COUNTERS && self.is_plain_table()
    }
}

/// The migrations that the backup's database has. Refuses a file that is damaged, or of another program.
pub(super) async fn versions(from: &Path) -> Result<Vec<String>> {
    let no_backup = |_| Error::NotABackup(from.to_owned());
    let options = SqliteConnectOptions::new()
        .filename(from)
        .read_only(true)
        .immutable(true)
        .pragma("trusted_schema", "OFF")
        .pragma("cell_size_check", "ON");
    let mut connection = SqliteConnection::connect_with(&options).await.map_err(no_backup)?;
    let sound: String =
        sqlx::query_scalar("PRAGMA quick_check(1)").fetch_one(&mut connection).await.map_err(no_backup)?;
    let objects = objects(&mut connection, "main").await.map_err(no_backup)?;
    if sound != "ok" || !objects.iter().any(|object| object.name == MIGRATIONS && object.is_plain_table()) {
        return Err(Error::NotABackup(from.to_owned()));
    }
    let sql = AssertSqlSafe(format!("SELECT version FROM {MIGRATIONS}"));
    let versions = sqlx::query_scalar(sql).fetch_all(&mut connection).await.map_err(no_backup)?;
    connection.close().await.map_err(no_backup)?;
    known(versions)
}

/// Copies the rows of the file at `from` into the tables of `draft`, which were made by our migrations. Returns the number
/// of the file's objects that were left out.
pub(super) async fn copy(draft: &mut SqliteConnection, from: &Path) -> Result<u64> {
    // The draft is thrown away when anything fails, and written to the disk at the end.
    for pragma in ["journal_mode = OFF", "synchronous = OFF", "foreign_keys = OFF", "trusted_schema = OFF"] {
        run(draft, format!("PRAGMA {pragma}")).await?;
    }
    sqlx::query("ATTACH ?1 AS backup").bind(address(from)).execute(&mut *draft).await.map_err(unfit)?;
    let theirs = objects(draft, "backup").await.map_err(unfit)?;
    let ours: Vec<_> = objects(draft, "main").await.map_err(unfit)?;
    let tables: BTreeSet<&str> = ours
        .iter()
        .filter(|object| object.kind == "table" && !object.is_internal())
        .map(|object| object.name.as_str())
        .collect();
    // Building an index once is faster than adding each row to it. Those without a statement belong to their tables.
    let indexes: Vec<_> =
        ours.iter().filter(|object| object.kind == "index" && object.sql.is_some()).collect();
    for index in &indexes {
        run(draft, format!("DROP INDEX main.{}", quoted(&index.name))).await?;
    }
    for table in &tables {
        if !theirs.iter().any(|object| object.name == **table && object.is_plain_table()) {
            return Err(Error::NotABackup(from.to_owned()));
        }
        copy_table(draft, table).await?;
    }
    if [&theirs, &ours].iter().all(|objects| objects.iter().any(Object::has_counters)) {
        copy_counters(draft).await?;
    }
    for sql in indexes.iter().filter_map(|index| index.sql.as_deref()) {
        run(draft, sql.to_owned()).await?;
    }
    let broken = sqlx::query("PRAGMA main.foreign_key_check").fetch_optional(&mut *draft).await;
    if broken.map_err(unfit)?.is_some() {
        return Err(Error::Unfit("a row refers to another one that does not exist".to_owned()));
    }
    run(draft, "DETACH backup".to_owned()).await?;
    let is_other = |object: &&Object| {
        let is_ours = object.kind == "index" || tables.contains(object.name.as_str());
        !object.is_internal() && !is_ours
    };
    Ok(theirs.iter().filter(is_other).count() as u64)
}

async fn copy_table(draft: &mut SqliteConnection, table: &str) -> Result<()> {
    let sql = "SELECT name FROM pragma_table_info(?1, 'main') ORDER BY cid";
    let columns: Vec<String> =
        sqlx::query_scalar(sql).bind(table).fetch_all(&mut *draft).await.map_err(unfit)?;
    let (table, columns) = (quoted(table), columns.iter().map(|name| quoted(name)).collect::<Vec<_>>());
    // The name of a table before each column: a name in quotes alone would be taken for a text where it is missing.
    let theirs = columns.iter().map(|name| format!("theirs.{name}")).collect::<Vec<_>>().join(", ");
    let columns = columns.join(", ");
    // Migrations add rows to new tables.
    run(draft, format!("DELETE FROM main.{table}")).await?;
    run(draft, format!("INSERT INTO main.{table} ({columns}) SELECT {theirs} FROM backup.{table} AS theirs"))
        .await
}

/// Copies which numbers are not used again, also those of rows that are gone.
async fn copy_counters(draft: &mut SqliteConnection) -> Result<()> {
    run(draft, format!("DELETE FROM main.{COUNTERS}")).await?;
    let sql = format!(
        "INSERT INTO main.{COUNTERS} (name, seq) \
         SELECT theirs.name, max(theirs.seq) FROM backup.{COUNTERS} AS theirs \
         WHERE typeof(theirs.seq) = 'integer' \
         AND theirs.name IN (SELECT ours.name FROM main.sqlite_schema AS ours WHERE ours.type = 'table') \
         GROUP BY theirs.name"
    );
    run(draft, sql).await
}

async fn objects(on: &mut SqliteConnection, schema: &str) -> sqlx::Result<Vec<Object>> {
    let sql = AssertSqlSafe(format!("SELECT type, name, sql FROM {schema}.sqlite_schema"));
    let rows: Vec<(String, String, Option<String>)> = sqlx::query_as(sql).fetch_all(on).await?;
    Ok(rows.into_iter().map(|(kind, name, sql)| Object { kind, name, sql }).collect())
}

async fn run(on: &mut SqliteConnection, sql: String) -> Result<()> {
    sqlx::query(AssertSqlSafe(sql)).execute(on).await.map(drop).map_err(unfit)
}

/// A failure that the backup's rows cause, or the disk.
fn unfit(error: sqlx::Error) -> Error {
    match super::pinned::failed(error) {
        error if error.is_passing() => error.into(),
        error => Error::Unfit(error.to_string()),
    }
}

/// The file's address, for reading alone: SQLite then creates no file beside it.
fn address(path: &Path) -> String {
    let path = path.display().to_string().replace('%', "%25").replace('?', "%3F").replace('#', "%23");
    format!("file:{path}?mode=ro&immutable=1")
}
