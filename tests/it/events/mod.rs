//! The stream of events, at a real NATS server: every change arrives, and none arrives twice.

mod accounts;
mod away;
mod carrier;
mod forged;
pub(crate) mod killed;
mod refused;
pub(crate) mod server;
mod shapes;

use std::collections::{BTreeMap, HashSet};

use pombo::clock::Timestamp;
use pombo::config::{Config, Events};
use pombo::connector::nats::Nats;
use pombo::store::Store;
use pombo::store::changes::Who;
use pombo::store::event_log::Reader;
use reqwest::Method;
use serde_json::{Value, json};
use simulator::ReceiptOptions;

use self::server::{NatsServer, Stored, options};
use crate::database::Universe;
use crate::running::{APP_SECRET, NUMBER, Running, until};
use crate::scenarios::stage;

/// Makes two tests of each function that takes a [`Universe`], as `stores!` does, of those that need a NATS server.
macro_rules! with_nats {
    ($($behaviour:ident),* $(,)?) => {
        mod sqlite {
            $(
                #[actix_web::test]
                #[ignore = "needs nats-server: run scripts/test"]
                async fn $behaviour() {
                    let universe = $crate::database::Universe::sqlite().await;
                    super::$behaviour(&universe).await;
                    universe.end().await;
                }
            )*
        }
        mod postgres {
            $(
                #[actix_web::test]
                #[ignore = "needs PostgreSQL and nats-server: run scripts/test"]
                async fn $behaviour() {
                    let universe = $crate::database::Universe::postgres().await;
                    super::$behaviour(&universe).await;
                    universe.end().await;
                }
            )*
        }
    };
}
use with_nats;

with_nats! {
    every_kind_of_event_arrives_once,
    receipts_before_the_answer_are_one_event_each,
}

/// The first of the numbers that are sent to.
const FIRST: u64 = 5_511_900_000_000;

/// A service whose store writes events, and which publishes none yet.
async fn silent(universe: &Universe, change: impl FnOnce(&mut Config)) -> Running {
    universe.store.event_log().register(Reader::Nats, Timestamp::now()).await.unwrap();
    Running::start_on(universe.store.clone(), universe.options(), change).await
}

/// Publishes the events of a service at this address.
async fn publish_to(running: &Running, url: &str) {
    let nats = Nats::connect(&options(url), None).await.unwrap().unwrap();
    running.engine().events().publish(nats.events(&events()));
}

/// A service that publishes its events.
async fn publishing(universe: &Universe, server: &NatsServer) -> Running {
    let running = silent(universe, |_| {}).await;
    publish_to(&running, &server.url()).await;
    running
}

fn events() -> Events {
    Config::default().events
}

/// How many events are not published.
async fn waiting(store: &Store) -> u64 {
    let log = store.event_log();
    let place = log.place_of(Reader::Nats, Timestamp::now()).await.unwrap().unwrap();
    log.behind(place).await.unwrap().events
}

/// Waits until all events are published.
async fn published(store: &Store) {
    until("every event published", async || waiting(store).await == 0).await;
}

/// How many events there are of each type; no two have one id.
fn by_type(stored: &[Stored]) -> BTreeMap<&str, usize> {
    let ids: HashSet<_> = stored.iter().map(|event| &event.id).collect();
    assert_eq!(ids.len(), stored.len(), "an event is in the stream twice");
    let mut counted = BTreeMap::new();
    for event in stored {
        assert_eq!(event.body["id"], json!(event.id));
        *counted.entry(event.kind()).or_default() += 1;
    }
    counted
}

/// The recipients of the events of this type, in the order of the stream.
fn recipients<'a>(stored: &'a [Stored], kind: &str) -> Vec<&'a str> {
    let of_kind = stored.iter().filter(|event| event.kind() == kind);
    of_kind.map(|event| event.body["data"]["recipient"].as_str().unwrap()).collect()
}

