//! A full quota of templates holds back new people, but no recipient of the last 24 hours.

use std::collections::BTreeSet;
use std::time::Duration;

use pombo::clock::Timestamp;
use reqwest::Method;
use serde_json::{Value, json};

use super::stage::{
    FIRST, OTHER_NUMBER, limit, limits, other_channel, other_number, plain_template, put_tier, run_under,
    send_to, show, template, until_it_waits_for,
};
use crate::database::{Universe, stores};
use crate::running::{NUMBER, Running, until};

stores!(
    known_recipients_get_more_templates_while_new_people_wait,
    known_recipients_get_a_bulk_send_while_its_new_people_wait,
    known_recipients_are_found_in_any_block_of_a_send,
    known_recipients_get_templates_after_a_restart,
    recipients_of_another_number_of_the_account_are_known,
    a_new_person_takes_one_place_in_the_quota_however_many_messages_wait,
);

const QUOTA: u64 = 5;

/// A number that is in none of the sends to many.
const STRANGER: u64 = FIRST + 1_000_000;

fn options(quota: u64) -> Value {
    json!({ "messages_per_second": "unlimited", "pair_interval": "0s", "template_quota": quota })
}

/// The number of messages that a recipient got from the number.
fn got(running: &Running, who: u64) -> u32 {
    running.simulator.recipients(NUMBER, 0).get(&who.to_string()).copied().unwrap_or_default()
}

/// The recipients of any message from the number, as differences from the first.
fn written_to(running: &Running) -> BTreeSet<u64> {
    let all = running.simulator.recipients(NUMBER, 0);
    all.keys().map(|number| number.parse::<u64>().unwrap() - FIRST).collect()
}

/// Sends the template to one person; the send's id.
async fn send_one(running: &Running, hello: i64, who: u64) -> String {
    let mut single = plain_template(hello);
    single["phone_number"] = json!(who);
    let (status, answer) = running.send(&single).await;
    assert_eq!(status, 202, "{answer}");
    answer["send_id"].as_str().unwrap().to_owned()
}

async fn steer(running: &Running, send: &str, what: &str) {
    let path = format!("/api/v1/sends/{send}/{what}");
    let answer = running.ask(Method::POST, &path, &Value::Null).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
}

/// Uses up the quota by a send to the first people, whose other messages wait; the send's id.
async fn used_up(running: &Running, hello: i64) -> String {
    run_under(running, "sparing", options(QUOTA)).await;
    let tag = running.tag("everyone", FIRST, QUOTA + 7).await;
    let send = send_to(running, running.channel, tag, plain_template(hello)).await;
    until("the quota used", async || running.delivered().0 == QUOTA).await;
    until_it_waits_for(running, &send, "template_quota").await;
    until("the outcomes written", async || show(running, &send).await["counts"]["sent"] == QUOTA).await;
    send
}

async fn known_recipients_get_more_templates_while_new_people_wait(universe: &Universe) {
    let running = Running::start(universe, |_| {}).await;
    let hello = template(&running, "hello_world").await;
    let blocked = used_up(&running, hello).await;
    let stranger = send_one(&running, hello, STRANGER).await;
    until_it_waits_for(&running, &stranger, "template_quota").await;
    send_one(&running, hello, FIRST).await;
    until("the known recipient has a second message", async || got(&running, FIRST) == 2).await;
    let paused = send_one(&running, hello, STRANGER + 1).await;
    steer(&running, &paused, "pause").await;
    let known = {
        steer(&running, &blocked, "cancel").await;
        send_one(&running, hello, FIRST + 1).await
    };
    until("the blocked send canceled, another goes", async || got(&running, FIRST + 1) == 2).await;
    steer(&running, &paused, "resume").await;
    for waits in [&stranger, &paused] {
        until_it_waits_for(&running, waits, "template_quota").await;
    }
    assert_eq!(written_to(&running), (0..QUOTA).collect());
    until("the send finished", async || show(&running, &known).await["state"] == "finished").await;
    put_tier(&running, "sparing", options(QUOTA + 2)).await;
    running.settled(QUOTA + 4).await;
    running.end().await;
}

async fn known_recipients_get_a_bulk_send_while_its_new_people_wait(universe: &Universe) {
    gets_a_bulk_send(Running::start(universe, |_| {}).await).await;
}

async fn known_recipients_are_found_in_any_block_of_a_send(universe: &Universe) {
    gets_a_bulk_send(Running::start(universe, |config| config.engine.block_size = 4).await).await;
}

