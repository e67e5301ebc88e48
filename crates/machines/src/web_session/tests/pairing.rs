//! Linking a phone: codes, and the passkey gate.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::json;

use super::*;
use crate::web_session::PasskeyAnswer;
use domain::web_session::{Assertion, Challenge, PairingFailure, PasskeyRefused};

pub(super) const GATE: Duration = Duration::from_secs(120);

pub(super) fn challenge() -> Challenge {
    Challenge::parse(&json!({"challenge": "YWJj"}).to_string()).unwrap()
}

/// Signs this challenge.
pub(super) fn assertion(challenge: &str) -> Assertion {
    let signed = json!({"type": "webauthn.get", "challenge": challenge}).to_string();
    let response = json!({
        "clientDataJSON": URL_SAFE_NO_PAD.encode(signed),
        "authenticatorData": "AAAA",
        "signature": "AQID",
    });
    let given = json!({"id": "Y3JlZA", "rawId": "Y3JlZA", "type": "public-key", "response": response});
    Assertion::parse(&given).unwrap()
}

impl World {
    pub(super) fn pairs(number: Option<PhoneNumber>) -> Self {
        let mut world = Self::unlinked();
        world.pair(number);
        world.opens_wanted();
        world
    }

    pub(super) fn at_gate() -> Self {
        let mut world = Self::pairs(None);
        world.event(Event::PasskeyRequired { challenge: challenge(), valid_for: GATE });
        assert_eq!(world.shown.stage, Stage::PasskeyRequired);
        world.done();
        world
    }

    pub(super) fn passkey(&mut self, answer: PasskeyAnswer) -> String {
        self.command(|caller| Command::Passkey(answer, caller));
        self.done().join(", ")
    }

    pub(super) fn waits_for_phone(&self) -> bool {
        self.shown.passkey.as_ref().is_some_and(|passkey| passkey.waits_for_phone)
    }
}

#[test]
fn codes_are_shown_while_somebody_wants_one() {
    let mut world = World::pairs(None);
    world.event(qr());
    assert_eq!(world.shown.stage, Stage::Waiting);
    let expires_at = world.shown.qr.as_ref().unwrap().expires_at;
    assert_eq!(expires_at, WALL.plus(Duration::from_secs(60)));
    world.event(Event::QrExhausted);
    assert_eq!(world.shown.qr, None);
    world.event(Event::Ended(End::QrExhausted));
    assert_eq!(world.done(), ["wipe pairing qr_expired"]);
    world.input(Input::Wiped(Ok(())));
    assert_eq!(world.done(), ["end"]);
}

#[test]
fn a_code_to_be_typed_is_asked_for_once_at_a_time() {
    let mut world = World::pairs(Some(number(1)));
    assert_eq!(world.done(), [format!("ask a code for {}", number(1))]);
    world.pair(Some(number(1)));
    world.pair(Some(number(2)));
    assert_eq!(world.done(), ["2: Done", "3: Done"]);
    world.input(Input::CodeAnswered(Err(PairingFailure::NotConnected)));
    assert!(world.shown.code_failure.is_some());
    assert_eq!(world.done(), [format!("ask a code for {}", number(2))]);
    world.input(Input::CodeAnswered(Ok(secret("ABCD1234"))));
    assert_eq!(world.shown.code.as_ref().unwrap().secret, secret("ABCD1234"));
    assert_eq!(world.shown.code_failure, None);
    world.event(Event::PairingCodeExpired);
    assert_eq!(world.shown.code, None);
    world.pair(Some(number(2)));
    assert_eq!(world.done(), ["4: Done".to_owned(), format!("ask a code for {}", number(2))]);
}

#[test]
fn a_stop_of_the_engine_gives_up_a_pairing_in_progress() {
    let mut world = World::pairs(None);
    world.event(qr());
    world.saved();
    world.done();
    world.command(|_| Command::Stop);
    world.input(Input::Stopped);
    world.event(Event::Ended(End::Stopped));
    assert_eq!(world.done(), ["stop", "wipe pairing"]);
}

#[test]
fn the_gate_takes_one_answer_for_each_step() {
    let mut world = World::at_gate();
    let right = || PasskeyAnswer::Assertion(assertion("YWJj"));
    let confirmation = || PasskeyAnswer::Confirmation;
    assert!(world.passkey(confirmation()).contains("Stage(PasskeyRequired)"));
    let other = PasskeyAnswer::Assertion(assertion("YWJk"));
    assert!(world.passkey(other).contains("OtherChallenge"));
    assert_eq!(world.passkey(right()), "4: Done, answer");
    assert!(world.passkey(right()).contains("Answered"));
    world.input(Input::PasskeyAnswered(Ok(())));
    assert!(world.waits_for_phone());
    world.event(Event::PasskeyCode { code: secret("1234-5678"), is_proven: false });
    assert_eq!(world.shown.stage, Stage::PasskeyConfirm);
    assert!(!world.waits_for_phone());
    assert_eq!(world.passkey(confirmation()), "6: Done, answer");
    world.input(Input::PasskeyAnswered(Ok(())));
    assert!(world.waits_for_phone());
    // A code no longer counts once the phone has used it.
    world.event(qr());
    assert_eq!(world.shown.stage, Stage::PasskeyConfirm);
}

#[test]
fn an_account_that_has_proven_itself_needs_no_confirmation() {
    let mut world = World::at_gate();
    world.event(Event::PasskeyCode { code: secret("1234-5678"), is_proven: true });
    assert_eq!(world.done(), ["answer"]);
    assert!(world.passkey(PasskeyAnswer::Confirmation).contains("Answered"));
}

#[test]
fn a_gate_that_is_not_passed_in_time_ends_the_pairing() {
    let mut world = World::at_gate();
    world.now.monotonic += GATE - LOOK_INTERVAL / 2;
    world.input(Input::Timer);
    world.done();
    assert_eq!(world.sleep(), LOOK_INTERVAL / 2);
    assert_eq!(world.done(), ["stop"]);
    world.input(Input::Stopped);
    world.event(Event::Ended(End::Stopped));
    assert_eq!(world.done(), ["wipe disconnected passkey_timed_out"]);
}

#[test]
fn a_phone_that_accepts_at_the_moment_of_a_refusal_is_linked() {
    let mut world = World::at_gate();
    world.input(Input::PasskeyAnswered(Err(PasskeyRefused("no".to_owned()))));
    world.input(Input::Stopped);
    assert_eq!(world.done(), ["stop"]);
    world.event(Event::Paired { number: number(7), lid: None, business_name: None });
    world.saved();
    world.event(Event::Ended(End::Stopped));
    assert_eq!(world.done(), ["write connecting", "forget"]);
    assert_eq!(world.sleep(), Duration::ZERO);
    assert_eq!(world.done(), ["open"]);
}

#[test]
fn a_lost_connection_ends_the_passkey_step() {
    let mut world = World::at_gate();
    world.event(Event::Disconnected { sentence: "x".to_owned() });
    assert_eq!(world.shown.stage, Stage::Starting);
    assert!(world.passkey(PasskeyAnswer::Confirmation).contains("Stage(Starting)"));
    world.now.monotonic += GATE;
    world.input(Input::Timer);
    assert_eq!(world.done(), ["look"]);
}

#[test]
fn a_connected_session_waits_for_no_code_even_if_a_pairing_is_requested() {
    let mut world = World::linked();
    world.connects();
    world.pair(None);
    world.done();
    // The phone unlinked it, and nobody is there to scan what it shows now.
    world.event(qr());
    assert_eq!(world.done(), ["stop"]);
}
