//! Which commits begin at once, which wait a little for more rows, and which requests find no room.

use super::failures::word;
use super::*;
use domain::event::Type;
use domain::inbound::{ConversationKind, Direction, PeerKey};
use store::conversations::Inbound;

pub(super) fn message() -> Inbound {
    Inbound {
        id: id(1),
        company_id: Uuid::nil(),
        channel_id: id(9),
        with: ConversationKind::Person,
        peer: PeerKey::of_user("US.1"),
        others: Vec::new(),
        number: None,
        user_id: None,
        name: None,
        provider_id: "wamid".to_owned(),
        direction: Direction::In,
        writer: None,
        kind: "text",
        r#type: Type::MessageReceived,
        target: None,
        at: Timestamp::from_millis(0),
        is_past: false,
        is_to_be_read: true,
        window_until: None,
        is_referred: false,
        body: Vec::new(),
        line: Vec::new(),
        answer: None,
        is_kept: true,
        file: Vec::new(),
    }
}

impl World {
    /// A ledger whose commit is under way.
    fn during_a_commit() -> Self {
        let mut world = Self::new();
        world.accept(1, 9);
        world.begin();
        world
    }

    /// A ledger that has just committed something.
    fn after_a_commit() -> Self {
        let mut world = Self::during_a_commit();
        world.commits();
        world.told();
        world
    }

    fn hear_all(&mut self, caller: u64, hear: Hear) {
        self.input(Input::Hear { hear, caller: Caller(caller) });
    }
}

fn receipts(count: usize) -> Hear {
    Hear { receipts: vec![receipt(1); count], ..Hear::default() }
}

fn inbound(count: usize) -> Hear {
    Hear { inbound: vec![message(); count], ..Hear::default() }
}

#[test]
fn receipts_and_messages_of_people_are_written_at_once() {
    let both = || Hear { inbound: vec![message()], ..receipts(1) };
    for hears in [vec![receipts(1)], vec![inbound(1)], vec![both()], vec![receipts(1), inbound(1)]] {
        let mut world = World::during_a_commit();
        let callers = hears.len();
        for (caller, hear) in hears.into_iter().enumerate() {
            world.hear_all(caller as u64, hear);
        }
        world.commits();
        world.told();
        let mut told = 0;
        while told < callers {
            world.begin();
            world.commits();
            told += world.told().len();
        }
        assert_eq!(told, callers);
    }
}

#[test]
fn sends_and_what_people_write_are_committed_in_turns() {
    let mut world = World::during_a_commit();
    world.hear_all(20, inbound(3));
    world.accept(5, 9);
    world.hear_all(21, inbound(1));
    world.commits();
    world.told();
    let batch = world.begin();
    assert_eq!((batch.inbound.len(), batch.sends.len()), (4, 0));
    world.hear_all(22, inbound(1));
    world.commits();
    assert_eq!(world.told(), ["20: done", "21: done"]);
    let batch = world.begin();
    assert_eq!((batch.inbound.len(), batch.sends.len()), (0, 1), "the send does not wait for another one");
    world.commits();
    assert_eq!(world.told(), ["channel 9: [5]", "5: accepted 5"]);
    assert_eq!(world.begin().inbound.len(), 1);
    world.commits();
    assert_eq!(world.told(), ["22: done"]);
}

#[test]
fn opt_outs_alone_wait_a_moment_for_more_rows() {
    let mut world = World::after_a_commit();
    world.hear_all(2, Hear { suppressions: vec![word()], ..Hear::default() });
    assert!(!world.gathers);
    world.now.monotonic += BETWEEN - Duration::from_millis(1);
    world.input(Input::Timer);
    assert!(!world.gathers, "the moment is not over");
    assert_eq!(world.sleep(), Duration::from_millis(1));
    assert_eq!(world.begin().suppressions.len(), 1);
    world.commits();
    assert_eq!(world.told(), ["2: done"]);
}

#[test]
fn opt_outs_of_a_webhook_that_rests_between_its_commits_wait_for_nothing() {
    let mut world = World::after_a_commit();
    world.hear_all(2, Hear { suppressions: vec![word()], is_paced: true, ..Hear::default() });
    assert_eq!(world.begin().suppressions.len(), 1);
    world.commits();
    assert_eq!(world.told(), ["2: done"]);
}

