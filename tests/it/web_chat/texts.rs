//! Texts to people and groups: the answers, and the messages that arrive.

use serde_json::json;

use super::world::{World, check, text};
use super::{GROUP, JOAO, MARIA, OWN};

#[tokio::test]
async fn a_text_to_a_number_is_answered_as_pending_and_arrives() {
    let world = World::linked().await;
    world.whatsapp.contact(MARIA);
    let words = "Olá, veja https://exemplo.com.br/ação?x=1";
    let (sent, message) = world.arrives(&text("+55 (11) 98888-7777", words)).await;
    check(&sent, &format!("{MARIA}@s.whatsapp.net"), &json!({"extendedTextMessage": {"text": words}}));
    assert_eq!((message.account.as_str(), message.text()), (OWN, Some(words)));
    assert_eq!(message.readers.iter().collect::<Vec<_>>(), [MARIA]);
    assert!(message.is_on_own_phone);
    let shown = world.message(&sent.send).await;
    assert_eq!(shown["recipient"], format!("+{MARIA}"));
}

#[tokio::test]
async fn a_text_with_values_arrives_filled_in_and_one_that_lacks_a_value_is_refused() {
    let world = World::linked().await;
    world.whatsapp.contact(MARIA);
    let mut body = text(MARIA, "{{value.order}} for {{contact.first_name|you}}");
    body["values"] = json!({ "order": "A {{1}}" });
    let (_, message) = world.arrives(&body).await;
    assert_eq!(message.text(), Some("A {{1}} for you"), "a value is no placeholder");
    body["values"] = json!({});
    let lacking = world.post(&body).await;
    assert_eq!(
        (lacking.status, lacking.code().as_deref()),
        (422, Some("value_not_allowed")),
        "{}",
        lacking.body
    );
    assert_eq!((world.sends().await, world.whatsapp.messages().len()), (1, 1));
}

#[tokio::test]
async fn texts_to_one_person_arrive_in_the_order_in_which_they_were_answered() {
    let world = World::linked().await;
    world.whatsapp.contact(MARIA);
    let words: Vec<_> = (0..8).map(|number| format!("número {number}")).collect();
    for words in &words {
        world.arrives(&text(MARIA, words)).await;
    }
    let messages = world.whatsapp.messages();
    assert_eq!(messages.iter().map(|message| message.text().unwrap()).collect::<Vec<_>>(), words);
}

#[tokio::test]
async fn a_text_to_a_group_is_answered_with_the_group_and_read_by_all_members() {
    let world = World::linked().await;
    let (maria, joao) = (world.whatsapp.contact(MARIA), world.whatsapp.contact(JOAO));
    world.whatsapp.group(GROUP, &[&maria, &joao]);
    for written in [GROUP.to_owned(), format!("{GROUP}@g.us")] {
        let body = json!({
            "phone_number": written, "recipient_type": "group", "type": "text", "message": "oi, pessoal",
        });
        let (sent, message) = world.arrives(&body).await;
        let content = json!({"extendedTextMessage": {"text": "oi, pessoal"}});
        check(&sent, &format!("{GROUP}@g.us"), &content);
        assert_eq!(message.to.to_string(), format!("{GROUP}@g.us"));
        assert_eq!(message.text(), Some("oi, pessoal"));
        assert_eq!(message.readers.iter().collect::<Vec<_>>(), [MARIA, JOAO]);
        world.reaches(&sent.send, "sent").await;
    }
}

#[tokio::test]
async fn a_number_that_whatsapp_knows_otherwise_is_written_to_as_it_is_known() {
    let world = World::linked().await;
    let without_ninth_digit = "551188887777";
    world.whatsapp.contact(without_ninth_digit).is_found_as(MARIA);
    let (sent, message) = world.arrives(&text(MARIA, "oi")).await;
    let content = json!({"extendedTextMessage": {"text": "oi"}});
    check(&sent, &format!("{without_ninth_digit}@s.whatsapp.net"), &content);
    assert!(message.readers.contains(without_ninth_digit));
}

#[tokio::test]
async fn a_group_is_not_looked_up_and_a_number_is_only_once() {
    let world = World::linked().await;
    let maria = world.whatsapp.contact(MARIA);
    world.whatsapp.group(GROUP, &[&maria]);
    for words in ["um", "dois", "três"] {
        world.arrives(&text(MARIA, words)).await;
    }
    let group = json!({"phone_number": GROUP, "recipient_type": "group", "type": "text", "message": "oi"});
    world.arrives(&group).await;
    assert_eq!((world.whatsapp.lookups_of(MARIA), world.whatsapp.lookups_of(GROUP)), (1, 0));
}

#[tokio::test]
async fn a_send_is_listed_like_any_other() {
    let world = World::linked().await;
    world.whatsapp.contact(MARIA);
    let (sent, _) = world.arrives(&text(MARIA, "oi")).await;
    world.reaches(&sent.send, "sent").await;
    let path = format!("/api/v1/sends/{}", sent.send);
    let shown = world.service.get(&path, &world.own.company.key).await.json();
    assert_eq!(
        (&shown["id"], &shown["type"], &shown["recipients_count"]),
        (&json!(sent.send), &json!("text"), &json!(1))
    );
    assert_eq!(shown["channel_id"], json!(world.own.channel));
    assert_eq!(world.sends().await, 1);
}

#[tokio::test]
async fn a_send_of_a_web_session_keeps_its_caller_s_words_and_is_found_by_its_recipient() {
    let world = World::linked().await;
    world.whatsapp.contact(MARIA);
    let mut body = text(MARIA, "Olá");
    body["reference"] = json!("order-7");
    body["metadata"] = json!({"campaign": "spring"});
    let (sent, _) = world.arrives(&body).await;
    assert_eq!(sent.body.get("ignored"), None);
    let key = &world.own.company.key;
    let record = world.service.get(&format!("/api/v1/sends/{}", sent.send), key).await.json();
    assert_eq!((&record["reference"], &record["metadata"]), (&body["reference"], &body["metadata"]));
    assert_eq!(record["content"], json!({"type": "text", "message": "Olá"}));
    let found =
        world.service.get(&format!("/api/v1/messages?recipient={MARIA}&reference=order-7"), key).await;
    assert_eq!(found.json()["data"][0]["send_id"], sent.send);
    body["metadata"] = json!({"campaign": 7});
    let refused = world.post(&body).await;
    assert_eq!((refused.status, refused.code().as_deref()), (400, Some("invalid_field")));
}
