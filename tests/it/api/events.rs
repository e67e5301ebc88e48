//! The events of a company by the API, on both databases.

use std::collections::HashSet;
use std::time::Duration;

use pombo::store::event_log::LogBounds;
use reqwest::Method;
use reqwest::header::ACCEPT;
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::database::{Universe, stores};
use crate::running::{Running, until};

stores! {
    a_program_that_follows_its_cursor_gets_each_event_once,
    a_request_waits_for_the_next_event,
    an_opt_out_by_the_api_and_its_end_are_events,
    events_come_as_lines_and_as_a_stream_that_goes_on_after_a_break,
    what_is_asked_for_is_checked,
    a_cursor_whose_events_are_gone_says_where_the_log_begins,
    a_service_that_stops_ends_streams_and_answers_those_who_wait,
}

const FIRST: u64 = 5_511_900_000_000;
const NOTHING: Value = Value::Null;
const LONG: Duration = Duration::from_secs(60);

async fn events(running: &Running, query: &str) -> Value {
    let answer = running.ask(Method::GET, &format!("/api/v1/events?{query}"), &NOTHING).await;
    assert_eq!(answer.status, 200, "{query}: {}", answer.body);
    answer.json()
}

fn cursor(page: &Value) -> String {
    page["next_cursor"].as_str().unwrap().to_owned()
}

/// The type of each event.
fn types(page: &Value) -> Vec<&str> {
    page["data"].as_array().unwrap().iter().map(|event| event["type"].as_str().unwrap()).collect()
}

/// Sends a message to one person.
async fn send(running: &Running, ordinal: u64) -> String {
    let body =
        json!({ "type": "text", "message": "a secret", "phone_number": (FIRST + ordinal).to_string() });
    let (status, answer) = running.send(&body).await;
    assert_eq!(status, 202, "{answer}");
    answer["send_id"].as_str().unwrap().to_owned()
}

async fn a_program_that_follows_its_cursor_gets_each_event_once(universe: &Universe) {
    const CONTACTS: u64 = 30;
    let running = Running::start(universe, |_| {}).await;
    let tag = running.tag("everyone", FIRST, CONTACTS).await;
    // Before the first reading, nothing is written.
    running.send_to_tag(tag, CONTACTS).await;
    running.settled(CONTACTS).await;
    let begun = events(&running, "").await;
    assert_eq!((&begun["data"], &begun["has_more"]), (&json!([]), &json!(false)));

    running.send_to_tag(tag, CONTACTS).await;
    let (mut after, mut ids, mut recipients, mut last) = (cursor(&begun), HashSet::new(), HashSet::new(), 0);
    let mut is_finished = false;
    while !is_finished {
        let page = events(&running, &format!("after={after}&limit=7&wait=60s")).await;
        assert!(page["data"].as_array().unwrap().len() <= 7, "{page}");
        for event in page["data"].as_array().unwrap() {
            assert_eq!(
                (&event["company_id"], &event["channel_id"]),
                (&json!(running.company), &json!(running.channel))
            );
            assert!(ids.insert(event["id"].clone()), "twice: {event}");
            let sequence = event["sequence"].as_u64().unwrap();
            assert!(std::mem::replace(&mut last, sequence) < sequence, "{event}");
            assert!(!event.to_string().contains("secret"), "{event}");
            is_finished |= event["type"] == "send.finished";
            if event["type"] == "message.sent" {
                recipients.insert(event["data"]["recipient"].clone());
            }
        }
        after = cursor(&page);
    }
    assert_eq!(recipients.len() as u64, CONTACTS);
    // The oldest kept event is the first that was written.
    let all = events(&running, "limit=1000").await;
    assert_eq!(all["data"].as_array().unwrap().len(), ids.len());
    let finished = events(&running, "types=send.*").await;
    assert_eq!(types(&finished), ["send.finished"]);
    assert_eq!(events(&running, "after=latest").await["data"], json!([]));
    let elsewhere = format!("channel_id={}", uuid::Uuid::nil());
    let none = events(&running, &elsewhere).await;
    assert_eq!((&none["data"], cursor(&none) >= after), (&json!([]), true));
    running.end().await;
}

async fn a_request_waits_for_the_next_event(universe: &Universe) {
    let running = Running::start(universe, |_| {}).await;
    let begun = cursor(&events(&running, "").await);
    let after = cursor(&events(&running, &format!("after={begun}&wait=1ms")).await);
    let query = format!("after={after}&types=send.finished&wait=60s");
    let waiting = events(&running, &query);
    let (page, send_id) = tokio::join!(waiting, send(&running, 1));
    assert_eq!(types(&page), ["send.finished"]);
    let data = json!({ "send_id": send_id, "recipients_count": 1, "reference": null });
    assert_eq!(page["data"][0]["data"], data);
    running.end().await;
}

async fn an_opt_out_by_the_api_and_its_end_are_events(universe: &Universe) {
    let running = Running::start(universe, |_| {}).await;
    let after = cursor(&events(&running, "").await);
    let body = json!({ "phone_number": "+55 11 98888-0001", "left_out_of": "everything" });
    for status in [201, 200] {
        let answer = running.ask(Method::POST, "/api/v1/suppressions", &body).await;
        assert_eq!(answer.status, status, "{}", answer.body);
    }
    let lifted = running.ask(Method::DELETE, "/api/v1/suppressions/5511988880001", &NOTHING).await;
    assert_eq!(lifted.status, 204, "{}", lifted.body);

    let page = events(&running, &format!("after={after}&types=contact.*&wait=60s")).await;
    assert_eq!(types(&page), ["contact.opted_out", "contact.opted_in"]);
    let data = json!({ "number": "+5511988880001", "scope": "everything", "source": "operator" });
    for event in page["data"].as_array().unwrap() {
        assert_eq!(
            (&event["data"], &event["company_id"], &event["channel_id"]),
            (&data, &json!(running.company), &NOTHING)
        );
    }
    running.end().await;
}

