//! A send's messages: pages of them, and all of them as lines.

use pombo::clock::Timestamp;
use pombo::domain::channel::{Kind, Status};
use pombo::domain::contact::Person;
use pombo::domain::message::State as At;
use reqwest::Method;
use sea_orm::{ActiveModelTrait as _, ActiveValue::Set, Database};
use serde_json::{Value, json};
use uuid::Uuid;

use super::past_send::Past;
use super::world::World;
use crate::harness::{Answer, Company, Service};
use crate::running::until;

const RECIPIENTS: u64 = 10_000;
const FIRST: u64 = 5_511_900_000_000;

/// Makes a send to many contacts and cancels it, so that its messages no longer change. Returns the path of
/// its messages.
async fn canceled_send(service: &Service, company: &Company) -> String {
    let channel = service.channel(company, Kind::BusinessAccount, "shop", Status::Connected).await.id;
    let store = service.store();
    let tag = store.of(company.id).tags().ensure("everyone", None).await.unwrap();
    let people: Vec<_> = (FIRST..FIRST + RECIPIENTS)
        .map(|number| (Uuid::now_v7(), Person { phone_number: number.to_string(), ..Person::default() }))
        .collect();
    store.of(company.id).contacts().add(&people, &[tag], Timestamp::now()).await.unwrap();
    let body = json!({"type": "text", "message": "x", "contact_tag_id": tag}).to_string();
    let sent = service.post(&World::send(channel), &company.key, body).await.json();
    assert_eq!(sent["recipients_count"], RECIPIENTS);
    let path = format!("/api/v1/sends/{}", sent["send_id"].as_str().unwrap());
    let canceled = service.post(&format!("{path}/cancel"), &company.key, "").await;
    assert_eq!(canceled.json()["state"], "canceled", "{}", canceled.body);
    // Messages under way end a moment later.
    until("every message canceled", async || {
        service.get(&path, &company.key).await.json()["counts"]["canceled"] == RECIPIENTS
    })
    .await;
    format!("{path}/messages")
}

async fn lines(service: &Service, company: &Company, path: &str) -> Answer {
    let request = service.request(Method::GET, path).bearer_auth(&company.key);
    Answer::to(request.header("accept", "application/x-ndjson")).await
}

fn numbers(messages: &[Value]) -> Vec<(u64, String)> {
    let number = |it: &Value| (it["ordinal"].as_u64().unwrap(), it["recipient"].as_str().unwrap().to_owned());
    messages.iter().map(number).collect()
}

fn expected(ordinals: std::ops::Range<u64>) -> Vec<(u64, String)> {
    ordinals.map(|ordinal| (ordinal, format!("+{}", FIRST + ordinal))).collect()
}

#[tokio::test]
async fn all_messages_come_as_lines_one_for_each_recipient() {
    let service = Service::start().await;
    let acme = service.company("acme").await;
    let path = canceled_send(&service, &acme).await;
    let answer = lines(&service, &acme, &format!("{path}?page=x")).await;
    assert_eq!((answer.status, answer.header("content-type")), (200, "application/x-ndjson"));
    assert_eq!(answer.header("content-length"), "", "the answer is streamed");
    assert!(answer.body.ends_with("}\n"));
    let messages: Vec<Value> = answer.body.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(numbers(&messages), expected(0..RECIPIENTS));
    let last = json!({
        "ordinal": RECIPIENTS - 1, "recipient": format!("+{}", FIRST + RECIPIENTS - 1), "state": "canceled",
        "attempts": 0, "provider_message_id": null, "error": null, "retry_at": null, "updated_at": null,
    });
    assert_eq!(messages.last(), Some(&last));

    let none = lines(&service, &acme, &format!("{path}?state=read")).await;
    assert_eq!((none.status, none.body.as_str()), (200, ""));
    let canceled = lines(&service, &acme, &format!("{path}?state=canceled")).await;
    let of_state = messages.iter().filter(|message| message["state"] == "canceled").count();
    assert_eq!(canceled.body.lines().count(), of_state);
    let wrong = lines(&service, &acme, &format!("{path}?state=gone")).await;
    assert_eq!((wrong.status, wrong.code().as_deref()), (400, Some("invalid_field")));
}

