//! The connection to the PostgreSQL database breaks or hangs exactly when the service does not know whether a
//! commit succeeded. No message is lost or repeated, and no refused message is delivered later.

use std::collections::BTreeMap;
use std::time::Duration;

use pombo::store::{Options, Store};
use serde_json::{Value, json};

use crate::database::Universe;
use crate::postgres_proxy::{Moment, PostgresProxy};
use crate::running::{Running, until};

const CONTACTS: u64 = 400;
const FIRST_CONTACT: u64 = 5_511_900_000_000;
/// A number that is not in the tag.
const SINGLE: u64 = 5_521_900_000_000;

/// How long a message in doubt waits for a receipt.
const GRACE: Duration = Duration::from_secs(3);

/// The beginnings of the statements that write an acceptance or an outcome.
const NEW_SEND: &str = "INSERT INTO send ";
const NEW_BLOCKS: &str = "INSERT INTO recipient_block ";
const ACTIVATION: &str = "UPDATE send SET state = $2, recipients = $3";
const OUTCOMES: &str = "INSERT INTO message ";
const MARKS: &str = "UPDATE send SET high_water";

/// A service whose connection to the database can be broken.
pub(crate) async fn behind(universe: &Universe) -> (PostgresProxy, Running) {
    let proxy = PostgresProxy::to(&universe.url);
    let acquire_timeout = Duration::from_secs(3);
    let options = Options { url: proxy.url.clone(), acquire_timeout, ..universe.options() };
    let store = Store::open(&options).await.unwrap();
    let running = Running::start_on(store, options, |config| {
        config.engine.in_flight = 48;
        config.engine.concurrency = 24;
        // An audience of several blocks is written in steps.
        config.engine.block_size = 20;
        config.engine.watch_interval = Duration::from_millis(20);
        // Receipts, if there are any, come sooner.
        config.retry.unknown_grace = GRACE;
    })
    .await;
    (proxy, running)
}

/// A text to one number.
pub(crate) fn to_one(number: u64) -> Value {
    json!({ "type": "text", "message": "hi", "phone_number": number })
}

/// How many messages each recipient got.
pub(crate) fn heard(running: &Running) -> BTreeMap<u64, usize> {
    let mut heard = BTreeMap::new();
    for message in running.simulator.messages(0, 100_000) {
        *heard.entry(message.to.parse().unwrap()).or_default() += 1;
    }
    heard
}

/// Each of these got one message.
pub(crate) fn once_each(numbers: impl IntoIterator<Item = u64>) -> BTreeMap<u64, usize> {
    numbers.into_iter().map(|number| (number, 1)).collect()
}

/// Waits until all sends are finished, and checks that every message is delivered as expected.
async fn at_rest(running: &Running) {
    let marker = SINGLE + 1_000;
    // A number that a client writes to last: all messages accepted before are under way by then.
    until("the service to accept again", async || running.send(&to_one(marker)).await.0 == 202).await;
    until("every send finished", async || {
        let working = running.store.channels().working().await;
        heard(running).contains_key(&marker) && working.is_ok_and(|channels| channels.is_empty())
    })
    .await;
}

/// The messages of each recipient at the end, without the message that [`at_rest`] sends.
async fn heard_in_the_end(running: &Running) -> BTreeMap<u64, usize> {
    at_rest(running).await;
    let mut heard = heard(running);
    heard.remove(&(SINGLE + 1_000));
    heard
}

/// A client that repeats a refused request until it is accepted.
async fn repeat(running: &Running, body: &Value) {
    until("the repeated request accepted", async || running.send(body).await.0 == 202).await;
}

/// Breaks the connection at this moment of a single send, which must be answered with this status. A refused client
/// repeats its request.
async fn a_single_is_heard_once(moment: Moment, status: u16) {
    let universe = Universe::postgres().await;
    let (proxy, running) = behind(&universe).await;
    let caught = proxy.catch(moment);
    let asked = running.begin_send(&to_one(SINGLE));
    caught.held().await;
    caught.lose();
    let answer = asked.await.unwrap();
    assert_eq!(answer.status, status, "{}", answer.body);
    if status == 503 {
        repeat(&running, &to_one(SINGLE)).await;
    }
    assert_eq!(heard_in_the_end(&running).await, once_each([SINGLE]));
    running.end().await;
    universe.end().await;
}

#[actix_web::test]
#[ignore = "needs PostgreSQL: run scripts/test"]
async fn a_single_whose_commit_was_not_answered_is_accepted_once_it_is_found() {
    a_single_is_heard_once(Moment::CommitAnswer(NEW_SEND), 202).await;
}

#[actix_web::test]
#[ignore = "needs PostgreSQL: run scripts/test"]
async fn a_single_that_never_reached_the_database_is_refused_and_not_delivered_later() {
    a_single_is_heard_once(Moment::Request(NEW_SEND), 503).await;
}

#[actix_web::test]
#[ignore = "needs PostgreSQL: run scripts/test"]
async fn a_single_that_reaches_the_database_after_its_refusal_is_not_delivered() {
    let universe = Universe::postgres().await;
    let (proxy, running) = behind(&universe).await;
    let caught = proxy.catch(Moment::Request(NEW_SEND));
    let asked = running.begin_send(&to_one(SINGLE));
    caught.held().await;
    caught.hang_up_client();
    let answer = asked.await.unwrap();
    assert_eq!(answer.status, 503, "{}", answer.body);
    // When this is written, the refusal of the first request is written too.
    repeat(&running, &to_one(SINGLE)).await;
    caught.pass_on();
    assert_eq!(heard_in_the_end(&running).await, once_each([SINGLE]));
    running.end().await;
    universe.end().await;
}

