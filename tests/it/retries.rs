//! Retries of a send: a message that is sent again already is not sent once more, on both databases.

use futures_util::future::join_all;
use reqwest::Method;
use serde_json::{Value, json};

use crate::database::{Universe, stores};
use crate::harness::Answer;
use crate::running::{Running, until};

stores!(
    a_retry_posted_twice_sends_once_and_the_send_names_it,
    retries_that_are_posted_at_the_same_moment_send_once,
    a_message_whose_retry_failed_is_sent_again_once_by_whichever_send_it_is_asked_of,
);

/// The first of three numbers whose messages fail, and the only one whose message arrives.
const FAILS: u64 = 5_511_900_000_000;
const ARRIVES: u64 = 5_511_900_000_009;
const NOTHING: Value = Value::Null;

/// The provider refuses this many messages to a number.
fn refuse(running: &Running, number: u64, times: u64) {
    let suffix = number.to_string();
    let error = json!({ "error": { "code": 131_026 } });
    running
        .simulator
        .script(&json!([{ "match": { "to_suffix": &suffix[6..] }, "times": times, "outcome": error }]))
        .unwrap();
}

async fn show(running: &Running, send: &str) -> Value {
    running.ask(Method::GET, &format!("/api/v1/sends/{send}"), &NOTHING).await.json()
}

/// Waits until this many messages of a finished send have failed.
async fn failed(running: &Running, send: &str, count: u64) {
    until("the send finished", async || {
        let shown = show(running, send).await;
        shown["state"] == "finished" && shown["counts"]["failed"] == count
    })
    .await;
}

/// A send of which three messages failed and one arrived.
async fn three_failed(running: &Running) -> String {
    (0..3).for_each(|number| refuse(running, FAILS + number, 1));
    let numbers = [FAILS, FAILS + 1, FAILS + 2, ARRIVES];
    let body = json!({ "type": "text", "message": "hi", "phone_number": numbers });
    let (status, sent) = running.send(&body).await;
    assert_eq!(status, 202, "{sent}");
    let send = sent["send_id"].as_str().unwrap().to_owned();
    failed(running, &send, 3).await;
    send
}

async fn retry(running: &Running, send: &str, query: &str, body: &Value) -> Answer {
    running.ask(Method::POST, &format!("/api/v1/sends/{send}/retry{query}"), body).await
}

/// The id of an accepted retry with this many recipients.
fn accepted(answer: &Answer, recipients: u64) -> String {
    let told = answer.json();
    assert_eq!((answer.status, &told["recipients_count"]), (202, &json!(recipients)), "{told}");
    told["send_id"].as_str().unwrap().to_owned()
}

/// The retry is refused, because this many recipients have the message from another send.
fn skipped_all(answer: &Answer, count: u64) {
    let told = answer.json();
    assert_eq!((answer.status, &told["code"]), (400, &json!("no_valid_recipients")), "{told}");
    assert_eq!(told["skipped_count"], count, "{told}");
    for entry in told["skipped"].as_array().unwrap() {
        assert_eq!(entry["code"], "already_retried", "{told}");
    }
}

async fn a_retry_posted_twice_sends_once_and_the_send_names_it(universe: &Universe) {
    let running = Running::start(universe, |_| ()).await;
    let send = three_failed(&running).await;
    assert_eq!(show(&running, &send).await["retried_by"], json!([]));
    let retried = accepted(&retry(&running, &send, "", &NOTHING).await, 3);
    let again = retry(&running, &send, "", &NOTHING).await;
    skipped_all(&again, 3);
    let sentence = again.json()["error"].as_str().unwrap().to_owned();
    assert!(sentence.contains(&format!("3 entries: has this message from the send {retried}")), "{sentence}");
    skipped_all(&retry(&running, &send, "?dry_run=true", &NOTHING).await, 3);
    running.settled(4).await;
    skipped_all(&retry(&running, &send, "", &NOTHING).await, 3);
    assert_eq!(running.delivered(), (4, 4), "each recipient has one message");

    let shown = show(&running, &send).await;
    assert_eq!(shown["retried_by"], json!([retried]), "{shown}");
    let of_retry = show(&running, &retried).await;
    assert_eq!((&of_retry["retry_of"], &of_retry["retried_by"]), (&json!(send), &json!([])));
    let list = running.ask(Method::GET, "/api/v1/sends", &NOTHING).await.json();
    assert_eq!(list["data"][1]["retried_by"], json!([retried]), "{list}");
    assert_eq!(list["totalRecords"], 2);
    running.end().await;
}

async fn retries_that_are_posted_at_the_same_moment_send_once(universe: &Universe) {
    let running = Running::start(universe, |_| ()).await;
    let send = three_failed(&running).await;
    let path = format!("/api/v1/sends/{send}/retry");
    let posted = (0..6).map(|_| running.begin(Method::POST, &path, &json!({})));
    let answers: Vec<_> = join_all(posted).await.into_iter().map(Result::unwrap).collect();
    let (done, refused): (Vec<_>, Vec<_>) = answers.iter().partition(|answer| answer.status == 202);
    assert_eq!(done.len(), 1, "{:?}", answers.iter().map(|answer| &answer.body).collect::<Vec<_>>());
    for answer in refused {
        match answer.code().as_deref() {
            Some("retry_in_progress") => {
                assert_eq!((answer.status, answer.header("retry-after")), (409, "1"));
            }
            _ => skipped_all(answer, 3),
        }
    }
    running.settled(4).await;
    assert_eq!(running.delivered(), (4, 4), "each recipient has one message");
    let list = running.ask(Method::GET, &format!("/api/v1/sends?retry_of={send}"), &NOTHING).await.json();
    assert_eq!(list["totalRecords"], 1, "{list}");
    running.end().await;
}

async fn a_message_whose_retry_failed_is_sent_again_once_by_whichever_send_it_is_asked_of(
    universe: &Universe,
) {
    let running = Running::start(universe, |_| ()).await;
    let send = three_failed(&running).await;
    // The first retry reaches one of the three.
    refuse(&running, FAILS, 1);
    refuse(&running, FAILS + 1, 1);
    let first = accepted(&retry(&running, &send, "", &NOTHING).await, 3);
    failed(&running, &first, 2).await;
    // The second one, of the same send, reaches one of the two that are left; the first one knows of it.
    refuse(&running, FAILS, 1);
    let answer = retry(&running, &send, "", &NOTHING).await;
    let second = accepted(&answer, 2);
    let told = answer.json();
    assert_eq!(told["skipped_count"], 1, "{told}");
    assert_eq!(told["skipped"][0]["input"], format!("+{}", FAILS + 2), "{told}");
    failed(&running, &second, 1).await;
    let third = accepted(&retry(&running, &first, "", &NOTHING).await, 1);
    running.settled(4).await;
    for relative in [&send, &first, &second] {
        let answer = retry(&running, relative, "", &NOTHING).await;
        assert_eq!(answer.code().as_deref(), Some("no_valid_recipients"), "{}", answer.body);
    }
    assert_eq!(running.delivered(), (4, 4), "each recipient has one message");
    assert_eq!(show(&running, &send).await["retried_by"], json!([second, first]));
    assert_eq!(show(&running, &first).await["retried_by"], json!([third]));
    running.end().await;
}