async fn events_come_as_lines_and_as_a_stream_that_goes_on_after_a_break(universe: &Universe) {
    let running = Running::start(universe, |_| {}).await;
    events(&running, "").await;
    for ordinal in 0..3 {
        send(&running, ordinal).await;
    }
    running.settled(3).await;
    until("three sends finished", async || types(&events(&running, "types=send.finished").await).len() == 3)
        .await;
    let all = events(&running, "").await;
    let request = |accept: &str| running.request(Method::GET, "/api/v1/events").header(ACCEPT, accept);
    let lines = request("application/x-ndjson").send().await.unwrap().text().await.unwrap();
    let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(json!(lines), all["data"]);

    let third = all["data"][2]["sequence"].to_string();
    let mut stream = request("text/event-stream").header("Last-Event-ID", &third).send().await.unwrap();
    assert_eq!(stream.headers()["content-type"], "text/event-stream");
    let mut read = String::new();
    let wanted = all["data"].as_array().unwrap().len() - 3;
    while read.matches("\ndata: ").count() < wanted {
        let part = timeout(LONG, stream.chunk()).await.unwrap().unwrap().unwrap();
        read.push_str(std::str::from_utf8(&part).unwrap());
    }
    assert!(read.starts_with("retry: "), "{read}");
    for event in &all["data"].as_array().unwrap()[3..] {
        let said = format!(
            "id: {}\nevent: {}\ndata: {}\n\n",
            event["sequence"],
            event["type"].as_str().unwrap(),
            serde_json::to_string(event).unwrap()
        );
        let id = said.lines().next().unwrap();
        assert!(read.contains(id) && read.contains(said.lines().nth(1).unwrap()), "{said} in {read}");
    }
    send(&running, 4).await;
    while !read.contains(&format!("+{}", FIRST + 4)) {
        let part = timeout(LONG, stream.chunk()).await.unwrap().unwrap().unwrap();
        read.push_str(std::str::from_utf8(&part).unwrap());
    }
    drop(stream);
    running.end().await;
}

async fn what_is_asked_for_is_checked(universe: &Universe) {
    let running = Running::start(universe, |_| {}).await;
    for (query, words) in [
        ("after=x", "latest"),
        ("after=-1", "latest"),
        ("types=message.send", "did you mean `message.sent`?"),
        ("types=message.sent,", "has no type ``"),
        ("types=*", "has no type `*`"),
        ("channel_id=7", "UUID"),
        ("wait=61s", "at most 60s"),
    ] {
        let answer = running.ask(Method::GET, &format!("/api/v1/events?{query}"), &NOTHING).await;
        assert_eq!((answer.status, answer.code().as_deref()), (400, Some("invalid_field")), "{query}");
        assert!(answer.body.contains(words), "{query}: {}", answer.body);
    }
    for query in ["limit=0", "limit=1001"] {
        let answer = running.ask(Method::GET, &format!("/api/v1/events?{query}"), &NOTHING).await;
        assert_eq!((answer.status, answer.code().as_deref()), (400, Some("invalid_pagination")), "{query}");
    }
    // A place that no log has reached yet has nothing after it.
    let far = events(&running, "after=9007199254740991").await;
    assert_eq!(far["data"], json!([]));
    running.end().await;
}

async fn a_cursor_whose_events_are_gone_says_where_the_log_begins(universe: &Universe) {
    let running = Running::start(universe, |_| {}).await;
    let begun = cursor(&events(&running, "").await);
    send(&running, 1).await;
    until("the send finished", async || types(&events(&running, "types=send.finished").await).len() == 1)
        .await;
    running.store.event_log().trim(LogBounds { before: None, bytes: 1 }).await.unwrap();
    let path = format!("/api/v1/events?after={begun}");
    let expired = running.ask(Method::GET, &path, &NOTHING).await;
    assert_eq!(
        (expired.status, expired.code().as_deref()),
        (410, Some("cursor_expired")),
        "{}",
        expired.body
    );
    let beginning = expired.body.split("`after=").nth(1).unwrap().split('`').next().unwrap().to_owned();
    assert_eq!(events(&running, &format!("after={beginning}")).await["data"], json!([]));
    assert_eq!(events(&running, "").await["data"], json!([]), "the oldest kept event");
    running.end().await;
}

async fn a_service_that_stops_ends_streams_and_answers_those_who_wait(universe: &Universe) {
    let running = Running::start(universe, |_| {}).await;
    let stream = running.request(Method::GET, "/api/v1/events").header(ACCEPT, "text/event-stream");
    let mut stream = stream.send().await.unwrap();
    timeout(LONG, stream.chunk()).await.unwrap().unwrap().unwrap();
    let ask = async {
        let waiting = events(&running, "types=send.finished&wait=60s").await;
        assert_eq!(waiting["data"], json!([]));
    };
    let stop = async {
        tokio::task::yield_now().await;
        running.engine().events().release_callers();
    };
    timeout(LONG / 2, async { tokio::join!(ask, stop) }).await.expect("an answer before its time is over");
    // What happens meanwhile is still told.
    let ended = async { while stream.chunk().await.unwrap().is_some() {} };
    timeout(LONG, ended).await.expect("the end of the stream");
    running.end().await;
}