async fn gets_a_bulk_send(running: Running) {
    let hello = template(&running, "hello_world").await;
    let blocked = used_up(&running, hello).await;
    // The known recipients stand among new people: behind ten, and before ten.
    let people = (0..10).map(|nth| FIRST - 10 + nth).chain(FIRST..FIRST + 3);
    let people: Vec<_> =
        people.chain((0..10).map(|nth| STRANGER + nth)).chain(FIRST + 3..FIRST + 5).collect();
    let mut many = plain_template(hello);
    many["phone_number"] = json!(people);
    let (status, answer) = running.send(&many).await;
    assert_eq!((status, answer["recipients_count"].as_u64()), (202, Some(25)), "{answer}");
    let send = answer["send_id"].as_str().unwrap().to_owned();
    until("every known recipient has a second message", async || {
        (0..QUOTA).all(|nth| got(&running, FIRST + nth) == 2)
    })
    .await;
    let mut shown = Value::Null;
    until("the others wait", async || {
        shown = show(&running, &send).await;
        shown["counts"]["sent"] == QUOTA && shown["waiting"]["reason"] == "template_quota"
    })
    .await;
    assert_eq!(shown["counts"]["queued"], 20, "{shown}");
    assert_eq!(written_to(&running), (0..QUOTA).collect());
    // With room for some more people, exactly these more messages go, one to each person.
    steer(&running, &blocked, "cancel").await;
    put_tier(&running, "sparing", options(QUOTA + 4)).await;
    until("four more people's messages", async || running.delivered().0 >= 2 * QUOTA + 4).await;
    until_it_waits_for(&running, &send, "template_quota").await;
    assert_eq!(running.delivered().0, 2 * QUOTA + 4);
    put_tier(&running, "sparing", options(QUOTA + 100)).await;
    running.settled(2 * QUOTA + 20).await;
    let twice = running.simulator.recipients(NUMBER, 0).into_values().filter(|count| *count > 1).count();
    assert_eq!((running.delivered(), twice as u64), ((2 * QUOTA + 20, QUOTA + 20), QUOTA));
    assert_eq!(show(&running, &send).await["counts"]["sent"], QUOTA + 20);
    running.end().await;
}

async fn known_recipients_get_templates_after_a_restart(universe: &Universe) {
    let mut running = Running::start(universe, |_| {}).await;
    let hello = template(&running, "hello_world").await;
    used_up(&running, hello).await;
    let stranger = send_one(&running, hello, STRANGER).await;
    until_it_waits_for(&running, &stranger, "template_quota").await;
    // The send is in the store alone until its moment comes.
    let mut known = plain_template(hello);
    known["phone_number"] = json!(FIRST + 2);
    known["send_at"] = json!(Timestamp::now().plus(Duration::from_secs(2)).to_string());
    let (status, answer) = running.send(&known).await;
    assert_eq!(status, 202, "{answer}");
    let known = answer["send_id"].as_str().unwrap().to_owned();
    running.restart().await;
    until("the known recipient has a second message", async || got(&running, FIRST + 2) == 2).await;
    until("the send finished", async || show(&running, &known).await["state"] == "finished").await;
    until_it_waits_for(&running, &stranger, "template_quota").await;
    assert_eq!(written_to(&running), (0..QUOTA).collect());
    running.end().await;
}

async fn recipients_of_another_number_of_the_account_are_known(universe: &Universe) {
    let running = Running::start(universe, |_| {}).await;
    let hello = template(&running, "hello_world").await;
    used_up(&running, hello).await;
    let other = other_channel(&running, other_number(), "sparing").await;
    let mut single = plain_template(hello);
    for who in [STRANGER, FIRST + 4] {
        single["phone_number"] = json!(who);
        let (status, answer) = running.send_through(other, &single).await;
        assert_eq!(status, 202, "{answer}");
    }
    let from_other = || running.simulator.number(OTHER_NUMBER).unwrap().messages;
    until("the other number's template taken", async || from_other() == 1).await;
    let told = limit(&limits(&running, other).await, "template_quota");
    assert_eq!((&told["left"], from_other()), (&json!(0), 1));
    running.end().await;
}

async fn a_new_person_takes_one_place_in_the_quota_however_many_messages_wait(universe: &Universe) {
    const WAITING: u64 = 40;
    let running = Running::start(universe, |_| {}).await;
    let hello = template(&running, "hello_world").await;
    let blocked = used_up(&running, hello).await;
    steer(&running, &blocked, "cancel").await;
    let mut sends = Vec::new();
    for nth in 0..WAITING {
        sends.push(send_one(&running, hello, STRANGER + nth / 2).await);
    }
    // Each new person has two messages: both go with the one place that there is.
    put_tier(&running, "sparing", options(QUOTA + 1)).await;
    until("both messages to the first new person", async || got(&running, STRANGER) == 2).await;
    until_it_waits_for(&running, &sends[2], "template_quota").await;
    assert_eq!(running.delivered(), (QUOTA + 2, QUOTA + 1));
    put_tier(&running, "sparing", options(QUOTA + WAITING)).await;
    running.settled(QUOTA + WAITING).await;
    running.end().await;
}
