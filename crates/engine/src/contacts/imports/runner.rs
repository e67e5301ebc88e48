//! The one runner of all imports: it writes a few rows of each company's import in turn.
//!
//! Each step is one short transaction that writes a bounded number of rows and the import's progress, so a process that ends loses nothing
//! and repeats nothing. The runner gives way to other writers. It also removes the remains of imports, and rewrites
//! texts of contacts whose tags were renamed or deleted, and the values of own fields that were deleted.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use tokio::time::timeout;
use uuid::Uuid;

use super::reader::{Next, Reader};
use crate::Engine;
use crate::rounds::give_way;
use clock::Timestamp;
use import::{Indexing, Tally};
use store::imports::{Counts, End, Step, Work};
use store::{ContactDraft, Lease};

/// Companies whose imports are read at the same time; each holds some megabytes of its file in memory.
const AT_ONCE: usize = 4;
/// How long an import keeps its place while others wait for one.
const TURN: Duration = Duration::from_secs(10);
/// How often the runner checks for work without being woken.
const LOOK_INTERVAL: Duration = Duration::from_secs(2);
/// The number of created contacts after which the database updates its statistics, and the factor until it does again.
const FIRST_COUNT: u64 = 4_096;
const COUNTED_AGAIN: u64 = 4;
/// Rows of one step of upkeep.
const UPKEEP_ROWS: usize = 250;

pub(crate) struct Runner {
    engine: Engine,
    lease: Arc<Lease>,
    active: Vec<Active>,
}

struct Active {
    work: Work,
    reader: Reader,
    indexing: Indexing,
    since: Instant,
    created: u64,
    next_count: u64,
}

/// Whether an import goes on.
enum Then {
    GoesOn,
    IsOver,
}

impl Runner {
    pub(crate) const fn new(engine: Engine, lease: Arc<Lease>) -> Self {
        Self { engine, lease, active: Vec::new() }
    }

    /// Does the work there is. Returns the pause until the next round.
    pub(crate) async fn round(&mut self) -> Duration {
        if self.engine.0.shared.stopping.load(Ordering::Relaxed) {
            self.active.clear();
            return LOOK_INTERVAL;
        }
        let result = self.work().await;
        if let Err(error) = &result {
            tracing::warn!(%error, "cannot continue imports yet, the runner retries");
            // Rows that were read ahead are read again from the stored progress on.
            self.active.clear();
        }
        if result.is_ok_and(|is_busy| is_busy) {
            return Duration::ZERO;
        }
        // A wake-up begins the next round at once.
        let _ = timeout(LOOK_INTERVAL, self.engine.0.imports.wake.notified()).await;
        Duration::ZERO
    }

    /// Works for one round. Returns whether there was anything to do.
    async fn work(&mut self) -> store::Result<bool> {
        let store = self.engine.store().clone();
        for import in self.engine.0.imports.take_abandoned() {
            if let Err(error) = store.imports().discard_upload(import).await {
                self.engine.0.imports.abandon(import);
                return Err(error);
            }
        }
        if !self.engine.0.shared.cluster.keeps_house() {
            self.active.clear();
            return Ok(false);
        }
        self.fill().await?;
        let mut index = 0;
        while index < self.active.len() {
            give_way(self.engine.store()).await;
            match self.step(index).await? {
                Then::GoesOn => index += 1,
                Then::IsOver => drop(self.active.remove(index)),
            }
        }
        give_way(self.engine.store()).await;
        let mut kept_up = store.contacts().keep_up_tags(UPKEEP_ROWS).await?;
        give_way(self.engine.store()).await;
        kept_up |= store.contacts().keep_up_fields(UPKEEP_ROWS).await?;
        give_way(self.engine.store()).await;
        let cleaned = store.imports().clean().await?;
        Ok(!self.active.is_empty() || kept_up || cleaned)
    }

