//! The ways in which WhatsApp refuses a linked session.

use std::time::Duration;

use pombo::clock::Timestamp;
use pombo::connector::web_session::{Ban, End};

use super::{OWN, Stage};
use crate::fake_whatsapp::Refusal;

/// The end of a linked session that WhatsApp refuses in this way.
async fn end_of(refusal: Refusal) -> End {
    let stage = Stage::set();
    let phone = stage.whatsapp.phone(OWN);
    let (session, records) = stage.linked(&phone).await;
    session.session.stop().await;
    phone.refuse_logins(refusal);
    stage.open(&records).await.expect_end().await
}

#[tokio::test]
async fn a_ban_states_its_reason_and_its_end() {
    let before = Timestamp::now();
    let end = end_of(Refusal::Banned { code: 101, seconds: 3_600 }).await;
    let End::Banned(Ban { until, code, sentence }) = &end else { panic!("{end:?}") };
    assert_eq!(*code, 101);
    assert!(sentence.contains("too many"), "{sentence}");
    let left = until.from_now(before);
    assert!((3_590..=3_660).contains(&left.as_secs()), "{left:?}");
    assert!(!end.voids_records());
}

#[tokio::test]
async fn a_client_that_is_too_old_says_so() {
    assert_eq!(end_of(Refusal::Outdated).await, End::ClientOutdated);
}

#[tokio::test]
async fn an_account_that_is_locked_says_so() {
    let end = end_of(Refusal::Locked).await;
    assert_eq!(end, End::AccountLocked);
    assert!(end.voids_records());
}

#[tokio::test]
async fn a_device_that_was_unlinked_meanwhile_says_so() {
    assert_eq!(end_of(Refusal::LoggedOut).await, End::Unlinked);
}

#[tokio::test]
async fn any_other_refusal_keeps_its_code() {
    let end = end_of(Refusal::UnknownClient).await;
    assert!(matches!(end, End::Refused { code: 418, .. }), "{end:?}");
    assert!(!end.voids_records());
}

#[tokio::test]
async fn a_client_that_is_too_old_is_refused_before_it_is_linked() {
    let stage = Stage::set();
    stage.whatsapp.refuse_everyone(Refusal::Outdated);
    let mut session = stage.open(&std::sync::Arc::default()).await;
    assert_eq!(session.expect_end().await, End::ClientOutdated);
    // The refusal is not repeated, because the session does not connect again by itself.
    stage.whatsapp.expect_no_connection().await;
    tokio::time::timeout(Duration::from_secs(5), session.session.stop()).await.unwrap();
}
