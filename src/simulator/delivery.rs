//! The one task that posts receipts: in batches, signed, repeated until they are heard.
//!
//! It gathers what is due every few milliseconds, so that a million messages need no million timers,
//! and keeps a few webhooks under way at a time. As at the provider, nothing is ordered between them.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use actix_web::web::Bytes;
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use tokio::sync::oneshot;

use super::receipt::{Outbox, Promised, Target};
use super::webhook::{Bundle, Status, signature};
use crate::clock::Timestamp;

/// How long statuses are gathered before they are posted together.
const GATHER: Duration = Duration::from_millis(10);
/// The most webhooks under way at a time.
const MOST_POSTS: usize = 8;
/// How long a receiver has for its answer.
const PATIENCE: Duration = Duration::from_secs(10);
/// The longest wait between two attempts.
const LONGEST_RETRY: Duration = Duration::from_secs(30);

/// One webhook, complete and signed.
#[derive(Debug)]
struct Batch {
    target: Arc<Target>,
    body: Bytes,
    signature: String,
    statuses: usize,
    /// Messages whose last status this carries.
    finished: usize,
    attempts: u32,
    posted: Vec<oneshot::Sender<()>>,
}

/// What the task holds between two rounds. Keys are the due time and a serial that keeps order.
#[derive(Debug)]
struct Desk {
    outbox: Arc<Outbox>,
    generation: u64,
    held: usize,
    serial: u64,
    schedule: BTreeMap<(Instant, u64), Promised>,
    retries: BTreeMap<(Instant, u64), Batch>,
}

/// Delivers until it is aborted.
pub(super) async fn deliver(outbox: Arc<Outbox>) {
    // The provider of cryptography may have been chosen before; then that one stays.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = match reqwest::Client::builder().timeout(PATIENCE).build() {
        Ok(client) => client,
        Err(error) => {
            tracing::error!(%error, "receipts cannot be delivered: no http client");
            return;
        }
    };
    let mut desk = Desk::new(outbox);
    let mut posts = FuturesUnordered::new();
    loop {
        if posts.is_empty() && desk.is_empty() {
            desk.outbox.wake.notified().await;
        }
        let gather = tokio::time::sleep(GATHER);
        tokio::pin!(gather);
        loop {
            tokio::select! {
                () = &mut gather => break,
                Some((batch, was_heard)) = posts.next(), if !posts.is_empty() => desk.settle(batch, was_heard),
            }
        }
        if desk.take_in() {
            posts.clear();
        }
        while posts.len() < MOST_POSTS
            && let Some(batch) = desk.next_batch(Instant::now())
        {
            let client = client.clone();
            posts.push(async move {
                let was_heard = post(&client, &batch).await;
                (batch, was_heard)
            });
        }
    }
}

impl Desk {
    fn new(outbox: Arc<Outbox>) -> Self {
        let generation = outbox.generation();
        Self { outbox, generation, held: 0, serial: 0, schedule: BTreeMap::new(), retries: BTreeMap::new() }
    }

    fn is_empty(&self) -> bool {
        self.schedule.is_empty() && self.retries.is_empty()
    }

    /// Takes what was promised; true when everything before it is to be forgotten.
    fn take_in(&mut self) -> bool {
        let generation = self.outbox.generation();
        let is_forgotten = generation != self.generation;
        if is_forgotten {
            self.generation = generation;
            self.schedule.clear();
            self.retries.clear();
            self.outbox.finish(std::mem::take(&mut self.held));
        }
        for promised in self.outbox.take() {
            self.held += 1;
            self.put(promised);
        }
        is_forgotten
    }

    fn put(&mut self, promised: Promised) {
        self.serial += 1;
        self.schedule.insert((promised.due, self.serial), promised);
    }

