//! Fields of bodies that are other spellings of known ones: they are refused, and nothing happens.

use pombo::domain::message::State as At;
use reqwest::Method;
use serde_json::{Value, json};
use uuid::Uuid;

use super::past_send::{FIRST, Past};
use super::world::World;
use crate::harness::Answer;

/// The refusal of the field `given`, which suggests `meant`.
fn refused(answer: &Answer, given: &str, meant: &str) {
    let told = answer.json();
    assert_eq!((answer.status, &told["code"]), (400, &json!("unknown_field")), "{given}: {told}");
    assert_eq!(told["param"], given, "{told}");
    assert!(told["error"].as_str().unwrap().ends_with(&format!("did you mean `{meant}`?")), "{told}");
}

#[tokio::test]
async fn a_send_with_a_misspelled_field_is_refused_and_other_unknown_fields_are_accepted() {
    let world = World::new().await;
    let (service, key) = (&world.service, &world.acme.key);
    let path = World::send(world.connected);
    for (given, meant, value) in [
        ("sendAt", "send_at", json!("2090-01-01T00:00:00Z")),
        ("send-at", "send_at", json!("2090-01-01T00:00:00Z")),
        ("contact_tag_ids", "contact_tag_id", json!([Uuid::nil()])),
        ("contactTagId", "contact_tag_id", json!(Uuid::nil())),
        ("phone_numbers", "phone_number", json!(["5511988887777"])),
        ("expires_att", "expires_at", json!("2090-01-01T00:00:00Z")),
        ("mesage", "message", json!("y")),
        ("vioce", "voice", json!(true)),
        ("file_name", "filename", json!("a.pdf")),
        ("TYPE", "type", json!("text")),
    ] {
        let mut body = json!({"type": "text", "message": "x", "phone_number": FIRST.to_string()});
        body[given] = value;
        for path in [path.clone(), format!("{path}?dry_run=true")] {
            refused(&service.post(&path, key, body.to_string()).await, given, meant);
        }
        let web = World::web_send(world.web);
        body["recipient_type"] = json!("number");
        refused(&service.post(&web, key, body.to_string()).await, given, meant);
    }
    // The field comes first: it may be the reason why another one is missing.
    refused(&service.post(&path, key, r#"{"Type": "text"}"#).await, "Type", "type");
    let invalid = service.post(&path, key, r#"{"Type": "text"} x"#).await;
    assert_eq!(invalid.code().as_deref(), Some("invalid_body"));
    let sends = service.get("/api/v1/sends", key).await.json();
    assert_eq!(sends["totalRecords"], 0, "{sends}");

    let body = json!({
        "type": "text", "message": "x", "phone_number": FIRST.to_string(),
        "colour": "red", "sendAt": null, "subject": "a-7",
    });
    let accepted = service.post(&format!("{path}?dry_run=true"), key, body.to_string()).await;
    assert_eq!((accepted.status, &accepted.json()["ignored"]), (200, &json!(["colour", "subject"])));
}

#[tokio::test]
async fn a_retry_with_a_misspelled_field_is_refused_and_names_what_has_no_effect() {
    let world = World::new().await;
    let (service, key) = (&world.service, &world.acme.key);
    let past = Past::text(service, &world.acme, world.connected);
    let send = past.with(&[(At::Failed, None), (At::Canceled, None)]).await;
    let path = format!("/api/v1/sends/{send}/retry");
    refused(&service.post(&path, key, r#"{"states": ["canceled"]}"#).await, "states", "state");
    refused(&service.post(&path, key, r#"{"errorCode": 7}"#).await, "errorCode", "error_code");
    let flag = service.post(&path, key, r#"{"dry_run": true}"#).await;
    assert_eq!(flag.code().as_deref(), Some("unknown_field"), "{}", flag.body);
    let mut answers = Vec::new();
    for _ in 0..2 {
        let request = service.request(Method::POST, &path).bearer_auth(key);
        let request = request.header("idempotency-key", "once").body(r#"{"colour": "red"}"#);
        answers.push(Answer::to(request).await);
    }
    assert_eq!((answers[0].status, &answers[0].json()["ignored"]), (202, &json!(["colour"])));
    assert_eq!(answers[0].body, answers[1].body);
    assert_eq!(answers[1].header("idempotency-replayed"), "true");
}

#[tokio::test]
async fn bodies_of_contacts_and_of_operators_are_refused_likewise() {
    let world = World::new().await;
    let (service, key) = (&world.service, &world.acme.key);
    let batch = json!({"contacts": [
        {"email": "a@b.example", "firstName": "Ana"},
        {"email": "c@d.example", "colour": "red"},
    ]});
    let written = service.post("/api/v1/contacts/batch", key, batch.to_string()).await.json();
    assert_eq!((&written["created"], &written["rejected"]), (&json!(1), &json!(1)), "{written}");
    let sentence = &written["results"][0]["error"];
    assert!(sentence.as_str().unwrap().ends_with("did you mean `first_name`?"), "{written}");
    let contact = format!("/api/v1/contacts/{}", written["results"][1]["id"].as_str().unwrap());
    for (method, path, key, body, given, meant) in [
        (Method::POST, "/api/v1/contacts/batch", key, json!({"contact": []}), "contact", "contacts"),
        (Method::PATCH, contact.as_str(), key, json!({"lastName": "x"}), "lastName", "last_name"),
        (Method::POST, "/api/v1/contacts/tags/batch", key, json!({"tag": []}), "tag", "tags"),
        (Method::POST, "/operator/v1/companies", &world.operator, json!({"nmae": "x"}), "nmae", "name"),
    ] {
        let request = service.request(method, path).bearer_auth(key).body(body.to_string());
        refused(&Answer::to(request).await, given, meant);
    }
    let shown = service.get(&contact, key).await.json();
    assert_eq!(shown["last_name"], Value::from(""), "{shown}");
    // What the service shows may be sent back, with fields that the body does not have.
    let request = service.request(Method::PATCH, &contact).bearer_auth(key);
    let mut back = shown;
    back["tags"] = json!([]);
    back["profile_picture"] = json!("");
    assert_eq!(Answer::to(request.body(back.to_string())).await.status, 200);
}
