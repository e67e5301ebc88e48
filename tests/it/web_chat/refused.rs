//! Refused messages, with the status and the body of each refusal.

use std::collections::BTreeSet;

use reqwest::Method;
use serde_json::{Value, json};
use uuid::Uuid;

use super::world::{World, messages, text};
use super::{GROUP, JOAO, MARIA};
use crate::harness::Answer;

/// Checks a refusal: its status, and a body of a sentence, a code, and what helps to find the fault.
fn refused(answer: &Answer, status: u16, code: &str) {
    assert_eq!((answer.status, answer.code().as_deref()), (status, Some(code)), "{}", answer.body);
    let body = answer.json();
    let fields: BTreeSet<_> = body.as_object().unwrap().keys().map(String::as_str).collect();
    assert!(fields.is_subset(&BTreeSet::from(["code", "error", "param", "request_id"])), "{fields:?}");
    assert!(body["error"].as_str().unwrap().len() > 10, "{body}");
    assert_eq!(answer.header("content-type"), "application/json");
}

#[tokio::test]
async fn a_caller_without_a_key_learns_nothing_else() {
    let world = World::unlinked().await;
    let path = messages(&world.own);
    for (header, code) in [
        (None, "invalid_auth_header"),
        (Some("Basic abc"), "invalid_auth_header"),
        (Some("Bearer"), "invalid_auth_header"),
        (Some("Bearer pombo_wrong"), "invalid_api_key"),
    ] {
        let mut request = world.service.request(Method::POST, &path).body("{}");
        if let Some(header) = header {
            request = request.header("authorization", header);
        }
        let answer = Answer::to(request).await;
        refused(&answer, 401, code);
        assert_eq!(answer.header("www-authenticate"), "Bearer");
    }
}

#[tokio::test]
async fn a_path_names_a_channel_of_the_company() {
    let world = World::unlinked().await;
    let key = &world.own.company.key;
    let post = async |id: &str| {
        world
            .service
            .post(&format!("/api/v1/web-chat/{id}/messages"), key, text(MARIA, "oi").to_string())
            .await
    };
    refused(&post("phone").await, 400, "invalid_id_param");
    refused(&post("1234").await, 400, "invalid_id_param");
    let answer = post(&Uuid::now_v7().to_string()).await;
    assert_eq!((answer.status, answer.json()), (404, json!({"message": "Unknown Channel"})));
}

/// Bodies with the fault of each, in the order of the checks.
fn incomplete() -> Vec<(Value, &'static str)> {
    let body = |fields: Value| {
        let mut body = text(MARIA, "oi");
        for (name, value) in fields.as_object().unwrap() {
            body[name] = value.clone();
        }
        body
    };
    vec![
        (json!({}), "missing_type"),
        (body(json!({"type": null})), "missing_type"),
        (body(json!({"type": ""})), "missing_type"),
        (body(json!({"type": "template"})), "invalid_type"),
        (body(json!({"type": "interactive"})), "invalid_type"),
        (body(json!({"type": 7})), "invalid_type"),
        (body(json!({"phone_number": null, "recipient_type": "nobody"})), "missing_phone_number"),
        (body(json!({"phone_number": "  "})), "missing_phone_number"),
        (body(json!({"recipient_type": null, "phone_number": "x"})), "missing_recipient_type"),
        (body(json!({"recipient_type": "channel", "phone_number": "x"})), "invalid_recipient_type"),
        (body(json!({"phone_number": "x", "message": null})), "invalid_phone_number"),
        (body(json!({"phone_number": "12"})), "invalid_phone_number"),
        (body(json!({"phone_number": GROUP.repeat(2)})), "invalid_phone_number"),
        (body(json!({"phone_number": "abc@g.us", "recipient_type": "group"})), "invalid_phone_number"),
        (body(json!({"message": null})), "missing_message"),
        (body(json!({"message": " \n"})), "missing_message"),
        (body(json!({"message": "x".repeat(5000)})), "text_too_long"),
        (body(json!({"type": "image"})), "missing_link"),
        (body(json!({"type": "audio", "link": ""})), "missing_link"),
        (body(json!({"type": "video", "link": "ftp://example.com/x"})), "invalid_link"),
        (body(json!({"type": "document", "link": "/etc/passwd"})), "invalid_link"),
    ]
}