#[tokio::test]
async fn a_page_of_messages_is_in_the_envelope_of_every_list() {
    let service = Service::start().await;
    let acme = service.company("acme").await;
    let path = canceled_send(&service, &acme).await;
    let page = async |query: &str| {
        let json = service.get(&format!("{path}?{query}"), &acme.key).await.json();
        let envelope = ["currentPage", "totalPages", "totalRecords"].map(|name| json[name].as_u64().unwrap());
        (numbers(json["data"].as_array().unwrap()), envelope)
    };
    assert_eq!(page("").await, (expected(0..10), [1, 1_000, RECIPIENTS]));
    assert_eq!(page("limit=1000&page=5").await, (expected(4_000..5_000), [5, 10, RECIPIENTS]));
    assert_eq!(page("limit=999&page=11").await, (expected(9_990..RECIPIENTS), [11, 11, RECIPIENTS]));
    assert_eq!(page("limit=999&page=12").await.0, []);
    assert_eq!(page("state=delivered").await, (vec![], [1, 0, 0]));
    let canceled = page("state=canceled&limit=1000&page=10").await;
    assert_eq!(canceled.1[0], 10);
    assert!(canceled.0.iter().all(|(ordinal, _)| *ordinal >= 9_000));

    for (query, code) in [
        ("page=0", "invalid_pagination"),
        ("limit=1001", "invalid_pagination"),
        ("state=Sent", "invalid_field"),
    ] {
        let answer = service.get(&format!("{path}?{query}"), &acme.key).await;
        assert_eq!((answer.status, answer.code().as_deref()), (400, Some(code)), "{query}");
    }
    let globex = service.company("globex").await;
    assert_eq!(lines(&service, &globex, &path).await.code().as_deref(), Some("send_not_found"));
}

