//! Webhooks to companies: events reach a receiver signed and in order, also after it failed and after the service ended.

pub(crate) mod logged;
mod mending;
mod outage;
pub(crate) mod receiver;
pub(crate) mod sealed;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use pombo::config::Config;
use pombo::connector::webhook::{SigningKey, signature};
use pombo::domain::event::Type;
use pombo::domain::event::log::Sequence;
use pombo::domain::page::PageRequest;
use pombo::domain::webhook::{Cause, ReplayOf, ReplayRequest, Resume, Schemes, Settings, State};
use pombo::engine::Resent;
use pombo::store::Store;
use pombo::store::changes::Who;
use pombo::store::webhooks::{Changing, Delivery, EndpointStanding, HeadersChange, NewEndpoint, Write};
use pombo::vault::{Vault, context};
use serde_json::json;
use simulator::ReceiptOptions;
use uuid::Uuid;

use self::receiver::Receiver;
use crate::database::{Universe, stores};
use crate::running::{APP_SECRET, Running, until};
use crate::serving::Serving;

stores! {
    events_arrive_signed_and_in_order_for_each_person,
    a_receiver_that_fails_for_a_while_gets_all_events,
    a_receiver_that_is_gone_gets_nothing_until_a_person_enables_its_endpoint,
    a_changed_endpoint_gets_what_its_settings_say_from_then_on,
    batches_are_lists_and_masked_numbers_are_not_sent,
    a_test_sends_an_example_and_an_event_can_be_sent_once_more,
    events_are_sent_once_more_from_the_log_or_after_they_were_given_up,
    a_service_that_starts_again_goes_on_where_it_was,
    a_service_that_is_killed_loses_no_event,
}

const FIRST: u64 = 5_511_900_000_000;

/// An endpoint that a test added.
struct Added {
    id: Uuid,
    key: SigningKey,
    /// Where its events begin.
    begin: Sequence,
}

/// A service that may deliver to this machine.
async fn start(universe: &Universe) -> Running {
    Running::start(universe, |config| {
        config.webhooks.allow_networks = vec!["127.0.0.0/8".parse().unwrap()];
        config.webhooks.allow_http = true;
    })
    .await
}

/// Adds an endpoint that gets the events of these types, as the API does.
async fn add(store: &Store, vault: &Vault, company: Uuid, settings: Settings) -> Added {
    let (id, secret) = (Uuid::now_v7(), signature::generate());
    let sealed = vault.seal(secret.expose().as_bytes(), &context::webhook_secret(id));
    let settings = settings.checked(Schemes::HttpToo).unwrap();
    let new = NewEndpoint { id, settings, headers: None, secret: sealed };
    store.of(company).webhooks().add(&Who::Pombo, new).await.unwrap().unwrap();
    let begin = standing(store, id).await.cursor;
    Added { id, key: SigningKey::parse(&secret).unwrap(), begin }
}

async fn add_to(running: &Running, settings: Settings) -> Added {
    let added = add(&running.store, &running.vault, running.company, settings).await;
    running.engine().webhook_endpoints().changed();
    added
}

fn settings(receiver: &Receiver, types: &[Type]) -> Settings {
    Settings { types: types.to_vec(), ..Settings::new(receiver.url()) }
}

async fn standing(store: &Store, id: Uuid) -> EndpointStanding {
    store.webhooks().standing(id).await.unwrap().unwrap()
}

async fn deliveries(running: &Running, id: Uuid) -> Vec<Delivery> {
    let all = PageRequest { page: 1, limit: 2_000 };
    running.store.of(running.company).webhooks().deliveries(id, all).await.unwrap().records
}

/// The ids of the events in the log after `begin` of these types.
async fn logged(store: &Store, company: Uuid, begin: Sequence, types: &[Type]) -> BTreeSet<String> {
    let through = store.event_log().settle().await.unwrap().through;
    let wants = |r#type| types.contains(&r#type);
    let page = store.event_log().read(Some(company), (begin, through), 100_000, wants).await.unwrap();
    page.told.into_iter().filter_map(|told| told.event).map(|event| event.id).collect()
}

