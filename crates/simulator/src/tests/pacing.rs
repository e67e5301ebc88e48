//! Templates that are paced: held, and then released or dropped.

use super::receiver::{Receiver, receiver};
use super::*;

/// A simulator that holds the template after one message.
async fn paced(pacing: Value) -> (Universe, Receiver) {
    let receiver = receiver(0).await;
    let options = Options { receipts: Some(receiver.options()), ..Options::default() };
    let universe = universe_with(options).await;
    universe.script(&switch(&json!({ "pacing": pacing })));
    (universe, receiver)
}

fn switch(change: &Value) -> Value {
    let mut switch = json!({ "template": { "waba_id": WABA, "name": "hello_world", "language": "en_US" } });
    switch["template"].as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
    switch
}

impl Universe {
    /// Sends the template under this key and returns its `message_status`.
    async fn paced_status(&self, key: &str) -> String {
        let mut body = template("hello_world", json!([]));
        body["biz_opaque_callback_data"] = key.into();
        let (_, answer) = self.send(&body).await;
        answer["messages"][0]["message_status"].as_str().unwrap_or("refused").to_owned()
    }
}

#[actix_web::test]
async fn messages_beyond_the_first_are_held_and_released() {
    let (universe, mut receiver) = paced(json!({ "after": 1 })).await;
    assert_eq!(universe.paced_status("first").await, "accepted");
    assert_eq!(universe.paced_status("second").await, "held_for_quality_assessment");
    let (statuses, _) = receiver.statuses(3).await;
    assert!(statuses.iter().all(|(key, _)| key == "first"), "{statuses:?}");
    universe.script(&switch(&json!({ "end_pacing": "release" })));
    let (statuses, _) = receiver.statuses(3).await;
    assert!(statuses.iter().all(|(key, _)| key == "second"), "{statuses:?}");
    assert_eq!(universe.paced_status("third").await, "accepted");
}

#[actix_web::test]
async fn held_messages_are_dropped_automatically_and_the_template_is_paused() {
    let (universe, mut receiver) = paced(json!({ "after": 0, "then": "drop", "within": "50ms" })).await;
    assert_eq!(universe.paced_status("held").await, "held_for_quality_assessment");
    let (mut events, mut failures) = (Vec::new(), Vec::new());
    while events.is_empty() || failures.is_empty() {
        let webhook = receiver.next().await;
        for entry in webhook["entry"].as_array().unwrap() {
            let value = &entry["changes"][0]["value"];
            events.extend(value["event"].as_str().map(str::to_owned));
            failures.extend(value["statuses"][0]["errors"][0]["code"].as_u64());
        }
    }
    assert_eq!((events, failures), (vec!["PAUSED".to_owned()], vec![132_015]));
    assert_eq!(universe.paced_status("late").await, "refused");
    assert_eq!(universe.code(&template("hello_world", json!([]))).await, (400, 132_015));
}
