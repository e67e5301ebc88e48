//! Backups of PostgreSQL databases, by `pg_dump` and `pg_restore`.
//!
//! `pg_dump` reads one snapshot and blocks only changes of the schema. A restore is one transaction: the output of
//! `pg_restore` goes to `psql` between our own first and last statements, so that the database stays the old one until
//! the commit. The transaction ends with a mark that keeps services out until every send that may have continued is
//! ended.

use std::io::{self, Write as _};
use std::path::Path;
use std::process::Stdio;

use migration::{Migrator, MigratorTrait};
use sea_orm::{ConnectionTrait, DatabaseConnection, DbBackend, Statement};

use super::client::Client;
use super::look::{MIGRATIONS, has_table, look};
use super::{Ended, Error, Restoring, Result, settle};
use crate::clock::Timestamp;
use crate::store::lease::{DISPATCH, RESTORE};
use crate::store::{self, Options, connect};

/// How long to wait for locks, which running commands and changes of the schema hold.
const PATIENCE: &str = "10s";

pub(super) async fn write(options: &Options, draft: &Path) -> Result<()> {
    let connection = connect::writer(options).await?;
    let schema = schema(&connection).await.map_err(store::Error::from)?;
    connection.close().await.map_err(store::Error::from)?;
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

pub(super) async fn restore(options: &Options, from: &Path, how: Restoring<'_>) -> Result<Ended> {
    check(from)?;
    let connection = connect::writer(options).await?;
    let standing = look(&connection).await.map_err(store::Error::from)?;
    standing.judge(how.force)?;
    let epoch = epoch(&connection).await.map_err(store::Error::from)?;
    connection.close().await.map_err(store::Error::from)?;
    replay(options, from, epoch).await?;
    let connection = connect::writer(options).await?;
    // Without statistics, the planner would read whole tables.
    let analyzed = connection.execute_unprepared("ANALYZE").await;
    connection.close().await.map_err(store::Error::from)?;
    analyzed.map_err(store::Error::from)?;
    settle(options, how).await
}

/// The schema of the tables.
async fn schema(on: &DatabaseConnection) -> std::result::Result<String, sea_orm::DbErr> {
    let statement = Statement::from_string(DbBackend::Postgres, "SELECT current_schema()::text");
    let row = on.query_one_raw(statement).await?;
    let schema: Option<String> = row.map(|row| row.try_get_by_index(0)).transpose()?.flatten();
    Ok(schema.unwrap_or_else(|| "public".to_owned()))
}

/// Refuses a file that is damaged, or of another program's database.
fn check(from: &Path) -> Result<()> {
    let mut client = Client::offline("pg_restore")?;
    let listed = client.command.arg("--list").arg(from).stdout(Stdio::piped()).output();
    let (status, list) = match listed {
        Ok(output) => (Ok(output.status), output.stdout),
        Err(error) => (Err(error), Vec::new()),
    };
    client.judge(status)?;
    let is_ours = String::from_utf8_lossy(&list).lines().any(|line| {
        let mut words = line.split_whitespace();
        words.any(|word| word == "DATA") && words.any(|word| word == MIGRATIONS)
    });
    if is_ours { Ok(()) } else { Err(Error::NotABackup(from.to_owned())) }
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

/// Replaces the database's tables by those of the archive, in one transaction.
async fn replay(options: &Options, from: &Path, epoch: i64) -> Result<()> {
    let mut reader = Client::offline("pg_restore")?;
    reader.command.args(["--no-owner", "--no-privileges", "--file=-"]).arg(from).stdout(Stdio::piped());
    let mut writer = Client::of("psql", &options.url)?;
    writer
        .command
        .args(["--no-psqlrc", "--quiet", "--no-password", "--set=ON_ERROR_STOP=1", "--file=-"])
        .stdin(Stdio::piped());
    blocking(move || {
        let mut psql = writer.command.spawn().map_err(|error| writer.unstarted(&error))?;
        let mut pg_restore = match reader.command.spawn() {
            Ok(child) => child,
            Err(error) => {
                // `psql` got no statements: it ends when its input is closed.
                drop(psql.stdin.take());
                let _ = psql.wait();
                return Err(reader.unstarted(&error));
            }
        };
        let mut input = psql.stdin.take();
        let copied = match (input.as_mut(), pg_restore.stdout.take()) {
            (Some(input), Some(mut archive)) => {
                input.write_all(beginning().as_bytes()).and_then(|()| io::copy(&mut archive, input).map(drop))
            }
            _ => Err(io::ErrorKind::BrokenPipe.into()),
        };
        let read = pg_restore.wait();
        let read = reader.judge(read);
        // Without the last line, the transaction is rolled back.
        if let (Ok(()), Ok(()), Some(input)) = (&read, &copied, input.as_mut()) {
            let _ = input.write_all(end(epoch).as_bytes());
        }
        drop(input);
        let written = psql.wait();
        // When `psql` fails, `pg_restore` fails only because its output is not read any more.
        writer.judge(written)?;
        read?;
        copied.map_err(|error| writer.unstarted(&error))
    })
    .await
}

/// Drops all tables: those that only the present schema has would be in the way of the next migration.
fn beginning() -> String {
    format!(
        "BEGIN;\nSET LOCAL lock_timeout = '{PATIENCE}';\nSET LOCAL client_min_messages = warning;\n\
         DO $pombo$ DECLARE name text; BEGIN\n\
         FOR name IN SELECT tablename FROM pg_tables WHERE schemaname = current_schema() LOOP\n\
         EXECUTE format('DROP TABLE IF EXISTS %I.%I CASCADE', current_schema(), name);\n\
         END LOOP; END $pombo$;\n"
    )
}

fn end(epoch: i64) -> String {
    let known: Vec<_> =
        Migrator::migrations().iter().map(|migration| format!("'{}'", migration.name())).collect();
    let (known, now) = (known.join(", "), Timestamp::now().millis());
    format!(
        "\nRESET search_path;\n\
         DO $pombo$ BEGIN\n\
         IF EXISTS (SELECT 1 FROM {MIGRATIONS} WHERE version NOT IN ({known})) THEN\n\
         RAISE EXCEPTION 'the backup was made by a newer version of Pombo: restore it with that version';\n\
         END IF; END $pombo$;\n\
         INSERT INTO lease (name, epoch, holder, acquired_at) VALUES ('{DISPATCH}', {epoch} + 1, 'pombo restore', {now})\n\
         ON CONFLICT (name) DO UPDATE SET epoch = GREATEST(lease.epoch + 1, excluded.epoch);\n\
         INSERT INTO lease (name, epoch, holder, acquired_at) VALUES ('{RESTORE}', 0, 'pombo restore', {now})\n\
         ON CONFLICT (name) DO NOTHING;\n\
         COMMIT;\n"
    )
}

/// Waits for programs, without a time limit.
async fn blocking(work: impl FnOnce() -> Result<()> + Send + 'static) -> Result<()> {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        Err(_) => Err(store::Error::Unavailable("the backup broke off".to_owned()).into()),
    }
}
