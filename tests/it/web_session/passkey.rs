//! Accounts that are protected by a passkey, as the driver links them.

use std::sync::Arc;
use std::time::Duration;

use pombo::connector::web_session::{Assertion, Challenge, End, Event};
use pombo::domain::secret::Secret;
use serde_json::Value;

use super::{OWN, Stage, Watched, number};
use crate::fake_whatsapp::Phone;

impl Watched {
    async fn expect_challenge(&mut self) -> (Challenge, Duration) {
        let pick = |event: &Event| match event {
            Event::PasskeyRequired { challenge, valid_for } => Some((challenge.clone(), *valid_for)),
            _ => None,
        };
        self.expect("challenge", pick).await
    }

    async fn expect_passkey_code(&mut self) -> (Secret, bool) {
        let pick = |event: &Event| match event {
            Event::PasskeyCode { code, is_proven } => Some((code.clone(), *is_proven)),
            _ => None,
        };
        self.expect("code to be compared", pick).await
    }
}

fn assertion(phone: &Phone, challenge: &Challenge) -> Assertion {
    Assertion::parse(&phone.signs(&Value::Object(challenge.options().clone()))).unwrap()
}

/// From the challenge to the connection.
async fn pass(session: &mut Watched, phone: &Phone) {
    let (challenge, valid_for) = session.expect_challenge().await;
    assert_eq!(valid_for, Duration::from_secs(300));
    session.session.answer_passkey(assertion(phone, &challenge)).await.unwrap();
    let on_the_phone = phone.shows_code().await;
    let (code, is_proven) = session.expect_passkey_code().await;
    assert_eq!((code.expose(), is_proven), (on_the_phone.as_str(), false));
    session.session.confirm_passkey().await.unwrap();
    phone.confirms_code().await;
    session.expect_connected().await;
    phone.expect_online().await;
}

#[tokio::test]
async fn a_passkey_and_a_code_that_is_the_same_on_both_sides_link_a_session() {
    let stage = Stage::set();
    let phone = stage.whatsapp.phone(OWN);
    phone.has_passkey(300);
    let records = Arc::default();
    let mut session = stage.open(&records).await;
    phone.scan(&session.expect_qr().await);
    pass(&mut session, &phone).await;
    session.session.stop().await;
    session.expect_end().await;

    // The device connects again with the agreed keys.
    let mut session = stage.open(&records).await;
    session.expect_connected().await;
    assert!(!session.has_shown_qr());
}

#[tokio::test]
async fn a_passkey_is_asked_for_after_a_typed_code_too() {
    let stage = Stage::set();
    let phone = stage.whatsapp.phone(OWN);
    phone.has_passkey(300);
    let mut session = stage.open(&Arc::default()).await;
    let code = session.session.pairing_code(number(OWN)).await.unwrap();
    phone.type_code(code.expose()).await;
    pass(&mut session, &phone).await;
}

#[tokio::test]
async fn a_passkey_of_another_account_is_refused() {
    let stage = Stage::set();
    let (phone, other) = (stage.whatsapp.phone(OWN), stage.whatsapp.phone("5521900000002"));
    phone.has_passkey(300);
    other.has_passkey(300);
    let mut session = stage.open(&Arc::default()).await;
    phone.scan(&session.expect_qr().await);
    let (challenge, _) = session.expect_challenge().await;
    let refused = session.session.answer_passkey(assertion(&other, &challenge)).await.unwrap_err();
    assert!(refused.0.contains("unknown credential"), "{refused}");
    session.session.stop().await;
    assert_eq!(session.expect_end().await, End::Stopped);
    assert!(stage.whatsapp.messages().is_empty());
}

#[tokio::test]
async fn nothing_is_answered_where_no_passkey_is_asked_for() {
    let stage = Stage::set();
    let phone = stage.whatsapp.phone(OWN);
    let (session, _) = stage.linked(&phone).await;
    phone.has_passkey(300);
    let options = Challenge::parse(r#"{"challenge":"YWJj"}"#).unwrap();
    assert!(session.session.confirm_passkey().await.is_err());
    assert!(session.session.answer_passkey(assertion(&phone, &options)).await.is_err());
    assert!(session.session.figures().is_logged_in);
}
