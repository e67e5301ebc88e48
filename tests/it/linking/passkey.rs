//! The passkey gate, with a driver that the test controls: every step, through the HTTP surface and the
//! command line.

use std::sync::atomic::Ordering;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use pombo::connector::web_session::{Challenge, End, Event, PasskeyRefused};
use pombo::domain::secret::Secret;
use serde_json::{Value, json};

use super::{World, paired, qr};
use crate::harness::Answer;
use crate::running::until;
use crate::scripted_driver::Scripted;

const LONG: Duration = Duration::from_secs(300);

fn required(valid_for: Duration) -> Event {
    let options = json!({"challenge": "YWJj", "rpId": "whatsapp.com", "timeout": 300_000});
    Event::PasskeyRequired { challenge: Challenge::parse(&options.to_string()).unwrap(), valid_for }
}

fn code(is_proven: bool) -> Event {
    Event::PasskeyCode { code: Secret::new("ABCD-1234".to_owned()), is_proven }
}

/// A browser's form of a passkey's answer to this challenge.
pub(crate) fn assertion(challenge: &str) -> Value {
    let client_data =
        json!({"type": "webauthn.get", "challenge": challenge, "origin": "https://web.whatsapp.com"});
    json!({"assertion": {
        "id": "Y3JlZA",
        "rawId": "Y3JlZA",
        "type": "public-key",
        "authenticatorAttachment": "platform",
        "clientExtensionResults": {},
        "response": {
            "clientDataJSON": URL_SAFE_NO_PAD.encode(client_data.to_string()),
            "authenticatorData": "AAAA",
            "signature": "AQID",
        },
    }})
}

impl World {
    fn passkey_path(&self) -> String {
        format!("{}/passkey", self.path())
    }

    async fn passkey(&self) -> Value {
        let answer = self.service.get(&self.passkey_path(), &self.company.key).await;
        assert_eq!((answer.status, answer.header("cache-control")), (200, "no-store"), "{}", answer.body);
        answer.json()
    }

    async fn answer(&self, body: &Value) -> Answer {
        self.service.post(&self.passkey_path(), &self.company.key, body.to_string()).await
    }

    /// A session at the gate; the first code was used.
    async fn at_the_gate(&self, valid_for: Duration) -> Scripted {
        self.begin(&json!({})).await;
        let session = self.driver.session(self.channel, 1).await;
        session.keep_a_key().await;
        session.tell(qr("2@one")).await;
        session.tell(required(valid_for)).await;
        session
    }

    async fn is_refused(&self, body: &Value, status: u16, code: &str) {
        let refused = self.answer(body).await;
        assert_eq!((refused.status, refused.code().as_deref()), (status, Some(code)), "{}", refused.body);
    }
}

#[tokio::test]
async fn a_passkey_that_answers_the_challenge_and_a_code_that_is_the_same_link_the_phone() {
    let world = World::new().await;
    let session = world.at_the_gate(LONG).await;
    let shown = world.becomes("passkey_required", "pairing", None).await;
    assert!(shown["qr"].is_null() && shown["passkey"]["expires_at"].is_string(), "{shown}");
    let gate = world.passkey().await;
    assert_eq!(gate["challenge"]["rpId"], "whatsapp.com");
    assert_eq!((&gate["code"], &gate["waits_for_phone"]), (&Value::Null, &json!(false)));
    assert!(gate["instruction"].as_str().unwrap().contains("https://web.whatsapp.com"), "{gate}");

    world.is_refused(&json!({"confirmed": true}), 409, "passkey_not_expected").await;
    world.is_refused(&assertion("YWJk"), 400, "invalid_field").await;
    let answer = world.answer(&assertion("YWJj")).await;
    assert_eq!((answer.status, answer.header("cache-control")), (202, "no-store"), "{}", answer.body);
    until("WhatsApp to have it", async || world.passkey().await["waits_for_phone"] == true).await;
    world.is_refused(&assertion("YWJj"), 409, "passkey_not_expected").await;

    session.tell(code(false)).await;
    let shown = world.becomes("passkey_confirm", "pairing", None).await;
    assert_eq!(shown["passkey"]["code"], "ABCD-1234");
    assert!(shown["instruction"].as_str().unwrap().contains("the same"), "{shown}");
    // Codes that the session shows late do not put the pairing back to an earlier step.
    session.tell(qr("2@late")).await;
    world.is_refused(&assertion("YWJj"), 409, "passkey_not_expected").await;
    assert_eq!(world.answer(&json!({"confirmed": true})).await.status, 202);
    until("the phone's turn", async || world.show().await["passkey"]["waits_for_phone"] == true).await;
    assert_eq!(world.show().await["state"], "passkey_confirm");

    session.tell(paired()).await;
    session.tell(Event::Connected).await;
    let shown = world.becomes("linked", "connected", None).await;
    assert!(shown["passkey"].is_null(), "{shown}");
    assert_eq!(*session.asked.lock().unwrap(), ["assertion by cred", "confirmation"]);
    assert!(world.passkey().await["challenge"].is_null());
}

