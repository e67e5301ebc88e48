//! The order of work: what goes first, what waits for its mark, and what is read when.

use super::*;
use domain::outlook::Reason;

const MILLI: Duration = Duration::from_millis(1);

impl World {
    /// A channel that sends `rate` messages a second.
    fn paced(rate: u32) -> Self {
        Self::with_tier(1, move |tier| {
            tier.messages_per_second = domain::rate::Rate::each_second(rate);
            tier.pair_interval = Duration::ZERO;
        })
        .begun()
    }

    /// Lets this time pass in steps of a millisecond. Every write is durable at once, and every message is accepted.
    /// Returns the sends of the messages that started.
    fn started_within(&mut self, time: Duration) -> Vec<u128> {
        let (end, mut started) = (self.at.monotonic + time, Vec::new());
        while self.at.monotonic < end {
            self.pass(MILLI);
            self.flush();
            while !self.attempts.is_empty() {
                started.push(self.under_way()[0]);
                self.answer_first(accepted());
                self.flush();
            }
        }
        started
    }
}

#[test]
fn single_sends_go_in_the_order_of_their_arrival_before_bulk_sends_that_take_turns() {
    let mut world = World::paced(10);
    // It takes the permit of this moment.
    world.start(9);
    world.answer(accepted());
    world.accept_bulk(20, order(), &[1, 2, 3]);
    world.accept_bulk(21, order(), &[4, 5]);
    world.flush();
    for id in [10, 11, 12] {
        world.accept(id);
    }
    let started = world.started_within(2 * SECOND);
    assert_eq!(started, [10, 11, 12, 20, 21, 20, 21, 20]);
    assert_eq!((world.limits().active_sends, world.machine.backlog()), (0, Backlog::default()));
}

#[test]
fn retries_go_before_new_messages_of_their_size_and_never_before_single_sends() {
    let mut world = World::paced(2);
    world.accept_bulk(20, order(), &[1, 2, 3]);
    world.accept_bulk(21, order(), &[4, 5, 6]);
    world.flush();
    let first = world.attempts[0].ticket;
    world.answer(refused(Disposition::Pair));
    world.flush();
    // It is due and announced, and the permit of this moment is used.
    world.pass(SECOND);
    world.flush();
    world.attempts.clear();
    assert_eq!(world.machine.backlog().retry, 1, "it waits for a permit");
    world.accept(10);
    world.flush();
    let mut went = Vec::new();
    for _ in 0..3 {
        world.pass(SECOND / 2);
        world.flush();
        went.extend(world.attempts.drain(..).map(|attempt| attempt.ticket));
    }
    assert_eq!(went[0].send_id.as_u128(), 10, "{went:?}");
    assert_eq!((went[1].key(), went[1].again), (first.key(), true), "{went:?}");
    assert!(!went[2].again, "{went:?}");
}

#[test]
fn a_bulk_send_that_was_accepted_reads_its_recipients_and_begins_with_them() {
    let mut world = World::paced(80);
    world.accept_to(20, Recipients::Blocks(3));
    assert_eq!(world.log.iter().filter(|line| *line == "read recipients 20 0").count(), 1);
    assert_eq!(world.machine.backlog().bulk, 3);
    world.flush();
    assert!(world.attempts.is_empty());
    world.read_people(20, 0, &[1, 2]);
    let started = world.started_within(SECOND / 2);
    assert_eq!(started, [20, 20], "the third is not read yet");
    assert_eq!(world.count("read recipients 20 2"), 1, "and was asked for before the second was used");
    assert_eq!((world.machine.backlog().bulk, world.limits().active_sends), (1, 1));
    world.read_people(20, 2, &[3]);
    assert_eq!(world.started_within(SECOND / 2), [20]);
    assert_eq!(world.mark(20).state, send::State::Finished);
}

#[test]
fn recipients_that_cannot_be_read_are_read_again_a_second_later_unless_they_never_can() {
    let read = |result| Input::RecipientsRead { send_id: Uuid::from_u128(20), from: 0, result };
    let mut world = World::paced(80);
    world.accept_to(20, Recipients::Blocks(3));
    world.flush();
    assert_eq!(world.feed(read(Err(Failed::Temporarily))), ["wake"]);
    assert_eq!(world.wakes_in(), SECOND);
    world.pass(SECOND - MILLI);
    assert_eq!(world.count("read recipients"), 1);
    world.pass(MILLI);
    assert_eq!(world.count("read recipients"), 2);
    world.feed(read(Err(Failed::Permanently)));
    world.flush();
    assert_eq!((world.limits().active_sends, world.mark(20).state), (0, send::State::Active));
    world.store_is_empty();
    world.feed(Input::Look);
    world.store_is_empty();
    let look = world.fetches.iter().rev().find(|fetch| fetch.size == Size::Bulk).unwrap();
    assert!(look.held.contains(&Uuid::from_u128(20)), "a broken send is not read again");
}

