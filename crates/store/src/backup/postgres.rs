//! Backups of PostgreSQL databases, by `pg_dump` and `pg_restore`.
//!
//! `pg_dump` reads one snapshot and blocks only changes of the schema. A restore trusts no statement of the archive: the
//! tables are created by our own migrations, as they were when the backup was made, and get the archive's rows. Functions,
//! triggers and other objects of the archive are left out. All of it is one transaction, so that the database stays the
//! old one until the commit. The transaction ends with a mark that keeps services out until every send that may have
//! continued is ended.

use std::collections::BTreeSet;
use std::io::{BufReader, Write as _};
use std::path::Path;
use std::process::Stdio;

use sea_orm::sqlx::postgres::PgConnection;
use sea_orm::{ConnectionTrait, DatabaseConnection, DbBackend, Statement, TryGetable};
use tempfile::NamedTempFile;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::client::Client;
use super::dump::{self, Part, Sequence, Stopped, Table};
use super::listing::Listing;
use super::look::{MIGRATIONS, has_table, look};
use super::pinned::{Pinned, failed};
use super::{Error, Replaced, Restoring, Result, settle};
use crate::lease::{DISPATCH, RESTORE};
use crate::{Options, connect};
use clock::Timestamp;

/// How long to wait for locks, which running commands and changes of the schema hold.
const PATIENCE: &str = "10s";

pub(super) async fn write(options: &Options, draft: &Path) -> Result<()> {
    let connection = connect::writer(options).await?;
    let schema = schema(&connection).await.map_err(crate::Error::from)?;
    connection.close().await.map_err(crate::Error::from)?;
    let mut client = Client::of("pg_dump", &options.url)?;
    client
        .command
        .args(["--format=custom", "--no-owner", "--no-privileges", "--no-password"])
        // Only our tables: the user who restores does not need the right to create extensions. A bare asterisk would
        // match the system's own tables too.
        .arg(format!("--table=\"{}\".*", schema.replace('"', "\"\"")))
        .arg(format!("--lock-wait-timeout={PATIENCE}"))
        .arg("--file")
        .arg(draft);
    blocking(move || {
        let status = client.command.status();
        client.judge(status)
    })
    .await
}

/// The parts of the archive that wait to be written, each of some hundred KiB.
const WAITING: usize = 8;

pub(super) async fn restore(options: &Options, from: &Path, how: Restoring<'_>) -> Result<Replaced> {
    let listing = listing(from)?;
    let versions = versions(from, &listing).await?;
    let connection = connect::writer(options).await?;
    let standing = look(&connection).await.map_err(crate::Error::from)?;
    standing.judge(how.force)?;
    let epoch = epoch(&connection).await.map_err(crate::Error::from)?;
    connection.close().await.map_err(crate::Error::from)?;
    let pinned = Pinned::begin(options).await?;
    let replaced = replace(&pinned, from, &listing, &versions, epoch).await;
    pinned.close().await;
    let ignored_objects = replaced?;
    let connection = connect::writer(options).await?;
    // Without statistics, the planner would read whole tables.
    let analyzed = connection.execute_unprepared("ANALYZE").await;
    connection.close().await.map_err(crate::Error::from)?;
    analyzed.map_err(crate::Error::from)?;
    Ok(Replaced { ended: settle(options, how).await?, ignored_objects })
}

/// The schema of the tables.
async fn schema(on: &DatabaseConnection) -> std::result::Result<String, sea_orm::DbErr> {
    let statement = Statement::from_string(DbBackend::Postgres, "SELECT current_schema()::text");
    let row = on.query_one_raw(statement).await?;
    let schema: Option<String> = row.map(|row| row.try_get_by_index(0)).transpose()?.flatten();
    Ok(schema.unwrap_or_else(|| "public".to_owned()))
}

