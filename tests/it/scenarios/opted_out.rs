//! Recipients whom the provider bars from marketing are skipped, or held for a day; other messages reach
//! them. A recipient who opts out after a send was accepted is skipped by the rest of that send.

use std::time::Duration;

use pombo::clock::Timestamp;
use pombo::domain::phone::PhoneNumber;
use pombo::domain::suppression::Suppression;
use pombo::store::changes::Who;
use reqwest::Method;
use sea_orm::{ConnectionTrait as _, Database};
use serde_json::{Value, json};

use super::stage::{FIRST, listen, plain_template, run_under, show, template};
use super::watch::{comes_to, counts, shown, steer};
use crate::database::{Universe, stores};
use crate::running::{NUMBER, Running, until};

stores!(
    the_next_marketing_send_skips_a_recipient_who_opted_out_and_its_answer_says_so,
    a_recipient_over_the_marketing_limit_is_held_for_a_day_and_gets_everything_else,
    a_scheduled_send_skips_a_recipient_who_opted_out_before_its_moment,
    a_send_in_the_store_skips_a_recipient_who_opted_out_before_a_restart,
    a_message_that_waits_for_a_retry_is_skipped_when_its_recipient_opts_out,
    a_skipped_recipient_takes_no_place_in_the_template_quota,
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

/// Opts a recipient out as the command line does, and waits until the service knows.
async fn leave_out(running: &Running, number: u64, scope: Suppression) {
    let recipient = PhoneNumber::from_u64(number).unwrap();
    let ana = Who::CommandLine("ana".to_owned());
    assert!(running.store.of(running.company).suppressions().add(&ana, recipient, scope).await.unwrap());
    let promo = template(running, "promo").await;
    // A dry run finds that out without a message.
    let path = format!("/api/v1/chat/{}/messages?dry_run=true", running.channel);
    until("the service to know the opt-out", async || {
        let answer = running.ask(Method::POST, &path, &advertising(promo, &[number])).await;
        answer.json()["code"] == "no_valid_recipients"
    })
    .await;
}

/// The messages of a send in a state: their recipients and the reasons.
async fn in_state(running: &Running, send: &str, state: &str) -> Vec<(String, String)> {
    let path = format!("/api/v1/sends/{send}/messages?state={state}");
    let listed = running.ask(Method::GET, &path, &Value::Null).await;
    assert_eq!(listed.status, 200, "{}", listed.body);
    let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let listed = listed.json();
    let messages = listed["data"].as_array().unwrap().iter();
    messages.map(|message| (word(&message["recipient"]), word(&message["error"]["message"]))).collect()
}

const OF_MARKETING: &str = "the recipient opted out of marketing messages";
const OF_EVERYTHING: &str = "the recipient is on the company's suppression list";

fn counted(states: &[(&str, u64)]) -> std::collections::BTreeMap<String, u64> {
    states.iter().map(|(state, count)| ((*state).to_owned(), *count)).collect()
}

async fn a_scheduled_send_skips_a_recipient_who_opted_out_before_its_moment(universe: &Universe) {
    let running = Running::start(universe, |_| {}).await;
    let (promo, hello) = (template(&running, "promo").await, template(&running, "hello_world").await);
    let [stays, stops, gone] = [FIRST, FIRST + 1, FIRST + 2];
    let moment = json!(Timestamp::now().plus(Duration::from_secs(3_600)).to_string());
    let at_its_moment = |mut body: Value| {
        body["send_at"] = moment.clone();
        body
    };
    let everybody = [stays, stops, gone];
    let marketing = send(&running, &at_its_moment(advertising(promo, &everybody)), 3).await;
    let mut other = at_its_moment(plain_template(hello));
    other["phone_number"] = json!(everybody);
    let other = send(&running, &other, 3).await;
    let single = send(&running, &at_its_moment(advertising(promo, &[stops])), 1).await;
    let text = json!({ "type": "text", "message": "hi", "phone_number": gone });
    let text = send(&running, &at_its_moment(text), 1).await;
    leave_out(&running, stops, Suppression::Marketing).await;
    leave_out(&running, gone, Suppression::Everything).await;
    assert_eq!(shown(&running, &marketing).await["state"], "scheduled");
    at_once(universe).await;

    let expected: [(&str, &[(&str, u64)]); 4] = [
        (&marketing, &[("sent", 1), ("suppressed", 2)]),
        (&other, &[("sent", 2), ("suppressed", 1)]),
        (&single, &[("suppressed", 1)]),
        (&text, &[("suppressed", 1)]),
    ];
    // The channel reads the store, where all messages are due.
    steer(&running, &marketing, "resume").await;
    for (send, expected) in expected {
        assert_eq!(counts(&comes_to(&running, send, "finished").await), counted(expected));
    }
    assert_eq!(everybody.map(|number| got(&running, number)), [2, 1, 0]);
    let why =
        [(format!("+{stops}"), OF_MARKETING.to_owned()), (format!("+{gone}"), OF_EVERYTHING.to_owned())];
    assert_eq!(in_state(&running, &marketing, "suppressed").await, why);
    assert_eq!(in_state(&running, &other, "suppressed").await, why[1..]);
    assert_eq!(running.simulator.number(NUMBER).unwrap().arrivals, 3, "no attempt was made");
    running.end().await;
}

async fn a_send_in_the_store_skips_a_recipient_who_opted_out_before_a_restart(universe: &Universe) {
    const PEOPLE: u64 = 600;
    let mut running = Running::start(universe, |_| {}).await;
    let promo = template(&running, "promo").await;
    let moment = Timestamp::now().plus(Duration::from_secs(3_600));
    let tag = running.tag("everyone", FIRST, PEOPLE).await;
    let mut body = advertising(promo, &[]);
    body["contact_tag_id"] = json!(tag);
    body["send_at"] = json!(moment.to_string());
    let id = send(&running, &body, PEOPLE).await;
    steer(&running, &id, "pause").await;
    for place in 0..3 {
        leave_out(&running, FIRST + 200 * place, Suppression::Marketing).await;
    }
    running.restart().await;
    at_once(universe).await;
    steer(&running, &id, "resume").await;
    let expected = counted(&[("sent", PEOPLE - 3), ("suppressed", 3)]);
    assert_eq!(counts(&comes_to(&running, &id, "finished").await), expected);
    assert_eq!([0, 200, 400].map(|place| got(&running, FIRST + place)), [0, 0, 0]);
    assert_eq!(running.delivered(), (PEOPLE - 3, PEOPLE - 3));
    running.end().await;
}

/// Makes all waiting messages due now.
async fn at_once(universe: &Universe) {
    let database = Database::connect(&universe.url).await.unwrap();
    for sql in [
        "UPDATE message SET retry_at = 1 WHERE retry_at IS NOT NULL",
        "UPDATE send SET due_at = NULL, send_at = NULL WHERE due_at IS NOT NULL",
    ] {
        database.execute_unprepared(sql).await.unwrap();
    }
    database.close().await.unwrap();
}

async fn a_message_that_waits_for_a_retry_is_skipped_when_its_recipient_opts_out(universe: &Universe) {
    let mut running = Running::start(universe, |_| {}).await;
    let promo = template(&running, "promo").await;
    let (stays, tired) = (FIRST, FIRST + 1);
    let enough = json!({ "match": { "to": tired.to_string() }, "times": 1, "outcome": { "error": { "code": 131_049 } } });
    running.simulator.script(&enough).unwrap();
    let id = send(&running, &advertising(promo, &[stays, tired]), 2).await;
    until("the message parked", async || {
        counts(&shown(&running, &id).await) == counted(&[("sent", 1), ("queued", 1)])
    })
    .await;
    leave_out(&running, tired, Suppression::Marketing).await;
    at_once(universe).await;
    running.restart().await;
    let expected = counted(&[("sent", 1), ("suppressed", 1)]);
    assert_eq!(counts(&comes_to(&running, &id, "finished").await), expected);
    assert_eq!((got(&running, tired), running.simulator.number(NUMBER).unwrap().arrivals), (0, 2));
    running.end().await;
}

async fn a_skipped_recipient_takes_no_place_in_the_template_quota(universe: &Universe) {
    let running = Running::start(universe, |_| {}).await;
    let options = json!({ "messages_per_second": "unlimited", "pair_interval": "0s", "template_quota": 2 });
    run_under(&running, "sparing", options).await;
    let promo = template(&running, "promo").await;
    let people: Vec<_> = (FIRST..FIRST + 5).collect();
    let mut body = advertising(promo, &people);
    body["send_at"] = json!(Timestamp::now().plus(Duration::from_secs(3_600)).to_string());
    let id = send(&running, &body, 5).await;
    steer(&running, &id, "pause").await;
    // The first three recipients opt out.
    for number in &people[..3] {
        leave_out(&running, *number, Suppression::Marketing).await;
    }
    at_once(universe).await;
    steer(&running, &id, "resume").await;
    let expected = counted(&[("sent", 2), ("suppressed", 3)]);
    assert_eq!(counts(&comes_to(&running, &id, "finished").await), expected);
    running.end().await;
}

async fn the_next_marketing_send_skips_a_recipient_who_opted_out_and_its_answer_says_so(universe: &Universe) {
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
    // The service reads an opt-out again once it is written.
    let path = format!("/api/v1/chat/{}/messages?dry_run=true", running.channel);
    until("both opt-outs known", async || {
        let answer = running.ask(Method::POST, &path, &advertising(promo, &everybody)).await;
        answer.json()["skipped_count"] == 2
    })
    .await;

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

async fn a_recipient_over_the_marketing_limit_is_held_for_a_day_and_gets_everything_else(
    universe: &Universe,
) {
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
    until("the hold written", async || waits(&running, &first).await).await;

    // The next marketing message waits too, without an attempt, before and after a restart.
    let second = send(&running, &advertising(promo, &[stays, tired]), 2).await;
    until("the others reached", async || got(&running, stays) == 2).await;
    until("the hold written", async || waits(&running, &second).await).await;
    running.restart().await;
    let third = send(&running, &advertising(promo, &[stays, tired]), 2).await;
    until("the others reached", async || got(&running, stays) == 3).await;
    until("the hold written", async || waits(&running, &third).await).await;
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
    let held = running.store.suppressions().current(Timestamp::now()).await.unwrap();
    let [held] = held.as_slice() else { panic!("{held:?}") };
    let left = held.until.unwrap().from_now(Timestamp::now());
    assert!(left > DAY - Duration::from_secs(60) && left <= DAY, "{held:?}");
    running.end().await;
}
