//! The quota of people who may get templates in a day: templates to more people wait, and no other messages
//! do.

use std::time::Duration;

use pombo::clock::Timestamp;
use sea_orm::{ConnectionTrait as _, Database};
use serde_json::{Value, json};

use super::stage::{
    FIRST, OTHER_NUMBER, from_now, limit, limits, other_channel, other_number, plain_template, put_tier,
    run_channel_under, run_under, send_to, show, template, text, until_it_waits_for,
};
use crate::database::{Universe, stores};
use crate::running::{NUMBER, Running, WABA, until};

stores!(
    a_quota_lets_so_many_go_and_holds_the_others_until_it_is_raised,
    a_quota_outlives_a_restart_and_opens_as_the_day_moves_on,
    the_numbers_of_an_account_share_its_quota,
    people_that_a_number_cannot_write_to_now_are_left_to_another,
    a_refused_recipient_does_not_count,
    people_written_to_before_there_was_a_quota_count,
    the_largest_quota_of_meta_can_be_counted,
);

const QUOTA: u64 = 50;
const CONTACTS: u64 = 120;
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// The tier's options, with this quota.
fn options(quota: u64) -> Value {
    json!({ "messages_per_second": "unlimited", "pair_interval": "0s", "template_quota": quota })
}

async fn under_quota(universe: &Universe, quota: u64) -> Running {
    let running = Running::start(universe, |_| {}).await;
    run_under(&running, "sparing", options(quota)).await;
    running
}

/// Templates that the provider accepted, from all numbers; each has another recipient.
fn templates_taken(running: &Running) -> u64 {
    let messages = running.simulator.messages(0, 10_000);
    let mut people: Vec<_> =
        messages.into_iter().filter(|message| message.kind == "template").map(|message| message.to).collect();
    let all = people.len();
    people.sort();
    people.dedup();
    assert_eq!(people.len(), all, "somebody was written to twice");
    all as u64
}

fn count(shown: &Value, state: &str) -> u64 {
    shown["counts"][state].as_u64().unwrap()
}

async fn a_quota_lets_so_many_go_and_holds_the_others_until_it_is_raised(universe: &Universe) {
    let running = under_quota(universe, QUOTA).await;
    let hello = template(&running, "hello_world").await;
    let tag = running.tag("everyone", FIRST, CONTACTS).await;
    let send = send_to(&running, running.channel, tag, plain_template(hello)).await;
    until("the quota used", async || templates_taken(&running) == QUOTA).await;
    let mut shown = until_it_waits_for(&running, &send, "template_quota").await;
    until("the outcomes written", async || {
        shown = show(&running, &send).await;
        count(&shown, "sent") == QUOTA
    })
    .await;
    assert_eq!((count(&shown, "queued"), count(&shown, "failed")), (CONTACTS - QUOTA, 0), "{shown}");
    let until_free = from_now(&shown["waiting"]["until"]);
    assert!(until_free > DAY - Duration::from_secs(60) && until_free <= DAY, "{shown}");
    assert!(shown["waiting"]["sentence"].as_str().unwrap().contains("template_quota"), "{shown}");
    let told = limit(&limits(&running, running.channel).await, "template_quota");
    assert_eq!((&told["left"], &told["in_force"]), (&json!(0), &json!(true)));
    assert!(from_now(&told["next_slot_at"]) > DAY - Duration::from_secs(60), "{told}");

    // Messages without a template go.
    let texts = running.tag("texts", FIRST + 1_000, 30).await;
    send_to(&running, running.channel, texts, text()).await;
    until("the texts taken", async || running.delivered().0 == QUOTA + 30).await;
    assert_eq!(templates_taken(&running), QUOTA);

    put_tier(&running, "sparing", options(QUOTA + 20)).await;
    until("more of the quota used", async || templates_taken(&running) == QUOTA + 20).await;
    until_it_waits_for(&running, &send, "template_quota").await;
    assert_eq!(templates_taken(&running), QUOTA + 20);
    run_channel_under(&running, "unlimited").await;
    running.settled(CONTACTS + 30).await;
    assert_eq!(
        (templates_taken(&running), count(&show(&running, &send).await, "sent")),
        (CONTACTS, CONTACTS)
    );
    running.end().await;
}

