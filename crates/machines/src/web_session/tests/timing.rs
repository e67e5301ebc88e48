//! The machine's timers: nothing happens before its time.

use super::*;
use crate::web_session::PasskeyAnswer;

impl World {
    /// A timer that comes before its moment does nothing, and is set again.
    fn is_woken_early(&mut self) {
        self.done();
        let at = self.wakes_at.take();
        assert!(at.is_some_and(|at| at > self.now.monotonic), "the machine waits for something");
        self.input(Input::Timer);
        assert!(self.done().is_empty(), "it is not time yet");
        assert_eq!(self.wakes_at, at);
    }
}

#[test]
fn a_timer_that_comes_early_opens_no_session() {
    let turn = Duration::from_millis(300);
    let mut world = World::new(&channel(Status::Connecting, Some(WALL)), true, Some(turn));
    world.is_woken_early();
    world.now.monotonic += turn - Duration::from_millis(1);
    world.is_woken_early();
    assert_eq!(world.sleep(), Duration::from_millis(1));
    assert_eq!(world.done(), ["open"]);
}

#[test]
fn a_timer_that_comes_early_leaves_an_open_session_alone() {
    let mut world = World::linked();
    world.connects();
    world.now.monotonic += LOOK_INTERVAL - Duration::from_millis(1);
    world.is_woken_early();
}

#[test]
fn a_timer_that_comes_early_does_not_cut_the_last_words_of_a_session_short() {
    let mut world = World::linked();
    world.connects();
    world.command(|_| Command::Stop);
    world.input(Input::Timer);
    assert_eq!(world.done(), ["stop"], "the session has not been told to end yet");
    world.input(Input::Stopped);
    world.is_woken_early();
    world.event(ack(AckState::Read));
    assert_eq!(world.done(), ["hear"]);
    assert_eq!(world.sleep(), ending::LAST_WORDS);
}

#[test]
fn a_timer_that_comes_early_tries_no_write_again() {
    let mut world = World::linked();
    world.connects();
    world.event(failed());
    world.input(Input::Timer);
    assert_eq!(world.done(), ["write disconnected session_failed"], "once");
    world.input(Input::Written(Err("away".to_owned())));
    world.is_woken_early();
    assert_eq!(world.sleep(), WRITE_PAUSE);
    assert_eq!(world.done(), ["write disconnected session_failed"]);
}

#[test]
fn a_timer_that_comes_early_deletes_no_keys_again() {
    let mut world = World::linked();
    world.command(Command::Unlink);
    assert_eq!(world.done(), ["wipe pairing"]);
    world.input(Input::Timer);
    assert!(world.done().is_empty(), "they are just being deleted");
    world.input(Input::Wiped(Err("away".to_owned())));
    world.is_woken_early();
    assert_eq!(world.sleep(), WRITE_PAUSE);
    assert_eq!(world.done(), ["wipe pairing"]);
    world.input(Input::Timer);
    assert!(world.done().is_empty());
}

#[test]
fn a_wait_beyond_the_end_of_the_clock_is_one_of_ten_years() {
    let world = World::new(&channel(Status::Connecting, Some(WALL)), true, Some(Duration::MAX));
    assert_eq!(world.wakes_at, Some(world.now.monotonic + FAR_FUTURE));
}

#[test]
fn an_open_session_is_looked_at_every_half_minute() {
    let mut world = World::linked();
    world.connects();
    for _ in 0..3 {
        assert_eq!(world.sleep(), Duration::from_secs(30));
        assert_eq!(world.done(), ["look"]);
        world.input(Input::Looked { has_given_up: false });
        assert!(world.done().is_empty());
    }
}

#[test]
fn a_session_that_is_ending_is_not_ended_again_when_it_has_given_up() {
    let mut world = World::linked();
    world.connects();
    world.command(|_| Command::Stop);
    world.done();
    world.input(Input::Looked { has_given_up: true });
    assert!(world.done().is_empty());
}

#[test]
fn a_connection_ends_the_row_of_failures() {
    let mut world = World::linked();
    for seconds in [5, 10] {
        world.opens();
        world.event(failed());
        world.saved();
        world.done();
        assert_eq!(world.wakes_at.unwrap() - world.now.monotonic, Duration::from_secs(seconds));
    }
    world.connects();
    world.event(failed());
    world.saved();
    assert_eq!(world.wakes_at.unwrap() - world.now.monotonic, Duration::from_secs(5));
}

#[test]
fn while_keys_are_deleted_commands_are_refused_and_a_stop_ends_the_machine() {
    let mut world = World::linked();
    world.command(Command::Unlink);
    world.done();
    world.command(|caller| Command::Passkey(PasskeyAnswer::Confirmation, caller));
    world.command(Command::Unlink);
    assert_eq!(world.done(), ["2: TurnedAway", "3: TurnedAway"]);
    world.command(|_| Command::Stop);
    assert_eq!(world.done(), ["end"]);
    world.input(Input::Wiped(Ok(())));
    world.input(Input::Timer);
    assert!(world.done().is_empty(), "the machine is at its end");
}

#[test]
fn late_inputs_of_a_session_that_is_not_open_change_nothing() {
    let mut world = World::new(&channel(Status::Connecting, Some(WALL)), true, Some(LOOK_INTERVAL));
    world.input(Input::Opened(Ok(())));
    world.input(Input::Silence);
    world.input(Input::Stopped);
    world.event(Event::Connected);
    world.event(Event::Ended(End::Unlinked));
    world.event(qr());
    world.input(Input::PasskeyAnswered(Ok(())));
    world.input(Input::CodeAnswered(Ok(secret("ABCD1234"))));
    world.input(Input::Written(Ok(Saved::Done)));
    world.input(Input::Wiped(Ok(())));
    assert!(world.done().is_empty());
    assert_eq!((world.shown.stage, world.sleep()), (Stage::Starting, LOOK_INTERVAL));
    assert_eq!(world.done(), ["open"]);
}

#[test]
fn an_unlink_while_no_session_is_open_deletes_the_keys_at_once() {
    let mut world = World::linked();
    world.command(Command::Unlink);
    assert_eq!(world.done(), ["wipe pairing"]);
    world.input(Input::Wiped(Ok(())));
    assert_eq!(world.done(), ["1: Done", "end"]);
}

#[test]
fn a_phone_that_is_linked_while_the_engine_stops_stays_linked() {
    let mut world = World::unlinked();
    world.pair(None);
    world.opens_wanted();
    world.command(|_| Command::Stop);
    world.input(Input::Stopped);
    world.done();
    world.event(Event::Paired { number: number(7), lid: None, business_name: None });
    assert_eq!(world.done(), ["write connecting"]);
    world.saved();
    world.event(Event::Ended(End::Stopped));
    assert_eq!(world.done(), ["forget", "end"]);
}

#[test]
fn a_pairing_that_is_given_up_unlinks_no_phone() {
    let mut world = World::unlinked();
    world.pair(None);
    world.opens_wanted();
    world.done();
    world.command(Command::Unlink);
    assert_eq!(world.done(), ["stop"]);
    world.input(Input::Stopped);
    world.input(Input::Silence);
    assert_eq!(world.done(), ["wipe pairing"]);
    world.input(Input::Wiped(Ok(())));
    assert_eq!(world.done(), ["2: Done", "end"]);
}
