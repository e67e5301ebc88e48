//! Messages that did not arrive, sent again by a new send.

use pombo::clock::Timestamp;
use pombo::domain::channel::{Kind, Status};
use pombo::domain::message::State as At;
use pombo::domain::phone::PhoneNumber;
use pombo::domain::suppression::Suppression;
use pombo::store::changes::Who;
use reqwest::Method;
use serde_json::{Value, json};
use uuid::Uuid;

use super::past_send::{FIRST, Past};
use super::world::World;
use crate::harness::{Answer, Company, Service};
use crate::running::until;

/// The ordinals are the places in this list.
const MESSAGES: [(At, Option<i64>); 9] = [
    (At::Sent, None),
    (At::Failed, Some(131_026)),
    (At::Delivered, None),
    (At::Failed, Some(131_049)),
    (At::Read, None),
    (At::Expired, None),
    (At::Suppressed, None),
    (At::Unknown, None),
    (At::Failed, Some(131_026)),
];

async fn shop(service: &Service, company: &Company) -> Uuid {
    service.channel(company, Kind::BusinessAccount, "shop", Status::Connected).await.id
}

async fn retry(service: &Service, company: &Company, send: Uuid, query: &str, body: &Value) -> Answer {
    service.post(&format!("/api/v1/sends/{send}/retry{query}"), &company.key, body.to_string()).await
}

/// The recipients of a send, as differences from [`FIRST`].
async fn recipients(service: &Service, company: &Company, send: &Value) -> Vec<u64> {
    let path = format!("/api/v1/sends/{}/messages?limit=1000", send.as_str().unwrap());
    let messages = service.get(&path, &company.key).await.json();
    let number =
        |message: &Value| message["recipient"].as_str().unwrap()[1..].parse::<u64>().unwrap() - FIRST;
    messages["data"].as_array().unwrap().iter().map(number).collect()
}

#[tokio::test]
async fn a_retry_goes_to_those_whose_messages_did_not_arrive_and_to_nobody_else() {
    let service = Service::start().await;
    let acme = service.company("acme").await;
    let channel = shop(&service, &acme).await;
    for (body, expected) in [
        (json!({}), vec![1, 3, 5, 8]),
        (json!({"state": "failed"}), vec![1, 3, 8]),
        (json!({"error_code": 131_026}), vec![1, 8]),
        (json!({"error_code": ["131026", 131_049]}), vec![1, 3, 8]),
        (json!({"state": ["unknown", "suppressed"]}), vec![6, 7]),
        (json!({"state": "expired"}), vec![5]),
    ] {
        let failed = Past::text(&service, &acme, channel).with(&MESSAGES).await;
        let dry_run = retry(&service, &acme, failed, "?dry_run=true", &body).await;
        let told = dry_run.json();
        assert_eq!(dry_run.status, 200, "{body}: {told}");
        assert_eq!(told["recipients_count"], expected.len(), "{body}");
        assert!(told["estimated_end"].is_string() && told["dry_run"] == true, "{told}");

        let accepted = retry(&service, &acme, failed, "", &body).await;
        let told = accepted.json();
        assert_eq!((accepted.status, &told["recipients_count"]), (202, &json!(expected.len())), "{body}");
        assert_eq!(recipients(&service, &acme, &told["send_id"]).await, expected, "{body}");
        let path = format!("/api/v1/sends/{}", told["send_id"].as_str().unwrap());
        let shown = service.get(&path, &acme.key).await.json();
        assert_eq!((&shown["retry_of"], &shown["type"]), (&json!(failed), &json!("text")), "{body}");
        assert_eq!((&shown["channel_id"], &shown["state"]), (&json!(channel), &json!("active")), "{body}");
        let repeats = service.get(&format!("/api/v1/sends?retry_of={failed}"), &acme.key).await.json();
        assert_eq!(repeats["totalRecords"], 1, "the dry run queued nothing: {repeats}");
    }
    let none = service.get(&format!("/api/v1/sends?retry_of={}", Uuid::nil()), &acme.key).await.json();
    assert_eq!(none["totalRecords"], 0);
}

