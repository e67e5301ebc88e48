//! Sends with a template for people whose window is closed: two sends, of which either both count or neither does.

use super::*;
use domain::send::Source;
use store::ledger::{InsteadOf, SourceOf};

/// The end of the send 1, with the send 2 in its place for some.
fn pair() -> Activate {
    let instead = AcceptedSend { id: id(2), order: order(9), recipients: Recipients::Blocks(3) };
    Activate { instead: Some(instead), ..activated(1, 9) }
}

impl World {
    fn activate_both(&mut self, activate: Activate) {
        self.input(Input::Activate { activate, caller: Caller(7) });
    }
}

#[test]
fn both_sends_become_active_in_one_row_and_the_channel_hears_of_both() {
    let mut world = World::new();
    world.activate_both(pair());
    let batch = world.begin();
    let instead = Some(InsteadOf { send_id: id(2), recipients: 3 });
    assert_eq!(batch.activations, [Activation { send_id: id(1), recipients: 2, skipped: 0, instead }]);
    assert_eq!(batch.sources, [SourceOf { send_id: id(2), source: Source::Closed(Some(id(1))) }]);
    world.commits();
    assert_eq!(world.told(), ["channel 9: [1, 2]", "7: done"]);
}

#[test]
fn a_template_that_everybody_gets_says_so() {
    let mut world = World::new();
    world.activate_both(Activate { is_instead: true, ..activated(2, 9) });
    let batch = world.begin();
    assert_eq!(batch.sources, [SourceOf { send_id: id(2), source: Source::Closed(None) }]);
    assert_eq!(batch.activations[0].instead, None);
}

#[test]
fn the_first_of_two_sends_in_doubt_decides_for_both() {
    let mut world = World::new();
    world.activate_both(pair());
    world.begin();
    world.written(Err(Cause::InDoubt));
    assert_eq!(world.settles(Ok(&[1])), [1]);
    assert_eq!(world.told(), ["channel 9: [1] late", "channel 9: [2] late", "7: done"]);
    world.activate_both(pair());
    world.sleep();
    world.begin();
    world.written(Err(Cause::InDoubt));
    world.settles(Ok(&[]));
    assert_eq!(world.told(), ["7: Unavailable"]);
}

#[test]
fn a_refused_row_of_one_refuses_both() {
    let mut world = World::new();
    world.activate_both(pair());
    world.begin();
    world.written(Err(Cause::Missing));
    let again = world.commit.as_ref().expect("the batch is written in parts");
    assert_eq!(again.batch.activations.len(), 1);
    world.written(Err(Cause::Missing));
    assert_eq!(world.told(), ["7: Unavailable"]);
}
