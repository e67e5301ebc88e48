//! Messages in doubt, and what the ledger says of them.

use super::*;

impl World {
    /// A message whose answer was lost, and of which the ledger heard nothing until its time to wait was over.
    fn in_doubt() -> (Self, Key) {
        let mut world = Self::ready(1);
        world.accept(10);
        world.written();
        let key = world.attempts[0].ticket.key();
        world.answer(Reply::Uncertain(failure()));
        world.written();
        world.feed(Input::StatesRead { question: Question::WasHeard, result: Ok(Vec::new()) });
        let begun = world.log.len();
        for _ in 0..150 {
            world.pass(SECOND);
        }
        let asked = world.log[begun..].iter().filter(|line| line.starts_with("read states")).count();
        assert_eq!(asked, 1, "{:?}", world.log);
        (world, key)
    }
}

#[test]
fn a_message_in_doubt_that_the_ledger_knows_to_be_over_is_not_tried_again() {
    for (state, attempts) in [(State::Delivered, 0), (State::Failed, 0), (State::Unknown, 1)] {
        let (mut world, key) = World::in_doubt();
        world.feed(Input::StatesRead { question: Question::IsOver, result: Ok(vec![(key, state)]) });
        world.written();
        world.pass(SECOND);
        assert_eq!(world.attempts.len(), attempts, "{state:?}: {:?}", world.log);
    }
}

#[test]
fn a_message_in_doubt_of_which_a_receipt_came_meanwhile_is_not_tried_again() {
    let (mut world, key) = World::in_doubt();
    world.feed(Input::Heard(vec![(key, State::Delivered)]));
    world.feed(Input::StatesRead { question: Question::IsOver, result: Ok(vec![(key, State::Unknown)]) });
    world.written();
    world.pass(MINUTE);
    assert!(world.attempts.is_empty(), "{:?}", world.log);
    assert_eq!(world.machine.explain(world.at).active_sends, 0);
}

#[test]
fn a_ledger_that_does_not_say_where_a_message_is_is_asked_again() {
    let (mut world, key) = World::in_doubt();
    let asked = world.count("read states");
    world.feed(Input::StatesRead { question: Question::IsOver, result: Err(Failed::Temporarily) });
    world.pass(2 * SECOND);
    assert_eq!(world.count("read states"), asked + 1, "{:?}", world.log);
    world.feed(Input::StatesRead { question: Question::IsOver, result: Ok(vec![(key, State::Unknown)]) });
    world.written();
    world.pass(SECOND);
    assert_eq!(world.attempts.len(), 1, "{:?}", world.log);
}

#[test]
fn a_receipt_before_the_answer_to_a_first_attempt_takes_nothing_from_the_answer() {
    let mut world = World::ready(1);
    world.start(10);
    let key = world.attempts[0].ticket.key();
    world.feed(Input::Heard(vec![(key, State::Delivered)]));
    world.answer(accepted());
    assert_eq!((world.outcome().state, world.mark(10).state), (State::Sent, send::State::Finished));
}
