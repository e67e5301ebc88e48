//! Sessions with many events: their supervisor writes all of its rows, without a delay.

use std::sync::atomic::Ordering;
use std::time::Duration;

use pombo::clock::Timestamp;
use pombo::connector::web_session::{Ack, AckState, Event, MessageId};
use pombo::domain::channel::{Kind, Status};
use pombo::domain::phone::PhoneNumber;
use sea_orm::{ConnectionTrait as _, Database};
use serde_json::{Value, json};

use super::World;
use crate::running::until;
use crate::scripted_driver::{Scripted, ScriptedDriver};

/// Waits until the session's supervisor has handled all earlier events: sends more events than its queue holds.
async fn is_dealt_with(session: &Scripted) {
    for _ in 0..300 {
        session.tell(nothing()).await;
    }
}

/// An event that changes nothing.
fn nothing() -> Event {
    Event::Disconnected { sentence: "the line is bad".to_owned() }
}

#[tokio::test]
async fn a_busy_session_writes_its_state_when_the_database_takes_it_again() {
    let world = World::new().await;
    let session = world.link(1).await;
    let database = Database::connect(&world.service.universe.url).await.unwrap();
    database.execute_unprepared("ALTER TABLE channel RENAME TO channel_away").await.unwrap();
    session.tell(Event::Unreachable { attempts: 3, sentence: "nobody answers".to_owned() }).await;
    is_dealt_with(&session).await;
    database.execute_unprepared("ALTER TABLE channel_away RENAME TO channel").await.unwrap();
    database.close().await.unwrap();
    let busy = tokio::spawn(async move {
        loop {
            session.tell(nothing()).await;
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    });
    world.becomes("linked", "disconnected", Some("unreachable")).await;
    assert!(!busy.is_finished());
    busy.abort();
}

#[tokio::test]
async fn events_of_an_ending_session_are_written_before_a_graceful_stop_ends() {
    let mut world = World::new().await;
    let session = world.link(1).await;
    let (id, sent) = sent(&world, &session).await;
    let ack = |state| Event::Ack(Ack { id: id.clone(), state, at: Timestamp::now(), from: None });
    session.tell(ack(AckState::Server)).await;
    let people: Vec<_> =
        (0..100).map(|n| PhoneNumber::parse(&format!("55119777700{n:02}")).unwrap()).collect();
    let mut last_words = vec![ack(AckState::Delivered)];
    last_words.extend(people.iter().map(|from| Event::Inbound { from: *from }));
    *session.last_words.lock().unwrap() = last_words;
    world.service.stop().await;

    let store = world.service.store();
    for number in people {
        let known = store.web_sessions().known_number(world.channel, number).await.unwrap();
        assert!(known.is_some_and(|known| known.first_heard_at.is_some()), "{number}");
    }
    world.service.restart_with_driver(ScriptedDriver::default()).await;
    let path = format!("/api/v1/sends/{}/messages", sent["send_id"].as_str().unwrap());
    let message = world.service.get(&path, &world.company.key).await.json();
    assert_eq!(message["data"][0]["state"], "delivered", "{message}");
}

#[tokio::test]
async fn a_receipt_that_comes_to_another_channel_counts_for_no_message() {
    let mut world = World::new().await;
    let session = world.link(1).await;
    let (id, sent) = sent(&world, &session).await;
    let ack = |state| Event::Ack(Ack { id: id.clone(), state, at: Timestamp::now(), from: None });
    session.tell(ack(AckState::Server)).await;
    let (acme, path) =
        (world.company.key.clone(), format!("/api/v1/sends/{}/messages", sent["send_id"].as_str().unwrap()));
    let state = async |world: &World| {
        let page = world.service.get(&path, &acme).await.json();
        page["data"][0]["state"].as_str().map(str::to_owned)
    };
    until("the message sent", async || state(&world).await.as_deref() == Some("sent")).await;
    session.tell(ack(AckState::Delivered)).await;
    until("the message delivered", async || state(&world).await.as_deref() == Some("delivered")).await;
    // The recipient tells the session of another company that the message was read.
    let company = world.service.company("globex").await;
    let phone = world.service.channel(&company, Kind::WebSession, "other", Status::Pairing).await.id;
    (world.channel, world.company) = (phone, company);
    let foreign = world.link(2).await;
    *foreign.last_words.lock().unwrap() = vec![ack(AckState::Read)];
    world.service.stop().await;
    world.service.restart_with_driver(ScriptedDriver::default()).await;
    assert_eq!(state(&world).await.as_deref(), Some("delivered"));
}

/// Sends a message through the session: its id at WhatsApp, and the answer.
async fn sent(world: &World, session: &Scripted) -> (MessageId, Value) {
    session.is_online.store(true, Ordering::Relaxed);
    let body = json!({
        "phone_number": "5521977776666", "recipient_type": "number", "type": "text", "message": "oi",
    });
    let path = format!("/api/v1/web-chat/{}/messages", world.channel);
    let mut sent = Value::Null;
    // The channel's actor hears a moment later that the session is connected.
    until("the message to go", async || {
        let answer = world.service.post(&path, &world.company.key, body.to_string()).await;
        sent = answer.json();
        answer.status == 200
    })
    .await;
    let id = MessageId::parse(sent["data"][0]["result"]["key"]["id"].as_str().unwrap()).unwrap();
    (id, sent)
}
