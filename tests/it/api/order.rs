//! The checks of both sends have one order: each case fails its own check and all later ones.

use serde_json::{Value, json};
use uuid::Uuid;

use super::world::World;
use crate::harness::Answer;

/// The code of the answer, or its message if it has no code.
fn verdict(answer: &Answer) -> String {
    let message = || answer.json()["message"].as_str().unwrap_or_default().to_owned();
    answer.code().unwrap_or_else(message)
}

/// Fields that are all wrong, so that the order alone decides which one the answer names.
fn with(fields: &[(&str, Value)]) -> String {
    let mut body = serde_json::Map::new();
    for (name, value) in fields {
        body.insert((*name).to_owned(), value.clone());
    }
    Value::from(body).to_string()
}

async fn assert_verdict(
    world: &World,
    path: &str,
    authorization: Option<&str>,
    body: String,
    expected: &str,
) {
    let mut request = world.service.request(reqwest::Method::POST, path).body(body.clone());
    if let Some(authorization) = authorization {
        request = request.header("authorization", authorization);
    }
    let answer = Answer::to(request).await;
    assert_eq!(verdict(&answer), expected, "{path} {authorization:?} {body}");
}

#[tokio::test]
async fn the_checks_of_a_business_send_answer_in_their_order() {
    let world = World::new().await;
    let (nobody, key) = ("Bearer pombo_nobody".to_owned(), format!("Bearer {}", world.acme.key));
    let (unknown, foreign) = (World::send(Uuid::nil()), World::send(world.foreign));
    let (web, disconnected) = (World::send(world.web), World::send(world.disconnected));
    let connected = World::send(world.connected);
    let broken = || "{".to_owned();
    let check = async |path: &str, authorization: Option<&String>, body: String, expected: &str| {
        assert_verdict(&world, path, authorization.map(String::as_str), body, expected).await;
    };

    check(&unknown, None, broken(), "invalid_auth_header").await;
    check(&unknown, Some(&nobody), broken(), "invalid_api_key").await;
    check(&unknown, Some(&key), broken(), "channel_not_found").await;
    check(&World::send("not-an-id"), Some(&key), broken(), "channel_not_found").await;
    check(&web, Some(&key), broken(), "channel_not_found").await;
    check(&foreign, Some(&key), " ".repeat(17 * 1024), "credential_resource_mismatch").await;
    check(&disconnected, Some(&key), " ".repeat(17 * 1024), "body_too_large").await;
    check(&disconnected, Some(&key), broken(), "invalid_body").await;
    check(&disconnected, Some(&key), with(&[]), "missing_type").await;
    check(&disconnected, Some(&key), with(&[("type", json!("fax"))]), "invalid_type").await;

    let kind = ("type", json!("template"));
    let nobody_left = ("phone_number", json!("12"));
    let id = |id: i64| ("template_id", json!(id));
    let values = |values: Value| ("components", values);
    let steps = [
        (vec![kind.clone()], "missing_recipient"),
        (vec![kind.clone(), nobody_left.clone()], "missing_template_id"),
        (vec![kind.clone(), nobody_left.clone(), ("template_id", json!("x"))], "invalid_template_id_format"),
        (vec![kind.clone(), nobody_left.clone(), id(999_999)], "missing_components"),
        (vec![kind.clone(), nobody_left.clone(), id(999_999), values(json!(["body"]))], "invalid_components"),
        (vec![kind.clone(), nobody_left.clone(), id(999_999), values(json!([]))], "template_not_found"),
        (
            vec![kind.clone(), nobody_left.clone(), id(world.rejected), values(json!([]))],
            "template_not_approved",
        ),
        (
            vec![kind.clone(), nobody_left.clone(), id(world.approved), values(json!([]))],
            "invalid_components",
        ),
    ];
    for (fields, expected) in steps {
        check(&disconnected, Some(&key), with(&fields), expected).await;
    }
    let text = with(&[("type", json!("text")), ("message", json!("x")), nobody_left]);
    check(&disconnected, Some(&key), text.clone(), "reconnect_waba").await;
    check(&connected, Some(&key), text, "no_valid_recipients").await;
}

#[tokio::test]
async fn the_checks_of_a_web_send_answer_in_their_order() {
    let world = World::new().await;
    let (nobody, key) = ("Bearer pombo_nobody".to_owned(), format!("Bearer {}", world.acme.key));
    let (not_an_id, unknown, path) =
        (World::web_send("x"), World::web_send(Uuid::nil()), World::web_send(world.web));
    let check = async |path: &str, authorization: Option<&String>, body: String, expected: &str| {
        assert_verdict(&world, path, authorization.map(String::as_str), body, expected).await;
    };

    check(&not_an_id, None, String::new(), "invalid_auth_header").await;
    check(&not_an_id, Some(&nobody), String::new(), "invalid_api_key").await;
    check(&not_an_id, Some(&key), String::new(), "invalid_id_param").await;
    check(&unknown, Some(&key), " ".repeat(17 * 1024), "Unknown Channel").await;
    check(&World::web_send(world.foreign_web), Some(&key), String::new(), "Unknown Channel").await;
    check(&path, Some(&key), " ".repeat(17 * 1024), "body_too_large").await;

    let mut fields = Vec::new();
    let mut steps = vec![(String::new(), "invalid_body"), (with(&fields), "missing_type")];
    let mut step = |field: (&'static str, Value), expected| {
        fields.retain(|(name, _)| *name != field.0);
        fields.push(field);
        steps.push((with(&fields), expected));
    };
    step(("type", json!("fax")), "invalid_type");
    step(("type", json!("text")), "missing_phone_number");
    step(("phone_number", json!("12")), "missing_recipient_type");
    step(("recipient_type", json!("list")), "invalid_recipient_type");
    step(("recipient_type", json!("number")), "invalid_phone_number");
    step(("phone_number", json!("5511988887777")), "missing_message");
    step(("type", json!("image")), "missing_link");
    step(("link", json!("image.png")), "invalid_link");
    step(("link", json!("https://a.example/image.png")), "session_disconnected");
    for (body, expected) in steps {
        check(&path, Some(&key), body, expected).await;
    }
}
