//! The circuit: probes instead of normal attempts, and the end of that.

use super::*;

/// Five events failed, and these wait in the log.
fn open(max_in_flight: usize, batch: usize) -> Stage {
    let mut stage = Stage::new(max_in_flight, batch);
    for sequence in 1..=5 {
        stage.append_of_each([sequence]);
        stage.end(sequence, FAILED);
    }
    stage.append_of_each(6..=20);
    stage
}

#[test]
fn after_five_failures_there_is_one_probe_a_minute() {
    let mut stage = open(4, 100);
    assert_eq!(stage.stored.health.failures, 5);
    let mut probes = Vec::new();
    for second in 1..=600 {
        stage.pass(SECOND);
        if let Some((_, sequences)) = stage.attempts.first().cloned() {
            assert_eq!((sequences.len(), stage.attempts.len()), (1, 1), "never a batch");
            stage.end(sequences[0], FAILED);
            probes.push((second, sequences[0]));
        }
    }
    let retries = [(60, 1), (120, 2), (180, 3), (240, 4)];
    assert_eq!(probes[..4], retries, "the oldest due retries first");
    assert_eq!(probes[4..].iter().map(|(at, _)| *at).collect::<Vec<_>>(), [300, 360, 420, 480, 540, 600]);
    assert_eq!(probes[4], (300, 5), "the event whose failure opened the circuit has waited in the log");
    assert_eq!((stage.stored.cursor, stage.retries().len()), (4, 4), "there are no new retries");
}

#[test]
fn a_probe_that_hangs_is_awaited() {
    let mut stage = open(4, 1);
    stage.pass(10 * MINUTE);
    assert_eq!(stage.in_flight(), [[1]]);
    stage.end(1, FAILED);
    assert_eq!(stage.in_flight(), [[2]], "the minute is over");
}

#[test]
fn a_success_closes_the_circuit_and_the_endpoint_catches_up_in_order() {
    let mut stage = open(1, 1);
    stage.pass(HOUR);
    stage.end(1, AttemptVerdict::Delivered);
    let since = WALL;
    assert_eq!(stage.notices(), [Notice::Recovered { since }]);
    assert_eq!(stage.stored.health, EndpointHealth::NEW);
    let mut order = Vec::new();
    while let Some((_, sequences)) = stage.attempts.first().cloned() {
        order.push(sequences[0]);
        stage.end(sequences[0], AttemptVerdict::Delivered);
    }
    let (log, retries): (Vec<_>, Vec<_>) = order.into_iter().partition(|sequence| *sequence >= 5);
    assert_eq!((log, retries), ((5..=20).collect(), vec![2, 3, 4]), "retries became due meanwhile");
    assert_eq!((stage.stored.cursor, stage.retries()), (20, vec![]));
}

#[test]
fn a_short_failure_is_not_told() {
    let mut stage = open(1, 1);
    stage.pass(MINUTE);
    stage.end(1, AttemptVerdict::Delivered);
    assert_eq!((stage.notices(), stage.stored.health), (vec![], EndpointHealth::NEW));
}

#[test]
fn attempts_in_flight_when_the_circuit_opens_make_no_retries() {
    let mut stage = Stage::new(4, 1);
    stage.append_of_each(1..=20);
    stage.open_circuit([1, 2, 3, 4, 6]);
    assert_eq!((stage.retries().len(), stage.in_flight()), (4, vec![vec![5], vec![7], vec![8]]));
    stage.end(7, FAILED);
    stage.end(8, FAILED);
    stage.pass(10 * MINUTE);
    assert_eq!(stage.in_flight(), [[5]], "no probe while an attempt hangs");
    stage.end(5, FAILED);
    assert_eq!((stage.stored.cursor, stage.retries().len()), (4, 4));
    stage.end(1, AttemptVerdict::Delivered);
    assert_eq!(stage.in_flight(), [[2], [5], [3], [6]]);
}

#[test]
fn the_time_with_an_open_circuit_uses_up_no_attempts() {
    let mut stage = open(1, 1);
    stage.stored.retries.iter().for_each(|retry| assert_eq!(retry.attempts, 1));
    stage.pass(2 * DAY);
    stage.end(1, AttemptVerdict::Delivered);
    assert_eq!(stage.retries(), [(2, 1), (3, 1), (4, 1)]);
}

#[test]
fn an_event_that_fails_as_a_probe_from_the_log_is_never_exhausted() {
    let mut stage = Stage::new(1, 1);
    for sequence in 1..=5 {
        stage.append_of_each([sequence]);
        let retry_after = Some(DAY);
        stage.end(sequence, AttemptVerdict::Failed { retry_after: retry_after.filter(|_| sequence < 5) });
    }
    for _ in 0..50 {
        stage.pass(MINUTE);
        stage.end(5, FAILED);
    }
    assert_eq!((stage.stored.cursor, stage.notices()), (4, vec![]));
    stage.pass(MINUTE);
    stage.end(5, AttemptVerdict::Delivered);
    assert_eq!(stage.stored.cursor, 5);
}

