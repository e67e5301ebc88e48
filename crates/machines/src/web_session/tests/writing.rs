//! Writes of the channel's state: failed writes, overtaken writes, restrictions.

use super::*;

fn restricted() -> Event {
    ack(AckState::Refused { code: Some(RESTRICTED) })
}

#[test]
fn a_state_is_written_once_and_updates_of_messages_are_passed_on() {
    let mut world = World::linked();
    world.connects();
    world.event(Event::Connected);
    world.event(ack(AckState::Delivered));
    world.event(Event::Inbound { from: number(1) });
    assert_eq!(world.done(), ["hear", "tell"]);
}

#[test]
fn the_session_s_state_replaces_a_state_that_somebody_else_wrote() {
    let mut world = World::linked();
    world.opens();
    world.event(Event::Connected);
    let reason = Some(Reason { code: "x".into(), sentence: String::new(), provider_code: None });
    let other = Connection { status: Status::Disconnected, reason, since: WALL };
    world.input(Input::Written(Ok(Saved::Overtaken(other.clone()))));
    assert_eq!(world.done(), ["write connected", "write connected"]);
    assert_eq!(world.writes[1].connection.as_ref().unwrap().from, other);
    world.saved();
    assert!(world.done().is_empty());
}

#[test]
fn a_failed_write_is_retried_at_the_next_event_or_a_second_later() {
    let mut world = World::linked();
    world.opens();
    world.event(Event::Connected);
    world.input(Input::Written(Err("away".to_owned())));
    assert_eq!(world.done(), ["write connected"]);
    assert_eq!(world.sleep(), WRITE_PAUSE);
    world.input(Input::Written(Err("away".to_owned())));
    assert_eq!(world.done(), ["write connected"]);
    world.event(Event::Unreachable { attempts: 3, sentence: "x".to_owned() });
    assert_eq!(world.done(), ["write disconnected unreachable"], "the newest state alone");
    world.saved();
    assert_eq!(world.sleep(), LOOK_INTERVAL - WRITE_PAUSE);
}

#[test]
fn the_end_of_a_session_is_written_before_anything_else_is_done() {
    let mut world = World::linked();
    world.connects();
    world.event(failed());
    world.input(Input::Written(Err("away".to_owned())));
    world.done();
    world.pair(None);
    assert_eq!(world.done(), ["1: Done"], "no other session is opened yet");
    world.sleep();
    assert_eq!(world.done(), ["write disconnected session_failed"]);
    world.input(Input::Written(Err("away".to_owned())));
    world.command(Command::Unlink);
    assert_eq!(world.done(), ["wipe pairing"]);
}

#[test]
fn a_stop_retries_an_unwritten_state_once() {
    let mut world = World::linked();
    world.opens();
    world.event(Event::Connected);
    world.input(Input::Written(Err("away".to_owned())));
    world.stops();
    assert_eq!(world.done(), ["write connected"]);
    world.input(Input::Written(Err("away".to_owned())));
    assert_eq!(world.done(), ["forget", "end"]);
}

#[test]
fn the_phone_s_number_is_written_with_the_state_and_both_are_retried() {
    let mut world = World::unlinked();
    world.pair(None);
    world.opens_wanted();
    world.event(Event::Paired { number: number(7), lid: None, business_name: None });
    assert_eq!(world.shown.stage, Stage::Linking);
    assert_eq!(world.done(), ["write connecting"]);
    assert_eq!(world.writes.last().unwrap().number, Some((number(7), WALL)));
    world.input(Input::Written(Err("away".to_owned())));
    world.event(Event::Connected);
    assert_eq!(world.done(), ["write connected"]);
    assert_eq!(world.writes.last().unwrap().number, Some((number(7), WALL)));
    world.saved();
    world.event(Event::Unreachable { attempts: 1, sentence: "x".to_owned() });
    assert_eq!(world.writes.last().unwrap().number, None);
}

#[test]
fn a_restriction_is_written_before_the_sender_hears_of_it_and_outlasts_a_lost_connection() {
    let mut world = World::linked();
    world.connects();
    world.event(restricted());
    assert_eq!(world.done(), ["write connected restricted", "hear"]);
    world.saved();
    world.event(Event::Unreachable { attempts: 3, sentence: "x".to_owned() });
    world.saved();
    world.event(Event::Connected);
    assert_eq!(world.done(), ["write disconnected unreachable", "write connected restricted"]);
    world.saved();
    world.event(Event::Unreachable { attempts: 3, sentence: "x".to_owned() });
    world.saved();
    world.now.wall = WALL.plus(end_policy::RESTRICTED_FOR);
    world.event(Event::Connected);
    assert_eq!(world.done(), ["write disconnected unreachable", "write connected"]);
}

#[test]
fn the_first_acknowledgement_is_written_by_the_sender_that_waits_for_it() {
    assert!(is_written_by_sender(true, AckState::Server));
    assert!(is_written_by_sender(true, AckState::Refused { code: None }));
    assert!(!is_written_by_sender(true, AckState::Delivered));
    assert!(!is_written_by_sender(false, AckState::Server));
}
