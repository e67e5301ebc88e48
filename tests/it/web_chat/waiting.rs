//! Callers that wait for their turn: the answer if it does not come in time, and the rows that remain.

use std::time::Duration;

use futures_util::future::join_all;
use reqwest::Method;
use serde_json::{Value, json};
use tokio::task::JoinHandle;

use super::world::{Account, Sent, World, messages, text, tier};
use super::{JOAO, MARIA, OTHER};
use crate::harness::Answer;
use crate::media::host::Host;
use crate::running::until;

const ANA: &str = "5531955554444";
const LUIS: &str = "5531944443333";
/// A second message to the same person waits longer than any caller.
const ONCE: (&str, &str) = ("pair_interval", "1h");

/// A world whose callers wait this many seconds, with an account of a tier with these options, and all
/// numbers on WhatsApp.
async fn account(patience: u64, options: Value) -> (World, Account) {
    let world =
        World::linked_with(|config| config.web_session.patience = Duration::from_secs(patience)).await;
    tier(world.service.store(), "waiting", options).await;
    for number in [MARIA, JOAO, ANA, LUIS] {
        world.whatsapp.contact(number);
    }
    let account = world.account("globex", OTHER, "waiting").await;
    (world, account)
}

/// A world in which a message to Maria has gone and the next one to her waits longer than its caller.
async fn waits_in_the_store(patience: u64) -> (World, Account) {
    let (interval, span) = ONCE;
    let (world, account) = Box::pin(account(patience, json!({interval: span, "pair_burst": 1}))).await;
    let sent = world.send_by(&account, &text(MARIA, "um")).await;
    world.whatsapp.expect_message(&sent.id).await;
    (world, account)
}

/// A request that waits for its answer while the test goes on; `None` when its connection broke.
pub(super) fn begin(world: &World, account: &Account, key: &str, body: &Value) -> JoinHandle<Option<Answer>> {
    let request = world.service.request(Method::POST, &messages(account));
    let request = request.bearer_auth(&account.company.key).header("idempotency-key", key);
    let request = request.body(body.to_string());
    tokio::spawn(async move {
        match request.send().await {
            Ok(response) => Some(Answer::read(response).await),
            Err(_) => None,
        }
    })
}

/// The account's newest send, once it has this many sends.
pub(super) async fn newest(world: &World, account: &Account, sends: u64) -> String {
    let mut id = String::new();
    until("another send", async || {
        let page = world.service.get("/api/v1/sends", &account.company.key).await.json();
        id = page["data"][0]["id"].as_str().unwrap_or_default().to_owned();
        page["totalRecords"] == sends
    })
    .await;
    id
}

/// Pauses, resumes or cancels a send.
pub(super) async fn steer(world: &World, account: &Account, send: &str, how: &str) -> Answer {
    world.service.post(&format!("/api/v1/sends/{send}/{how}"), &account.company.key, "").await
}

/// Waits until the send is in this state.
pub(super) async fn becomes(world: &World, account: &Account, send: &str, state: &str) {
    until(&format!("a send that is {state}"), async || {
        world.service.get(&format!("/api/v1/sends/{send}"), &account.company.key).await.json()["state"]
            == state
    })
    .await;
}

/// Waits until the message of this send has a row as waiting.
pub(super) async fn waits(world: &World, account: &Account, send: &str) {
    until("a message that waits in the store", async || {
        let path = format!("/api/v1/sends/{send}/messages");
        let page = world.service.get(&path, &account.company.key).await.json();
        page["data"][0]["state"] == "queued" && page["data"][0]["updated_at"].is_string()
    })
    .await;
}

/// How many messages with this text came to WhatsApp.
pub(super) fn came(world: &World, words: &str) -> usize {
    world.whatsapp.messages().iter().filter(|message| message.text() == Some(words)).count()
}

fn status(answer: &Answer) -> (u16, Option<String>) {
    (answer.status, answer.code())
}

fn code(status: u16, code: &str) -> (u16, Option<String>) {
    (status, Some(code.to_owned()))
}

