//! Which answers are kept, what is counted, and what the database's errors mean.

use super::*;
use crate::ledger::message::Claim;
use store::Error as Stored;

fn claimed() -> Arc<Order> {
    let claim = Claim { key: "key".to_owned(), fingerprint: [7; 32] };
    let order = Arc::into_inner(order(9)).expect("the only reference");
    Arc::new(Order { claim: Some(claim), ..order })
}

impl World {
    fn accept_claimed(&mut self, send: u64, more: bool) {
        let skipped = Skipped { count: 3, ..Skipped::default() };
        let accept = Accept { more, ..Accept::new(claimed(), Recipients::One(person()), skipped) };
        self.input(Input::Accept { id: id(send), accept, caller: Caller(send) });
    }
}

#[test]
fn the_answer_to_a_claimed_request_is_kept_with_its_send() {
    let mut world = World::new();
    world.accept_claimed(1, false);
    world.accept(2, 9);
    let answers = &world.begin().answers;
    assert_eq!(answers.len(), 1, "the other request has no key");
    assert_eq!((answers[0].send_id, answers[0].key.as_str(), answers[0].skipped), (id(1), "key", 3));
}

#[test]
fn the_answer_to_a_request_in_parts_is_kept_when_its_last_part_is_written() {
    let mut world = World::new();
    world.accept_claimed(1, true);
    assert!(world.begin().answers.is_empty(), "it does not count yet");
    world.commits();
    let send = AcceptedSend { id: id(1), order: claimed(), recipients: Recipients::Blocks(2) };
    let activate = Activate::new(send, Skipped { count: 4, ..Skipped::default() });
    world.input(Input::Activate { activate, caller: Caller(2) });
    let batch = world.begin();
    assert_eq!(batch.activations, [Activation { send_id: id(1), recipients: 2, skipped: 4, instead: None }]);
    assert_eq!((batch.answers.len(), batch.answers[0].recipients), (1, 2));
}

#[test]
fn only_receipts_that_were_ignored_are_counted() {
    let ignored = |unknown_send, never_attempted| Ignored { unknown_send, never_attempted };
    for (ignored, expected) in [
        (ignored(0, 0), vec![]),
        (ignored(1, 0), vec![Figure::UnknownSend(1)]),
        (ignored(0, 1), vec![Figure::NeverAttempted(1)]),
    ] {
        let mut world = World::new();
        world.hear(1, 2);
        world.begin();
        world.written(Ok(Committed { ignored, ..Committed::default() }));
        let counts = |figure: &Figure| matches!(figure, Figure::UnknownSend(_) | Figure::NeverAttempted(_));
        world.figures.retain(counts);
        assert_eq!(world.figures, expected);
    }
}

#[test]
fn sends_and_outcomes_are_counted_together_as_rows() {
    let mut world = World::new();
    world.accept(1, 9);
    world.accept(2, 9);
    world.accept(3, 9);
    world.record(4, vec![of(7, outcome(0, 1)), of(7, outcome(1, 1))], vec![mark(7)]);
    world.begin();
    world.commits();
    assert!(world.figures.contains(&Figure::Rows(5)), "{:?}", world.figures);
}

#[test]
fn a_caller_whose_send_is_withdrawn_while_it_is_in_doubt_is_told_so() {
    let mut world = World::new();
    world.accept_first_part(1);
    world.input(Input::Activate { activate: activated(2, 9), caller: Caller(2) });
    world.begin();
    world.written(Err(Cause::InDoubt));
    assert_eq!(world.figures.last(), Some(&Figure::InDoubt(2)));
    world.input(Input::Withdraw(id(1)));
    world.input(Input::Withdraw(id(2)));
    assert_eq!(world.told(), ["1: Closed", "2: Closed"]);
    world.input(Input::Withdraw(id(1)));
    assert!(world.told().is_empty(), "no caller waits for it any more");
    assert_eq!(world.settles(Ok(&[])), [1, 2]);
    assert!(world.told().is_empty());
}

#[test]
fn each_error_of_the_database_has_one_cause() {
    let words = || "words".to_owned();
    for (error, cause) in [
        (Stored::Unavailable(words()), Cause::Unavailable),
        (Stored::InDoubt(words()), Cause::InDoubt),
        (Stored::Taken(words()), Cause::Refused),
        (Stored::Refused(words()), Cause::Refused),
        (Stored::Missing(words()), Cause::Missing),
        (Stored::Fenced, Cause::Fenced),
        (Stored::Impossible(words()), Cause::Defect),
        (Stored::Schema(words()), Cause::Defect),
        (Stored::OtherKind(words()), Cause::Defect),
    ] {
        let said = error.to_string();
        assert_eq!(Failure::from(error), Failure { cause, words: said });
    }
}

#[test]
fn each_cause_has_a_name_in_the_figures() {
    let causes =
        [Cause::Unavailable, Cause::InDoubt, Cause::Refused, Cause::Missing, Cause::Fenced, Cause::Defect];
    let names = ["unavailable", "in_doubt", "refused", "missing", "fenced", "defect"];
    assert_eq!(causes.map(Cause::as_str), names);
}

#[test]
fn a_commit_whose_end_is_told_twice_is_over_once() {
    let mut world = World::new();
    world.accept(1, 9);
    world.begin();
    world.commits();
    world.told();
    let batch = Box::new(PendingWrites::default());
    world.input(Input::Written { batch, result: Err(failure(Cause::Unavailable)) });
    world.input(Input::Gathered);
    assert!(world.told().is_empty() && world.conditions.is_empty() && world.commit.is_none());
}

#[test]
fn a_lost_lease_turns_away_the_rest_of_a_send_in_parts() {
    let mut world = World::new();
    world.accept(1, 9);
    world.begin();
    world.input(Input::Activate { activate: activated(2, 9), caller: Caller(2) });
    world.written(Err(Cause::Fenced));
    world.input(Input::Activate { activate: activated(3, 9), caller: Caller(3) });
    world.input(Input::Extend {
        extend: Extend {
            send_id: id(3),
            company_id: Uuid::nil(),
            blocks: vec![block()],
            parts: Parts::default(),
        },
        caller: Caller(4),
    });
    assert_eq!(world.told(), ["1: Closed", "2: Closed", "3: Closed", "4: Closed"]);
}
