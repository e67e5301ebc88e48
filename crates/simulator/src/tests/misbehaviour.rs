//! Scripted outcomes and switches.

use std::time::{Duration, Instant};

use super::*;

fn path() -> String {
    format!("/v25.0/{NUMBER}/messages")
}

impl Universe {
    /// Sends a message, and returns whether there was no answer at all.
    async fn is_cut_off(&self) -> bool {
        let body = text("+5511999990001");
        self.client.post(self.url(&path())).bearer_auth(TOKEN).json(&body).send().await.is_err()
    }
}

#[actix_web::test]
async fn a_rule_refuses_matching_sends_and_ends_after_its_times() {
    let universe = universe().await;
    universe.script(&json!([{
        "match": { "to_suffix": "0001", "type": "text" }, "times": 2,
        "outcome": { "error": { "code": 131_026, "message": "away", "subcode": 7, "is_transient": false } },
    }]));
    assert_eq!(universe.code(&text("+5511999990002")).await, (200, 0));
    let (status, answer) = universe.send(&text("+5511999990001")).await;
    let error = &answer["error"];
    assert_eq!((status, &error["message"]), (400, &json!("(#131026) away")));
    assert_eq!((&error["error_subcode"], &error["is_transient"]), (&json!(7), &json!(false)));
    assert_eq!(universe.code(&text("+5511999990001")).await, (400, 131_026));
    assert_eq!(universe.code(&text("+5511999990001")).await, (200, 0));
}

#[actix_web::test]
async fn a_rule_can_decide_about_each_third_send_only() {
    let universe = universe().await;
    universe.script(&json!({ "every": 3, "outcome": { "error": { "code": 130_429, "http": 418 } } }));
    let mut statuses = Vec::new();
    for _ in 0..6 {
        statuses.push(universe.code(&text("+5511999990001")).await.0);
    }
    assert_eq!(statuses, [200, 200, 418, 200, 200, 418]);
}

#[actix_web::test]
async fn the_same_seed_of_a_probability_refuses_the_same_sends() {
    let universe = universe().await;
    let mut runs = Vec::new();
    for _ in 0..2 {
        universe.script(&json!({ "probability": 0.5, "seed": 3, "outcome": { "error": { "code": 1 } } }));
        let mut run = Vec::new();
        for _ in 0..20 {
            run.push(universe.code(&text("+5511999990001")).await.1);
        }
        universe.simulator.end_script();
        runs.push(run);
    }
    assert_eq!(runs[0], runs[1]);
    assert!(runs[0].contains(&0) && runs[0].contains(&1));
}

#[actix_web::test]
async fn rules_match_by_key_number_and_template() {
    let universe = universe().await;
    let refuse = json!({ "error": { "code": 131_000 } });
    universe.script(&json!([
        { "match": { "key_prefix": "send-9:" }, "outcome": refuse },
        { "match": { "template": "hello_world", "phone_number_id": NUMBER }, "outcome": refuse },
    ]));
    let mut keyed = text("+5511999990001");
    keyed["biz_opaque_callback_data"] = json!("send-9:4");
    assert_eq!(universe.code(&keyed).await, (500, 131_000));
    assert_eq!(universe.code(&template("hello_world", json!([]))).await, (500, 131_000));
    assert_eq!(universe.code(&text("+5511999990001")).await, (200, 0));
}

#[actix_web::test]
async fn a_reply_that_is_dropped_was_accepted_and_a_reset_was_not() {
    let universe = universe().await;
    universe.script(&json!([
        { "times": 1, "outcome": { "drop_reply": true } },
        { "times": 1, "outcome": { "reset": true } },
        { "times": 1, "outcome": { "hang_then_drop": "5ms" } },
    ]));
    let mut messages = Vec::new();
    for _ in 0..3 {
        assert!(universe.is_cut_off().await);
        messages.push(universe.figures().messages);
    }
    assert_eq!(messages, [1, 1, 1]);
    assert_eq!(universe.code(&text("+5511999990001")).await, (200, 0));
}

#[actix_web::test]
async fn a_garbled_reply_was_accepted_and_is_no_json() {
    let universe = universe().await;
    universe.script(&json!({ "outcome": { "garbled_reply": true } }));
    let body = text("+5511999990001");
    let request = universe.client.post(universe.url(&path())).bearer_auth(TOKEN).json(&body);
    let answer = request.send().await.unwrap();
    assert_eq!(answer.status(), 200);
    assert!(serde_json::from_str::<Value>(&answer.text().await.unwrap()).is_err());
    assert_eq!((universe.figures().messages, universe.figures().refused), (1, 0));
}

#[actix_web::test]
async fn a_bad_gateway_is_a_page_and_no_json() {
    let universe = universe().await;
    universe.script(&json!({ "outcome": { "bad_gateway": true } }));
    let body = text("+5511999990001");
    let request = universe.client.post(universe.url(&path())).bearer_auth(TOKEN).json(&body);
    let answer = request.send().await.unwrap();
    assert_eq!(answer.status(), 502);
    assert!(answer.text().await.unwrap().starts_with("<html>"));
    assert_eq!(universe.figures().messages, 0);
}