#[tokio::test]
async fn a_send_that_expires_in_the_store_tells_its_caller_that_its_turn_did_not_come() {
    let (world, account) = waits_in_the_store(2).await;
    let late = world.post_by(&account, &text(MARIA, "dois")).await;
    assert_eq!(status(&late), code(429, "rate_limited"), "{}", late.body);
    assert!(!late.body.contains("cancel"), "{}", late.body);
    let send = newest(&world, &account, 2).await;
    becomes(&world, &account, &send, "expired").await;
    assert_eq!(came(&world, "dois"), 0);
}

#[tokio::test]
async fn the_caller_of_a_paused_send_is_told_so_and_the_message_never_goes() {
    let (world, account) = waits_in_the_store(4).await;
    let stored = begin(&world, &account, "stored", &text(MARIA, "dois"));
    let send = newest(&world, &account, 2).await;
    assert_eq!(steer(&world, &account, &send, "pause").await.status, 200);
    let answer = stored.await.unwrap().unwrap();
    assert_eq!(status(&answer), code(409, "send_is_over"), "{}", answer.body);
    assert!(answer.body.contains("paused"), "{}", answer.body);
    becomes(&world, &account, &send, "expired").await;
    assert_eq!(status(&steer(&world, &account, &send, "resume").await), code(409, "send_is_over"));
    // Messages to other recipients go on.
    let later = world.send_by(&account, &text(JOAO, "três")).await;
    world.whatsapp.expect_message(&later.id).await;
    assert_eq!(came(&world, "dois"), 0);
}

/// One message in six seconds.
const SLOW: &str = "10/min";

#[tokio::test]
async fn a_send_that_is_resumed_in_time_goes_once_and_its_caller_hears_so() {
    let (world, account) = account(20, json!({"messages_per_second": SLOW, "burst": 1})).await;
    world.send_by(&account, &text(MARIA, "um")).await;
    let waiting = begin(&world, &account, "k", &text(MARIA, "dois"));
    let send = newest(&world, &account, 2).await;
    assert_eq!(steer(&world, &account, &send, "pause").await.status, 200);
    let later = world.send_by(&account, &text(MARIA, "três")).await;
    world.whatsapp.expect_message(&later.id).await;
    assert!(!waiting.is_finished());
    assert_eq!(steer(&world, &account, &send, "resume").await.status, 200);
    let answer = waiting.await.unwrap().unwrap();
    assert_eq!(answer.status, 200, "{}", answer.body);
    becomes(&world, &account, &send, "finished").await;
    assert_eq!(came(&world, "dois"), 1);
}

#[tokio::test]
async fn a_stranger_whose_message_was_canceled_or_expired_takes_no_place() {
    let options = json!({"messages_per_second": SLOW, "burst": 1, "cold_contacts": 3});
    let (world, account) = account(10, options).await;
    world.send_by(&account, &text(MARIA, "um")).await;
    let canceled = begin(&world, &account, "canceled", &text(JOAO, "dois"));
    let send = newest(&world, &account, 2).await;
    assert_eq!(steer(&world, &account, &send, "cancel").await.status, 200);
    let expired = begin(&world, &account, "expired", &text(ANA, "três"));
    let send = newest(&world, &account, 3).await;
    assert_eq!(steer(&world, &account, &send, "pause").await.status, 200);
    let answers = join_all([canceled, expired]).await;
    for answer in answers {
        let answer = answer.unwrap().unwrap();
        assert_eq!(status(&answer), code(409, "send_is_over"), "{}", answer.body);
    }
    for number in [JOAO, ANA] {
        let sent = world.send_by(&account, &text(number, "oi")).await;
        world.whatsapp.expect_message(&sent.id).await;
    }
    let beyond = world.post_by(&account, &text(LUIS, "oi")).await;
    assert_eq!(status(&beyond), code(429, "rate_limited"), "{}", beyond.body);
    assert!(beyond.body.contains("cold_contacts"), "{}", beyond.body);
    assert_eq!((came(&world, "dois"), came(&world, "três")), (0, 0));
}

#[tokio::test]
async fn two_messages_at_once_to_one_stranger_take_one_place() {
    let (world, account) =
        account(20, json!({"messages_per_second": "2/s", "burst": 1, "cold_contacts": 2})).await;
    let bodies = ["um", "dois", "três"].map(|words| text(MARIA, words));
    for answer in join_all(bodies.iter().map(|body| world.post_by(&account, body))).await {
        assert_eq!(answer.status, 200, "{}", answer.body);
    }
    world.send_by(&account, &text(JOAO, "oi")).await;
    assert_eq!(world.post_by(&account, &text(ANA, "oi")).await.status, 429);
}

