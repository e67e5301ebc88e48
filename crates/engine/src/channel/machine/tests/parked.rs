//! Messages and sends that wait in the store: when they are read again, and that none is sent twice.

use super::*;
use domain::send::Progress;

const MILLI: Duration = Duration::from_millis(1);

impl World {
    /// A bulk send of five is here; two messages of it wait in the store for half a minute, one goes next.
    fn with_parked() -> Self {
        let mut world = Self::new(1);
        world.connected();
        let mut stored = world.stored(20);
        stored.send.recipients = Recipients::Blocks(5);
        stored.send.progress = Progress { high_water: 2, settled: 2 };
        stored.waiting.later = 2;
        stored.waiting.later_due = Some(world.at.wall.plus(30 * SECOND));
        world.found(Size::Direct, Vec::new());
        world.found(Size::Bulk, vec![stored]);
        world.flush();
        world
    }

    /// One of the two messages that waited is retried, and another send is under way. Also returns when the message was
    /// read; the other message is due two seconds after that.
    fn with_one_tried_again() -> (Self, Timestamp) {
        let mut world = Self::with_parked();
        world.pass(30 * SECOND);
        world.accept(10);
        let now = world.at.wall;
        world.waits(vec![waiting(0, 1, State::Queued, now)], 1, Some(now.plus(2 * SECOND)));
        world.flush();
        world.pass(20 * MILLI);
        world.flush();
        assert_eq!(world.under_way(), [10, 20], "the message is retried");
        (world, now)
    }

    fn waits(&mut self, soon: Vec<store::sends::Waiting>, later: u64, due: Option<Timestamp>) {
        let waiting = store::sends::WaitingMessages { soon, later, later_due: due };
        let send_id = Uuid::from_u128(20);
        self.feed(Input::WaitsRead { send_id, result: Ok(Waits::new(send_id, waiting)) });
    }
}

#[test]
fn messages_of_a_send_that_is_here_are_read_when_they_are_due_and_once() {
    let mut world = World::with_parked();
    assert_eq!(world.limits().active_sends, 1);
    assert!(world.wakes_in() <= 30 * SECOND);
    world.pass(30 * SECOND - MILLI);
    assert_eq!(world.count("read waits"), 0);
    world.pass(MILLI);
    assert_eq!(world.count("read waits 20"), 1);
    world.accept(10);
    assert_eq!(world.count("read waits"), 1, "they are being read");
    let now = world.at.wall;
    let due = [waiting(0, 1, State::Queued, now), waiting(1, 2, State::Queued, now.plus(SECOND))];
    world.waits(due.into(), 0, None);
    assert_eq!(world.machine.backlog().retry, 1, "the other one is announced");
    let announced = world.writes.iter().flat_map(|write| &write.outcomes);
    assert_eq!(announced.filter(|of| of.outcome.state == State::Sending).count(), 0, "a write is under way");
    world.flush();
    assert_eq!(world.under_way(), [10]);
    for time in [SECOND, 20 * MILLI] {
        world.pass(time);
        world.flush();
    }
    assert_eq!(world.under_way(), [10, 20, 20]);
}

#[test]
fn messages_that_could_not_be_read_are_read_again_a_second_later() {
    let mut world = World::with_parked();
    world.pass(30 * SECOND);
    let failed = Input::WaitsRead { send_id: Uuid::from_u128(20), result: Err(Failed::Temporarily) };
    world.feed(failed);
    world.pass(SECOND - MILLI);
    assert_eq!(world.count("read waits"), 1);
    world.pass(MILLI);
    assert_eq!(world.count("read waits"), 2);
}

#[test]
fn messages_left_in_the_store_are_read_when_due_and_not_at_once_when_none_was_found() {
    // What was found, how many are left, when the first of these is due, and when they are read again.
    let table = [
        (true, 1, Some(2 * SECOND), 2 * SECOND),
        (true, 1, None, MINUTE),
        (false, 2, Some(2 * SECOND), 5 * SECOND),
        (false, 2, Some(9 * SECOND), 9 * SECOND),
        (false, 0, None, MINUTE),
    ];
    for (is_found, later, due, again) in table {
        let mut world = World::with_parked();
        world.pass(30 * SECOND);
        let now = world.at.wall;
        let found = is_found.then(|| waiting(0, 1, State::Queued, now.plus(90 * SECOND)));
        world.waits(found.into_iter().collect(), later, due.map(|due| now.plus(due)));
        let said = format!("{is_found} {later} {due:?}");
        world.pass(again - MILLI);
        assert_eq!(world.count("read waits"), 1, "{said}");
        world.pass(MILLI);
        assert_eq!(world.count("read waits"), 2, "{said}");
    }
}

#[test]
fn a_message_that_is_here_already_is_not_taken_in_twice() {
    let mut world = World::with_parked();
    world.pass(30 * SECOND);
    let due = world.at.wall.plus(20 * SECOND);
    for _ in 0..2 {
        world.waits(vec![waiting(0, 1, State::Queued, due)], 0, None);
        assert_eq!(world.machine.backlog().retry, 1);
        world.pass(5 * SECOND);
    }
}

