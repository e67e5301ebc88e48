//! Endpoints that are disabled and enabled.

use super::*;

fn nothing() -> Vec<Vec<i64>> {
    Vec::new()
}

/// An endpoint with a retry, an event in flight, and events that wait; a person disabled it.
fn disabled() -> Stage {
    let mut stage = Stage::new(1, 1);
    stage.append_of_each(1..=4);
    stage.end(1, FAILED);
    stage.input(Input::Disable);
    assert_eq!(stage.notices(), [Notice::Disabled { cause: DisableCause::Person, since: WALL }]);
    stage
}

#[test]
fn a_disabled_endpoint_attempts_nothing_and_keeps_its_cursor_and_retries() {
    let mut stage = disabled();
    stage.end(2, FAILED);
    stage.append_of_each([5]);
    stage.pass(30 * DAY);
    assert_eq!((stage.in_flight(), stage.stored.cursor, stage.retries()), (nothing(), 1, vec![(1, 1)]));
    let state = EndpointState::Disabled { cause: DisableCause::Person, since: WALL };
    assert_eq!(stage.stored.health.state, state);
    stage.restart(settings(1, 1));
    stage.append_of_each([6]);
    stage.pass(DAY);
    assert_eq!((stage.in_flight(), stage.notices()), (nothing(), vec![]));
}

#[test]
fn an_enabled_endpoint_catches_up_from_the_cursor() {
    for restarts in [false, true] {
        let mut stage = disabled();
        stage.end(2, AttemptVerdict::Delivered);
        stage.append_of_each([5]);
        stage.pass(DAY);
        if restarts {
            stage.restart(settings(1, 1));
        }
        stage.input(Input::Enable(Resume::CatchUp));
        assert_eq!(stage.stored.health, EndpointHealth::NEW);
        let mut order = Vec::new();
        while let Some((_, sequences)) = stage.attempts.first().cloned() {
            order.push(sequences[0]);
            stage.end(sequences[0], AttemptVerdict::Delivered);
        }
        order.sort_unstable();
        assert_eq!(order, [1, 3, 4, 5]);
        assert_eq!((stage.stored.cursor, stage.retries()), (5, vec![]));
    }
}

#[test]
fn an_endpoint_that_goes_on_from_now_drops_all_that_was_before() {
    for verdict in [FAILED, AttemptVerdict::Delivered, AttemptVerdict::Abort] {
        let mut stage = disabled();
        stage.append_of_each([5]);
        stage.input(Input::Enable(Resume::FromNow { end: 5 }));
        assert_eq!(
            (stage.stored.cursor, stage.retries(), stage.stored.health),
            (5, vec![], EndpointHealth::NEW)
        );
        stage.end(2, verdict);
        assert_eq!((stage.in_flight(), stage.retries(), stage.notices()), (nothing(), vec![], vec![]));
        stage.append_of_each([6]);
        assert_eq!(stage.in_flight(), [[6]]);
    }
}

#[test]
fn an_enabled_endpoint_ignores_that_it_is_enabled() {
    let mut stage = Stage::new(1, 1);
    stage.append_of_each(1..=2);
    stage.end(1, FAILED);
    stage.input(Input::Enable(Resume::FromNow { end: 2 }));
    assert_eq!((stage.stored.cursor, stage.retries()), (1, vec![(1, 1)]));
}

#[test]
fn the_answer_gone_disables_and_its_events_stay() {
    let mut stage = Stage::new(2, 1);
    stage.append_of_each(1..=4);
    stage.end(1, FAILED);
    stage.end(2, AttemptVerdict::Delivered);
    stage.end(3, AttemptVerdict::Gone);
    stage.end(4, AttemptVerdict::Gone);
    assert_eq!(stage.notices(), [Notice::Disabled { cause: DisableCause::Gone, since: WALL }], "once");
    assert_eq!((stage.stored.cursor, stage.retries()), (2, vec![(1, 1)]));
    stage.pass(DAY);
    stage.input(Input::Enable(Resume::CatchUp));
    assert_eq!(stage.in_flight(), [[1], [3]]);
    stage.end(1, AttemptVerdict::Gone);
    assert_eq!(stage.retries(), [(1, 1)], "the answer uses up no attempt");
}

