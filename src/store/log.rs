//! SQLite's write-ahead log, copied to the file beside the commits instead of within one.
//!
//! Left to itself, SQLite copies the log as part of the commit that makes it long, and every commit behind waits for
//! thousands of pages: of single sends beside a million others, the slowest hundredth took twice as long. Here
//! another connection copies while commits go on. SQLite begins the log again only when all of it is copied and on the
//! disk, and under steady writing there is always a little more; so that little is copied in the writer's turn, when
//! everything else is on the disk already.

use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use sea_orm::{ConnectionTrait, DatabaseConnection, DbBackend, Statement};

use super::{Result, Store};

/// A log of so many pages of 4 KiB is copied. A page that is written again and again is copied once: rows that go to
/// places all over the indexes are written a quarter faster than with the usual 1,000.
const LONG: i64 = 8_192;
/// From so many pages on a commit copies the log after all: other programs that write have nobody who does it for them.
pub(super) const LONGEST: &str = "32768";
/// Not more pages than these are copied in the writer's turn.
const FEW: i64 = 1_024;
/// How often pages are copied beside the commits before the rest is in the writer's turn: each time there are only
/// those that were written meanwhile.
const PASSES: usize = 2;

/// How the log is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Log {
    pages: i64,
    copied: i64,
}

impl Log {
    const fn left(self) -> i64 {
        self.pages - self.copied
    }
}

impl Store {
    /// Copies SQLite's log to the file if it is long. Cheap if it is not. PostgreSQL does this by itself.
    ///
    /// # Errors
    ///
    /// Those of any statement; the log is then copied next time.
    pub async fn copy_log(&self) -> Result<()> {
        if self.backend != DbBackend::Sqlite {
            return Ok(());
        }
        let Some(mut log) = checkpoint(&self.read, "NOOP").await? else { return Ok(()) };
        if log.pages < LONG {
            return Ok(());
        }
        for _ in 0..PASSES {
            if log.left() == 0 {
                return Ok(());
            }
            let Some(after) = checkpoint(&self.read, "PASSIVE").await? else { return Ok(()) };
            log = after;
            if log.left() > 0 {
                // SQLite left that to whoever copies the last page.
                self.sync_file().await?;
            }
        }
        // More is left only if a reader holds on to an old state: then nothing can be done yet.
        if (1..=FEW).contains(&log.left()) {
            checkpoint(&self.write, "PASSIVE").await?;
        }
        Ok(())
    }
}

impl Store {
    /// Waits until the disk has what was copied to the database's file.
    async fn sync_file(&self) -> Result<()> {
        let sql = "SELECT file FROM pragma_database_list WHERE name = 'main'";
        let Some(row) = self.row(sql, []).await? else { return Ok(()) };
        let path: String = row.try_get_by_index(0)?;
        let synced = tokio::task::spawn_blocking(move || opened(path)?.sync_data()).await;
        if let Ok(Err(error)) = synced {
            tracing::debug!(%error, "cannot wait for the disk beside the commits");
        }
        Ok(())
    }
}

/// The file, opened once and closed by the end of the process: closing any descriptor of a file loses the locks that
/// SQLite has on it.
fn opened(path: String) -> io::Result<Arc<File>> {
    static FILES: Mutex<Option<HashMap<String, Arc<File>>>> = Mutex::new(None);
    let mut files = FILES.lock().unwrap_or_else(PoisonError::into_inner);
    let files = files.get_or_insert_default();
    if let Some(file) = files.get(&path) {
        return Ok(Arc::clone(file));
    }
    let file = Arc::new(File::open(&path)?);
    files.insert(path, Arc::clone(&file));
    Ok(file)
}

/// How the log is after this; `None` if there is none, or if somebody else copies it just now.
async fn checkpoint(on: &DatabaseConnection, mode: &str) -> Result<Option<Log>> {
    let sql = format!("PRAGMA wal_checkpoint({mode})");
    let Some(row) = on.query_one_raw(Statement::from_string(DbBackend::Sqlite, sql)).await? else {
        return Ok(None);
    };
    let (is_busy, pages, copied): (i64, i64, i64) =
        (row.try_get_by_index(0)?, row.try_get_by_index(1)?, row.try_get_by_index(2)?);
    Ok((is_busy == 0 && pages >= 0).then_some(Log { pages, copied }))
}
