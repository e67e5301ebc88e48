//! Webhooks: events a second to one endpoint, beside a plain client that posts the same bodies to the same receiver; the
//! time to the first attempt; live endpoints beside dead ones; and the memory of a dead one over three days.

mod dead;
mod memory;
mod receiver;

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::{Duration, Instant};

use actix_web::web;
use futures_util::StreamExt as _;
use pombo::domain::event::Type;
use pombo::domain::webhook::{MOST_IN_FLIGHT, Resume};
use pombo::engine::EndpointChange;
use pombo::store::changes::Who;
use uuid::Uuid;

use self::receiver::Receiver;
use crate::dispatch::{self, CONCURRENCY};
use crate::service::{Ground, Service};
use crate::{Row, load, median};

const ROUNDS: usize = 3;
const CONTACTS: u64 = 20_000;
/// Sends whose events one round delivers, one by one and in batches.
const SENDS: [u64; 2] = [1, 10];
const BATCHES: [u8; 2] = [1, 100];
/// Requests of the plain client in one round.
const REQUESTS: [u64; 2] = [20_000, 2_000];
/// Single messages to an idle service, and the pause after each.
const SINGLES: u64 = 400;
const PAUSE: Duration = Duration::from_millis(25);
/// The first recipient of single messages.
const FIRST: u64 = 5_512_000_000_000;

pub(crate) fn measure() -> Vec<Row> {
    // First, because whatever else is in the process may take memory or give it back.
    let memory = memory::measure();
    let provider = dispatch::provider(Arc::new(AtomicU64::new(0)));
    let receiver = Receiver::start();
    actix_web::rt::System::new().block_on(async {
        let service = ground(&format!("http://{provider}")).await.serve().await;
        let tag = service.tag(CONTACTS).await;
        let mut rows = Vec::new();
        for (what, place, bound) in [
            ("events delivered to one webhook endpoint, one in a request", 0, "≥ 3,000/s"),
            ("… 100 in a request", 1, "≥ 30,000/s"),
        ] {
            rows.push(throughput(&service, &receiver, tag, place, (what, bound)).await);
        }
        rows.push(first_attempts(&service, &receiver).await);
        service.engine.stop().await;
        rows.extend(Box::pin(dead::measure(&receiver)).await);
        rows.push(memory);
        rows
    })
}

/// A database for a service that may deliver to this machine.
async fn ground(provider: &str) -> Ground {
    let mut ground = Ground::new(provider, "unlimited", CONCURRENCY).await;
    ground.config.webhooks.allow_http = true;
    ground.config.webhooks.allow_networks = vec!["127.0.0.0/8".parse().unwrap()];
    ground
}

/// Adds an endpoint that gets an event for each message that was sent.
async fn add(service: &Service, company: Uuid, url: String, batch: u8, in_flight: u8) -> Uuid {
    let new = EndpointChange {
        url: Some(url),
        types: Some(vec![Type::MessageSent]),
        max_in_flight: Some(in_flight),
        batch: Some(batch),
        ..EndpointChange::default()
    };
    let added = service.engine.webhook_endpoints().add(&Who::Pombo, company, new, None, None).await;
    added.unwrap().0.endpoint.id
}

async fn throughput(
    service: &Service,
    receiver: &Receiver,
    tag: Uuid,
    place: usize,
    (what, bound): (&'static str, &'static str),
) -> Row {
    let endpoint = add(service, service.company, receiver.counted(), BATCHES[place], MOST_IN_FLIGHT).await;
    let (mut ours, mut plain) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        ours.push(delivered(service, receiver, endpoint, tag, SENDS[place]).await);
        let (body, events) = receiver.take_largest();
        plain.push(posted(receiver.counted(), body, REQUESTS[place]).await * events as f64);
    }
    remove(service, endpoint).await;
    let (ours, plain) = (median(ours), median(plain));
    Row {
        what,
        ours: format!("{ours:.0}/s"),
        yardstick: format!("a plain client posts the same bodies {plain:.0}/s"),
        ratio: format!("{:.2}", ours / plain),
        bound,
    }
}