#[test]
fn a_read_of_the_store_leaves_out_sends_in_memory_and_asks_for_as_many_as_have_room() {
    let mut world = World::configured(
        1,
        |_| (),
        |_| (),
        |engine, _| (engine.direct_lane, engine.active_bulk_sends) = (10, 6),
    )
    .begun();
    world.accept(10);
    world.accept_to(20, Recipients::Blocks(3));
    world.accept_to(21, Recipients::Blocks(3));
    let begun = world.fetches.len();
    world.feed(Input::Look);
    assert_eq!(world.fetches.len(), begun + 1, "one read at a time");
    world.feed(Input::Fetched { size: Size::Direct, result: Ok(nothing()) });
    let looks: Vec<_> = world.fetches[begun..].iter().map(|it| (it.size, it.room, it.held.len())).collect();
    assert_eq!(looks, [(Size::Direct, 9, 1), (Size::Bulk, 4, 2)], "{looks:?}");
    let direct = &world.fetches[begun];
    assert!(direct.held.contains(&Uuid::from_u128(10)) && direct.ready.templates);
    assert_eq!((direct.ready.now, direct.counted.is_none()), (world.at.wall, true));
}

#[test]
fn the_store_is_read_until_it_holds_no_more() {
    let mut world = World::ready(1);
    world.feed(Input::Look);
    let more = |size| Input::Fetched { size, result: Ok(Fetched { all: false, ..nothing() }) };
    for _ in 0..3 {
        assert!(world.feed(more(Size::Direct)).contains(&"fetch"));
        assert_eq!(world.fetches.last().unwrap().size, Size::Direct, "single sends first");
    }
    world.feed(Input::Fetched { size: Size::Direct, result: Ok(nothing()) });
    assert_eq!(world.fetches.last().unwrap().size, Size::Bulk);
    let end = Input::Fetched { size: Size::Bulk, result: Ok(nothing()) };
    assert!(!world.feed(end).contains(&"fetch"));
}

#[test]
fn a_failed_read_delays_the_next_one_by_a_second() {
    let mut world = World::ready(1);
    world.feed(Input::Look);
    world.feed(Input::Fetched { size: Size::Direct, result: Err(Failed::Temporarily) });
    assert!(!world.feed(Input::Look).contains(&"fetch"));
    assert!(!world.pass(SECOND - MILLI).contains(&"fetch"));
    assert!(world.pass(MILLI).contains(&"fetch"));
}

#[test]
fn the_store_is_read_every_five_minutes() {
    let mut world = World::ready(1);
    let (mut looked, begun) = (Vec::new(), world.at.monotonic - SECOND);
    for _ in 0..200 {
        if world.pass(world.wakes_in()).contains(&"fetch") {
            looked.push(world.at.monotonic - begun);
        }
        world.store_is_empty();
        world.store_is_empty();
        // Probes, about one an hour, are not part of this test.
        if world.at.monotonic - begun > 55 * MINUTE {
            break;
        }
    }
    assert!(looked[0] <= 5 * MINUTE && looked.len() >= 10, "{looked:?}");
    assert!(looked.windows(2).all(|pair| pair[1] - pair[0] == 5 * MINUTE), "{looked:?}");
}

#[test]
fn the_next_read_is_when_the_first_send_in_the_store_is_due() {
    let mut world = World::new(1);
    world.connected();
    let due = |seconds: u32| Some(world.at.wall.plus(seconds * SECOND));
    let (direct, bulk) = (due(40), due(20));
    let found = |size, next_due| Input::Fetched { size, result: Ok(Fetched { next_due, ..nothing() }) };
    let (direct, bulk) = (found(Size::Direct, direct), found(Size::Bulk, bulk));
    world.feed(direct);
    world.feed(bulk);
    assert!(!world.pass(20 * SECOND - MILLI).contains(&"fetch"));
    assert!(world.pass(MILLI).contains(&"fetch"));
    // That read brings the next due time, and here it brought none.
    world.store_is_empty();
    assert!(!world.pass(20 * SECOND).contains(&"fetch"), "{:?}", world.log);
}

#[test]
fn a_scheduled_send_is_read_at_its_start() {
    let mut world = World::ready(1);
    let starts =
        |send_at| Order { schedule: Schedule { send_at: Some(send_at), expires_at: None }, ..order() };
    let now = starts(world.at.wall);
    assert!(world.accept_order(10, now, Recipients::One(person(10))).contains(&"write"), "it is due");
    let later = starts(world.at.wall.plus(30 * SECOND));
    let effects = world.accept_order(11, later, Recipients::One(person(11)));
    assert_eq!((effects.contains(&"write"), world.limits().active_sends), (false, 1));
    assert!(!world.pass(30 * SECOND - MILLI).contains(&"fetch"));
    assert!(world.pass(MILLI).contains(&"fetch"), "{:?}", world.log);
}

#[test]
fn a_send_that_arrives_late_is_read_from_the_store() {
    let mut world = World::ready(1);
    let send =
        AcceptedSend { id: Uuid::from_u128(10), order: Arc::new(order()), recipients: Recipients::Group };
    let effects = world.feed(Input::Accepted { sends: vec![send], is_late: true });
    assert_eq!((effects.contains(&"fetch"), world.limits().active_sends), (true, 0));
}

