//! Overtaken writes, deleted channels, and the order of writes.

use super::*;

fn unreachable(attempts: u32) -> Event {
    Event::Unreachable { attempts, sentence: "x".to_owned() }
}

/// A state that somebody else wrote.
fn other() -> Connection {
    let reason = Some(Reason { code: "x".into(), sentence: String::new(), provider_code: None });
    Connection { status: Status::Disconnected, reason, since: WALL }
}

fn restricted() -> Event {
    ack(AckState::Refused { code: Some(RESTRICTED) })
}

impl World {
    fn is_overtaken(&mut self) {
        self.input(Input::Written(Ok(Saved::Overtaken(other()))));
    }
}

#[test]
fn the_end_of_a_session_that_was_overtaken_is_written_before_anything_else_is_done() {
    let mut world = World::linked();
    world.connects();
    world.event(failed());
    world.is_overtaken();
    let write = "write disconnected session_failed";
    assert_eq!(world.done(), [write, write], "the next session is not waited for yet");
    assert_eq!(world.writes.last().unwrap().connection.as_ref().unwrap().from, other());
    world.saved();
    assert_eq!(world.done(), ["forget"]);
}

#[test]
fn a_stop_whose_last_write_was_overtaken_writes_again_before_it_ends() {
    let mut world = World::linked();
    world.opens();
    world.event(Event::Connected);
    world.input(Input::Written(Err("away".to_owned())));
    world.stops();
    world.is_overtaken();
    assert_eq!(world.done(), ["write connected", "write connected"]);
    world.saved();
    assert_eq!(world.done(), ["forget", "end"]);
}

#[test]
fn a_stop_of_a_session_whose_state_is_written_writes_nothing() {
    let mut world = World::linked();
    world.opens();
    world.event(Event::Connected);
    world.input(Input::Written(Err("away".to_owned())));
    world.sleep();
    world.saved();
    world.stops();
    assert_eq!(world.done(), ["forget", "end"]);
}

#[test]
fn the_state_of_a_channel_that_is_gone_is_not_written_again() {
    let mut world = World::linked();
    world.opens();
    world.event(Event::Connected);
    world.input(Input::Written(Ok(Saved::Gone)));
    assert_eq!(world.done(), ["write connected"]);
    assert_eq!(world.sleep(), LOOK_INTERVAL);
    assert_eq!(world.done(), ["look"]);
}

#[test]
fn a_phone_that_is_linked_while_another_number_is_written_is_written_next() {
    let mut world = World::unlinked();
    world.pair(None);
    world.opens_wanted();
    for linked in [7, 8] {
        world.event(Event::Paired { number: number(linked), lid: None, business_name: None });
    }
    assert_eq!(world.done(), ["write connecting"]);
    assert_eq!(world.writes[0].number, Some((number(7), WALL)));
    world.saved();
    assert_eq!(world.done(), ["write "], "the state is written already");
    assert_eq!(world.writes[1].number, Some((number(8), WALL)));
    world.saved();
    assert!(world.done().is_empty());
}

#[test]
fn a_state_that_changes_while_one_is_written_is_written_next() {
    let mut world = World::linked();
    world.opens();
    world.event(Event::Connected);
    world.event(unreachable(3));
    world.event(Event::Connected);
    world.event(unreachable(3));
    assert_eq!(world.done(), ["write connected"], "one write at a time");
    world.saved();
    assert_eq!(world.done(), ["write disconnected unreachable"]);
    world.saved();
    assert!(world.done().is_empty());
}

#[test]
fn two_failed_attempts_are_connecting_and_the_third_is_unreachable() {
    let mut world = World::linked();
    world.connects();
    let written = [1, 2, 3, 4].map(|attempts| {
        world.event(unreachable(attempts));
        let done = world.done();
        if !done.is_empty() {
            world.saved();
        }
        done.join(", ")
    });
    assert_eq!(written, ["write connecting", "", "write disconnected unreachable", ""]);
}

#[test]
fn a_channel_without_a_phone_stays_pairing_while_whatsapp_is_unreachable() {
    let mut world = World::unlinked();
    world.pair(None);
    world.opens_wanted();
    world.done();
    world.event(unreachable(2));
    assert!(world.done().is_empty());
    world.event(unreachable(3));
    assert_eq!(world.done(), ["write pairing unreachable"]);
}

#[test]
fn a_restriction_that_is_known_is_not_written_with_every_refused_message() {
    let mut world = World::linked();
    world.connects();
    world.event(restricted());
    world.saved();
    world.done();
    world.now.wall = WALL.plus(Duration::from_secs(60));
    world.event(restricted());
    world.event(ack(AckState::Refused { code: Some(RESTRICTED + 1) }));
    assert_eq!(world.done(), ["hear", "hear"]);
}

#[test]
fn a_message_that_is_refused_for_another_reason_restricts_nothing() {
    let mut world = World::linked();
    world.connects();
    world.event(ack(AckState::Refused { code: None }));
    world.event(ack(AckState::Refused { code: Some(RESTRICTED + 1) }));
    assert_eq!(world.done(), ["hear", "hear"]);
}

#[test]
fn a_restriction_outlasts_a_restart_and_ends_a_day_after_it_began() {
    let mut of = channel(Status::Connected, Some(WALL));
    of.connection.reason = Some(end_policy::restricted());
    let last = WALL.plus(end_policy::RESTRICTED_FOR).minus(Duration::from_millis(1));
    for (wall, expected) in
        [(last, "write connected restricted"), (last.plus(Duration::from_millis(1)), "write connected")]
    {
        let mut world = World::new(&of, true, Some(Duration::ZERO));
        world.opens();
        world.event(unreachable(3));
        world.saved();
        world.done();
        world.now.wall = wall;
        world.event(Event::Connected);
        assert_eq!(world.done(), [expected]);
    }
}

#[test]
fn a_phone_that_is_linked_again_is_not_restricted() {
    let mut of = channel(Status::Connected, Some(WALL));
    of.connection.reason = Some(end_policy::restricted());
    let mut world = World::new(&of, true, Some(Duration::ZERO));
    world.opens();
    world.event(Event::Paired { number: number(7), lid: None, business_name: None });
    world.saved();
    world.event(Event::Connected);
    assert_eq!(world.done(), ["write connecting", "write connected"]);
}

#[test]
fn a_state_that_is_not_written_when_the_phone_is_unlinked_is_not_written_later() {
    let mut world = World::linked();
    world.opens();
    world.event(Event::Connected);
    world.input(Input::Written(Err("away".to_owned())));
    world.command(Command::Unlink);
    world.input(Input::Stopped);
    world.done();
    world.event(Event::Ended(End::Stopped));
    assert_eq!(world.done(), ["wipe pairing"]);
    world.input(Input::Wiped(Ok(())));
    assert_eq!(world.done(), ["1: Done", "end"]);
}