/// Sends a message to a person.
async fn send(running: &Running, ordinal: u64) {
    let body = json!({ "type": "text", "message": "hi", "phone_number": (FIRST + ordinal).to_string() });
    let (status, answer) = running.send(&body).await;
    assert_eq!(status, 202, "{answer}");
}

async fn events_arrive_signed_and_in_order_for_each_person(universe: &Universe) {
    const CONTACTS: u64 = 40;
    let (running, receiver) = (start(universe).await, Receiver::start().await);
    let types = [Type::MessageSent, Type::MessageDelivered, Type::MessageRead, Type::SendFinished];
    let added = add_to(&running, Settings { max_in_flight: 4, ..settings(&receiver, &types) }).await;
    let short = Duration::from_millis(20);
    let options = ReceiptOptions {
        delivered_after: short,
        read_after: short,
        read_probability: 1.0,
        ..ReceiptOptions::to(running.hook(running.channel), APP_SECRET)
    };
    running.simulator.aim_receipts(Some(options)).unwrap();
    let tag = running.tag("everyone", FIRST, CONTACTS).await;
    running.send_to_tag(tag, CONTACTS).await;
    until("every message read at the receiver", async || {
        let events = receiver.events();
        events.iter().filter(|event| event["type"] == "message.read").count() as u64 >= CONTACTS
            && events.iter().any(|event| event["type"] == "send.finished")
    })
    .await;

    let mut last = BTreeMap::new();
    for got in receiver.got() {
        assert!(got.is_signed_with(&added.key), "{got:?}");
        let event = got.json();
        assert_eq!(got.header("webhook-id"), event["id"].as_str().unwrap());
        assert_eq!(event["company_id"], json!(running.company));
        if let Some(recipient) = event["data"]["recipient"].as_str() {
            let sequence = event["sequence"].as_i64().unwrap();
            let before = last.insert(recipient.to_owned(), sequence);
            assert!(before.is_none_or(|before| before < sequence), "{recipient}: {before:?}, {sequence}");
        }
    }
    assert_eq!(last.len() as u64, CONTACTS);
    assert_eq!(receiver.ids(), logged(&running.store, running.company, added.begin, &types).await);
    assert_eq!(receiver.ids().len(), receiver.events().len(), "an event came twice");
    running.end().await;
}

/// Waits for the first retries, which come after some five seconds.
async fn a_receiver_that_fails_for_a_while_gets_all_events(universe: &Universe) {
    const MESSAGES: u64 = 8;
    let (running, receiver) = (start(universe).await, Receiver::start().await);
    // Fewer than what opens the circuit.
    receiver.answer_next([503, 302, 500]);
    let added = add_to(&running, settings(&receiver, &[Type::MessageSent])).await;
    for ordinal in 0..MESSAGES {
        send(&running, ordinal).await;
    }
    until("each event at the receiver, three of them again", async || {
        receiver.ids().len() as u64 == MESSAGES && receiver.events().len() as u64 >= MESSAGES + 3
    })
    .await;
    until("nothing left to retry", async || {
        let standing = standing(&running.store, added.id).await;
        standing.retries.is_empty() && standing.health.failures == 0
    })
    .await;
    until("the log of deliveries", async || {
        deliveries(&running, added.id).await.len() as u64 >= MESSAGES + 3
    })
    .await;
    let deliveries = deliveries(&running, added.id).await;
    let failed: Vec<_> = deliveries.iter().filter(|delivery| delivery.status != Some(200)).collect();
    assert_eq!(failed.len(), 3, "{deliveries:?}");
    for delivery in failed {
        assert!(delivery.attempt == 1 && delivery.fault.is_some(), "{delivery:?}");
        let again = |other: &&Delivery| other.event_id == delivery.event_id && other.status == Some(200);
        assert_eq!(deliveries.iter().find(again).unwrap().attempt, 2);
    }
    running.end().await;
}