#[test]
fn a_message_that_was_sent_while_the_store_was_read_is_not_taken_in_as_it_was_before() {
    let (mut world, now) = World::with_one_tried_again();
    world.pass(2 * SECOND);
    assert_eq!(world.count("read waits"), 2, "for the other one");
    world.answer(accepted());
    // The read was slow.
    world.waits(vec![waiting(0, 1, State::Queued, now)], 0, None);
    world.flush();
    world.pass(5 * SECOND - MILLI);
    world.flush();
    assert_eq!((world.count("read waits"), world.under_way()), (2, vec![10]));
    world.pass(MILLI);
    assert_eq!(world.count("read waits"), 3, "messages that wait there by now are read");
    // A read from now on returns the newest state.
    world.waits(vec![waiting(0, 1, State::Queued, world.at.wall)], 0, None);
    world.flush();
    world.pass(20 * MILLI);
    assert_eq!(world.under_way(), [10, 20]);
}

#[test]
fn a_message_whose_outcome_is_not_written_yet_is_not_taken_in_as_it_was_before() {
    let (mut world, now) = World::with_one_tried_again();
    world.answer(accepted());
    // The database is slow: the read begins while the outcome is being written.
    world.pass(2 * SECOND);
    assert_eq!(world.count("read waits"), 2, "for the other one");
    world.waits(vec![waiting(0, 1, State::Queued, now)], 0, None);
    world.pass(SECOND);
    world.flush();
    world.pass(SECOND);
    world.flush();
    assert_eq!(world.under_way(), [10], "the message was sent");
}

#[test]
fn a_paused_send_takes_in_no_message_that_was_being_read() {
    let mut world = World::with_parked();
    world.pass(30 * SECOND);
    world.feed(Input::Released { send_id: Uuid::from_u128(20), over: None, caller: Caller(1) });
    let due = world.at.wall.plus(SECOND);
    world.waits(vec![waiting(0, 1, State::Queued, due)], 1, None);
    assert_eq!(world.machine.backlog().retry, 0);
    assert_eq!(world.mark(20).due_at, None, "a send with messages to start has no due time");
    world.flush();
    assert_eq!(world.limits().active_sends, 0);
}

#[test]
fn after_the_clock_was_set_everything_in_the_store_is_read_again() {
    let mut world = World::with_parked();
    world.store_is_empty();
    let looks = world.fetches.len();
    world.at.wall = world.at.wall.minus(DAY);
    world.feed(Input::ClockWasSet);
    assert_eq!((world.count("read waits 20"), world.fetches.len()), (1, looks + 1));
}

#[test]
fn a_send_whose_messages_all_wait_in_the_store_leaves_and_comes_back_when_due() {
    let mut world = World::ready(1);
    world.start(10);
    world.answer(refused_for(Disposition::Wait, 10 * MINUTE));
    let due = world.at.wall.plus(10 * MINUTE);
    world.settle();
    assert_eq!((world.limits().active_sends, world.mark(10).due_at), (0, Some(due)));
    while world.at.wall < due.minus(MILLI) {
        let left = due.minus(MILLI).from_now(world.at.wall);
        world.pass(world.wakes_in().min(left));
        world.settle();
    }
    assert!(world.pass(2 * MILLI).contains(&"fetch"), "{:?}", world.log);
    let stored = world.waiting(10, State::Queued, due);
    world.found(Size::Direct, vec![stored]);
    assert_eq!(world.outcome().state, State::Sending);
    world.flush();
    assert_eq!(world.under_way(), [10]);
    assert_eq!(world.attempts[0].ticket.attempts, 1);
}

#[test]
fn one_message_of_a_bulk_send_waits_in_the_store_while_the_others_go() {
    let mut world = World::ready(1);
    world.accept_bulk(20, order(), &[1, 2, 3]);
    world.flush();
    world.answer(refused_for(Disposition::SlowNumber, 10 * MINUTE));
    let due = world.at.wall.plus(10 * MINUTE);
    world.flush();
    assert_eq!((world.machine.backlog().retry, world.limits().active_sends), (0, 1));
    for _ in 0..2 {
        world.until_attempt();
        world.answer(accepted());
        world.flush();
    }
    let mark = world.mark(20);
    assert_eq!((mark.due_at, mark.progress.high_water), (Some(due), 3), "nothing is left but that one");
    assert_eq!(mark.state, send::State::Active);
    assert_eq!(world.limits().active_sends, 0);
}

#[test]
fn a_message_that_waits_in_memory_is_due_at_its_time_whatever_happens_meanwhile() {
    let mut world = World::ready(1);
    world.start(10);
    world.answer(refused_for(Disposition::SlowNumber, 20 * SECOND));
    world.flush();
    for id in 11..20 {
        world.pass(SECOND);
        world.accept(id);
        world.flush();
        world.answer(accepted());
        world.flush();
    }
    let waited = world.until_attempt();
    assert_eq!((waited, world.under_way()), (11 * SECOND, vec![10]));
}
