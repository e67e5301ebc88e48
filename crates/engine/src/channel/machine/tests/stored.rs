//! Sends that are read from the store: which messages go on, which have an unknown outcome, and which are announced
//! before a retry.

use std::collections::BTreeSet;

use super::*;
use domain::outlook::Reason;
use domain::send::Progress;
use domain::suppression::Suppression;
use domain::tier::UnknownOutcome;
use store::suppressions::Record;

const GRACE: Duration = Duration::from_secs(120);

#[test]
fn a_message_that_waited_in_the_store_is_announced_durably_before_its_retry() {
    let mut world = World::ready(1);
    let now = world.at.wall;
    let stored = world.waiting(10, State::Queued, now);
    world.found(Size::Direct, vec![stored]);
    let outcome = world.outcome();
    assert_eq!((outcome.state, outcome.attempts), (State::Sending, 1));
    assert_eq!((outcome.retry_at, outcome.taken_at), (Some(now.plus(GRACE)), Some(now)));
    assert!(world.is_awaited() && world.attempts.is_empty());
    world.written();
    let ticket = world.attempts[0].ticket;
    assert_eq!((ticket.attempts, ticket.again, ticket.has_waited), (1, true, true));
    world.answer(accepted());
    assert_eq!((world.outcome().state, world.outcome().attempts), (State::Sent, 2));
    assert_eq!(world.mark(10).state, send::State::Finished);
}

#[test]
fn an_announced_message_that_is_over_in_the_store_is_not_attempted() {
    let mut world = World::ready(1);
    let stored = world.waiting(10, State::Queued, world.at.wall);
    world.found(Size::Direct, vec![stored]);
    let key = Key { send_id: Uuid::from_u128(10), ordinal: 0 };
    world.feed(Input::Written(Ok(Written { gone: Vec::new(), overtaken: vec![key] })));
    assert!(world.attempts.is_empty());
    assert_eq!(world.mark(10).state, send::State::Finished);
}

#[test]
fn an_announced_message_of_a_send_that_was_paused_meanwhile_is_put_back() {
    let mut world = World::ready(1);
    let stored = world.waiting(10, State::Queued, world.at.wall);
    world.found(Size::Direct, vec![stored]);
    world.feed(Input::Released { send_id: Uuid::from_u128(10), over: None, caller: Caller(1) });
    world.flush();
    assert!(world.attempts.is_empty());
    let rows = world.writes.iter().flat_map(|write| &write.outcomes);
    let last = rows.last().unwrap().outcome.clone();
    assert_eq!((last.state, last.attempts, last.retry_at), (State::Queued, 1, Some(world.at.wall)));
    assert_eq!(world.mark(10).due_at, Some(world.at.wall));
    assert_eq!(world.limits().active_sends, 0);
}

#[test]
fn the_ledger_is_asked_only_about_messages_that_may_have_gone() {
    let taken = |world: &World, state, taken_at| {
        let mut stored = world.waiting(10, state, world.at.wall);
        stored.waiting.soon[0].taken_at = taken_at;
        stored
    };
    let some = Some(Timestamp::from_millis(1));
    for (state, taken_at, asks) in [
        (State::Queued, None, false),
        (State::Queued, some, true),
        (State::Unknown, None, true),
        (State::Sending, some, true),
    ] {
        let mut world = World::ready(1);
        let stored = taken(&world, state, taken_at);
        let effects = world.found(Size::Direct, vec![stored]);
        assert_eq!(effects.contains(&"read states"), asks, "{state:?} {taken_at:?}");
        assert_eq!(world.outcomes().is_empty(), asks, "it is announced otherwise");
        world.settle();
        world.pass(SECOND);
        assert_eq!(world.under_way(), [10], "{state:?} {taken_at:?}");
    }
}

#[test]
fn a_message_that_is_skipped_keeps_the_time_at_which_an_earlier_attempt_may_have_got_through() {
    let mut world = World::ready(1);
    world.machine.common.suppressions.add(Record {
        company_id: Uuid::from_u128(2),
        recipient: person(10),
        scope: Suppression::Everything,
        until: None,
        provider_code: None,
    });
    let (taken_at, mut stored) =
        (Some(Timestamp::from_millis(1)), world.waiting(10, State::Queued, world.at.wall));
    stored.waiting.soon[0].taken_at = taken_at;
    world.found(Size::Direct, vec![stored]);
    world.settle();
    assert_eq!((world.outcome().state, world.outcome().taken_at), (State::Suppressed, taken_at));
}

