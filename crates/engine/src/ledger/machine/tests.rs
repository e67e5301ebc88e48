//! The ledger's machine, driven by hand.

mod answers;
mod broken_off;
mod failures;
mod in_doubt;
mod instead;
mod random;
mod refused;
mod urgency;

use std::sync::Arc;
use std::time::{Duration, Instant};

use uuid::Uuid;

use super::intake::MOST_HEARD;
use super::*;
use crate::ledger::message::{Accept, AcceptedSend, Activate, Arrived, Extend, Hear, Order, Parts, Written};
use clock::Timestamp;
use domain::content::Content;
use domain::message::{self, Key, Outcome, Position};
use domain::phone::PhoneNumber;
use domain::request::Skipped;
use domain::send::{self, Block, Label, Mark, Progress, Recipients, Schedule};
use store::ledger::{Activation, Ignored, OutcomeOf, Receipt};
use telemetry::Origin;

/// The machine, and the effects that its shell would carry out.
struct World {
    machine: Machine,
    now: Moment,
    effects: Effects,
    /// What channels and callers were told, in that order, in words.
    told: Vec<String>,
    figures: Vec<Figure>,
    conditions: Vec<Condition>,
    gathers: bool,
    commit: Option<Commit>,
    settling: Option<Vec<Uuid>>,
    wakes_at: Option<Instant>,
    is_over: bool,
}

fn id(send: u64) -> Uuid {
    Uuid::from_u128(u128::from(send))
}

fn failure(cause: Cause) -> Failure {
    Failure { cause, words: "words".to_owned() }
}

fn order(channel: u64) -> Arc<Order> {
    Arc::new(Order {
        company_id: Uuid::nil(),
        channel_id: id(channel),
        content: Content::Text { body: "hi".to_owned(), preview_url: None },
        group: None,
        quotes: None,
        sender: None,
        template: None,
        schedule: Schedule::default(),
        label: Label::default(),
        personal: None,
        sources: Vec::new(),
        claim: None,
        is_awaited: false,
        keeps_turn: false,
        confirms: false,
        origin: Origin::default(),
    })
}

fn person() -> PhoneNumber {
    PhoneNumber::from_u64(5_511_900_000_000).unwrap()
}

fn outcome(ordinal: u64, attempts: u16) -> Outcome {
    Outcome {
        position: Position { ordinal, recipient: None },
        state: message::State::Sent,
        attempts,
        provider_message_id: None,
        error: None,
        retry_at: None,
        taken_at: None,
    }
}

fn of(send: u64, outcome: Outcome) -> OutcomeOf {
    OutcomeOf { send_id: id(send), company_id: Uuid::nil(), outcome }
}

fn mark(send: u64) -> Mark {
    Mark { send_id: id(send), progress: Progress::default(), state: send::State::Active, due_at: None }
}

fn receipt(send: u64) -> Receipt {
    Receipt {
        key: Key { send_id: id(send), ordinal: 0 },
        company_id: Uuid::nil(),
        state: message::State::Delivered,
        provider_message_id: None,
        error: None,
        at: Timestamp::from_millis(0),
        charge: None,
    }
}

fn activated(send: u64, channel: u64) -> Activate {
    let send = AcceptedSend { id: id(send), order: order(channel), recipients: Recipients::Blocks(2) };
    Activate::new(send, Skipped::default())
}

fn block() -> Block {
    Block { first_ordinal: 0, recipients: 2, packed: Vec::new() }
}

impl World {
    fn new() -> Self {
        Self::with_capacity(1_000)
    }

    fn with_capacity(capacity: usize) -> Self {
        Self {
            machine: Machine::new(capacity),
            now: Moment { monotonic: Instant::now(), wall: Timestamp::from_millis(0) },
            effects: Effects::default(),
            told: Vec::new(),
            figures: Vec::new(),
            conditions: Vec::new(),
            gathers: false,
            commit: None,
            settling: None,
            wakes_at: None,
            is_over: false,
        }
    }

    fn input(&mut self, input: Input) {
        self.machine.handle(input, self.now, &mut self.effects);
        for effect in self.effects.drain() {
            match effect {
                Effect::Gather => assert!(!std::mem::replace(&mut self.gathers, true), "gathers twice"),
                Effect::Commit(commit) => {
                    assert!(self.commit.replace(commit).is_none(), "two commits at once");
                }
                Effect::Settle(sends) => {
                    assert!(self.settling.replace(sends).is_none(), "settles twice at once");
                }
                Effect::Tell { channel_id, arrived: Arrived { sends, is_late } } => {
                    let sends: Vec<_> = sends.iter().map(|send| send.id.as_u128()).collect();
                    let late = if is_late { " late" } else { "" };
                    self.told.push(format!("channel {}: {sends:?}{late}", channel_id.as_u128()));
                }
                Effect::Reply(Caller(caller), Ok(Answer::Accepted(send))) => {
                    self.told.push(format!("{caller}: accepted {}", send.as_u128()));
                }
                Effect::Reply(Caller(caller), Ok(Answer::Written(Written { gone, overtaken }))) => {
                    let (gone, overtaken) =
                        (gone.iter().map(Uuid::as_u128).collect::<Vec<_>>(), overtaken.len());
                    self.told.push(format!("{caller}: written, gone {gone:?}, overtaken {overtaken}"));
                }
                Effect::Reply(Caller(caller), Ok(Answer::Done)) => self.told.push(format!("{caller}: done")),
                Effect::Reply(Caller(caller), Err(error)) => self.told.push(format!("{caller}: {error:?}")),
                Effect::Show(condition) => self.conditions.push(condition),
                Effect::WakeAt(at) => self.wakes_at = Some(at),
                Effect::Note(figure) => self.figures.push(figure),
                Effect::End => assert!(!std::mem::replace(&mut self.is_over, true), "ends twice"),
            }
        }
    }

