//! Sends that cases are about: some that were accepted, and those with values.

use pombo::error::Code;
use reqwest::Method;
use sea_orm::{ConnectionTrait as _, Database};
use serde_json::json;

use super::super::world::World;
use super::{Cases, NUMBER, USED};
use crate::harness::Answer;

/// A send that was accepted under [`USED`] and canceled; its id.
pub(super) async fn canceled_send(world: &World) -> String {
    let body = json!({"type": "text", "message": "x", "phone_number": NUMBER}).to_string();
    let request = world.service.request(Method::POST, &World::send(world.connected)).body(body);
    let request = request.bearer_auth(&world.acme.key).header("idempotency-key", USED);
    let accepted = Answer::to(request).await;
    let id = accepted.json()["send_id"].as_str().unwrap().to_owned();
    let canceled = world.service.post(&format!("/api/v1/sends/{id}/cancel"), &world.acme.key, "").await;
    assert_eq!(canceled.status, 200, "{}", canceled.body);
    id
}

/// The path of a send without a start.
pub(super) async fn unscheduled_send(world: &World) -> String {
    let body = json!({"type": "text", "message": "x", "phone_number": NUMBER}).to_string();
    let accepted = world.service.post(&World::send(world.connected), &world.acme.key, body).await;
    format!("/api/v1/sends/{}", accepted.json()["send_id"].as_str().unwrap())
}

/// The refusals of sends with values.
pub(super) async fn of_values(world: &World, cases: &mut Cases) {
    let path = &World::send(world.connected);
    let text = |recipient| json!({"type": "text", "message": "{{value.name}}", "recipients": [recipient]});
    cases.post(Code::InvalidValues, path, text(json!({"phone_number": NUMBER, "values": {"Name": "Ana"}})));
    cases.post(Code::RecipientsSkipped, path, text(json!({"phone_number": NUMBER})));
    let template = json!({
        "type": "template", "template_id": world.approved, "phone_number": NUMBER, "values": {"1": "a\nb"},
    });
    cases.post(Code::ValueNotAllowed, path, template);
    let sent = text(json!({"phone_number": NUMBER, "values": {"name": "Ana"}})).to_string();
    let sent = world.service.post(path, &world.acme.key, sent).await;
    assert_eq!(sent.status, 202, "{}", sent.body);
    let send = format!("/api/v1/sends/{}", sent.json()["send_id"].as_str().unwrap());
    let canceled = world.service.post(&format!("{send}/cancel"), &world.acme.key, "").await;
    assert_eq!(canceled.status, 200, "{}", canceled.body);
    let database = Database::connect(&world.service.universe.url).await.unwrap();
    database.execute_unprepared("UPDATE personal_send SET gone = 1").await.unwrap();
    database.close().await.unwrap();
    cases.post(Code::ValuesGone, &format!("{send}/retry"), json!({}));
}
