//! A send in figures, one message's journey, and the list of sends by what they went to.

use pombo::clock::Timestamp;
use pombo::domain::channel::{Kind, Status};
use pombo::domain::message::State as At;
use serde_json::{Value, json};
use uuid::Uuid;

use super::past_send::{BEGAN, FIRST, Past};
use super::world::World;
use crate::harness::{Company, Service};
use crate::running::until_soon;

const MESSAGES: [(At, Option<i64>); 6] = [
    (At::Sent, None),
    (At::Failed, Some(131_026)),
    (At::Delivered, None),
    (At::Failed, Some(131_049)),
    (At::Expired, None),
    (At::Failed, Some(131_026)),
];

async fn shop(service: &Service, company: &Company) -> Uuid {
    service.channel(company, Kind::BusinessAccount, "shop", Status::Connected).await.id
}

fn ids(list: &Value) -> Vec<&str> {
    list["data"].as_array().unwrap().iter().map(|send| send["id"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn messages_that_did_not_arrive_are_counted_by_cause_and_those_that_went_by_time() {
    let service = Service::start().await;
    let acme = service.company("acme").await;
    let send = Past::text(&service, &acme, shop(&service, &acme).await).with(&MESSAGES).await;
    let failures = service.get(&format!("/api/v1/sends/{send}/failures"), &acme.key).await;
    assert_eq!(failures.status, 200, "{}", failures.body);
    let expected = json!([
        {"state": "failed", "error_code": 131_026, "error": "=words of 131026", "messages": 2},
        {"state": "failed", "error_code": 131_049, "error": "=words of 131049", "messages": 1},
        {"state": "expired", "error_code": null, "error": null, "messages": 1},
    ]);
    assert_eq!(failures.json()["data"], expected);
    let pace = service.get(&format!("/api/v1/sends/{send}/pace"), &acme.key).await.json();
    assert_eq!(pace["step_seconds"], 1);
    let at = |second: i64| Timestamp::from_millis(BEGAN.millis() + 1_000 * second).to_string();
    let expected = json!([
        {"at": at(0), "messages": 1}, {"at": at(1), "messages": 0}, {"at": at(2), "messages": 1},
    ]);
    assert_eq!(pace["data"], expected);
}

#[tokio::test]
async fn a_large_send_is_counted_once_for_all_callers() {
    const MESSAGES: u64 = 120_000;
    let service = Service::start().await;
    let acme = service.company("acme").await;
    let send = Past::text(&service, &acme, shop(&service, &acme).await).with_failures(MESSAGES).await;
    let ask = async |what: &str| service.get(&format!("/api/v1/sends/{send}/{what}"), &acme.key).await.json();
    let (failures, pace) = tokio::join!(ask("failures"), ask("pace"));
    assert_eq!(failures["as_of"], pace["as_of"], "one count answers both");
    let counted = json!([
        {"state": "failed", "error_code": 131_026, "error": "not there", "messages": MESSAGES / 10},
    ]);
    assert_eq!(failures["data"], counted);
    assert_eq!(pace["data"].as_array().unwrap().len(), 1);
    assert_eq!(pace["data"][0]["messages"], MESSAGES);
}

#[tokio::test]
async fn a_message_tells_its_journey() {
    let service = Service::start().await;
    let acme = service.company("acme").await;
    let send = Past::text(&service, &acme, shop(&service, &acme).await).with(&MESSAGES).await;
    let steps = async |ordinal: &str| {
        let answer = service.get(&format!("/api/v1/sends/{send}/messages/{ordinal}"), &acme.key).await;
        let told = answer.json();
        let steps = told["steps"].as_array().cloned().unwrap_or_default();
        let steps: Vec<_> = steps.iter().map(|step| (step["step"].clone(), step["at"].clone())).collect();
        (answer, steps)
    };
    let at = |millis: i64| json!(Timestamp::from_millis(BEGAN.millis() + millis).to_string());
    let (delivered, told) = steps("2").await;
    assert_eq!(delivered.json()["message"]["recipient"], format!("+{}", FIRST + 2));
    let expected = [
        (json!("accepted"), at(0)),
        (json!("attempted"), at(2_000)),
        (json!("sent"), at(2_000)),
        (json!("delivered"), at(2_500)),
    ];
    assert_eq!(told, expected);
    let (failed, told) = steps("1").await;
    assert_eq!(told.last(), Some(&(json!("failed"), at(1_500))));
    let error = json!({"code": 131_026, "message": "=words of 131026"});
    assert_eq!(failed.json()["steps"][2]["error"], error);
    for wrong in ["6", "x", "-1", "%00", "99999999999999999999"] {
        let (answer, _) = steps(wrong).await;
        assert_eq!((answer.status, answer.code().as_deref()), (404, Some("message_not_found")), "{wrong}");
    }
}

#[tokio::test]
async fn a_message_says_what_it_waits_for() {
    let service = Service::start().await;
    let acme = service.company("acme").await;
    let later = Timestamp::now().plus(std::time::Duration::from_secs(3_600)).to_string();
    let body = json!({"type": "text", "message": "x", "phone_number": [FIRST, FIRST + 1], "send_at": later});
    let path = World::send(shop(&service, &acme).await);
    let sent = service.post(&path, &acme.key, body.to_string()).await.json();
    let path = format!("/api/v1/sends/{}", sent["send_id"].as_str().unwrap());
    let told = service.get(&format!("{path}/messages/1"), &acme.key).await.json();
    let step = |number: usize| &told["steps"][number];
    assert_eq!((&step(1)["step"], &step(1)["until"]), (&json!("scheduled"), &json!(later)), "{told}");
    assert_eq!((&step(2)["waiting"]["reason"], &step(2)["until"]), (&json!("scheduled"), &json!(later)));
    service.post(&format!("{path}/pause"), &acme.key, "").await;
    let told = service.get(&format!("{path}/messages/1"), &acme.key).await.json();
    assert_eq!(told["steps"][2]["waiting"]["reason"], "paused", "{told}");
}

#[tokio::test]
async fn sends_are_listed_by_tag_and_by_the_time_of_their_acceptance() {
    let service = Service::start().await;
    let acme = service.company("acme").await;
    let (channel, store) = (shop(&service, &acme).await, service.store());
    let (vip, all) = (
        store.of(acme.id).tags().ensure("vip", None).await.unwrap(),
        store.of(acme.id).tags().ensure("all", None).await.unwrap(),
    );
    let person = pombo::domain::contact::Person { phone_number: FIRST.to_string(), ..Default::default() };
    store
        .of(acme.id)
        .contacts()
        .add(&[(Uuid::now_v7(), person)], &[vip, all], Timestamp::now())
        .await
        .unwrap();
    let send = async |fields: Value| {
        let mut body = json!({"type": "text", "message": "x"});
        body.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        let sent = service.post(&World::send(channel), &acme.key, body.to_string()).await.json();
        let id = sent["send_id"].as_str().unwrap().to_owned();
        let shown = service.get(&format!("/api/v1/sends/{id}"), &acme.key).await.json();
        let created_at = shown["created_at"].as_str().unwrap().to_owned();
        let moment = Timestamp::parse(&created_at).unwrap();
        // The next send is accepted at another moment.
        until_soon("a later moment", async || Timestamp::now() > moment).await;
        (id, created_at, shown)
    };
    let (one, _, _) = send(json!({"contact_tag_id": vip})).await;
    let (both, between, shown) = send(json!({"contact_tag_id": [vip, all], "phone_number": FIRST + 9})).await;
    let mut tags = [vip, all];
    tags.sort_unstable();
    assert_eq!(shown["contact_tag_ids"], json!(tags));
    let (none, last, _) = send(json!({"phone_number": FIRST})).await;
    for (query, expected) in [
        (format!("contact_tag_id={vip}"), vec![&both, &one]),
        (format!("contact_tag_id={all}"), vec![&both]),
        (format!("contact_tag_id={all}&state=finished"), vec![]),
        (format!("contact_tag_id={}", Uuid::nil()), vec![]),
        (format!("from={between}"), vec![&none, &both]),
        (format!("to={between}"), vec![&one]),
        (format!("from={between}&to={last}&contact_tag_id={vip}&channel_id={channel}"), vec![&both]),
        ("from=2090-01-01T00:00:00Z".to_owned(), vec![]),
    ] {
        let listed = service.get(&format!("/api/v1/sends?{query}"), &acme.key).await.json();
        assert_eq!(ids(&listed), expected, "{query}");
        assert_eq!(listed["totalRecords"], expected.len(), "{query}");
    }
    for query in ["from=yesterday", "to=2026-01-01", "contact_tag_id=vip", "retry_of=1"] {
        let answer = service.get(&format!("/api/v1/sends?{query}"), &acme.key).await;
        assert_eq!((answer.status, answer.code().as_deref()), (400, Some("invalid_field")), "{query}");
    }
}