async fn a_quota_outlives_a_restart_and_opens_as_the_day_moves_on(universe: &Universe) {
    let mut running = under_quota(universe, QUOTA).await;
    let hello = template(&running, "hello_world").await;
    let tag = running.tag("everyone", FIRST, CONTACTS).await;
    let send = send_to(&running, running.channel, tag, plain_template(hello)).await;
    until("the quota used", async || templates_taken(&running) == QUOTA).await;

    running.restart().await;
    until_it_waits_for(&running, &send, "template_quota").await;
    let mut single = plain_template(hello);
    single["phone_number"] = json!(FIRST + 1_000);
    let (status, answer) = running.send(&single).await;
    assert_eq!(status, 202, "{answer}");
    let single = answer["send_id"].as_str().unwrap();
    until_it_waits_for(&running, single, "template_quota").await;
    assert_eq!(templates_taken(&running), QUOTA);

    for taken in [2 * QUOTA, CONTACTS + 1] {
        a_day_passes(universe, &running).await;
        running.restart().await;
        until("another day's quota used", async || templates_taken(&running) == taken).await;
        // What is written after the next day has passed counts for that day.
        until("the outcomes written", async || {
            let shown = [show(&running, &send).await, show(&running, single).await];
            shown.iter().map(|shown| count(shown, "sent")).sum::<u64>() == taken
        })
        .await;
    }
    running.settled(0).await;
    assert_eq!(
        (templates_taken(&running), count(&show(&running, &send).await, "sent")),
        (CONTACTS + 1, CONTACTS)
    );
    running.end().await;
}

/// Moves the used quota's messages a day back.
async fn a_day_passes(universe: &Universe, running: &Running) {
    until("the used quota written", async || {
        let (now, mut people) = (Timestamp::now(), 0);
        running
            .store
            .templates()
            .recipients(WABA, (now.minus(DAY), now), |page| people += page.len() as u64)
            .await
            .unwrap();
        people == QUOTA
    })
    .await;
    let database = Database::connect(&universe.url).await.unwrap();
    let earlier = format!("UPDATE message SET taken_at = taken_at - {}", DAY.as_millis());
    assert!(database.execute_unprepared(&earlier).await.unwrap().rows_affected() > 0);
    database.close().await.unwrap();
}

async fn the_numbers_of_an_account_share_its_quota(universe: &Universe) {
    let running = under_quota(universe, QUOTA).await;
    let other = other_channel(&running, other_number(), "sparing").await;
    let hello = template(&running, "hello_world").await;
    let mut sends = Vec::new();
    for (name, channel, first) in [("some", running.channel, FIRST), ("others", other, FIRST + 1_000)] {
        let tag = running.tag(name, first, QUOTA - 10).await;
        sends.push(send_to(&running, channel, tag, plain_template(hello)).await);
    }
    until("the quota used", async || templates_taken(&running) == QUOTA).await;
    until("no slot left", async || {
        let of = async |channel| limit(&limits(&running, channel).await, "template_quota")["left"].clone();
        of(running.channel).await == 0 && of(other).await == 0
    })
    .await;
    until("all outcomes written", async || {
        let mut sent = 0;
        for send in &sends {
            sent += count(&show(&running, send).await, "sent");
        }
        sent == QUOTA
    })
    .await;
    let numbers = [NUMBER, OTHER_NUMBER].map(|number| running.simulator.number(number).unwrap().messages);
    assert_eq!(numbers.iter().sum::<u64>(), QUOTA);

    // A raised quota applies to both numbers.
    put_tier(&running, "sparing", options(10 * QUOTA)).await;
    running.settled(0).await;
    assert_eq!(templates_taken(&running), 2 * (QUOTA - 10));
    running.end().await;
}

async fn people_that_a_number_cannot_write_to_now_are_left_to_another(universe: &Universe) {
    const FEW: u64 = 10;
    // The first number reserves the whole quota for its messages, and the provider refuses the first of them for
    // maintenance.
    let running = Running::start(universe, |config| config.engine.concurrency = 1).await;
    run_under(&running, "sparing", options(FEW)).await;
    let other = other_channel(&running, other_number(), "sparing").await;
    let hello = template(&running, "hello_world").await;
    let script =
        json!([{ "match": { "to": FIRST.to_string() }, "outcome": { "error": { "code": 131_057 } } }]);
    running.simulator.script(&script).unwrap();
    let some = running.tag("some", FIRST, FEW).await;
    let held = send_to(&running, running.channel, some, plain_template(hello)).await;
    until_it_waits_for(&running, &held, "provider_pause").await;
    assert_eq!(templates_taken(&running), 0);

    let others = running.tag("others", FIRST + 1_000, FEW + 5).await;
    send_to(&running, other, others, plain_template(hello)).await;
    until("the quota used by the other number", async || templates_taken(&running) == FEW).await;
    let number = running.simulator.number(OTHER_NUMBER).unwrap();
    assert_eq!((number.messages, count(&show(&running, &held).await, "queued")), (FEW, FEW));
    running.end().await;
}

