//! Who does not want marketing is left out of it, and of nothing else; templates are kept back and let go.

use pombo::domain::template::{ListedTemplate, ParameterFormat};
use pombo::simulator;
use serde_json::{Value, json};

use super::FIRST;
use super::teller::{Teller, events, rows, status};
use crate::database::{Universe, stores};
use crate::running::{NUMBER, Running, WABA};

stores!(
    who_opted_out_is_left_out_of_marketing_and_of_nothing_else,
    a_template_that_the_provider_keeps_back_is_not_sent_until_it_is_let_go,
    an_inbound_message_is_kept_once,
);

/// Takes over the simulator's templates; those of marketing and utility.
async fn templates(running: &Running) -> (i64, i64) {
    let listed: Vec<_> = simulator::default_templates().into_iter().map(listed).collect();
    running.store.sync_templates(running.company, WABA, &listed).await.unwrap();
    let id = async |name| {
        let found = running.store.find_template_by_name(running.company, WABA, name, "en_US").await.unwrap();
        found.unwrap().id
    };
    (id("promo").await, id("hello_world").await)
}

fn listed(template: simulator::Template) -> ListedTemplate {
    ListedTemplate {
        provider_id: template.name.clone(),
        name: template.name,
        language: template.language,
        category: template.category,
        status: template.status,
        parameter_format: ParameterFormat::Positional,
        components: serde_json::value::to_raw_value(&template.components).unwrap(),
        rejected_reason: None,
        quality_score: None,
    }
}

fn marketing(template: i64, numbers: &[u64]) -> Value {
    let text = |text: &str| json!([{ "type": "text", "text": text }]);
    json!({ "type": "template", "template_id": template, "phone_number": numbers, "components": [
        { "type": "header", "parameters": [{ "type": "image", "link": "https://shop.example/spring.jpg" }] },
        { "type": "body", "parameters": text("Priya") },
        { "type": "button", "sub_type": "url", "index": "0", "parameters": text("spring") },
    ] })
}

fn utility(template: i64, numbers: &[u64]) -> Value {
    json!({ "type": "template", "template_id": template, "phone_number": numbers, "components": [] })
}

async fn who_opted_out_is_left_out_of_marketing_and_of_nothing_else(universe: &Universe) {
    let running = Running::start(universe, |_| {}).await;
    let (promo, hello) = templates(&running).await;
    let (stays, leaves) = (FIRST + 1, FIRST + 2);
    let (code, answer) = running.send(&marketing(promo, &[stays, leaves])).await;
    assert_eq!((code, &answer["recipients_count"]), (202, &json!(2)), "{answer}");
    running.settled(2).await;
    let row = rows(universe).await.into_iter().find(|row| row.recipient.cast_unsigned() == leaves).unwrap();
    let teller = Teller::new(&running);
    let opted_out = json!({ "statuses": [status(&row, "failed", Some(131_050))] });
    assert_eq!(teller.tell(running.channel, NUMBER, &opted_out).await.status, 200);
    let failed = rows(universe).await.into_iter().find(|other| other.ordinal == row.ordinal).unwrap();
    assert_eq!((failed.error_code, failed.error.as_deref()), (Some(131_050), Some("refused")));

    let (code, answer) = running.send(&marketing(promo, &[stays, leaves])).await;
    assert_eq!((code, &answer["recipients_count"]), (202, &json!(1)), "{answer}");
    let skipped = json!([{ "input": format!("+{leaves}"), "reason": "does not want marketing messages" }]);
    assert_eq!(answer["skipped"], skipped);
    let (code, answer) = running.send(&marketing(promo, &[leaves])).await;
    assert_eq!((code, &answer["code"]), (400, &json!("no_valid_recipients")));
    let (code, answer) = running.send(&utility(hello, &[stays, leaves])).await;
    assert_eq!((code, &answer["recipients_count"]), (202, &json!(2)), "{answer}");

    // They come back, and say so.
    let preference = |value: &str| {
        let at = pombo::clock::Timestamp::now().millis() / 1_000;
        json!({ "user_preferences": [{ "wa_id": leaves.to_string(), "category": "marketing_messages",
            "value": value, "timestamp": at }] })
    };
    for (value, count) in [("resume", 2), ("stop", 1), ("resume", 2)] {
        let told = teller.tell_field(running.channel, "user_preferences", &preference(value)).await;
        assert_eq!(told.status, 200);
        let (_, answer) = running.send(&marketing(promo, &[stays, leaves])).await;
        assert_eq!(answer["recipients_count"], json!(count), "{value}: {answer}");
    }
    running.end().await;
}

async fn a_template_that_the_provider_keeps_back_is_not_sent_until_it_is_let_go(universe: &Universe) {
    let running = Running::start(universe, |_| {}).await;
    let (promo, hello) = templates(&running).await;
    assert_eq!(running.send(&marketing(promo, &[FIRST, FIRST + 1])).await.0, 202);
    running.settled(2).await;
    let teller = Teller::new(&running);
    let statuses: Vec<_> =
        rows(universe).await.iter().map(|row| status(row, "failed", Some(132_015))).collect();
    assert_eq!(teller.tell(running.channel, NUMBER, &json!({ "statuses": statuses })).await.status, 200);
    let is_approved = async |id| {
        let template = running.store.find_template(running.company, id).await.unwrap().unwrap();
        template.status == "APPROVED"
    };
    assert!(!is_approved(promo).await && is_approved(hello).await);

    let said = |event: &str| {
        json!({ "event": event, "message_template_id": 1, "message_template_name": "promo",
            "message_template_language": "en-US", "reason": "NONE" })
    };
    for (event, approved) in [("APPROVED", true), ("PAUSED", false), ("APPROVED", true), ("DISABLED", false)]
    {
        let field = "message_template_status_update";
        assert_eq!(teller.tell_field(running.channel, field, &said(event)).await.status, 200);
        assert_eq!(is_approved(promo).await, approved, "{event}");
    }
    let quality = json!({ "previous_quality_score": "GREEN", "new_quality_score": "RED", "message_template_id": 1,
        "message_template_name": "hello_world", "message_template_language": "en_US" });
    assert_eq!(
        teller.tell_field(running.channel, "message_template_quality_update", &quality).await.status,
        200
    );
    let hello = running.store.find_template(running.company, hello).await.unwrap().unwrap();
    assert_eq!((hello.quality_score.as_deref(), hello.status.as_str()), (Some("RED"), "APPROVED"));
    running.end().await;
}

async fn an_inbound_message_is_kept_once(universe: &Universe) {
    let running = Running::start(universe, |_| {}).await;
    let teller = Teller::new(&running);
    let message = json!({ "from": "5511900000001", "id": "wamid.in", "timestamp": "1749416383", "type": "text",
        "text": { "body": "olá \u{0} 🕊" } });
    let value = json!({
        "contacts": [{ "profile": { "name": "Sheena" }, "wa_id": "5511900000001" }],
        "messages": [message, message],
    });
    for _ in 0..2 {
        assert_eq!(teller.tell(running.channel, NUMBER, &value).await.status, 200);
    }
    let kept = events(universe).await;
    let [event] = kept.as_slice() else { panic!("{kept:?}") };
    assert_eq!((event.kind.as_str(), event.identity.as_str()), ("inbound_message", "wamid.in"));
    assert_eq!((event.company_id, event.channel_id), (running.company, running.channel));
    assert_eq!(event.id.get_version_num(), 7);
    let payload: Value = serde_json::from_str(&event.payload).unwrap();
    assert_eq!(payload["message"], message);
    running.end().await;
}
