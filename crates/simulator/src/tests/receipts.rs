//! Status webhooks, received by a small receiver.

use std::time::Duration;

use super::receiver::{SECRET, receiver};
use super::*;

fn keyed(key: &str) -> Value {
    let mut body = text("+5511999990001");
    body["biz_opaque_callback_data"] = key.into();
    body
}

#[actix_web::test]
async fn an_accepted_message_is_sent_delivered_and_read() {
    let mut receiver = receiver(0).await;
    let universe = universe_with(Options { receipts: Some(receiver.options()), ..Options::default() }).await;
    let (_, answer) = universe.send(&keyed("clé-1")).await;
    let webhook = receiver.next().await;
    assert_eq!(webhook["object"], "whatsapp_business_account");
    assert_eq!(webhook["entry"][0]["id"], WABA);
    let value = &webhook["entry"][0]["changes"][0]["value"];
    assert_eq!(value["metadata"]["phone_number_id"], NUMBER);
    let sent = &value["statuses"][0];
    assert_eq!((&sent["status"], &sent["id"]), (&json!("sent"), &answer["messages"][0]["id"]));
    assert_eq!(
        (&sent["recipient_id"], &sent["biz_opaque_callback_data"]),
        (&json!("5511999990001"), &json!("clé-1"))
    );
    assert_eq!(sent["pricing"]["category"], "service");
    let contacts = value["contacts"].as_array().unwrap();
    assert_eq!(contacts.len(), 1, "each person is named once");
    assert_eq!(
        (&contacts[0]["wa_id"], &contacts[0]["user_id"]),
        (&json!("5511999990001"), &sent["recipient_user_id"])
    );
    assert!(contacts[0]["profile"]["name"].is_string());
    assert!(sent["timestamp"].is_string());
    let steps: Vec<_> =
        value["statuses"].as_array().unwrap().iter().map(|status| status["status"].clone()).collect();
    assert_eq!(steps, ["sent", "delivered", "read"]);
}

#[actix_web::test]
async fn contacts_have_the_address_of_the_send_and_groups_are_not_contacts() {
    let mut receiver = receiver(0).await;
    let universe = universe_with(Options { receipts: Some(receiver.options()), ..Options::default() }).await;
    let mut by_id = text("");
    by_id["recipient"] = "US.13491208655302741918".into();
    universe.send(&by_id).await;
    let webhook = receiver.next().await;
    let value = &webhook["entry"][0]["changes"][0]["value"];
    let status = &value["statuses"][0];
    assert_eq!(status["recipient_user_id"], "US.13491208655302741918");
    assert!(status.get("recipient_id").is_none() && value["contacts"][0].get("wa_id").is_none(), "{value}");
    assert_eq!(value["contacts"][0]["user_id"], "US.13491208655302741918");

    let mut to_group = text("120363000000000001");
    to_group["recipient_type"] = "group".into();
    universe.send(&to_group).await;
    let webhook = receiver.next().await;
    let value = &webhook["entry"][0]["changes"][0]["value"];
    let status = &value["statuses"][0];
    assert_eq!(
        (&status["recipient_id"], &status["recipient_type"]),
        (&json!("120363000000000001"), &json!("group"))
    );
    assert!(value.get("contacts").is_none(), "{value}");
}

#[actix_web::test]
async fn a_reaction_is_only_sent_and_one_in_another_conversation_fails_later() {
    let mut receiver = receiver(0).await;
    let universe = universe_with(Options { receipts: Some(receiver.options()), ..Options::default() }).await;
    let id = universe.send(&keyed("text")).await.1["messages"][0]["id"].clone();
    receiver.next().await;
    let reaction = |to: &str| {
        json!({
            "messaging_product": "whatsapp", "to": to, "type": "reaction",
            "reaction": { "message_id": id, "emoji": "👍" },
        })
    };
    for (to, status, code) in [
        ("+5511999990001", "sent", Value::Null),
        ("+5511999990002", "failed", json!(131_009)),
        ("+5511999990001", "sent", Value::Null),
    ] {
        let (accepted, answer) = universe.send(&reaction(to)).await;
        assert_eq!(accepted, 200, "{answer}");
        let webhook = receiver.next().await;
        let statuses = &webhook["entry"][0]["changes"][0]["value"]["statuses"];
        assert_eq!(statuses.as_array().map(Vec::len), Some(1), "{statuses}");
        let told = &statuses[0];
        assert_eq!((&told["status"], &told["id"]), (&json!(status), &answer["messages"][0]["id"]), "{to}");
        assert_eq!(told["errors"][0]["code"], code, "{to}");
    }
}

#[actix_web::test]
async fn statuses_come_in_batches_of_the_configured_size() {
    let mut receiver = receiver(0).await;
    let options = ReceiptOptions { batch: 7, sent_after: Duration::from_millis(100), ..receiver.options() };
    let universe = universe_with(Options { receipts: Some(options), ..Options::default() }).await;
    for message in 0..14 {
        universe.send(&keyed(&message.to_string())).await;
    }
    let (statuses, webhooks) = receiver.statuses(42).await;
    assert_eq!(statuses.len(), 42);
    assert!(webhooks >= 6, "{webhooks}");
    let unique: std::collections::HashSet<_> = statuses.into_iter().collect();
    assert_eq!(unique.len(), 42);
}