#[tokio::test]
async fn unattempted_messages_are_sent_again_on_request() {
    let service = Service::start().await;
    let acme = service.company("acme").await;
    let channel = shop(&service, &acme).await;
    let numbers: Vec<_> = (0..5).map(|ordinal| FIRST + ordinal).collect();
    let later = Timestamp::now().plus(std::time::Duration::from_secs(3_600)).to_string();
    let body = json!({"type": "text", "message": "x", "phone_number": numbers, "send_at": later});
    let sent = service.post(&World::send(channel), &acme.key, body.to_string()).await.json();
    let send: Uuid = sent["send_id"].as_str().unwrap().parse().unwrap();
    let still_to_go = retry(&service, &acme, send, "", &json!({"state": ["canceled", "unknown"]})).await;
    assert_eq!(
        still_to_go.code().as_deref(),
        Some("no_valid_recipients"),
        "no message of the send has ended"
    );
    service.post(&format!("/api/v1/sends/{send}/cancel"), &acme.key, "").await;
    assert_eq!(
        retry(&service, &acme, send, "", &json!({})).await.code().as_deref(),
        Some("no_valid_recipients")
    );
    let accepted = retry(&service, &acme, send, "", &json!({"state": "canceled"})).await;
    assert_eq!(accepted.status, 202, "{}", accepted.body);
    assert_eq!(recipients(&service, &acme, &accepted.json()["send_id"]).await, [0, 1, 2, 3, 4]);
}

#[tokio::test]
async fn a_retry_skips_recipients_who_opted_out_since() {
    let service = Service::start().await;
    let acme = service.company("acme").await;
    let channel = shop(&service, &acme).await;
    let failed = Past::text(&service, &acme, channel).with(&MESSAGES).await;
    let number = PhoneNumber::from_u64(FIRST + 3).unwrap();
    service
        .store()
        .of(acme.id)
        .suppressions()
        .add(&Who::Pombo, number, Suppression::Everything)
        .await
        .unwrap();
    let body = json!({"state": "failed"});
    until("the suppression seen", async || {
        retry(&service, &acme, failed, "?dry_run=true", &body).await.json()["skipped_count"] == 1
    })
    .await;
    let accepted = retry(&service, &acme, failed, "", &body).await.json();
    assert_eq!(accepted["skipped"][0]["reason"], "is on the company's suppression list");
    assert_eq!(recipients(&service, &acme, &accepted["send_id"]).await, [1, 8]);
    let only = retry(&service, &acme, failed, "", &json!({"error_code": 131_049})).await;
    assert_eq!((only.status, only.code().as_deref()), (400, Some("no_valid_recipients")), "{}", only.body);
}

#[tokio::test]
async fn a_retry_is_refused_like_the_send_that_it_would_be() {
    let world = World::new().await;
    let (service, acme) = (&world.service, &world.acme);
    let past = |channel| Past::text(service, acme, channel);
    let refused = async |send: Uuid, body: Value| {
        for query in ["?dry_run=true", ""] {
            let answer = retry(service, acme, send, query, &body).await;
            assert!(answer.status >= 400, "{}", answer.body);
            if query.is_empty() {
                return (answer.status, answer.code().unwrap());
            }
        }
        unreachable!()
    };
    let is = |status, code: &str| (status, code.to_owned());
    let disconnected = past(world.disconnected).with(&MESSAGES).await;
    assert_eq!(refused(disconnected, json!({})).await, is(400, "reconnect_waba"));
    let arrived = past(world.connected).with(&MESSAGES[..1]).await;
    assert_eq!(refused(arrived, json!({})).await, is(400, "no_valid_recipients"));
    let failed = past(world.connected).with(&MESSAGES).await;
    assert_eq!(refused(failed, json!({"error_code": 7})).await, is(400, "no_valid_recipients"));
    assert_eq!(refused(failed, json!([])).await, is(400, "invalid_body"));
    assert_eq!(refused(failed, json!({"state": "sent"})).await, is(400, "invalid_field"));
    let expired = json!({"expires_at": "2020-01-01T00:00:00Z"});
    assert_eq!(refused(failed, expired).await, is(400, "invalid_schedule"));
    let web = past(world.web).with(&MESSAGES).await;
    assert_eq!(refused(web, json!({})).await, is(404, "channel_not_found"));
    assert_eq!(refused(world.foreign_send, json!({})).await, is(404, "send_not_found"));
    assert_eq!(refused(Uuid::nil(), json!({})).await, is(404, "send_not_found"));
}

