//! What bounds the messages under way: of the channel, and of all channels together.

use super::*;
use crate::fair_queue::Turn;
use domain::outlook::Reason;

impl World {
    fn bounded(configure: impl Fn(&mut config::Engine)) -> Self {
        let tier = |tier: &mut Tier| tier.messages_per_second = domain::rate::Rate::UNLIMITED;
        let unlimited = |channel: &mut Channel| channel.level = Some(Level::NotApplicable);
        let mut world = Self::configured(1, tier, unlimited, |engine, _| configure(engine)).begun();
        for id in 10..15 {
            world.accept(id);
        }
        world.flush();
        world
    }

    fn free_permits(&self) -> usize {
        self.machine.common.permits.free()
    }

    /// Passes the grant to the channel if its turn came.
    fn hear_turn(&mut self) -> Vec<&'static str> {
        let granted = self.turns.last_mut().and_then(Turn::try_take);
        granted.map_or_else(Vec::new, |grant| self.feed(Input::PermitsGranted(Some(grant))))
    }
}

#[test]
fn no_more_requests_than_configured_are_under_way_at_once() {
    let mut world = World::bounded(|engine| engine.concurrency = 2);
    assert_eq!(world.under_way(), [10, 11]);
    assert_eq!((world.limits().in_flight, world.machine.backlog().in_flight), (2, 2));
    assert_eq!(world.limits().waiting, None, "answers are awaited, nothing else");
    world.answer_first(accepted());
    assert_eq!(world.under_way(), [11, 12], "an answer makes room, durable or not");
    assert_eq!((world.limits().in_flight, world.machine.backlog().in_flight), (2, 3));
}

#[test]
fn no_more_messages_than_configured_lack_a_durable_outcome() {
    let mut world = World::bounded(|engine| (engine.concurrency, engine.in_flight) = (2, 2));
    assert_eq!(world.under_way(), [10, 11]);
    world.answer_first(accepted());
    assert_eq!(world.under_way(), [11], "the outcome of the first is not durable");
    world.answer_first(accepted());
    assert_eq!((world.limits().in_flight, world.machine.backlog().in_flight), (0, 2));
    // The record under way has the first outcome, the next one has the second.
    world.written();
    assert_eq!((world.under_way(), world.machine.backlog().in_flight), (vec![12], 2));
    world.written();
    assert_eq!((world.under_way(), world.machine.backlog().in_flight), (vec![12, 13], 2));
}

#[test]
fn all_channels_together_have_no_more_messages_under_way_than_configured_and_take_turns() {
    let mut world = World::bounded(|engine| engine.total_in_flight = 2);
    assert_eq!((world.under_way(), world.free_permits()), (vec![10, 11], 0));
    let waiting = world.limits().waiting.unwrap();
    assert_eq!((waiting.reason, waiting.until), (Reason::InFlight, None));
    assert_eq!(
        waiting.sentence,
        "all channels together have 2 messages under way (option engine.total_in_flight) and take turns"
    );
    assert_eq!(world.turns.len(), 1, "it waits for one turn");
    world.accept(15);
    world.flush();
    assert_eq!(world.turns.len(), 1, "{:?}", world.log);
    world.answer_first(accepted());
    assert_eq!(world.hear_turn(), [""; 0], "a permit is in use until the outcome is durable");
    world.answer_first(accepted());
    world.flush();
    assert!(world.hear_turn().contains(&"attempt"), "{:?}", world.log);
    assert_eq!(world.under_way(), [12, 13]);
    assert_eq!(world.turns.len(), 2, "for the others it waits for another turn");
}

#[test]
fn permits_that_are_not_needed_go_back_and_so_do_those_of_a_channel_that_ends() {
    let mut world = World::bounded(|engine| engine.total_in_flight = 100);
    assert_eq!((world.under_way().len(), world.free_permits(), world.turns.len()), (5, 95, 0));
    for _ in 0..3 {
        world.answer(accepted());
    }
    world.flush();
    assert_eq!(world.free_permits(), 98);
    assert_eq!(world.limits().waiting, None);
    let common = Arc::clone(&world.machine.common);
    drop(world);
    assert_eq!(common.permits.free(), 100);
}

#[test]
fn a_turn_that_comes_when_there_is_nothing_to_send_leaves_the_permits_to_others() {
    let mut world = World::bounded(|engine| engine.total_in_flight = 2);
    for id in 12..15 {
        let over = Some(send::State::Canceled);
        world.feed(Input::Released { send_id: Uuid::from_u128(id), over, caller: Caller(1) });
    }
    world.flush();
    for _ in 0..2 {
        world.answer(accepted());
    }
    world.flush();
    world.hear_turn();
    world.flush();
    assert_eq!((world.under_way().len(), world.free_permits()), (0, 2));
    world.accept(16);
    world.flush();
    assert_eq!((world.under_way(), world.free_permits()), (vec![16], 1), "and it needs no turn now");
}

#[test]
fn a_queue_that_is_gone_holds_up_no_channel() {
    let mut world = World::bounded(|engine| engine.total_in_flight = 2);
    let before = world.under_way();
    world.feed(Input::PermitsGranted(None));
    assert_eq!(world.under_way(), before);
}

#[test]
fn a_process_that_stops_starts_no_message_and_gives_no_reason() {
    let mut world = World::ready(1);
    world.machine.common.stopping.store(true, std::sync::atomic::Ordering::Relaxed);
    world.accept(10);
    world.flush();
    assert!(world.attempts.is_empty());
    assert_eq!(world.limits().waiting, None);
    world.machine.common.stopping.store(false, std::sync::atomic::Ordering::Relaxed);
    world.pass(SECOND);
    world.accept(11);
    assert_eq!(world.under_way(), [10]);
}

#[test]
fn a_stop_tells_every_caller_at_its_end_and_waits_for_answers_writes_and_questions() {
    let mut world = World::bounded(|engine| engine.concurrency = 2);
    world.feed(Input::Stop(Caller(1)));
    world.flush();
    world.feed(Input::Stop(Caller(2)));
    assert_eq!(world.count("end"), 0, "two answers are awaited");
    world.answer(Reply::Uncertain(failure()));
    world.flush();
    assert_eq!(world.count("end"), 0);
    world.answer(accepted());
    assert_eq!(world.count("end"), 0, "the outcome is not durable");
    world.flush();
    assert_eq!(world.count("end"), 1, "{:?}", world.log);
    let callers: Vec<_> = world.replies.iter().map(|(caller, _)| *caller).collect();
    assert_eq!(callers, [Caller(1), Caller(2)]);
    // Sends that were not begun are not marked as attempted any more.
    for id in 12..15 {
        assert_eq!(world.mark(id).progress.high_water, 0);
    }
    assert_eq!((world.mark(10).state, world.mark(11).state), (send::State::Finished, send::State::Active));
}

#[test]
fn a_stopping_channel_is_woken_for_no_message() {
    let mut world = World::ready(1);
    world.start(10);
    world.accept(11);
    world.answer(refused(Disposition::Retry));
    world.feed(Input::Stop(Caller(1)));
    world.wake_at = None;
    world.feed(Input::ClockWasSet);
    assert!(world.wake_at.is_none_or(|at| at > world.at.monotonic + 2 * SECOND), "{:?}", world.log);
    assert!(!world.feed(Input::Look).contains(&"fetch"));
    world.flush();
    assert_eq!(world.count("end"), 1);
}