async fn a_receiver_that_is_gone_gets_nothing_until_a_person_enables_its_endpoint(universe: &Universe) {
    let (running, receiver) = (start(universe).await, Receiver::start().await);
    let other = Receiver::start().await;
    receiver.answer_always(Some(410));
    let types = [Type::MessageSent];
    let added = add_to(&running, settings(&receiver, &types)).await;
    add_to(&running, settings(&other, &[Type::WebhookDisabled])).await;
    let webhooks = running.store.of(running.company).webhooks();
    send(&running, 0).await;
    until("the endpoint disabled", async || {
        let state = webhooks.find(added.id).await.unwrap().unwrap().health.state;
        matches!(state, State::Disabled { cause: Cause::Gone, .. })
    })
    .await;
    receiver.answer_always(None);
    assert_eq!(receiver.got().len(), 1);
    until("the company's other receiver told", async || other.events().len() == 1).await;
    let told = other.events().remove(0);
    assert_eq!(told["data"], json!({ "webhook_id": added.id, "reason": "gone" }), "{told}");
    for ordinal in 1..4 {
        send(&running, ordinal).await;
    }
    until("the events in the log", async || {
        logged(&running.store, running.company, added.begin, &types).await.len() == 4
    })
    .await;
    assert_eq!(receiver.got().len(), 1, "an event came after the receiver said that it is gone");

    webhooks.enable(&Who::Pombo, added.id, Resume::CatchUp).await.unwrap().unwrap();
    running.engine().webhook_endpoints().changed();
    until("all events at the receiver", async || receiver.ids().len() == 4).await;
    running.end().await;
}

async fn a_changed_endpoint_gets_what_its_settings_say_from_then_on(universe: &Universe) {
    let (running, receiver) = (start(universe).await, Receiver::start().await);
    let other = Receiver::start().await;
    let added = add_to(&running, settings(&receiver, &[Type::MessageSent])).await;
    send(&running, 0).await;
    until("the event at the first receiver", async || receiver.ids().len() == 1).await;

    let webhooks = running.store.of(running.company).webhooks();
    let changed = settings(&other, &[Type::SendFinished]);
    let present = webhooks.find(added.id).await.unwrap().unwrap().settings;
    let done = webhooks.change(&Who::Pombo, added.id, (&present, changed), HeadersChange::Keep).await;
    assert_eq!(done.unwrap(), Changing::Done);
    let secret = signature::generate();
    let sealed = running.vault.seal(secret.expose().as_bytes(), &context::webhook_secret(added.id));
    let present = webhooks.secrets(added.id).await.unwrap().unwrap().secret;
    assert!(webhooks.rotate(&Who::Pombo, added.id, &present, sealed, None).await.unwrap());
    running.engine().webhook_endpoints().changed();
    // How soon the service knows of the change is not part of the promise.
    let key = SigningKey::parse(&secret).unwrap();
    let mut ordinal = 1;
    until("an event at the second receiver with the new signature", async || {
        send(&running, ordinal).await;
        ordinal += 1;
        other.got().iter().any(|got| got.is_signed_with(&key))
    })
    .await;
    assert!(other.events().iter().all(|event| event["type"] == "send.finished"), "{:?}", other.events());

    assert!(webhooks.remove(&Who::Pombo, added.id).await.unwrap());
    running.end().await;
}