#[test]
fn five_days_of_failures_disable() {
    let mut stage = Stage::new(1, 1);
    stage.append_of_each(1..=1_000);
    while stage.machine.health().state == EndpointState::Enabled {
        match stage.attempts.first().cloned() {
            Some((_, sequences)) => stage.end(sequences[0], FAILED),
            None => stage.pass(MINUTE),
        }
        assert!(stage.now.wall < WALL.plus(6 * DAY), "it is not disabled");
    }
    let passed = Duration::from_millis((stage.now.wall.millis() - WALL.millis()).unsigned_abs());
    assert!((5 * DAY..5 * DAY + 2 * MINUTE).contains(&passed), "{passed:?}");
    let EndpointHealth { failures, failing_since, state, .. } = stage.stored.health;
    let since = stage.now.wall;
    let disabled = Notice::Disabled { cause: DisableCause::Failing, since };
    assert_eq!(stage.notices().last(), Some(&disabled));
    assert_eq!(
        (failing_since, state),
        (Some(WALL), EndpointState::Disabled { cause: DisableCause::Failing, since })
    );
    assert!(failures >= 5);
    assert_eq!(stage.stored.cursor, 4, "the events of the log stay");
}

#[test]
fn fewer_than_five_attempts_or_a_success_in_between_disable_nothing() {
    for succeeds in [false, true] {
        let mut stage = Stage::new(1, 1);
        for day in 1..=20 {
            if !succeeds && day == 5 {
                break;
            }
            stage.append_of_each([day]);
            let is_success = succeeds && day % 4 == 0;
            // The retries wait for a day, too.
            let failed = AttemptVerdict::Failed { retry_after: Some(DAY) };
            stage.end(day, if is_success { AttemptVerdict::Delivered } else { failed });
            stage.machine.retries.clear();
            stage.pass(if succeeds { DAY } else { 3 * DAY });
        }
        assert_eq!(stage.notices(), []);
    }
}

#[test]
fn a_retry_in_flight_is_dropped_with_the_others() {
    let mut stage = Stage::new(1, 1);
    stage.append_of_each([1]);
    stage.end(1, FAILED);
    stage.pass(6 * SECOND);
    stage.input(Input::Disable);
    stage.input(Input::Enable(Resume::FromNow { end: 1 }));
    stage.end(1, FAILED);
    assert_eq!(stage.retries(), []);
}

#[test]
fn results_while_it_is_disabled_say_nothing_of_its_health() {
    let mut stage = Stage::new(2, 1);
    stage.append_of_each(1..=4);
    stage.end(1, FAILED);
    stage.input(Input::Disable);
    let health = stage.stored.health;
    stage.end(2, AttemptVerdict::Delivered);
    stage.end(3, FAILED);
    assert_eq!((stage.stored.health, stage.retries(), stage.stored.cursor), (health, vec![(1, 1)], 2));
}

#[test]
fn an_enabled_endpoint_keeps_the_time_that_the_receiver_asked_for() {
    let mut stage = Stage::new(1, 1);
    stage.append_of_each(1..=2);
    stage.input(Input::Disable);
    stage.end(1, AttemptVerdict::Failed { retry_after: Some(HOUR) });
    stage.input(Input::Enable(Resume::CatchUp));
    assert_eq!((stage.in_flight(), stage.retries(), stage.stored.cursor), (vec![vec![2]], vec![(1, 1)], 1));
    stage.end(2, AttemptVerdict::Delivered);
    stage.pass(HOUR);
    assert_eq!(stage.in_flight(), [[1]]);
}

#[test]
fn a_page_that_was_read_before_the_endpoint_went_on_from_now_brings_nothing_back() {
    let mut stage = Stage::new(1, 1);
    let item = |sequence| EventItem { sequence, key: None };
    stage.input(Input::Disable);
    stage.input(Input::Enable(Resume::FromNow { end: 2 }));
    let items = (1..=3).map(item).collect();
    stage.input(Input::Read(Ok(LogPage { items, up_to: 3, is_end: true })));
    assert_eq!(stage.in_flight(), [[3]]);
}

