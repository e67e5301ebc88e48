//! The queue between the handlers, which create webhooks, and the task that delivers them (`delivery`).
//!
//! Bounded: at most [`ReceiptOptions::queue_limit`] messages have statuses outstanding; the messages
//! beyond get none, and their number is shown at `GET /_sim/webhook`.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Instant;

use parking_lot::{Mutex, RwLock};
use serde::Serialize;
use serde_json::Value;
use tokio::sync::{Notify, oneshot};

use super::options::ReceiptOptions;
use super::phone::PhoneNumber;
use super::progression::{Fate, Progression};
use super::script::AsyncFailure;
use super::target::{Scope, Shown, Target, Targets};

/// A message, with the fields of its statuses.
#[derive(Debug)]
pub(super) struct Event {
    pub(super) number: Arc<PhoneNumber>,
    pub(super) id: String,
    pub(super) to: String,
    /// Whether `to` is a group.
    pub(super) is_group: bool,
    pub(super) key: String,
    pub(super) category: &'static str,
    pub(super) is_reaction: bool,
    pub(super) failure: Option<AsyncFailure>,
}

impl Event {
    const fn fate(&self) -> Fate {
        match (&self.failure, self.is_reaction) {
            (Some(_), _) => Fate::Fails,
            (None, true) => Fate::IsSent,
            (None, false) => Fate::Arrives,
        }
    }
}

/// A message whose statuses are outstanding.
#[derive(Debug)]
pub(super) struct Course {
    pub(super) event: Event,
    pub(super) progression: Progression,
    /// Notified once the first status was posted.
    pub(super) posted: Option<oneshot::Sender<()>>,
}

/// A webhook that is no status.
#[derive(Debug, Clone)]
pub(super) struct Notice {
    pub(super) scope: Scope,
    pub(super) waba_id: String,
    pub(super) field: String,
    pub(super) value: Value,
    /// Present in webhooks about the account, absent in messages.
    pub(super) seconds: Option<i64>,
}

/// A webhook that is outstanding.
#[derive(Debug)]
pub(super) enum PendingWebhook {
    Message(Course),
    Notice(Notice),
}

/// An outstanding webhook and the moment when it is due.
#[derive(Debug)]
pub(super) struct Promised {
    pub(super) due: Instant,
    pub(super) webhook: PendingWebhook,
}

/// The outcome of webhooks, for `GET /_sim/webhook`.
#[derive(Debug, Default)]
pub(super) struct Counts {
    pub(super) statuses_delivered: AtomicU64,
    /// Those among them that say `failed`.
    pub(super) failures_delivered: AtomicU64,
    pub(super) notices_delivered: AtomicU64,
    pub(super) webhooks_delivered: AtomicU64,
    pub(super) webhooks_refused: AtomicU64,
    pub(super) statuses_given_up: AtomicU64,
    messages_without_receipts: AtomicU64,
}

/// The counts as shown.
#[derive(Debug, Serialize)]
pub(super) struct OutboxFigures {
    /// The app's receiver, or else the first one.
    url: Option<String>,
    is_verified: bool,
    receivers: Vec<Shown>,
    messages_waiting: usize,
    statuses_delivered: u64,
    /// Those among them that say `failed`.
    failures_delivered: u64,
    /// Webhooks delivered that were no statuses.
    notices_delivered: u64,
    webhooks_delivered: u64,
    /// Webhooks that were not answered with 200; each is repeated.
    webhooks_refused: u64,
    /// Statuses and others dropped after the last attempt.
    statuses_given_up: u64,
    /// Messages that got no receipts because too many were outstanding.
    messages_without_receipts: u64,
}

#[derive(Debug, Default)]
pub(super) struct Outbox {
    pub(super) counts: Counts,
    /// Notified when there is something new.
    pub(super) wake: Notify,
    is_on: AtomicBool,
    targets: RwLock<Targets>,
    inbound: Mutex<Vec<Promised>>,
    waiting: AtomicUsize,
    generation: AtomicU64,
    aimings: AtomicU64,
}

impl Outbox {
    /// Sets the receiver of webhooks of a scope, also of outstanding ones. The options are valid; `waba_id`
    /// is the account of a number.
    pub(super) fn aim(&self, scope: Scope, waba_id: Option<String>, options: ReceiptOptions) {
        self.targets.write().aim(scope, waba_id, options);
        self.is_on.store(true, Ordering::Release);
        self.aimings.fetch_add(1, Ordering::Release);
        self.wake.notify_one();
    }

    /// Stops sending. No new webhooks are created; outstanding ones wait until a receiver is set again.
    pub(super) fn stop(&self) {
        *self.targets.write() = Targets::default();
        self.is_on.store(false, Ordering::Release);
        self.aimings.fetch_add(1, Ordering::Release);
    }