#[test]
fn a_tier_that_holds_unknown_outcomes_retries_only_messages_that_certainly_did_not_go() {
    for (state, tried) in [(State::Queued, true), (State::Unknown, false)] {
        let mut world = World::with_tier(1, |tier| tier.unknown_outcome = UnknownOutcome::Hold).begun();
        let mut stored = world.waiting(10, state, world.at.wall);
        stored.waiting.soon[0].taken_at = Some(world.at.wall);
        world.found(Size::Direct, vec![stored]);
        world.settle();
        world.pass(SECOND);
        assert_eq!(!world.attempts.is_empty(), tried, "{state:?}");
        if !tried {
            assert_eq!((world.outcome().state, world.outcome().retry_at), (State::Unknown, None));
            assert!(world.figures.contains(&Figure::Unknown));
            assert_eq!(world.mark(10).state, send::State::Finished);
        }
    }
}

#[test]
fn a_marked_message_without_a_row_has_an_unknown_outcome() {
    for (policy, tried) in [(UnknownOutcome::Resend, true), (UnknownOutcome::Hold, false)] {
        let mut world = World::with_tier(1, |tier| tier.unknown_outcome = policy).begun();
        let mut stored = world.stored(20);
        stored.send.recipients = Recipients::Blocks(3);
        stored.send.progress = Progress { high_water: 3, settled: 1 };
        stored.recorded = BTreeSet::from([1]);
        stored.unknown = vec![(2, Some(person(7)))];
        let now = world.at.wall;
        world.found(Size::Bulk, vec![stored]);
        let outcome = world.outcome();
        assert_eq!((outcome.state, outcome.attempts), (State::Unknown, 1));
        assert_eq!((outcome.position.ordinal, outcome.position.recipient), (2, Some(person(7))));
        assert_eq!((outcome.retry_at, outcome.taken_at), (tried.then(|| now.plus(GRACE)), Some(now)));
        let sentence = outcome.error.unwrap().sentence;
        assert_eq!(sentence, "the service ended before the provider's answer was written");
        assert_eq!(world.mark(20).progress, Progress { high_water: 3, settled: 3 });
        assert_eq!(world.figures.contains(&Figure::Unknown), !tried);
        let over = if tried { send::State::Active } else { send::State::Finished };
        assert_eq!((world.mark(20).state, world.machine.backlog().retry), (over, u64::from(tried)));
        world.flush();
        if tried {
            let waiting = world.outlook(20).unwrap().waiting.unwrap();
            assert_eq!((waiting.reason, waiting.until), (Reason::UnknownOutcome, Some(now.plus(GRACE))));
            assert_eq!(world.until_attempt(), GRACE);
            assert_eq!(world.attempts[0].ticket.attempts, 1);
        }
    }
}

#[test]
fn unknown_outcomes_wait_in_the_store_when_too_many_messages_wait_in_memory() {
    let mut world = World::configured(1, |_| (), |_| (), |engine, _| engine.deferred = 1).begun();
    let mut stored = world.stored(20);
    stored.send.recipients = Recipients::Blocks(5);
    stored.send.progress = Progress { high_water: 5, settled: 0 };
    stored.unknown = (0..5).map(|ordinal| (ordinal, Some(person(ordinal)))).collect();
    world.found(Size::Bulk, vec![stored]);
    assert_eq!((world.outcomes().len(), world.machine.backlog().retry), (5, 2));
    world.flush();
    let grace = world.wakes_in();
    assert!(grace <= GRACE);
    world.pass(GRACE);
    assert_eq!(world.count("read waits 20"), 1, "{:?}", world.log);
}

#[test]
fn a_send_goes_on_from_its_mark_and_one_without_anything_left_is_written_as_finished() {
    let mut world = World::ready(1);
    let mut bulk = world.stored(20);
    bulk.send.recipients = Recipients::Blocks(4);
    bulk.send.progress = Progress { high_water: 2, settled: 2 };
    let mut done = world.stored(21);
    done.send.recipients = Recipients::Blocks(2);
    done.send.progress = Progress { high_water: 2, settled: 2 };
    world.found(Size::Bulk, vec![bulk, done]);
    assert_eq!(world.mark(21).state, send::State::Finished);
    assert_eq!(world.count("read recipients 20 2"), 1);
    world.read_people(20, 2, &[3, 4]);
    world.flush();
    assert_eq!(world.limits().active_sends, 1);
    let ticket = world.attempts[0].ticket;
    assert_eq!((ticket.ordinal, ticket.recipient, ticket.attempts), (2, Some(person(3)), 0));
}

