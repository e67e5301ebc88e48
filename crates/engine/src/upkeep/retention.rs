//! Retention: removes records that are older than the configuration keeps, in small steps.
//!
//! A round goes through all records with an age: sends and their remains, kept answers, events, the record of changes,
//! holds, imports, the forms and drafts that the console keeps, and media. Each step is one short transaction, followed by a pause of many
//! times its length; while others write, it waits for them, for a bounded time. When a round is interrupted, by the end
//! of the process or an unavailable database, the next one continues. The sentinel runs the rounds.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use uuid::Uuid;

use crate::KEPT;
use crate::rounds::give_way;
use crate::shared::Shared;
use clock::Timestamp;
use store::Lease;
use store::drafts;
use store::retention::{Aged, Cursor, Step};
use store::users::kept_forms;

/// The most rows that one step removes. On SQLite a thousand messages take some 2 ms of the only writer.
const ROWS: u32 = 500;
/// The most sends that one step removes: each has a content, and rows in several indexes.
const SENDS: u32 = 250;
/// The most files of media whose content one step deletes.
const FILES: u32 = 50;
/// The most conversations that one step removes: each has words, notes and rows in several indexes.
const CONVERSATIONS: u32 = 50;
/// How long an uploaded file waits for its import to begin, and an upload for its next piece.
const READY_KEPT: Duration = Duration::from_secs(24 * 3_600);
/// The pause after a step, as a multiple of the step's length, and its least length. SQLite has to copy its log to its
/// file now and then, and commits wait for that: with twice the rows and a quarter of the pause a million messages were
/// removed in 13 s, and the slowest hundredth of the single sends meanwhile took 14 ms and more instead of 6. Retention
/// is not urgent.
const IDLE: (u32, Duration) = (16, Duration::from_millis(10));

pub(crate) struct Retention {
    shared: Arc<Shared>,
    lease: Arc<Lease>,
    ages: config::Retention,
    /// How long conversations and what people wrote are kept.
    inbox: Duration,
    /// How long values of recipients are kept after the end of their send.
    values: Duration,
}

domain::worded! {
    /// A kind of removed record.
    enum What {
        Sends = "sends",
        Values = "value_blocks",
        Messages = "messages",
        Events = "events",
        Changes = "changes",
        FailedSignIns = "failed_sign_ins",
        Answers = "answers",
        AutomaticAnswers = "automatic_answers",
        Holds = "holds",
        Withdrawn = "withdrawn_sends",
        Imports = "imports",
        Forms = "kept_forms",
        Drafts = "drafts",
        Media = "media",
        MediaContent = "media_content",
        Inbound = "inbound_messages",
        Conversations = "conversations",
        InboundFiles = "inbound_files",
    }
}

/// The rows that a round removed, by kind.
#[derive(Debug, Default)]
struct RemovedCounts([u64; What::ALL.len()]);

impl RemovedCounts {
    fn count(&mut self, what: What, rows: u64) {
        self.0[what as usize] += rows;
        metrics::counter!("pombo_forgotten_total", "what" => what.as_str()).increment(rows);
    }
}

impl fmt::Display for RemovedCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let some = What::ALL.iter().zip(self.0).filter(|(_, rows)| *rows > 0);
        let words: Vec<_> =
            some.map(|(what, rows)| format!("{rows} {}", what.as_str().replace('_', " "))).collect();
        f.write_str(&words.join(", "))
    }
}

impl Retention {
    pub(crate) fn new(
        shared: Arc<Shared>,
        lease: Arc<Lease>,
        ages: config::Retention,
        config: &config::Config,
    ) -> Self {
        // Without contents, too: a repeated message is known by its row.
        let inbox = config.inbox.keep.max(config::Inbox::LEAST);
        Self { shared, lease, ages, inbox, values: config.values.keep }
    }

    /// The time between two rounds.
    pub(crate) const fn interval(&self) -> Duration {
        self.ages.interval
    }

