//! The task that posts webhooks: in batches, signed, and repeated until they are answered or the attempts are
//! used up.
//!
//! It collects due webhooks every few milliseconds, so that a million messages do not need a million timers,
//! and posts a few webhooks at a time. As at the provider, their order is undefined.

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;

use super::outbox::Outbox;
use super::scheduler::{Batch, Scheduler};
use super::target::Target;
use super::webhook::signature;

/// How long statuses are gathered before they are posted together.
const GATHER: Duration = Duration::from_millis(10);
/// The most webhooks under way at a time.
const MOST_POSTS: usize = 8;
/// How long a receiver has for its answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// Delivers until it is aborted.
pub(super) async fn deliver(outbox: Arc<Outbox>) {
    // If the provider of cryptography was set before, it stays.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = match reqwest::Client::builder().no_proxy().timeout(PATIENCE).build() {
        Ok(client) => client,
        Err(error) => {
            tracing::error!(%error, "cannot deliver receipts: no HTTP client");
            return;
        }
    };
    let mut scheduler = Scheduler::new(outbox);
    let mut posts = FuturesUnordered::new();
    loop {
        if posts.is_empty() && scheduler.is_idle() {
            scheduler.outbox.wake.notified().await;
        }
        let gather = tokio::time::sleep(GATHER);
        tokio::pin!(gather);
        loop {
            tokio::select! {
                () = &mut gather => break,
                Some((batch, was_heard)) = posts.next(), if !posts.is_empty() => scheduler.settle(batch, was_heard),
            }
        }
        if scheduler.take_in() {
            posts.clear();
        }
        while posts.len() < MOST_POSTS
            && let Some(batch) = scheduler.next_batch(Instant::now())
        {
            let client = client.clone();
            posts.push(async move {
                let was_heard = post(&client, &batch).await;
                (batch, was_heard)
            });
        }
    }
}

/// Whether the receiver answered 200, after the handshake if one is asked for.
async fn post(client: &reqwest::Client, batch: &Batch) -> bool {
    let Target { options, handshake, .. } = &*batch.target;
    // Some receivers know their token once: webhooks that go at the same time wait for one handshake.
    let shaken = || async { if shakes_hands(client, &batch.target).await { Ok(()) } else { Err(()) } };
    if handshake.get_or_try_init(shaken).await.is_err() {
        return false;
    }
    let request = client
        .post(&options.url)
        .header("Content-Type", "application/json")
        .header("X-Hub-Signature-256", signature(&options.app_secret, &batch.body))
        .body(batch.body.clone());
    request.send().await.is_ok_and(|answer| answer.status() == 200)
}

/// The subscription handshake: the receiver must know the token and return the challenge.
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