/// The archive's contents. Refuses a file that is damaged, or of another program's database.
fn listing(from: &Path) -> Result<Listing> {
    let mut client = Client::offline("pg_restore")?;
    let listed = client.command.arg("--list").arg(from).stdout(Stdio::piped()).output();
    let (status, list) = match listed {
        Ok(output) => (Ok(output.status), output.stdout),
        Err(error) => (Err(error), Vec::new()),
    };
    client.judge(status)?;
    let listing = Listing::read(&String::from_utf8_lossy(&list));
    if listing.is_ours() { Ok(listing) } else { Err(Error::NotABackup(from.to_owned())) }
}

/// The migrations that the backup's database has.
async fn versions(from: &Path, listing: &Listing) -> Result<Vec<String>> {
    let (mut parts, reader) = read(from, &listing.migrations())?;
    let (mut column, mut rows) = (None, Vec::new());
    while let Some(part) = parts.recv().await {
        match part {
            Part::Begin(Table { name, columns }) if name == MIGRATIONS => {
                column = columns.iter().position(|column| column == "version");
            }
            Part::Rows(bytes) if column.is_some() => rows.extend(bytes),
            _ => {}
        }
    }
    joined(reader, from).await?;
    let no_backup = || Error::NotABackup(from.to_owned());
    let column = column.ok_or_else(no_backup)?;
    let rows = String::from_utf8(rows).map_err(|_| no_backup())?;
    let version = |row: &str| row.split('\t').nth(column).map(str::to_owned);
    super::known(rows.lines().filter_map(version).collect())
}

/// The epoch of the lease on dispatching in the database that is replaced: a process that lost its lock must not find
/// its own epoch again.
async fn epoch(on: &DatabaseConnection) -> std::result::Result<i64, sea_orm::DbErr> {
    if !has_table(on, "lease").await? {
        return Ok(0);
    }
    let sql = "SELECT epoch FROM lease WHERE name = $1";
    let statement = Statement::from_sql_and_values(DbBackend::Postgres, sql, [DISPATCH.into()]);
    on.query_one_raw(statement).await?.map_or(Ok(0), |row| row.try_get_by_index(0))
}

/// Replaces the database's tables by new ones with the rows of the archive, in one transaction. Returns the number of the
/// archive's objects that were left out.
async fn replace(
    pinned: &Pinned,
    from: &Path,
    listing: &Listing,
    versions: &[String],
    epoch: i64,
) -> Result<u64> {
    pinned.run(&format!("SET LOCAL lock_timeout = '{PATIENCE}'")).await?;
    pinned.run("SET LOCAL client_min_messages = warning").await?;
    pinned.run(DROP_ALL).await?;
    migration::create_as_of(&pinned.connection, versions).await.map_err(crate::Error::from)?;
    let tables = strings(pinned, "SELECT tablename::text FROM pg_tables WHERE schemaname = current_schema()");
    let tables: BTreeSet<_> = tables.await?.into_iter().collect();
    let named = tables.iter().map(|table| quoted(table)).collect::<Vec<_>>().join(", ");
    // Migrations add rows to new tables.
    pinned.run(&format!("TRUNCATE {named}")).await?;
    // Building an index once is faster than adding each row to it, and the tables may come in any order.
    let (foreign_keys, indexes) = (pairs(pinned, FOREIGN_KEYS).await?, pairs(pinned, INDEXES).await?);
    for (drop, _) in foreign_keys.iter().chain(&indexes) {
        pinned.run(drop).await?;
    }
    load(pinned, from, &listing.rows(&tables), &tables).await?;
    for (_, create) in indexes.iter().chain(&foreign_keys) {
        pinned.run(create).await.map_err(unfit)?;
    }
    pinned.run(&end(epoch)).await?;
    pinned.commit().await?;
    Ok(listing.others(&tables))
}

/// Drops all tables: those that only the present schema has would be in the way of the next migration.
const DROP_ALL: &str = "DO $pombo$ DECLARE name text; BEGIN
    FOR name IN SELECT tablename FROM pg_tables WHERE schemaname = current_schema() LOOP
    EXECUTE format('DROP TABLE IF EXISTS %I.%I CASCADE', current_schema(), name);
    END LOOP; END $pombo$";
