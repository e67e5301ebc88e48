//! A channel whose connector or state changes: which state is saved over which, and which one wins.

use super::number::{healthy, is_about, saved};
use super::*;
use connectors::Health;

const MILLI: Duration = Duration::from_millis(1);

#[test]
fn a_channel_without_a_usable_token_is_disconnected_and_one_that_cannot_be_read_is_retried() {
    let mut world = World::new(1);
    let failed = || Input::Connected { generation: 1, result: Err(NotConnected::Failed) };
    world.feed(failed());
    assert_eq!((world.status(), world.count("connect")), (Status::Connected, 1));
    world.pass(SECOND - MILLI);
    assert_eq!(world.count("connect"), 1);
    world.pass(MILLI);
    assert_eq!((world.count("connect"), world.machine.link.generation()), (2, 2));
    let unusable = NotConnected::Unusable("the key is gone".to_owned());
    world.feed(Input::Connected { generation: 2, result: Err(unusable) });
    let save = world.saves.last().unwrap();
    let reason = save.to.reason.clone().unwrap();
    assert_eq!((save.to.status, reason.sentence.as_str()), (Status::Disconnected, "the key is gone"));
    assert_eq!(save.trial, None);
    world.feed(failed());
    world.pass(2 * SECOND);
    assert_eq!(world.count("connect"), 2, "the result of an earlier connector is out of date");
}

#[test]
fn a_state_that_could_not_be_saved_is_saved_a_second_later_as_it_is_then() {
    let mut world = World::ready(1);
    world.start(10);
    world.answer(refused(Disposition::Disconnect));
    world.feed(Input::ConnectionSaved(Saved::Failed));
    world.pass(SECOND - MILLI);
    assert_eq!(world.saves.len(), 1);
    world.pass(MILLI);
    let (first, second) = (world.saves[0].clone(), world.saves[1].clone());
    assert_eq!((first.from, first.to), (second.from, second.to));
}

#[test]
fn a_change_while_a_state_is_saved_is_saved_next_over_that_state() {
    let mut world = World::ready(1);
    world.troubled(Disposition::Disconnect, false);
    world.until_asked();
    world.probed(healthy());
    assert_eq!((world.status(), world.saves.len()), (Status::Connected, 1), "one at a time");
    world.feed(saved(2));
    assert_eq!(world.saves.len(), 2);
    let (first, second) = (world.saves[0].clone(), world.saves[1].clone());
    assert_eq!((second.from, second.to.status), (first.to, Status::Connected));
    world.feed(saved(3));
    assert_eq!(world.saves.len(), 2);
}

#[test]
fn a_person_who_reconnects_wins_over_the_state_that_the_channel_saves() {
    for revision in [1, 5] {
        let mut world = World::ready(1);
        world.start(10);
        world.answer(refused(Disposition::Disconnect));
        let mut record = (**world.machine.channel()).clone();
        record.revision = revision;
        record.connection = Connection { status: Status::Connecting, reason: None, since: world.at.wall };
        record.name = "by a person".to_owned();
        let effects = world.feed(Input::ConnectionSaved(Saved::Overtaken(Some(Box::new(record)))));
        let is_newer = revision > 1;
        assert_eq!(world.machine.channel().name == "by a person", is_newer, "an older record is ignored");
        assert!(effects.contains(&"connect"));
        let status = if is_newer { Status::Connecting } else { Status::Connected };
        assert_eq!((world.status(), world.saves.len()), (status, 1));
    }
    let mut world = World::ready(1);
    world.start(10);
    world.answer(refused(Disposition::Disconnect));
    assert_eq!(world.feed(Input::ConnectionSaved(Saved::Overtaken(None))), [""; 0], "it is gone");
}

#[test]
fn a_change_from_outside_waits_for_a_save_under_way_and_an_older_one_is_not_taken_up() {
    let mut world = World::ready(1);
    let record = |world: &World, revision, status| {
        let mut record = (**world.machine.channel()).clone();
        record.revision = revision;
        record.connection = Connection { status, reason: None, since: world.at.wall };
        Input::Refreshed(Arc::new(record))
    };
    let older = record(&world, 0, Status::Blocked);
    world.feed(older);
    assert_eq!((world.status(), world.machine.channel().revision), (Status::Connected, 1));
    let same = record(&world, 1, Status::Blocked);
    world.feed(same);
    assert_eq!(world.status(), Status::Connected, "its own state is not older");
    world.troubled(Disposition::Disconnect, false);
    let newer = record(&world, 5, Status::Connecting);
    world.feed(newer);
    assert_eq!(world.status(), Status::Disconnected, "its own state is being saved");
    assert!(world.feed(saved(4)).contains(&"connect"));
    assert_eq!(world.status(), Status::Connecting);
    let paused = record(&world, 6, Status::Connecting);
    assert!(!world.feed(paused).contains(&"connect"), "an equal state is not taken over");
}

#[test]
fn a_channel_that_is_connected_again_begins_without_the_pause_and_the_back_off_of_before() {
    let mut world = World::refused_with(Disposition::Block);
    world.probed(Health::Refused(Disposition::Block, failure()));
    world.feed(Input::Troubled(Troubled {
        disposition: Disposition::Maintenance,
        failure: failure(),
        is_of_message: false,
        taken_at: None,
    }));
    let mut record = (**world.machine.channel()).clone();
    record.revision = 9;
    record.connection = Connection { status: Status::Connecting, reason: None, since: world.at.wall };
    record.trial = None;
    world.feed(Input::Refreshed(Arc::new(record)));
    assert!(world.attempts.is_empty(), "there is no connector yet");
    world.pass(SECOND);
    assert!(world.connected().contains(&"attempt"), "{:?}", world.log);
    world.probed(Health::Refused(Disposition::Block, failure()));
    assert!(is_about(world.asks_in(), 2 * MINUTE), "{:?}", world.asks_in());
}
