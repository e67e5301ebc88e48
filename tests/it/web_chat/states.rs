//! The states of a message after its answer: every state that WhatsApp reports moves the ledger, and only
//! forward.

use serde_json::json;

use super::world::{World, text};
use super::{GROUP, JOAO, MARIA};

#[tokio::test]
async fn every_state_of_a_message_is_shown_in_its_turn() {
    let world = World::linked().await;
    let maria = world.whatsapp.contact(MARIA);
    world.own.phone.withhold_acks();
    let (sent, message) = world.arrives(&text(MARIA, "oi")).await;
    world.is_under_way(&sent.send).await;
    world.own.phone.give_acks();
    let shown = world.reaches(&sent.send, "sent").await;
    assert_eq!((&shown["attempts"], &shown["error"]), (&json!(1), &json!(null)));
    maria.gets(&message);
    world.reaches(&sent.send, "delivered").await;
    maria.reads(&message);
    world.reaches(&sent.send, "read").await;
}

#[tokio::test]
async fn a_voice_note_that_was_played_was_read() {
    let world = World::linked().await;
    let maria = world.whatsapp.contact(MARIA);
    let (sent, message) = world.arrives(&text(MARIA, "oi")).await;
    maria.plays(&message);
    world.reaches(&sent.send, "read").await;
}

#[tokio::test]
async fn late_and_repeated_reports_change_nothing() {
    let world = World::linked().await;
    let maria = world.whatsapp.contact(MARIA);
    world.own.phone.withhold_acks();
    let (first, message) = world.arrives(&text(MARIA, "um")).await;
    maria.reads(&message);
    world.reaches(&first.send, "read").await;
    world.own.phone.give_acks();
    maria.gets(&message);
    maria.reads(&message);
    maria.gets(&message);
    // A later receipt arrives after all of these.
    let (second, message) = world.arrives(&text(MARIA, "dois")).await;
    maria.gets(&message);
    maria.gets(&message);
    world.reaches(&second.send, "delivered").await;
    assert_eq!(world.message(&first.send).await["state"], "read");
    assert_eq!(world.whatsapp.messages().len(), 2);
}

#[tokio::test]
async fn a_recipient_s_receipt_settles_a_message_that_whatsapp_did_not_acknowledge() {
    let world = World::linked().await;
    let maria = world.whatsapp.contact(MARIA);
    world.own.phone.withhold_acks();
    let (sent, message) = world.arrives(&text(MARIA, "oi")).await;
    maria.gets(&message);
    world.reaches(&sent.send, "delivered").await;
}

#[tokio::test]
async fn receipts_during_the_service_s_absence_are_shown_after_it_is_back() {
    let mut world = World::linked().await;
    let maria = world.whatsapp.contact(MARIA);
    let (sent, message) = world.arrives(&text(MARIA, "oi")).await;
    world.reaches(&sent.send, "sent").await;
    world.service.stop().await;
    world.own.phone.expect_offline().await;
    maria.gets(&message);
    maria.reads(&message);
    world.restart().await;
    world.reaches(&sent.send, "read").await;
}

#[tokio::test]
async fn a_message_to_a_group_has_the_furthest_state_of_its_members() {
    let world = World::linked().await;
    let (maria, joao) = (world.whatsapp.contact(MARIA), world.whatsapp.contact(JOAO));
    world.whatsapp.group(GROUP, &[&maria, &joao]);
    let body = json!({"phone_number": GROUP, "recipient_type": "group", "type": "text", "message": "oi"});
    let (sent, message) = world.arrives(&body).await;
    world.reaches(&sent.send, "sent").await;
    maria.gets(&message);
    world.reaches(&sent.send, "delivered").await;
    joao.reads(&message);
    world.reaches(&sent.send, "read").await;
}

#[tokio::test]
async fn a_message_that_whatsapp_does_not_understand_has_failed_with_its_code() {
    let world = World::linked().await;
    world.whatsapp.contact(MARIA);
    world.own.phone.refuse_next_message(479);
    let refused = world.send(&text(MARIA, "oi")).await;
    let shown = world.reaches(&refused.send, "failed").await;
    assert_eq!(shown["error"]["code"], 479);
    world.becomes(&world.own, "linked", "connected", None).await;
    let (sent, _) = world.arrives(&text(MARIA, "de novo")).await;
    world.reaches(&sent.send, "sent").await;
    assert_eq!(world.message(&refused.send).await["state"], "failed", "the refused message is not retried");
    assert_eq!(world.whatsapp.messages().len(), 1);
}
