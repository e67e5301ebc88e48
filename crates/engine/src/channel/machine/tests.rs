//! A machine that is driven by hand: see [`World`].

mod answers;
mod bounds;
mod callers;
mod days;
mod explain;
mod figures;
mod later;
mod made;
mod number;
mod parked;
mod probed;
mod queue_order;
mod reconnected;
mod refused;
mod settings;
mod stored;
mod templates;
mod unknown;
mod web;
mod world;

use std::time::Instant;

use rand::SeedableRng as _;
use rand::rngs::SmallRng;
use uuid::Uuid;

use self::made::*;
use self::world::*;
use super::*;
use crate::account::AppId;
use crate::ledger::{AcceptedSend, Order, Written};
use clock::Timestamp;
use config::Config;
use connectors::{Disposition, Reply};
use domain::channel::{Connection, Kind, Level, Status};
use domain::content::Content;
use domain::message::{Failure, Key, State};
use domain::phone::PhoneNumber;
use domain::send::{self, Recipients, Schedule};
use domain::tier;
use store::sends::Size;
use telemetry::Origin;

#[test]
fn a_machine_requests_a_connector_and_reads_the_store() {
    let mut world = World::new(1);
    assert_eq!(world.log.len(), 4, "{:?}", world.log);
    assert!(world.wake_at.is_some(), "it reads the store periodically");
    let connected = Input::Connected { generation: 1, result: Ok(Connected { app: AppId::of(b"app") }) };
    assert!(!world.feed(connected).contains(&"attempt"));
    let connected = Input::Connected { generation: 7, result: Err(NotConnected::Failed) };
    assert_eq!(world.feed(connected), [""; 0], "the result of an earlier connector is out of date");
}

#[test]
fn a_message_goes_when_its_mark_is_durable_and_is_over_when_its_outcome_is() {
    let mut world = World::ready(1);
    assert_eq!(world.accept(10), ["write"], "its mark");
    assert_eq!(world.written(), ["attempt"]);
    assert_eq!(world.answer(accepted()), ["note", "note", "write"]);
    let outcome = world.log.last().unwrap();
    assert!(
        outcome.contains("Sent") && outcome.contains("wamid.1") && outcome.contains("Finished"),
        "{outcome}"
    );
    assert_eq!(world.written(), [""; 0], "nothing is left to do");
    assert_eq!(world.machine.explain(world.at).active_sends, 0);
}

#[test]
fn the_same_inputs_have_the_same_effects() {
    let run = |seed| {
        let mut world = World::ready(seed);
        let start = world.at.monotonic;
        for id in 10..40 {
            world.accept(id);
            if id % 3 == 0 {
                world.written();
            }
            while let Some(attempt) = world.attempts.last() {
                let is_lost = attempt.ticket.send_id.as_u128() % 2 == 0;
                world.answer(if is_lost { Reply::NotSent(failure()) } else { accepted() });
            }
            world.pass(SECOND / 2);
        }
        // Instants differ from run to run; the effects do not.
        world.log.retain(|line| !line.starts_with("wake"));
        (world.log, world.wake_at.map(|at| at.saturating_duration_since(start)))
    };
    assert_eq!(run(7), run(7));
    let first_look = |seed| {
        let world = World::new(seed);
        world.wake_at.map(|at| at.saturating_duration_since(world.at.monotonic))
    };
    assert_ne!(first_look(7), first_look(8), "chance spreads the waits");
}

#[test]
fn a_pause_is_kept_however_the_wall_clock_is_set() {
    let mut world = World::ready(1);
    world.accept(10);
    world.written();
    assert!(world.answer(Reply::NotSent(failure())).contains(&"write"));
    world.written();
    world.at.wall = world.at.wall.plus(Duration::from_secs(3_600));
    assert!(!world.feed(Input::ClockWasSet).contains(&"attempt"));
    world.feed(Input::Fetched { size: Size::Direct, result: Ok(nothing()) });
    world.feed(Input::Fetched { size: Size::Bulk, result: Ok(nothing()) });
    world.pass(2 * SECOND);
    world.written();
    assert_eq!(world.attempts.len(), 1, "{:?}", world.log);
}

#[test]
fn a_failed_read_of_the_store_is_retried_by_the_one_timer() {
    let mut world = World::new(1);
    let before = world.at.monotonic;
    let failed = Input::Fetched { size: Size::Direct, result: Err(Failed::Temporarily) };
    assert_eq!(world.feed(failed), ["wake"]);
    assert_eq!(world.wake_at, Some(before + SECOND));
    assert_eq!(world.pass(SECOND / 2), [""; 0]);
    assert!(world.pass(SECOND / 2).contains(&"fetch"));
}

#[test]
fn a_released_send_does_not_begin_and_its_caller_is_answered_once_that_is_durable() {
    let mut world = World::ready(1);
    world.accept(10);
    let over = Some(domain::send::State::Canceled);
    let released = Input::Released { send_id: Uuid::from_u128(10), over, caller: Caller(5) };
    assert_eq!(world.feed(released), [""; 0], "its mark is being written");
    assert_eq!(world.written(), ["write"]);
    assert_eq!(world.written(), ["reply"]);
    assert!(world.attempts.is_empty());
    let unknown = Input::Released { send_id: Uuid::from_u128(11), over: None, caller: Caller(6) };
    assert_eq!(world.feed(unknown), ["reply"], "no message starts of a send that is not here");
    assert!(!world.accept(11).contains(&"write"), "nor when it arrives");
}

#[test]
fn a_stop_waits_for_messages_in_flight_and_starts_none() {
    let mut world = World::ready(1);
    world.accept(10);
    world.written();
    assert_eq!(world.feed(Input::Stop(Caller(1))), ["write"], "the mark of its send");
    assert_eq!(world.accept(11), [""; 0]);
    assert_eq!(world.answer(accepted()), ["note", "note"]);
    assert_eq!(world.written(), ["write"], "the outcome");
    assert_eq!(world.written(), ["reply", "end"]);
    assert_eq!(world.feed(Input::Look), [""; 0]);
}

#[test]
fn a_lost_lease_ends_the_machine_at_once() {
    let mut world = World::ready(1);
    world.accept(10);
    assert_eq!(world.feed(Input::Written(Err(LeaseLost))), ["end"]);
    assert_eq!(world.pass(Duration::from_secs(3_600)), [""; 0]);
}

#[test]
fn a_receipt_that_came_before_the_answer_was_lost_ends_the_message() {
    let mut world = World::ready(1);
    world.accept(10);
    world.written();
    let key = world.attempts[0].ticket.key();
    let effects = world.answer(Reply::Uncertain(failure()));
    assert!(effects.contains(&"read states"), "{effects:?}");
    world.written();
    let states =
        Input::StatesRead { question: Question::WasHeard, result: Ok(vec![(key, State::Delivered)]) };
    world.feed(states);
    world.written();
    assert_eq!(world.machine.explain(world.at).active_sends, 0, "{:?}", world.log);
    world.pass(Duration::from_secs(3_600));
    assert!(world.attempts.is_empty());
}

#[test]
fn effects_and_machines_are_small() {
    assert!(size_of::<Effect>() <= 192, "{}", size_of::<Effect>());
    assert!(size_of::<Machine>() <= 2_720, "{}", size_of::<Machine>());
}
