//! What people write to sessions, while it cannot be written for one of them or for all.

use std::sync::Arc;
use std::time::Duration;

use pombo::clock::Timestamp;
use pombo::config::Config;
use pombo::connector::web_session::NotTaken;
use pombo::domain::channel::{Kind, Status};
use pombo::domain::inbound::{Direction, InboundBody, InboundContent, InboundMessage, Peer};
use pombo::domain::phone::PhoneNumber;
use pombo::store::changes::Who;
use pombo::store::conversations::StoredDataKey;
use pombo::store::sealing_keys::KeyProof;
use pombo::vault::Vault;
use serde_json::json;
use tokio::task::JoinHandle;
use uuid::Uuid;

use super::World;
use crate::full_disk::{fill, free};
use crate::running::until;
use crate::scripted_driver::Scripted;

/// The text of this number, from the same person each time.
fn text(nth: u64) -> InboundMessage {
    let number = PhoneNumber::parse("5521977776666").ok();
    InboundMessage {
        id: format!("3EB0{nth}"),
        direction: Direction::In,
        peer: Peer { number, ..Peer::default() },
        at: Timestamp::now().minus(Duration::from_secs(100 - nth)),
        is_past: false,
        by_admin: false,
        body: InboundBody {
            content: InboundContent::Text { body: format!("text {nth}") },
            context: None,
            referral: None,
            author: None,
            beyond: None,
        },
    }
}

/// The session gets this text.
fn gets(session: &Scripted, nth: u64) -> JoinHandle<Result<(), NotTaken>> {
    let inbox = Arc::clone(&session.inbox);
    tokio::spawn(async move { inbox.take(vec![text(nth)]).await })
}

#[tokio::test]
async fn a_session_whose_messages_cannot_be_sealed_waits_in_order_and_holds_up_no_other() {
    let mut world = World::new().await;
    let other = world.link(1).await;
    let company = world.service.company("globex").await;
    let phone = world.service.channel(&company, Kind::WebSession, "other", Status::Pairing).await.id;
    (world.channel, world.company) = (phone, company);
    let session = world.link(2).await;
    // Only another process has the key with which this company's messages are sealed.
    let (store, directory) = (world.service.store(), tempfile::tempdir().unwrap());
    let vault = Vault::open(&Config::default().secrets, directory.path()).unwrap().0;
    let (key, id) = (vault.current_key(), Uuid::now_v7());
    let proof = KeyProof { key_id: key.as_slice().to_vec(), proof: vault.prove(key).unwrap() };
    store.sealing_keys().add(&proof).await.unwrap();
    let foreign = StoredDataKey { id, company_id: world.company.id, sealed: vault.new_data_key(id) };
    assert!(store.conversations().add_key(&foreign, None).await.unwrap());

    let (first, second) = (gets(&session, 1), gets(&session, 2));
    for nth in 1..=3 {
        let taken = tokio::time::timeout(Duration::from_secs(60), gets(&other, nth)).await;
        taken.expect("the other session waits").unwrap().unwrap();
    }
    assert!(!first.is_finished() && !second.is_finished());

    // The key is declared lost, and the company gets another one.
    let (who, name) = (Who::Pombo, key.to_string());
    assert!(store.sealing_keys().remove(&who, key.as_slice(), &name, "lost").await.unwrap());
    second.await.unwrap().unwrap();
    assert!(first.is_finished(), "the later one has overtaken it");
    first.await.unwrap().unwrap();
    let listed = world.service.get("/api/v1/conversations", &world.company.key).await.json();
    let conversation = &listed["data"][0];
    assert_eq!(
        (&conversation["unread"], &conversation["last_message"]["line"]),
        (&json!(2), &json!("text 2")),
        "{listed}"
    );
}

#[tokio::test]
async fn what_finds_no_room_is_not_taken_before_there_is_room_and_is_there_once_in_order() {
    let world = World::new().await;
    let (session, key) = (world.link(1).await, &world.company.key);
    gets(&session, 1).await.unwrap().unwrap();
    let url = world.service.universe.url.clone();
    fill(&url).await;
    let (second, third) = (gets(&session, 2), gets(&session, 3));
    until("a failed write", async || world.service.get("/readyz", key).await.status == 503).await;
    assert!(!second.is_finished() && !third.is_finished());
    free(&url).await;
    third.await.unwrap().unwrap();
    assert!(second.is_finished(), "the later one has overtaken it");
    second.await.unwrap().unwrap();
    // WhatsApp delivers again what a session did not acknowledge.
    for nth in [2, 3] {
        gets(&session, nth).await.unwrap().unwrap();
    }
    let listed = world.service.get("/api/v1/conversations", key).await.json();
    assert_eq!(listed["data"][0]["unread"], 3, "{listed}");
    let path = format!("/api/v1/conversations/{}/messages", listed["data"][0]["id"].as_str().unwrap());
    let thread = world.service.get(&path, key).await.json();
    let entries = thread["data"].as_array().unwrap().iter();
    let lines: Vec<_> = entries.map(|entry| entry["received"]["content"]["body"].as_str()).collect();
    assert_eq!(lines, [Some("text 1"), Some("text 2"), Some("text 3")]);
}
