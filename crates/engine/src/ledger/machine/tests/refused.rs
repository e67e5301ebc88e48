//! Rows that the database refuses permanently.

use super::*;
use domain::message::Failure as Said;

/// Whether the batch has a row that the database refuses.
type Refuses = fn(&PendingWrites) -> bool;

impl World {
    /// Commits until nothing is under way. Returns how many commits that took.
    fn write_all(&mut self, refuses: Refuses, cause: Cause) -> usize {
        let mut commits = 0;
        while let Some(commit) = &self.commit {
            commits += 1;
            let result = if refuses(&commit.batch) { Err(cause) } else { Ok(Committed::default()) };
            self.written(result);
        }
        commits
    }
}

#[test]
fn one_row_among_thousands_is_found_in_a_few_commits_and_set_aside() {
    let mut world = World::with_capacity(10_000);
    for send in 1..=4_096 {
        world.accept(send, 9);
    }
    world.begin();
    let commits =
        world.write_all(|batch| batch.sends.iter().any(|send| send.id == id(1_234)), Cause::Refused);
    assert!(commits <= 2 * 12 + 2, "{commits} commits");
    let told = world.told();
    assert!(told.contains(&"1234: Refused".to_owned()));
    assert_eq!(told.iter().filter(|told| told.contains("accepted")).count(), 4_095);
    assert_eq!(told.len(), 4_095 + 1 + 1, "and the channel");
    assert!(world.figures.contains(&Figure::RefusedRow { row: "send", then: "set aside" }));
    assert!(world.conditions.is_empty(), "the database writes");
    assert!(!world.gathers);
}

#[test]
fn an_audience_of_a_send_that_is_gone_is_refused_for_now() {
    let mut world = World::new();
    world.accept(1, 9);
    world.input(Input::Extend {
        extend: Extend {
            send_id: id(2),
            company_id: Uuid::nil(),
            blocks: vec![block()],
            parts: Parts::default(),
        },
        caller: Caller(2),
    });
    world.input(Input::Activate { activate: activated(2, 9), caller: Caller(3) });
    world.begin();
    world.write_all(|batch| !batch.blocks.is_empty(), Cause::Missing);
    assert_eq!(world.told(), ["2: Unavailable", "3: Unavailable", "channel 9: [1]", "1: accepted 1"]);
}

#[test]
fn an_outcome_is_written_without_the_words_that_are_refused() {
    let mut world = World::new();
    let error = Some(Said { code: Some(7), sentence: "words".to_owned() });
    let worded = Outcome { error, provider_message_id: Some("wamid".to_owned()), ..outcome(1, 1) };
    world.record(1, vec![of(7, outcome(0, 1)), of(7, worded)], vec![mark(7)]);
    world.begin();
    world.write_all(
        |batch| {
            let errors = batch.outcomes.iter().filter_map(|row| row.outcome.error.as_ref());
            errors.into_iter().any(|error| error.sentence == "words")
        },
        Cause::Refused,
    );
    assert_eq!(world.told(), ["1: written, gone [], overtaken 0"]);
    let figure = Figure::RefusedRow { row: "outcome", then: "written without its texts" };
    assert!(world.figures.contains(&figure));
    assert!(world.figures.contains(&Figure::Rows(2)));
}

#[test]
fn nothing_is_attempted_on_a_mark_that_was_set_aside() {
    let mut world = World::new();
    world.record(1, vec![of(7, outcome(0, 1))], vec![mark(7), mark(8)]);
    world.begin();
    world.write_all(|batch| batch.marks.iter().any(|mark| mark.send_id == id(8)), Cause::Refused);
    assert_eq!(world.told(), ["1: written, gone [8], overtaken 0"]);
}

#[test]
fn the_rest_is_treated_as_after_any_failure_when_the_database_goes_away() {
    let mut world = World::new();
    world.accept(1, 9);
    world.accept(2, 9);
    world.record(3, vec![of(7, outcome(0, 1))], vec![mark(7)]);
    world.hear(4, 1);
    world.begin();
    world.written(Err(Cause::Refused));
    world.written(Err(Cause::Refused));
    let half = &world.commit.as_ref().unwrap().batch;
    assert_eq!((half.sends.len(), half.outcomes.len()), (2, 0));
    world.written(Err(Cause::Refused));
    world.written(Err(Cause::Refused));
    assert_eq!(world.commit.as_ref().unwrap().batch.sends[0].id, id(2));
    world.commits();
    assert!(world.told().is_empty(), "not all is written yet");
    world.written(Err(Cause::Unavailable));
    assert_eq!(world.told(), ["1: Refused", "channel 9: [2]", "2: accepted 2", "4: Unavailable"]);
    assert_eq!(world.conditions, [Condition::Failing]);
    world.sleep();
    let batch = world.begin();
    assert_eq!((batch.sends.len(), batch.outcomes.len(), batch.marks.len()), (0, 1, 1));
    world.commits();
    assert_eq!(world.told(), ["3: written, gone [], overtaken 0"]);
}

#[test]
fn the_results_of_the_parts_are_told_once_all_of_a_record_is_written() {
    let mut world = World::new();
    world.record(1, vec![of(7, outcome(0, 1))], vec![mark(7), mark(8)]);
    world.begin();
    world.written(Err(Cause::Refused));
    world.written(Err(Cause::Refused));
    let first = &world.commit.as_ref().unwrap().batch;
    assert_eq!((first.outcomes.len(), first.marks.len()), (1, 0));
    let overtaken = vec![Key { send_id: id(7), ordinal: 0 }];
    world.written(Ok(Committed { overtaken, ..Committed::default() }));
    world.written(Err(Cause::InDoubt));
    assert!(world.told().is_empty());
    world.sleep();
    assert_eq!(world.begin().marks.len(), 2);
    world.written(Ok(Committed { gone: vec![id(8)], ..Committed::default() }));
    assert_eq!(world.told(), ["1: written, gone [8], overtaken 1"]);
}