async fn remove(service: &Service, endpoint: Uuid) {
    service.engine.webhook_endpoints().remove(&Who::Pombo, service.company, endpoint).await.unwrap();
}

/// Events in a second to an endpoint that was disabled while they happened.
async fn delivered(service: &Service, receiver: &Receiver, endpoint: Uuid, tag: Uuid, sends: u64) -> f64 {
    let endpoints = service.engine.webhook_endpoints();
    endpoints.disable(&Who::Pombo, service.company, endpoint).await.unwrap();
    let mut events = 0;
    for _ in 0..sends {
        events += service.send_to_tag(tag).await.1;
    }
    while !service.store.channels().working().await.unwrap().is_empty() {
        actix_web::rt::time::sleep(Duration::from_millis(5)).await;
    }
    let (before, started) = (receiver.events(), Instant::now());
    endpoints.enable(&Who::Pombo, service.company, endpoint, Resume::CatchUp).await.unwrap();
    receiver.wait(before + events).await;
    events as f64 / started.elapsed().as_secs_f64()
}

/// The yardstick: requests in a second with the same body, as many at once as an endpoint gets.
async fn posted(url: String, body: web::Bytes, requests: u64) -> f64 {
    let run = move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async move {
            let client = plain_client();
            let started = Instant::now();
            futures_util::stream::iter(0..requests)
                .map(|_| post(&client, &url, body.clone()))
                .buffer_unordered(usize::from(MOST_IN_FLIGHT))
                .for_each(|()| std::future::ready(()))
                .await;
            requests as f64 / started.elapsed().as_secs_f64()
        })
    };
    tokio::task::spawn_blocking(run).await.unwrap()
}

fn plain_client() -> reqwest::Client {
    reqwest::Client::builder().no_proxy().tcp_nodelay(true).build().unwrap()
}

async fn post(client: &reqwest::Client, url: &str, body: web::Bytes) {
    let request = client.post(url).header("Content-Type", "application/json").body(body);
    assert_eq!(request.send().await.unwrap().status(), 200);
}

/// From an event to its arrival while nothing else happens.
async fn first_attempts(service: &Service, receiver: &Receiver) -> Row {
    let endpoint = add(service, service.company, receiver.timed(), 1, 2).await;
    receiver.take_latencies();
    let before = receiver.events();
    for number in 0..SINGLES {
        let body = format!(r#"{{"type":"text","message":"hi","phone_number":"{}"}}"#, FIRST + number);
        load::each(&service.address, &[service.request(&body)], "202").await;
        actix_web::rt::time::sleep(PAUSE).await;
    }
    receiver.wait(before + SINGLES).await;
    remove(service, endpoint).await;
    let mut ours = receiver.take_latencies();
    let (client, mut plain) = (plain_client(), Vec::new());
    for _ in 0..SINGLES {
        let started = Instant::now();
        post(&client, &receiver.counted(), web::Bytes::from_static(b"{}")).await;
        plain.push(started.elapsed().as_secs_f64() * 1e3);
    }
    let [p50, p99] = [50, 99].map(|percent| percentile(&mut ours, percent));
    Row {
        what: "from an event to its first attempt, idle service, p99",
        ours: format!("p50 {p50:.0}, p99 {p99:.0} ms"),
        yardstick: format!("a request of a plain client {:.1} ms", percentile(&mut plain, 99)),
        ratio: "–".to_owned(),
        bound: "≤ 200 ms",
    }
}

/// The percentile by the nearest rank. There is at least one value.
fn percentile(values: &mut [f64], percent: usize) -> f64 {
    values.sort_by(f64::total_cmp);
    values[(values.len() * percent).div_ceil(100).max(1) - 1]
}
