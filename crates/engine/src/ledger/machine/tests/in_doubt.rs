//! Commits whose answer did not come.

use super::*;

#[test]
fn callers_of_sends_in_doubt_are_answered_when_that_is_settled_and_not_before() {
    let mut world = World::new();
    world.accept(1, 9);
    world.accept(2, 8);
    world.accept_first_part(3);
    world.input(Input::Activate { activate: activated(4, 9), caller: Caller(4) });
    world.input(Input::Extend {
        extend: Extend {
            send_id: id(5),
            company_id: Uuid::nil(),
            blocks: vec![block()],
            parts: Parts::default(),
        },
        caller: Caller(5),
    });
    world.record(6, vec![of(7, outcome(0, 1))], Vec::new());
    world.begin();
    world.written(Err(Cause::InDoubt));
    assert_eq!(world.told(), ["5: Unavailable"], "the resolver withdraws that one");
    assert!(world.figures.contains(&Figure::InDoubt(4)));
    // Commits go on meanwhile.
    world.sleep();
    world.accept(10, 9);
    assert_eq!(world.begin().outcomes.len(), 1);
    world.commits();
    let told = ["channel 9: [10]", "10: accepted 10", "6: written, gone [], overtaken 0"];
    assert_eq!(world.told(), told);
    assert_eq!(world.settles(Ok(&[1, 3, 4])), [1, 2, 3, 4]);
    let told = [
        "channel 9: [1] late",
        "1: accepted 1",
        "2: Unavailable",
        "3: accepted 3",
        "channel 9: [4] late",
        "4: done",
    ];
    assert_eq!(world.told(), told);
    assert_eq!(world.figures.last(), Some(&Figure::InDoubt(0)));
}

#[test]
fn a_question_that_fails_is_asked_again_less_and_less_often() {
    let mut world = World::new();
    world.input(Input::Withdraw(id(1)));
    for millis in [200, 400, 800] {
        assert_eq!(world.settles(Err(Cause::Unavailable)), [1]);
        assert!(world.settling.is_none());
        assert_eq!(world.sleep(), Duration::from_millis(millis));
    }
    world.input(Input::Withdraw(id(2)));
    assert_eq!(world.settles(Ok(&[])), [1], "a send that comes meanwhile is asked about next");
    assert_eq!(world.settles(Ok(&[])), [2]);
    assert!(world.told().is_empty() && world.settling.is_none());
}

#[test]
fn both_waits_have_one_timer_that_rings_for_the_nearer_one() {
    let mut world = World::new();
    world.accept(1, 9);
    world.begin();
    world.written(Err(Cause::InDoubt));
    world.record(2, vec![of(7, outcome(0, 1))], Vec::new());
    world.now.monotonic += Duration::from_millis(150);
    world.settles(Err(Cause::Unavailable));
    assert_eq!(world.sleep(), Duration::from_millis(50));
    assert!(world.gathers && world.settling.is_none());
    assert_eq!(world.sleep(), Duration::from_millis(150));
    assert!(world.settling.is_some());
}

#[test]
fn the_end_waits_for_sends_in_doubt() {
    let mut world = World::new();
    world.accept(1, 9);
    world.begin();
    world.written(Err(Cause::InDoubt));
    world.input(Input::Close(Caller(2)));
    world.sleep();
    assert!(!world.is_over && world.told().is_empty());
    world.settles(Err(Cause::Unavailable));
    assert!(!world.is_over);
    world.sleep();
    world.settles(Ok(&[1]));
    assert_eq!(world.told(), ["channel 9: [1] late", "1: accepted 1", "2: done"]);
    assert!(world.is_over);
}

#[test]
fn sends_in_doubt_count_as_waiting() {
    let mut world = World::with_capacity(1);
    world.accept(1, 9);
    world.begin();
    world.written(Err(Cause::InDoubt));
    world.accept(2, 9);
    assert_eq!(world.told(), ["2: Unavailable"]);
    world.settles(Ok(&[1]));
    world.accept(3, 9);
    assert_eq!(world.told(), ["channel 9: [1] late", "1: accepted 1"]);
}

#[test]
fn many_sends_in_doubt_are_settled_in_portions() {
    let mut world = World::with_capacity(3_000);
    for send in 1..=1_500 {
        world.accept(send, 9);
    }
    world.begin();
    world.written(Err(Cause::InDoubt));
    assert_eq!(world.settles(Ok(&[])).len(), 1_000);
    assert_eq!(world.told().len(), 1_000);
    assert_eq!(world.settles(Ok(&[])).len(), 500);
    assert_eq!(world.told().len(), 500);
}
