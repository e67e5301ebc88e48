//! What the callers of messages through a web session are told while they wait.

use futures_util::FutureExt as _;

use super::web::PATIENT;
use super::*;
use crate::handover::{HandOver, Wait};
use domain::outlook::Reason;
use driver::Jid;

impl World {
    /// Accepts a message whose caller waits.
    fn pending_reply(&mut self, id: u128, expires_at: Option<Timestamp>) -> Wait {
        let admitted = self.admit(PATIENT).unwrap();
        let to = Jid::person(person(id as u64));
        let pending_replies = &self.machine.common.pending_replies;
        let (pending_reply, wait) =
            pending_replies.begin(Uuid::from_u128(1), to, None, admitted, (|_| String::new(), Vec::new()));
        pending_reply.accept(Uuid::from_u128(id));
        let order = Order { schedule: Schedule { send_at: None, expires_at }, ..order() };
        self.accept_order(id, order, Recipients::One(person(id as u64)));
        self.flush();
        wait
    }

    /// The message of a caller is under way, and that of another one waits for its turn until it expires.
    fn with_callers() -> (Self, Wait, Wait) {
        let mut world = Self::web();
        let begun = world.pending_reply(10, None);
        let waits = world.pending_reply(11, Some(world.at.wall.plus(5 * SECOND)));
        assert_eq!(world.under_way(), [10]);
        (world, begun, waits)
    }
}

fn told(wait: &mut Wait) -> Option<HandOver> {
    wait.end().now_or_never()
}

fn cancel(id: u128) -> Input {
    let over = Some(send::State::Canceled);
    Input::Released { send_id: Uuid::from_u128(id), over, caller: Caller(1) }
}

#[test]
fn a_caller_is_told_how_the_message_ended() {
    let (mut world, mut begun, mut waits) = World::with_callers();
    world.answer(refused(Disposition::Fail));
    assert_eq!(told(&mut begun), Some(HandOver::Failed(failure())));
    assert_eq!(told(&mut waits), None);
    world.feed(cancel(11));
    assert_eq!(told(&mut waits), Some(HandOver::Canceled));

    let (mut world, mut begun, mut waits) = World::with_callers();
    world.feed(cancel(10));
    assert_eq!(told(&mut begun), None, "its caller is told when the attempt ends");
    world.answer(Reply::Uncertain(failure()));
    assert_eq!(told(&mut begun), Some(HandOver::Unknown));
    world.feed(Input::Heard(vec![(Key { send_id: Uuid::from_u128(11), ordinal: 0 }, State::Queued)]));
    assert_eq!(told(&mut waits), None);

    let (mut world, mut begun, mut waits) = World::with_callers();
    world.feed(Input::Stop(Caller(1)));
    assert_eq!((told(&mut begun), told(&mut waits)), (None, Some(HandOver::Stopping)));
    assert_eq!(world.mark(11).state, send::State::Expired, "it is not begun later either");

    let (mut world, mut begun, mut waits) = World::with_callers();
    world.accept(12);
    world.feed(Input::Written(Err(LeaseLost)));
    assert_eq!((told(&mut begun), told(&mut waits)), (None, Some(HandOver::Unknown)));
}

#[test]
fn a_caller_whose_message_is_too_late_is_told_what_held_it() {
    let (mut world, mut begun, mut waits) = World::with_callers();
    world.pass(5 * SECOND);
    assert_eq!((told(&mut begun), told(&mut waits)), (None, Some(HandOver::TooLate(Reason::Rate))));
    assert_eq!(world.mark(11).state, send::State::Expired);

    let (mut world, _begun, mut waits) = World::with_callers();
    let paused = Input::Released { send_id: Uuid::from_u128(11), over: None, caller: Caller(1) };
    world.feed(paused);
    assert_eq!(told(&mut waits), None, "the send may be resumed in time");
    let over = Some(send::State::Expired);
    world.feed(Input::Released { send_id: Uuid::from_u128(11), over, caller: Caller(2) });
    assert_eq!(told(&mut waits), Some(HandOver::TooLate(Reason::Paused)));

    let (mut world, _begun, mut waits) = World::with_callers();
    let mut record = (**world.machine.channel()).clone();
    record.revision = 5;
    record.connection.status = Status::Disconnected;
    world.feed(Input::Refreshed(Arc::new(record)));
    world.pass(5 * SECOND);
    assert_eq!(told(&mut waits), Some(HandOver::TooLate(Reason::Disconnected)));
}

#[test]
fn a_retried_message_keeps_its_caller_until_it_expires() {
    let mut world = World::web();
    let mut wait = world.pending_reply(10, Some(world.at.wall.plus(MINUTE)));
    world.answer(Reply::NotSent(failure()));
    world.flush();
    assert_eq!(told(&mut wait), None);
    let over = Some(send::State::Expired);
    world.feed(Input::Released { send_id: Uuid::from_u128(10), over, caller: Caller(2) });
    assert_eq!(told(&mut wait), Some(HandOver::TooLate(Reason::ProviderPause)));
}