    /// The caller of a send has its number.
    fn accept(&mut self, send: u64, channel: u64) {
        let accept = Accept::new(order(channel), Recipients::One(person()), Skipped::default());
        self.input(Input::Accept { id: id(send), accept, caller: Caller(send) });
    }

    fn accept_first_part(&mut self, send: u64) {
        let accept = Accept::new(order(9), Recipients::Blocks(2), Skipped::default());
        let accept = Accept { blocks: vec![block()], more: true, ..accept };
        self.input(Input::Accept { id: id(send), accept, caller: Caller(send) });
    }

    fn record(&mut self, caller: u64, outcomes: Vec<OutcomeOf>, marks: Vec<Mark>) {
        let writes = Box::new(PendingWrites { outcomes, marks, ..PendingWrites::default() });
        self.input(Input::Record { writes, is_awaited: true, caller: Caller(caller) });
    }

    /// An outcome that no message waits for.
    fn note(&mut self, caller: u64, outcome: OutcomeOf) {
        let writes = Box::new(PendingWrites { outcomes: vec![outcome], ..PendingWrites::default() });
        self.input(Input::Record { writes, is_awaited: false, caller: Caller(caller) });
    }

    fn hear(&mut self, caller: u64, receipts: usize) {
        let hear = Hear { receipts: vec![receipt(1); receipts], ..Hear::default() };
        self.input(Input::Hear { hear, caller: Caller(caller) });
    }

    /// Begins the commit that is due.
    fn begin(&mut self) -> &PendingWrites {
        assert!(std::mem::take(&mut self.gathers), "no commit is due");
        self.input(Input::Gathered);
        &self.commit.as_ref().expect("a commit").batch
    }

    fn written(&mut self, result: Result<Committed, Cause>) {
        let Commit { batch, .. } = self.commit.take().expect("a commit is under way");
        self.input(Input::Written { batch, result: result.map_err(failure) });
    }

    fn commits(&mut self) {
        self.written(Ok(Committed::default()));
    }

    /// Answers the question which sends are in the store. Returns the sends that it was about.
    fn settles(&mut self, result: Result<&[u64], Cause>) -> Vec<u128> {
        let sends = self.settling.take().expect("something is being settled");
        let asked = sends.iter().map(Uuid::as_u128).collect();
        let result = result.map(|sends| sends.iter().copied().map(id).collect()).map_err(failure);
        self.input(Input::Settled { sends, result });
        asked
    }

    /// Waits until the machine's timer fires. Returns how long that took.
    fn sleep(&mut self) -> Duration {
        let at = self.wakes_at.take().expect("the timer is set");
        let waited = at.saturating_duration_since(self.now.monotonic);
        self.now.monotonic = at.max(self.now.monotonic);
        self.input(Input::Timer);
        waited
    }

    fn told(&mut self) -> Vec<String> {
        std::mem::take(&mut self.told)
    }
}

#[test]
fn requests_during_a_commit_go_with_the_next_one() {
    let mut world = World::new();
    world.accept(1, 9);
    world.accept(2, 9);
    assert_eq!(world.begin().sends.len(), 2);
    world.accept(3, 9);
    world.record(4, vec![of(1, outcome(0, 1))], vec![mark(1)]);
    assert!(world.told().is_empty(), "nobody is told before it is durable");
    world.now.monotonic += Duration::from_millis(3);
    world.commits();
    assert!(world.figures.contains(&Figure::Took(Duration::from_millis(3))));
    assert!(world.figures.contains(&Figure::Rows(2)));
    assert_eq!(world.told(), ["channel 9: [1, 2]", "1: accepted 1", "2: accepted 2"]);
    let batch = world.begin();
    assert_eq!((batch.sends.len(), batch.outcomes.len(), batch.marks.len()), (1, 1, 1));
    let found = Committed { gone: vec![id(1)], overtaken: Vec::new(), ignored: Ignored::default() };
    world.written(Ok(found));
    let told = ["channel 9: [3]", "3: accepted 3", "4: written, gone [1], overtaken 0"];
    assert_eq!(world.told(), told);
    assert!(!world.gathers && world.wakes_at.is_none(), "an idle ledger commits nothing");
}

