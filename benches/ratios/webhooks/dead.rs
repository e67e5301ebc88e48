//! A thousand endpoints of fifty companies, of which ten are alive: the others refuse connections, or never answer.

use std::net::TcpListener;
use std::time::{Duration, Instant};

use pombo::store::changes::Who;
use uuid::Uuid;

use super::receiver::Receiver;
use super::{FIRST, add, ground, percentile};
use crate::provider::Provider;
use crate::seed::Seed;
use crate::service::{Service, add_key};
use crate::{Row, load};

const COMPANIES: usize = 50;
/// Endpoints of each company: the most that it may have.
const EACH: usize = 20;
/// Companies with a live endpoint, one each.
const LIVE: usize = 10;
/// The time between two messages, of one company after the other.
const PACE: Duration = Duration::from_millis(10);
/// How long latencies are measured.
const MEASURED: Duration = Duration::from_secs(30);
/// The time between two looks at the dead endpoints, and how long they may take until all of them are only probed.
const LOOK: Duration = Duration::from_secs(5);
const PATIENCE: Duration = Duration::from_secs(300);
/// Failures in a row from which on an endpoint is only probed.
const OPEN: u32 = 5;
/// Nothing listens there.
const REFUSED: &str = "http://127.0.0.1:1/";

/// A company with a channel.
struct Customer {
    id: Uuid,
    key: String,
    channel: Uuid,
}

/// Messages of all companies in turns.
struct Traffic<'a> {
    service: &'a Service,
    customers: &'a [Customer],
    sent: u64,
}

pub(super) async fn measure(receiver: &Receiver) -> Vec<Row> {
    let provider = Provider::start();
    let ground = ground(&provider.url()).await;
    let seed = Seed::at(&ground.database.url).await;
    let mut customers = Vec::new();
    for number in 0..COMPANIES {
        let name = format!("Company {number}");
        let id = ground.store.companies().add(&Who::Pombo, &name, "standard").await.unwrap().id;
        let channels = seed.channels(&ground.vault, id, 2_000_000 + number, 1).await;
        let key = add_key(&ground.store, id).await;
        customers.push(Customer { id, key, channel: channels[0] });
    }
    seed.know_levels().await;
    let service = ground.serve().await;
    for customer in &customers[..LIVE] {
        add(&service, customer.id, receiver.timed(), 1, 2).await;
    }
    let mut traffic = Traffic { service: &service, customers: &customers, sent: 0 };
    // The channels' actors start with their first messages.
    traffic.go_on(LOOK).await;
    let alone = traffic.measured(receiver).await;

    // Connections to it are made, and never answered.
    let silent = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let hangs = format!("http://{}/", silent.local_addr().unwrap());
    for (number, customer) in customers.iter().enumerate() {
        for place in usize::from(number < LIVE)..EACH {
            let url = if place % 2 == 0 { REFUSED } else { hangs.as_str() };
            add(&service, customer.id, url.to_owned(), 1, 2).await;
        }
    }
    let beginning = traffic.measured(receiver).await;
    let (end, mut probed) = (Instant::now() + PATIENCE, 0);
    while probed < COMPANIES * EACH - LIVE && Instant::now() < end {
        traffic.go_on(LOOK).await;
        probed = only_probed(&service, &customers).await;
    }
    let beside = traffic.measured(receiver).await;
    drop(silent);
    service.engine.stop().await;
    let row = |what, ours: f64, yardstick, bound| Row {
        what,
        ours: format!("{ours:.0} ms"),
        yardstick,
        ratio: format!("{:.1}", ours / alone.max(1.0)),
        bound,
    };
    let only = format!("only the ten: {alone:.0} ms");
    vec![
        row(
            "from an event to its arrival at ten live endpoints beside 990 dead ones, p99",
            beside,
            format!("{only}; {probed} dead ones were only probed"),
            "≤ 2",
        ),
        row("… while the dead ones begin to fail", beginning, only, "–"),
    ]
}

/// The endpoints that failed often enough to be only probed.
async fn only_probed(service: &Service, customers: &[Customer]) -> usize {
    let mut probed = 0;
    for customer in customers {
        let all = service.store.of(customer.id).webhooks().list().await.unwrap();
        probed += all.iter().filter(|endpoint| endpoint.health.failures >= OPEN).count();
    }
    probed
}

impl Traffic<'_> {
    async fn go_on(&mut self, lasting: Duration) {
        let end = Instant::now() + lasting;
        let mut next = Instant::now();
        while Instant::now() < end {
            let customer = &self.customers[usize::try_from(self.sent).unwrap() % self.customers.len()];
            let number = FIRST + 1_000_000 + self.sent;
            let body = format!(r#"{{"type":"text","message":"hi","phone_number":"{number}"}}"#);
            let path = format!("/api/v1/chat/{}/messages", customer.channel);
            let request = self.service.request_by(&customer.key, &path, &body);
            load::each(&self.service.address, &[request], "202").await;
            self.sent += 1;
            next += PACE;
            actix_web::rt::time::sleep(next.saturating_duration_since(Instant::now())).await;
        }
    }

    /// The 99th percentile at the live endpoints during a phase, in milliseconds.
    async fn measured(&mut self, receiver: &Receiver) -> f64 {
        receiver.take_latencies();
        self.go_on(MEASURED).await;
        percentile(&mut receiver.take_latencies(), 99)
    }
}
