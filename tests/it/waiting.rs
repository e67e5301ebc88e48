//! A send that waits shows the reason, the end of the wait, and the option or the provider's answer behind
//! it.

use std::time::Duration;

use pombo::clock::Timestamp;
use pombo::store::changes::Who;
use reqwest::Method;
use serde_json::{Value, json};

use crate::database::{Universe, stores};
use crate::running::{Running, WABA, until};
use crate::scenarios::stage::{plain_template, template};

stores!(
    a_second_message_to_a_recipient_waits_for_the_pair_interval,
    a_message_that_waits_long_shows_its_reason_from_the_store,
    a_template_beyond_the_quota_waits_for_the_quota,
    a_message_with_an_unknown_outcome_waits_for_its_receipt,
    a_channel_that_the_provider_refuses_says_so_before_anything_else,
);

const ANA: &str = "+5511900000001";

/// Sets this option of the channel's tier, and waits until the limits show it.
async fn tighten(running: &Running, option: &str, value: Value, shown: &str) {
    let mut tier =
        json!({ "name": "unlimited", "kind": "business_account", "messages_per_second": "unlimited" });
    tier[option] = value;
    let tiers = [("unlimited".to_owned(), tier.to_string())];
    running.store.tiers().apply(&Who::Pombo, &tiers).await.unwrap();
    let path = format!("/api/v1/chat/{}/limits", running.channel);
    until("the tier in force", async || {
        let limits = running.ask(Method::GET, &path, &Value::Null).await.json();
        let mut limits = limits["limits"].as_array().unwrap().iter();
        limits.any(|limit| limit["value"].as_str().unwrap().starts_with(shown))
    })
    .await;
}

/// Sends, waits until the send waits for this reason with this many messages in a state, and returns the
/// send's record.
async fn waits(running: &Running, body: &Value, reason: &str, (state, count): (&str, u64)) -> Value {
    let (status, answer) = running.send(body).await;
    assert_eq!(status, 202, "{answer}");
    let path = format!("/api/v1/sends/{}", answer["send_id"].as_str().unwrap());
    let mut shown = Value::Null;
    until(&format!("the send waiting for {reason}"), async || {
        shown = running.ask(Method::GET, &path, &Value::Null).await.json();
        shown["waiting"]["reason"] == reason && shown["counts"][state] == count
    })
    .await;
    shown
}

fn text(to: &str) -> Value {
    json!({ "type": "text", "message": "hi", "phone_number": to })
}

/// Whether the wait ends within this many seconds from now.
fn ends_within(shown: &Value, seconds: u64) -> bool {
    let until = Timestamp::parse(shown["waiting"]["until"].as_str().unwrap()).unwrap();
    let now = Timestamp::now();
    until > now && until.from_now(now) <= Duration::from_secs(seconds)
}

fn says(shown: &Value, word: &str) -> bool {
    shown["waiting"]["sentence"].as_str().unwrap().contains(word)
}

async fn a_second_message_to_a_recipient_waits_for_the_pair_interval(universe: &Universe) {
    let running = Running::start(universe, |_| {}).await;
    tighten(&running, "pair_interval", json!("1m"), "one in 1m").await;
    for _ in 0..10 {
        assert_eq!(running.send(&text(ANA)).await.0, 202);
    }
    running.settled(10).await;
    let shown = waits(&running, &text(ANA), "pair", ("queued", 1)).await;
    assert!(says(&shown, "pair_interval") && ends_within(&shown, 60), "{shown}");
    assert_eq!(shown["rate_per_second"], Value::Null);
    running.end().await;
}

async fn a_message_that_waits_long_shows_its_reason_from_the_store(universe: &Universe) {
    let running = Running::start(universe, |_| {}).await;
    tighten(&running, "pair_interval", json!("20m"), "one in 20m").await;
    for _ in 0..10 {
        assert_eq!(running.send(&text(ANA)).await.0, 202);
    }
    running.settled(10).await;
    let shown = waits(&running, &text(ANA), "pair", ("queued", 1)).await;
    assert!(says(&shown, "pair_interval") && ends_within(&shown, 20 * 60), "{shown}");

    let held = json!({ "match": {}, "times": 1, "outcome": { "error": { "code": 131_049 } } });
    running.simulator.script(&held).unwrap();
    // A recipient is held only for templates.
    let mut body = plain_template(template(&running, "hello_world").await);
    body["phone_number"] = json!("+5511900000002");
    let shown = waits(&running, &body, "recipient_held", ("queued", 1)).await;
    assert!(says(&shown, "the provider asked") && ends_within(&shown, 24 * 3_600), "{shown}");
    running.end().await;
}

async fn a_template_beyond_the_quota_waits_for_the_quota(universe: &Universe) {
    let running = Running::start(universe, |_| {}).await;
    tighten(&running, "template_quota", json!(2), "2 people").await;
    // When the provider accepts the first message, the service fetches the templates.
    assert_eq!(running.send(&text(ANA)).await.0, 202);
    let found = async || {
        let store = &running.store;
        store.of(running.company).templates().named(WABA, "hello_world", "en_US").await.unwrap()
    };
    until("the templates", async || found().await.is_some()).await;
    let to: Vec<_> = (1..=5).map(|nth| format!("+551190000000{nth}")).collect();
    let id = found().await.unwrap().id;
    let template = json!({ "type": "template", "template_id": id, "components": [], "phone_number": to });
    let shown = waits(&running, &template, "template_quota", ("sent", 2)).await;
    assert!(says(&shown, "option template_quota") && ends_within(&shown, 24 * 3_600), "{shown}");
    running.end().await;
}

async fn a_message_with_an_unknown_outcome_waits_for_its_receipt(universe: &Universe) {
    let running =
        Running::start(universe, |config| config.retry.unknown_grace = Duration::from_secs(60)).await;
    let lost = json!({ "match": {}, "times": 1, "outcome": { "drop_reply": true } });
    running.simulator.script(&lost).unwrap();
    let shown = waits(&running, &text(ANA), "unknown_outcome", ("unknown", 1)).await;
    assert!(says(&shown, "retry.unknown_grace") && ends_within(&shown, 60), "{shown}");
    running.end().await;
}

async fn a_channel_that_the_provider_refuses_says_so_before_anything_else(universe: &Universe) {
    let running = Running::start(universe, |_| {}).await;
    let refused = json!({ "match": {}, "times": 1, "outcome": { "error": { "code": 190 } } });
    running.simulator.script(&refused).unwrap();
    let shown = waits(&running, &text(ANA), "disconnected", ("queued", 1)).await;
    assert!(says(&shown, "Reconnect it"), "{shown}");
    assert_eq!(shown["waiting"]["until"], Value::Null);
    running.end().await;
}
