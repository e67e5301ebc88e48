//! A send is paused, resumed, canceled, scheduled or expires while the service works on it or is started
//! again: sent messages are counted, the others follow the request, and no recipient gets a message twice.

use std::time::Duration;

use pombo::clock::Timestamp;
use reqwest::Method;
use sea_orm::ConnectionTrait as _;
use serde_json::{Value, json};
use simulator::NumberFigures;

use super::stage::{plain_template, run_under, template};
use super::watch::{FIRST, assert_once, begin, comes_to, counts, send_to_many, shown, steer, text_to};
use crate::database::{Universe, stores};
use crate::running::{NUMBER, Running, until, until_soon};

stores!(
    a_paused_send_stops_before_its_next_message_and_goes_on_where_it_stopped,
    a_paused_send_stays_paused_after_a_restart,
    a_canceled_send_counts_its_sent_messages_and_sends_no_more,
    a_scheduled_send_starts_at_its_moment,
    a_scheduled_send_starts_at_its_moment_after_a_restart,
    a_scheduled_send_that_is_moved_starts_at_its_new_moment,
    a_send_that_expires_ends_in_the_middle,
    a_repeated_request_is_answered_with_the_first_send_after_a_restart,
    a_send_that_is_resumed_while_the_queue_cannot_be_read_goes_on_when_it_can,
);

const CONTACTS: u64 = 2_000;
/// Requests at once: the messages that may still arrive after a send was stopped.
const AT_ONCE: u64 = 16;
/// A number that is not in the tag.
const SINGLE: u64 = 5_521_900_000_000;
const SOON: Duration = Duration::from_secs(2);
const HOUR: Duration = Duration::from_secs(3_600);
/// How late a test's machine may be; far less than the time to send everything.
const LATE: Duration = Duration::from_secs(5);

/// A slow provider, so that a test can act in the middle of a send.
async fn slow(universe: &Universe) -> Running {
    let running = Running::start(universe, |config| {
        config.engine.concurrency = usize::try_from(AT_ONCE).unwrap();
        config.engine.in_flight = 2 * config.engine.concurrency;
    })
    .await;
    running.simulator.script(&json!({ "latency": "40ms" })).unwrap();
    running
}

fn figures(running: &Running) -> NumberFigures {
    running.simulator.number(NUMBER).unwrap()
}

async fn some_delivered(running: &Running) {
    until("some messages delivered", async || running.delivered().0 > 150).await;
}

/// Waits until no request to the provider is under way, and returns the number of its messages.
async fn quiet(running: &Running) -> u64 {
    let path = format!("/api/v1/chat/{}/limits", running.channel);
    until("nothing in flight", async || {
        running.ask(Method::GET, &path, &Value::Null).await.json()["in_flight"] == 0
    })
    .await;
    running.delivered().0
}

/// Checks that the channel works, and that only sends that are not stopped go through it.
async fn only_another_goes(running: &Running, number: u64) {
    let before = running.delivered().0;
    let other = begin(running, &json!({ "type": "text", "message": "hi", "phone_number": number })).await;
    comes_to(running, &other, "finished").await;
    assert_eq!(running.delivered().0, before + 1, "a stopped send goes on");
}

async fn a_paused_send_stops_before_its_next_message_and_goes_on_where_it_stopped(universe: &Universe) {
    let running = slow(universe).await;
    let id = send_to_many(&running, CONTACTS).await;
    some_delivered(&running).await;
    let paused = steer(&running, &id, "pause").await;
    let at_answer = running.delivered().0;
    assert_eq!((&paused["state"], &paused["waiting"]["reason"]), (&json!("paused"), &json!("paused")));
    let stopped = quiet(&running).await;
    assert!(stopped <= at_answer + AT_ONCE, "{stopped} messages, {at_answer} when it was paused");
    assert!(stopped < CONTACTS, "the request came too late to be in the middle of the send");
    only_another_goes(&running, SINGLE).await;
    let expected = [("sent".to_owned(), stopped), ("queued".to_owned(), CONTACTS - stopped)].into();
    until("every answer written", async || counts(&shown(&running, &id).await) == expected).await;

    assert_eq!(steer(&running, &id, "resume").await["state"], "active");
    let record = comes_to(&running, &id, "finished").await;
    assert_eq!(counts(&record), [("sent".to_owned(), CONTACTS)].into());
    assert_once(&running.simulator, CONTACTS + 1);
    running.end().await;
}

async fn a_paused_send_stays_paused_after_a_restart(universe: &Universe) {
    let mut running = slow(universe).await;
    let id = send_to_many(&running, CONTACTS).await;
    some_delivered(&running).await;
    steer(&running, &id, "pause").await;
    running.restart().await;
    let stopped = running.delivered().0;
    only_another_goes(&running, SINGLE).await;
    let expected = [("sent".to_owned(), stopped), ("queued".to_owned(), CONTACTS - stopped)].into();
    assert_eq!(counts(&shown(&running, &id).await), expected);
    for _ in 0..3 {
        steer(&running, &id, "resume").await;
        until("a few more", async || running.delivered().0 > stopped + 1).await;
        steer(&running, &id, "pause").await;
    }
    running.restart().await;
    assert_eq!(steer(&running, &id, "resume").await["state"], "active");
    comes_to(&running, &id, "finished").await;
    assert_once(&running.simulator, CONTACTS + 1);
    running.end().await;
}