    /// Starts waiting imports, in place of those that had their turn.
    async fn fill(&mut self) -> store::Result<()> {
        let store = self.engine.store();
        metrics::gauge!("pombo_imports_running").set(store.imports().count_running().await? as f64);
        let waiting = store.imports().at_work(AT_ONCE as u32 * 2).await?;
        let is_active =
            |active: &[Active], company: Uuid| active.iter().any(|active| active.work.company_id == company);
        for work in waiting {
            if is_active(&self.active, work.company_id) {
                continue;
            }
            if self.active.len() == AT_ONCE {
                let had_turn = self.active.iter().position(|active| active.since.elapsed() >= TURN);
                let Some(place) = had_turn else { break };
                self.active.remove(place);
            }
            let pace = store.contacts().gentle_pace();
            let reader = Reader::start(store, &work, pace.rows());
            let indexing = Indexing::new(store, work.company_id, pace);
            let (since, created) = (Instant::now(), 0);
            self.active.push(Active { work, reader, indexing, since, created, next_count: FIRST_COUNT });
        }
        Ok(())
    }

    /// Writes the next rows of an import.
    async fn step(&mut self, index: usize) -> store::Result<Then> {
        let store = self.engine.store().clone();
        let Some(active) = self.active.get_mut(index) else { return Ok(Then::IsOver) };
        let step = match active.reader.next().await {
            Next::Rows(step) => step,
            Next::Interrupted => return Ok(Then::IsOver),
            Next::End(Tally { rows, bytes }) => return self.end(index, End::Finished { rows, bytes }).await,
            Next::Failed(reason) => return self.end(index, End::Failed(reason)).await,
        };
        let started = Instant::now();
        let names = active.reader.names();
        let written =
            store.imports().write_step(&self.lease, &active.work, &step, names, Timestamp::now()).await;
        let counts = match written {
            Ok(Some(counts)) => counts,
            // The import was canceled.
            Ok(None) => return Ok(Then::IsOver),
            Err(error) if error.is_about_a_row() => {
                tracing::error!(import.id = %active.work.id, %error, "the database refuses rows of an import");
                let reason = format!("the database refuses a row before line {}", step.line);
                return self.end(index, End::Failed(reason)).await;
            }
            Err(error) => return Err(error),
        };
        count_rows(&active.work.counts, &counts);
        let Step { position, line, drafts, rejected, .. } = step;
        let created = counts.created - active.work.counts.created;
        active.created += created;
        (active.work.counts, active.work.position, active.work.line) = (counts, position, line);
        let rows = drafts.iter().map(ContactDraft::rows).sum::<usize>() + rejected.len();
        active.indexing.written(rows, started.elapsed()).await?;
        active.reader.set_rows(active.indexing.pace().rows());
        if active.created >= active.next_count {
            store.contacts().grew().await?;
            active.next_count = active.created.saturating_mul(COUNTED_AGAIN);
        }
        Ok(Then::GoesOn)
    }

    async fn end(&mut self, index: usize, mut end: End) -> store::Result<Then> {
        let store = self.engine.store().clone();
        let Some(active) = self.active.get(index) else { return Ok(Then::IsOver) };
        if !store.imports().end(&self.lease, active.work.id, &end).await? {
            let Work { id, bytes, line, counts, .. } = &active.work;
            tracing::error!(import.id = %id, bytes, line, ?counts, ?end, "the rows of an import do not add up");
            let reason = format!(
                "the results of {} rows up to line {line} do not add up to the rows of the file: import it again",
                counts.rows()
            );
            end = End::Failed(reason);
            store.imports().end(&self.lease, active.work.id, &end).await?;
        }
        let Active { work, indexing, created, .. } = self.active.remove(index);
        let Counts { created: all_created, updated, unchanged, rejected, .. } = work.counts;
        let result = if matches!(end, End::Failed(_)) { "failed" } else { "finished" };
        metrics::counter!("pombo_imports_total", "result" => result).increment(1);
        tracing::info!(
            company.id = %work.company_id, import.id = %work.id, result, created = all_created, updated, unchanged,
            rejected, "an import of contacts ended"
        );
        if created > 0 {
            store.contacts().grew().await?;
        }
        // Searches are only slower without the index, which is completed later.
        if let Err(error) = indexing.finish().await {
            tracing::debug!(%error, "cannot index imported contacts yet");
        }
        Ok(Then::GoesOn)
    }
}

fn count_rows(before: &Counts, after: &Counts) {
    for (result, rows) in [
        ("created", after.created - before.created),
        ("updated", after.updated - before.updated),
        ("unchanged", after.unchanged - before.unchanged),
        ("rejected", after.rejected - before.rejected),
    ] {
        metrics::counter!("pombo_imported_rows_total", "result" => result).increment(rows);
    }
}
