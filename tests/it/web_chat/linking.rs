//! How a channel gets a phone, keeps it, and loses it.

use serde_json::json;

use super::world::{World, text};
use super::{MARIA, OWN};
use crate::running::until;

#[tokio::test]
async fn a_phone_that_scans_the_code_is_connected_and_shown_with_its_number() {
    let world = World::unlinked().await;
    let code = world.code(&world.own).await;
    let shown = world.becomes(&world.own, "waiting", "pairing", None).await;
    assert!(shown["qr"]["svg"].as_str().unwrap().contains("<svg"), "{shown}");
    world.own.phone.scan(&code);
    let shown = world.becomes(&world.own, "linked", "connected", None).await;
    assert_eq!(
        (&shown["qr"], shown["phone_number"].as_str()),
        (&json!(null), Some(format!("+{OWN}").as_str()))
    );
    world.own.phone.expect_online().await;
    let channels = world.channels(&world.own).await;
    assert_eq!(channels.len(), 1);
    assert_eq!(
        (&channels[0]["status"], &channels[0]["phone_number"], &channels[0]["status_reason"]),
        (&json!("connected"), &json!(format!("+{OWN}")), &json!(null))
    );
    assert!(world.records(&world.own).await > 0);
}

#[tokio::test]
async fn a_phone_on_which_the_code_is_typed_is_connected() {
    let world = World::unlinked().await;
    world.begin(&world.own, &json!({"phone_number": OWN}).to_string()).await;
    let mut code = None;
    until("a code to be typed", async || {
        code = world.pairing(&world.own).await["pairing_code"]["code"].as_str().map(str::to_owned);
        code.is_some()
    })
    .await;
    world.own.phone.type_code(&code.unwrap()).await;
    let shown = world.becomes(&world.own, "linked", "connected", None).await;
    assert_eq!(shown["pairing_code"], json!(null));
    world.own.phone.expect_online().await;
}

#[tokio::test]
async fn a_new_process_connects_again_without_a_code() {
    let mut world = World::linked().await;
    until("the keys at WhatsApp", async || world.own.phone.uploads_of_keys() == 1).await;
    world.service.stop().await;
    world.own.phone.expect_offline().await;
    assert!(world.records(&world.own).await > 0);
    world.restart().await;
    world.comes_back(1).await;
    let shown = world.becomes(&world.own, "linked", "connected", None).await;
    assert_eq!(shown["qr"], json!(null));
    assert_eq!(world.own.phone.uploads_of_keys(), 1, "the keys that WhatsApp has are good");
}

#[tokio::test]
async fn a_connection_that_whatsapp_drops_comes_back_by_itself() {
    let world = World::linked().await;
    world.own.phone.drop_connection();
    world.comes_back(1).await;
}

#[tokio::test]
async fn a_session_that_was_replaced_is_closed_until_a_person_asks_for_it() {
    let world = World::linked().await;
    world.own.phone.replace_stream();
    world.becomes(&world.own, "linked", "disconnected", Some("replaced")).await;
    assert!(world.records(&world.own).await > 0);
    assert_eq!(world.own.phone.logins(), 1);
    world.begin(&world.own, "").await;
    world.becomes(&world.own, "linked", "connected", None).await;
    assert_eq!(world.own.phone.logins(), 2);
}

#[tokio::test]
async fn a_session_that_the_phone_unlinks_leaves_no_keys_and_can_be_linked_again() {
    let world = World::linked().await;
    world.own.phone.unlink();
    world.becomes(&world.own, "unlinked", "disconnected", Some("logged_out")).await;
    assert_eq!(world.records(&world.own).await, 0);
    world.link(&world.own).await;
}

#[tokio::test]
async fn a_session_that_is_unlinked_here_is_taken_off_the_phone_and_leaves_no_keys() {
    let world = World::linked().await;
    world.unlink(&world.own).await;
    world.own.phone.expect_unlinked().await;
    assert_eq!(world.records(&world.own).await, 0);
    world.becomes(&world.own, "unlinked", "pairing", None).await;
    world.link(&world.own).await;
}

#[tokio::test]
async fn a_session_sends_again_after_each_way_of_coming_back() {
    let mut world = World::linked().await;
    world.whatsapp.contact(MARIA);
    world.own.phone.drop_connection();
    world.comes_back(1).await;
    let (_, message) = world.arrives(&text(MARIA, "de volta")).await;
    assert_eq!(message.text(), Some("de volta"));
    world.restart().await;
    world.comes_back(2).await;
    let (_, message) = world.arrives(&text(MARIA, "outra vez")).await;
    assert_eq!(message.text(), Some("outra vez"));
    assert_eq!(world.own.phone.uploads_of_keys(), 1);
}
