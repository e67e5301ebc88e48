//! How a linked session keeps its connection, loses it and comes back.

use std::sync::Arc;

use pombo::connector::web_session::{AckState, End, Event};
use web_session::{Options, WhatsApp};

use super::memory::Memory;
use super::{MARIA, OWN, Stage, number, open, person};
use crate::fake_whatsapp::Refusal;

#[tokio::test]
async fn a_linked_session_connects_again_without_a_code() {
    let stage = Stage::set();
    let (phone, _) = (stage.whatsapp.phone(OWN), stage.whatsapp.contact(MARIA));
    let (mut session, records) = stage.linked(&phone).await;
    session.session.stop().await;
    assert_eq!(session.expect_end().await, End::Stopped);
    phone.expect_offline().await;
    assert!(!session.session.figures().is_connected);

    let mut session = stage.open(&records).await;
    session.expect_connected().await;
    assert!(!session.has_shown_qr());
    assert_eq!(phone.logins(), 2);
    let sent = session.text(&person(MARIA), "de volta").await;
    assert_eq!(stage.whatsapp.expect_message(sent.id.as_str()).await.text(), Some("de volta"));
    assert_eq!(phone.uploads_of_keys(), 1, "the keys that WhatsApp has are good");
}

#[tokio::test]
async fn a_lost_connection_comes_back_by_itself() {
    let stage = Stage::set();
    let (phone, _) = (stage.whatsapp.phone(OWN), stage.whatsapp.contact(MARIA));
    let (mut session, _) = stage.linked(&phone).await;
    let before = session.session.figures().reconnects;
    phone.drop_connection();
    session.expect_disconnected().await;
    session.expect_connected().await;
    let sent = session.text(&person(MARIA), "de volta").await;
    assert_eq!(stage.whatsapp.expect_message(sent.id.as_str()).await.text(), Some("de volta"));
    assert_eq!(session.session.figures().reconnects, before + 1);
}

#[tokio::test]
async fn a_receipt_during_a_disconnection_is_reported_after_the_connection_is_back() {
    let stage = Stage::set();
    let (phone, maria) = (stage.whatsapp.phone(OWN), stage.whatsapp.contact(MARIA));
    let (mut session, records) = stage.linked(&phone).await;
    let sent = session.text(&person(MARIA), "oi").await;
    let message = stage.whatsapp.expect_message(sent.id.as_str()).await;
    session.expect_state(&sent.id, AckState::Server).await;
    session.session.stop().await;
    phone.expect_offline().await;
    maria.gets(&message);
    maria.reads(&message);

    let mut session = stage.open(&records).await;
    session.expect_state(&sent.id, AckState::Read).await;
}

#[tokio::test]
async fn a_session_that_connected_elsewhere_ends() {
    let stage = Stage::set();
    let phone = stage.whatsapp.phone(OWN);
    let (mut session, _) = stage.linked(&phone).await;
    phone.replace_stream();
    let end = session.expect_end().await;
    assert_eq!(end, End::Replaced);
    assert!(!end.voids_records());
}

#[tokio::test]
async fn two_sessions_on_one_device_throw_each_other_out() {
    let stage = Stage::set();
    let phone = stage.whatsapp.phone(OWN);
    let (mut first, records) = stage.linked(&phone).await;
    let copy = Arc::new(records.copy());
    let mut second = stage.open(&copy).await;
    second.expect_connected().await;
    assert_eq!(first.expect_end().await, End::Replaced);
}

#[tokio::test]
async fn a_session_that_the_phone_unlinks_ends_and_its_records_are_useless() {
    let stage = Stage::set();
    let phone = stage.whatsapp.phone(OWN);
    let (mut session, records) = stage.linked(&phone).await;
    phone.unlink();
    let end = session.expect_end().await;
    assert_eq!(end, End::Unlinked);
    assert!(end.voids_records());
    let mut again = stage.open(&records).await;
    assert_eq!(again.expect_end().await, End::Unlinked);
}

#[tokio::test]
async fn a_session_unlinks_itself_from_the_phone() {
    let stage = Stage::set();
    let phone = stage.whatsapp.phone(OWN);
    let (mut session, _) = stage.linked(&phone).await;
    session.session.unlink().await;
    assert_eq!(session.expect_end().await, End::Unlinked);
    phone.expect_unlinked().await;
}

