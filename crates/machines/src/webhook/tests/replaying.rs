//! Events that are sent once more.

use super::retries::MOST_RETRIES;
use super::*;

/// An endpoint that has got this many events.
fn after(events: i64, settings: EndpointSettings) -> Stage {
    let mut stage = Stage::start(new(), settings);
    stage.append_of_each(1..=events);
    while let Some(first) = stage.in_flight().first().map(|sequences| sequences[0]) {
        stage.end(first, AttemptVerdict::Delivered);
    }
    assert_eq!(stage.stored.cursor, events);
    stage
}

fn replay(stage: &mut Stage, after: i64, up_to: i64) {
    stage.stored.replay = Some(ReplayRange { after, up_to });
    stage.restart(stage.settings);
}

#[test]
fn events_are_sent_once_more_from_one_place_to_another() {
    let mut stage = after(9, settings(4, 1));
    replay(&mut stage, 3, 7);
    assert_eq!(stage.in_flight(), [[4], [5], [6], [7]]);
    assert_eq!(stage.stored.replay, Some(ReplayRange { after: 7, up_to: 7 }));
    (4..=7).for_each(|sequence| stage.end(sequence, AttemptVerdict::Delivered));
    assert_eq!((stage.in_flight(), stage.retries(), stage.stored.cursor), (vec![], vec![], 9));
    stage.restart(settings(4, 1));
    assert_eq!(stage.in_flight(), Vec::<Vec<i64>>::new(), "it is over");
}

#[test]
fn new_events_and_those_that_are_sent_once_more_go_in_turn() {
    let mut stage = after(6, settings(1, 1));
    replay(&mut stage, 0, 6);
    stage.append_of_each(7..=9);
    let mut order = Vec::new();
    while let Some(first) = stage.in_flight().first().map(|sequences| sequences[0]) {
        order.push(first);
        stage.end(first, AttemptVerdict::Delivered);
    }
    assert_eq!(order, [1, 7, 2, 8, 3, 9, 4, 5, 6]);
}

#[test]
fn a_kill_during_a_replay_loses_no_event_of_it() {
    let mut stage = after(300, settings(1, 1));
    replay(&mut stage, 0, 300);
    let mut sent = std::collections::BTreeSet::new();
    for round in 0_usize.. {
        assert!(round < 2_000, "{} are sent", sent.len());
        let Some(first) = stage.in_flight().first().map(|sequences| sequences[0]) else { break };
        sent.insert(first);
        if round % 7 == 3 {
            stage.restart(settings(1, 1));
        } else {
            stage.end(first, AttemptVerdict::Delivered);
        }
    }
    assert!(sent.into_iter().eq(1..=300));
}

#[test]
fn a_long_replay_takes_a_part_of_the_retries() {
    let mut stage = after(3_000, settings(4, 100));
    replay(&mut stage, 0, 3_000);
    let mut sent = 0;
    while let Some(sequences) = stage.in_flight().first() {
        sent += sequences.len();
        assert!(stage.machine.retries.len() <= MOST_RETRIES / 2);
        stage.end(stage.in_flight()[0][0], AttemptVerdict::Delivered);
    }
    assert_eq!(sent, 3_000);
}

#[test]
fn a_receiver_that_fails_gets_no_further_part_of_a_replay() {
    let mut stage = after(600, settings(1, 1));
    replay(&mut stage, 0, 600);
    for _ in 0..5 {
        let first = stage.in_flight()[0][0];
        stage.end(first, FAILED);
    }
    let (place, reads) = (stage.stored.replay, stage.replays.len());
    stage.pass(10 * MINUTE);
    assert_eq!(stage.in_flight().len(), 1, "a probe");
    assert_eq!(stage.stored.replay, place);
    assert_eq!(stage.replays.len(), reads, "{:?}", stage.replays);
}

#[test]
fn a_replay_finds_out_whether_a_receiver_works_again_when_nothing_else_does() {
    let mut stage = after(6, settings(1, 1));
    let (failing_since, state) = (Some(WALL), EndpointState::Enabled);
    let health = EndpointHealth { failures: 9, failing_since, failed_at: Some(WALL), state };
    stage.stored.health = health;
    replay(&mut stage, 0, 6);
    stage.pass(2 * MINUTE);
    assert_eq!(stage.in_flight(), [[1]], "a probe");
    (1..=6).for_each(|sequence| stage.end(sequence, AttemptVerdict::Delivered));
    assert_eq!(stage.stored.replay, Some(ReplayRange { after: 6, up_to: 6 }));
}

#[test]
fn an_event_that_waits_for_a_retry_is_sent_at_once() {
    let mut stage = Stage::new(1, 1);
    stage.append_of_each(1..=2);
    stage.end(1, FAILED);
    stage.end(2, AttemptVerdict::Delivered);
    assert_eq!((stage.retries(), stage.in_flight()), (vec![(1, 1)], vec![]));
    replay(&mut stage, 0, 1);
    assert_eq!((stage.retries(), stage.in_flight()), (vec![(1, 1)], vec![vec![1]]));
    stage.end(1, FAILED);
    assert_eq!(stage.retries(), [(1, 2)], "its attempts count");
}

#[test]
fn events_that_are_given_up_are_stored_as_such() {
    let mut stage = Stage::new(1, 1);
    stage.append_of_each(1..=2);
    stage.end(1, AttemptVerdict::Abort);
    stage.end(2, AttemptVerdict::Missing);
    let given_up: Vec<_> = stage.writes.iter().flat_map(|write| write.give_up.clone()).collect();
    assert_eq!(given_up, [1], "nobody can send what the log no longer has");
}

#[test]
fn what_is_given_up_is_written_again_when_the_store_fails() {
    let mut stage = Stage::new(1, 1);
    stage.holds_writes = true;
    stage.append_of_each(1..=1);
    stage.end(1, AttemptVerdict::Abort);
    assert_eq!(stage.writes[0].give_up, [1]);
    stage.input(Input::Written(Err("disk full".to_owned())));
    stage.pass(2 * SECOND);
    assert_eq!(stage.writes[1].give_up, [1]);
}

#[test]
fn an_endpoint_that_goes_on_from_now_sends_nothing_once_more() {
    let mut stage = after(600, settings(1, 1));
    replay(&mut stage, 0, 600);
    stage.input(Input::Disable);
    let first = stage.in_flight()[0][0];
    stage.end(first, AttemptVerdict::Delivered);
    stage.input(Input::Enable(Resume::FromNow { end: 600 }));
    assert_eq!((stage.in_flight(), stage.retries()), (vec![], vec![]));
    assert_eq!(stage.stored.replay, Some(ReplayRange { after: 600, up_to: 600 }));
}
