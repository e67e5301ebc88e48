//! The provider accepts messages and its answers get lost: later webhooks settle them; without webhooks, the
//! tier's `unknown_outcome` decides.

use std::time::Duration;

use pombo::store::changes::Who;
use serde_json::{Value, json};
use simulator::ReceiptOptions;

use super::watch::{all_delivered, applied, assert_once, comes_to, counts, receipts, send_to_many};
use crate::database::{Universe, stores};
use crate::running::{NUMBER, Running};

stores!(
    receipts_settle_one_lost_answer_in_a_hundred_at_once,
    receipts_settle_one_lost_answer_in_five_at_once,
    receipts_that_come_before_the_answer_is_lost_settle_it_at_once,
    a_message_that_never_arrived_goes_again_after_the_grace_and_nobody_else_s_does,
    without_receipts_resend_repeats_one_lost_answer_in_a_hundred_and_nothing_else,
    without_receipts_resend_repeats_one_lost_answer_in_five_and_nothing_else,
    without_receipts_hold_repeats_nothing_and_says_what_is_unknown,
);

const CONTACTS: u64 = 1_000;
/// Longer than any wait of these tests.
const NEVER: Duration = Duration::from_secs(3_600);

/// The share of messages that are accepted and whose answer is lost, in two ways.
fn lose(share: f64) -> Value {
    json!([
        { "probability": share / 2.0, "seed": 7, "outcome": { "drop_reply": true } },
        { "probability": share / 2.0, "seed": 8, "outcome": { "garbled_reply": true } },
    ])
}

async fn receipts_settle_one_lost_answer_in_a_hundred_at_once(universe: &Universe) {
    settled_by_receipts(universe, 0.01, |receipts| receipts).await;
}

async fn receipts_settle_one_lost_answer_in_five_at_once(universe: &Universe) {
    settled_by_receipts(universe, 0.2, |receipts| receipts).await;
}

async fn receipts_that_come_before_the_answer_is_lost_settle_it_at_once(universe: &Universe) {
    settled_by_receipts(universe, 0.1, |receipts| ReceiptOptions { before_reply: true, ..receipts }).await;
}

/// The grace is longer than the test, so a finished message was settled by a receipt.
async fn settled_by_receipts(
    universe: &Universe,
    share: f64,
    change: impl FnOnce(ReceiptOptions) -> ReceiptOptions,
) {
    let running = Running::start(universe, |config| {
        config.retry.unknown_grace = NEVER;
        config.engine.concurrency = 64;
    })
    .await;
    running.simulator.aim_receipts(Some(change(receipts(&running)))).unwrap();
    running.simulator.script(&lose(share)).unwrap();
    let id = send_to_many(&running, CONTACTS).await;
    comes_to(&running, &id, "finished").await;
    all_delivered(&running, &id, CONTACTS).await;
    assert_once(&running.simulator, CONTACTS);
    assert_ne!(applied(&running.simulator).await, 0, "no answer was lost");
    running.end().await;
}

async fn a_message_that_never_arrived_goes_again_after_the_grace_and_nobody_else_s_does(universe: &Universe) {
    let running = Running::start(universe, |config| {
        config.retry.unknown_grace = Duration::from_secs(3);
        config.engine.concurrency = 64;
    })
    .await;
    running.simulator.aim_receipts(Some(receipts(&running))).unwrap();
    let mut script = lose(0.1);
    script.as_array_mut().unwrap().push(json!({ "probability": 0.05, "outcome": { "reset": true } }));
    running.simulator.script(&script).unwrap();
    let id = send_to_many(&running, CONTACTS).await;
    comes_to(&running, &id, "finished").await;
    all_delivered(&running, &id, CONTACTS).await;
    assert_once(&running.simulator, CONTACTS);
    assert_ne!(running.simulator.number(NUMBER).unwrap().refused, 0, "no connection was reset");
    running.end().await;
}

async fn without_receipts_resend_repeats_one_lost_answer_in_a_hundred_and_nothing_else(universe: &Universe) {
    resent(universe, 0.01).await;
}

async fn without_receipts_resend_repeats_one_lost_answer_in_five_and_nothing_else(universe: &Universe) {
    resent(universe, 0.2).await;
}

async fn resent(universe: &Universe, share: f64) {
    let running = Running::start(universe, |config| {
        config.retry.unknown_grace = Duration::from_millis(200);
        config.retry.attempts = 40;
        config.engine.concurrency = 64;
    })
    .await;
    running.simulator.script(&lose(share)).unwrap();
    let id = send_to_many(&running, CONTACTS).await;
    let record = comes_to(&running, &id, "finished").await;
    assert_eq!(counts(&record), [("sent".to_owned(), CONTACTS)].into());
    let lost = applied(&running.simulator).await;
    assert_ne!(lost, 0, "no answer was lost");
    let figures = running.simulator.number(NUMBER).unwrap();
    assert_eq!(
        (figures.unique_recipients, figures.repeated, figures.messages),
        (CONTACTS, lost, CONTACTS + lost),
        "each lost answer costs one repeat"
    );
    running.end().await;
}

async fn without_receipts_hold_repeats_nothing_and_says_what_is_unknown(universe: &Universe) {
    let mut running = Running::start(universe, |config| config.engine.concurrency = 64).await;
    let tier = json!({ "name": "unlimited", "kind": "business_account", "messages_per_second": "unlimited",
        "pair_interval": "0s", "unknown_outcome": "hold" });
    running.store.tiers().apply(&Who::Pombo, &[("unlimited".to_owned(), tier.to_string())]).await.unwrap();
    // A service that starts with the tier applies it from the first message on.
    running.restart().await;
    running.simulator.script(&lose(0.05)).unwrap();
    let id = send_to_many(&running, CONTACTS).await;
    let record = comes_to(&running, &id, "finished").await;
    let lost = applied(&running.simulator).await;
    assert_ne!(lost, 0, "no answer was lost");
    assert_once(&running.simulator, CONTACTS);
    let expected = [("sent".to_owned(), CONTACTS - lost), ("unknown".to_owned(), lost)].into();
    assert_eq!(counts(&record), expected);
    let path = format!("/api/v1/sends/{id}/messages?state=unknown&limit=1000");
    let unknown = running.ask(reqwest::Method::GET, &path, &Value::Null).await.json();
    let messages = unknown["data"].as_array().unwrap();
    assert_eq!(messages.len() as u64, lost);
    let has_arrived = |message: &Value| {
        let to = message["recipient"].as_str().unwrap().trim_start_matches('+').to_owned();
        running.simulator.recipients(NUMBER, 0).contains_key(&to)
    };
    assert!(messages.iter().take(5).all(has_arrived));
    running.end().await;
}
