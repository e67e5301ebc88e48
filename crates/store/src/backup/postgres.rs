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

use sea_orm::sqlx::{self, PgConnection};
use sea_orm::{ConnectionTrait as _, DatabaseConnection};
use tempfile::NamedTempFile;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::client::Client;
use super::dump::{self, Part, Sequence, Stopped, Table};
use super::listing::Listing;
use super::look::{MIGRATIONS, has_table, look, row};
use super::pinned::{Pinned, failed};
use super::{Error, Replaced, Restoring, Result, quoted, settle};
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
        .arg(format!("--table={}.*", quoted(&schema)))
        .arg(format!("--lock-wait-timeout={PATIENCE}"))
        .arg("--file")
        .arg(draft);
    let dumped = tokio::task::spawn_blocking(move || {
        let status = client.command.status();
        client.judge(status)
    });
    joined(dumped, "write", draft).await
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
    let found = row(on, "SELECT current_schema()::text", []).await?;
    let schema: Option<String> = found.map(|row| row.try_get_by_index(0)).transpose()?.flatten();
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
    joined(reader, "read", from).await?;
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
    let found = row(on, "SELECT epoch FROM lease WHERE name = $1", [DISPATCH.into()]).await?;
    found.map_or(Ok(0), |row| row.try_get_by_index(0))
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
    let tables = names(pinned, TABLES).await?;
    let named = tables.iter().map(|table| quoted(table)).collect::<Vec<_>>().join(", ");
    // Migrations add rows to new tables.
    pinned.run(&format!("TRUNCATE {named}")).await?;
    // Building an index once is faster than adding each row to it, and the tables may come in any order.
    let (foreign_keys, indexes) =
        (statements(pinned, FOREIGN_KEYS).await?, statements(pinned, INDEXES).await?);
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
/// The names of our tables, and of our sequences.
const TABLES: &str = "SELECT tablename::text FROM pg_tables WHERE schemaname = current_schema()";
const SEQUENCES: &str = "SELECT relname::text FROM pg_class
    WHERE relkind = 'S' AND relnamespace = current_schema()::regnamespace";
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
    joined(reader, "read", from).await.and(copied)
}

async fn copy(pinned: &Pinned, mut parts: mpsc::Receiver<Part>, tables: &BTreeSet<String>) -> Result<()> {
    let sequences = names(pinned, SEQUENCES).await?;
    let mut left = tables.clone();
    while let Some(part) = parts.recv().await {
        match part {
            // Each table once: rows of a table of the same name in another schema are not ours.
            Part::Begin(table) if left.remove(&table.name) => {
                let mut connection = pinned.pool.acquire().await.map_err(failed)?;
                copy_table(&mut connection, &table, &mut parts).await?;
            }
            Part::Sequence(Sequence { name, value, is_called }) if sequences.contains(&name) => {
                let name = quoted(&name).replace('\'', "''");
                pinned.run(&format!("SELECT setval('{name}'::regclass, {value}, {is_called})")).await?;
            }
            Part::Begin(_) | Part::Rows(_) | Part::End | Part::Sequence(_) => {}
        }
    }
    Ok(())
}

/// Writes the rows up to the end of the table.
async fn copy_table(
    connection: &mut PgConnection,
    Table { name, columns }: &Table,
    parts: &mut mpsc::Receiver<Part>,
) -> Result<()> {
    let columns = columns.iter().map(|column| quoted(column)).collect::<Vec<_>>().join(", ");
    let statement = format!("COPY {} ({columns}) FROM STDIN", quoted(name));
    let refused = |error| unfit(failed(error).into());
    let mut copy = connection.copy_in_raw(&statement).await.map_err(refused)?;
    while let Some(Part::Rows(rows)) = parts.recv().await {
        copy.send(rows).await.map_err(failed)?;
    }
    copy.finish().await.map(drop).map_err(refused)
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

/// The result of a thread that did this with a file. A thread that panicked was interrupted.
async fn joined(thread: JoinHandle<Result<()>>, did: &'static str, file: &Path) -> Result<()> {
    thread.await.unwrap_or_else(|_| Err(Error::file(did, file)(std::io::ErrorKind::Interrupted.into())))
}

/// Pairs of statements: the one that drops an object, and the one that creates it.
async fn statements(pinned: &Pinned, sql: &'static str) -> Result<Vec<(String, String)>> {
    Ok(sqlx::query_as(sql).fetch_all(&pinned.pool).await.map_err(failed)?)
}

async fn names(pinned: &Pinned, sql: &'static str) -> Result<BTreeSet<String>> {
    let names = sqlx::query_scalar(sql).fetch_all(&pinned.pool).await.map_err(failed)?;
    Ok(names.into_iter().collect())
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