#[actix_web::test]
async fn a_hanging_send_is_accepted_even_when_its_client_has_gone() {
    let universe = universe().await;
    universe.script(&json!({ "outcome": { "hang_then_accept": "400ms" } }));
    let body = text("+5511999990001");
    let request = universe.client.post(universe.url(&path())).bearer_auth(TOKEN).json(&body);
    let answer = request.timeout(Duration::from_millis(20)).send().await;
    assert!(answer.is_err());
    assert_eq!(universe.figures().messages, 0);
    let deadline = Instant::now() + Duration::from_secs(5);
    while universe.figures().messages == 0 && Instant::now() < deadline {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert_eq!(universe.figures().messages, 1);
}

#[actix_web::test]
async fn a_delayed_send_is_accepted_at_once_and_answered_late() {
    let universe = universe().await;
    universe.script(&json!({ "outcome": { "delay": "50ms" } }));
    let begun = Instant::now();
    assert_eq!(universe.code(&text("+5511999990001")).await, (200, 0));
    assert!(begun.elapsed() >= Duration::from_millis(50));
}

#[actix_web::test]
async fn a_status_outcome_disconnects_the_number_until_it_is_registered_again() {
    let universe = universe().await;
    universe.script(&json!({ "times": 1, "outcome": { "status": { "phone_number_status": "BANNED" } } }));
    assert_eq!(universe.code(&text("+5511999990001")).await, (400, 133_010));
    assert_eq!(universe.code(&text("+5511999990001")).await, (400, 133_010));
    let (_, node) = universe.get(&format!("/v25.0/{NUMBER}?fields=status")).await;
    assert_eq!(node, json!({ "id": NUMBER, "status": "BANNED" }));
    let pin = json!({ "messaging_product": "whatsapp", "pin": "123456" });
    let registered = universe.post(&format!("/v25.0/{NUMBER}/register"), TOKEN, &pin).await;
    assert_eq!(registered, (200, json!({ "success": true })));
    assert_eq!(universe.code(&text("+5511999990001")).await, (200, 0));
}

#[actix_web::test]
async fn an_outage_refuses_everything_and_ends() {
    let universe = universe().await;
    universe.script(&json!({ "outage": true }));
    assert_eq!(universe.code(&text("+5511999990001")).await, (503, 2));
    assert_eq!(universe.get(&format!("/v25.0/{NUMBER}")).await.0, 503);
    universe.script(&json!({ "outage": false }));
    assert_eq!(universe.code(&text("+5511999990001")).await, (200, 0));
}

#[actix_web::test]
async fn a_token_expires_and_is_replaced() {
    let universe = universe().await;
    universe.script(&json!({ "token": { "value": TOKEN, "valid": false } }));
    assert_eq!(universe.code(&text("+5511999990001")).await, (401, 190));
    universe.script(&json!({ "number": { "phone_number_id": NUMBER, "token": "T-new" } }));
    assert_eq!(universe.post(&path(), "T-new", &text("+5511999990001")).await.0, 200);
}

#[actix_web::test]
async fn a_wrong_script_is_refused_with_a_sentence_and_applies_nothing() {
    let universe = universe().await;
    let cases = [
        (json!("no"), "a script is"),
        (
            json!([{ "outage": true }, { "outcome": { "explode": true } }]),
            "entry 1: unknown variant `explode`",
        ),
        (json!({ "outcome": { "delay": "2 parsecs" } }), "is not a duration"),
        (json!({ "outcome": { "reset": false } }), "must be true"),
        (json!({ "match": { "colour": "red" }, "outcome": { "reset": true } }), "unknown field `colour`"),
        (json!({ "times": 0, "outcome": { "reset": true } }), "at least 1"),
        (json!({ "number": { "phone_number_id": "9", "status": "BANNED" } }), "there is no number 9"),
    ];
    for (script, sentence) in cases {
        let (status, answer) = universe.post("/_sim/script", "", &script).await;
        let error = answer["error"].as_str().unwrap_or_default();
        assert!(status == 400 && error.contains(sentence), "{script}: {error}");
    }
    assert_eq!(universe.code(&text("+5511999990001")).await, (200, 0));
}

#[actix_web::test]
async fn deleting_the_script_ends_its_rules() {
    let universe = universe().await;
    universe.script(&json!({ "outcome": { "reset": true } }));
    let progress = universe.get("/_sim/script").await.1;
    assert_eq!(progress["data"].as_array().unwrap().len(), 1);
    universe.client.delete(universe.url("/_sim/script")).send().await.unwrap();
    assert_eq!(universe.code(&text("+5511999990001")).await, (200, 0));
}
