//! Commits that fail as a whole.

use super::*;
use domain::suppression::Suppression;
use store::suppressions::{Says, Word};

pub(super) fn word() -> Word {
    Word {
        company_id: Uuid::nil(),
        recipient: person(),
        scope: Suppression::Everything,
        said_at: Timestamp::from_millis(0),
        says: Says::Resume,
    }
}

#[test]
fn a_failed_batch_turns_sends_away_and_keeps_the_records_of_channels() {
    let mut world = World::new();
    world.accept(1, 9);
    world.record(2, vec![of(7, outcome(0, 1))], vec![mark(7)]);
    let hear = Hear { receipts: vec![receipt(7)], suppressions: vec![word()], ..Hear::default() };
    world.input(Input::Hear { hear, caller: Caller(3) });
    world.begin();
    world.record(4, vec![of(7, outcome(0, 2))], Vec::new());
    world.written(Err(Cause::Unavailable));
    assert_eq!(world.told(), ["1: Unavailable", "3: Unavailable"]);
    assert_eq!(world.conditions, [Condition::Failing]);
    assert!(!world.gathers, "the next commit waits");
    world.accept(5, 9);
    assert_eq!(world.sleep(), Duration::from_millis(200));
    let batch = world.begin();
    let attempts: Vec<_> = batch.outcomes.iter().map(|row| row.outcome.attempts).collect();
    assert_eq!(attempts, [1, 2], "the failed outcome goes first");
    assert_eq!((batch.sends.len(), batch.marks.len()), (1, 1));
    assert_eq!((batch.receipts.len(), batch.suppressions.len()), (0, 1));
    world.commits();
    let told = [
        "channel 9: [5]",
        "5: accepted 5",
        "2: written, gone [], overtaken 0",
        "4: written, gone [], overtaken 0",
    ];
    assert_eq!(world.told(), told);
    assert_eq!(world.conditions, [Condition::Failing, Condition::Writing]);
}

#[test]
fn the_wait_grows_with_each_failure_up_to_a_bound() {
    let mut world = World::new();
    world.record(1, vec![of(7, outcome(0, 1))], Vec::new());
    for millis in [200, 400, 800, 1_600, 2_000, 2_000] {
        world.begin();
        world.written(Err(Cause::Unavailable));
        assert_eq!(world.sleep(), Duration::from_millis(millis));
    }
    world.begin();
    world.commits();
    world.record(2, vec![of(7, outcome(0, 1))], Vec::new());
    world.begin();
    world.written(Err(Cause::Unavailable));
    assert_eq!(world.sleep(), Duration::from_millis(200), "a commit succeeded in between");
    assert!(world.figures.contains(&Figure::Failed));
}

#[test]
fn an_early_timer_begins_no_commit_and_is_set_again() {
    let mut world = World::new();
    world.record(1, vec![of(7, outcome(0, 1))], Vec::new());
    world.begin();
    world.written(Err(Cause::Unavailable));
    let wakes_at = world.wakes_at.take();
    world.input(Input::Timer);
    assert!(!world.gathers);
    assert_eq!(world.wakes_at, wakes_at);
    world.sleep();
    assert!(world.gathers);
}

#[test]
fn sends_are_a_statement_of_their_own_unless_the_connection_may_be_broken() {
    let mut world = World::new();
    world.accept(1, 9);
    world.begin();
    assert!(world.commit.as_ref().unwrap().in_one_statement);
    world.written(Err(Cause::Unavailable));
    world.accept(2, 9);
    world.sleep();
    world.begin();
    assert!(!world.commit.as_ref().unwrap().in_one_statement);
    world.commits();
    world.accept(3, 9);
    world.begin();
    assert!(world.commit.as_ref().unwrap().in_one_statement);
}

#[test]
fn a_defect_turns_away_only_the_callers_of_its_batch() {
    let mut world = World::new();
    world.accept(1, 9);
    world.record(2, vec![of(7, outcome(0, 1))], Vec::new());
    world.begin();
    world.written(Err(Cause::Defect));
    assert_eq!(world.told(), ["1: Closed"]);
    world.sleep();
    assert_eq!(world.begin().outcomes.len(), 1);
    world.commits();
    assert_eq!(world.told(), ["2: written, gone [], overtaken 0"]);
}

#[test]
fn a_lost_lease_closes_the_ledger_for_everybody() {
    let mut world = World::new();
    world.accept(1, 9);
    world.record(2, vec![of(7, outcome(0, 1))], Vec::new());
    world.begin();
    world.accept(3, 9);
    world.record(4, Vec::new(), vec![mark(7)]);
    world.written(Err(Cause::Fenced));
    assert_eq!(world.told(), ["1: Closed", "2: Closed", "3: Closed", "4: Closed"]);
    assert_eq!(world.conditions, [Condition::Fenced]);
    world.accept(5, 9);
    world.hear(6, 1);
    world.input(Input::Withdraw(id(1)));
    assert_eq!(world.told(), ["5: Closed", "6: Closed"]);
    assert!(!world.gathers && world.settling.is_none() && world.wakes_at.is_none());
    world.input(Input::Close(Caller(7)));
    assert_eq!(world.told(), ["7: done"]);
    assert!(world.is_over);
}

#[test]
fn after_a_failure_an_empty_batch_shows_when_the_database_writes_again() {
    let mut world = World::new();
    world.accept(1, 9);
    world.begin();
    world.written(Err(Cause::Unavailable));
    assert_eq!(world.told(), ["1: Unavailable"], "nothing is left to write");
    for _ in 0..2 {
        world.sleep();
        assert!(world.begin().is_empty());
        world.written(Err(Cause::Unavailable));
    }
    assert_eq!(world.conditions, [Condition::Failing]);
    world.sleep();
    world.begin();
    world.commits();
    assert_eq!(world.conditions, [Condition::Failing, Condition::Writing]);
    assert!(!world.gathers && world.wakes_at.is_none(), "nothing more is tried");
}

#[test]
fn a_ledger_that_closes_after_a_failure_tries_nothing() {
    let mut world = World::new();
    world.accept(1, 9);
    world.begin();
    world.written(Err(Cause::Unavailable));
    world.input(Input::Close(Caller(2)));
    world.sleep();
    assert!(world.is_over && !world.gathers);
}
