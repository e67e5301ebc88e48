//! A web session behind the door that speaks Graph: messages wait for their turn, and buttons become a text.

use std::time::Duration;

use pombo::connector::web_session::MessageId;
use pombo::domain::graph::message_key;
use reqwest::Method;
use serde_json::{Value, json};
use uuid::Uuid;

use super::waiting::{becomes, came, steer};
use super::world::{Account, World, tier};
use super::{MARIA, OTHER};
use crate::graph::{Program, refused};
use crate::running::until;

pub(super) async fn sent(program: &Program, path: &str, body: Value) -> MessageId {
    MessageId::of_send(accepted(program, path, body).await)
}

/// The send of a message to Maria.
async fn accepted(program: &Program, path: &str, mut body: Value) -> Uuid {
    body["to"] = MARIA.into();
    let (status, answer) = program.post(path, &body).await;
    assert_eq!(status, 200, "{answer}");
    message_key(answer["messages"][0]["id"].as_str().unwrap()).unwrap().send_id
}

#[tokio::test]
async fn a_session_takes_what_a_program_sends_reads_and_answers() {
    let world = World::linked_with(|config| config.graph.enabled = true).await;
    let program = Program::new(world.service.url(), &world.own.company.key);
    let maria = world.whatsapp.contact(MARIA);
    let path = program.messages().await;
    let buttons = json!({ "type": "button", "body": { "text": "Qual?" }, "action": { "buttons": [
        { "type": "reply", "reply": { "id": "a", "title": "Pequeno" } },
        { "type": "reply", "reply": { "id": "b", "title": "Grande" } },
    ] } });
    let id = sent(&program, &path, json!({ "type": "interactive", "interactive": buttons })).await;
    let message = world.whatsapp.expect_message(id.as_str()).await;
    assert_eq!(message.text(), Some("Qual?\n\n1. Pequeno\n2. Grande"));

    let heard = maria.writes(&world.own.phone, "a pequena").await;
    let mark = json!({ "status": "read", "message_id": heard, "typing_indicator": { "type": "text" } });
    until("the message read", async || program.post(&path, &mark).await.0 == 200).await;
    world.own.phone.expect_read(&heard).await;
    world.own.phone.expect_typing().await;

    let answer = json!({ "type": "text", "text": { "body": "ok" }, "context": { "message_id": heard } });
    let id = sent(&program, &path, answer).await;
    let message = world.whatsapp.expect_message(id.as_str()).await;
    let text = message.content.extended_text_message.as_option().unwrap();
    assert_eq!(text.context_info.as_option().unwrap().stanza_id.as_deref(), Some(heard.as_str()));
    let emoji = json!({ "type": "reaction", "reaction": { "message_id": heard, "emoji": "👍" } });
    let id = sent(&program, &path, emoji).await;
    let message = world.whatsapp.expect_message(id.as_str()).await;
    let below = message.content.reaction_message.as_option().unwrap().key.as_option().unwrap();
    assert_eq!((below.id.as_deref(), below.from_me), (Some(heard.as_str()), Some(false)));

    let template = json!({ "to": MARIA, "type": "template", "template": { "name": "x", "language": "en" } });
    assert_eq!(refused(&program.post(&path, &template).await), (404, 132_001, None));
    let (_, accounts) = program.get("/me/whatsapp_business_accounts").await;
    let list = format!("/{}/message_templates", accounts["data"][0]["id"].as_str().unwrap());
    let parts = json!([
        { "type": "HEADER", "format": "TEXT", "text": "Pedido {{1}}" },
        { "type": "BODY", "text": "{{1}}, está pronto." },
    ]);
    let new = json!({ "name": "x", "language": "en", "category": "UTILITY", "components": parts });
    let (status, created) = program.post(&list, &new).await;
    assert_eq!((status, &created["status"]), (200, &json!("APPROVED")), "{created}");
    assert_eq!(refused(&program.post(&list, &new).await).1, 100, "its name is taken");
    let (_, listed) = program.get(&format!("{list}?fields=name,status")).await;
    assert_eq!(listed, json!({ "data": [{ "id": created["id"], "name": "x", "status": "APPROVED" }] }));
    let value = |text: &str| json!([{ "type": "text", "text": text }]);
    let values = json!([
        { "type": "header", "parameters": value("A-1") }, { "type": "body", "parameters": value("Maria") },
    ]);
    let named = json!({ "name": "x", "language": { "code": "en" }, "components": values });
    let id = sent(&program, &path, json!({ "type": "template", "template": named })).await;
    let message = world.whatsapp.expect_message(id.as_str()).await;
    assert_eq!(message.text(), Some("*Pedido A-1*\n\nMaria, está pronto."));
    assert_eq!(refused(&program.post(&path, &template).await), (400, 132_000, None), "values are missing");
    let place = format!("/{}", created["id"].as_str().unwrap());
    let other = json!({ "components": [{ "type": "BODY", "text": "Pronto." }] });
    assert_eq!(program.post(&place, &other).await, (200, json!({ "success": true })));
    assert_eq!(program.get(&place).await.1["components"], other["components"]);
    let gone = program.ask(Method::DELETE, &format!("{list}?name=x"), &Value::Null).await;
    assert_eq!(gone, (200, json!({ "success": true })));
    assert_eq!(refused(&program.post(&path, &template).await), (404, 132_001, None));
    let nobody = json!({ "to": "5500900000000", "text": { "body": "oi" } });
    assert_eq!(refused(&program.post(&path, &nobody).await), (400, 131_026, None));
}

