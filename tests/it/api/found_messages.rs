//! The messages to one person, over all sends of a company, on both databases.

use pombo::clock::Timestamp;
use reqwest::Method;
use serde_json::{Value, json};

use crate::database::{Universe, stores};
use crate::running::{Running, until_soon};

stores! {
    messages_to_a_person_are_found_over_all_sends_whatever_form_the_number_has,
    messages_that_were_never_attempted_are_found_too,
    a_search_follows_its_cursor_while_messages_are_added,
}

/// Maria's number as people dial it, and as it was before it got its ninth digit.
const MARIA: &str = "5511988887777";
const MARIA_BEFORE: &str = "551188887777";
const JOAO: &str = "5511977776666";
const NOTHING: Value = Value::Null;

async fn send(running: &Running, to: Value, fields: Value) -> String {
    let mut body = json!({"type": "text", "message": "x", "phone_number": to});
    body.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    let (status, answer) = running.send(&body).await;
    assert_eq!(status, 202, "{answer}");
    answer["send_id"].as_str().unwrap().to_owned()
}

/// The answer to a search.
async fn search(running: &Running, query: &str) -> Value {
    let answer = running.ask(Method::GET, &format!("/api/v1/messages?{query}"), &NOTHING).await;
    assert_eq!(answer.status, 200, "{query}: {}", answer.body);
    answer.json()
}

/// The sends of the messages that a search finds.
async fn found(running: &Running, query: &str) -> Vec<String> {
    let page = search(running, query).await;
    let sends = sends(&page);
    assert_eq!(page["totalRecords"], sends.len() as u64, "{query}");
    sends
}

fn sends(page: &Value) -> Vec<String> {
    let send = |message: &Value| message["send_id"].as_str().unwrap().to_owned();
    page["data"].as_array().unwrap().iter().map(send).collect()
}

async fn messages_to_a_person_are_found_over_all_sends_whatever_form_the_number_has(universe: &Universe) {
    let running = Running::start(universe, |_| {}).await;
    let order = json!({"reference": "order-7"});
    let first = send(&running, json!(MARIA), order.clone()).await;
    let accepted = Timestamp::now();
    until_soon("the clock moved on", async || Timestamp::now() > accepted).await;
    let many: Vec<u64> = (0..40).map(|number| 5_511_900_000_000 + number).collect();
    let with_maria = [json!(many), json!([MARIA_BEFORE])];
    let with_maria: Vec<Value> =
        with_maria.iter().flat_map(|part| part.as_array().unwrap()).cloned().collect();
    let second = send(&running, json!(with_maria), json!({})).await;
    send(&running, json!(JOAO), order).await;
    running.settled(43).await;

    let both = [second.clone(), first.clone()];
    for form in ["5511988887777", "%2B55+11+8888-7777", "+55 (11) 98888.7777", "551188887777"] {
        assert_eq!(found(&running, &format!("recipient={form}")).await, both, "{form}");
    }
    let page = search(&running, &format!("recipient={MARIA}&limit=1&page=2")).await;
    let message = &page["data"][0];
    assert_eq!((&message["recipient"], &message["ordinal"]), (&json!(format!("+{MARIA}")), &json!(0)));
    assert_eq!((&message["reference"], &message["channel_id"]), (&json!("order-7"), &json!(running.channel)));
    assert_eq!(
        (&page["currentPage"], &page["totalPages"], &page["totalRecords"]),
        (&json!(2), &json!(2), &json!(2))
    );
    let older = search(&running, &format!("recipient={MARIA}&limit=1")).await;
    assert_eq!(older["data"][0]["recipient"], format!("+{MARIA_BEFORE}"));

    let accepted = running.ask(Method::GET, &format!("/api/v1/sends/{second}"), &NOTHING).await.json();
    let between = accepted["created_at"].as_str().unwrap().to_owned();
    let narrowed: [(String, &[String]); 9] = [
        ("state=queued".to_owned(), &[]),
        (format!("channel_id={}", running.channel), &both),
        (format!("channel_id={}", uuid::Uuid::nil()), &[]),
        ("reference=order-7".to_owned(), &both[1..]),
        ("reference=order-8".to_owned(), &[]),
        (format!("from={between}"), &both[..1]),
        (format!("to={between}"), &both[1..]),
        ("from=2090-01-01T00:00:00Z".to_owned(), &[]),
        ("to=2020-01-01T00:00:00Z".to_owned(), &[]),
    ];
    for (narrowed, expected) in narrowed {
        assert_eq!(found(&running, &format!("recipient={MARIA}&{narrowed}")).await, expected, "{narrowed}");
    }
    assert_eq!(found(&running, "recipient=5511966665555").await, [""; 0]);
    for (query, code) in [
        ("", "missing_recipient"),
        ("recipient=+", "missing_recipient"),
        ("recipient=12", "invalid_phone_number"),
        ("recipient=5511988887777&state=gone", "invalid_field"),
        ("recipient=5511988887777&channel_id=shop", "invalid_field"),
        ("recipient=5511988887777&from=today", "invalid_field"),
        ("recipient=5511988887777&cursor=x", "invalid_pagination"),
        ("recipient=5511988887777&limit=0", "invalid_pagination"),
    ] {
        let answer = running.ask(Method::GET, &format!("/api/v1/messages?{query}"), &NOTHING).await;
        assert_eq!((answer.status, answer.code().as_deref()), (400, Some(code)), "{query}");
    }
    running.end().await;
}