#[test]
fn a_record_that_a_message_waits_for_is_written_at_once_however_many_there_are() {
    for records in 1..4 {
        let mut world = World::during_a_commit();
        for caller in 1..=records {
            world.record(caller, vec![of(7, outcome(caller, 1))], Vec::new());
        }
        world.commits();
        assert_eq!(world.begin().outcomes.len() as u64, records);
    }
    let mut world = World::after_a_commit();
    world.record(1, vec![of(7, outcome(1, 1))], Vec::new());
    world.note(2, of(7, outcome(2, 1)));
    assert_eq!(world.begin().outcomes.len(), 2, "an outcome that nobody waits for goes with it");
}

#[test]
fn more_of_an_audience_and_its_end_are_each_written_at_once() {
    let mut world = World::after_a_commit();
    world.input(Input::Extend {
        extend: Extend {
            send_id: id(5),
            company_id: Uuid::nil(),
            blocks: vec![block()],
            parts: Parts::default(),
        },
        caller: Caller(2),
    });
    assert_eq!(world.begin().blocks.len(), 1);
    world.commits();
    world.input(Input::Activate { activate: activated(5, 9), caller: Caller(3) });
    assert_eq!(world.begin().activations.len(), 1);
}

#[test]
fn rows_that_nobody_waits_for_follow_the_start_of_the_last_commit_and_not_its_end() {
    let mut world = World::new();
    world.accept(1, 9);
    world.begin();
    world.now.monotonic += BETWEEN - Duration::from_millis(1);
    world.commits();
    world.note(2, of(7, outcome(1, 1)));
    assert_eq!(world.sleep(), Duration::from_millis(1));
    world.begin();
    world.now.monotonic += BETWEEN;
    world.commits();
    world.note(3, of(7, outcome(2, 1)));
    assert!(world.gathers, "the commit took as long as the wait");
}

#[test]
fn a_webhook_is_taken_while_fewer_receipts_and_events_than_the_most_wait() {
    for (heard, is_taken) in [
        (Hear { inbound: vec![message()], ..receipts(MOST_HEARD - 2) }, true),
        (Hear { inbound: vec![message()], ..receipts(MOST_HEARD - 1) }, false),
        (inbound(MOST_HEARD - 1), true),
        (inbound(MOST_HEARD), false),
    ] {
        let mut world = World::new();
        world.hear_all(1, heard);
        world.hear_all(2, receipts(1));
        let told = if is_taken { Vec::new() } else { vec!["2: Unavailable".to_owned()] };
        assert_eq!(world.told(), told);
    }
}

#[test]
fn webhooks_extensions_and_sends_each_take_one_place_of_the_ledger() {
    for capacity in 1..4 {
        let mut world = World::with_capacity(capacity);
        let wait: [fn(&mut World); 3] = [
            |world| world.hear(20, 1),
            |world| {
                let extend = Extend {
                    send_id: id(8),
                    company_id: Uuid::nil(),
                    blocks: vec![block()],
                    parts: Parts::default(),
                };
                world.input(Input::Extend { extend, caller: Caller(21) });
            },
            |world| world.accept(22, 9),
        ];
        for (place, wait) in wait.iter().enumerate() {
            wait(&mut world);
            assert_eq!(world.told().is_empty(), place < capacity, "place {place} of {capacity}");
        }
        world.hear(30, 1);
        assert_eq!(world.told(), ["30: Unavailable"]);
    }
}

#[test]
fn an_extension_alone_fills_a_ledger_with_one_place() {
    let mut world = World::with_capacity(1);
    world.input(Input::Extend {
        extend: Extend {
            send_id: id(8),
            company_id: Uuid::nil(),
            blocks: vec![block()],
            parts: Parts::default(),
        },
        caller: Caller(1),
    });
    world.accept(2, 9);
    assert_eq!(world.told(), ["2: Unavailable"]);
    world.begin();
    world.accept(3, 9);
    assert!(world.told().is_empty(), "rows under way take no place");
}

#[test]
fn the_rows_that_wait_are_counted_until_their_commit_begins() {
    let mut world = World::new();
    assert_eq!(world.machine.open_rows(), 0);
    world.accept(1, 9);
    world.record(2, vec![of(7, outcome(0, 1))], vec![mark(7)]);
    assert_eq!(world.machine.open_rows(), 3);
    world.begin();
    assert_eq!(world.machine.open_rows(), 0);
    world.written(Err(Cause::Unavailable));
    assert_eq!(world.machine.open_rows(), 2, "the outcome and the mark wait again");
}