#[tokio::test]
async fn a_device_that_has_proven_itself_asks_nobody_to_compare_the_code() {
    let world = World::new().await;
    let session = world.at_the_gate(LONG).await;
    world.becomes("passkey_required", "pairing", None).await;
    assert_eq!(world.answer(&assertion("YWJj")).await.status, 202);
    session.tell(code(true)).await;
    until("the confirmation", async || {
        session.asked.lock().unwrap().last().is_some_and(|asked| asked == "confirmation")
    })
    .await;
    world.is_refused(&json!({"confirmed": true}), 409, "passkey_not_expected").await;
    session.tell(paired()).await;
    session.tell(Event::Connected).await;
    world.becomes("linked", "connected", None).await;
}

#[tokio::test]
async fn a_passkey_that_whatsapp_refuses_ends_the_pairing_and_leaves_nothing_behind() {
    let world = World::new().await;
    let session = world.at_the_gate(LONG).await;
    world.becomes("passkey_required", "pairing", None).await;
    *session.passkey.lock().unwrap() = Err(PasskeyRefused("bad-signature.".to_owned()));
    assert_eq!(world.answer(&assertion("YWJj")).await.status, 202);
    let shown = world.becomes("unlinked", "disconnected", Some("passkey_refused")).await;
    let sentence = shown["status_reason"]["sentence"].as_str().unwrap();
    assert!(sentence.contains("(bad-signature)") && sentence.contains("again"), "{sentence}");
    assert!(shown["passkey"].is_null() && !world.keys().await, "{shown}");
    world.is_refused(&assertion("YWJj"), 409, "passkey_not_expected").await;
    // The pairing can be begun again.
    world.begin(&json!({})).await;
    world.driver.session(world.channel, 2).await.tell(qr("2@two")).await;
    world.becomes("waiting", "pairing", None).await;
}

#[tokio::test]
async fn a_passkey_that_nobody_answers_in_time_ends_the_pairing() {
    let world = World::new().await;
    let session = world.at_the_gate(Duration::from_millis(50)).await;
    let shown = world.becomes("unlinked", "disconnected", Some("passkey_timed_out")).await;
    assert!(shown["status_reason"]["sentence"].as_str().unwrap().contains("in time"), "{shown}");
    assert_eq!(*session.asked.lock().unwrap(), ["stop"]);
    assert!(!world.keys().await);
}

#[tokio::test]
async fn a_phone_that_accepts_in_the_last_moment_stays_linked() {
    let world = World::new().await;
    world.begin(&json!({})).await;
    let session = world.driver.session(world.channel, 1).await;
    session.keep_a_key().await;
    session.tell(qr("2@one")).await;
    *session.last_words.lock().unwrap() = vec![paired()];
    session.tell(required(Duration::ZERO)).await;
    let again = world.driver.session(world.channel, 2).await;
    again.tell(Event::Connected).await;
    world.becomes("linked", "connected", None).await;
    assert!(world.keys().await);
}