#[tokio::test]
async fn missing_and_wrong_fields_are_named() {
    let world = World::linked().await;
    for (body, code) in incomplete() {
        refused(&world.post(&body).await, 400, code);
    }
    for body in ["", "[]", "no JSON", "7"] {
        let answer = world.service.post(&messages(&world.own), &world.own.company.key, body).await;
        refused(&answer, 400, "invalid_body");
    }
    assert_eq!((world.sends().await, world.whatsapp.messages().len()), (0, 0));
}

#[tokio::test]
async fn a_fault_of_the_body_is_reported_before_a_disconnected_session() {
    let world = World::unlinked().await;
    for (body, code) in incomplete() {
        refused(&world.post(&body).await, 400, code);
    }
    refused(&world.post(&text(MARIA, "oi")).await, 409, "session_disconnected");
}

#[tokio::test]
async fn a_session_that_is_not_connected_sends_nothing_and_fetches_nothing() {
    let world = World::linked().await;
    world.whatsapp.contact(MARIA);
    let host = crate::media::host::Host::body("", b"%PDF-1.7\n").await;
    let file = json!({
        "phone_number": MARIA, "recipient_type": "number", "type": "document", "link": host.link("/x.pdf"),
    });
    world.own.phone.unlink();
    world.becomes(&world.own, "unlinked", "disconnected", Some("logged_out")).await;
    refused(&world.post(&text(MARIA, "oi")).await, 409, "session_disconnected");
    refused(&world.post(&file).await, 409, "session_disconnected");
    world.link(&world.own).await;
    world.unlink(&world.own).await;
    refused(&world.post(&file).await, 409, "session_disconnected");
    assert_eq!((host.connections(), world.sends().await), (0, 0));
}

#[tokio::test]
async fn a_session_whose_connection_is_lost_sends_again_once_it_is_back() {
    let world = World::linked().await;
    world.whatsapp.contact(MARIA);
    world.own.phone.refuse_logins(crate::fake_whatsapp::Refusal::Unavailable);
    world.own.phone.drop_connection();
    world.becomes(&world.own, "linked", "connecting", None).await;
    refused(&world.post(&text(MARIA, "oi")).await, 409, "session_disconnected");
    world.own.phone.refuse_logins(None);
    world.comes_back(1).await;
    world.arrives(&text(MARIA, "de volta")).await;
    assert_eq!(world.whatsapp.messages().len(), 1);
}

#[tokio::test]
async fn a_number_that_is_not_on_whatsapp_is_asked_about_once_and_written_to_never() {
    let world = World::linked().await;
    for _ in 0..3 {
        refused(&world.post(&text(JOAO, "oi")).await, 422, "not_on_whatsapp");
    }
    assert_eq!(world.whatsapp.lookups_of(JOAO), 1);
    assert_eq!((world.sends().await, world.whatsapp.messages().len()), (0, 0));
}

#[tokio::test]
async fn a_file_is_looked_at_before_its_recipient() {
    let world = World::linked().await;
    let host = crate::media::host::Host::steps(crate::media::host::bare(404, "")).await;
    let body = json!({
        "phone_number": JOAO, "recipient_type": "number", "type": "image", "link": host.link("/"),
    });
    refused(&world.post(&body).await, 400, "media_unavailable");
    assert_eq!(world.whatsapp.lookups_of(JOAO), 0);
}

#[tokio::test]
async fn a_group_that_is_not_there_gets_nothing() {
    let world = World::linked().await;
    let body = json!({
        "phone_number": "120363999", "recipient_type": "group", "type": "text", "message": "oi",
    });
    let answer = world.post(&body).await;
    assert!((400..500).contains(&answer.status), "{} {}", answer.status, answer.body);
    assert!(world.whatsapp.messages().is_empty());
}