#[tokio::test]
async fn an_unavailable_whatsapp_is_retried() {
    let stage = Stage::set();
    let phone = stage.whatsapp.phone(OWN);
    let (session, records) = stage.linked(&phone).await;
    session.session.stop().await;
    phone.refuse_logins(Refusal::Unavailable);
    let mut session = stage.open(&records).await;
    let pick = |event: &Event| match event {
        Event::Unreachable { sentence, .. } => Some(sentence.clone()),
        _ => None,
    };
    let sentence = session.expect("failed attempt", pick).await;
    assert!(sentence.contains("503"), "{sentence}");
    phone.refuse_logins(None);
    session.expect_connected().await;
}

#[tokio::test]
async fn every_attempt_to_reach_an_unreachable_whatsapp_is_reported() {
    let stage = Stage::set();
    let options = Options { address: String::from("ws://127.0.0.1:1/ws/chat"), ..options(&stage) };
    let driver = WhatsApp::start(options).unwrap();
    let mut session = open(&driver, Arc::new(Memory::default())).await;
    let pick = |wanted: u32| {
        move |event: &Event| match event {
            Event::Unreachable { attempts, .. } if *attempts == wanted => Some(()),
            _ => None,
        }
    };
    session.expect("first attempt", pick(1)).await;
    session.expect("second attempt", pick(2)).await;
    assert!(session.session.figures().failed_attempts >= 2);
    session.session.stop().await;
    assert_eq!(session.expect_end().await, End::Stopped);
}

fn options(stage: &Stage) -> Options {
    Options {
        http_base: Some(format!("http://{}", stage.whatsapp.media_host()).parse().unwrap()),
        prekeys: 16,
        ..Options::default()
    }
}

#[tokio::test]
async fn a_session_stops_while_whatsapp_is_silent() {
    let stage = Stage::set();
    stage.whatsapp.falls_silent();
    let mut session = stage.open(&Arc::default()).await;
    stage.whatsapp.expect_connection().await;
    session.session.stop().await;
    assert_eq!(session.expect_end().await, End::Stopped);
    stage.whatsapp.expect_no_connection().await;
}

#[tokio::test]
async fn a_stopped_session_has_stored_its_keys() {
    let stage = Stage::set();
    let (phone, _) = (stage.whatsapp.phone(OWN), stage.whatsapp.contact(MARIA));
    let (mut session, records) = stage.linked(&phone).await;
    for text in ["um", "dois", "três"] {
        let sent = session.text(&person(MARIA), text).await;
        // A message that is handed over at the moment of the stop may not arrive; it then has no
        // acknowledgement.
        stage.whatsapp.expect_message(sent.id.as_str()).await;
    }
    session.session.stop().await;
    let (kept, changes) = (Arc::new(records.copy()), records.changes());
    assert_eq!(session.expect_end().await, End::Stopped);

    // Keys that were used and not stored would be used again, and no recipient could read their messages.
    let mut session = stage.open(&kept).await;
    session.expect_connected().await;
    let sent = session.text(&person(MARIA), "quatro").await;
    let message = stage.whatsapp.expect_message(sent.id.as_str()).await;
    assert_eq!(message.text(), Some("quatro"));
    assert_eq!(records.changes(), changes, "a session that has stopped writes nothing more");
}

#[tokio::test]
async fn a_dropped_session_disconnects() {
    let stage = Stage::set();
    let phone = stage.whatsapp.phone(OWN);
    let (session, _) = stage.linked(&phone).await;
    drop(session);
    phone.expect_offline().await;
}

#[tokio::test]
async fn records_that_were_wiped_make_a_new_device() {
    use pombo::connector::web_session::Records as _;

    let stage = Stage::set();
    let phone = stage.whatsapp.phone(OWN);
    let (mut session, records) = stage.linked(&phone).await;
    session.session.unlink().await;
    assert_eq!(session.expect_end().await, End::Unlinked);
    records.wipe().await.unwrap();
    assert!(records.is_empty());
    let mut session = stage.open(&records).await;
    phone.scan(&session.expect_qr().await);
    session.expect_connected().await;
    assert!(session.session.find(number(MARIA)).await.unwrap().is_none());
}
