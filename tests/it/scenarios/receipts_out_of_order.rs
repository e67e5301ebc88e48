//! Thousands of receipts come shuffled, twice, and before the answers that they belong to: the ledger ends as
//! if they had come in order.

use serde_json::{Value, json};
use simulator::ReceiptOptions;

use super::watch::{FIRST, assert_once, comes_to, count_of, counts, receipts, send_to_many, shown};
use crate::database::{Universe, stores};
use crate::running::{NUMBER, Running, until};

stores!(
    shuffled_and_doubled_receipts_before_and_after_the_answers_end_in_the_right_states,
    receipts_that_come_all_at_once_at_the_end_end_in_the_right_states,
);

/// Contacts have each last digit equally often.
const CONTACTS: u64 = 2_000;

async fn shuffled_and_doubled_receipts_before_and_after_the_answers_end_in_the_right_states(
    universe: &Universe,
) {
    let running = Running::start(universe, |config| config.engine.concurrency = 128).await;
    let options = ReceiptOptions {
        read_probability: 1.0,
        reorder_probability: 0.5,
        duplicate_probability: 0.3,
        before_reply: true,
        batch: 50,
        ..receipts(&running)
    };
    running.simulator.aim_receipts(Some(options)).unwrap();
    ends_right(&running).await;
    running.end().await;
}

async fn receipts_that_come_all_at_once_at_the_end_end_in_the_right_states(universe: &Universe) {
    let running = Running::start(universe, |_| {}).await;
    let options = ReceiptOptions {
        read_probability: 1.0,
        reorder_probability: 0.5,
        duplicate_probability: 1.0,
        ..receipts(&running)
    };
    // The receipts are promised, and held back until the last message is out.
    let nowhere = ReceiptOptions { url: "http://127.0.0.1:1/".to_owned(), ..options.clone() };
    running.simulator.aim_receipts(Some(nowhere)).unwrap();
    let begun = begin(&running).await;
    comes_to(&running, &begun, "finished").await;
    assert_eq!(counts(&shown(&running, &begun).await), [("sent".to_owned(), CONTACTS)].into());
    running.simulator.aim_receipts(Some(options)).unwrap();
    all_told(&running, &begun).await;
    running.end().await;
}

async fn begin(running: &Running) -> String {
    let failing = json!([{ "match": { "to_suffix": "7" },
        "outcome": { "async_failed": { "code": 131_026, "title": "undeliverable" } } }]);
    running.simulator.script(&failing).unwrap();
    send_to_many(running, CONTACTS).await
}

async fn ends_right(running: &Running) {
    let id = begin(running).await;
    let mut furthest = 0;
    until("the send finished", async || {
        let record = shown(running, &id).await;
        let told = count_of(&record, &["delivered", "read", "failed"]);
        assert!(told >= furthest, "a message went back: {record}");
        furthest = told;
        record["state"] == "finished"
    })
    .await;
    all_told(running, &id).await;
}

/// Checks that every message except the failed ones is read, and that no state changes any more.
async fn all_told(running: &Running, id: &str) {
    let failed = CONTACTS / 10;
    let expected = [("read".to_owned(), CONTACTS - failed), ("failed".to_owned(), failed)].into();
    until("every receipt taken in", async || counts(&shown(running, id).await) == expected).await;
    until("no receipt outstanding", async || running.simulator.receipts_outstanding() == 0).await;
    assert_eq!(counts(&shown(running, id).await), expected);
    assert_once(&running.simulator, CONTACTS);
    let path = format!("/api/v1/sends/{id}/messages?state=failed&limit=1000");
    let messages = running.ask(reqwest::Method::GET, &path, &Value::Null).await.json();
    let messages = messages["data"].as_array().unwrap();
    assert_eq!(messages.len() as u64, failed);
    for message in messages {
        let to: u64 = message["recipient"].as_str().unwrap().trim_start_matches('+').parse().unwrap();
        assert_eq!((to % 10, to - FIRST), (7, message["ordinal"].as_u64().unwrap()), "{message}");
    }
    assert_eq!(running.simulator.number(NUMBER).unwrap().refused, 0);
}
