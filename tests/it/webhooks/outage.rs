//! The database goes away and comes back while a receiver gets events. That is no fault of the receiver.

use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};
use simulator::ReceiptOptions;

use super::logged::LoggedEvents;
use super::receiver::Receiver;
use crate::database::Universe;
use crate::outage::{assert_unavailable, behind_proxy, ready};
use crate::running::{APP_SECRET, Running, until};

const FIRST: u64 = 5_511_900_000_000;
const CONTACTS: u64 = 400;
/// The requests that the receiver answers before it holds its answers back.
const ANSWERED: usize = 60;
/// The most requests at the same time.
const IN_FLIGHT: usize = 4;

/// The answer to `GET path`. The service notices that a connection to its database broke only when it uses it.
async fn shown(running: &Running, path: &str) -> Value {
    let mut shown = Value::Null;
    until(path, async || {
        let answer = running.ask(Method::GET, path, &Value::Null).await;
        shown = answer.json();
        answer.status == 200
    })
    .await;
    shown
}

#[actix_web::test]
#[ignore = "needs PostgreSQL: run scripts/test"]
async fn no_event_is_lost_while_the_database_is_away_and_no_failure_is_counted() {
    let (universe, receiver) = (Universe::postgres().await, Receiver::start().await);
    let (proxy, running) = behind_proxy(&universe, |config| {
        config.webhooks.allow_networks = vec!["127.0.0.0/8".parse().unwrap()];
        config.webhooks.allow_http = true;
        // No answer is to be late that is held back until the database is away.
        config.webhooks.timeout = Duration::from_secs(60);
    })
    .await;
    let endpoint = json!({
        "url": receiver.url(), "types": ["message.*", "send.*"], "max_in_flight": IN_FLIGHT,
    });
    let added = running.ask(Method::POST, "/api/v1/webhooks", &endpoint).await;
    assert_eq!(added.status, 201, "{}", added.body);
    let endpoint = format!("/api/v1/webhooks/{}", added.json()["id"].as_str().unwrap());
    let mut log = LoggedEvents::from_now(running.address(), &running.key).await;
    let short = Duration::from_millis(20);
    let receipts = ReceiptOptions {
        delivered_after: short,
        read_after: short,
        read_probability: 1.0,
        // Like the provider, it repeats what is refused for longer than the database is away.
        attempts: 10_000,
        ..ReceiptOptions::to(running.hook(running.channel), APP_SECRET)
    };
    running.simulator.aim_receipts(Some(receipts)).unwrap();
    // The send is under way for some seconds.
    running.simulator.script(&json!({ "latency": "150ms" })).unwrap();

    receiver.hold_after(ANSWERED);
    let tag = running.tag("everyone", FIRST, CONTACTS).await;
    running.send_to_tag(tag, CONTACTS).await;
    // So many requests in all mean that those before were answered.
    until("requests that wait for their answers", async || receiver.got().len() == ANSWERED + IN_FLIGHT)
        .await;
    proxy.cut();
    until("not ready", async || ready(&running).await == 503).await;
    receiver.answer_all();
    until("the events accepted", async || receiver.accepted().len() >= ANSWERED + IN_FLIGHT).await;
    // Until then, what the receiver accepted cannot be written, and no more events can be read.
    let meanwhile = running.ask(Method::GET, &endpoint, &Value::Null).await;
    assert_unavailable(&meanwhile, "the record of the endpoint");
    proxy.mend();
    until("ready", async || ready(&running).await == 200).await;
    running.settled(CONTACTS).await;
    until("every event of the log at the receiver", async || {
        log.read_on(running.address()).await;
        log.is_complete(CONTACTS) && log.has_arrived(&receiver)
    })
    .await;

    log.assert_arrived(&receiver);
    until("the place of the endpoint", async || shown(&running, &endpoint).await["waiting_since"].is_null())
        .await;
    let record = shown(&running, &endpoint).await;
    assert_eq!((&record["state"], &record["failing_since"]), (&json!("enabled"), &Value::Null), "{record}");
    for count in ["failures", "retries", "given_up", "lost"] {
        assert_eq!(record[count], 0, "{count}: {record}");
    }
    let deliveries = shown(&running, &format!("{endpoint}/deliveries?limit=1000")).await;
    let deliveries = deliveries["data"].as_array().unwrap();
    assert!(!deliveries.is_empty());
    for delivery in deliveries {
        assert_eq!((&delivery["status"], &delivery["attempt"]), (&json!(200), &json!(1)), "{delivery}");
    }
    running.end().await;
    universe.end().await;
}
