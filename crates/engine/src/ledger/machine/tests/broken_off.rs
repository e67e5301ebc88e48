//! A database that becomes unavailable while a batch is written in parts: the callers of written rows are answered, and
//! the rest is treated as after any failure.

use super::failures::word;
use super::urgency::message;
use super::*;

impl World {
    /// The batch is refused as a whole, and again before it is halved. The first half is written, and the second fails
    /// with this cause.
    fn breaks_off_after_half(&mut self, cause: Cause) {
        self.begin();
        for _ in 0..2 {
            self.written(Err(Cause::Refused));
        }
        self.commits();
        assert!(self.told.is_empty(), "nobody is told before the end");
        self.written(Err(cause));
    }

    fn extend(&mut self, send: u64) {
        let extend = Extend {
            send_id: id(send),
            company_id: Uuid::nil(),
            blocks: vec![block()],
            parts: Parts::default(),
        };
        self.input(Input::Extend { extend, caller: Caller(send) });
    }

    fn activate(&mut self, send: u64) {
        self.input(Input::Activate { activate: activated(send, 9), caller: Caller(send) });
    }

    fn hears(&mut self, caller: u64, hear: Hear) {
        self.input(Input::Hear { hear, caller: Caller(caller) });
    }

    /// What the next commit holds: sends, outcomes, marks, and suppressions.
    fn next_holds(&mut self) -> [usize; 4] {
        self.sleep();
        let PendingWrites { sends, outcomes, marks, suppressions, .. } = self.begin();
        [sends.len(), outcomes.len(), marks.len(), suppressions.len()]
    }
}

fn one_receipt() -> Hear {
    Hear { receipts: vec![receipt(7)], ..Hear::default() }
}

#[test]
fn an_audience_s_blocks_that_were_written_are_done_and_the_others_are_turned_away() {
    let mut world = World::new();
    world.extend(5);
    world.extend(6);
    world.breaks_off_after_half(Cause::Unavailable);
    assert_eq!(world.told(), ["5: done", "6: Unavailable"]);
}

#[test]
fn an_audience_that_was_completed_counts_and_one_that_was_not_is_turned_away() {
    let mut world = World::new();
    world.activate(5);
    world.activate(6);
    world.breaks_off_after_half(Cause::Unavailable);
    assert_eq!(world.told(), ["channel 9: [5]", "5: done", "6: Unavailable"]);
    assert_eq!(world.next_holds(), [0; 4], "it is not written later");
}

#[test]
fn a_send_that_was_written_is_accepted_and_blocks_of_another_are_turned_away() {
    let mut world = World::new();
    world.accept(5, 9);
    world.extend(6);
    world.breaks_off_after_half(Cause::Unavailable);
    assert_eq!(world.told(), ["channel 9: [5]", "5: accepted 5", "6: Unavailable"]);
}

#[test]
fn sends_of_the_rest_are_in_doubt_when_its_commit_is() {
    let mut world = World::new();
    world.accept(5, 9);
    world.accept(6, 9);
    world.breaks_off_after_half(Cause::InDoubt);
    assert_eq!(world.told(), ["channel 9: [5]", "5: accepted 5"]);
    assert_eq!(world.settles(Ok(&[6])), [6], "the other one is not");
    assert_eq!(world.told(), ["channel 9: [6] late", "6: accepted 6"]);
}

#[test]
fn a_record_that_was_written_is_answered_although_receipts_were_not() {
    let mut world = World::new();
    world.record(1, vec![of(7, outcome(0, 1))], Vec::new());
    world.hears(2, one_receipt());
    world.breaks_off_after_half(Cause::Unavailable);
    assert_eq!(world.told(), ["1: written, gone [], overtaken 0", "2: Unavailable"]);
    assert_eq!(world.next_holds(), [0; 4], "the provider repeats it");
}

#[test]
fn a_webhook_of_which_a_half_was_written_is_repeated_by_the_provider() {
    let mut world = World::new();
    world.hears(2, Hear { inbound: vec![message(), message()], ..Hear::default() });
    world.breaks_off_after_half(Cause::Unavailable);
    assert_eq!(world.told(), ["2: Unavailable"]);
    assert_eq!(world.next_holds(), [0; 4]);
}

#[test]
fn receipts_that_were_written_are_done_although_a_mark_was_not() {
    let mut world = World::new();
    world.record(1, Vec::new(), vec![mark(7)]);
    world.hears(2, one_receipt());
    world.breaks_off_after_half(Cause::Unavailable);
    assert_eq!(world.told(), ["2: done"]);
    assert_eq!(world.next_holds(), [0, 0, 1, 0]);
    world.commits();
    assert_eq!(world.told(), ["1: written, gone [], overtaken 0"]);
}

#[test]
fn a_webhook_without_rows_is_done_although_an_outcome_was_not_written() {
    let mut world = World::new();
    world.accept(5, 9);
    world.record(1, vec![of(7, outcome(0, 1))], Vec::new());
    world.hears(2, Hear::default());
    world.breaks_off_after_half(Cause::Unavailable);
    assert_eq!(world.told(), ["channel 9: [5]", "5: accepted 5", "2: done"]);
    assert_eq!(world.next_holds(), [0, 1, 0, 0]);
}

#[test]
fn an_opt_out_that_was_not_written_keeps_its_channel_waiting_and_turns_webhooks_away() {
    let mut world = World::new();
    world.record(1, vec![of(7, outcome(0, 1))], Vec::new());
    world.hears(2, Hear { suppressions: vec![word()], ..Hear::default() });
    world.breaks_off_after_half(Cause::Unavailable);
    assert_eq!(world.told(), ["2: Unavailable"], "either may have brought the opt-out");
    assert_eq!(world.next_holds(), [0, 0, 0, 1]);
    world.commits();
    assert_eq!(world.told(), ["1: written, gone [], overtaken 0"]);
}

#[test]
fn all_callers_but_a_send_s_are_answered_when_only_that_send_was_not_written() {
    let mut world = World::new();
    world.accept(5, 9);
    world.accept(6, 9);
    world.hears(2, Hear::default());
    world.record(1, Vec::new(), Vec::new());
    world.breaks_off_after_half(Cause::Unavailable);
    let told =
        ["channel 9: [5]", "5: accepted 5", "1: written, gone [], overtaken 0", "2: done", "6: Unavailable"];
    assert_eq!(world.told(), told);
}

#[test]
fn rows_that_were_written_in_parts_are_counted_when_the_rest_fails() {
    let mut world = World::new();
    world.record(1, vec![of(7, outcome(0, 1)), of(7, outcome(1, 1))], vec![mark(7), mark(8)]);
    world.breaks_off_after_half(Cause::Unavailable);
    assert!(world.figures.contains(&Figure::Rows(2)), "{:?}", world.figures);
    assert_eq!(world.conditions, [Condition::Failing]);
}

#[test]
fn a_lost_lease_in_the_middle_of_the_parts_closes_the_ledger() {
    let mut world = World::new();
    world.accept(5, 9);
    world.record(1, vec![of(7, outcome(0, 1))], Vec::new());
    world.breaks_off_after_half(Cause::Fenced);
    assert_eq!(world.told(), ["channel 9: [5]", "5: accepted 5", "1: Closed"]);
    assert_eq!(world.conditions, [Condition::Fenced]);
    assert!(!world.gathers && world.wakes_at.is_none());
}
