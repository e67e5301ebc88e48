//! The order of events, the requests in flight, and what is read.

use super::*;

#[test]
fn events_are_attempted_in_the_order_of_the_log_up_to_the_most_in_flight() {
    let mut stage = Stage::new(2, 1);
    stage.append_of_each([3, 5, 9, 10]);
    assert_eq!(stage.in_flight(), [[3], [5]]);
    stage.end(5, AttemptVerdict::Delivered);
    assert_eq!(stage.in_flight(), [[3], [9]]);
    stage.end(3, AttemptVerdict::Delivered);
    assert_eq!(stage.in_flight(), [[9], [10]]);
}

#[test]
fn an_event_waits_for_the_one_of_its_key_in_flight_and_others_pass_it() {
    let mut stage = Stage::new(2, 1);
    stage.append([(1, 7), (2, 7), (3, 8)]);
    assert_eq!(stage.in_flight(), [[1], [3]]);
    stage.end(3, AttemptVerdict::Delivered);
    assert_eq!(stage.in_flight(), [[1]]);
    stage.end(1, AttemptVerdict::Delivered);
    assert_eq!(stage.in_flight(), [[2]]);
}

#[test]
fn events_without_a_key_wait_for_no_other() {
    let mut stage = Stage::new(3, 1);
    let item = |sequence| EventItem { sequence, key: None };
    stage.log.extend((1..=3).map(item));
    stage.input(Input::Grew);
    assert_eq!(stage.in_flight(), [[1], [2], [3]]);
}

#[test]
fn a_batch_keeps_the_order_of_the_log_and_has_several_events_of_a_key() {
    let mut stage = Stage::new(2, 3);
    stage.append([(1, 7), (2, 8), (3, 7), (4, 8), (5, 9), (6, 7)]);
    assert_eq!(stage.in_flight(), [vec![1, 2, 3], vec![5]]);
    stage.end(1, AttemptVerdict::Delivered);
    assert_eq!(stage.in_flight(), [vec![5], vec![4, 6]]);
}

#[test]
fn a_failed_event_holds_back_neither_others_nor_later_ones_of_its_key() {
    let mut stage = Stage::new(1, 1);
    stage.append([(1, 7), (2, 7), (3, 8)]);
    for sequence in 1..=3 {
        stage.end(sequence, if sequence == 1 { FAILED } else { AttemptVerdict::Delivered });
    }
    assert_eq!((stage.stored.cursor, stage.retries()), (3, vec![(1, 1)]));
    stage.pass(6 * SECOND);
    assert_eq!(stage.in_flight(), [[1]]);
}

#[test]
fn retries_and_the_log_take_turns() {
    let mut stage = Stage::new(1, 1);
    stage.append_of_each(1..=4);
    (1..=4).for_each(|sequence| stage.end(sequence, FAILED));
    stage.pass(6 * SECOND);
    stage.append_of_each(5..=8);
    let mut order = Vec::new();
    while let Some((_, sequences)) = stage.attempts.first() {
        let sequence = sequences[0];
        order.push(sequence);
        stage.end(sequence, AttemptVerdict::Delivered);
    }
    assert_eq!(order, [1, 5, 2, 6, 3, 7, 4, 8]);
}

#[test]
fn a_retry_waits_for_an_event_of_its_key_in_flight() {
    let mut stage = Stage::new(2, 1);
    stage.append([(1, 7), (2, 7)]);
    stage.end(1, FAILED);
    stage.pass(MINUTE);
    assert_eq!(stage.in_flight(), [[2]]);
    stage.end(2, AttemptVerdict::Delivered);
    assert_eq!(stage.in_flight(), [[1]]);
}

#[test]
fn the_log_is_read_in_parts_and_never_beyond_the_capacity() {
    let mut stage = Stage::new(1, 1);
    stage.append_of_each(1..=500);
    assert_eq!((stage.machine.window.len(), stage.reads.last()), (64, Some(&(0, 64))));
    for sequence in 1..=500 {
        stage.end(sequence, AttemptVerdict::Delivered);
        assert!(stage.machine.window.len() <= 64);
    }
    assert!(stage.reads.iter().all(|(_, limit)| (32..=64).contains(limit)), "{:?}", stage.reads);
    assert_eq!(stage.stored.cursor, 500);
}

#[test]
fn attempts_beyond_the_stored_cursor_are_bounded_while_the_first_event_hangs() {
    for (batch, most) in [(1, 64), (100, 800)] {
        let mut stage = Stage::new(2, batch);
        stage.append([(1, 0)]);
        stage.append_of_each(2..=3_000);
        while let Some((_, sequences)) = stage.attempts.get(1) {
            let sequence = sequences[0];
            stage.end(sequence, AttemptVerdict::Delivered);
        }
        assert_eq!(stage.stored.cursor, 0);
        assert_eq!(stage.machine.window.len(), most);
        stage.end(1, AttemptVerdict::Delivered);
        assert!(stage.stored.cursor >= 64);
    }
}

#[test]
fn events_that_are_added_during_a_read_lead_to_another_read() {
    let (mut machine, mut effects) = (Stage::new(1, 1).machine, Effects::default());
    let now = Moment { monotonic: Instant::now(), wall: WALL };
    let mut handle = |input| {
        machine.handle(input, now, &mut effects);
        effects.drain().filter(|effect| matches!(effect, Effect::Read { .. })).count()
    };
    let page = || Ok(LogPage { items: Vec::new(), up_to: 0, is_end: true });
    assert_eq!([handle(Input::Grew), handle(Input::Grew), handle(Input::Read(page()))], [1, 0, 1]);
    assert_eq!(handle(Input::Read(page())), 0, "nothing is new");
}

#[test]
fn a_failed_read_is_retried_after_a_pause() {
    let now = Moment { monotonic: Instant::now(), wall: WALL };
    let mut machine = Machine::new(Uuid::nil(), settings(1, 1), new(), now);
    let mut effects = Effects::default();
    machine.handle(Input::Timer, now, &mut effects);
    machine.handle(Input::Read(Err("locked".to_owned())), now, &mut effects);
    let again = now.monotonic + READ_PAUSE;
    let read = Effect::Read { after: 0, limit: 64 };
    assert_eq!(effects.drain().collect::<Vec<_>>(), [read.clone(), Effect::WakeAt(again)]);
    machine.handle(Input::Timer, Moment { monotonic: again, ..now }, &mut effects);
    assert_eq!(effects.drain().collect::<Vec<_>>(), [read]);
}

#[test]
fn changed_settings_hold_for_the_next_attempts() {
    let mut stage = Stage::new(1, 1);
    stage.append_of_each(1..=9);
    stage.input(Input::Changed(settings(3, 2)));
    assert_eq!(stage.in_flight(), [vec![1], vec![2, 3], vec![4, 5]]);
    stage.input(Input::Changed(settings(0, 0)));
    stage.end(1, AttemptVerdict::Delivered);
    stage.end(2, AttemptVerdict::Delivered);
    stage.end(4, AttemptVerdict::Delivered);
    assert_eq!(stage.in_flight(), [[6]], "at least one event, and one request");
}
