//! Webhooks that are no statuses, their receivers, and receivers that move.

use std::time::Duration;

use super::receiver::{Receiver, SECRET, receiver};
use super::*;

/// A simulator whose webhooks all go to one receiver.
async fn heard() -> (Universe, Receiver) {
    let receiver = receiver(0).await;
    let options = Options { receipts: Some(receiver.options()), ..Options::default() };
    (universe_with(options).await, receiver)
}

impl Receiver {
    /// The field and the value of the next webhook, which has one change.
    async fn change(&mut self) -> (String, Value) {
        let webhook = self.next().await;
        let change = &webhook["entry"][0]["changes"][0];
        (change["field"].as_str().unwrap().to_owned(), change["value"].clone())
    }
}

#[actix_web::test]
async fn a_change_of_a_template_is_reported_with_the_providers_oddities() {
    let (universe, mut receiver) = heard().await;
    let switch = |status: &str| {
        json!({ "template": {
            "waba_id": WABA, "name": "hello_world", "language": "en_US", "status": status,
        } })
    };
    universe.script(&switch("APPROVED"));
    universe.script(&switch("PAUSED"));
    let webhook = receiver.next().await;
    assert_eq!(webhook["entry"][0]["id"], WABA);
    assert!(webhook["entry"][0]["time"].is_i64());
    let change = &webhook["entry"][0]["changes"][0];
    assert_eq!(change["field"], "message_template_status_update");
    let value = &change["value"];
    assert_eq!((&value["event"], &value["other_info"]["title"]), (&json!("PAUSED"), &json!("FIRST_PAUSE")));
    assert_eq!(value["message_template_language"], "en-US");
    let id = value["message_template_id"].as_u64().unwrap();
    let (_, node) = universe.get(&format!("/v25.0/{id}?fields=name,status")).await;
    assert_eq!(node, json!({ "id": id.to_string(), "name": "hello_world", "status": "PAUSED" }));

    let unpaused = universe.post(&format!("/v25.0/{id}/unpause"), TOKEN, &json!({})).await;
    assert_eq!(unpaused.0, 200);
    let (_, value) = receiver.change().await;
    assert_eq!((&value["event"], &value["other_info"]["title"]), (&json!("APPROVED"), &json!("UNPAUSE")));
    universe.script(&switch("DISABLED"));
    assert_eq!(receiver.change().await.1["event"], "DISABLED");
}

#[actix_web::test]
async fn webhooks_come_on_demand_and_are_signed() {
    let (universe, mut receiver) = heard().await;
    let said = |said: &Value| universe.script(&json!({ "webhook": said }));
    said(&json!({ "account_update": {
        "waba_id": WABA, "event": "DISABLED_UPDATE", "ban_info": { "waba_ban_state": "DISABLE" },
    } }));
    let (field, value) = receiver.change().await;
    assert_eq!(field, "account_update");
    assert_eq!(value, json!({ "event": "DISABLED_UPDATE", "ban_info": { "waba_ban_state": "DISABLE" } }));

    said(&json!({ "user_preferences": { "phone_number_id": NUMBER, "wa_id": "5511", "value": "stop" } }));
    let (field, value) = receiver.change().await;
    assert_eq!((field.as_str(), &value["metadata"]["phone_number_id"]), ("user_preferences", &json!(NUMBER)));
    let preference = &value["user_preferences"][0];
    assert_eq!((&preference["wa_id"], &preference["value"]), (&json!("5511"), &json!("stop")));
    assert_eq!(preference["category"], "marketing_messages");

    said(
        &json!({ "inbound": { "phone_number_id": NUMBER, "from": "5511", "text": "olá", "context": "wamid.x" } }),
    );
    let (field, value) = receiver.change().await;
    let message = &value["messages"][0];
    assert_eq!((field.as_str(), &message["text"]["body"]), ("messages", &json!("olá")));
    assert_eq!((&message["from"], &message["context"]["id"]), (&json!("5511"), &json!("wamid.x")));
    assert!(message["id"].as_str().unwrap().starts_with("wamid.") && message["timestamp"].is_string());

    said(&json!({ "business_capability_update": { "waba_id": WABA, "max_phone_numbers_per_waba": 25 } }));
    assert_eq!(receiver.change().await.1, json!({ "max_phone_numbers_per_waba": 25 }));
    said(&json!({ "errors": { "phone_number_id": NUMBER, "code": 130_429 } }));
    assert_eq!(receiver.change().await.1["errors"][0]["code"], 130_429);
    said(&json!({ "change": { "waba_id": WABA, "field": "security", "value": { "event": "PIN_CHANGED" } } }));
    assert_eq!(receiver.change().await, ("security".to_owned(), json!({ "event": "PIN_CHANGED" })));
}

#[actix_web::test]
async fn a_webhook_can_come_late_and_twice() {
    let (universe, mut receiver) = heard().await;
    universe.script(&json!([
        { "webhook": {
            "after": "80ms", "copies": 2, "account_update": { "waba_id": WABA, "event": "ACCOUNT_DELETED" },
        } },
        { "webhook": { "account_update": { "waba_id": WABA, "event": "PARTNER_REMOVED" } } },
    ]));
    let mut events = Vec::new();
    while events.len() < 3 {
        let webhook = receiver.next().await;
        for entry in webhook["entry"].as_array().unwrap() {
            events.push(entry["changes"][0]["value"]["event"].clone());
        }
    }
    assert_eq!(events, ["PARTNER_REMOVED", "ACCOUNT_DELETED", "ACCOUNT_DELETED"]);
}