/// The statements that drop and create each foreign key of our schema.
const FOREIGN_KEYS: &str = "SELECT format('ALTER TABLE %s DROP CONSTRAINT %I', conrelid::regclass, conname),
        format('ALTER TABLE %s ADD CONSTRAINT %I %s', conrelid::regclass, conname, pg_get_constraintdef(oid))
    FROM pg_constraint WHERE contype = 'f' AND connamespace = current_schema()::regnamespace";
/// The statements that drop and create each index of our schema, except those of constraints.
const INDEXES: &str = "SELECT format('DROP INDEX %s', indexrelid::regclass), pg_get_indexdef(indexrelid)
    FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
    WHERE relnamespace = current_schema()::regnamespace
        AND NOT EXISTS (SELECT 1 FROM pg_constraint WHERE conindid = indexrelid)";

/// Copies the rows of the archive's entries in `list` into our tables.
async fn load(pinned: &Pinned, from: &Path, list: &str, tables: &BTreeSet<String>) -> Result<()> {
    let (parts, reader) = read(from, list)?;
    let copied = copy(pinned, parts, tables).await;
    // A table whose rows end too early is the fault of the file, whatever the database says about it. The reader ends
    // without a fault when nothing more is taken.
    joined(reader, from).await.and(copied)
}

async fn copy(pinned: &Pinned, mut parts: mpsc::Receiver<Part>, tables: &BTreeSet<String>) -> Result<()> {
    let sequences = strings(
        pinned,
        "SELECT relname::text FROM pg_class WHERE relkind = 'S' AND relnamespace = current_schema()::regnamespace",
    );
    let sequences: BTreeSet<_> = sequences.await?.into_iter().collect();
    let mut left: BTreeSet<&str> = tables.iter().map(String::as_str).collect();
    while let Some(part) = parts.recv().await {
        match part {
            Part::Begin(table) => {
                // Each table once: rows of a table of the same name in another schema are not ours.
                let is_wanted = left.remove(table.name.as_str());
                let mut connection = pinned.pool.acquire().await.map_err(failed)?;
                copy_table(&mut connection, is_wanted.then_some(&table), &mut parts).await?;
            }
            Part::Sequence(Sequence { name, value, is_called }) if sequences.contains(&name) => {
                let name = quoted(&name).replace('\'', "''");
                pinned.run(&format!("SELECT setval('{name}'::regclass, {value}, {is_called})")).await?;
            }
            Part::Sequence(_) | Part::Rows(_) | Part::End => {}
        }
    }
    Ok(())
}

/// Writes the rows up to the end of the table; with `None`, they are left out.
async fn copy_table(
    connection: &mut PgConnection,
    table: Option<&Table>,
    parts: &mut mpsc::Receiver<Part>,
) -> Result<()> {
    let mut copy = match table {
        None => None,
        Some(Table { name, columns }) => {
            let columns = columns.iter().map(|column| quoted(column)).collect::<Vec<_>>().join(", ");
            let statement = format!("COPY {} ({columns}) FROM STDIN", quoted(name));
            Some(connection.copy_in_raw(&statement).await.map_err(|error| unfit(failed(error).into()))?)
        }
    };
    while let Some(part) = parts.recv().await {
        match (part, &mut copy) {
            (Part::Rows(rows), Some(copy)) => {
                copy.send(rows).await.map_err(failed)?;
            }
            (Part::End, _) => break,
            _ => {}
        }
    }
    match copy {
        Some(copy) => copy.finish().await.map(drop).map_err(|error| unfit(failed(error).into())),
        None => Ok(()),
    }
}

/// A failure that the backup's rows cause.
fn unfit(error: Error) -> Error {
    match error {
        Error::Store(error) if !error.is_passing() => Error::Unfit(error.to_string()),
        other => other,
    }
}

