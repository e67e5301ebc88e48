//! Receipts: which statuses an accepted message will have, and when. `delivery` posts them.
//!
//! Bounded: at most [`ReceiptOptions::queue_limit`] messages have statuses outstanding; the messages
//! beyond get none, and their number is shown at `GET /_sim/webhook`.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};
use serde::Serialize;
use tokio::sync::{Notify, oneshot};

use super::lock::Lock;
use super::options::ReceiptOptions;
use super::phone::PhoneNumber;
use super::script::AsyncFailure;

/// A message as its statuses speak of it.
#[derive(Debug)]
pub(super) struct Event {
    pub(super) number: Arc<PhoneNumber>,
    pub(super) id: String,
    pub(super) to: String,
    pub(super) key: String,
    pub(super) category: &'static str,
    pub(super) failure: Option<AsyncFailure>,
}

/// A status of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Step {
    Sent,
    Delivered,
    Read,
    Failed,
}

/// The statuses of a message that are still to come.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Ladder {
    steps: Vec<Step>,
    place: usize,
    /// Whether every status is sent twice.
    pub(super) is_doubled: bool,
}

impl Ladder {
    /// The ladder of the message with this sequence; the same for the same seed.
    fn of(options: &ReceiptOptions, sequence: u64, has_failed: bool) -> Self {
        let mut chance = SmallRng::seed_from_u64(options.seed.rotate_left(32) ^ sequence);
        let is_read = chance.random_bool(options.read_probability);
        let is_reversed = chance.random_bool(options.reorder_probability);
        let is_doubled = chance.random_bool(options.duplicate_probability);
        let mut steps = match (has_failed, is_read) {
            (true, _) => vec![Step::Failed],
            (false, true) => vec![Step::Sent, Step::Delivered, Step::Read],
            (false, false) => vec![Step::Sent, Step::Delivered],
        };
        if is_reversed {
            steps.reverse();
        }
        Self { steps, place: 0, is_doubled }
    }

    /// Takes the next status.
    pub(super) fn climb(&mut self) -> Option<Step> {
        let step = self.steps.get(self.place).copied();
        self.place += 1;
        step
    }

    /// How long after the status before it the next one comes; `None` at the top.
    pub(super) fn wait(&self, options: &ReceiptOptions) -> Option<Duration> {
        let waits = [options.sent_after, options.delivered_after, options.read_after];
        self.steps.get(self.place).and(waits.get(self.place)).copied()
    }
}

/// A message whose statuses are outstanding.
#[derive(Debug)]
pub(super) struct Promised {
    pub(super) event: Event,
    pub(super) ladder: Ladder,
    pub(super) target: Arc<Target>,
    pub(super) due: Instant,
    /// Told once the first status was posted.
    pub(super) posted: Option<oneshot::Sender<()>>,
}

/// The receiver of webhooks.
#[derive(Debug)]
pub(super) struct Target {
    pub(super) options: ReceiptOptions,
    /// Whether the subscription handshake is done, or not asked for.
    pub(super) is_verified: AtomicBool,
}

/// What became of receipts, for `GET /_sim/webhook`.
#[derive(Debug, Default)]
pub(super) struct Counts {
    pub(super) statuses_delivered: AtomicU64,
    pub(super) webhooks_delivered: AtomicU64,
    pub(super) webhooks_refused: AtomicU64,
    pub(super) statuses_given_up: AtomicU64,
    messages_without_receipts: AtomicU64,
}

/// The counts as shown.
#[derive(Debug, Serialize)]
pub(super) struct OutboxFigures {
    url: Option<String>,
    is_verified: bool,
    messages_waiting: usize,
    statuses_delivered: u64,
    webhooks_delivered: u64,
    /// Webhooks that were not answered with 200; each is repeated.
    webhooks_refused: u64,
    /// Statuses dropped after the last attempt.
    statuses_given_up: u64,
    /// Messages that got no receipts because too many were outstanding.
    messages_without_receipts: u64,
}

/// Between the handlers, which promise receipts, and the one task that delivers them.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    pub(super) counts: Counts,
    /// Told when there is something new.
    pub(super) wake: Notify,
    is_on: AtomicBool,
    target: Lock<Option<Arc<Target>>>,
    inbound: Lock<Vec<Promised>>,
    waiting: AtomicUsize,
    generation: AtomicU64,
}

