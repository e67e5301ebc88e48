//! Messages with an unknown outcome, and what the ledger says about them.

use super::*;

impl World {
    /// A message whose answer was lost, and for which no receipt arrived within the grace period.
    fn with_unknown_outcome() -> (Self, Key) {
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
fn a_message_that_is_over_in_the_ledger_is_not_retried() {
    for (state, attempts) in [(State::Delivered, 0), (State::Failed, 0), (State::Unknown, 1)] {
        let (mut world, key) = World::with_unknown_outcome();
        world.feed(Input::StatesRead { question: Question::IsOver, result: Ok(vec![(key, state)]) });
        world.written();
        world.pass(SECOND);
        assert_eq!(world.attempts.len(), attempts, "{state:?}: {:?}", world.log);
    }
}

#[test]
fn a_message_whose_receipt_came_during_the_question_is_not_retried() {
    let (mut world, key) = World::with_unknown_outcome();
    world.feed(Input::Heard(vec![(key, State::Delivered)]));
    world.feed(Input::StatesRead { question: Question::IsOver, result: Ok(vec![(key, State::Unknown)]) });
    world.written();
    world.pass(MINUTE);
    assert!(world.attempts.is_empty(), "{:?}", world.log);
    assert_eq!(world.machine.explain(world.at).active_sends, 0);
}

#[test]
fn a_ledger_that_does_not_answer_is_asked_again() {
    let (mut world, key) = World::with_unknown_outcome();
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
