//! The alternative that a user could build: BullMQ on Redis, which sends to the same local server with the
//! same concurrency, beside the service and a bare loop. `benches/peers/run` installs and starts it; it needs
//! Node, npm and redis-server.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use serde::Deserialize;

use crate::dispatch::{self, CONCURRENCY};
use crate::provider::Provider;
use crate::seed::{self, Seed};
use crate::service::{Service, resident_kib};
use crate::{Row, median};

const MESSAGES: u64 = 100_000;
const ROUNDS: usize = 3;
/// The pace of both sides' limiters, and for how many seconds they keep it.
const RATE: u64 = 80;
const SECONDS: u64 = 5;
const PATIENCE: Duration = Duration::from_secs(60);

/// The output of the script.
#[derive(Deserialize)]
struct Peer {
    jobs: u64,
    failed: u64,
    enqueue_seconds: f64,
    redis_bytes_per_job: f64,
    jobs_per_second: f64,
    worker_rss_bytes: f64,
}

#[derive(Default)]
struct Found {
    bare: Vec<f64>,
    ours: Vec<f64>,
    peer: Vec<f64>,
    accepted: Vec<f64>,
    enqueued: Vec<f64>,
    bytes: Vec<f64>,
    own_bytes: Vec<f64>,
    worker: Vec<f64>,
}

pub(crate) fn measure() -> Vec<Row> {
    actix_web::rt::System::new().block_on(async {
        let installed = tempfile::tempdir().unwrap();
        let provider = Provider::start();
        let service = Service::start(&provider.url(), "unlimited", CONCURRENCY).await;
        let tag = seed::tag(&service.store, service.company, "everyone").await;
        Seed::at(&service.database.url).await.members(service.company, tag, MESSAGES).await;
        let mut found = Found::default();
        for _ in 0..ROUNDS {
            found.bare.push(dispatch::loop_of_requests(provider.address.clone(), MESSAGES, None).await);
            let before = (provider.messages(), resident_kib());
            let began = Instant::now();
            let (took, recipients) = service.send_to_tag(tag).await;
            found.accepted.push(took.as_secs_f64());
            let come = provider.wait(PATIENCE, |tally| tally.messages >= before.0 + recipients);
            assert!(come.await, "messages never arrived");
            // The time runs from the request until the ledger is written, so it includes enqueueing.
            while !service.store.channels().working().await.unwrap().is_empty() {
                actix_web::rt::time::sleep(Duration::from_millis(2)).await;
            }
            found.ours.push(recipients as f64 / began.elapsed().as_secs_f64());
            found.own_bytes.push((resident_kib() - before.1).max(0) as f64 * 1024.0 / recipients as f64);
            let peer = bullmq(&provider, installed.path(), MESSAGES, 0).await;
            found.peer.push(peer.jobs_per_second);
            found.enqueued.push(peer.enqueue_seconds);
            found.bytes.push(peer.redis_bytes_per_job);
            found.worker.push(peer.worker_rss_bytes / 1024.0 / 1024.0);
        }
        service.engine.stop().await;
        let (own, peers) = (paced(&provider).await, limited(&provider, installed.path()).await);
        rows(found, own, peers)
    })
}

fn rows(found: Found, own_most: u32, peer_most: u32) -> Vec<Row> {
    let Found { bare, ours, peer, accepted, enqueued, bytes, own_bytes, worker } = found;
    let (bare, ours, peer) = (median(bare), median(ours), median(peer));
    let (accepted, enqueued) = (median(accepted), median(enqueued));
    vec![
        Row {
            what: "messages a second beside BullMQ, 64 at once",
            ours: format!("{ours:.0}/s, accepting and ledger included"),
            yardstick: format!("BullMQ {peer:.0}/s, enqueueing left out; bare loop {bare:.0}/s"),
            ratio: format!("{:.1}", ours / peer),
            bound: "≥ 5",
        },
        Row {
            what: "100,000 messages taken in, durable",
            ours: format!("{accepted:.3} s"),
            yardstick: format!("addBulk, in memory only, {enqueued:.2} s"),
            ratio: format!("{:.3}", accepted / enqueued),
            bound: "–",
        },
        Row {
            what: "memory for each queued message",
            ours: format!("{:.0} B, the whole run included", median(own_bytes)),
            yardstick: format!("Redis {:.0} B, and a worker of {:.0} MiB", median(bytes), median(worker)),
            ratio: "–".to_owned(),
            bound: "–",
        },
        Row {
            what: "arrivals in the fastest second at a limit of 80/s",
            ours: own_most.to_string(),
            yardstick: format!("BullMQ {peer_most}"),
            ratio: format!("{:.2}", f64::from(own_most) / f64::from(peer_most)),
            bound: "≤ 81 arrivals",
        },
    ]
}

/// The most messages of the service that arrive in any second at a limited pace.
async fn paced(provider: &Provider) -> u32 {
    let service = Service::start(&provider.url(), &format!("{RATE}/s"), CONCURRENCY).await;
    let tag = seed::tag(&service.store, service.company, "everyone").await;
    Seed::at(&service.database.url).await.members(service.company, tag, RATE * SECONDS).await;
    provider.seen(crate::provider::Tally::clear);
    service.send_to_tag(tag).await;
    assert!(provider.wait(PATIENCE, |tally| tally.messages >= RATE * SECONDS).await);
    service.engine.stop().await;
    provider.seen(|tally| tally.fastest_second().0)
}

/// The most messages of the peer that arrive in any second at that pace.
async fn limited(provider: &Provider, installed: &Path) -> u32 {
    provider.seen(crate::provider::Tally::clear);
    bullmq(provider, installed, RATE * SECONDS, RATE).await;
    provider.seen(|tally| tally.fastest_second().0)
}

/// Runs the script.
async fn bullmq(provider: &Provider, installed: &Path, jobs: u64, limit: u64) -> Peer {
    let mut run = Command::new(Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/peers/run"));
    run.arg(provider.url()).args([jobs, CONCURRENCY as u64, limit].map(|number| number.to_string()));
    run.arg(installed).stderr(std::process::Stdio::inherit());
    let output = actix_web::rt::task::spawn_blocking(move || run.output().unwrap()).await.unwrap();
    assert!(output.status.success(), "the peer could not be measured: {}", output.status);
    let peer: Peer = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((peer.jobs, peer.failed), (jobs, 0));
    peer
}