impl Outbox {
    /// Sends receipts there from now on, or nowhere. What is outstanding still goes where it was
    /// promised. The fault is a sentence.
    pub(super) fn aim(&self, options: Option<ReceiptOptions>) -> Result<(), String> {
        if let Some(fault) = options.as_ref().and_then(ReceiptOptions::fault) {
            return Err(fault);
        }
        self.is_on.store(options.is_some(), Ordering::Release);
        *self.target.hold() = options.map(|options| {
            let is_verified = AtomicBool::new(options.verify_token.is_none());
            Arc::new(Target { options, is_verified })
        });
        Ok(())
    }

    /// Promises the statuses of a message, unless receipts are off or too many are outstanding. The
    /// receiver that comes back is told when the first status was posted, if that must come first.
    pub(super) fn promise(
        &self,
        sequence: u64,
        event: impl FnOnce() -> Event,
    ) -> Option<oneshot::Receiver<()>> {
        if !self.is_on.load(Ordering::Acquire) {
            return None;
        }
        let target = self.target.hold().clone()?;
        if self.waiting.fetch_add(1, Ordering::Relaxed) >= target.options.queue_limit {
            self.waiting.fetch_sub(1, Ordering::Relaxed);
            self.counts.messages_without_receipts.fetch_add(1, Ordering::Relaxed);
            return None;
        }
        let event = event();
        let ladder = Ladder::of(&target.options, sequence, event.failure.is_some());
        let due = Instant::now() + target.options.sent_after;
        let (posted, heard) = oneshot::channel();
        let (posted, heard) =
            if target.options.before_reply { (Some(posted), Some(heard)) } else { (None, None) };
        self.inbound.hold().push(Promised { event, ladder, target, due, posted });
        self.wake.notify_one();
        heard
    }

    /// What was promised since it was last asked.
    pub(super) fn take(&self) -> Vec<Promised> {
        std::mem::take(&mut *self.inbound.hold())
    }

    /// Notes that these many messages have had their last status, or never will.
    pub(super) fn finish(&self, messages: usize) {
        self.waiting.fetch_sub(messages, Ordering::Relaxed);
    }

    /// Changes when everything outstanding was forgotten.
    pub(super) fn generation(&self) -> u64 {
        self.generation.load(Ordering::Acquire)
    }

    /// Forgets everything outstanding; the delivery task notices and forgets what it holds.
    pub(super) fn clear(&self) {
        self.finish(self.take().len());
        self.generation.fetch_add(1, Ordering::Release);
        self.wake.notify_one();
    }

    pub(super) fn figures(&self) -> OutboxFigures {
        let target = self.target.hold().clone();
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        OutboxFigures {
            is_verified: target.as_ref().is_some_and(|target| target.is_verified.load(Ordering::Relaxed)),
            url: target.map(|target| target.options.url.clone()),
            messages_waiting: self.waiting.load(Ordering::Relaxed),
            statuses_delivered: count(&self.counts.statuses_delivered),
            webhooks_delivered: count(&self.counts.webhooks_delivered),
            webhooks_refused: count(&self.counts.webhooks_refused),
            statuses_given_up: count(&self.counts.statuses_given_up),
            messages_without_receipts: count(&self.counts.messages_without_receipts),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ladder_ends_at_delivered_or_read_and_a_failure_has_one_step() {
        let options = ReceiptOptions { read_probability: 1.0, ..ReceiptOptions::default() };
        assert_eq!(Ladder::of(&options, 1, false).steps, [Step::Sent, Step::Delivered, Step::Read]);
        let unread = ReceiptOptions { read_probability: 0.0, ..ReceiptOptions::default() };
        assert_eq!(Ladder::of(&unread, 1, false).steps, [Step::Sent, Step::Delivered]);
        assert_eq!(Ladder::of(&options, 1, true).steps, [Step::Failed]);
        let reversed = ReceiptOptions { reorder_probability: 1.0, ..unread };
        assert_eq!(Ladder::of(&reversed, 1, false).steps, [Step::Delivered, Step::Sent]);
    }

    #[test]
    fn the_same_seed_reads_the_same_messages() {
        let options = ReceiptOptions::default();
        let ladders = || (0..100).map(|sequence| Ladder::of(&options, sequence, false)).collect::<Vec<_>>();
        assert_eq!(ladders(), ladders());
        let read = ladders().iter().filter(|ladder| ladder.steps.len() == 3).count();
        assert!((30..70).contains(&read), "{read}");
    }
}
