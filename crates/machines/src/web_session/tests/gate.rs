//! The passkey gate, apart from the straight way through it.

use super::pairing::{GATE, assertion, challenge};
use super::*;
use crate::web_session::PasskeyAnswer;
use domain::web_session::PasskeyRefused;

fn signed() -> PasskeyAnswer {
    PasskeyAnswer::Assertion(assertion("YWJj"))
}

fn passkey_code() -> Event {
    Event::PasskeyCode { code: secret("1234-5678"), is_proven: false }
}

fn paired() -> Event {
    Event::Paired { number: number(7), lid: None, business_name: None }
}

#[test]
fn no_answer_is_expected_once_the_phone_accepted() {
    let mut world = World::at_gate();
    assert_eq!(world.passkey(signed()), "2: Done, answer");
    world.event(paired());
    world.saved();
    world.done();
    assert!(world.passkey(signed()).contains("Stage(Linking)"));
    assert!(world.passkey(PasskeyAnswer::Confirmation).contains("Stage(Linking)"));
}

#[test]
fn no_answer_is_expected_while_no_session_is_open() {
    let mut world = World::unlinked();
    assert_eq!(world.passkey(PasskeyAnswer::Confirmation), "1: NotExpected(Stage(Starting))");
    let mut world = World::linked();
    world.connects();
    assert!(world.passkey(signed()).contains("Stage(Linked)"));
}

#[test]
fn the_gate_does_not_run_out_for_a_phone_that_was_linked() {
    let mut world = World::at_gate();
    world.event(paired());
    world.saved();
    world.event(Event::Connected);
    world.saved();
    world.done();
    world.now.monotonic += GATE;
    world.input(Input::Timer);
    assert_eq!(world.done(), ["look"]);
    assert_eq!(world.wakes_at, Some(world.now.monotonic + LOOK_INTERVAL));
}

#[test]
fn the_gate_runs_out_at_its_moment_and_not_before() {
    let mut world = World::at_gate();
    world.now.monotonic += GATE - Duration::from_millis(1);
    world.input(Input::Timer);
    assert_eq!(world.done(), ["look"]);
    world.now.monotonic += Duration::from_millis(1);
    world.input(Input::Timer);
    assert_eq!(world.done(), ["stop"]);
}

#[test]
fn a_gate_that_never_runs_out_is_waited_for_without_end() {
    let mut world = World::pairs(None);
    world.event(Event::PasskeyRequired { challenge: challenge(), valid_for: Duration::MAX });
    world.done();
    assert_eq!(world.shown.stage, Stage::PasskeyRequired);
    assert!(world.sleep() <= LOOK_INTERVAL);
    assert_eq!(world.done(), ["look"]);
}

#[test]
fn a_late_answer_to_one_step_does_not_answer_the_next_step() {
    let mut world = World::at_gate();
    world.passkey(signed());
    world.event(passkey_code());
    world.input(Input::PasskeyAnswered(Ok(())));
    assert!(!world.waits_for_phone(), "the person has to compare the code yet");
    assert_eq!(world.passkey(PasskeyAnswer::Confirmation), "3: Done, answer");
    assert!(world.passkey(PasskeyAnswer::Confirmation).contains("Answered"));
    assert!(world.passkey(signed()).contains("Answered"));
}

#[test]
fn a_confirmation_is_taken_at_its_step_only_and_an_assertion_at_its_own() {
    let mut world = World::at_gate();
    world.event(passkey_code());
    assert!(world.passkey(signed()).contains("Stage(PasskeyConfirm)"));
    assert_eq!(world.passkey(PasskeyAnswer::Confirmation), "3: Done, answer");
}

#[test]
fn a_refusal_that_comes_after_the_connection_was_lost_ends_nothing() {
    let mut world = World::at_gate();
    world.passkey(signed());
    world.event(Event::Disconnected { sentence: "x".to_owned() });
    world.input(Input::PasskeyAnswered(Err(PasskeyRefused("no".to_owned()))));
    assert!(world.done().is_empty());
    assert_eq!(world.shown, Pairing { stage: Stage::Starting, ..Pairing::default() });
}

#[test]
fn a_refusal_ends_the_pairing_and_later_answers_change_nothing() {
    let mut world = World::at_gate();
    world.passkey(signed());
    world.input(Input::PasskeyAnswered(Err(PasskeyRefused("no".to_owned()))));
    assert_eq!(world.done(), ["stop"]);
    world.input(Input::PasskeyAnswered(Err(PasskeyRefused("no".to_owned()))));
    world.input(Input::PasskeyAnswered(Ok(())));
    assert!(world.done().is_empty() && !world.waits_for_phone());
    world.input(Input::Stopped);
    world.event(Event::Ended(End::Stopped));
    assert_eq!(world.done(), ["wipe disconnected passkey_refused"]);
}

#[test]
fn a_lost_connection_beside_the_gate_changes_nothing_that_is_shown() {
    let mut world = World::pairs(None);
    world.event(qr());
    world.saved();
    world.done();
    world.event(Event::Disconnected { sentence: "x".to_owned() });
    assert_eq!((world.shown.stage, world.shown.qr.is_some()), (Stage::Waiting, true));
    world.event(passkey_code());
    assert_eq!(world.shown.stage, Stage::Waiting, "no passkey was asked for");
    assert!(world.done().is_empty());
}

#[test]
fn at_the_gate_no_code_is_asked_for_or_shown() {
    let mut world = World::at_gate();
    world.pair(Some(number(1)));
    assert_eq!(world.done(), ["2: Done"]);
    world.event(Event::PairingCode { code: secret("ABCD1234"), valid_for: Duration::from_secs(100) });
    world.input(Input::CodeAnswered(Ok(secret("ABCD1234"))));
    assert_eq!((world.shown.stage, world.shown.code.is_none()), (Stage::PasskeyRequired, true));
    // A session that goes on without the gate gives codes again.
    world.event(Event::Disconnected { sentence: "x".to_owned() });
    world.pair(Some(number(1)));
    assert_eq!(world.done(), ["3: Done".to_owned(), format!("ask a code for {}", number(1))]);
}

#[test]
fn a_new_challenge_needs_a_new_answer_and_hides_the_code_that_was_shown() {
    let mut world = World::pairs(Some(number(1)));
    world.input(Input::CodeAnswered(Ok(secret("ABCD1234"))));
    for caller in [2, 3] {
        world.event(Event::PasskeyRequired { challenge: challenge(), valid_for: GATE });
        world.done();
        let passkey = world.shown.passkey.as_ref().unwrap();
        assert_eq!(passkey.expires_at, world.now.wall.plus(GATE));
        assert!(world.shown.code.is_none() && !passkey.waits_for_phone);
        assert_eq!(world.passkey(signed()), format!("{caller}: Done, answer"));
        world.input(Input::PasskeyAnswered(Ok(())));
        assert!(world.waits_for_phone());
    }
}