#[actix_web::test]
async fn a_refused_webhook_is_repeated_until_it_is_heard() {
    let mut receiver = receiver(2).await;
    let universe = universe_with(Options { receipts: Some(receiver.options()), ..Options::default() }).await;
    universe.send(&keyed("k")).await;
    let first = receiver.next().await;
    assert_eq!(first, receiver.next().await);
    assert_eq!(first, receiver.next().await);
    let deadline = std::time::Instant::now() + Duration::from_secs(5);
    let mut figures = universe.get("/_sim/webhook").await.1;
    while figures["webhooks_delivered"] != 1 && std::time::Instant::now() < deadline {
        figures = universe.get("/_sim/webhook").await.1;
    }
    assert_eq!((&figures["webhooks_refused"], &figures["messages_waiting"]), (&json!(2), &json!(0)));
    assert_eq!(figures["statuses_delivered"], 3);
}

#[actix_web::test]
async fn a_failed_message_says_why() {
    let mut receiver = receiver(0).await;
    let universe = universe_with(Options { receipts: Some(receiver.options()), ..Options::default() }).await;
    universe.script(&json!({ "outcome": { "async_failed": { "code": 131_049, "title": "not now" } } }));
    assert_eq!(universe.code(&keyed("k")).await, (200, 0));
    let webhook = receiver.next().await;
    let statuses = &webhook["entry"][0]["changes"][0]["value"]["statuses"];
    assert_eq!((&statuses[0]["status"], statuses.as_array().unwrap().len()), (&json!("failed"), 1));
    let error = &statuses[0]["errors"][0];
    assert_eq!((&error["code"], &error["title"]), (&json!(131_049), &json!("not now")));
}

#[actix_web::test]
async fn statuses_can_be_reversed_and_doubled() {
    let mut receiver = receiver(0).await;
    let options = ReceiptOptions {
        reorder_probability: 1.0,
        duplicate_probability: 1.0,
        read_probability: 0.0,
        ..receiver.options()
    };
    let universe = universe_with(Options { receipts: Some(options), ..Options::default() }).await;
    universe.send(&keyed("k")).await;
    let (statuses, _) = receiver.statuses(4).await;
    let steps: Vec<_> = statuses.iter().map(|(_, status)| status.as_str()).collect();
    assert_eq!(steps, ["delivered", "delivered", "sent", "sent"]);
}

#[actix_web::test]
async fn a_status_can_be_heard_before_the_send_is_answered() {
    let mut receiver = receiver(0).await;
    let options = ReceiptOptions { before_reply: true, ..receiver.options() };
    let universe = universe_with(Options { receipts: Some(options), ..Options::default() }).await;
    universe.send(&keyed("k")).await;
    assert!(receiver.heard.try_recv().is_ok());
}

#[actix_web::test]
async fn a_receiver_that_knows_the_token_is_verified_before_its_first_webhook() {
    let mut receiver = receiver(0).await;
    let universe = universe().await;
    let webhook = json!({
        "url": receiver.url, "app_secret": SECRET, "verify_token": "open sesame", "sent_after": "1ms",
    });
    assert_eq!(universe.post("/_sim/webhook", "", &webhook).await.0, 200);
    assert_eq!(universe.get("/_sim/webhook").await.1["is_verified"], false);
    universe.send(&keyed("k")).await;
    receiver.next().await;
    assert_eq!(universe.get("/_sim/webhook").await.1["is_verified"], true);
}

#[actix_web::test]
async fn messages_beyond_the_queue_get_no_receipts_and_are_counted() {
    let receiver = receiver(0).await;
    let options =
        ReceiptOptions { queue_limit: 2, sent_after: Duration::from_secs(600), ..receiver.options() };
    let universe = universe_with(Options { receipts: Some(options), ..Options::default() }).await;
    for _ in 0..5 {
        assert_eq!(universe.code(&keyed("k")).await, (200, 0));
    }
    let figures = universe.get("/_sim/webhook").await.1;
    assert_eq!((&figures["messages_waiting"], &figures["messages_without_receipts"]), (&json!(2), &json!(3)));
}

#[actix_web::test]
async fn an_invalid_receiver_is_refused_with_a_sentence() {
    let universe = universe().await;
    for (webhook, sentence) in [
        (json!({ "url": "nowhere", "app_secret": "s" }), "url must be"),
        (json!({ "url": "http://localhost/", "app_secret": "s", "batch": 0 }), "batch must be"),
        (json!({ "url": "http://localhost/", "app_secret": "s", "read_probability": 2 }), "between 0 and 1"),
        (json!({ "url": "http://localhost/", "secret": "s" }), "unknown field `secret`"),
    ] {
        let (status, answer) = universe.post("/_sim/webhook", "", &webhook).await;
        assert!(status == 400 && answer["error"].as_str().unwrap().contains(sentence), "{answer}");
    }
}

#[actix_web::test]
async fn a_message_whose_reply_is_lost_gets_its_receipts() {
    let mut receiver = receiver(0).await;
    let universe = universe_with(Options { receipts: Some(receiver.options()), ..Options::default() }).await;
    universe.script(&json!({ "probability": 0.5, "seed": 5, "outcome": { "drop_reply": true } }));
    let mut lost = 0;
    for key in 0..40 {
        let url = universe.url(&format!("/v25.0/{NUMBER}/messages"));
        let request = universe.client.post(url).bearer_auth(TOKEN).json(&keyed(&key.to_string()));
        lost += usize::from(request.send().await.is_err());
    }
    assert!((5..35).contains(&lost), "{lost}");
    let (statuses, _) = receiver.statuses(120).await;
    let unique: std::collections::HashSet<_> = statuses.into_iter().collect();
    assert_eq!((unique.len(), universe.figures().messages), (120, 40));
}
