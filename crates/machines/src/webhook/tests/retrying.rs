//! Retries: their times, their end, and their bound.

use super::retries::{DELAYS, MOST_RETRIES};
use super::*;

#[test]
fn an_event_is_given_up_after_ten_attempts_and_about_three_days() {
    for (chance, part) in [(0.0, 0.8), (0.5, 1.0), (1.0, 1.2)] {
        let mut stage = Stage::new(1, 1);
        let began = stage.now.monotonic;
        stage.append([(1, 1)]);
        for delay in DELAYS {
            // A success of another event between failures keeps the circuit closed.
            stage.end_with(1, FAILED, chance);
            let sequence = stage.stored.cursor + 1;
            stage.append_of_each([sequence]);
            stage.end(sequence, AttemptVerdict::Delivered);
            stage.pass(delay.mul_f64(part) - SECOND);
            assert_eq!(stage.in_flight(), Vec::<Vec<i64>>::new());
            stage.pass(2 * SECOND);
            assert_eq!(stage.in_flight(), [[1]]);
        }
        let days = (stage.now.monotonic - began).as_secs_f64() / DAY.as_secs_f64();
        assert!((3.0 * part..3.3 * part).contains(&days), "{days}");
        assert_eq!(stage.retries(), [(1, 9)]);
        stage.end(1, FAILED);
        assert_eq!(stage.retries(), []);
        let exhausted = Notice::GivenUp { sequences: vec![1], reason: GivenUp::Exhausted };
        assert_eq!(stage.notices(), [exhausted]);
    }
}

#[test]
fn retry_after_is_respected_up_to_a_day_and_never_shortens_a_delay() {
    for (asked, wait) in [(0, 5), (5, 5), (600, 600), (86_400, 86_400), (1_000_000, 86_400)] {
        for chance in [0.0, 0.5] {
            let mut stage = Stage::new(1, 1);
            stage.append([(1, 1)]);
            let retry_after = Some(Duration::from_secs(asked));
            stage.end_with(1, AttemptVerdict::Failed { retry_after }, chance);
            let wait = if wait == 5 && chance == 0.0 && asked < 5 { 4 } else { wait };
            assert_eq!(stage.stored.retries[0].next_at, WALL.plus(wait * SECOND), "{asked}");
        }
    }
}

#[test]
fn the_events_of_a_failed_batch_are_retried_together() {
    let mut stage = Stage::new(1, 10);
    stage.append_of_each(1..=1);
    stage.append([(2, 7), (3, 7), (4, 8)]);
    stage.end(1, AttemptVerdict::Delivered);
    stage.end(2, FAILED);
    assert_eq!((stage.stored.cursor, stage.retries()), (4, vec![(2, 1), (3, 1), (4, 1)]));
    stage.pass(6 * SECOND);
    assert_eq!(stage.in_flight(), [[2, 3, 4]]);
    stage.end(2, AttemptVerdict::Delivered);
    assert_eq!(stage.retries(), []);
}

#[test]
fn aborted_events_are_given_up_at_once_and_are_no_failure() {
    let mut stage = Stage::new(1, 2);
    stage.append_of_each(1..=1);
    stage.end(1, FAILED);
    stage.append_of_each(2..=3);
    stage.end(2, AttemptVerdict::Abort);
    let aborted = Notice::GivenUp { sequences: vec![2, 3], reason: GivenUp::Aborted };
    assert_eq!(stage.notices(), [aborted]);
    assert_eq!(
        (stage.stored.cursor, stage.stored.health, stage.retries()),
        (3, EndpointHealth::NEW, vec![(1, 1)])
    );
}

#[test]
fn an_event_that_the_log_has_no_more_is_given_up_and_says_nothing_of_the_receiver() {
    let mut stage = Stage::new(1, 1);
    stage.append_of_each(1..=2);
    stage.end(1, FAILED);
    let health = stage.stored.health;
    stage.end(2, AttemptVerdict::Missing);
    stage.pass(6 * SECOND);
    stage.end(1, AttemptVerdict::Missing);
    let missing = |sequence| Notice::GivenUp { sequences: vec![sequence], reason: GivenUp::Missing };
    assert_eq!(stage.notices(), [missing(2), missing(1)]);
    assert_eq!((stage.stored.cursor, stage.stored.health, stage.retries()), (2, health, vec![]));
}

#[test]
fn events_that_fail_together_are_tried_in_smaller_parts_until_the_one_at_fault_is_alone() {
    let mut stage = Stage::new(1, 8);
    stage.append_of_each(1..=1);
    stage.end(1, AttemptVerdict::Delivered);
    stage.append_of_each(2..=10);
    let (mut delivered, mut sizes) = (Vec::new(), Vec::new());
    while let Some(sequences) = stage.in_flight().first().cloned() {
        sizes.push(sequences.len());
        match sequences.contains(&5) {
            true => stage.end(sequences[0], FAILED),
            false => {
                delivered.extend(sequences.clone());
                stage.end(sequences[0], AttemptVerdict::Delivered);
            }
        }
        if stage.in_flight().is_empty() && delivered.len() < 8 {
            stage.pass(HOUR);
        }
    }
    delivered.sort_unstable();
    assert_eq!(delivered, [2, 3, 4, 6, 7, 8, 9, 10], "{sizes:?}");
    assert_eq!(stage.retries().iter().map(|(sequence, _)| *sequence).collect::<Vec<_>>(), [5]);
}

#[test]
fn when_too_many_events_fail_those_that_failed_most_often_are_given_up_and_the_others_go_on() {
    let mut stage = Stage::new(1, 100);
    stage.append_of_each(1..=2_000);
    for nth in 1_u32.. {
        let Some((_, sequences)) = stage.attempts.first().cloned() else { break };
        // Every fourth request succeeds, so that the circuit stays closed.
        let verdict = if nth.is_multiple_of(4) { AttemptVerdict::Delivered } else { FAILED };
        stage.end(sequences[0], verdict);
    }
    assert_eq!(
        (stage.retries().len(), stage.stored.cursor),
        (MOST_RETRIES, 2_000),
        "no event waits for others"
    );
    let given_up: usize = stage
        .notices()
        .iter()
        .map(|notice| match notice {
            Notice::GivenUp { sequences, reason: GivenUp::Crowded } => sequences.len(),
            other => panic!("{other:?}"),
        })
        .sum();
    assert!(given_up >= 400, "{given_up}");
    let marked: usize = stage.writes.iter().map(|write| write.give_up.len()).sum();
    assert_eq!(marked, given_up);
}