#[test]
fn a_message_without_a_caller_is_not_begun_from_the_store_unless_it_may_have_gone() {
    let soon = |world: &World, state| world.waiting(10, state, world.at.wall.plus(SECOND));
    let later = |world: &World| {
        let mut stored = world.stored(10);
        stored.send.progress = domain::send::Progress { high_water: 1, settled: 1 };
        (stored.waiting.later, stored.waiting.later_due) = (1, Some(world.at.wall.plus(MINUTE)));
        stored
    };
    let unknown = |world: &World| {
        let mut stored = world.stored(10);
        stored.send.progress = domain::send::Progress { high_water: 1, settled: 0 };
        stored.unknown = vec![(0, Some(person(10)))];
        stored
    };
    for (case, ends) in [(0, true), (1, true), (2, false), (3, false), (4, false)] {
        let mut world = World::web_with(|tier| tier.unknown_outcome = tier::UnknownOutcome::Resend);
        let stored = match case {
            0 => world.stored(10),
            1 => soon(&world, State::Queued),
            2 => soon(&world, State::Unknown),
            3 => later(&world),
            _ => unknown(&world),
        };
        world.found(Size::Direct, vec![stored]);
        assert_eq!(world.mark(10).state == send::State::Expired, ends, "{case}");
        world.flush();
        assert!(world.attempts.is_empty());
    }
    // A message whose caller waits goes on, and its pending reply is not paused any more.
    let mut world = World::web();
    let mut wait = world.pending_reply(10, None);
    world.attempts.clear();
    let (mut world, told_of) = (World::web(), told(&mut wait));
    assert_eq!(told_of, None);
    let mut wait = world.pending_reply(10, None);
    world.answer(Reply::NotSent(failure()));
    world.feed(Input::Released { send_id: Uuid::from_u128(10), over: None, caller: Caller(1) });
    world.flush();
    let stored = world.waiting(10, State::Queued, world.at.wall);
    world.found(Size::Direct, vec![stored]);
    world.until_attempt();
    assert_eq!(told(&mut wait), None);
}

/// Messages from the store that keep their turn.
fn kept(world: &World, ids: &[u128]) -> Vec<Restoring> {
    let kept = ids.iter().map(|id| {
        let mut stored = world.stored(*id);
        let order = Order { keeps_turn: true, ..order() };
        stored.send.content = serde_json::to_string(&order.stored()).unwrap();
        stored.send.expires_at = Some(world.at.wall.plus(MINUTE));
        stored
    });
    kept.collect()
}

#[test]
fn a_message_that_keeps_its_turn_goes_from_the_store_and_counts_until_then() {
    let mut world = World::web();
    let stored = kept(&world, &[10, 11]);
    world.found(Size::Direct, stored);
    world.flush();
    assert_eq!(world.under_way(), [10]);
    let third = world.admit(PATIENT).unwrap().wait;
    assert!(third >= 20 * SECOND, "{third:?}: the second one goes before");
    world.answer(accepted());
    world.until_attempt();
    assert_eq!(world.under_way(), [11]);
    // What the session did before is not known yet: it counts once it is.
    let mut world = World::of_web(10 * DAY);
    let stored = kept(&world, &[10]);
    world.found(Size::Direct, stored);
    let over = Some(send::State::Canceled);
    world.feed(Input::Released { send_id: Uuid::from_u128(12), over, caller: Caller(1) });
    let waits = |world: &World, id| world.machine.common.pending_replies.find(Uuid::from_u128(id)).is_some();
    assert!(!waits(&world, 10));
    let kept = [11, 12].map(|id| (Uuid::from_u128(id), Some(person(id as u64)))).to_vec();
    world.feed(Input::WebActivityRead(Ok(WebActivity { kept, ..WebActivity::default() })));
    assert_eq!(
        [10, 11, 12].map(|id| waits(&world, id)),
        [true, true, false],
        "the last one was canceled since"
    );
}

#[test]
fn a_message_that_keeps_its_turn_outlasts_the_process_and_not_its_time() {
    let mut world = World::web();
    let stored = kept(&world, &[10, 11]);
    world.found(Size::Direct, stored);
    world.flush();
    world.feed(Input::Stop(Caller(1)));
    assert_eq!(world.mark(11).state, send::State::Active, "another process goes on");
    assert!(world.machine.common.pending_replies.find(Uuid::from_u128(11)).is_none());

    let mut world = World::web();
    let stored = kept(&world, &[10, 11]);
    world.found(Size::Direct, stored);
    world.flush();
    world.feed(Input::Released { send_id: Uuid::from_u128(11), over: None, caller: Caller(1) });
    assert!(world.machine.common.pending_replies.find(Uuid::from_u128(11)).is_some(), "it is only paused");
    let over = Some(send::State::Expired);
    world.feed(Input::Released { send_id: Uuid::from_u128(11), over, caller: Caller(2) });
    assert!(world.machine.common.pending_replies.find(Uuid::from_u128(11)).is_none());
}