async fn batches_are_lists_and_masked_numbers_are_not_sent(universe: &Universe) {
    const CONTACTS: u64 = 300;
    let (running, receiver) = (start(universe).await, Receiver::start().await);
    let types = [Type::MessageSent];
    let settings = Settings { batch: 100, masks_numbers: true, ..settings(&receiver, &types) };
    let added = add_to(&running, settings).await;
    let tag = running.tag("everyone", FIRST, CONTACTS).await;
    running.send_to_tag(tag, CONTACTS).await;
    until("all events at the receiver", async || receiver.ids().len() as u64 == CONTACTS).await;
    let got = receiver.got();
    assert!(got.len() < CONTACTS as usize, "each event came alone");
    for got in &got {
        let events = got.json()["events"].as_array().unwrap().clone();
        assert!((1..=100).contains(&events.len()) && got.is_signed_with(&added.key));
        let sequences: Vec<_> = events.iter().map(|event| event["sequence"].as_i64()).collect();
        assert!(sequences.is_sorted(), "{sequences:?}");
        for event in events {
            let data = &event["data"];
            assert!(data["recipient"].as_str().unwrap().starts_with("+*********"), "{event}");
            assert!(data["provider_message_id"].as_str().unwrap().starts_with("masked."), "{event}");
        }
    }
    let ids: BTreeSet<_> = got.iter().map(|got| got.header("webhook-id").to_owned()).collect();
    assert_eq!(ids.len(), got.len(), "two requests have one id");
    running.end().await;
}

async fn a_test_sends_an_example_and_an_event_can_be_sent_once_more(universe: &Universe) {
    let (running, receiver) = (start(universe).await, Receiver::start().await);
    let added = add_to(&running, settings(&receiver, &[Type::MessageSent])).await;
    let endpoints = running.engine().webhook_endpoints();
    let sent = endpoints.test(running.company, added.id, Type::ChannelBlocked).await.unwrap().unwrap();
    assert!(sent.answer.is_delivered(), "{sent:?}");
    let example = receiver.got().remove(0);
    assert!(example.is_signed_with(&added.key) && example.header("x-pombo-test") == "true", "{example:?}");
    assert_eq!(example.json()["type"], "channel.blocked");
    assert!(example.header("webhook-id").starts_with("example."));
    receiver.answer_next([500]);
    let answer = endpoints.test(running.company, added.id, Type::SendFinished).await.unwrap().unwrap().answer;
    assert_eq!((answer.status, answer.is_delivered()), (Some(500), false));
    assert_eq!(
        standing(&running.store, added.id).await.health.failures,
        0,
        "a test says nothing of the events"
    );

    send(&running, 0).await;
    until("the event", async || receiver.got().len() == 3).await;
    let event = receiver.events().remove(2);
    let place = Sequence::from_i64(event["sequence"].as_i64().unwrap());
    let resent = endpoints.resend(running.company, added.id, place).await.unwrap();
    assert!(matches!(&resent, Resent::Answered(answer) if answer.is_delivered()), "{resent:?}");
    assert_eq!(receiver.events()[3], event);

    let nowhere = Sequence::new(place.block(), 60_000);
    assert_eq!(endpoints.resend(running.company, added.id, nowhere).await.unwrap(), Resent::NoEvent);
    let stranger = running.store.companies().add(&Who::Pombo, "Globex", "standard").await.unwrap().id;
    assert_eq!(endpoints.test(stranger, added.id, Type::SendFinished).await.unwrap(), None);
    assert_eq!(endpoints.resend(stranger, added.id, place).await.unwrap(), Resent::NoEndpoint);
    until("all of them in the log of deliveries", async || deliveries(&running, added.id).await.len() == 4)
        .await;
    running.end().await;
}

