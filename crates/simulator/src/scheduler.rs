//! The scheduler of webhooks, held by the delivery task: webhooks by the time they are due, and those to repeat.
//!
//! The receiver is looked up when a webhook is posted, so that outstanding webhooks follow their receiver to
//! another address. A webhook without a receiver waits until one is set.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use actix_web::web::Bytes;
use tokio::sync::oneshot;

use super::outbox::{Outbox, PendingWebhook, Promised};
use super::progression::Step;
use super::target::Target;
use super::webhook::{Bundle, Status};
use clock::Timestamp;

/// The longest wait between two attempts.
const LONGEST_RETRY: Duration = Duration::from_secs(30);
/// How many due webhooks are searched for one post, because those of other receivers may be between.
const LOOK_AHEAD: usize = 4_000;

/// The time when a webhook is due, and a serial that keeps the order.
type Key = (Instant, u64);

/// One webhook, complete but for its signature.
#[derive(Debug)]
pub(super) struct Batch {
    pub(super) target: Arc<Target>,
    pub(super) body: Bytes,
    statuses: usize,
    /// Those among them that say `failed`.
    failures: usize,
    notices: usize,
    /// Messages whose last status this carries.
    finished: usize,
    attempts: u32,
    /// The number of receiver changes when it was posted.
    aiming: u64,
    posted: Vec<oneshot::Sender<()>>,
}

/// The scheduler.
#[derive(Debug)]
pub(super) struct Scheduler {
    pub(super) outbox: Arc<Outbox>,
    generation: u64,
    aiming: u64,
    /// Messages with statuses outstanding.
    held: usize,
    serial: u64,
    schedule: BTreeMap<Key, Promised>,
    retries: BTreeMap<Key, Batch>,
    /// Due webhooks without a receiver.
    parked: Vec<Promised>,
    parked_retries: Vec<Batch>,
}

impl Scheduler {
    pub(super) fn new(outbox: Arc<Outbox>) -> Self {
        Self {
            generation: outbox.generation(),
            aiming: outbox.aimings(),
            outbox,
            held: 0,
            serial: 0,
            schedule: BTreeMap::new(),
            retries: BTreeMap::new(),
            parked: Vec::new(),
            parked_retries: Vec::new(),
        }
    }

    /// Whether there is nothing to do before a new webhook or receiver.
    pub(super) fn is_idle(&self) -> bool {
        self.schedule.is_empty() && self.retries.is_empty()
    }

    /// Takes the queued webhooks; true when all earlier ones have to be removed.
    pub(super) fn take_in(&mut self) -> bool {
        let generation = self.outbox.generation();
        let is_cleared = generation != self.generation;
        if is_cleared {
            self.generation = generation;
            self.schedule.clear();
            self.retries.clear();
            self.parked.clear();
            self.parked_retries.clear();
            self.outbox.finish(std::mem::take(&mut self.held));
        }
        let aiming = self.outbox.aimings();
        if aiming != self.aiming {
            self.aiming = aiming;
            self.restart_parked();
        }
        for promised in self.outbox.take() {
            self.held += usize::from(promised.webhook.is_message());
            self.put(promised);
        }
        is_cleared
    }

    /// Schedules parked webhooks again, and repeats at once all webhooks that wait for a retry.
    fn restart_parked(&mut self) {
        for promised in std::mem::take(&mut self.parked) {
            self.put(promised);
        }
        let waiting = std::mem::take(&mut self.retries).into_values();
        for batch in waiting.chain(std::mem::take(&mut self.parked_retries)) {
            self.repeat(Batch { attempts: 0, ..batch }, Duration::ZERO);
        }
    }

    fn put(&mut self, promised: Promised) {
        self.serial += 1;
        self.schedule.insert((promised.due, self.serial), promised);
    }

    fn repeat(&mut self, batch: Batch, after: Duration) {
        self.serial += 1;
        self.retries.insert((Instant::now() + after, self.serial), batch);
    }