/// Begins to read the rows of the archive's entries in `list`.
fn read(from: &Path, list: &str) -> Result<(mpsc::Receiver<Part>, JoinHandle<Result<()>>)> {
    let directory = std::env::temp_dir();
    let mut chosen = NamedTempFile::new().map_err(Error::file("write", &directory))?;
    chosen.write_all(list.as_bytes()).map_err(Error::file("write", &directory))?;
    let mut client = Client::offline("pg_restore")?;
    client
        .command
        .args(["--data-only", "--no-owner", "--no-privileges", "--file=-", "--use-list"])
        .arg(chosen.path())
        .arg(from)
        .stdout(Stdio::piped());
    let (give, parts) = mpsc::channel(WAITING);
    let from = from.to_owned();
    let reader = tokio::task::spawn_blocking(move || {
        let _chosen = chosen;
        follow(client, &from, |part| give.blocking_send(part).is_ok())
    });
    Ok((parts, reader))
}

/// Runs `pg_restore` and gives away the parts of its output.
fn follow(mut client: Client, from: &Path, give: impl FnMut(Part) -> bool) -> Result<()> {
    let mut child = client.command.spawn().map_err(|error| client.unstarted(&error))?;
    let text = child.stdout.take().map(BufReader::new);
    let read = text.map_or(Ok(()), |text| dump::read(text, give));
    if read.is_err() {
        // It may have ended already.
        let _ = child.kill();
    }
    let status = child.wait();
    match read {
        Ok(()) => client.judge(status),
        // The receiver knows its own failure.
        Err(Stopped::Unwanted) => Ok(()),
        Err(Stopped::Odd) => Err(Error::OddStatement(from.to_path_buf())),
        Err(Stopped::Unreadable(error)) => {
            client.judge(status)?;
            Err(Error::file("read", from)(error))
        }
    }
}

async fn joined(reader: JoinHandle<Result<()>>, from: &Path) -> Result<()> {
    match reader.await {
        Ok(result) => result,
        Err(_) => Err(Error::file("read", from)(std::io::ErrorKind::Interrupted.into())),
    }
}

/// The first values of a query's rows.
async fn strings(pinned: &Pinned, sql: &str) -> Result<Vec<String>> {
    query(pinned, sql, |row| String::try_get_by_index(row, 0)).await
}

/// The first two values of a query's rows.
async fn pairs(pinned: &Pinned, sql: &str) -> Result<Vec<(String, String)>> {
    query(pinned, sql, |row| Ok((String::try_get_by_index(row, 0)?, String::try_get_by_index(row, 1)?))).await
}

async fn query<T>(
    pinned: &Pinned,
    sql: &str,
    read: impl Fn(&sea_orm::QueryResult) -> std::result::Result<T, sea_orm::TryGetError>,
) -> Result<Vec<T>> {
    let statement = Statement::from_string(DbBackend::Postgres, sql);
    let rows = pinned.connection.query_all_raw(statement).await.map_err(crate::Error::from)?;
    let read: std::result::Result<Vec<_>, _> = rows.iter().map(read).collect();
    Ok(read.map_err(|error| crate::Error::from(sea_orm::DbErr::from(error)))?)
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

fn end(epoch: i64) -> String {
    let now = Timestamp::now().millis();
    format!(
        "INSERT INTO lease (name, epoch, holder, acquired_at) VALUES ('{DISPATCH}', {epoch} + 1, 'pombo restore', {now})
         ON CONFLICT (name) DO UPDATE SET epoch = GREATEST(lease.epoch + 1, excluded.epoch);
         INSERT INTO lease (name, epoch, holder, acquired_at) VALUES ('{RESTORE}', 0, 'pombo restore', {now})
         ON CONFLICT (name) DO NOTHING"
    )
}

/// Waits for programs, without a time limit.
async fn blocking(work: impl FnOnce() -> Result<()> + Send + 'static) -> Result<()> {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        Err(_) => Err(crate::Error::Unavailable("the backup broke off".to_owned()).into()),
    }
}