#[test]
fn a_group_gets_its_one_message_and_pairs_and_opt_outs_do_not_apply_to_it() {
    let mut world = World::with_tier(1, |tier| tier.pair_burst = 1).begun();
    for id in [10, 11] {
        let group = Order { group: Some("12@g.us".to_owned()), ..order() };
        world.accept_order(id, group, Recipients::Group);
        world.flush();
        world.pass(SECOND);
    }
    assert_eq!(world.under_way(), [10, 11]);
    assert!(world.attempts.iter().all(|attempt| attempt.ticket.recipient.is_none()));
    // A group has no pair: a refusal because of one is a temporary failure.
    world.answer(refused(Disposition::Pair));
    assert_eq!((world.outcome().state, world.outcome().attempts), (State::Queued, 1));
}

#[test]
fn a_send_that_cannot_be_read_is_left_out_of_the_next_reads() {
    let mut world = World::ready(1);
    world.feed(Input::Look);
    let broken = vec![Uuid::from_u128(30)];
    world.feed(Input::Fetched { size: Size::Direct, result: Ok(Fetched { broken, ..nothing() }) });
    assert!(world.fetches.last().unwrap().held.contains(&Uuid::from_u128(30)));
    world.store_is_empty();
    let told = || Input::Overlooked { direct: Some(Uuid::from_u128(30)), bulk: None };
    for _ in 0..3 {
        assert!(!world.feed(told()).contains(&"fetch"), "a report of the send causes no read");
    }
}

#[test]
fn either_of_two_reported_sends_makes_the_channel_read_the_store() {
    let told = |direct: Option<u128>, bulk: Option<u128>| Input::Overlooked {
        direct: direct.map(Uuid::from_u128),
        bulk: bulk.map(Uuid::from_u128),
    };
    let mut world = World::ready(1);
    assert!(!world.feed(told(None, Some(31))).contains(&"fetch"));
    assert!(!world.feed(told(Some(30), None)).contains(&"fetch"), "each was reported once");
    assert!(world.feed(told(Some(30), Some(32))).contains(&"fetch"));
    assert!(!world.feed(told(Some(30), Some(32))).contains(&"fetch"), "a read is under way");
    world.store_is_empty();
    world.start(10);
    world.feed(Input::Stop(Caller(1)));
    assert!(!world.feed(told(Some(30), Some(32))).contains(&"fetch"), "the channel stops");
}

#[test]
fn a_read_while_no_message_may_go_costs_no_write() {
    let blocked = |channel: &mut Channel| channel.connection.status = Status::Blocked;
    let mut world = World::with(1, |_| (), blocked).begun();
    let single = world.stored(10);
    assert!(!world.found(Size::Direct, vec![single]).contains(&"write"));
    let mut bulk = world.stored(20);
    bulk.send.recipients = Recipients::Blocks(4);
    bulk.waiting.later = 1;
    bulk.waiting.later_due = Some(world.at.wall.plus(MINUTE));
    assert!(!world.found(Size::Bulk, vec![bulk]).contains(&"write"));
    assert_eq!(world.limits().active_sends, 2);
}

#[test]
fn no_more_messages_are_announced_than_go_out_next() {
    let mut world = World::with_tier(1, |tier| {
        tier.messages_per_second = domain::rate::Rate::each_second(1);
    })
    .begun();
    let stored = (10..50).map(|id| world.waiting(id, State::Queued, world.at.wall)).collect();
    world.found(Size::Direct, stored);
    let announced = |world: &World| {
        let rows = world.writes.iter().flat_map(|write| &write.outcomes);
        rows.filter(|row| row.outcome.state == State::Sending).count()
    };
    assert_eq!(announced(&world), 16);
    world.flush();
    assert_eq!((world.attempts.len(), announced(&world)), (1, 16));
    world.pass(SECOND);
    world.flush();
    assert_eq!((world.attempts.len(), announced(&world)), (2, 18));
}