#[actix_web::test]
#[ignore = "needs PostgreSQL: run scripts/test"]
async fn singles_that_wait_for_a_slow_commit_are_answered_when_it_is_durable_and_not_before() {
    const WAITING: u64 = 8;
    let universe = Universe::postgres().await;
    let (proxy, running) = behind(&universe).await;
    let caught = proxy.catch(Moment::CommitAnswer(NEW_SEND));
    let mut asked = vec![running.begin_send(&to_one(SINGLE))];
    caught.held().await;
    asked.extend((1..WAITING).map(|nth| running.begin_send(&to_one(SINGLE + nth))));
    // The service does other work meanwhile, so that time passes for the requests too.
    running.tag("meanwhile", FIRST_CONTACT, 10).await;
    assert!(asked.iter().all(|answer| !answer.is_finished()), "promised before it was durable");
    caught.pass_on();
    for answer in asked {
        let answer = answer.await.unwrap();
        assert_eq!(answer.status, 202, "{}", answer.body);
    }
    assert_eq!(heard_in_the_end(&running).await, once_each(SINGLE..SINGLE + WAITING));
    running.end().await;
    universe.end().await;
}

/// Breaks the connection at this moment of a send to a tag whose audience is written in steps. The send must be
/// answered with this status. A refused client repeats its request.
async fn an_audience_is_heard_once(passes: u32, moment: Moment, status: u16) {
    let universe = Universe::postgres().await;
    let (proxy, running) = behind(&universe).await;
    let tag = running.tag("everyone", FIRST_CONTACT, CONTACTS).await;
    let body = json!({ "type": "text", "message": "hi", "contact_tag_id": tag });
    let caught = proxy.catch_after(passes, moment);
    let asked = running.begin_send(&body);
    caught.held().await;
    caught.lose();
    let answer = asked.await.unwrap();
    assert_eq!(answer.status, status, "{}", answer.body);
    if status == 503 {
        repeat(&running, &body).await;
    }
    let everyone = once_each(FIRST_CONTACT..FIRST_CONTACT + CONTACTS);
    assert_eq!(heard_in_the_end(&running).await, everyone);
    running.end().await;
    universe.end().await;
}

#[actix_web::test]
#[ignore = "needs PostgreSQL: run scripts/test"]
async fn an_audience_whose_first_step_was_not_answered_is_refused_and_not_delivered_later() {
    an_audience_is_heard_once(0, Moment::CommitAnswer(NEW_BLOCKS), 503).await;
}

#[actix_web::test]
#[ignore = "needs PostgreSQL: run scripts/test"]
async fn an_audience_whose_further_step_was_not_answered_is_refused_and_not_delivered_later() {
    an_audience_is_heard_once(1, Moment::CommitAnswer(NEW_BLOCKS), 503).await;
}

#[actix_web::test]
#[ignore = "needs PostgreSQL: run scripts/test"]
async fn an_audience_whose_last_step_was_not_answered_is_accepted_once_it_is_found() {
    an_audience_is_heard_once(0, Moment::CommitAnswer(ACTIVATION), 202).await;
}

/// The connection breaks again and again at this moment while a send is under way.
async fn a_send_under_way_is_heard_once(moment: Moment) {
    const BREAKS: usize = 5;
    let universe = Universe::postgres().await;
    let (proxy, running) = behind(&universe).await;
    let tag = running.tag("everyone", FIRST_CONTACT, CONTACTS).await;
    // The provider is so slow that the send is under way at every break.
    running.simulator.script(&json!({ "latency": "20ms" })).unwrap();
    let mut caught = proxy.catch(moment);
    running.send_to_tag(tag, CONTACTS).await;
    for _ in 1..BREAKS {
        caught.held().await;
        let next = proxy.catch(moment);
        caught.lose();
        caught = next;
    }
    caught.held().await;
    caught.lose();
    assert!(running.delivered().1 < CONTACTS, "the last break came too late to prove anything");
    let everyone = once_each(FIRST_CONTACT..FIRST_CONTACT + CONTACTS);
    assert_eq!(heard_in_the_end(&running).await, everyone);
    running.end().await;
    universe.end().await;
}

#[actix_web::test]
#[ignore = "needs PostgreSQL: run scripts/test"]
async fn outcomes_whose_commits_were_not_answered_repeat_no_message() {
    a_send_under_way_is_heard_once(Moment::CommitAnswer(OUTCOMES)).await;
}

#[actix_web::test]
#[ignore = "needs PostgreSQL: run scripts/test"]
async fn outcomes_whose_commits_never_reached_the_database_repeat_no_message() {
    a_send_under_way_is_heard_once(Moment::Request(OUTCOMES)).await;
}

#[actix_web::test]
#[ignore = "needs PostgreSQL: run scripts/test"]
async fn marks_whose_commits_were_not_answered_repeat_no_message() {
    a_send_under_way_is_heard_once(Moment::CommitAnswer(MARKS)).await;
}