async fn every_kind_of_event_arrives_once(universe: &Universe) {
    let server = NatsServer::start().await;
    let running = publishing(universe, &server).await;
    let receipts = ReceiptOptions {
        read_probability: 1.0,
        verify_token: Some(running.verify_token.clone()),
        ..ReceiptOptions::to(running.hook(running.channel), APP_SECRET)
    };
    running.simulator.aim_receipts(Some(receipts)).unwrap();
    let tag = running.tag("everyone", FIRST, 3).await;
    running.send_to_tag(tag, 3).await;
    until("every message read", async || by_type(&server.stored().await).get("message.read") == Some(&3))
        .await;

    // Canceled before its moment, with nothing of it attempted.
    let later = json!({ "type": "text", "message": "hi", "contact_tag_id": tag, "send_at": in_an_hour() });
    let (status, answer) = running.send(&later).await;
    assert_eq!(status, 202, "{answer}");
    let id = answer["send_id"].as_str().unwrap();
    let canceled = running.ask(Method::POST, &format!("/api/v1/sends/{id}/cancel"), &Value::Null).await;
    assert_eq!(canceled.status, 200, "{}", canceled.body);

    // A message of a person, which the provider reports twice.
    let inbound = json!([{ "field": "messages", "value": {
        "messaging_product": "whatsapp",
        "metadata": { "display_phone_number": "15550783881", "phone_number_id": NUMBER },
        "messages": [{ "from": "5511900000001", "id": "wamid.in", "timestamp": "1700000000", "type": "text",
            "text": { "body": "a secret" } }],
    } }]);
    let inbound = inbound.as_array().unwrap();
    stage::tell(&running, inbound).await;
    stage::tell(&running, inbound).await;

    // The provider no longer accepts the token.
    let other = running.seal(running.channel, "EAAG-bad");
    running.store.channels().reconnect(&Who::Pombo, running.channel, Some(other)).await.unwrap();
    until("the channel disconnected", async || {
        by_type(&server.stored().await).get("channel.disconnected") == Some(&1)
    })
    .await;
    published(&running.store).await;

    let stored = server.stored().await;
    let counted = by_type(&stored);
    for (kind, count) in [
        ("message.sent", 3),
        ("message.delivered", 3),
        ("message.read", 3),
        ("send.finished", 1),
        ("send.canceled", 1),
        ("message.received", 1),
        ("conversation.opened", 1),
        ("channel.disconnected", 1),
    ] {
        assert_eq!(counted.get(kind), Some(&count), "{kind} in {counted:?}");
    }
    assert!(counted["channel.connected"] >= 1, "{counted:?}");
    for state in ["sent", "delivered", "read"] {
        let mut told = recipients(&stored, &format!("message.{state}"));
        told.sort_unstable();
        assert_eq!(told, ["+5511900000000", "+5511900000001", "+5511900000002"]);
    }
    for event in &stored {
        assert_eq!(event.subject, format!("pombo.events.{}.{}", running.company, event.kind()));
        assert_eq!((&event.body["version"], &event.body["channel_id"]), (&json!(1), &json!(running.channel)));
        let is_hers = matches!(event.kind(), "message.received");
        assert_eq!(event.body.to_string().contains("a secret"), is_hers, "{}", event.body);
    }
    let of = |kind: &str| stored.iter().find(|event| event.kind() == kind).unwrap();
    let canceled = json!({ "send_id": id, "recipients_count": 3, "reference": null });
    assert_eq!(of("send.canceled").body["data"], canceled);
    let received = of("message.received");
    assert_eq!(received.body["data"]["provider_message_id"], "wamid.in");
    assert_eq!(received.body["data"]["from"], "+5511900000001");
    assert_eq!(received.body["data"]["message"]["content"]["type"], "text");
    assert_eq!(received.body["at"], "2023-11-14T22:13:20.000Z");
    assert!(of("channel.disconnected").body["data"]["reason"]["sentence"].is_string());
    running.end().await;
}

fn in_an_hour() -> String {
    pombo::clock::Timestamp::now().plus(std::time::Duration::from_secs(3_600)).to_string()
}

async fn receipts_before_the_answer_are_one_event_each(universe: &Universe) {
    let server = NatsServer::start().await;
    let running = publishing(universe, &server).await;
    let receipts = ReceiptOptions {
        read_probability: 1.0,
        reorder_probability: 0.5,
        duplicate_probability: 0.5,
        before_reply: true,
        verify_token: Some(running.verify_token.clone()),
        ..ReceiptOptions::to(running.hook(running.channel), APP_SECRET)
    };
    running.simulator.aim_receipts(Some(receipts)).unwrap();
    let tag = running.tag("everyone", FIRST, 50).await;
    running.send_to_tag(tag, 50).await;
    until("every message read", async || by_type(&server.stored().await).get("message.read") == Some(&50))
        .await;
    running.settled(50).await;
    published(&running.store).await;
    let stored = server.stored().await;
    // A state has no event if its report arrives after a later state.
    let counted = by_type(&stored);
    assert!(counted["message.read"] == 50 && counted["send.finished"] == 1, "{counted:?}");
    let mut last = BTreeMap::new();
    for event in stored.iter().filter(|event| event.kind().starts_with("message.")) {
        last.insert(event.body["data"]["ordinal"].as_u64().unwrap(), event.kind());
    }
    assert!(last.values().all(|kind| *kind == "message.read"), "{last:?}");
    running.end().await;
}
