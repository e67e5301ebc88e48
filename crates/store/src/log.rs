//! Copies SQLite's write-ahead log to the file in parallel with commits instead of within one.
//!
//! By itself, SQLite copies the log as part of the commit that makes it long, and every later commit waits for
//! thousands of pages. Here another connection copies while commits go on. SQLite restarts the log only when all of it
//! is copied, and under steady writing a few pages are always left; those are copied on the writing connection.

use sea_orm::DbBackend;

use super::pool::Pool;
use super::{Result, Store, fetch_one};

/// A log of this many pages of 4 KiB is copied. A long log is copied with fewer writes, because a page that changed
/// several times is copied once. But the disk then has more to write at once, and commits wait for it: beside webhooks
/// that lift opt-outs all over a large table, the slowest hundredth of single sends took 12.7 ms with 2,048 pages, and
/// 7.0 ms with 512.
const LONG: i64 = 512;
/// The same for a writer that rests between commits, which change pages all over a large table. A send that is committed
/// during a copy waits for the disk until the copy ends: 640 pages take 2.7 to 3.3 ms, 290 pages 1.3 to 1.8 ms.
const LONG_AT_REST: i64 = 256;
/// From this many pages on a commit copies the log anyway: the command line writes too, and copies nothing in the
/// background.
pub(super) const LONGEST: &str = "32768";
/// The log's file is cut back to this many bytes when it begins again: twice the length at which it is copied in any
/// case. Only a reader with an old snapshot makes it longer. To cut a file can take 0.1 s, during which nothing is
/// written.
pub(super) const LIMIT: &str = "268435456";
/// The most pages that are copied on the writing connection.
const FEW: i64 = 64;
/// Passes in parallel with commits before the last pages are copied on the writing connection. Each pass copies only
/// the pages that were written during the previous one.
const PASSES: usize = 3;

/// The length of the log, and how much of it is in the file.
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
    /// Copies SQLite's log to the file if it is long; otherwise the call is cheap. Returns the number of its pages
    /// before. PostgreSQL copies its log by itself: 0.
    pub async fn copy_log(&self) -> Result<i64> {
        self.copy_log_from(LONG).await
    }

    /// Like [`Store::copy_log`], while a writer that makes the log long rests: a shorter log is copied too.
    ///
    /// # Errors
    ///
    /// When the database fails; the log is then copied next time.
    pub async fn copy_log_at_rest(&self) -> Result<i64> {
        self.copy_log_from(LONG_AT_REST).await
    }

    async fn copy_log_from(&self, long: i64) -> Result<i64> {
        if self.backend != DbBackend::Sqlite {
            return Ok(0);
        }
        let Some(mut log) = checkpoint(&self.read, "NOOP").await? else { return Ok(0) };
        let pages = log.pages;
        if pages < long {
            return Ok(pages);
        }
        for _ in 0..PASSES {
            if log.left() == 0 {
                return Ok(pages);
            }
            let Some(after) = checkpoint(&self.read, "PASSIVE").await? else { return Ok(pages) };
            log = after;
        }
        // More is left while much is written, and while a reader uses an old snapshot: the next call goes on.
        if (1..=FEW).contains(&log.left()) {
            checkpoint(&self.write, "PASSIVE").await?;
        }
        Ok(pages)
    }
}

/// The log after this checkpoint; `None` if there is no log, or if another connection copies it now.
async fn checkpoint(on: &Pool, mode: &str) -> Result<Option<Log>> {
    let sql = format!("PRAGMA wal_checkpoint({mode})");
    let Some((is_busy, pages, copied)) = fetch_one::<(i64, i64, i64)>(on, sql, []).await? else {
        return Ok(None);
    };
    Ok((is_busy == 0 && pages >= 0).then_some(Log { pages, copied }))
}