    /// Queues the statuses of a message, unless receipts are off or too many are outstanding. The returned
    /// channel is notified when the first status was posted, if that must come first.
    pub(super) fn promise(
        &self,
        sequence: u64,
        number: &PhoneNumber,
        event: impl FnOnce() -> Event,
    ) -> Option<oneshot::Receiver<()>> {
        if !self.is_on.load(Ordering::Acquire) {
            return None;
        }
        let target = self.targets.read().of_number(number)?;
        if self.waiting.fetch_add(1, Ordering::Relaxed) >= target.options.queue_limit {
            self.waiting.fetch_sub(1, Ordering::Relaxed);
            self.counts.messages_without_receipts.fetch_add(1, Ordering::Relaxed);
            return None;
        }
        let event = event();
        let progression = Progression::of(&target.options, sequence, event.fate());
        let due = Instant::now() + target.options.sent_after;
        let (posted, heard) = oneshot::channel();
        let (posted, heard) =
            if target.options.before_reply { (Some(posted), Some(heard)) } else { (None, None) };
        let webhook = PendingWebhook::Message(Course { event, progression, posted });
        self.inbound.lock().push(Promised { due, webhook });
        self.wake.notify_one();
        heard
    }

    /// The receiver of this number's webhooks; `None` without one.
    pub(super) fn receiver_of(&self, number: &PhoneNumber) -> Option<Arc<Target>> {
        if self.is_on.load(Ordering::Acquire) { self.targets.read().of_number(number) } else { None }
    }

    /// The receiver of webhooks about this account itself; `None` without one.
    pub(super) fn receiver_of_account(&self, waba_id: &str) -> Option<Arc<Target>> {
        self.targets.read().of_account_itself(waba_id)
    }

    /// Removes the receiver of an account of its own; the app's gets its webhooks again.
    pub(super) fn end_account(&self, waba_id: &str) {
        self.end(&Scope::Account(waba_id.to_owned()));
    }

    /// Removes the receiver of a number of its own.
    pub(super) fn end_number(&self, id: &str) {
        self.end(&Scope::Number(id.to_owned()));
    }

    fn end(&self, scope: &Scope) {
        let mut targets = self.targets.write();
        targets.end(scope);
        self.is_on.store(!targets.is_empty(), Ordering::Release);
        self.aimings.fetch_add(1, Ordering::Release);
    }

    /// The scopes whose webhooks are about this number, or about this account without a number; empty without
    /// a receiver.
    pub(super) fn scopes(&self, waba_id: &str, number: Option<&PhoneNumber>) -> Vec<Scope> {
        let targets = self.targets.read();
        let found = match number {
            Some(number) => targets.of_number(number).into_iter().collect(),
            None => targets.of_account(waba_id),
        };
        found.iter().map(|target| target.scope.clone()).collect()
    }

    /// Queues a webhook that is no status, due now.
    pub(super) fn notify(&self, notice: Notice) {
        self.inbound.lock().push(Promised { due: Instant::now(), webhook: PendingWebhook::Notice(notice) });
        self.wake.notify_one();
    }

    /// The present receiver of this webhook; `None` while there is none.
    pub(super) fn target_of(&self, webhook: &PendingWebhook) -> Option<Arc<Target>> {
        match webhook {
            PendingWebhook::Message(course) => self.targets.read().of_number(&course.event.number),
            PendingWebhook::Notice(notice) => self.target(&notice.scope),
        }
    }

    /// The receiver of this scope; `None` while there is none.
    pub(super) fn target(&self, scope: &Scope) -> Option<Arc<Target>> {
        self.targets.read().get(scope)
    }

    /// The webhooks that were queued since the last call.
    pub(super) fn take(&self) -> Vec<Promised> {
        std::mem::take(&mut *self.inbound.lock())
    }

    /// Notes that these many messages have had their last status, or never will.
    pub(super) fn finish(&self, messages: usize) {
        self.waiting.fetch_sub(messages, Ordering::Relaxed);
    }

    /// Messages with statuses outstanding.
    pub(super) fn waiting(&self) -> usize {
        self.waiting.load(Ordering::Relaxed)
    }

    /// A number that changes when all outstanding webhooks are removed.
    pub(super) fn generation(&self) -> u64 {
        self.generation.load(Ordering::Acquire)
    }

    /// A number that changes when a receiver is set.
    pub(super) fn aimings(&self) -> u64 {
        self.aimings.load(Ordering::Acquire)
    }

    /// Removes all outstanding webhooks; the delivery task notices it and removes its own.
    pub(super) fn clear(&self) {
        let messages = self.take().iter().filter(|promised| promised.webhook.is_message()).count();
        self.finish(messages);
        self.generation.fetch_add(1, Ordering::Release);
        self.wake.notify_one();
    }

    pub(super) fn figures(&self) -> OutboxFigures {
        let (receivers, is_empty) = {
            let targets = self.targets.read();
            (targets.shown(), targets.is_empty())
        };
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        OutboxFigures {
            is_verified: !is_empty && receivers.iter().all(Shown::is_verified),
            url: receivers.first().map(Shown::url),
            receivers,
            messages_waiting: self.waiting(),
            statuses_delivered: count(&self.counts.statuses_delivered),
            failures_delivered: count(&self.counts.failures_delivered),
            notices_delivered: count(&self.counts.notices_delivered),
            webhooks_delivered: count(&self.counts.webhooks_delivered),
            webhooks_refused: count(&self.counts.webhooks_refused),
            statuses_given_up: count(&self.counts.statuses_given_up),
            messages_without_receipts: count(&self.counts.messages_without_receipts),
        }
    }
}

impl PendingWebhook {
    pub(super) fn is_message(&self) -> bool {
        matches!(self, Self::Message(_))
    }
}
