//! Linking a session to a phone.

use std::sync::Arc;
use std::time::Duration;

use pombo::connector::web_session::{End, Event, PairingFailure};

use super::memory::Memory;
use super::{OWN, Stage, number};

/// A session's report of its pairing: number, hidden address, and name of the business.
fn paired(event: &Event) -> Option<(u64, Option<String>, Option<String>)> {
    match event {
        Event::Paired { number, lid, business_name } => {
            Some((number.as_u64(), lid.as_ref().map(ToString::to_string), business_name.clone()))
        }
        _ => None,
    }
}

#[tokio::test]
async fn scanning_the_qr_code_links_a_session() {
    let stage = Stage::set();
    let phone = stage.whatsapp.phone(OWN);
    let mut session = stage.open(&Arc::default()).await;
    let pick = |event: &Event| match event {
        Event::Qr { payload, valid_for } => Some((payload.expose().to_owned(), *valid_for)),
        _ => None,
    };
    let (code, valid_for) = session.expect("QR code", pick).await;
    assert!(valid_for > Duration::from_secs(50), "{valid_for:?}");
    assert!(!session.session.figures().is_logged_in);

    phone.scan(&code);
    let (number, lid, name) = session.expect("pairing", paired).await;
    assert_eq!(number.to_string(), OWN);
    assert_eq!(lid.as_deref(), Some("105511900000001@lid"));
    assert_eq!(name.as_deref(), Some("Pombo e Filhos"));
    session.expect_connected().await;
    phone.expect_online().await;
    assert!(session.session.figures().is_logged_in);
    assert_eq!(phone.uploads_of_keys(), 1);
}

#[tokio::test]
async fn typing_the_code_on_the_phone_links_a_session() {
    let stage = Stage::set();
    let phone = stage.whatsapp.phone(OWN);
    let mut session = stage.open(&Arc::default()).await;
    let code = session.session.pairing_code(number(OWN)).await.unwrap();
    let pick = |event: &Event| match event {
        Event::PairingCode { code, valid_for } => Some((code.clone(), *valid_for)),
        _ => None,
    };
    let (told, valid_for) = session.expect("pairing code", pick).await;
    assert_eq!(told.expose(), code.expose());
    assert!(valid_for > Duration::from_secs(150), "{valid_for:?}");

    phone.type_code(code.expose()).await;
    assert_eq!(session.expect("pairing", paired).await.0.to_string(), OWN);
    session.expect_connected().await;
    phone.expect_online().await;
}

#[tokio::test]
async fn a_wrong_code_links_nothing_and_the_right_one_does_after_it() {
    let stage = Stage::set();
    let phone = stage.whatsapp.phone(OWN);
    let mut session = stage.open(&Arc::default()).await;
    let code = session.session.pairing_code(number(OWN)).await.unwrap();

    phone.type_code("ABCD-1234").await;
    phone.expect_wrong_code().await;
    assert!(!session.session.figures().is_logged_in);

    phone.type_code(code.expose()).await;
    session.expect_connected().await;
}

#[tokio::test]
async fn a_refused_pairing_code_is_reported() {
    let stage = Stage::set();
    stage.whatsapp.refuse_pairing_codes(429, "rate-overlimit");
    let session = stage.open(&Arc::default()).await;
    let refused = session.session.pairing_code(number(OWN)).await.unwrap_err();
    assert_eq!(refused, PairingFailure::Throttled { retry_after: None });
}

#[tokio::test]
async fn the_newest_qr_code_counts() {
    let stage = Stage::set();
    let phone = stage.whatsapp.phone(OWN);
    let mut session = stage.open(&Arc::default()).await;
    let first = session.expect_qr().await;
    stage.whatsapp.refresh_codes();
    let second = session.expect_qr().await;
    assert_ne!(first, second);
    phone.scan(&second);
    session.expect_connected().await;
}

#[tokio::test]
async fn a_business_whose_signatures_differ_is_refused() {
    let stage = Stage::set();
    let phone = stage.whatsapp.phone(OWN);
    phone.belongs_to_a_hosted_business();
    let mut session = stage.open(&Arc::default()).await;
    phone.scan(&session.expect_qr().await);
    let end = session.expect_end().await;
    assert!(matches!(end, End::BusinessRefused { .. }), "{end:?}");
    assert!(end.voids_records());
}

#[tokio::test]
async fn a_device_that_is_linked_gets_no_pairing_code() {
    let stage = Stage::set();
    let (session, _) = stage.linked(&stage.whatsapp.phone(OWN)).await;
    let refused = session.session.pairing_code(number(OWN)).await.unwrap_err();
    assert!(matches!(refused, PairingFailure::NotNow(_)), "{refused:?}");
}

#[tokio::test]
async fn a_session_that_nobody_links_can_be_stopped_and_opened_again() {
    let stage = Stage::set();
    let records = Arc::new(Memory::default());
    let mut session = stage.open(&records).await;
    session.expect_qr().await;
    session.session.stop().await;
    assert_eq!(session.expect_end().await, End::Stopped);
    stage.whatsapp.expect_no_connection().await;

    let mut session = stage.open(&records).await;
    stage.whatsapp.phone(OWN).scan(&session.expect_qr().await);
    session.expect_connected().await;
}
