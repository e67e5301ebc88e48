use super::super::queue_slots::QueueSlots;
use super::super::window::Window;
use super::*;
use domain::tier::Quota;
use driver::{Built, MessageId};

/// One stranger in a day.
const ONE: Quota = Quota::AtMost(1);

struct World {
    pending_replies: PendingReplies,
    queued: QueueSlots,
    strangers: Window<PhoneNumber>,
}

impl World {
    fn new() -> Self {
        Self {
            pending_replies: PendingReplies::default(),
            queued: QueueSlots::default(),
            strangers: Window::new(Vec::new()),
        }
    }

    fn admitted(&self) -> Admitted {
        let stranger = self.strangers.take(PhoneNumber::parse("5511988887777").unwrap());
        Admitted { queued: self.queued.take(), stranger: Some(stranger), wait: Duration::ZERO }
    }

    fn pending_reply(&self) -> (Arc<PendingReply>, Wait) {
        let answer: (Render, Vec<String>) = (|_| String::new(), Vec::new());
        self.pending_replies.begin(Uuid::nil(), address(), None, self.admitted(), answer)
    }

    /// How many more strangers may be written to.
    fn left(&self) -> Option<u64> {
        self.strangers.left(ONE, Timestamp::now())
    }
}

fn address() -> Jid {
    Jid::parse("5511988887777@s.whatsapp.net").unwrap()
}

fn told(wait: &mut Wait) -> HandOver {
    wait.told.try_recv().unwrap()
}

#[test]
fn a_pending_reply_counts_among_those_that_wait_until_it_begins_or_is_gone() {
    let world = World::new();
    let (begun, _wait) = world.pending_reply();
    let gone = world.pending_reply();
    assert_eq!(world.queued.taken(), 2);
    begun.begin();
    begun.begin();
    assert_eq!(world.queued.taken(), 1);
    drop(gone);
    assert_eq!(world.queued.taken(), 0);
}

#[test]
fn only_the_first_outcome_is_told() {
    let (pending_reply, mut wait) = World::new().pending_reply();
    pending_reply.tell(HandOver::Unknown, Timestamp::now());
    pending_reply.tell(HandOver::TooLate(Reason::Rate), Timestamp::now());
    assert_eq!(told(&mut wait), HandOver::Unknown);
}

#[test]
fn a_stranger_takes_a_slot_only_if_the_message_may_have_been_handed_over() {
    for (end, left) in [
        (HandOver::TooLate(Reason::Rate), 1),
        (HandOver::Canceled, 1),
        (HandOver::Stopping, 1),
        (HandOver::Failed(Failure { code: None, sentence: String::new() }), 1),
        (HandOver::Unknown, 0),
    ] {
        let world = World::new();
        let (pending_reply, mut wait) = world.pending_reply();
        assert_eq!(world.left(), Some(0));
        pending_reply.tell(end.clone(), Timestamp::now());
        assert_eq!((told(&mut wait), world.left()), (end, Some(left)));
    }
    let world = World::new();
    drop(world.pending_reply());
    assert_eq!(world.left(), Some(1));
}

#[test]
fn a_message_that_may_have_gone_is_never_reported_as_not_sent() {
    let world = World::new();
    let (pending_reply, mut wait) = world.pending_reply();
    pending_reply.begin();
    pending_reply.put_back(Reason::UnknownOutcome, true);
    pending_reply.expire(|| Reason::Turn, Timestamp::now());
    assert_eq!((told(&mut wait), world.left()), (HandOver::Unknown, Some(0)));
}