#[test]
fn a_probe_is_not_repeated_before_the_time_that_the_receiver_asked_for() {
    let mut stage = open(1, 1);
    let retry_after = Some(2 * HOUR);
    // Four retries and sixteen events of the log, each tried once.
    for sequence in 1..=20 {
        stage.pass(MINUTE);
        stage.end(sequence, AttemptVerdict::Failed { retry_after });
    }
    stage.pass(2 * HOUR - 20 * MINUTE);
    assert_eq!(stage.in_flight(), Vec::<Vec<i64>>::new());
    stage.pass(MINUTE);
    assert_eq!(stage.in_flight(), [[1]]);
    stage.pass(10 * MINUTE);
    // Events that may not be attempted yet become retries, so that the others pass them.
    stage.end(1, AttemptVerdict::Delivered);
    assert_eq!((stage.retries().len(), stage.stored.cursor), (12, 4));
    (2..=11).rev().for_each(|_| {
        let sequence = stage.attempts[0].1[0];
        stage.end(sequence, AttemptVerdict::Delivered);
    });
    assert_eq!(stage.stored.cursor, 20);
    stage.pass(20 * MINUTE);
    assert_eq!(stage.in_flight(), [[12]]);
}

#[test]
fn a_missing_event_uses_up_no_probe() {
    let mut stage = open(1, 1);
    stage.pass(MINUTE);
    stage.end(1, AttemptVerdict::Missing);
    assert_eq!(stage.in_flight(), [[2]]);
    stage.end(2, FAILED);
    assert_eq!(stage.in_flight(), Vec::<Vec<i64>>::new());
}

#[test]
fn a_receiver_that_seems_to_work_again_gets_the_next_probe_at_once() {
    let mut stage = open(4, 100);
    stage.pass(10 * SECOND);
    assert_eq!(stage.in_flight(), Vec::<Vec<i64>>::new());
    stage.input(Input::Mended);
    assert_eq!(stage.in_flight(), [[1]]);
    stage.end(1, FAILED);
    stage.pass(59 * SECOND);
    assert_eq!(stage.in_flight(), Vec::<Vec<i64>>::new(), "one probe, and the next one after a minute");
    stage.pass(SECOND);
    stage.input(Input::Mended);
    assert_eq!(stage.in_flight(), [[2]], "a probe is alone");
    stage.end(2, FAILED);
    assert_eq!(stage.in_flight(), [[3]], "it began before the receiver was mended");
    stage.end(3, AttemptVerdict::Delivered);
    assert_eq!(stage.stored.health, EndpointHealth::NEW);
}

#[test]
fn a_sign_that_a_receiver_works_brings_no_probe_forward_that_is_not_due_or_not_wanted() {
    let mut stage = Stage::new(1, 1);
    stage.input(Input::Mended);
    stage.append_of_each(1..=5);
    for sequence in 1..=5 {
        stage.end(sequence, FAILED);
    }
    stage.pass(59 * SECOND);
    assert_eq!(stage.in_flight(), Vec::<Vec<i64>>::new(), "the circuit was closed then");
    stage.input(Input::Disable);
    stage.input(Input::Mended);
    assert_eq!(stage.in_flight(), Vec::<Vec<i64>>::new());
    let (failing_since, state) = (Some(WALL), EndpointState::Enabled);
    let health = EndpointHealth { failures: 5, failing_since, failed_at: Some(WALL), state };
    let mut empty = Stage::start(Stored { health, ..new() }, settings(1, 1));
    empty.input(Input::Mended);
    empty.pass(SECOND);
    empty.append_of_each([1]);
    assert_eq!(empty.in_flight(), [[1]], "the first event that happens is the probe");
}

#[test]
fn an_open_circuit_outlives_a_restart_and_the_first_probe_waits_a_minute() {
    let mut stage = open(4, 100);
    stage.pass(30 * SECOND);
    stage.restart(settings(4, 100));
    stage.pass(59 * SECOND);
    assert_eq!(stage.in_flight(), Vec::<Vec<i64>>::new());
    stage.pass(SECOND);
    assert_eq!(stage.in_flight(), [[1]]);
}

#[test]
fn a_deferred_probe_wakes_the_machine_although_nothing_else_happens() {
    let (failing_since, state) = (Some(WALL), EndpointState::Enabled);
    let health = EndpointHealth { failures: 5, failing_since, failed_at: Some(WALL), state };
    let mut stage = Stage::start(Stored { health, ..new() }, settings(1, 1));
    stage.append_of_each([1]);
    stage.pass(MINUTE);
    stage.end(1, AttemptVerdict::Failed { retry_after: Some(HOUR) });
    stage.pass(HOUR - SECOND);
    assert_eq!(stage.in_flight(), Vec::<Vec<i64>>::new());
    stage.pass(SECOND);
    assert_eq!(stage.in_flight(), [[1]]);
}