    /// The next webhook that is due: one to repeat, or a new one.
    pub(super) fn next_batch(&mut self, now: Instant) -> Option<Batch> {
        while let Some(first) = self.retries.first_entry()
            && first.key().0 <= now
        {
            let batch = first.remove();
            match self.outbox.target(&batch.target.scope) {
                Some(target) => return Some(Batch { target, aiming: self.aiming, ..batch }),
                None => self.parked_retries.push(batch),
            }
        }
        let (target, due) = self.due(now)?;
        let options = &target.options;
        let at = Timestamp::now();
        let mut bundle = Bundle::default();
        let mut posted = Vec::new();
        let (mut finished, mut failures) = (0, 0);
        for key in due {
            if bundle.len() >= options.batch {
                break;
            }
            let Some(mut promised) = self.schedule.remove(&key) else { continue };
            let course = match &mut promised.webhook {
                PendingWebhook::Notice(notice) => {
                    bundle.add_notice(notice.clone());
                    continue;
                }
                PendingWebhook::Message(course) => course,
            };
            // Statuses that follow each other without a wait come in one webhook while there is room.
            let is_done = loop {
                if let Some(step) = course.progression.advance() {
                    failures += usize::from(step == Step::Failed);
                    let status = Status::of(&course.event, step, at);
                    if course.progression.is_doubled && bundle.len() + 1 < options.batch {
                        bundle.add(&course.event.number, status.clone());
                    }
                    bundle.add(&course.event.number, status);
                }
                let Some(wait) = course.progression.wait(options) else { break true };
                promised.due += wait;
                if promised.due > now || bundle.len() >= options.batch {
                    break false;
                }
            };
            posted.extend(course.posted.take());
            if is_done {
                finished += 1;
            } else {
                self.put(promised);
            }
        }
        let (statuses, notices) = (bundle.statuses(), bundle.notices());
        let body = Bytes::from(bundle.body());
        Some(Batch {
            target,
            body,
            statuses,
            failures,
            notices,
            finished,
            attempts: 0,
            aiming: self.aiming,
            posted,
        })
    }

    /// The due webhooks of one receiver, that of the first webhook with one; webhooks without a receiver are
    /// parked.
    fn due(&mut self, now: Instant) -> Option<(Arc<Target>, Vec<Key>)> {
        let mut chosen: Option<(Arc<Target>, Vec<_>)> = None;
        let mut without_receiver = Vec::new();
        for (key, promised) in self.schedule.range(..=(now, u64::MAX)).take(LOOK_AHEAD) {
            let found = self.outbox.target_of(&promised.webhook);
            match (found, &mut chosen) {
                (None, _) => without_receiver.push(*key),
                (Some(target), None) => chosen = Some((target, vec![*key])),
                (Some(target), Some((first, due))) if Arc::ptr_eq(first, &target) => {
                    due.push(*key);
                    if due.len() >= first.options.batch {
                        break;
                    }
                }
                (Some(_), Some(_)) => {}
            }
        }
        self.parked.extend(without_receiver.iter().filter_map(|key| self.schedule.remove(key)));
        chosen
    }

    /// Notes the outcome of a webhook: done, to repeat, or given up.
    pub(super) fn settle(&mut self, mut batch: Batch, was_heard: bool) {
        for posted in batch.posted.drain(..) {
            // A send that no longer waits is skipped.
            let _ = posted.send(());
        }
        let counts = &self.outbox.counts;
        batch.attempts += 1;
        if was_heard {
            counts.webhooks_delivered.fetch_add(1, Ordering::Relaxed);
            counts.statuses_delivered.fetch_add(batch.statuses as u64, Ordering::Relaxed);
            counts.failures_delivered.fetch_add(batch.failures as u64, Ordering::Relaxed);
            counts.notices_delivered.fetch_add(batch.notices as u64, Ordering::Relaxed);
        } else {
            counts.webhooks_refused.fetch_add(1, Ordering::Relaxed);
            let options = &batch.target.options;
            if batch.aiming != self.outbox.aimings() {
                self.repeat(Batch { attempts: 0, ..batch }, Duration::ZERO);
                return;
            }
            if batch.attempts < options.attempts {
                let doubled = options.retry_after.saturating_mul(1 << (batch.attempts - 1).min(16));
                self.repeat(batch, doubled.min(LONGEST_RETRY));
                return;
            }
            let given_up = batch.statuses + batch.notices;
            counts.statuses_given_up.fetch_add(given_up as u64, Ordering::Relaxed);
            tracing::warn!(statuses = given_up, attempts = batch.attempts, "receipts given up");
        }
        self.held = self.held.saturating_sub(batch.finished);
        self.outbox.finish(batch.finished);
    }
}