async fn events_are_sent_once_more_from_the_log_or_after_they_were_given_up(universe: &Universe) {
    const MESSAGES: u64 = 5;
    let (running, receiver) = (start(universe).await, Receiver::start().await);
    let added = add_to(&running, settings(&receiver, &[Type::MessageSent, Type::SendFinished])).await;
    for ordinal in 0..MESSAGES {
        send(&running, ordinal).await;
    }
    until("every event", async || receiver.events().len() as u64 == 2 * MESSAGES).await;
    let endpoints = running.engine().webhook_endpoints();
    let finished = async || {
        let shown = endpoints.find(running.company, added.id).await.unwrap();
        shown.replay.is_some_and(|replay| replay.finished_at.is_some()) && shown.retries == 0
    };
    // The place of the endpoint is stored after its last event.
    until("the place of the endpoint", async || {
        let shown = endpoints.find(running.company, added.id).await.unwrap();
        shown.waiting_since.is_none()
    })
    .await;
    let sent = ReplayRequest { types: vec![Type::MessageSent], ..ReplayRequest::default() };
    endpoints.replay(&Who::Pombo, running.company, added.id, sent).await.unwrap();
    until("the events once more", async || receiver.events().len() as u64 == 3 * MESSAGES).await;
    until("the end of the replay", finished).await;
    let events = receiver.events();
    let (before, again) = events.split_at(2 * MESSAGES as usize);
    for event in again {
        assert!(event["type"] == "message.sent" && before.contains(event), "{event}");
    }
    let given_up = again[0]["sequence"].as_i64().map(Sequence::from_i64).unwrap();
    let begun = standing(&running.store, added.id).await.begun;
    let write = Write { give_up: vec![given_up], begun, ..Write::default() };
    assert!(running.store.webhooks().write(added.id, &write).await.unwrap());
    assert_eq!(endpoints.find(running.company, added.id).await.unwrap().given_up, 1);
    let failed = ReplayRequest { of: ReplayOf::Failed, ..ReplayRequest::default() };
    endpoints.replay(&Who::Pombo, running.company, added.id, failed).await.unwrap();
    until("the event that was given up", async || receiver.events().len() as u64 == 3 * MESSAGES + 1).await;
    until("the end of the replay", finished).await;
    assert_eq!(receiver.events().pop().as_ref(), again.first());
    assert_eq!(endpoints.find(running.company, added.id).await.unwrap().given_up, 0);
    running.end().await;
}

async fn a_service_that_starts_again_goes_on_where_it_was(universe: &Universe) {
    const MESSAGES: u64 = 30;
    let (mut running, receiver) = (start(universe).await, Receiver::start().await);
    let types = [Type::MessageSent, Type::SendFinished];
    let added = add_to(&running, settings(&receiver, &types)).await;
    for ordinal in 0..MESSAGES {
        send(&running, ordinal).await;
        if ordinal % 10 == 5 {
            running.restart().await;
        }
    }
    running.settled(MESSAGES).await;
    until("all events at the receiver", async || {
        let logged = logged(&running.store, running.company, added.begin, &types).await;
        logged.len() as u64 >= 2 * MESSAGES && receiver.ids() == logged
    })
    .await;
    assert!(receiver.got().iter().all(|got| got.is_signed_with(&added.key)));
    running.end().await;
}

async fn a_service_that_is_killed_loses_no_event(universe: &Universe) {
    const CONTACTS: u64 = 200;
    let receiver = Receiver::start().await;
    let options =
        [("POMBO__WEBHOOKS__ALLOW_NETWORKS", "127.0.0.0/8"), ("POMBO__WEBHOOKS__ALLOW_HTTP", "true")];
    let mut serving = Serving::new_with(universe, CONTACTS, "unlimited", &options).await;
    let (store, config) = (&universe.store, Config::default());
    let vault = Vault::open(&config.secrets, &serving.place.path().join(&config.data.dir)).unwrap().0;
    let company = store.companies().find_named("Acme").await.unwrap().unwrap().id;
    let types = [Type::MessageSent, Type::SendFinished];
    let added = add(store, &vault, company, settings(&receiver, &types)).await;

    let (mut child, url) = serving.serve().await;
    assert_eq!(serving.send(&url).await.status, 202);
    until("some events at the receiver", async || receiver.ids().len() >= 20).await;
    child.crash();
    let (mut child, _) = serving.serve().await;
    until("every event of the log at the receiver", async || {
        let logged = logged(store, company, added.begin, &types).await;
        logged.iter().any(|id| id.ends_with(".finished")) && receiver.ids().is_superset(&logged)
    })
    .await;
    assert!(receiver.got().iter().all(|got| got.is_signed_with(&added.key)));
    child.crash();
    serving.simulator.stop().await;
}
