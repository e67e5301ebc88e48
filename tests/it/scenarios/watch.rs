//! A send as its company sees it through the API, with receipts from the provider.

use std::collections::BTreeMap;
use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};
use simulator::{ReceiptOptions, Simulator};
use uuid::Uuid;

use crate::harness::Answer;
use crate::running::{APP_SECRET, NUMBER, Running, until};

/// The first number of every audience here.
pub(super) const FIRST: u64 = 5_511_900_000_000;

/// Contacts under one tag, all of whom are sent a text; the id of the send.
pub(super) async fn send_to_many(running: &Running, count: u64) -> String {
    let tag = running.tag("everyone", FIRST, count).await;
    begin(running, &text_to(tag)).await
}

/// A text to everybody under a tag.
pub(super) fn text_to(tag: Uuid) -> Value {
    json!({ "type": "text", "message": "hi", "contact_tag_id": tag })
}

/// Sends through the channel; the id of the send.
pub(super) async fn begin(running: &Running, body: &Value) -> String {
    let (status, answer) = running.send(body).await;
    assert_eq!(status, 202, "{answer}");
    answer["send_id"].as_str().unwrap().to_owned()
}

/// The send's record now. Checks that each of its messages is in exactly one state.
pub(super) async fn shown(running: &Running, id: &str) -> Value {
    let answer = running.ask(Method::GET, &format!("/api/v1/sends/{id}"), &Value::Null).await;
    checked(&answer)
}

/// The record of a send in an answer, its counts added up.
pub(super) fn checked(answer: &Answer) -> Value {
    assert_eq!(answer.status, 200, "{}", answer.body);
    let record = answer.json();
    let sum: u64 = counts(&record).values().sum();
    assert_eq!(Some(sum), record["recipients_count"].as_u64(), "{record}");
    record
}

/// The counts of its messages by state, without the empty states.
pub(super) fn counts(record: &Value) -> BTreeMap<String, u64> {
    let counts = record["counts"].as_object().unwrap();
    let counts = counts.iter().map(|(state, count)| (state.clone(), count.as_u64().unwrap()));
    counts.filter(|(_, count)| *count > 0).collect()
}

/// How many of its messages are in one of these states.
pub(super) fn count_of(record: &Value, states: &[&str]) -> u64 {
    states.iter().map(|state| record["counts"][state].as_u64().unwrap()).sum()
}

/// Waits until the send is in this state, and returns its record.
pub(super) async fn comes_to(running: &Running, id: &str, state: &str) -> Value {
    let mut record = Value::Null;
    until(&format!("the send {state}"), async || {
        record = shown(running, id).await;
        record["state"] == state
    })
    .await;
    record
}

/// Waits until every message of a finished send is reported as delivered.
pub(super) async fn all_delivered(running: &Running, id: &str, messages: u64) {
    until("every message delivered", async || {
        count_of(&shown(running, id).await, &["delivered", "read"]) == messages
    })
    .await;
}

/// Pauses, resumes or cancels a send, and returns its record.
pub(super) async fn steer(running: &Running, id: &str, action: &str) -> Value {
    let path = format!("/api/v1/sends/{id}/{action}");
    checked(&running.ask(Method::POST, &path, &Value::Null).await)
}

/// Receipts to the channel's own address, soon after each message.
pub(super) fn receipts(running: &Running) -> ReceiptOptions {
    soon(ReceiptOptions::to(running.hook(running.channel), APP_SECRET))
}

/// The same receipts, soon after each message.
pub(super) fn soon(options: ReceiptOptions) -> ReceiptOptions {
    let short = Duration::from_millis(20);
    ReceiptOptions { delivered_after: short, read_after: short, ..options }
}

/// Checks that every recipient got exactly one message, and that no message went out twice.
pub(super) fn assert_once(simulator: &Simulator, messages: u64) {
    let figures = simulator.number(NUMBER).unwrap();
    let seen = (figures.messages, figures.unique_recipients, figures.repeated);
    assert_eq!(seen, (messages, messages, 0), "messages, recipients, repeats");
}

/// How often the scripted rules in force were applied.
pub(super) async fn applied(simulator: &Simulator) -> u64 {
    let progress = reqwest::get(format!("{}/_sim/script", simulator.base_url())).await.unwrap();
    let progress: Value = progress.json().await.unwrap();
    progress["data"].as_array().unwrap().iter().map(|rule| rule["applied"].as_u64().unwrap()).sum()
}
