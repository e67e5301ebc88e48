//! Codes that are used, and codes that are not.

use std::sync::atomic::Ordering;

use super::*;
use domain::secret::Secret;
use driver::{OpenError, PairingFailure};

/// Options with QR codes that expire at once.
fn hasty() -> WebSessionOptions {
    WebSessionOptions { first_qr: Duration::ZERO, next_qr: Duration::ZERO, ..WebSessionOptions::default() }
}

#[tokio::test]
async fn the_phone_links_the_device_by_its_code_once() {
    let stage = Stage::set().await;
    let records = Arc::new(Memory::default());
    let mut session = stage.open(&records).await;
    let Event::Qr { payload, valid_for } = session.next().await else { panic!("no code") };
    assert_eq!(valid_for, Duration::from_secs(60));
    assert!(session.session.figures().is_connected && !session.session.figures().is_logged_in);

    let code = json!({ "code": payload.expose() });
    let linked = json!({ "phone_number": OWN, "device": "Pombo" });
    assert_eq!(stage.scan(&code).await, (200, linked));
    let lid = Jid::parse("77999700000001@lid").ok();
    assert_eq!(session.next().await, Event::Paired { number: number(OWN), lid, business_name: None });
    assert_eq!(session.next().await, Event::Connected);
    assert!(session.session.figures().is_logged_in);

    let (status, refused) = stage.scan(&code).await;
    assert_eq!(status, 404);
    assert!(refused["error"].as_str().unwrap().contains("scan the newest"), "{refused}");
}

#[tokio::test]
async fn a_device_that_was_linked_needs_no_code_when_it_is_opened_again() {
    let stage = Stage::set().await;
    let (mut session, records) = stage.linked().await;
    session.session.stop().await;
    assert_eq!(session.rest().await, [Event::Ended(End::Stopped)]);
    let mut again = stage.open(&records).await;
    assert_eq!(again.next().await, Event::Connected);
}

