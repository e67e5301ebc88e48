//! Messages through a business account: every type, what programs leave out, and what is refused at once.

use pombo::clock::Timestamp;
use pombo::domain::graph::message_key;
use reqwest::Method;
use serde_json::{Value, json};

use super::{Program, read, refused};
use crate::database::{Universe, stores};
use crate::receipts::teller::Teller;
use crate::running::{NUMBER, Running, WABA, until};

stores!(
    every_type_arrives_as_the_provider_takes_it,
    what_the_provider_refuses_is_told_at_once,
    a_request_is_carried_out_once_for_each_key_and_answers_name_messages_in_both_directions,
    a_person_who_wrote_is_answered_by_the_id_that_the_business_has_for_them,
);

const ANA: &str = "5511900000001";

async fn start(universe: &Universe) -> (Running, Program) {
    let running = Running::start(universe, |config| config.graph.enabled = true).await;
    let program = Program::new(running.address(), &running.key);
    (running, program)
}

/// The last message that the provider got.
fn last(running: &Running) -> Value {
    running.simulator.messages(0, 1_000).pop().and_then(|message| message.body).unwrap_or_default()
}

fn path() -> String {
    format!("/{NUMBER}/messages")
}

async fn every_type_arrives_as_the_provider_takes_it(universe: &Universe) {
    let (running, program) = start(universe).await;
    let link = "https://files.example/a.png";
    let place = json!({ "latitude": -23.5, "longitude": -46.6, "name": "Sol" });
    let phones = json!([{ "phone": "+55 11 98888-7777", "type": "CELL" }]);
    let card = json!([{ "name": { "formatted_name": "Ana", "first_name": "Ana" }, "phones": phones }]);
    let buttons = json!({ "buttons": [{ "type": "reply", "reply": { "id": "a", "title": "Yes" } }] });
    let interactive = json!({ "type": "button", "body": { "text": "Well?" }, "action": buttons.to_string() });
    for (kind, content) in [
        ("text", json!({ "body": "true", "preview_url": "false" })),
        ("image", json!({ "link": link, "caption": "here" })),
        ("video", json!({ "link": "https://files.example/a.mp4" })),
        ("audio", json!({ "link": "https://files.example/a.mp3" })),
        ("document", json!({ "link": "https://files.example/a.pdf", "filename": "menu.pdf" })),
        ("sticker", json!({ "link": "https://files.example/a.webp" })),
        ("location", place),
        ("contacts", card),
        ("interactive", interactive),
    ] {
        // Programs leave fields out, and give null for others.
        let body = json!({ "messaging_product": "whatsapp", "to": "+55 (11) 90000-0001", "type": kind, kind: content,
            "context": null });
        let (status, answer) = program.post(&path(), &body).await;
        assert_eq!(status, 200, "{kind}: {answer}");
        assert_eq!(answer["messaging_product"], "whatsapp");
        assert_eq!(answer["contacts"], json!([{ "input": "+55 (11) 90000-0001", "wa_id": ANA }]));
        let id = answer["messages"][0]["id"].as_str().unwrap();
        assert!(message_key(id).is_some(), "{id}");
        until("the message", async || last(&running)["type"] == kind).await;
        let got = last(&running);
        assert_eq!(
            (got["to"].as_str(), got[kind].is_null()),
            (Some(format!("+{ANA}").as_str()), false),
            "{got}"
        );
        if kind == "interactive" {
            assert_eq!(got[kind]["action"], buttons, "an action that is a text");
        }
    }
    // A type may be left out.
    let body = json!({ "to": 5_511_900_000_001_u64, "text": { "body": "untyped" } });
    assert_eq!(program.post(&path(), &body).await.0, 200);
    running.end().await;
}

async fn what_the_provider_refuses_is_told_at_once(universe: &Universe) {
    let (running, program) = start(universe).await;
    let text = |to: &str| json!({ "to": to, "type": "text", "text": { "body": "hi" } });
    let script = json!([{ "outcome": { "error": { "code": 131_047 } } }]);
    running.simulator.script(&script).unwrap();
    // The first message finds out that the channel can send, and nobody waits for it.
    until("a refusal", async || {
        let answer = program.post(&path(), &text(ANA)).await;
        answer.0 != 200 && refused(&answer) == (400, 131_047, None)
    })
    .await;
    running.simulator.end_script();
    for (body, number) in [
        (json!({ "type": "text", "text": { "body": "hi" } }), (400, 131_008, None)),
        (json!({ "to": ANA, "type": "text" }), (400, 131_008, None)),
        (json!({ "to": ANA }), (400, 131_008, None)),
        (json!({ "to": "12", "type": "text", "text": { "body": "hi" } }), (400, 131_009, None)),
        (json!({ "to": ANA, "type": "order", "order": {} }), (400, 100, None)),
        (json!({ "to": ANA, "text": { "body": "x".repeat(4_097) } }), (400, 100, None)),
        (
            json!({ "to": ANA, "recipient_type": "group", "type": "text", "text": { "body": "x" } }),
            (400, 130_501, None),
        ),
        (json!({ "recipient": "BR.13491208655302741918", "text": { "body": "x" } }), (400, 131_062, None)),
        (json!({ "to": ANA, "type": "image", "image": { "id": "123" } }), (400, 131_053, None)),
        (
            json!({ "to": ANA, "type": "template", "template": { "name": "none", "language": { "code": "en" } } }),
            (404, 132_001, None),
        ),
    ] {
        assert_eq!(refused(&program.post(&path(), &body).await), number, "{body}");
    }
    let broken = program.request(Method::POST, &path()).body("{\"to\":");
    assert_eq!(refused(&read(broken).await), (400, 100, None));
    running.end().await;
}

