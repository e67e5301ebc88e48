//! What is written, and what a restart does with it.

use super::writing::{IDLE_INTERVAL, WRITE_PAUSE};
use super::*;

#[test]
fn the_cursor_passes_an_event_only_with_its_outcome_or_retry() {
    let mut stage = Stage::new(2, 1);
    stage.append_of_each(1..=3);
    stage.end(2, FAILED);
    assert_eq!((stage.stored.cursor, stage.retries()), (0, vec![(2, 1)]), "the first event is in flight");
    stage.end(1, AttemptVerdict::Delivered);
    assert_eq!(stage.stored.cursor, 2);
    let write = stage.writes.last().unwrap();
    assert_eq!(
        *write,
        Write { cursor: Some(2), health: Some(EndpointHealth::NEW), ..Write::default() },
        "only what changed"
    );
}

#[test]
fn a_retry_beyond_the_cursor_is_not_read_as_a_new_event() {
    let mut stage = Stage::new(2, 1);
    stage.append_of_each(1..=2);
    stage.end(2, FAILED);
    stage.restart(settings(2, 1));
    assert_eq!(stage.in_flight(), [[1]]);
    stage.pass(6 * SECOND);
    stage.end(2, AttemptVerdict::Delivered);
    assert_eq!((stage.stored.cursor, stage.retries()), (0, vec![]));
    stage.end(1, AttemptVerdict::Delivered);
    assert_eq!((stage.stored.cursor, stage.in_flight()), (2, vec![]));
}

#[test]
fn a_restart_attempts_everything_beyond_the_cursor_and_the_retries_at_their_times() {
    let mut stage = Stage::new(1, 1);
    stage.append_of_each(1..=3);
    stage.end(1, FAILED);
    stage.pass(2 * SECOND);
    stage.restart(settings(1, 1));
    assert_eq!(stage.in_flight(), [[2]]);
    stage.end(2, AttemptVerdict::Delivered);
    stage.end(3, AttemptVerdict::Delivered);
    stage.pass(2 * SECOND);
    assert_eq!(stage.in_flight(), Vec::<Vec<i64>>::new());
    stage.pass(SECOND);
    assert_eq!(stage.in_flight(), [[1]]);
}

#[test]
fn one_write_is_under_way_and_further_changes_are_gathered() {
    let mut stage = Stage::new(1, 1);
    stage.holds_writes = true;
    stage.append_of_each(1..=4);
    stage.end(1, AttemptVerdict::Delivered);
    stage.end(2, FAILED);
    stage.end(3, AttemptVerdict::Delivered);
    assert_eq!(stage.writes.len(), 1);
    assert_eq!(stage.writes[0], Write { cursor: Some(1), ..Write::default() });
    stage.input(Input::Written(Ok(())));
    let Write { cursor, health, put, remove, .. } = &stage.writes[1];
    assert_eq!((*cursor, *health, put.len(), remove.len()), (Some(3), None, 1, 0));
}

#[test]
fn a_failed_write_is_repeated_after_a_pause_with_everything_since() {
    let mut stage = Stage::new(1, 1);
    stage.holds_writes = true;
    stage.append_of_each(1..=3);
    stage.end(1, FAILED);
    stage.input(Input::Written(Err("disk full".to_owned())));
    stage.end(2, AttemptVerdict::Delivered);
    assert_eq!(stage.writes.len(), 1);
    stage.pass(WRITE_PAUSE);
    let Write { cursor, health, put, remove, .. } = &stage.writes[1];
    // The failed write may have stored the failure, so the health is written although it is as before.
    assert_eq!((*cursor, *health, put.len(), remove.len()), (Some(2), Some(EndpointHealth::NEW), 1, 0));
    stage.input(Input::Written(Err("disk full".to_owned())));
    stage.pass(4 * SECOND);
    stage.end(3, AttemptVerdict::Delivered);
    stage.end(1, AttemptVerdict::Delivered);
    stage.input(Input::Written(Ok(())));
    let last = stage.writes.last().unwrap();
    assert_eq!((last.cursor, last.remove.clone()), (Some(3), vec![1]));
}

#[test]
fn events_are_attempted_before_earlier_writes_are_stored_up_to_a_bound() {
    let mut stage = Stage::new(1, 1);
    stage.holds_writes = true;
    stage.append_of_each(1..=500);
    let mut attempted = 0;
    while let Some((_, sequences)) = stage.attempts.first().cloned() {
        stage.end(sequences[0], AttemptVerdict::Delivered);
        attempted += 1;
    }
    assert_eq!(attempted, 64);
}

#[test]
fn events_that_the_endpoint_does_not_want_advance_the_cursor_now_and_then() {
    let mut stage = Stage::new(1, 1);
    let page = |up_to| LogPage { items: Vec::new(), up_to, is_end: true };
    for up_to in 1..=100 {
        stage.machine.has_more = false;
        stage.input(Input::Read(Ok(page(up_to))));
        stage.pass(SECOND);
    }
    stage.pass(IDLE_INTERVAL);
    assert_eq!(stage.stored.cursor, 100);
    assert!((10..=12).contains(&stage.writes.len()), "{}", stage.writes.len());
}

#[test]
fn events_that_were_removed_from_the_log_are_skipped() {
    let mut stage = Stage::new(1, 1);
    stage.append_of_each([1]);
    stage.end(1, AttemptVerdict::Delivered);
    stage.begins_after = 50;
    stage.append_of_each([40, 51]);
    assert_eq!(stage.in_flight(), [[51]]);
    stage.end(51, AttemptVerdict::Delivered);
    assert_eq!(stage.stored.cursor, 51);
}

#[test]
fn a_machine_that_stops_awaits_its_attempts_and_its_last_write() {
    let mut stage = Stage::new(2, 1);
    stage.append_of_each(1..=4);
    stage.holds_writes = true;
    stage.input(Input::Stop);
    stage.end(1, AttemptVerdict::Delivered);
    assert_eq!((stage.in_flight(), stage.is_over), (vec![vec![2]], false));
    stage.end(2, FAILED);
    stage.input(Input::Written(Ok(())));
    assert!(!stage.is_over);
    stage.input(Input::Written(Err("busy".to_owned())));
    stage.pass(WRITE_PAUSE);
    stage.input(Input::Written(Ok(())));
    assert!(stage.is_over);
    let cursors: Vec<_> = stage.writes.iter().map(|write| write.cursor).collect();
    assert_eq!(cursors, [Some(1), Some(2), Some(2)]);
}

#[test]
fn a_clock_that_was_set_back_delays_a_retry_by_little_more_than_a_day() {
    let item = EventItem { sequence: 1, key: None };
    let retry = Retry { item, attempts: 1, next_at: WALL.plus(400 * DAY) };
    let stored = Stored { cursor: 1, retries: vec![retry], ..new() };
    let mut stage = Stage::start(stored, settings(1, 1));
    stage.pass(2 * DAY);
    assert_eq!(stage.in_flight(), [[1]]);
}