async fn a_refused_recipient_does_not_count(universe: &Universe) {
    let running = under_quota(universe, 10).await;
    let hello = template(&running, "hello_world").await;
    // The quota is used up while messages that will not count still wait for their answers.
    let refuse = |ordinal: u64| json!({ "match": { "to": (FIRST + ordinal).to_string() }, "outcome": { "error": { "code": 131_026 } } });
    let script: Vec<_> = (0..5).map(refuse).chain([json!({ "latency": "100ms" })]).collect();
    running.simulator.script(&json!(script)).unwrap();
    let tag = running.tag("everyone", FIRST, 30).await;
    let send = send_to(&running, running.channel, tag, plain_template(hello)).await;
    until("the quota used", async || templates_taken(&running) == 10).await;
    let mut shown = Value::Null;
    until("all outcomes written", async || {
        shown = show(&running, &send).await;
        count(&shown, "sent") == 10
    })
    .await;
    until_it_waits_for(&running, &send, "template_quota").await;
    assert_eq!((count(&shown, "failed"), count(&shown, "queued"), templates_taken(&running)), (5, 15, 10));
    running.end().await;
}

async fn people_written_to_before_there_was_a_quota_count(universe: &Universe) {
    let mut running = Running::start(universe, |_| {}).await;
    let hello = template(&running, "hello_world").await;
    let some = running.tag("some", FIRST, 30).await;
    send_to(&running, running.channel, some, plain_template(hello)).await;
    running.settled(30).await;
    // Texts do not count.
    let texts = running.tag("texts", FIRST + 5_000, 20).await;
    send_to(&running, running.channel, texts, text()).await;
    running.settled(50).await;
    run_under(&running, "sparing", options(40)).await;
    let others = running.tag("others", FIRST + 1_000, 30).await;
    let send = send_to(&running, running.channel, others, plain_template(hello)).await;
    until("the quota used", async || templates_taken(&running) >= 40).await;
    until_it_waits_for(&running, &send, "template_quota").await;
    assert_eq!(templates_taken(&running), 40);

    // They still count after a restart.
    running.restart().await;
    put_tier(&running, "sparing", options(45)).await;
    until("more of the quota used", async || templates_taken(&running) >= 45).await;
    until_it_waits_for(&running, &send, "template_quota").await;
    assert_eq!(templates_taken(&running), 45);
    running.end().await;
}

/// Meta's largest quota is of 100,000 people.
async fn the_largest_quota_of_meta_can_be_counted(universe: &Universe) {
    const WRITTEN: u64 = 120_000;
    let running = Running::start(universe, |_| {}).await;
    let hello = template(&running, "hello_world").await;
    let mut single = plain_template(hello);
    single["phone_number"] = json!(FIRST);
    assert_eq!(running.send(&single).await.0, 202);
    running.settled(1).await;
    // The same message to many more people.
    let database = Database::connect(&universe.url).await.unwrap();
    let more = format!(
        "WITH RECURSIVE more (nth) AS (SELECT 1 UNION ALL SELECT nth + 1 FROM more WHERE nth < {}) \
         INSERT INTO message (send_id, ordinal, company_id, recipient, state, attempts, taken_at, updated_at) \
         SELECT send_id, nth, company_id, recipient + nth, state, attempts, taken_at, updated_at \
         FROM message, more",
        WRITTEN - 1
    );
    database.execute_unprepared(&more).await.unwrap();
    let all = format!(
        "UPDATE send SET recipient = NULL, recipients = {WRITTEN}, settled = {WRITTEN}, high_water = {WRITTEN}"
    );
    database.execute_unprepared(&all).await.unwrap();
    database.close().await.unwrap();
    run_under(&running, "sparing", options(WRITTEN + 10)).await;
    until("everybody counted", async || {
        let limits = limits(&running, running.channel).await;
        limit(&limits, "template_quota")["left"] == 10
    })
    .await;
    running.end().await;
}