#[test]
fn an_expired_message_reports_what_it_waited_for() {
    let world = World::new();
    let (pending_reply, mut wait) = world.pending_reply();
    pending_reply.expire(|| Reason::Turn, Timestamp::now());
    assert_eq!(told(&mut wait), HandOver::TooLate(Reason::Turn));
    let (pending_reply, mut wait) = world.pending_reply();
    pending_reply.put_back(Reason::Pair, false);
    pending_reply.expire(|| Reason::Turn, Timestamp::now());
    assert_eq!(told(&mut wait), HandOver::TooLate(Reason::Pair));
    let (pending_reply, mut wait) = world.pending_reply();
    pending_reply.pause(true);
    pending_reply.put_back(Reason::Pair, false);
    pending_reply.expire(|| Reason::Turn, Timestamp::now());
    assert_eq!(told(&mut wait), HandOver::TooLate(Reason::Paused));
    let (pending_reply, mut wait) = world.pending_reply();
    pending_reply.pause(true);
    pending_reply.pause(false);
    pending_reply.expire(|| Reason::Turn, Timestamp::now());
    assert_eq!(told(&mut wait), HandOver::TooLate(Reason::Turn));
}

#[test]
fn an_attempt_that_is_under_way_reports_its_own_end() {
    let world = World::new();
    let (pending_reply, mut wait) = world.pending_reply();
    pending_reply.begin();
    pending_reply.expire(|| Reason::Turn, Timestamp::now());
    pending_reply.cancel(Timestamp::now());
    assert!(wait.told.try_recv().is_err());
    pending_reply.put_back(Reason::Retry, false);
    pending_reply.cancel(Timestamp::now());
    assert_eq!(told(&mut wait), HandOver::Canceled);
}

#[test]
fn a_stop_gives_up_messages_that_are_not_under_way() {
    let world = World::new();
    let (pending_reply, mut wait) = world.pending_reply();
    pending_reply.begin();
    assert!(!pending_reply.give_up(Timestamp::now()));
    pending_reply.put_back(Reason::ProviderPause, false);
    assert!(pending_reply.give_up(Timestamp::now()));
    assert_eq!(told(&mut wait), HandOver::Stopping);
    assert!(!pending_reply.give_up(Timestamp::now()));
}

#[test]
fn a_lost_lease_makes_the_outcome_unknown_unless_an_attempt_is_under_way() {
    let world = World::new();
    let (pending_reply, mut wait) = world.pending_reply();
    pending_reply.begin();
    pending_reply.lose(Timestamp::now());
    assert!(wait.told.try_recv().is_err());
    pending_reply.put_back(Reason::Pair, false);
    pending_reply.lose(Timestamp::now());
    assert_eq!((told(&mut wait), world.left()), (HandOver::Unknown, Some(0)));
}

#[test]
fn a_pending_reply_is_found_from_its_acceptance_to_the_end_of_the_wait() {
    let world = World::new();
    let (pending_reply, wait) = world.pending_reply();
    let id = Uuid::from_u128(7);
    assert!(world.pending_replies.find(id).is_none());
    pending_reply.accept(id);
    assert!(world.pending_replies.find(id).is_some());
    assert_eq!(world.pending_replies.of(Uuid::nil()).len(), 1);
    assert!(world.pending_replies.of(id).is_empty());
    drop(wait);
    assert!(world.pending_replies.find(id).is_none());
}

fn handed_over() -> HandedOver {
    let to = Jid::parse("5511988887777@s.whatsapp.net").unwrap();
    let sent = Sent { to, id: MessageId::generate(), built: Built::Text };
    HandedOver {
        send_id: Uuid::from_u128(7),
        sent,
        text: None,
        ignored: Vec::new(),
        at: Timestamp::from_millis(0),
    }
}

#[test]
fn a_message_that_whatsapp_has_after_all_is_reported_as_handed_over() {
    let world = World::new();
    let (pending_reply, mut wait) = world.pending_reply();
    pending_reply.begin();
    let handed_over = handed_over();
    pending_reply.hands_over(handed_over.clone());
    pending_reply.put_back(Reason::UnknownOutcome, true);
    pending_reply.has_arrived(Timestamp::now());
    assert_eq!((told(&mut wait), world.left()), (HandOver::Done(Box::new(handed_over)), Some(0)));
    let (pending_reply, mut wait) = World::new().pending_reply();
    pending_reply.has_arrived(Timestamp::now());
    assert_eq!(told(&mut wait), HandOver::Unknown, "another process handed it over");
}

