//! Backups: a copy of the database as it was at one moment, made while a service works, and the restore of one.
//!
//! A backup of a SQLite database is a SQLite database; one of a PostgreSQL database is an archive of `pg_dump`. Either
//! can be read with the database's own tools. The keys that open its secrets are not in the backup: each sealed value
//! names its key. Called by `pombo backup` and `pombo restore` only.
//!
//! A restore takes only the rows of our tables from a backup, and creates the tables itself: the author of the file decides
//! on the data, and runs nothing.

mod client;
mod dump;
mod ended;
mod listing;
mod look;
mod pinned;
mod postgres;
mod rows;
mod sqlite;

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use migration::{Migrator, MigratorTrait as _, UNRELEASED};

pub use self::ended::Ended;
use super::changes::Who;
use super::lease;
use super::{Options, Store};

/// Why a backup was not made or not restored.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A PostgreSQL program is not installed.
    #[error(
        "`{0}` is not installed on this machine: install PostgreSQL's client programs, of the server's version or a \
         newer one (`postgresql-client` of Debian and Ubuntu, `postgresql` of Fedora, `libpq` of Homebrew)"
    )]
    NoTool(&'static str),
    /// A PostgreSQL program failed.
    #[error("`{tool}` failed: {words}")]
    Tool {
        /// Its name.
        tool: &'static str,
        /// The end of its output.
        words: String,
    },
    /// A file cannot be read or written.
    #[error("cannot {attempt} {}: {source}", .path.display())]
    File {
        /// The path.
        path: PathBuf,
        /// "read", "write" or "replace".
        attempt: &'static str,
        /// The system's error.
        source: io::Error,
    },
    /// The file is there already.
    #[error("{} exists already: give another name, or remove it first", .0.display())]
    Exists(PathBuf),
    /// The file is no backup.
    #[error("{} is not a backup that `pombo backup` made", .0.display())]
    NotABackup(PathBuf),
    /// The file has a statement that no backup has.
    #[error("{} has statements that `pombo backup` does not write: it is not restored", .0.display())]
    OddStatement(PathBuf),
    /// The backup's database has migrations that this program does not know.
    #[error("the backup was made by a newer version of Pombo: restore it with that version")]
    Newer,
    /// The backup's database has a schema that was never released.
    #[error("the backup was made before the first release of Pombo, and no later program can restore it")]
    Unreleased,
    /// The backup's rows do not fit the tables of its version.
    #[error("the backup's rows do not fit the tables of its version: {0}")]
    Unfit(String),
    /// The file is of the other kind of database.
    #[error(
        "{} is a backup of a {backup} database, and database.url names a {configured} database: the one cannot be \
         restored into the other", .path.display()
    )]
    OtherDatabase {
        /// The file.
        path: PathBuf,
        /// The backup's kind of database.
        backup: &'static str,
        /// The configured kind.
        configured: &'static str,
    },
    /// There is no database that could be backed up.
    #[error("there is no database at the configured address")]
    NoDatabase,
    /// The database has tables of another program.
    #[error("the database holds tables that are not Pombo's: give Pombo a database of its own")]
    Foreign,
    /// The database has data.
    #[error(
        "the database has data, which a restore would replace: run the restore with --force if the data may be lost"
    )]
    HasData,
    /// The database to replace is open in another process.
    #[error("another process uses the database: end it first ({0})")]
    InUse(String),
    /// Any failure of a statement.
    #[error(transparent)]
    Store(#[from] super::Error),
}

impl Error {
    /// Whether the given file or address is wrong, so that a retry cannot succeed.
    pub const fn is_about_the_file(&self) -> bool {
        matches!(
            self,
            Self::Exists(_) | Self::NotABackup(_) | Self::OddStatement(_) | Self::OtherDatabase { .. }
        )
    }

    fn file(attempt: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::File { path, attempt, source }
    }
}

type Result<T> = std::result::Result<T, Error>;

/// Which database a backup is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// A SQLite database.
    Sqlite,
    /// An archive of `pg_dump` in its custom format.
    Postgres,
}

impl Format {
    /// The kind of the database at this address.
    pub fn of_url(url: &str) -> Self {
        if url.starts_with("sqlite:") { Self::Sqlite } else { Self::Postgres }
    }