#[tokio::test]
async fn codes_that_nobody_scans_run_out_and_end_the_session() {
    let stage = Stage::with(hasty()).await;
    let records = Arc::new(Memory::default());
    let mut session = stage.open(&records).await;
    let mut rest = session.rest().await;
    assert_eq!(rest.pop(), Some(Event::Ended(End::QrExhausted)));
    assert_eq!(rest.pop(), Some(Event::QrExhausted));
    let codes: Vec<_> = rest
        .iter()
        .map(|event| match event {
            Event::Qr { payload, .. } => payload.expose(),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(codes.len(), 6);
    assert!(!stage.driver.scan(codes[5], None).await, "even the newest");
    assert!(records.is_empty());
    assert_eq!(
        session.session.pairing_code(number(OWN)).await,
        Err(PairingFailure::NotNow("it has ended".to_owned()))
    );
}

#[tokio::test]
async fn a_newer_code_takes_the_place_of_the_older() {
    let options = WebSessionOptions { first_qr: Duration::ZERO, ..WebSessionOptions::default() };
    let stage = Stage::with(options).await;
    let mut session = stage.open(&Arc::new(Memory::default())).await;
    let (older, newer) = (session.qr().await, session.qr().await);
    assert!(!stage.driver.scan(&older, None).await);
    assert!(stage.driver.scan(&newer, Some(number("+999700000002"))).await);
    let Event::Paired { number: of, .. } = session.next().await else { panic!("it is linked") };
    assert_eq!(of, number("+999700000002"));
}

#[tokio::test]
async fn a_code_that_is_typed_links_the_phone_that_it_was_given_to() {
    let stage = Stage::set().await;
    let mut session = stage.open(&Arc::new(Memory::default())).await;
    let qr = session.qr().await;
    let first = session.session.pairing_code(number("+999700000003")).await.unwrap();
    let code = session.session.pairing_code(number("+999700000004")).await.unwrap();
    assert_ne!(first, code);
    let shown = |event| match event {
        Event::PairingCode { code, valid_for } => (code, valid_for),
        other => panic!("{other:?}"),
    };
    assert_eq!(shown(session.next().await).0, first);
    assert_eq!(shown(session.next().await), (code.clone(), Duration::from_secs(160)));
    assert_eq!(stage.scan(&json!({ "code": first.expose() })).await.0, 404, "another took its place");
    let (left, right) = code.expose().split_at(4);
    let typed = json!({ "code": format!("{}-{right}", left.to_lowercase()) });
    let (status, linked) = stage.scan(&typed).await;
    assert_eq!((status, &linked["phone_number"]), (200, &json!("+999700000004")));
    assert!(matches!(session.next().await, Event::Paired { .. }));
    assert_eq!(stage.scan(&json!({ "code": qr })).await.0, 404, "it is linked");
    let refused = session.session.pairing_code(number(OWN)).await;
    assert_eq!(refused, Err(PairingFailure::NotNow("it is paired already".to_owned())));
}

#[tokio::test]
async fn a_typed_code_outlives_qr_codes_and_its_expiry_is_reported() {
    let options = WebSessionOptions { qr_codes: 1, first_qr: Duration::from_secs(1), ..hasty() };
    let options = WebSessionOptions { pairing_code: Duration::from_millis(1_500), ..options };
    let stage = Stage::with(options).await;
    let mut session = stage.open(&Arc::new(Memory::default())).await;
    session.qr().await;
    let code: Secret = session.session.pairing_code(number(OWN)).await.unwrap();
    let valid_for = Duration::from_millis(1_500);
    let expected = [
        Event::PairingCode { code, valid_for },
        Event::QrExhausted,
        Event::PairingCodeExpired,
        Event::Ended(End::QrExhausted),
    ];
    assert_eq!(session.rest().await, expected);
}

#[tokio::test]
async fn a_session_ends_when_its_caller_ends_it_and_its_code_becomes_invalid() {
    let stage = Stage::set().await;
    let (mut session, _) = stage.linked().await;
    session.session.unlink().await;
    session.session.stop().await;
    assert_eq!(session.rest().await, [Event::Ended(End::Unlinked)]);
    assert_eq!(session.session.figures(), Figures::default());

    let mut dropped = stage.open(&Arc::new(Memory::default())).await;
    let code = dropped.qr().await;
    drop(dropped.session);
    let Some(end) = dropped.told.recv().await else { panic!("no end") };
    assert_eq!(end, Event::Ended(End::Stopped));
    assert!(!stage.driver.scan(&code, None).await);
}

#[tokio::test]
async fn stopping_waits_for_no_receiver() {
    let stage = Stage::with(WebSessionOptions { next_qr: Duration::from_secs(60), ..hasty() }).await;
    let mut session = stage.open_with_room(&Arc::new(Memory::default()), 1).await;
    tokio::time::timeout(PATIENCE, session.session.stop()).await.expect("it waits");
    let rest = session.rest().await;
    assert_eq!(rest.last(), Some(&Event::Ended(End::Stopped)), "{rest:?}");
}

#[tokio::test]
async fn records_that_cannot_be_used_are_reported() {
    let stage = Stage::set().await;
    let records = Arc::new(Memory::default());
    records.is_full.store(true, Ordering::Relaxed);
    let mut session = stage.open(&records).await;
    let code = session.qr().await;
    assert!(!stage.driver.scan(&code, None).await);
    let Event::Ended(End::Failed { sentence }) = session.next().await else { panic!("it goes on") };
    assert!(sentence.contains("cannot be reached"), "{sentence}");

    let (session, records) = stage.linked().await;
    session.session.stop().await;
    records.garble();
    let (events, _told) = mpsc::channel(1);
    let inbox = Arc::new(driver::NoInbox);
    let opening = Opening { session: Uuid::now_v7(), records, events, inbox, device_name: String::new() };
    assert!(matches!(stage.driver.open(opening).await, Err(OpenError::Records(_))));
}

#[tokio::test]
async fn an_invalid_scan_is_refused() {
    let stage = Stage::set().await;
    for body in [json!({}), json!({ "code": 7 }), json!({ "code": "2@x", "phone_number": "12" })] {
        assert_eq!(stage.scan(&body).await.0, 400, "{body}");
    }
    assert_eq!(stage.scan(&json!({ "code": "2@x" })).await.0, 404);
}
