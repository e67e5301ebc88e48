//! Backups of SQLite databases.
//!
//! `VACUUM INTO` reads one snapshot, which blocks no writer of a database with a write-ahead log: the log grows
//! meanwhile, and is copied to the file afterwards. The copy is a database without free pages. A restore creates a database
//! with our own migrations and [copies the rows](super::rows) of the backup into it.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use sea_orm::sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sea_orm::sqlx::{self, Connection as _};

use super::look::look;
use super::{Error, Replaced, Restoring, Result, rows, settle};
use crate::connect::{self, BUSY_TIMEOUT};
use crate::{Options, address};

/// How long to wait for a command that is about to end.
const MOMENT: Duration = Duration::from_secs(2);
/// Files that SQLite keeps beside a database in use.
const BESIDE: [&str; 3] = ["-wal", "-shm", "-journal"];

pub(super) async fn write(options: &Options, draft: &Path) -> Result<()> {
    let path = path_of(&options.url)?;
    if !path.exists() {
        return Err(Error::NoDatabase);
    }
    let target = draft.to_str().ok_or_else(|| {
        let source = io::Error::new(io::ErrorKind::InvalidInput, "its directory's name is not UTF-8");
        Error::file("write", draft)(source)
    })?;
    let mut connection = open(&path, BUSY_TIMEOUT).await?;
    sqlx::query("VACUUM INTO ?1").bind(target).execute(&mut connection).await.map_err(failed)?;
    connection.close().await.map_err(failed)
}

/// The new database is built beside the one that it replaces, and takes its name when it is complete.
pub(super) async fn restore(options: &Options, from: &Path, how: Restoring<'_>) -> Result<Replaced> {
    let target = path_of(&options.url)?;
    let exists = fs::metadata(&target).is_ok_and(|metadata| metadata.len() > 0);
    let is_sound = if exists { judge(options, how).await? } else { false };
    let draft = beside(&target, ".restoring");
    remove(&draft)?;
    let restored = prepare(options, from, &draft, how).await;
    let replaced = match restored {
        Ok(restored) => replace(&draft, &target, is_sound).await.map(|()| restored),
        Err(error) => Err(error),
    };
    if replaced.is_err() {
        let _ = remove(&draft);
    }
    replaced
}

/// Refuses to replace a database with data, and returns whether the target is a database that can be opened.
async fn judge(options: &Options, how: Restoring<'_>) -> Result<bool> {
    let connection = match connect::writer(options).await {
        Ok(connection) => connection,
        // A database that cannot be opened may be the reason to restore.
        Err(_) if how.force => return Ok(false),
        Err(error) => return Err(error.into()),
    };
    let standing = look(&connection).await.map_err(crate::Error::from);
    connection.close().await.map_err(crate::Error::from)?;
    match standing {
        Ok(standing) => standing.judge(how.force).map(|()| true),
        Err(_) if how.force => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Builds a database of the backup's rows that a service may use, in one file.
async fn prepare(options: &Options, from: &Path, draft: &Path, how: Restoring<'_>) -> Result<Replaced> {
    let versions = rows::versions(from).await?;
    files::create(draft).map_err(Error::file("write", draft))?;
    let options = Options { url: url_of(draft), ..options.clone() };
    let connection = connect::writer(&options).await?;
    let created = migration::create_as_of(&connection, &versions).await;
    connection.close().await.map_err(crate::Error::from)?;
    created.map_err(crate::Error::from)?;
    let mut connection = open(draft, MOMENT).await?;
    let copied = rows::copy(&mut connection, from).await;
    connection.close().await.map_err(failed)?;
    let ignored_objects = copied?;
    let ended = settle(&options, how).await?;
    into_one_file(draft).await?;
    File::open(draft).and_then(|file| file.sync_all()).map_err(Error::file("write", draft))?;
    Ok(Replaced { ended, ignored_objects })
}

/// Replaces the database, which no process may have open, with the draft. Removes the old database's log, which SQLite
/// would take for the new one's.
async fn replace(draft: &Path, target: &Path, is_sound: bool) -> Result<()> {
    if is_sound {
        into_one_file(target).await.map_err(|error| Error::InUse(error.to_string()))?;
    }
    for ending in BESIDE {
        remove_file(&beside(target, ending))?;
    }
    fs::rename(draft, target).map_err(Error::file("replace", target))?;
    let directory = target.parent().filter(|parent| !parent.as_os_str().is_empty());
    files::sync_directory(directory.unwrap_or(Path::new("."))).map_err(Error::file("replace", target))
}

/// Copies the log into the database's file and removes it. Fails while another connection is open.
async fn into_one_file(path: &Path) -> Result<()> {
    let mut connection = open(path, MOMENT).await?;
    let mode: String = sqlx::query_scalar("PRAGMA journal_mode = DELETE")
        .fetch_one(&mut connection)
        .await
        .map_err(failed)?;
    connection.close().await.map_err(failed)?;
    if mode == "delete" {
        Ok(())
    } else {
        Err(crate::Error::Unavailable(format!("its log stays in the mode {mode}")).into())
    }
}

async fn open(path: &Path, patience: Duration) -> Result<SqliteConnection> {
    let options = SqliteConnectOptions::new().filename(path).busy_timeout(patience);
    SqliteConnection::connect_with(&options).await.map_err(failed)
}

fn path_of(url: &str) -> Result<PathBuf> {
    Ok(address::sqlite(url)?.get_filename().to_owned())
}

/// The driver decodes the path, and takes what follows a question mark for parameters.
fn url_of(path: &Path) -> String {
    format!("sqlite://{}", path.display().to_string().replace('%', "%25").replace('?', "%3F"))
}

fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(ending);
    name.into()
}

/// Removes a database with the files beside it.
fn remove(database: &Path) -> Result<()> {
    remove_file(database)?;
    BESIDE.iter().try_for_each(|ending| remove_file(&beside(database, ending)))
}

fn remove_file(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(Error::file("replace", path)(error)),
        _ => Ok(()),
    }
}

#[expect(clippy::needless_pass_by_value, reason = "the shape that `map_err` takes")]
fn failed(error: sqlx::Error) -> Error {
    crate::Error::Unavailable(error.to_string()).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_with_odd_characters_survives_the_address() {
        let path = Path::new("/tmp/100% mine?/pombo.db");
        assert_eq!(path_of(&url_of(path)).unwrap(), path);
    }

    #[test]
    fn files_beside_a_database_begin_with_its_whole_name() {
        assert_eq!(beside(Path::new("/a/pombo.db"), "-wal"), Path::new("/a/pombo.db-wal"));
    }
}
