//! The refusals of the paths of webhook endpoints, for the test of all codes.

use pombo::domain::webhook::Settings;
use pombo::error::Code;
use pombo::store::webhooks::MOST_ENDPOINTS;
use reqwest::Method;
use serde_json::{Value, json};
use uuid::Uuid;

use super::world::{NO_RECEIVER, World};
use crate::webhooks::sealed::add_sealed;

const PATH: &str = "/api/v1/webhooks";

/// Gives the company as many endpoints as it may have, and returns the cases of its refusals.
pub(super) async fn cases(world: &World) -> Vec<(Code, Method, String, Value)> {
    let foreign = json!({"url": NO_RECEIVER, "types": ["channel.pairing"]}).to_string();
    let foreign = world.service.post(PATH, &world.globex.key, foreign).await.json();
    let foreign = format!("{PATH}/{}", foreign["id"].as_str().unwrap());
    let settings = Settings::new(NO_RECEIVER);
    let sealed = add_sealed(world.service.store(), world.acme.id, settings, true).await;
    let mut own = String::new();
    for _ in 1..MOST_ENDPOINTS {
        let body = json!({"url": NO_RECEIVER, "types": ["channel.pairing"]}).to_string();
        let added = world.service.post(PATH, &world.acme.key, body).await;
        assert_eq!(added.status, 201, "{}", added.body);
        own = format!("{PATH}/{}", added.json()["id"].as_str().unwrap());
    }
    // One that is disabled does not end.
    for action in ["disable", "replay"] {
        let done = world.service.post(&format!("{own}/{action}"), &world.acme.key, String::new()).await;
        assert!((200..300).contains(&done.status), "{action}: {}", done.body);
    }
    let nobody = format!("{PATH}/{}", Uuid::nil());
    let post = |code, path: &str, body: Value| (code, Method::POST, path.to_owned(), body);
    let wrong = |body: Value| post(Code::InvalidField, PATH, body);
    let with = |field: &str, value: Value| {
        let mut body = json!({"url": NO_RECEIVER});
        body[field] = value;
        wrong(body)
    };
    vec![
        (Code::WebhookNotFound, Method::GET, nobody, json!("")),
        (Code::WebhookNotFound, Method::DELETE, foreign.clone(), json!("")),
        (Code::WebhookNotFound, Method::PATCH, foreign.clone(), json!({})),
        (Code::WebhookNotFound, Method::GET, format!("{foreign}/deliveries"), json!("")),
        post(Code::WebhookNotFound, &format!("{foreign}/test"), json!({})),
        post(Code::WebhookNotFound, &format!("{PATH}/7/disable"), json!("")),
        post(Code::WebhookUnsealable, &format!("{PATH}/{sealed}/test"), json!({})),
        post(Code::EventNotFound, &format!("{own}/deliveries/resend"), json!({"sequence": 7})),
        post(Code::InvalidField, &format!("{own}/deliveries/resend"), json!({"sequence": "last"})),
        post(Code::InvalidField, &format!("{own}/rotate-secret"), json!({"overlap": "a day"})),
        post(Code::InvalidField, &format!("{own}/rotate-secret"), json!({"overlap": "30d"})),
        post(Code::InvalidField, &format!("{own}/enable"), json!({"from": "yesterday"})),
        post(Code::InvalidField, &format!("{own}/test"), json!({"type": "message.snt"})),
        post(Code::InvalidField, &format!("{own}/replay"), json!({"state": "lost"})),
        post(Code::InvalidField, &format!("{own}/replay"), json!({"types": ["message.snt"]})),
        post(Code::InvalidField, &format!("{own}/replay"), json!({"since": "yesterday"})),
        post(
            Code::InvalidField,
            &format!("{own}/replay"),
            json!({"since": "2026-01-02T00:00:00Z", "until": "2026-01-01T00:00:00Z"}),
        ),
        post(Code::WebhookNotFound, &format!("{foreign}/replay"), json!({})),
        post(Code::ReplayRunning, &format!("{own}/replay"), json!({"state": "failed"})),
        (Code::WebhookNotFound, Method::DELETE, format!("{foreign}/replay"), json!("")),
        wrong(json!({})),
        wrong(json!({"url": "https://10.0.0.7/hook"})),
        wrong(json!({"url": "https://ana:secret@example.com/hook"})),
        wrong(json!({"url": "example.com/hook"})),
        with("types", json!(["message.raed"])),
        with("types", json!("message.read")),
        with("channel_ids", json!(["7"])),
        with("channel_ids", json!([world.foreign])),
        with("headers", json!({"webhook-id": "x"})),
        with("headers", json!(["x"])),
        with("max_in_flight", json!(5)),
        with("shape", json!("meta")),
        with("profile", json!("strict")),
        with("verify_token", json!("hush")),
        wrong(json!({"url": NO_RECEIVER, "shape": "graph", "types": ["send.finished"]})),
        wrong(json!({"url": NO_RECEIVER, "shape": "graph", "batch": 2})),
        wrong(json!({"url": NO_RECEIVER, "shape": "graph", "mask_numbers": true})),
        wrong(json!({"url": NO_RECEIVER, "shape": "graph", "secret": "hush"})),
        wrong(json!({"url": NO_RECEIVER, "shape": "graph", "verify_token": "hush"})),
        post(Code::InvalidField, &format!("{own}/verify"), json!({"verify_token": "hush"})),
        post(Code::WebhookNotFound, &format!("{foreign}/verify"), json!({"verify_token": "hush"})),
        with("batch", json!("all")),
        with("secret", json!("whsec_c2hvcnQ=")),
        with("secret", json!("hush")),
        (Code::UnknownField, Method::POST, PATH.to_owned(), json!({"url": NO_RECEIVER, "header": {}})),
        post(Code::TooManyWebhooks, PATH, json!({"url": NO_RECEIVER})),
    ]
}