async fn a_request_is_carried_out_once_for_each_key_and_answers_name_messages_in_both_directions(
    universe: &Universe,
) {
    let (running, program) = start(universe).await;
    let send = async |body: Value| {
        let request = program.request(Method::POST, &path()).header("Idempotency-Key", "order-1").json(&body);
        read(request).await
    };
    let body = json!({ "to": ANA, "type": "text", "text": { "body": "once" }, "biz_opaque_callback_data": "order-1" });
    let (first, again) = (send(body.clone()).await, send(body).await);
    assert_eq!((first.0, &first.1), (200, &again.1), "{}", first.1);
    let other = send(json!({ "to": ANA, "type": "text", "text": { "body": "other" } })).await;
    assert_eq!(refused(&other), (400, 100, None));

    // A message of ours is answered under the provider's id of it.
    let own = first.1["messages"][0]["id"].as_str().unwrap();
    let key = message_key(own).unwrap();
    let known = async || {
        running.store.of(running.company).graph_ids().provider_id(running.channel, key).await.unwrap()
    };
    until("the provider's id", async || known().await.is_some()).await;
    let body =
        json!({ "to": ANA, "type": "text", "text": { "body": "quoting" }, "context": { "message_id": own } });
    assert_eq!(program.post(&path(), &body).await.0, 200);
    until("the quoting message", async || last(&running)["text"]["body"] == "quoting").await;
    assert_eq!(last(&running)["context"]["message_id"].as_str(), known().await.as_deref());
    let label = running.store.of(running.company).sends().find(key.send_id, Timestamp::now()).await.unwrap();
    assert_eq!(label.unwrap().label.metadata["biz_opaque_callback_data"], "order-1");

    // What a person wrote is marked as read by the provider's id.
    let read_mark = json!({ "messaging_product": "whatsapp", "status": "read", "message_id": "wamid.in1",
        "typing_indicator": { "type": "text" } });
    assert_eq!(refused(&program.post(&path(), &read_mark).await), (400, 131_009, None));
    let wrote = json!({ "from": ANA, "id": "wamid.in1", "timestamp": (Timestamp::now().millis() / 1_000).to_string(),
        "type": "text", "text": { "body": "hi" } });
    let value = json!({ "contacts": [{ "profile": { "name": "Ana" }, "wa_id": ANA }], "messages": [wrote] });
    assert_eq!(Teller::new(&running).tell(running.channel, NUMBER, &value).await.status, 200);
    until("the message", async || {
        program.post(&path(), &read_mark).await == (200, json!({ "success": true }))
    })
    .await;

    // A template list goes on as long as it names a cursor, and ends without `paging`.
    until("the provider's templates", async || {
        let templates = program.get(&format!("/{WABA}/message_templates")).await.1;
        templates["data"].as_array().is_some_and(|data| data.len() > 1)
    })
    .await;
    let (_, part) = program.get(&format!("/{WABA}/message_templates?limit=1&fields=name,status")).await;
    let next = part["paging"]["next"].as_str().unwrap();
    assert!(next.starts_with(running.address()) && next.contains("limit=1"), "{part}");
    assert_eq!(part["data"][0].as_object().unwrap().len(), 3, "the id and what was asked for: {part}");
    let (_, whole) = program.get(&format!("/{WABA}/message_templates?limit=1000")).await;
    assert_eq!(whole.get("paging"), None, "{whole}");
    running.end().await;
}

async fn a_person_who_wrote_is_answered_by_the_id_that_the_business_has_for_them(universe: &Universe) {
    let (running, program) = start(universe).await;
    let user = "BR.13491208655302741918";
    let body = json!({ "recipient": user, "type": "text", "text": { "body": "hi" } });
    assert_eq!(refused(&program.post(&path(), &body).await), (400, 131_062, None), "not heard of yet");
    let at = (Timestamp::now().millis() / 1_000).to_string();
    let contact = json!({ "profile": { "name": "Ana" }, "wa_id": ANA, "user_id": user });
    let message = json!({ "from": ANA, "from_user_id": user, "id": "wamid.IN1", "timestamp": at, "type": "text",
        "text": { "body": "oi" } });
    let said = json!({ "contacts": [contact], "messages": [message] });
    let told = Teller::new(&running).tell(running.channel, NUMBER, &said).await;
    assert_eq!(told.status, 200, "{}", told.body);
    let (status, answer) = program.post(&path(), &body).await;
    assert_eq!(status, 200, "{answer}");
    assert_eq!(answer["contacts"], json!([{ "input": user, "wa_id": ANA }]));
    until("the message", async || last(&running)["to"] == format!("+{ANA}")).await;
    running.end().await;
}
