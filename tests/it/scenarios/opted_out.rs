//! Whom the provider says not to advertise to: left out, or let be for a day; other messages reach them.

use std::time::Duration;

use pombo::clock::Timestamp;
use serde_json::{Value, json};

use super::stage::{FIRST, listen, plain_template, show, template};
use crate::database::{Universe, stores};
use crate::running::{NUMBER, Running, until};

stores!(
    who_opted_out_is_left_out_of_the_next_advertising_and_the_answer_says_so,
    who_had_enough_advertising_is_let_be_for_a_day_and_gets_everything_else,
);

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// Advertising to these people.
fn advertising(template: i64, numbers: &[u64]) -> Value {
    let text = |text: &str| json!([{ "type": "text", "text": text }]);
    json!({ "type": "template", "template_id": template, "phone_number": numbers, "components": [
        { "type": "header", "parameters": [{ "type": "image", "link": "https://shop.example/spring.jpg" }] },
        { "type": "body", "parameters": text("Priya") },
        { "type": "button", "sub_type": "url", "index": "0", "parameters": text("spring") },
    ] })
}

/// Sends to this many people; the send's id.
async fn send(running: &Running, body: &Value, people: u64) -> String {
    let (status, answer) = running.send(body).await;
    assert_eq!((status, answer["recipients_count"].as_u64()), (202, Some(people)), "{answer}");
    answer["send_id"].as_str().unwrap().to_owned()
}

/// How many messages of any kind somebody got.
fn got(running: &Running, number: u64) -> u32 {
    running.simulator.recipients(NUMBER, 0).get(&number.to_string()).copied().unwrap_or_default()
}

async fn who_opted_out_is_left_out_of_the_next_advertising_and_the_answer_says_so(universe: &Universe) {
    let running = Running::start(universe, |_| {}).await;
    let (promo, hello) = (template(&running, "promo").await, template(&running, "hello_world").await);
    let [stays, said_later, said_at_once] = [FIRST, FIRST + 1, FIRST + 2];
    let code = json!({ "code": 131_050 });
    let script = json!([
        { "match": { "to": said_later.to_string() }, "times": 1, "outcome": { "async_failed": code } },
        { "match": { "to": said_at_once.to_string() }, "times": 1, "outcome": { "error": code } },
    ]);
    running.simulator.script(&script).unwrap();
    listen(&running);
    let everybody = [stays, said_later, said_at_once];
    let first = send(&running, &advertising(promo, &everybody), 3).await;
    until("both failures known", async || show(&running, &first).await["counts"]["failed"] == 2).await;

    let (status, answer) = running.send(&advertising(promo, &everybody)).await;
    assert_eq!((status, &answer["recipients_count"], &answer["skipped_count"]), (202, &json!(1), &json!(2)));
    for skipped in answer["skipped"].as_array().unwrap() {
        assert_eq!(skipped["reason"], "does not want marketing messages", "{answer}");
    }
    let mut other = plain_template(hello);
    other["phone_number"] = json!(everybody);
    send(&running, &other, 3).await;
    running.settled(2 + 1 + 3).await;
    assert_eq!(everybody.map(|number| got(&running, number)), [3, 2, 1]);
    running.end().await;
}

async fn who_had_enough_advertising_is_let_be_for_a_day_and_gets_everything_else(universe: &Universe) {
    let mut running = Running::start(universe, |_| {}).await;
    let (promo, hello) = (template(&running, "promo").await, template(&running, "hello_world").await);
    let (stays, tired) = (FIRST, FIRST + 1);
    let enough = json!({ "match": { "to": tired.to_string() }, "times": 1, "outcome": { "error": { "code": 131_049 } } });
    running.simulator.script(&enough).unwrap();
    let first = send(&running, &advertising(promo, &[stays, tired]), 2).await;
    let waits = async |running: &Running, send: &str| {
        let counts = show(running, send).await["counts"].clone();
        (counts["sent"].clone(), counts["queued"].clone(), counts["failed"].clone())
            == (json!(1), json!(1), json!(0))
    };
    until("the message put off", async || running.simulator.number(NUMBER).unwrap().refused == 1).await;
    until("that written", async || waits(&running, &first).await).await;

    // The next advertising waits as well and is not even tried, before and after a restart.
    let second = send(&running, &advertising(promo, &[stays, tired]), 2).await;
    until("the others reached", async || got(&running, stays) == 2).await;
    until("that written", async || waits(&running, &second).await).await;
    running.restart().await;
    let third = send(&running, &advertising(promo, &[stays, tired]), 2).await;
    until("the others reached", async || got(&running, stays) == 3).await;
    until("that written", async || waits(&running, &third).await).await;
    assert_eq!((got(&running, tired), running.simulator.number(NUMBER).unwrap().arrivals), (0, 4));

    // Everything else goes.
    let mut other = plain_template(hello);
    other["phone_number"] = json!([stays, tired]);
    send(&running, &other, 2).await;
    let text = json!({ "type": "text", "message": "hi", "phone_number": tired });
    send(&running, &text, 1).await;
    until("everything else taken", async || (got(&running, stays), got(&running, tired)) == (4, 2)).await;
    for send in [&first, &second, &third] {
        assert!(waits(&running, send).await, "{}", show(&running, send).await);
    }
    let held = running.store.suppressions(Timestamp::now()).await.unwrap();
    let [held] = held.as_slice() else { panic!("{held:?}") };
    let left = held.until.unwrap().from_now(Timestamp::now());
    assert!(left > DAY - Duration::from_secs(60) && left <= DAY, "{held:?}");
    running.end().await;
}