#[test]
fn a_send_that_does_not_fit_into_its_lane_is_read_later_and_those_behind_it_too() {
    let mut world = World::configured(1, |_| (), |_| (), |engine, _| engine.direct_lane = 4).begun();
    for id in 10..17 {
        world.accept(id);
        assert!(world.machine.backlog().direct <= 4);
    }
    assert_eq!(world.machine.backlog().direct, 4);
    world.accept_to(20, Recipients::Blocks(3));
    assert_eq!(world.machine.backlog().bulk, 3, "the other lane has room");
    let begun = world.fetches.len();
    let started = world.started_within(SECOND / 4);
    assert_eq!(started, [10, 11, 12, 13]);
    assert!(world.fetches.len() > begun, "there is room for more");
    let before = world.machine.backlog().direct;
    world.accept(16);
    assert_eq!(world.machine.backlog().direct, before, "older ones wait in the store");
}

#[test]
fn a_send_released_while_the_store_was_read_is_not_begun_from_that_read() {
    let mut world = World::ready(1);
    let released = || Input::Released { send_id: Uuid::from_u128(10), over: None, caller: Caller(1) };
    world.feed(Input::Look);
    world.feed(released());
    let stored = world.stored(10);
    assert!(!world.found(Size::Direct, vec![stored]).contains(&"write"));
    assert_eq!(world.limits().active_sends, 0);
    world.store_is_empty();
    // A send that was released before the read began is read as it is now: it was resumed.
    world.feed(released());
    world.feed(Input::Look);
    let stored = world.stored(10);
    assert!(world.found(Size::Direct, vec![stored]).contains(&"write"));
    assert_eq!(world.limits().active_sends, 1);
    let again = world.stored(10);
    world.found(Size::Direct, vec![again]);
    assert_eq!((world.limits().active_sends, world.machine.backlog().direct), (1, 1), "once");
}

#[test]
fn a_send_expires_at_its_time_whatever_its_messages_wait_for() {
    let mut world = World::ready(1);
    let expires_at = Some(world.at.wall.plus(SECOND));
    let expiring = || Order { schedule: Schedule { send_at: None, expires_at }, ..order() };
    world.accept_order(10, expiring(), Recipients::One(person(10)));
    world.flush();
    world.answer(refused_for(Disposition::Pair, SECOND));
    world.accept_order(11, expiring(), Recipients::Blocks(5));
    world.flush();
    assert_eq!(world.limits().active_sends, 2);
    assert_eq!(world.wakes_in(), SECOND);
    world.pass(SECOND - MILLI);
    assert_eq!(world.mark(11).state, send::State::Active);
    world.pass(MILLI);
    assert_eq!((world.mark(10).state, world.mark(11).state), (send::State::Expired, send::State::Expired));
    world.flush();
    assert_eq!((world.limits().active_sends, world.machine.backlog()), (0, Backlog::default()));
    world.pass(MINUTE);
    world.settle();
    assert!(world.attempts.is_empty());
}

#[test]
fn the_reason_why_no_message_goes_is_known() {
    let mut world = World::paced(1);
    for id in 10..13 {
        world.accept(id);
        world.flush();
    }
    let waits = world.limits().waiting.unwrap();
    assert_eq!((waits.reason, world.attempts.len()), (Reason::Rate, 1));
    assert_eq!(world.machine.backlog().direct, 2);
    let next = waits.until.unwrap().from_now(world.at.wall);
    assert_eq!(world.wakes_in().as_millis(), next.as_millis());
    world.pass(world.wakes_in());
    assert_eq!(world.under_way(), [10, 11]);
}

#[test]
fn while_others_may_start_an_outcome_waits_for_a_later_commit_and_an_opt_out_does_not() {
    for (reply, is_awaited) in [
        (accepted(), false),
        (refused(Disposition::Fail), false),
        (refused(Disposition::Suppress(domain::suppression::Suppression::Everything)), true),
    ] {
        let mut world = World::paced(80);
        world.accept_bulk(20, order(), &(0..100).collect::<Vec<_>>());
        world.flush();
        let said = format!("{reply:?}");
        assert!(world.answer(reply).contains(&"write"));
        assert_eq!(world.is_awaited(), is_awaited, "{said}");
    }
}

#[test]
fn sends_that_arrive_during_a_read_cause_another_read_however_many() {
    for sends in 1..4 {
        let mut world = World::ready(1);
        world.feed(Input::Look);
        for id in 10..10 + sends {
            world.accept(id);
        }
        assert_eq!(world.machine.backlog().direct, 0, "older ones may wait in the store");
        let found = Input::Fetched { size: Size::Direct, result: Ok(nothing()) };
        assert!(world.feed(found).contains(&"fetch"));
        assert_eq!(world.fetches.last().unwrap().size, Size::Direct, "{sends}");
        world.store_is_empty();
        world.store_is_empty();
        world.accept(20);
        assert_eq!(world.machine.backlog().direct, 1, "it has caught up");
    }
}