#[test]
fn a_message_in_doubt_stays_in_doubt() {
    for end in [HandOver::Canceled, HandOver::Stopping, HandOver::TooLate(Reason::Rate)] {
        let world = World::new();
        let (pending_reply, mut wait) = world.pending_reply();
        pending_reply.begin();
        for is_in_doubt in [true, true, false] {
            pending_reply.put_back(Reason::UnknownOutcome, is_in_doubt);
            pending_reply.begin();
        }
        pending_reply.tell(end, Timestamp::now());
        assert_eq!((told(&mut wait), world.left()), (HandOver::Unknown, Some(0)));
    }
}

#[test]
fn an_attempt_clears_what_its_message_waited_for_before() {
    let world = World::new();
    let (pending_reply, mut wait) = world.pending_reply();
    pending_reply.put_back(Reason::Pair, false);
    pending_reply.begin();
    pending_reply.put_back(Reason::Retry, false);
    pending_reply.expire(|| Reason::Turn, Timestamp::now());
    assert_eq!(told(&mut wait), HandOver::TooLate(Reason::Retry));
}

#[test]
fn the_end_of_the_engine_answers_every_waiting_caller() {
    let world = World::new();
    let (waiting, mut first) = world.pending_reply();
    let (begun, mut second) = world.pending_reply();
    for (pending_reply, id) in [(&waiting, 1), (&begun, 2)] {
        pending_reply.accept(Uuid::from_u128(id));
    }
    begun.begin();
    world.pending_replies.end(Timestamp::now());
    assert_eq!((told(&mut first), told(&mut second)), (HandOver::Stopping, HandOver::Unknown));
}

#[test]
fn a_pending_reply_keeps_the_send_that_it_was_accepted_under() {
    let world = World::new();
    let (pending_reply, wait) = world.pending_reply();
    let [first, second] = [1, 2].map(Uuid::from_u128);
    pending_reply.accept(first);
    pending_reply.accept(second);
    assert!(world.pending_replies.find(first).is_some() && world.pending_replies.find(second).is_none());
    drop(wait);
    assert!(world.pending_replies.of(Uuid::nil()).is_empty());
}

#[test]
fn a_message_that_keeps_its_turn_holds_its_slots_until_it_is_over() {
    let world = World::new();
    let [refused, first, second] = [1, 2, 3].map(Uuid::from_u128);
    let (pending_reply, wait) =
        world.pending_replies.begin_kept(Uuid::nil(), address(), None, world.admitted());
    pending_reply.accept(refused);
    drop((pending_reply, wait));
    assert!(world.pending_replies.find(refused).is_none(), "it was not written");
    assert_eq!((world.queued.taken(), world.left()), (0, Some(1)));

    let (pending_reply, wait) =
        world.pending_replies.begin_kept(Uuid::nil(), address(), None, world.admitted());
    pending_reply.accept(first);
    wait.leave();
    // It is read from the store again.
    world.pending_replies.keep(Uuid::nil(), first, world.admitted());
    drop(pending_reply);
    let found = world.pending_replies.find(first).unwrap();
    assert!(found.keeps_turn() && found.is_to_stranger() && found.to.is_none());
    assert_eq!((world.queued.taken(), world.left()), (1, Some(0)));
    found.begin();
    assert_eq!((world.queued.taken(), world.left()), (0, Some(0)));
    found.tell(HandOver::Done(Box::new(handed_over())), Timestamp::now());
    assert!(world.pending_replies.find(first).is_none());
    assert_eq!(world.left(), Some(0), "the stranger was written to");

    let world = World::new();
    world.pending_replies.keep(Uuid::nil(), second, world.admitted());
    world.pending_replies.find(second).unwrap().expire(|| Reason::Rate, Timestamp::now());
    assert!(world.pending_replies.find(second).is_none());
    assert_eq!((world.queued.taken(), world.left()), (0, Some(1)));
}