#[tokio::test]
async fn a_connection_that_is_lost_takes_the_question_with_it() {
    let world = World::new().await;
    let session = world.at_the_gate(LONG).await;
    world.becomes("passkey_required", "pairing", None).await;
    session.tell(Event::Disconnected { sentence: "the line is bad".to_owned() }).await;
    world.becomes("starting", "pairing", None).await;
    world.is_refused(&assertion("YWJj"), 409, "passkey_not_expected").await;
    session.tell(qr("2@two")).await;
    world.becomes("waiting", "pairing", None).await;
}

#[tokio::test]
async fn a_pairing_at_the_passkey_can_be_canceled_and_is_not_begun_twice() {
    let world = World::new().await;
    let session = world.at_the_gate(LONG).await;
    world.becomes("passkey_required", "pairing", None).await;
    assert_eq!(world.begin(&json!({"phone_number": "5511988887777"})).await["state"], "passkey_required");
    assert_eq!(world.unlink().await, 204);
    world.becomes("unlinked", "pairing", None).await;
    assert_eq!(*session.asked.lock().unwrap(), ["stop"]);
    assert!(!world.keys().await);
}

#[tokio::test]
async fn a_channel_that_nobody_pairs_waits_for_no_passkey() {
    let world = World::new().await;
    let gate = world.passkey().await;
    assert_eq!((&gate["state"], &gate["challenge"]), (&json!("unlinked"), &Value::Null));
    world.is_refused(&json!({"confirmed": true}), 409, "passkey_not_expected").await;
    let session = world.link(1).await;
    session.is_online.store(true, Ordering::Relaxed);
    world.is_refused(&assertion("YWJj"), 409, "passkey_not_expected").await;
    session.tell(Event::Ended(End::PasskeyRefused { sentence: "x".to_owned() })).await;
}

#[tokio::test]
async fn the_command_line_shows_the_challenge_takes_the_assertion_and_has_the_code_compared() {
    let world = World::new().await;
    let (place, line) = (world.place(), world.command("pair"));
    let typed = format!("not an assertion\n{}\nyes\n", assertion("YWJj")["assertion"]);
    let run = tokio::task::spawn_blocking(move || place.run_with(&typed, &line));
    let session = world.driver.session(world.channel, 1).await;
    session.keep_a_key().await;
    session.tell(qr("2@one")).await;
    session.tell(required(LONG)).await;
    until("the assertion", async || !session.asked.lock().unwrap().is_empty()).await;
    session.tell(code(false)).await;
    until("the confirmation", async || session.asked.lock().unwrap().len() == 2).await;
    session.tell(paired()).await;
    session.tell(Event::Connected).await;
    let run = run.await.unwrap();
    assert_eq!(run.code, Some(0), "{run:?}");
    for shown in [
        r#""challenge":"YWJj""#,
        "https://web.whatsapp.com",
        "is not a JSON object",
        "ABCD-1234",
        "is connected as",
    ] {
        assert!(run.stdout.contains(shown), "{shown}: {run:?}");
    }
}

#[tokio::test]
async fn the_command_line_ends_a_pairing_whose_codes_differ() {
    let world = World::new().await;
    let (place, line) = (world.place(), world.command("pair"));
    let typed = format!("{}\nno\n", assertion("YWJj")["assertion"]);
    let run = tokio::task::spawn_blocking(move || place.run_with(&typed, &line));
    let session = world.driver.session(world.channel, 1).await;
    session.tell(qr("2@one")).await;
    session.tell(required(LONG)).await;
    until("the assertion", async || !session.asked.lock().unwrap().is_empty()).await;
    session.tell(code(false)).await;
    let run = run.await.unwrap();
    assert_eq!(run.code, Some(1), "{run:?}");
    assert!(run.stderr.contains("the codes differ"), "{run:?}");
    world.becomes("unlinked", "pairing", None).await;
    assert_eq!(*session.asked.lock().unwrap(), ["assertion by cred", "stop"]);
}