    /// The database's name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Sqlite => "SQLite",
            Self::Postgres => "PostgreSQL",
        }
    }

    /// The kind of the backup file, by its first bytes.
    fn of_file(path: &Path) -> Result<Self> {
        let mut beginning = Vec::new();
        let read = File::open(path).and_then(|file| file.take(16).read_to_end(&mut beginning));
        read.map_err(Error::file("read", path))?;
        match &*beginning {
            b"SQLite format 3\0" => Ok(Self::Sqlite),
            [b'P', b'G', b'D', b'M', b'P', ..] => Ok(Self::Postgres),
            _ => Err(Error::NotABackup(path.to_owned())),
        }
    }
}

/// The terms of a restore.
#[derive(Debug, Clone, Copy)]
pub struct Restoring<'a> {
    /// Replaces a database that has data.
    pub force: bool,
    /// No service sent from the database after the backup was made: sends go on where they were.
    pub nothing_sent_since: bool,
    /// Revokes all keys, and ends all sessions and links.
    pub revoke_access: bool,
    /// Namespaces of web sessions' records that are removed, so that no session continues with them.
    pub conversations: &'a [&'a str],
    /// The person who restores, for the record of changes.
    pub who: &'a Who,
}

/// A database that was replaced by a backup.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Replaced {
    /// The work that was ended in it.
    pub ended: Ended,
    /// Objects of the backup that are not Pombo's, such as triggers and functions, which were left out.
    pub ignored_objects: u64,
}

/// Writes a backup of the database to a new file that only its owner may read, and returns the file's size.
///
/// A service may run meanwhile. The file appears under its name when it is complete and on the disk.
///
/// # Errors
///
/// See [`Error`]; no file is left then.
pub async fn write(options: &Options, to: &Path) -> Result<u64> {
    if fs::symlink_metadata(to).is_ok() {
        return Err(Error::Exists(to.to_owned()));
    }
    // SQLite takes some names for something other than a file; none of them begins with a slash.
    let directory = match to.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let directory = fs::canonicalize(directory).map_err(Error::file("write", to))?;
    let draft = directory.join(format!(".pombo-backup-{}", hex::encode(rand::random::<[u8; 8]>())));
    let written = match files::create_new(&draft) {
        Err(source) => Err(Error::file("write", to)(source)),
        Ok(file) => {
            drop(file);
            let copied = match Format::of_url(&options.url) {
                Format::Sqlite => sqlite::write(options, &draft).await,
                Format::Postgres => postgres::write(options, &draft).await,
            };
            copied.and_then(|()| publish(&draft, to, &directory).map_err(Error::file("write", to)))
        }
    };
    if written.is_err() {
        let _ = fs::remove_file(&draft);
    }
    written
}

/// Gives the draft its name once it is on the disk. Returns its size.
fn publish(draft: &Path, to: &Path, directory: &Path) -> io::Result<u64> {
    let file = File::open(draft)?;
    file.sync_all()?;
    let bytes = file.metadata()?.len();
    fs::rename(draft, to)?;
    files::sync_directory(directory)?;
    Ok(bytes)
}

/// Replaces the database with a backup, and ends the sends that may have continued since it was made; see [`Ended`]. If
/// this process is interrupted, the database is either the old one or the restored one.
///
/// # Errors
///
/// See [`Error`]; [`super::Error::Taken`] while a service uses the database.
pub async fn restore(options: &Options, from: &Path, how: Restoring<'_>) -> Result<Replaced> {
    let (backup, configured) = (Format::of_file(from)?, Format::of_url(&options.url));
    if backup != configured {
        let (backup, configured) = (backup.as_str(), configured.as_str());
        return Err(Error::OtherDatabase { path: from.to_owned(), backup, configured });
    }
    let _kept_out = lease::keep_out(options).await?;
    match configured {
        Format::Sqlite => sqlite::restore(options, from, how).await,
        Format::Postgres => postgres::restore(options, from, how).await,
    }
}

/// The migrations that a backup's database has, if this program knows all of them.
fn known(versions: Vec<String>) -> Result<Vec<String>> {
    let known: Vec<_> = Migrator::migrations().iter().map(|known| known.name().to_owned()).collect();
    if versions.iter().any(|version| version == UNRELEASED) {
        Err(Error::Unreleased)
    } else if versions.iter().all(|version| known.contains(version)) {
        Ok(versions)
    } else {
        Err(Error::Newer)
    }
}

/// A name in a statement.
fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// Opens the restored database, brings its schema up to date and ends the sends that may have continued.
async fn settle(options: &Options, how: Restoring<'_>) -> Result<Ended> {
    let store = Store::open(&Options { migrate: true, ..options.clone() }).await?;
    let ended = store.end_restored(how).await;
    store.close().await;
    Ok(ended?)
}