#[tokio::test]
async fn a_message_to_a_group_shows_the_group() {
    let service = Service::start().await;
    let acme = service.company("acme").await;
    let channel = service.channel(&acme, Kind::WebSession, "phone", Status::Connected).await.id;
    let database = Database::connect(&service.universe.url).await.unwrap();
    let (id, now) = (Uuid::now_v7(), Timestamp::now().millis());
    let send = entity::send::ActiveModel {
        id: Set(id),
        company_id: Set(acme.id),
        channel_id: Set(channel),
        state: Set(4),
        content: Set(r#"{"type":"text","body":"oi","group":"120363000000000001"}"#.to_owned()),
        recipients: Set(1),
        recipient: Set(Some(0)),
        high_water: Set(0),
        settled: Set(0),
        created_at: Set(now),
        finished_at: Set(Some(now)),
        ..Default::default()
    };
    send.insert(&database).await.unwrap();
    database.close().await.unwrap();
    let path = format!("/api/v1/sends/{id}");
    let shown = service.get(&path, &acme.key).await.json();
    assert_eq!(
        (shown["type"].as_str(), shown["recipients_count"].as_u64()),
        (Some("text"), Some(1)),
        "{shown}"
    );
    let page = service.get(&format!("{path}/messages"), &acme.key).await.json();
    let [message] = &page["data"].as_array().unwrap()[..] else { panic!("{page}") };
    assert_eq!(
        (&message["recipient"], &message["state"]),
        (&json!("120363000000000001@g.us"), &json!("expired"))
    );
    let line = lines(&service, &acme, &format!("{path}/messages")).await;
    assert_eq!(&serde_json::from_str::<Value>(&line.body).unwrap(), message);
}

async fn csv(service: &Service, company: &Company, path: &str) -> (Answer, Vec<Vec<String>>) {
    let request = service.request(Method::GET, path).bearer_auth(&company.key);
    let answer = Answer::to(request.header("accept", "text/csv")).await;
    let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(answer.body.as_bytes());
    let records = reader.records().map(|record| record.unwrap().iter().map(str::to_owned).collect());
    let records = records.collect();
    (answer, records)
}

#[tokio::test]
async fn all_messages_come_as_csv_one_record_for_each_recipient() {
    let service = Service::start().await;
    let acme = service.company("acme").await;
    let path = canceled_send(&service, &acme).await;
    let (answer, records) = csv(&service, &acme, &format!("{path}?page=x")).await;
    let content_type = "text/csv; charset=utf-8; header=present";
    assert_eq!((answer.status, answer.header("content-type")), (200, content_type));
    let file = answer.header("content-disposition");
    assert!(file.starts_with("attachment; filename=\"send-") && file.ends_with(".csv\""), "{file}");
    assert_eq!(answer.header("content-length"), "", "the answer is streamed");
    assert_eq!(answer.body.matches("\r\n").count(), answer.body.lines().count());
    let (head, records) = records.split_first().unwrap();
    assert_eq!(head[..4], ["ordinal", "recipient", "state", "attempts"]);
    let expected = (0..RECIPIENTS).map(|ordinal| [ordinal.to_string(), (FIRST + ordinal).to_string()]);
    assert!(expected.eq(records.iter().map(|record| [record[0].clone(), record[1].clone()])));
    assert_eq!(records[7], ["7", &(FIRST + 7).to_string(), "canceled", "0", "", "", "", "", "", ""]);

    let (_, canceled) = csv(&service, &acme, &format!("{path}?state=canceled")).await;
    assert_eq!(canceled.len(), records.len() + 1);
    let (none, only_head) = csv(&service, &acme, &format!("{path}?state=read")).await;
    assert_eq!((none.status, only_head.len()), (200, 1));
    let (wrong, _) = csv(&service, &acme, &format!("{path}?error_code=x")).await;
    assert_eq!((wrong.status, wrong.code().as_deref()), (400, Some("invalid_field")));
    let globex = service.company("globex").await;
    assert_eq!(csv(&service, &globex, &path).await.0.code().as_deref(), Some("send_not_found"));
}

#[tokio::test]
async fn messages_are_found_by_the_code_of_their_error_and_no_cell_is_a_formula() {
    let service = Service::start().await;
    let acme = service.company("acme").await;
    let channel = service.channel(&acme, Kind::BusinessAccount, "shop", Status::Connected).await.id;
    let messages = [(At::Failed, Some(131_026)), (At::Sent, None), (At::Failed, Some(131_026))];
    let messages = [&messages[..], &[(At::Failed, Some(-7)), (At::Queued, Some(131_026))]].concat();
    let send = Past::text(&service, &acme, channel).with(&messages).await;
    let path = format!("/api/v1/sends/{send}/messages");
    let ordinals = async |query: &str| {
        let page = service.get(&format!("{path}?{query}"), &acme.key).await.json();
        let found: Vec<_> =
            numbers(page["data"].as_array().unwrap()).into_iter().map(|found| found.0).collect();
        (found, page["totalRecords"].as_u64().unwrap())
    };
    assert_eq!(ordinals("error_code=131026").await, (vec![0, 2, 4], 3));
    assert_eq!(ordinals("error_code=131026&state=failed").await, (vec![0, 2], 2));
    assert_eq!(ordinals("error_code=131026&limit=1&page=2").await, (vec![2], 3));
    assert_eq!(ordinals("error_code=-7").await, (vec![3], 1));
    assert_eq!(ordinals("error_code=131026&state=sent").await, (vec![], 0));
    let (_, records) = csv(&service, &acme, &format!("{path}?error_code=-7")).await;
    assert_eq!(records.len(), 2);
    assert_eq!(records[1][4..7], ["", "-7", "'=words of -7"]);
    let all = lines(&service, &acme, &format!("{path}?error_code=131026&state=failed")).await;
    assert_eq!(all.body.lines().count(), 2);
}
