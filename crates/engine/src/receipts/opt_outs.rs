//! The pace at which opt-outs of webhooks are written: many in each commit, and not so many that other companies' sends
//! wait for them.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use tokio::sync::{Mutex, MutexGuard, Semaphore};

use crate::{Error, ledger};
use store::Store;

/// The opt-outs of one commit, over all webhooks. The row of each is anywhere in a large table: the database takes some
/// ten times as long for one as for a receipt, whose row is next to others of the same commit, and SQLite writes a page
/// for each. This many take one statement and 1.0 to 1.5 ms, twice as many 1.9 to 2.9 ms.
pub(super) const AT_ONCE: usize = 64;
/// After a commit with opt-outs, a large webhook rests for as long as the commit took, so that other commits go in
/// between.
const REST: u32 = 1;
/// The longest rest: the provider waits for the answer to the whole webhook, and repeats the webhook without one. A
/// longer rest helps no send: each waits for one of these commits at most.
const LONGEST_REST: Duration = Duration::from_millis(1);
/// A webhook with opt-outs is refused while more than this many wait to be written, unless none do: the provider
/// repeats it.
const MOST_WAITING: usize = 5_000;

/// Bounds on what webhooks add to the commits of others.
pub(crate) struct Intake {
    /// Webhooks that need several commits take turns, a commit each: together they hold up others no longer than one of
    /// them does.
    large: Mutex<()>,
    /// The opt-outs that one commit may have, over all webhooks.
    words: Semaphore,
    /// The opt-outs that are not written yet.
    waiting: AtomicUsize,
}

/// The opt-outs of one webhook that are not written yet.
pub(super) struct Waiting<'a> {
    intake: &'a Intake,
    words: usize,
}

impl Intake {
    /// Counts these opt-outs as waiting, or refuses them.
    pub(super) fn enter(&self, words: usize) -> Result<Waiting<'_>, Error> {
        let before = self.waiting.fetch_add(words, Ordering::Relaxed);
        let waiting = Waiting { intake: self, words };
        let is_taken = words == 0 || before == 0 || before + words <= MOST_WAITING;
        is_taken.then_some(waiting).ok_or_else(|| ledger::Error::Unavailable.into())
    }

    /// The turn of a webhook that needs several commits, for one of them.
    pub(super) async fn turn(&self) -> MutexGuard<'_, ()> {
        self.large.lock().await
    }

    /// Waits until there is room for this many opt-outs, at most [`AT_ONCE`], and writes them.
    pub(super) async fn write<T>(&self, words: usize, write: impl Future<Output = T>) -> T {
        // The semaphore is never closed.
        let _permits = self.words.acquire_many(u32::try_from(words).unwrap_or(u32::MAX)).await;
        write.await
    }
}

/// Rests after a write of a large webhook that began then. First the sends that waited for it are written. Then the
/// pages that the webhook changed are copied to the file, a few hundred at a time: a send waits for the disk meanwhile,
/// and would wait longer beside the webhook's next commit, or for the copy of more pages.
pub(super) async fn rest(began: Instant, store: &Store) {
    tokio::time::sleep((began.elapsed() * REST).min(LONGEST_REST)).await;
    if let Err(error) = store.copy_log_at_rest().await {
        // It is copied later.
        tracing::debug!(%error, "cannot copy the database's log");
    }
}

impl Waiting<'_> {
    /// Notes that this many opt-outs are written.
    pub(super) fn written(&mut self, words: usize) {
        self.words -= words;
        self.intake.waiting.fetch_sub(words, Ordering::Relaxed);
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.intake.waiting.fetch_sub(self.words, Ordering::Relaxed);
    }
}

impl Default for Intake {
    fn default() -> Self {
        Self { large: Mutex::default(), words: Semaphore::new(AT_ONCE), waiting: AtomicUsize::new(0) }
    }
}
