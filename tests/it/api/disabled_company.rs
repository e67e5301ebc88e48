//! A company that an operator disabled: its keys are refused, its sends are paused, and it comes back.

use std::time::Duration;

use pombo::clock::Timestamp;
use pombo::engine::Steered;
use reqwest::Method;
use serde_json::{Value, json};

use super::world::World;
use crate::running::until_soon;

#[tokio::test]
async fn a_disabled_company_s_keys_are_refused_and_its_sends_are_paused() {
    let world = World::new().await;
    let (service, globex) = (&world.service, &world.globex);
    let tomorrow = Timestamp::now().plus(Duration::from_secs(24 * 3_600));
    let body = json!({"type": "text", "message": "x", "phone_number": "5511988887777", "send_at": tomorrow});
    let sent = service.post(&World::send(world.foreign), &globex.key, body.to_string()).await;
    assert_eq!(sent.status, 202, "{}", sent.body);
    let send_id = sent.json()["send_id"].as_str().unwrap().parse().unwrap();
    let path = format!("/operator/v1/companies/{}", globex.id);
    let act = async |action: &str| {
        let request = service.request(Method::POST, &format!("{path}/{action}")).bearer_auth(&world.operator);
        let answer = crate::harness::Answer::to(request).await;
        assert_eq!(answer.status, 200, "{action}: {}", answer.body);
        answer.json()
    };
    assert!(act("disable").await["disabled_at"].is_string());
    until_soon("its key refused", async || {
        service.get("/api/v1/sends", &globex.key).await.code().as_deref() == Some("company_disabled")
    })
    .await;
    assert_eq!(service.get("/api/v1/sends", &globex.key).await.status, 403);
    let refused = service.post(&World::send(world.foreign), &globex.key, "{}").await;
    assert_eq!(refused.code().as_deref(), Some("company_disabled"), "before the body is looked at");
    assert_eq!(service.get("/api/v1/sends", &world.acme.key).await.status, 200, "others go on");
    until_soon("its sends paused", async || {
        service.store().sends().of_disabled_companies(10).await.unwrap().is_empty()
    })
    .await;
    let steps = service.engine().sends().steering(globex.id, send_id).await.unwrap();
    let steps: Vec<_> = steps.iter().map(|step| (step.what, step.who.as_str())).collect();
    assert_eq!(steps, [(Steered::Paused, "pombo")]);
    let since = act("disable").await["disabled_at"].clone();
    assert_eq!(act("disable").await["disabled_at"], since, "disabled once");
    let changes = service.get(&format!("/operator/v1/changes?subject={}", globex.id), &world.operator).await;
    assert_eq!(changes.json()["data"][0]["after"], json!({"status": "disabled"}));
    assert_eq!(act("enable").await["disabled_at"], Value::Null);
    until_soon("its key accepted", async || service.get("/api/v1/sends", &globex.key).await.status == 200)
        .await;
    let resumed = service.post(&format!("/api/v1/sends/{send_id}/resume"), &globex.key, "").await;
    assert!(resumed.status < 300, "a person resumes what was paused: {}", resumed.body);
}