#[actix_web::test]
async fn an_upgrade_of_a_number_is_reported_at_its_end() {
    let (universe, mut receiver) = heard().await;
    universe.script(&json!({ "number": { "phone_number_id": NUMBER, "upgrade_for": "1ms" } }));
    let (field, value) = receiver.change().await;
    assert_eq!(
        (field.as_str(), &value["event"]),
        ("phone_number_quality_update", &json!("THROUGHPUT_UPGRADE"))
    );
    assert_eq!(value["max_daily_conversations_per_business"], "TIER_UNLIMITED");
}

#[actix_web::test]
async fn an_invalid_webhook_is_refused_with_a_sentence() {
    let universe = universe().await;
    for (said, sentence) in [
        (json!({ "account_update": { "waba_id": "9", "event": "X" } }), "there is no account 9"),
        (json!({ "inbound": { "phone_number_id": "9", "from": "1", "text": "x" } }), "there is no number 9"),
        (json!({ "change": { "field": "x", "value": {} } }), "needs a waba_id"),
        (json!({ "surprise": {} }), "no variant"),
    ] {
        let (status, answer) = universe.post("/_sim/script", "", &json!({ "webhook": said })).await;
        assert!(status == 400 && answer["error"].as_str().unwrap().contains(sentence), "{answer}");
    }
}

#[actix_web::test]
async fn a_number_an_account_and_the_app_can_have_receivers_of_their_own() {
    let (mut own, mut account, mut app) = (receiver(0).await, receiver(0).await, receiver(0).await);
    let universe = universe().await;
    let aim = |options: ReceiptOptions| universe.simulator.aim_receipts(Some(options)).unwrap();
    aim(app.options());
    aim(ReceiptOptions { waba_id: Some(WABA.to_owned()), ..account.options() });
    aim(ReceiptOptions { phone_number_id: Some(NUMBER.to_owned()), ..own.options() });
    for (number, token) in [(NUMBER, TOKEN), ("2002", TOKEN), ("2003", "T-2")] {
        assert_eq!(
            universe.post(&format!("/v25.0/{number}/messages"), token, &text("+5511999990001")).await.0,
            200
        );
    }
    for (receiver, number) in [(&mut own, NUMBER), (&mut account, "2002"), (&mut app, "2003")] {
        let (_, value) = receiver.change().await;
        assert_eq!(value["metadata"]["phone_number_id"], number);
        assert_eq!(value["statuses"].as_array().unwrap().len(), 3);
    }
    universe
        .script(&json!({ "webhook": { "account_update": { "waba_id": WABA, "event": "ACCOUNT_DELETED" } } }));
    assert_eq!(account.change().await.0, "account_update");
    let refused = ReceiptOptions { phone_number_id: Some("9".to_owned()), ..app.options() };
    assert!(universe.simulator.aim_receipts(Some(refused)).is_err());
}

#[actix_web::test]
async fn webhooks_of_an_account_without_a_receiver_go_to_its_numbers_receivers() {
    let mut own = receiver(0).await;
    let universe = universe().await;
    let options = ReceiptOptions { phone_number_id: Some(NUMBER.to_owned()), ..own.options() };
    universe.simulator.aim_receipts(Some(options)).unwrap();
    universe.script(&json!([
        { "webhook": { "account_update": { "waba_id": "1002", "event": "ACCOUNT_DELETED" } } },
        { "webhook": { "account_update": { "waba_id": WABA, "event": "PARTNER_REMOVED" } } },
    ]));
    assert_eq!(own.change().await.1["event"], "PARTNER_REMOVED");
}

#[actix_web::test]
async fn outstanding_webhooks_follow_their_receiver_to_another_address() {
    let mut back = receiver(0).await;
    // Nothing listens there.
    let away = ReceiptOptions {
        retry_after: Duration::from_secs(600),
        ..ReceiptOptions { url: "http://127.0.0.1:1/hook".to_owned(), ..back.options() }
    };
    let universe = universe_with(Options { receipts: Some(away), ..Options::default() }).await;
    for _ in 0..5 {
        assert_eq!(universe.code(&text("+5511999990001")).await, (200, 0));
    }
    let refused = async || universe.get("/_sim/webhook").await.1["webhooks_refused"].as_u64().unwrap();
    let deadline = std::time::Instant::now() + Duration::from_secs(5);
    while refused().await == 0 && std::time::Instant::now() < deadline {
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    assert_eq!(universe.simulator.receipts_outstanding(), 5);
    let options = ReceiptOptions { app_secret: SECRET.to_owned(), ..back.options() };
    universe.simulator.aim_receipts(Some(options)).unwrap();
    assert_eq!(back.statuses(15).await.0.len(), 15);
}

#[actix_web::test]
async fn webhooks_without_a_receiver_wait_until_there_is_one() {
    let mut back = receiver(0).await;
    let options = ReceiptOptions { sent_after: Duration::from_millis(30), ..back.options() };
    let universe = universe_with(Options { receipts: Some(options.clone()), ..Options::default() }).await;
    assert_eq!(universe.code(&text("+5511999990001")).await, (200, 0));
    universe.simulator.aim_receipts(None).unwrap();
    let other = ReceiptOptions { waba_id: Some("1002".to_owned()), ..options };
    universe.simulator.aim_receipts(Some(other)).unwrap();
    // The webhooks of the second message are due later and arrive; the statuses of the first do not arrive.
    assert_eq!(universe.post("/v25.0/2003/messages", "T-2", &text("+5511999990001")).await.0, 200);
    let (_, value) = back.change().await;
    assert_eq!(value["metadata"]["phone_number_id"], "2003");
    assert!(back.heard.try_recv().is_err());
    universe.simulator.aim_receipts(Some(back.options())).unwrap();
    let (_, value) = back.change().await;
    assert_eq!(value["metadata"]["phone_number_id"], NUMBER);
    assert_eq!(value["statuses"].as_array().unwrap().len(), 3);
}
