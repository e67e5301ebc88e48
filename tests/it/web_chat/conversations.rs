//! Conversations of a web session: read, answered with a quote and an emoji, and shown that somebody types.

use pombo::connector::web_session::MessageId;
use serde_json::{Value, json};

use super::MARIA;
use super::world::World;
use crate::running::until;

#[tokio::test]
async fn a_person_is_answered_with_a_quote_and_sees_reading_and_typing() {
    let world = World::linked().await;
    let (service, key) = (&world.service, &world.own.company.key);
    let maria = world.whatsapp.contact(MARIA);
    let heard = maria.writes(&world.own.phone, "onde está?").await;
    let mut conversation = Value::Null;
    until("the conversation", async || {
        conversation = service.get("/api/v1/conversations", key).await.json()["data"][0].clone();
        !conversation.is_null()
    })
    .await;
    assert_eq!(conversation["last_message"]["line"], "onde está?");
    assert_eq!(conversation["window_until"], Value::Null, "a web session has no windows");
    let path = format!("/api/v1/conversations/{}", conversation["id"].as_str().unwrap());
    let post =
        async |what: &str, body: Value| service.post(&format!("{path}/{what}"), key, body.to_string()).await;

    let read = post("read", json!({})).await;
    assert_eq!((read.status, &read.json()["unread"]), (200, &json!(0)), "{}", read.body);
    world.own.phone.expect_read(&heard).await;
    let typing = post("typing", json!({})).await;
    assert_eq!(typing.status, 204, "{}", typing.body);
    world.own.phone.expect_typing().await;

    let sent = async |body: Value| {
        let answer = post("messages", body).await;
        assert_eq!(answer.status, 202, "{}", answer.body);
        let send = answer.json()["send_id"].as_str().unwrap().parse().unwrap();
        world.whatsapp.expect_message(MessageId::of_send(send).as_str()).await
    };
    let message = sent(json!({ "type": "text", "message": "a caminho", "reply_to": heard })).await;
    assert_eq!(message.text(), Some("a caminho"));
    let text = message.content.extended_text_message.as_option().unwrap();
    let context = text.context_info.as_option().unwrap();
    assert_eq!(context.stanza_id.as_deref(), Some(heard.as_str()));
    assert!(context.participant.as_deref().is_some_and(|author| author.contains('@')), "{context:?}");
    let quoted = context.quoted_message.as_option().unwrap();
    assert_eq!(quoted.conversation.as_deref(), Some("onde está?"));
    let emoji = json!({ "type": "reaction", "reaction": { "message_id": heard, "emoji": "👍" } });
    let message = sent(emoji).await;
    let below = message.content.reaction_message.as_option().unwrap().key.as_option().unwrap();
    assert_eq!((below.id.as_deref(), below.from_me), (Some(heard.as_str()), Some(false)));

    let template = post("messages", json!({ "type": "template", "template_id": 7, "components": [] })).await;
    assert_eq!((template.status, template.code().as_deref()), (400, Some("invalid_type")));
}