#[test]
fn rows_that_nobody_waits_for_are_written_a_little_later_or_with_others() {
    let mut world = World::new();
    world.note(1, of(7, outcome(0, 1)));
    world.begin();
    world.commits();
    world.note(2, of(7, outcome(1, 1)));
    assert!(!world.gathers, "it follows a commit");
    assert_eq!(world.sleep(), BETWEEN);
    assert_eq!(world.begin().outcomes.len(), 1);
    world.commits();
    world.note(3, of(7, outcome(2, 1)));
    world.note(4, of(7, outcome(3, 1)));
    assert!(!world.gathers, "it follows a commit");
    world.accept(5, 9);
    let batch = world.begin();
    assert_eq!((batch.sends.len(), batch.outcomes.len()), (1, 2));
    world.commits();
    world.note(6, of(7, outcome(4, 1)));
    world.input(Input::Close(Caller(7)));
    assert_eq!(world.begin().outcomes.len(), 1, "the end waits for nothing");
}

#[test]
fn each_channel_is_told_once_and_before_any_client() {
    let mut world = World::new();
    for (send, channel) in [(1, 8), (2, 9), (3, 8)] {
        world.accept(send, channel);
    }
    world.begin();
    world.commits();
    let told = ["channel 8: [1, 3]", "channel 9: [2]", "1: accepted 1", "2: accepted 2", "3: accepted 3"];
    assert_eq!(world.told(), told);
}

#[test]
fn a_send_in_parts_is_told_to_its_channel_when_its_last_part_is_written() {
    let mut world = World::new();
    world.accept_first_part(1);
    assert_eq!(world.begin().sends[0].state, send::State::Resolving);
    world.commits();
    assert_eq!(world.told(), ["1: accepted 1"]);
    world.input(Input::Extend {
        extend: Extend {
            send_id: id(1),
            company_id: Uuid::nil(),
            blocks: vec![block()],
            parts: Parts::default(),
        },
        caller: Caller(2),
    });
    assert_eq!(world.begin().blocks.len(), 1);
    world.input(Input::Activate { activate: activated(1, 9), caller: Caller(3) });
    world.commits();
    assert_eq!(world.told(), ["2: done"]);
    let expected = Activation { send_id: id(1), recipients: 2, skipped: 0, instead: None };
    assert_eq!(world.begin().activations, [expected]);
    world.commits();
    assert_eq!(world.told(), ["channel 9: [1]", "3: done"]);
}

#[test]
fn a_request_without_rows_is_answered_at_once() {
    let mut world = World::new();
    world.record(1, Vec::new(), Vec::new());
    world.hear(2, 0);
    assert_eq!(world.told(), ["1: written, gone [], overtaken 0", "2: done"]);
    assert!(!world.gathers);
}

#[test]
fn a_full_ledger_turns_away_new_work_and_takes_work_that_was_begun() {
    let mut world = World::with_capacity(2);
    world.accept(1, 9);
    world.hear(2, 1);
    world.accept(3, 9);
    world.hear(4, 1);
    world.input(Input::Extend {
        extend: Extend {
            send_id: id(8),
            company_id: Uuid::nil(),
            blocks: vec![block()],
            parts: Parts::default(),
        },
        caller: Caller(5),
    });
    assert_eq!(world.told(), ["3: Unavailable", "4: Unavailable", "5: Unavailable"]);
    world.record(6, vec![of(8, outcome(0, 1))], Vec::new());
    world.input(Input::Activate { activate: activated(8, 9), caller: Caller(7) });
    world.begin();
    // Rows under way take no place of new requests.
    world.accept(10, 9);
    world.commits();
    let told = [
        "channel 9: [1]",
        "channel 9: [8]",
        "7: done",
        "1: accepted 1",
        "6: written, gone [], overtaken 0",
        "2: done",
    ];
    assert_eq!(world.told(), told);
}

#[test]
fn no_webhook_joins_a_batch_with_very_many_receipts() {
    let mut world = World::new();
    world.hear(1, MOST_HEARD);
    world.hear(2, 1);
    assert_eq!(world.told(), ["2: Unavailable"]);
    world.begin();
    world.hear(3, 1);
    let ignored = Ignored { unknown_send: 3, never_attempted: 2 };
    world.written(Ok(Committed { ignored, ..Committed::default() }));
    assert_eq!(world.told(), ["1: done"]);
    assert!(world.figures.contains(&Figure::UnknownSend(3)));
    assert!(world.figures.contains(&Figure::NeverAttempted(2)));
}

#[test]
fn a_closed_ledger_has_written_everything_and_takes_nothing_more() {
    let mut world = World::new();
    world.accept(1, 9);
    world.input(Input::Close(Caller(2)));
    world.begin();
    world.record(3, vec![of(1, outcome(0, 1))], Vec::new());
    world.commits();
    assert_eq!(world.told(), ["channel 9: [1]", "1: accepted 1"]);
    world.begin();
    world.commits();
    assert_eq!(world.told(), ["3: written, gone [], overtaken 0", "2: done"]);
    assert!(world.is_over);
    world.accept(4, 9);
    world.record(5, Vec::new(), vec![mark(1)]);
    world.input(Input::Close(Caller(6)));
    assert_eq!(world.told(), ["4: Closed", "5: Closed", "6: done"]);
}
