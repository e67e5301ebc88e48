//! Retention: what nobody needs any more goes, in steps so small that nobody notices.
//!
//! A round looks through everything that has an age: sends with what they left, kept answers, events, the record
//! of changes, quotas and holds. Each step is one short transaction; after it nothing is done for many times as
//! long, and while others write it waits for them, for a bounded time. A round that is cut short, by the end
//! of the process or by a database that is away, is simply continued by the next. The sentinel calls.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use crate::clock::Timestamp;
use crate::config;
use crate::engine::KEPT;
use crate::engine::shared::Shared;
use crate::store::retention::{Aged, Cursor, Step};
use crate::store::{self, Lease};

/// Rows that one step removes at most. In SQLite a thousand messages take some 2 ms of the one writer.
const ROWS: u32 = 500;
/// Sends that one step puts out of reach at most: each has a content, and rows in several indexes.
const SENDS: u32 = 250;
/// How long a file that was uploaded waits for somebody to begin its import.
const READY_KEPT: Duration = Duration::from_secs(24 * 3_600);
/// How many times as long as a step the pause after it is, and how long it is at least. What SQLite writes has to be
/// copied from its log to its file now and then, and commits then wait for it: with twice the rows and a
/// quarter of the pause a million messages went in 13 s, and of the single sends meanwhile the slowest hundredth
/// took 14 ms and more instead of 6. Nobody is in a hurry here.
const IDLE: (u32, Duration) = (16, Duration::from_millis(10));
/// How often it is looked whether others write, and how long is given way to them at most.
const GIVE_WAY: (Duration, Duration) = (Duration::from_millis(1), Duration::from_millis(50));

pub(in crate::engine) struct Retention {
    shared: Arc<Shared>,
    lease: Arc<Lease>,
    ages: config::Retention,
}

/// What was forgotten.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum What {
    Sends,
    Messages,
    Events,
    Changes,
    FailedSignIns,
    Answers,
    Holds,
    Withdrawn,
    Imports,
}

impl What {
    const ALL: [Self; 9] = [
        Self::Sends,
        Self::Messages,
        Self::Events,
        Self::Changes,
        Self::FailedSignIns,
        Self::Answers,
        Self::Holds,
        Self::Withdrawn,
        Self::Imports,
    ];

    const fn as_str(self) -> &'static str {
        match self {
            Self::Sends => "sends",
            Self::Messages => "messages",
            Self::Events => "events",
            Self::Changes => "changes",
            Self::FailedSignIns => "failed_sign_ins",
            Self::Answers => "answers",
            Self::Holds => "holds",
            Self::Withdrawn => "withdrawn_sends",
            Self::Imports => "imports",
        }
    }
}

/// How many rows of what a round forgot.
#[derive(Debug, Default)]
struct Tally([u64; What::ALL.len()]);

impl Tally {
    fn count(&mut self, what: What, rows: u64) {
        self.0[what as usize] += rows;
        metrics::counter!("pombo_forgotten_total", "what" => what.as_str()).increment(rows);
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let some = What::ALL.into_iter().zip(self.0).filter(|(_, rows)| *rows > 0);
        let words: Vec<_> =
            some.map(|(what, rows)| format!("{rows} {}", what.as_str().replace('_', " "))).collect();
        f.write_str(&words.join(", "))
    }
}

impl Retention {
    pub(in crate::engine) const fn new(
        shared: Arc<Shared>,
        lease: Arc<Lease>,
        ages: config::Retention,
    ) -> Self {
        Self { shared, lease, ages }
    }

    /// Between two rounds.
    pub(in crate::engine) const fn interval(&self) -> Duration {
        self.ages.interval
    }

    /// Forgets everything that is out of date now.
    pub(in crate::engine) async fn round(&self) {
        let (started, mut tally) = (Instant::now(), Tally::default());
        let result = self.forget(Timestamp::now(), &mut tally).await;
        let forgotten = tally.to_string();
        if !forgotten.is_empty() {
            let seconds = started.elapsed().as_secs_f64();
            tracing::info!(%forgotten, seconds, "forgot what is older than the configuration keeps");
        }
        if let Err(error) = result {
            tracing::warn!(%error, "cannot forget what is out of date, it is tried again later");
        }
    }

    async fn forget(&self, now: Timestamp, tally: &mut Tally) -> store::Result<()> {
        let (store, lease) = (&self.shared.store, &*self.lease);
        self.steps(tally, What::Holds, async || store.remove_suppressions(lease, now, ROWS).await).await?;
        let kept = now.minus(KEPT);
        let answers = async || {
            let others = store.remove_answers(kept, ROWS).await?;
            Ok(Step { others, more: others >= ROWS.into(), ..Step::default() })
        };
        self.steps(tally, What::Answers, answers).await?;
        let withdrawn = async || store.remove_withdrawn(lease, kept, ROWS).await;
        self.steps(tally, What::Withdrawn, withdrawn).await?;
        let (over, ready) = (self.ages.imports.map(|age| now.minus(age)), now.minus(READY_KEPT));
        let imports = async || store.remove_imports(lease, over, ready, ROWS).await;
        self.steps(tally, What::Imports, imports).await?;
        // What a round before left comes before what this one adds to it.
        self.steps(tally, What::Messages, async || store.remove_messages(lease, ROWS).await).await?;
        if let Some(age) = self.ages.sends {
            let mut cursor = Cursor::default();
            let sends = async || store.remove_sends(lease, now.minus(age), &mut cursor, SENDS).await;
            self.steps(tally, What::Sends, sends).await?;
            self.steps(tally, What::Messages, async || store.remove_messages(lease, ROWS).await).await?;
        }
        let aged = [
            (What::Events, Aged::Events, self.ages.events),
            (What::Changes, Aged::Changes, self.ages.changes),
            (What::FailedSignIns, Aged::FailedSignIns, self.ages.failed_sign_ins),
        ];
        for (what, table, age) in aged {
            let Some(before) = age.map(|age| now.minus(age)) else { continue };
            self.steps(tally, what, async || store.remove_aged(lease, table, before, ROWS).await).await?;
        }
        Ok(())
    }

    /// Takes steps until there is nothing more to do.
    async fn steps(
        &self,
        tally: &mut Tally,
        what: What,
        mut step: impl AsyncFnMut() -> store::Result<Step>,
    ) -> store::Result<()> {
        loop {
            if self.shared.stopping.load(Ordering::Relaxed) {
                return Ok(());
            }
            self.give_way().await;
            let started = Instant::now();
            let Step { sends, messages, others, more } = step().await?;
            let took = started.elapsed();
            if sends + messages + others > 0 {
                tally.count(what, sends + messages + others);
                metrics::histogram!("pombo_retention_step_seconds").record(took);
            }
            if !more {
                return Ok(());
            }
            let (times, least) = IDLE;
            tokio::time::sleep((took * times).max(least)).await;
        }
    }

    /// Waits while others write, for a bounded time: on a service that is never idle it would be so.
    async fn give_way(&self) {
        let (each, most) = GIVE_WAY;
        let until = Instant::now() + most;
        while self.shared.store.is_writing() && Instant::now() < until {
            tokio::time::sleep(each).await;
        }
    }
}