#[tokio::test]
async fn a_message_that_was_not_handed_over_counts_for_no_cap_even_in_a_new_process() {
    let (mut world, account) = account(2, json!({"daily_cap": 2, "cold_contacts": 2})).await;
    world.send_by(&account, &text(MARIA, "um")).await;
    let host = Host::body("", b"%PDF-1.7\n").await;
    let body = json!({
        "phone_number": JOAO, "recipient_type": "number", "type": "document", "link": host.link("/x.pdf"),
    });
    world.whatsapp.refuse_uploads(507);
    for _ in 0..2 {
        let failed = world.post_by(&account, &body).await;
        assert_eq!(status(&failed), code(503, "service_unavailable"), "{}", failed.body);
    }
    let one_is_left = async |world: &World| {
        let path = format!("/api/v1/web-chat/{}/limits", account.channel);
        until("one message and one stranger to be left", async || {
            let shown = world.service.get(&path, &account.company.key).await.json();
            let left = |limit: &str| {
                let limits = shown["limits"].as_array().unwrap();
                limits.iter().find(|shown| shown["limit"] == limit).map(|limit| limit["left"].clone())
            };
            (left("daily_cap"), left("cold_contacts")) == (Some(json!(1)), Some(json!(1)))
        })
        .await;
    };
    one_is_left(&world).await;
    let logins = account.phone.logins();
    world.restart().await;
    world.returns(&account, logins).await;
    one_is_left(&world).await;
    world.send_by(&account, &text(ANA, "oi")).await;
    let beyond = world.post_by(&account, &text(MARIA, "dois")).await;
    assert_eq!(status(&beyond), code(429, "rate_limited"), "{}", beyond.body);
}

#[tokio::test]
async fn a_message_that_a_graceful_stop_refused_is_not_sent_by_the_next_process() {
    let (mut world, account) = waits_in_the_store(20).await;
    let waiting = begin(&world, &account, "k", &text(MARIA, "dois"));
    let send = newest(&world, &account, 2).await;
    waits(&world, &account, &send).await;
    world.service.engine().stop().await;
    let answer = waiting.await.unwrap().unwrap();
    assert_eq!(status(&answer), code(503, "service_unavailable"), "{}", answer.body);
    let logins = account.phone.logins();
    world.restart().await;
    world.returns(&account, logins).await;
    becomes(&world, &account, &send, "expired").await;
    assert_eq!(came(&world, "dois"), 0);
    // Its key is free again.
    let again = begin(&world, &account, "k", &text(MARIA, "dois")).await.unwrap().unwrap();
    assert_eq!(again.status, 200, "{}", again.body);
    world.whatsapp.expect_message(&Sent::new(again.json()).id).await;
    assert_eq!(came(&world, "dois"), 1);
}

#[tokio::test]
async fn a_send_that_expires_while_its_message_is_handed_over_is_answered_as_sent() {
    let (world, account) = account(2, json!({})).await;
    let host = Host::body("", b"%PDF-1.7\n").await;
    let body = json!({
        "phone_number": MARIA, "recipient_type": "number", "type": "document", "link": host.link("/x.pdf"),
    });
    world.whatsapp.hold_uploads();
    let waiting = begin(&world, &account, "k", &body);
    world.whatsapp.expect_upload().await;
    let send = newest(&world, &account, 1).await;
    becomes(&world, &account, &send, "expired").await;
    world.whatsapp.answer_uploads();
    let answer = waiting.await.unwrap().unwrap();
    assert_eq!(answer.status, 200, "{}", answer.body);
    world.whatsapp.expect_message(&Sent::new(answer.json()).id).await;
    let again = begin(&world, &account, "k", &body).await.unwrap().unwrap();
    assert_eq!((again.status, again.header("idempotency-replayed")), (200, "true"), "{}", again.body);
    assert_eq!((again.body, world.whatsapp.messages().len()), (answer.body, 1));
}