async fn a_canceled_send_counts_its_sent_messages_and_sends_no_more(universe: &Universe) {
    let mut running = slow(universe).await;
    let id = send_to_many(&running, CONTACTS).await;
    some_delivered(&running).await;
    let canceled = steer(&running, &id, "cancel").await;
    let at_answer = running.delivered().0;
    assert_eq!((&canceled["state"], &canceled["waiting"]), (&json!("canceled"), &Value::Null));
    let stopped = quiet(&running).await;
    assert!(stopped <= at_answer + AT_ONCE, "{stopped} messages, {at_answer} when it was canceled");
    assert!(stopped < CONTACTS, "the request came too late to be in the middle of the send");
    only_another_goes(&running, SINGLE).await;
    let expected = [("sent".to_owned(), stopped), ("canceled".to_owned(), CONTACTS - stopped)].into();
    until("every answer written", async || counts(&shown(&running, &id).await) == expected).await;

    running.restart().await;
    only_another_goes(&running, SINGLE + 1).await;
    let after = shown(&running, &id).await;
    assert_eq!((&after["state"], counts(&after)), (&json!("canceled"), expected));
    assert_once(&running.simulator, stopped + 2);
    running.end().await;
}

async fn a_scheduled_send_starts_at_its_moment(universe: &Universe) {
    scheduled(universe, false).await;
}

async fn a_scheduled_send_starts_at_its_moment_after_a_restart(universe: &Universe) {
    scheduled(universe, true).await;
}

async fn scheduled(universe: &Universe, restarts: bool) {
    // A restart takes some of the time.
    let wait = if restarts { 4 * SOON } else { 2 * SOON };
    let mut running = Running::start(universe, |_| {}).await;
    let tag = running.tag("everyone", FIRST, 500).await;
    let send_at = Timestamp::now().plus(wait);
    let mut body = text_to(tag);
    body["send_at"] = json!(send_at.to_string());
    let id = begin(&running, &body).await;
    let waiting = shown(&running, &id).await;
    assert_eq!(
        (&waiting["state"], &waiting["waiting"]["reason"]),
        (&json!("scheduled"), &json!("scheduled"))
    );
    assert_eq!(counts(&waiting), [("queued".to_owned(), 500)].into());
    if restarts {
        running.restart().await;
    }
    only_another_goes(&running, SINGLE).await;
    assert!(Timestamp::now() < send_at, "the machine is too slow to show that the send waits");
    comes_to(&running, &id, "finished").await;
    assert_once(&running.simulator, 501);
    let log = running.simulator.messages(0, 1_000);
    let is_early = |to: &str, at: Timestamp| at < send_at && to != SINGLE.to_string();
    assert!(!log.iter().any(|message| is_early(&message.to, message.at)), "nothing goes before its moment");
    running.end().await;
}

async fn a_scheduled_send_that_is_moved_starts_at_its_new_moment(universe: &Universe) {
    let running = Running::start(universe, |_| {}).await;
    let scheduled = async |number: u64, at: Timestamp| {
        let at = at.to_string();
        let body = json!({ "type": "text", "message": "hi", "phone_number": number, "send_at": at });
        begin(&running, &body).await
    };
    let move_to = async |id: &str, at: Timestamp| {
        let path = format!("/api/v1/sends/{id}");
        running.ask(Method::PATCH, &path, &json!({ "send_at": at.to_string() })).await
    };
    let (soon, later) = (Timestamp::now().plus(2 * SOON), Timestamp::now().plus(HOUR));
    let (earlier, put_off) = (scheduled(SINGLE, later).await, scheduled(SINGLE + 1, soon).await);
    let unmoved = scheduled(SINGLE + 2, soon).await;
    for (id, at) in [(&earlier, soon), (&put_off, later)] {
        let moved = move_to(id, at).await;
        assert_eq!((moved.status, &moved.json()["send_at"]), (200, &json!(at.to_string())), "{}", moved.body);
    }
    comes_to(&running, &earlier, "finished").await;
    comes_to(&running, &unmoved, "finished").await;
    // What went beside the others would have gone, too.
    only_another_goes(&running, SINGLE + 3).await;
    assert_eq!(shown(&running, &put_off).await["state"], "scheduled");
    assert_eq!(running.delivered().0, 3);
    assert!(running.simulator.messages(0, 10).iter().all(|message| message.at >= soon), "none goes early");
    let begun = move_to(&earlier, later).await;
    assert_eq!((begun.status, begun.code().as_deref()), (409, Some("send_is_over")), "{}", begun.body);
    let moved = move_to(&put_off, Timestamp::now().plus(SOON)).await;
    assert_eq!(moved.status, 200, "{}", moved.body);
    comes_to(&running, &put_off, "finished").await;
    assert_once(&running.simulator, 4);
    running.end().await;
}