/// Fails every attempt until the endpoint is disabled. Returns when that was.
fn fail_until_disabled(stage: &mut Stage) -> Timestamp {
    let end = stage.now.wall.plus(6 * DAY);
    while stage.machine.health().state == EndpointState::Enabled {
        match stage.attempts.first().cloned() {
            Some((_, sequences)) => stage.end(sequences[0], FAILED),
            None => stage.pass(MINUTE),
        }
        assert!(stage.now.wall < end, "it is not disabled");
    }
    stage.now.wall
}

#[test]
fn a_success_ends_a_time_of_failures_also_for_a_process_that_starts_after_it() {
    for restarts in [false, true] {
        let mut stage = Stage::new(1, 1);
        stage.append_of_each(1..=100);
        while stage.now.wall < WALL.plus(4 * DAY) {
            match stage.attempts.first().cloned() {
                Some((_, sequences)) => stage.end(sequences[0], FAILED),
                None => stage.pass(MINUTE),
            }
        }
        let (_, sequences) = stage.attempts[0].clone();
        stage.end(sequences[0], AttemptVerdict::Delivered);
        assert_eq!(stage.stored.health, EndpointHealth::NEW);
        if restarts {
            stage.restart(settings(1, 1));
        }
        let mended = stage.now.wall;
        assert!(fail_until_disabled(&mut stage) >= mended.plus(5 * DAY));
    }
}

#[test]
fn a_failure_long_after_the_others_is_the_first_of_a_new_time_of_failures() {
    for restarts in [false, true] {
        let mut stage = Stage::new(1, 1);
        stage.append_of_each([1]);
        // All attempts of the only event fail, and then there is nothing to send.
        while stage.notices.is_empty() {
            match stage.attempts.first().cloned() {
                Some((_, sequences)) => stage.end(sequences[0], FAILED),
                None => stage.pass(HOUR),
            }
        }
        let exhausted = Notice::GivenUp { sequences: vec![1], reason: GivenUp::Exhausted };
        assert_eq!(stage.notices(), [exhausted]);
        assert_eq!((stage.stored.health.failures, stage.stored.health.failing_since), (10, Some(WALL)));
        stage.pass(20 * DAY);
        if restarts {
            stage.restart(settings(1, 1));
        }
        stage.append_of_each([2]);
        stage.pass(MINUTE);
        let began = stage.now.wall;
        stage.end(2, FAILED);
        let EndpointHealth { failures, failing_since, failed_at, state } = stage.stored.health;
        assert_eq!((failures, state), (11, EndpointState::Enabled), "one failure disables nothing");
        assert_eq!((failing_since, failed_at), (Some(began), Some(began)));
        assert!(fail_until_disabled(&mut stage) >= began.plus(5 * DAY));
        assert_eq!(stage.stored.health.failing_since, Some(began));
    }
}

#[test]
fn an_endpoint_that_failed_before_the_clock_was_set_back_is_disabled_nevertheless() {
    let mut stage = Stage::new(1, 1);
    stage.append_of_each(1..=100);
    stage.end(1, FAILED);
    stage.now.wall = WALL.minus(400 * DAY);
    let began = stage.now.wall;
    stage.end(2, FAILED);
    assert_eq!(stage.stored.health.failing_since, Some(began));
    assert!(fail_until_disabled(&mut stage) >= began.plus(5 * DAY));
}

#[test]
fn an_hour_by_which_the_clock_jumps_disables_nothing() {
    let mut stage = Stage::new(1, 1);
    stage.append_of_each(1..=100);
    for nth in 0..100_u32 {
        let (_, sequences) = stage.attempts.first().cloned().unwrap();
        stage.end(sequences[0], FAILED);
        stage.pass(MINUTE);
        let wall = stage.now.wall;
        stage.now.wall = if nth.is_multiple_of(2) { wall.plus(HOUR) } else { wall.minus(HOUR) };
    }
    assert_eq!((stage.machine.health().state, stage.notices()), (EndpointState::Enabled, vec![]));
}
