//! The gate in which WhatsApp asks for a passkey.

use super::*;
use driver::{Assertion, Challenge, PairingFailure};

/// A session whose code was used by a phone with a passkey, and the challenge to sign.
async fn at_the_gate(stage: &Stage, records: &Arc<Memory>) -> (Watched, Challenge) {
    let mut session = stage.open(records).await;
    let code = session.qr().await;
    let scanned = stage.scan(&json!({ "code": code, "passkey": true })).await;
    assert_eq!(scanned, (200, json!({ "phone_number": OWN, "device": "Pombo" })));
    let Event::PasskeyRequired { challenge, valid_for } = session.next().await else { panic!("no gate") };
    assert_eq!(valid_for, challenge.valid_for());
    assert!(!stage.driver.scan(&code, None).await, "it was used");
    (session, challenge)
}

async fn assertion(stage: &Stage, challenge: &Challenge) -> Assertion {
    let (status, signed) = stage.sign(&Value::Object(challenge.options().clone())).await;
    assert_eq!(status, 200, "{signed}");
    Assertion::parse(&signed["assertion"]).unwrap()
}

#[tokio::test]
async fn a_passkey_and_a_code_that_was_compared_link_the_phone() {
    let stage = Stage::set().await;
    let records = Arc::new(Memory::default());
    let (mut session, challenge) = at_the_gate(&stage, &records).await;
    assert!(session.session.figures().is_connected && records.is_empty());
    let refused = session.session.pairing_code(number(OWN)).await;
    assert_eq!(refused, Err(PairingFailure::NotNow("WhatsApp waits for a passkey".to_owned())));
    assert!(session.session.confirm_passkey().await.is_err(), "there is no code yet");

    session.session.answer_passkey(assertion(&stage, &challenge).await).await.unwrap();
    let Event::PasskeyCode { code, is_proven: false } = session.next().await else { panic!("no code") };
    assert_eq!((code.expose().len(), code.expose().find('-')), (9, Some(4)));
    let again = session.session.answer_passkey(assertion(&stage, &challenge).await).await;
    assert!(again.unwrap_err().0.contains("already"));
    session.session.confirm_passkey().await.unwrap();
    let Event::Paired { number: of, .. } = session.next().await else { panic!("it is linked") };
    assert_eq!(of, number(OWN));
    assert_eq!(session.next().await, Event::Connected);
    assert!(session.session.confirm_passkey().await.is_err(), "the passkey gate has ended");
}

#[tokio::test]
async fn an_assertion_by_another_passkey_or_for_another_challenge_is_refused() {
    let stage = Stage::set().await;
    let (session, challenge) = at_the_gate(&stage, &Arc::new(Memory::default())).await;
    let other = Stage::set().await;
    let by_another = assertion(&other, &challenge).await;
    let (_, of_another) = at_the_gate(&other, &Arc::new(Memory::default())).await;
    for wrong in [by_another, assertion(&stage, &of_another).await] {
        let refused = session.session.answer_passkey(wrong).await.unwrap_err();
        assert!(refused.0.contains("not that of the account"), "{refused}");
    }
    session.session.answer_passkey(assertion(&stage, &challenge).await).await.unwrap();
}

#[tokio::test]
async fn a_passkey_that_nobody_uses_in_time_ends_the_session() {
    let options = WebSessionOptions { passkey: Duration::ZERO, ..WebSessionOptions::default() };
    let stage = Stage::with(options).await;
    let mut session = stage.open(&Arc::new(Memory::default())).await;
    let code = session.qr().await;
    assert_eq!(stage.scan(&json!({ "code": code, "passkey": true })).await.0, 200);
    assert!(matches!(session.next().await, Event::PasskeyRequired { .. }));
    assert_eq!(session.rest().await, [Event::Ended(End::PasskeyTimedOut)]);
    let gone = session.session.confirm_passkey().await.unwrap_err();
    assert_eq!(gone.0, "it has ended");
}

#[tokio::test]
async fn options_without_a_challenge_are_not_signed() {
    let stage = Stage::set().await;
    for wrong in [json!({}), json!("YWJj"), json!({ "challenge": 7 })] {
        assert_eq!(stage.sign(&wrong).await.0, 400, "{wrong}");
    }
}

#[tokio::test]
async fn people_use_the_phone_on_its_page() {
    let stage = Stage::set().await;
    let page = async || {
        let url = format!("{}/phone", stage.simulator.base_url());
        client().get(url).send().await.unwrap().text().await.unwrap()
    };
    assert!(page().await.contains("No device shows a code"));
    let mut session = stage.open(&Arc::new(Memory::default())).await;
    let code = session.qr().await;
    let shown = page().await;
    assert!(shown.contains(&format!("value=\"{code}\"")), "{shown}");
    let pressed = url::form_urlencoded::Serializer::new(String::new())
        .extend_pairs([("code", code.as_str()), ("passkey", "yes")])
        .finish();
    let url = format!("{}/phone", stage.simulator.base_url());
    let followed = client()
        .post(url)
        .header("content-type", "application/x-www-form-urlencoded")
        .body(pressed)
        .send()
        .await
        .unwrap();
    assert_eq!((followed.status().as_u16(), followed.url().path()), (200, "/phone"));
    let Event::PasskeyRequired { challenge, .. } = session.next().await else { panic!("no gate") };
    let shown = page().await;
    let pasted = shown.split("readonly>").nth(1).unwrap().split('<').next().unwrap().replace("&quot;", "\"");
    let pasted = Assertion::parse(&serde_json::from_str(&pasted).unwrap()).unwrap();
    assert!(pasted.answers(&challenge));
    session.session.answer_passkey(pasted).await.unwrap();
    let Event::PasskeyCode { code, .. } = session.next().await else { panic!("no code") };
    assert!(page().await.contains(code.expose()));
    session.session.confirm_passkey().await.unwrap();
    assert!(!page().await.contains(code.expose()), "the phone is linked");
    assert!(stage.driver.played_phone().unwrap().ends_with("/phone"));
}