#[tokio::test]
async fn a_message_that_would_be_too_soon_waits_for_its_turn() {
    let world = World::linked_with(|config| {
        config.graph.enabled = true;
        config.graph.wait = Duration::ZERO;
        config.web_session.patience = Duration::from_secs(1);
    })
    .await;
    world.whatsapp.contact(MARIA);
    let slow = json!({ "messages_per_second": "30/min", "burst": 1 });
    tier(world.service.store(), "slow", slow).await;
    let account = world.account("globex", OTHER, "slow").await;
    let program = Program::new(world.service.url(), &account.company.key);
    let path = program.messages().await;
    let mut ids = Vec::new();
    for number in 0..4 {
        ids.push(sent(&program, &path, json!({ "text": { "body": format!("número {number}") } })).await);
    }
    for id in ids {
        world.whatsapp.expect_message(id.as_str()).await;
    }
}

#[tokio::test]
async fn a_message_that_waits_goes_from_no_other_number_than_the_one_that_it_was_accepted_for() {
    let world = World::linked_with(|config| {
        config.graph.enabled = true;
        config.graph.wait = Duration::ZERO;
    })
    .await;
    world.whatsapp.contact(MARIA);
    tier(world.service.store(), "slow", json!({ "messages_per_second": "10/min", "burst": 1 })).await;
    let former = world.account("globex", OTHER, "slow").await;
    let account = Account { phone: world.whatsapp.phone("5531955554444"), ..former.clone() };
    let program = Program::new(world.service.url(), &former.company.key);
    let path = program.messages().await;
    let text = |words: &str| json!({ "text": { "body": words } });
    // The second one waits behind the first, and is stopped while the phone is changed.
    let stopped = async |words: &str| {
        sent(&program, &path, text("primeiro")).await;
        let send = accepted(&program, &path, text(words)).await.to_string();
        let answer = steer(&world, &account, &send, "pause").await;
        assert_eq!(answer.status, 200, "{}", answer.body);
        send
    };
    let changed = async |from: &Account| {
        world.unlink(from).await;
        world.becomes(from, "unlinked", "pairing", None).await;
        world.link(&account).await;
    };
    let foreign = stopped("do outro").await;
    changed(&former).await;
    let own = stopped("deste").await;
    changed(&account).await;
    for send in [&foreign, &own] {
        assert_eq!(steer(&world, &account, send, "resume").await.status, 200);
        becomes(&world, &account, send, "finished").await;
    }
    let failed = world.message_of(&account, &foreign).await;
    assert_eq!(failed["state"], "failed", "{failed}");
    assert!(failed["error"].to_string().contains("another phone was linked"), "{failed}");
    assert_eq!((came(&world, "do outro"), came(&world, "deste")), (0, 1));
}
