//! Codes to be typed and to be scanned: when they are asked for, and how long they are shown.

use super::*;
use domain::web_session::PairingFailure;

fn pairing_code(code: &str, seconds: u64) -> Event {
    Event::PairingCode { code: secret(code), valid_for: Duration::from_secs(seconds) }
}

impl World {
    fn code_is(&mut self, code: &str) {
        self.input(Input::CodeAnswered(Ok(secret(code))));
    }

    /// The code that is shown, and for how many seconds.
    fn shows(&self) -> Option<(String, u64)> {
        let shown = self.shown.code.as_ref()?;
        Some((shown.secret.expose().to_owned(), shown.expires_at.from_now(self.now.wall).as_secs()))
    }
}

fn shown(code: &str, seconds: u64) -> Option<(String, u64)> {
    Some((code.to_owned(), seconds))
}

#[test]
fn a_code_is_shown_for_the_time_that_the_session_gives_before_or_after_the_answer() {
    let mut world = World::pairs(Some(number(1)));
    world.event(pairing_code("ABCD1234", 100));
    world.code_is("ABCD1234");
    assert_eq!(world.shows(), shown("ABCD1234", 100));
    let mut world = World::pairs(Some(number(1)));
    world.code_is("ABCD1234");
    assert_eq!(world.shows(), shown("ABCD1234", 160));
    world.event(pairing_code("ABCD1234", 100));
    assert_eq!(world.shows(), shown("ABCD1234", 100));
    world.code_is("WXYZ9876");
    assert_eq!(world.shows(), shown("WXYZ9876", 160), "another one takes its place");
}

#[test]
fn a_code_stays_when_it_is_requested_again_for_its_number_or_none() {
    let mut world = World::pairs(Some(number(1)));
    world.code_is("ABCD1234");
    world.done();
    world.pair(None);
    world.pair(Some(number(1)));
    assert_eq!(world.done(), ["2: Done", "3: Done"]);
    assert_eq!(world.shows(), shown("ABCD1234", 160));
    world.pair(Some(number(2)));
    assert_eq!(world.done(), ["4: Done".to_owned(), format!("ask a code for {}", number(2))]);
    assert_eq!(world.shows(), None);
}

#[test]
fn a_code_that_failed_may_be_asked_for_again() {
    let ask = format!("ask a code for {}", number(1));
    let mut world = World::pairs(Some(number(1)));
    assert_eq!(world.done(), [ask.as_str()]);
    world.input(Input::CodeAnswered(Err(PairingFailure::NotConnected)));
    assert_eq!(world.shown.code_failure.as_deref(), Some("WhatsApp was not reached"));
    world.pair(Some(number(1)));
    assert_eq!(world.done(), ["2: Done", ask.as_str()]);
    assert_eq!(world.shown.code_failure, None);
    world.code_is("ABCD1234");
    world.event(Event::PairingCodeFailed(PairingFailure::NotConnected));
    assert_eq!(world.shows(), None);
    world.pair(Some(number(1)));
    assert_eq!(world.done(), ["3: Done", ask.as_str()]);
}

#[test]
fn a_linked_phone_is_asked_for_no_code() {
    let mut world = World::linked();
    world.connects();
    world.pair(Some(number(1)));
    assert_eq!(world.done(), ["1: Done"]);
    let mut world = World::linked();
    world.pair(Some(number(1)));
    world.opens_wanted();
    assert!(world.done().is_empty(), "it is only not connected");
}

#[test]
fn a_linked_phone_that_is_not_connected_shows_the_codes_that_somebody_waits_for() {
    let mut world = World::new(&channel(Status::Disconnected, Some(WALL)), true, None);
    world.pair(None);
    world.input(Input::Opened(Ok(())));
    assert_eq!(world.done(), ["1: Done", "open", "look"]);
    world.event(qr());
    assert_eq!(world.done(), ["write pairing"]);
    assert_eq!(world.shown.stage, Stage::Waiting);
    world.saved();
    // From here on a code may be typed too.
    world.pair(Some(number(1)));
    assert_eq!(world.done(), ["2: Done".to_owned(), format!("ask a code for {}", number(1))]);
}

#[test]
fn a_connection_ends_the_wait_for_a_phone() {
    let mut world = World::pairs(None);
    world.event(Event::Paired { number: number(7), lid: None, business_name: None });
    world.saved();
    world.event(Event::Connected);
    world.saved();
    world.done();
    assert_eq!(world.shown, Pairing { stage: Stage::Linked, ..Pairing::default() });
    world.event(qr());
    assert_eq!(world.done(), ["stop"]);
}

#[test]
fn each_new_qr_code_replaces_the_last_one_and_leaves_the_pairing_code() {
    let mut world = World::pairs(Some(number(1)));
    world.code_is("ABCD1234");
    for seconds in [60, 20] {
        let payload = secret(&format!("qr {seconds}"));
        world.event(Event::Qr { payload, valid_for: Duration::from_secs(seconds) });
        let qr = world.shown.qr.as_ref().unwrap();
        assert_eq!(qr.secret, secret(&format!("qr {seconds}")));
        assert_eq!(qr.expires_at, WALL.plus(Duration::from_secs(seconds)));
    }
    world.event(Event::QrExhausted);
    assert_eq!((world.shown.qr.is_none(), world.shows()), (true, shown("ABCD1234", 160)));
}

#[test]
fn an_answer_that_comes_after_the_session_ended_is_not_shown() {
    let mut world = World::pairs(Some(number(1)));
    world.event(Event::Ended(End::QrExhausted));
    world.done();
    world.code_is("ABCD1234");
    world.input(Input::CodeAnswered(Err(PairingFailure::NotConnected)));
    assert_eq!((world.shows(), world.shown.code_failure.as_deref()), (None, None));
    assert!(world.done().is_empty());
}