async fn a_send_that_expires_ends_in_the_middle(universe: &Universe) {
    let mut running = slow(universe).await;
    // At most 320 messages go in a second: the send expires before half of them are out.
    running.simulator.script(&json!({ "latency": "50ms" })).unwrap();
    let tag = running.tag("everyone", FIRST, CONTACTS).await;
    let expires_at = Timestamp::now().plus(SOON);
    let mut body = text_to(tag);
    body["expires_at"] = json!(expires_at.to_string());
    let id = begin(&running, &body).await;
    comes_to(&running, &id, "expired").await;
    let stopped = quiet(&running).await;
    assert!((1..CONTACTS).contains(&stopped), "{stopped} messages went out");
    assert!(figures(&running).last_at.unwrap() < expires_at.plus(LATE));
    let expected = [("sent".to_owned(), stopped), ("expired".to_owned(), CONTACTS - stopped)].into();
    until("every answer written", async || counts(&shown(&running, &id).await) == expected).await;
    only_another_goes(&running, SINGLE).await;
    running.restart().await;
    only_another_goes(&running, SINGLE + 1).await;
    assert_eq!(counts(&shown(&running, &id).await), expected);
    assert_once(&running.simulator, stopped + 2);
    running.end().await;
}

async fn a_repeated_request_is_answered_with_the_first_send_after_a_restart(universe: &Universe) {
    let mut running = slow(universe).await;
    let tag = running.tag("everyone", FIRST, CONTACTS).await;
    let (path, body) = (format!("/api/v1/chat/{}/messages", running.channel), text_to(tag));
    let first = running.ask_once(&path, "order-7", &body).await;
    assert_eq!(first.status, 202, "{}", first.body);
    some_delivered(&running).await;
    for _ in 0..2 {
        running.restart().await;
        let again = running.ask_once(&path, "order-7", &body).await;
        assert_eq!((again.status, &again.body), (202, &first.body));
        assert_eq!(again.header("idempotency-replayed"), "true");
        let mut other = body.clone();
        other["message"] = json!("something else");
        let reused = running.ask_once(&path, "order-7", &other).await;
        assert_eq!((reused.status, reused.code().as_deref()), (422, Some("idempotency_key_reused")));
    }
    let id = first.json()["send_id"].as_str().unwrap().to_owned();
    comes_to(&running, &id, "finished").await;
    assert_once(&running.simulator, CONTACTS);
    let all = running.ask(Method::GET, "/api/v1/sends", &Value::Null).await.json();
    assert_eq!(all["data"].as_array().unwrap().len(), 1);
    running.end().await;
}

async fn a_send_that_is_resumed_while_the_queue_cannot_be_read_goes_on_when_it_can(universe: &Universe) {
    let running = Running::start(universe, |_| {}).await;
    // A channel whose templates wait for a day gets no reminder of its sends: unless it retries the failed read by
    // itself, it reads minutes later.
    let one_person = json!({ "messages_per_second": "unlimited", "template_quota": 1 });
    run_under(&running, "sparing", one_person).await;
    let mut hello = plain_template(template(&running, "hello_world").await);
    hello["phone_number"] = json!(FIRST);
    let first = begin(&running, &hello).await;
    comes_to(&running, &first, "finished").await;
    hello["phone_number"] = json!(FIRST + 1);
    let second = begin(&running, &hello).await;
    until("templates waiting for a day", async || {
        let waiting = shown(&running, &second).await["waiting"].clone();
        let until = waiting["until"].as_str().and_then(|until| Timestamp::parse(until).ok());
        waiting["reason"] == "template_quota"
            && until.is_some_and(|until| until > Timestamp::now().plus(HOUR))
    })
    .await;
    // The send is paused before it begins.
    let later = Timestamp::now().plus(HOUR).to_string();
    let text = json!({ "type": "text", "message": "hi", "phone_number": SINGLE, "send_at": later });
    let id = begin(&running, &text).await;
    steer(&running, &id, "pause").await;
    let database = sea_orm::Database::connect(&universe.url).await.unwrap();
    let due = "UPDATE send SET due_at = NULL, send_at = NULL WHERE send_at IS NOT NULL";
    database.execute_unprepared(due).await.unwrap();

    // The queue is read together with the templates.
    database.execute_unprepared("ALTER TABLE template RENAME TO template_away").await.unwrap();
    for _ in 0..20 {
        for action in ["resume", "pause", "resume"] {
            // The answer shows the template too.
            let path = format!("/api/v1/sends/{id}/{action}");
            assert_eq!(running.ask(Method::POST, &path, &Value::Null).await.status, 500);
        }
    }
    database.execute_unprepared("ALTER TABLE template_away RENAME TO template").await.unwrap();
    database.close().await.unwrap();
    until_soon("the send finished", async || shown(&running, &id).await["state"] == "finished").await;
    running.end().await;
}