    /// The next webhook that is due: one to repeat, or a new one.
    fn next_batch(&mut self, now: Instant) -> Option<Batch> {
        if self.retries.first_key_value().is_some_and(|((due, _), _)| *due <= now) {
            return self.retries.pop_first().map(|(_, batch)| batch);
        }
        let target = Arc::clone(&self.schedule.first_key_value()?.1.target);
        let at = Timestamp::now();
        let mut bundle = Bundle::default();
        let mut posted = Vec::new();
        let mut finished = 0;
        while bundle.len() < target.options.batch
            && let Some(first) = self.schedule.first_entry()
            && first.key().0 <= now
            && Arc::ptr_eq(&first.get().target, &target)
        {
            let mut promised = first.remove();
            if let Some(step) = promised.ladder.climb() {
                let status = Status::of(&promised.event, step, at);
                if promised.ladder.is_doubled && bundle.len() + 1 < target.options.batch {
                    bundle.add(&promised.event.number, status.clone());
                }
                bundle.add(&promised.event.number, status);
            }
            posted.extend(promised.posted.take());
            match promised.ladder.wait(&target.options) {
                Some(wait) => {
                    promised.due += wait;
                    self.put(promised);
                }
                None => finished += 1,
            }
        }
        if bundle.len() == 0 {
            return None;
        }
        let body = Bytes::from(bundle.body());
        let signature = signature(&target.options.app_secret, &body);
        Some(Batch { target, body, signature, statuses: bundle.len(), finished, attempts: 0, posted })
    }

    /// Notes what became of a webhook: done, to repeat, or given up.
    fn settle(&mut self, mut batch: Batch, was_heard: bool) {
        for posted in batch.posted.drain(..) {
            // A send that no longer waits is no matter.
            let _ = posted.send(());
        }
        let counts = &self.outbox.counts;
        batch.attempts += 1;
        if was_heard {
            counts.webhooks_delivered.fetch_add(1, Ordering::Relaxed);
            counts.statuses_delivered.fetch_add(batch.statuses as u64, Ordering::Relaxed);
        } else {
            counts.webhooks_refused.fetch_add(1, Ordering::Relaxed);
            let options = &batch.target.options;
            if batch.attempts < options.attempts {
                let doubled = options.retry_after.saturating_mul(1 << (batch.attempts - 1).min(16));
                self.serial += 1;
                self.retries.insert((Instant::now() + doubled.min(LONGEST_RETRY), self.serial), batch);
                return;
            }
            counts.statuses_given_up.fetch_add(batch.statuses as u64, Ordering::Relaxed);
            tracing::warn!(statuses = batch.statuses, attempts = batch.attempts, "receipts given up");
        }
        self.held = self.held.saturating_sub(batch.finished);
        self.outbox.finish(batch.finished);
    }
}

/// Whether the receiver answered 200, after the handshake if one is asked for.
async fn post(client: &reqwest::Client, batch: &Batch) -> bool {
    if !batch.target.is_verified.load(Ordering::Relaxed) {
        if !shakes_hands(client, &batch.target).await {
            return false;
        }
        batch.target.is_verified.store(true, Ordering::Relaxed);
    }
    let request = client
        .post(&batch.target.options.url)
        .header("Content-Type", "application/json")
        .header("X-Hub-Signature-256", &batch.signature)
        .body(batch.body.clone());
    request.send().await.is_ok_and(|answer| answer.status() == 200)
}

/// The subscription handshake: the receiver must know the token and give the challenge back.
async fn shakes_hands(client: &reqwest::Client, target: &Target) -> bool {
    let challenge = rand::random::<u32>().to_string();
    let token = target.options.verify_token.clone().unwrap_or_default();
    let query = [
        ("hub.mode", "subscribe"),
        ("hub.challenge", challenge.as_str()),
        ("hub.verify_token", token.as_str()),
    ];
    let Ok(answer) = client.get(&target.options.url).query(&query).send().await else { return false };
    answer.status() == 200 && answer.text().await.is_ok_and(|body| body == challenge)
}