#[tokio::test]
async fn a_retry_looks_its_template_up_again() {
    let world = World::new().await;
    let (service, acme) = (&world.service, &world.acme);
    let content = json!({
        "type": "template", "name": "shipped", "language": "pt_BR",
        "components": [{"type": "body", "parameters": [
            {"type": "text", "text": "Ana"}, {"type": "text", "text": "7"},
        ]}],
    });
    // The type comes first, as the service writes it.
    let body = content["components"].to_string();
    let content = format!(r#"{{"type":"template","name":"shipped","language":"pt_BR","components":{body}}}"#);
    let past = Past { content, template: Some(world.approved), ..Past::text(service, acme, world.connected) };
    let failed = past.with(&MESSAGES).await;
    let accepted = retry(service, acme, failed, "", &json!({})).await;
    assert_eq!(accepted.status, 202, "{}", accepted.body);
    let path = format!("/api/v1/sends/{}", accepted.json()["send_id"].as_str().unwrap());
    let shown = service.get(&path, &acme.key).await.json();
    assert_eq!(shown["template"]["id"], world.approved);
    service.templates(acme, &[("shipped", "pt_BR", "PAUSED")]).await;
    let refused = retry(service, acme, failed, "", &json!({})).await;
    assert_eq!((refused.status, refused.code().as_deref()), (400, Some("template_not_approved")));
}

#[tokio::test]
async fn a_retry_under_a_key_is_carried_out_once() {
    let service = Service::start().await;
    let acme = service.company("acme").await;
    let failed = Past::text(&service, &acme, shop(&service, &acme).await).with(&MESSAGES).await;
    let post = async |body: &str| {
        let request = service.request(Method::POST, &format!("/api/v1/sends/{failed}/retry"));
        let request = request.bearer_auth(&acme.key).header("idempotency-key", "k");
        Answer::to(request.body(body.to_owned())).await
    };
    let first = post("{}").await;
    assert_eq!((first.status, first.header("idempotency-replayed")), (202, ""), "{}", first.body);
    let again = post("{}").await;
    assert_eq!((again.status, again.header("idempotency-replayed")), (202, "true"));
    assert_eq!(again.body, first.body);
    let other = post(r#"{"state":"failed"}"#).await;
    assert_eq!((other.status, other.code().as_deref()), (422, Some("idempotency_key_reused")));
    let repeats = service.get(&format!("/api/v1/sends?retry_of={failed}"), &acme.key).await.json();
    assert_eq!(repeats["totalRecords"], 1);
}

#[tokio::test]
async fn the_failures_of_a_large_send_are_read_in_parts_and_sent_again_whole() {
    const MESSAGES: u64 = 120_000;
    let service = Service::start().await;
    let acme = service.company("acme").await;
    let failed = Past::text(&service, &acme, shop(&service, &acme).await).with_failures(MESSAGES).await;
    let accepted = retry(&service, &acme, failed, "", &json!({"error_code": 131_026})).await;
    let told = accepted.json();
    assert_eq!((accepted.status, &told["recipients_count"]), (202, &json!(MESSAGES / 10)));
    let path = format!("/api/v1/sends/{}/messages", told["send_id"].as_str().unwrap());
    let lines = service.request(Method::GET, &path).bearer_auth(&acme.key);
    let lines = Answer::to(lines.header("accept", "application/x-ndjson")).await;
    let numbers: Vec<_> = lines
        .body
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["recipient"].as_str().unwrap().to_owned())
        .collect();
    let expected: Vec<_> = (0..MESSAGES).step_by(10).map(|ordinal| format!("+{}", FIRST + ordinal)).collect();
    assert_eq!(numbers, expected);
}