async fn messages_that_were_never_attempted_are_found_too(universe: &Universe) {
    let running = Running::start(universe, |config| config.engine.block_size = 5).await;
    let later = json!({"send_at": Timestamp::now().plus(std::time::Duration::from_secs(3_600)).to_string()});
    let alone = send(&running, json!(MARIA), later.clone()).await;
    let others: Vec<u64> = (0..40).map(|number| 5_511_970_000_000 + 500_000 * number).collect();
    let with_maria: Vec<Value> =
        others.into_iter().map(|number| json!(number)).chain([json!(MARIA)]).collect();
    let waits = send(&running, json!(with_maria), later.clone()).await;
    let canceled = send(&running, json!(with_maria), later.clone()).await;
    let gone = send(&running, json!(MARIA_BEFORE), later).await;
    for id in [&canceled, &gone] {
        let path = format!("/api/v1/sends/{id}/cancel");
        assert_eq!(running.ask(Method::POST, &path, &NOTHING).await.status, 200);
    }
    let all = [&gone, &canceled, &waits, &alone].map(Clone::clone);
    let of = |query: &str| format!("recipient={MARIA}&{query}");
    assert_eq!(found(&running, &of("")).await, all);
    assert_eq!(found(&running, &of("state=canceled")).await, all[..2]);
    assert_eq!(found(&running, &of("state=queued")).await, all[2..]);
    assert_eq!(found(&running, &of("state=sent")).await, [""; 0]);
    let page = search(&running, &of("state=queued&limit=1")).await;
    let (message, send) = (&page["data"][0], &page["data"][0]["send_id"]);
    let path = format!("/api/v1/sends/{}/messages/{}", send.as_str().unwrap(), message["ordinal"]);
    let same = running.ask(Method::GET, &path, &NOTHING).await.json();
    assert_eq!(
        (&same["message"]["recipient"], &same["message"]["state"]),
        (&message["recipient"], &message["state"])
    );
    assert_eq!(message["recipient"], format!("+{MARIA}"));
    running.end().await;
}

async fn a_search_follows_its_cursor_while_messages_are_added(universe: &Universe) {
    let running = Running::start(universe, |_| {}).await;
    let mut expected = Vec::new();
    for _ in 0..5 {
        expected.insert(0, send(&running, json!(MARIA), json!({})).await);
    }
    running.settled(5).await;
    let (mut seen, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = search(&running, &format!("recipient={MARIA}&limit=2{cursor}")).await;
        seen.extend(sends(&page));
        send(&running, json!(MARIA), json!({})).await;
        let Some(next) = page["next_cursor"].as_str() else { break };
        cursor = format!("&cursor={next}");
    }
    assert_eq!(seen, expected, "each once, although others came");
    let request = reqwest::Client::new()
        .get(format!("{}/api/v1/messages?recipient={MARIA}{cursor}", running.address()));
    let lines = crate::harness::Answer::to(
        request.bearer_auth(&running.key).header("accept", "application/x-ndjson"),
    )
    .await;
    let lines: Vec<Value> = lines.body.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.iter().map(|line| line["send_id"].as_str().unwrap()).collect::<Vec<_>>(), expected[4..]);
    running.end().await;
}