    /// Removes everything that is too old now.
    pub(crate) async fn round(&self) {
        let (started, mut tally) = (Instant::now(), RemovedCounts::default());
        let result = self.remove_old(Timestamp::now(), &mut tally).await;
        let removed = tally.to_string();
        if !removed.is_empty() {
            let seconds = started.elapsed().as_secs_f64();
            tracing::info!(%removed, seconds, "removed records older than the configuration keeps");
        }
        if let Err(error) = result {
            tracing::warn!(%error, "cannot remove old records, retention retries later");
        }
    }

    async fn remove_old(&self, now: Timestamp, tally: &mut RemovedCounts) -> store::Result<()> {
        let (store, lease) = (&self.shared.store, &*self.lease);
        self.steps(tally, What::Holds, async || {
            store.retention().remove_suppressions(lease, now, ROWS).await
        })
        .await?;
        let kept = now.minus(KEPT);
        let answers = async || {
            let others = store.retention().remove_answers(kept, ROWS).await?;
            Ok(Step { others, more: others >= ROWS.into(), ..Step::default() })
        };
        self.steps(tally, What::Answers, answers).await?;
        let automatic = async || store.automatic().remove_old(now, ROWS).await;
        self.steps(tally, What::AutomaticAnswers, automatic).await?;
        let withdrawn = async || store.retention().remove_withdrawn(lease, kept, ROWS).await;
        self.steps(tally, What::Withdrawn, withdrawn).await?;
        let (over, ready) = (self.ages.imports.map(|age| now.minus(age)), now.minus(READY_KEPT));
        let imports = async || store.imports().remove(lease, over, ready, ROWS).await;
        self.steps(tally, What::Imports, imports).await?;
        let media = &self.shared.media;
        let unused = async || media.remove_unused(lease, now, ROWS).await;
        self.steps(tally, What::Media, unused).await?;
        let mut after = Uuid::nil();
        let removed = async || media.delete_removed(lease, now, &mut after, FILES).await;
        self.steps(tally, What::MediaContent, removed).await?;
        let ended = now.minus(self.values);
        let values = async || store.retention().remove_values(lease, ended).await;
        self.steps(tally, What::Values, values).await?;
        // The remains of an earlier round come first.
        self.steps(tally, What::Messages, async || store.retention().remove_messages(lease, ROWS).await)
            .await?;
        if let Some(age) = self.ages.sends {
            let mut cursor = Cursor::default();
            let sends =
                async || store.retention().remove_sends(lease, now.minus(age), &mut cursor, SENDS).await;
            self.steps(tally, What::Sends, sends).await?;
            self.steps(tally, What::Messages, async || store.retention().remove_messages(lease, ROWS).await)
                .await?;
        }
        let sent = now.minus(media.incoming_keep());
        let files = async || store.inbound_files().leave_by_age(lease, sent, ROWS).await;
        self.steps(tally, What::InboundFiles, files).await?;
        let before = now.minus(self.inbox);
        let inbound = async || store.conversations().remove_messages(lease, before, ROWS).await;
        self.steps(tally, What::Inbound, inbound).await?;
        let silent = async || store.conversations().remove_silent(lease, before, CONVERSATIONS).await;
        self.steps(tally, What::Conversations, silent).await?;
        let aged = [
            (What::Events, Aged::Events, self.ages.events),
            (What::Changes, Aged::Changes, self.ages.changes),
            (What::FailedSignIns, Aged::FailedSignIns, self.ages.failed_sign_ins),
            (What::Forms, Aged::Forms, Some(kept_forms::KEPT)),
            (What::Drafts, Aged::Drafts, Some(drafts::KEPT)),
        ];
        for (what, table, age) in aged {
            let Some(before) = age.map(|age| now.minus(age)) else { continue };
            self.steps(tally, what, async || store.retention().remove_aged(lease, table, before, ROWS).await)
                .await?;
        }
        Ok(())
    }

    /// Takes steps until nothing is left to remove.
    async fn steps(
        &self,
        tally: &mut RemovedCounts,
        what: What,
        mut step: impl AsyncFnMut() -> store::Result<Step>,
    ) -> store::Result<()> {
        loop {
            if self.shared.stopping.load(Ordering::Relaxed) {
                return Ok(());
            }
            give_way(&self.shared.store).await;
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
}
