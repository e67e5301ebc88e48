use super::super::window::Window;
use super::*;
use crate::connector::web_session::{Built, MessageId};
use crate::domain::tier::Quota;

/// One stranger in a day.
const ONE: Quota = Quota::AtMost(1);

struct World {
    errands: Errands,
    places: Places,
    strangers: Window<PhoneNumber>,
}

impl World {
    fn new() -> Self {
        Self { errands: Errands::default(), places: Places::default(), strangers: Window::new(Vec::new()) }
    }

    fn errand(&self) -> (Arc<Errand>, Wait) {
        let stranger = self.strangers.take(PhoneNumber::parse("5511988887777").unwrap());
        let admitted = Admitted { place: self.places.take(), stranger: Some(stranger), wait: Duration::ZERO };
        let to = Jid::parse("5511988887777@s.whatsapp.net").unwrap();
        self.errands.begin(Uuid::nil(), to, None, admitted, |_| String::new())
    }

    /// How many more strangers may be written to.
    fn left(&self) -> Option<u64> {
        self.strangers.left(ONE, Timestamp::now())
    }
}

fn told(wait: &mut Wait) -> HandOver {
    wait.told.try_recv().unwrap()
}

#[test]
fn an_errand_counts_among_those_that_wait_until_it_begins_or_is_gone() {
    let world = World::new();
    let (begun, _wait) = world.errand();
    let gone = world.errand();
    assert_eq!(world.places.taken(), 2);
    begun.begin();
    begun.begin();
    assert_eq!(world.places.taken(), 1);
    drop(gone);
    assert_eq!(world.places.taken(), 0);
}

#[test]
fn only_the_first_word_is_told() {
    let (errand, mut wait) = World::new().errand();
    errand.tell(HandOver::Unknown, Timestamp::now());
    errand.tell(HandOver::TooLate(Reason::Rate), Timestamp::now());
    assert_eq!(told(&mut wait), HandOver::Unknown);
}

#[test]
fn a_stranger_takes_a_place_only_if_the_message_may_have_been_handed_over() {
    for (end, left) in [
        (HandOver::TooLate(Reason::Rate), 1),
        (HandOver::Canceled, 1),
        (HandOver::Stopping, 1),
        (HandOver::Failed(Failure { code: None, sentence: String::new() }), 1),
        (HandOver::Unknown, 0),
    ] {
        let world = World::new();
        let (errand, mut wait) = world.errand();
        assert_eq!(world.left(), Some(0));
        errand.tell(end.clone(), Timestamp::now());
        assert_eq!((told(&mut wait), world.left()), (end, Some(left)));
    }
    let world = World::new();
    drop(world.errand());
    assert_eq!(world.left(), Some(1));
}

#[test]
fn what_may_have_gone_is_never_told_as_not_sent() {
    let world = World::new();
    let (errand, mut wait) = world.errand();
    errand.begin();
    errand.put_back(Reason::UnknownOutcome, true);
    errand.expire(|| Reason::Turn, Timestamp::now());
    assert_eq!((told(&mut wait), world.left()), (HandOver::Unknown, Some(0)));
}

#[test]
fn the_end_of_a_wait_says_what_was_waited_for() {
    let world = World::new();
    let (errand, mut wait) = world.errand();
    errand.expire(|| Reason::Turn, Timestamp::now());
    assert_eq!(told(&mut wait), HandOver::TooLate(Reason::Turn));
    let (errand, mut wait) = world.errand();
    errand.put_back(Reason::Pair, false);
    errand.expire(|| Reason::Turn, Timestamp::now());
    assert_eq!(told(&mut wait), HandOver::TooLate(Reason::Pair));
    let (errand, mut wait) = world.errand();
    errand.pause(true);
    errand.put_back(Reason::Pair, false);
    errand.expire(|| Reason::Turn, Timestamp::now());
    assert_eq!(told(&mut wait), HandOver::TooLate(Reason::Paused));
    let (errand, mut wait) = world.errand();
    errand.pause(true);
    errand.pause(false);
    errand.expire(|| Reason::Turn, Timestamp::now());
    assert_eq!(told(&mut wait), HandOver::TooLate(Reason::Turn));
}

#[test]
fn an_attempt_that_is_under_way_tells_its_own_end() {
    let world = World::new();
    let (errand, mut wait) = world.errand();
    errand.begin();
    errand.expire(|| Reason::Turn, Timestamp::now());
    errand.cancel(Timestamp::now());
    assert!(wait.told.try_recv().is_err());
    errand.put_back(Reason::Retry, false);
    errand.cancel(Timestamp::now());
    assert_eq!(told(&mut wait), HandOver::Canceled);
}

#[test]
fn a_stop_gives_up_what_is_not_under_way() {
    let world = World::new();
    let (errand, mut wait) = world.errand();
    errand.begin();
    assert!(!errand.give_up(Timestamp::now()));
    errand.put_back(Reason::ProviderPause, false);
    assert!(errand.give_up(Timestamp::now()));
    assert_eq!(told(&mut wait), HandOver::Stopping);
    assert!(!errand.give_up(Timestamp::now()));
}

#[test]
fn a_lost_lease_leaves_open_what_is_not_under_way() {
    let world = World::new();
    let (errand, mut wait) = world.errand();
    errand.begin();
    errand.lose(Timestamp::now());
    assert!(wait.told.try_recv().is_err());
    errand.put_back(Reason::Pair, false);
    errand.lose(Timestamp::now());
    assert_eq!((told(&mut wait), world.left()), (HandOver::Unknown, Some(0)));
}

#[test]
fn an_errand_is_found_from_its_acceptance_to_the_end_of_the_wait() {
    let world = World::new();
    let (errand, wait) = world.errand();
    let id = Uuid::from_u128(7);
    assert!(world.errands.find(id).is_none());
    errand.accept(id);
    assert!(world.errands.find(id).is_some());
    assert_eq!(world.errands.of(Uuid::nil()).len(), 1);
    assert!(world.errands.of(id).is_empty());
    drop(wait);
    assert!(world.errands.find(id).is_none());
}

fn handed_over() -> HandedOver {
    let to = Jid::parse("5511988887777@s.whatsapp.net").unwrap();
    let sent = Sent { to, id: MessageId::generate(), built: Built::Text };
    HandedOver { send_id: Uuid::from_u128(7), sent, text: None, at: Timestamp::from_millis(0) }
}

#[test]
fn a_message_that_whatsapp_has_after_all_is_told_as_what_was_handed_over() {
    let world = World::new();
    let (errand, mut wait) = world.errand();
    errand.begin();
    let handed_over = handed_over();
    errand.hands_over(handed_over.clone());
    errand.put_back(Reason::UnknownOutcome, true);
    errand.has_arrived(Timestamp::now());
    assert_eq!((told(&mut wait), world.left()), (HandOver::Done(Box::new(handed_over)), Some(0)));
    let (errand, mut wait) = World::new().errand();
    errand.has_arrived(Timestamp::now());
    assert_eq!(told(&mut wait), HandOver::Unknown, "another process handed it over");
}

#[test]
fn a_doubt_stays_whatever_comes_after_it() {
    for end in [HandOver::Canceled, HandOver::Stopping, HandOver::TooLate(Reason::Rate)] {
        let world = World::new();
        let (errand, mut wait) = world.errand();
        errand.begin();
        for is_in_doubt in [true, true, false] {
            errand.put_back(Reason::UnknownOutcome, is_in_doubt);
            errand.begin();
        }
        errand.tell(end, Timestamp::now());
        assert_eq!((told(&mut wait), world.left()), (HandOver::Unknown, Some(0)));
    }
}

#[test]
fn an_attempt_forgets_what_its_message_waited_for_before() {
    let world = World::new();
    let (errand, mut wait) = world.errand();
    errand.put_back(Reason::Pair, false);
    errand.begin();
    errand.put_back(Reason::Retry, false);
    errand.expire(|| Reason::Turn, Timestamp::now());
    assert_eq!(told(&mut wait), HandOver::TooLate(Reason::Retry));
}

#[test]
fn the_end_of_the_engine_tells_everybody_who_still_waits() {
    let world = World::new();
    let (waiting, mut first) = world.errand();
    let (begun, mut second) = world.errand();
    for (errand, id) in [(&waiting, 1), (&begun, 2)] {
        errand.accept(Uuid::from_u128(id));
    }
    begun.begin();
    world.errands.end(Timestamp::now());
    assert_eq!((told(&mut first), told(&mut second)), (HandOver::Stopping, HandOver::Unknown));
}

#[test]
fn an_errand_keeps_the_send_that_it_was_accepted_under() {
    let world = World::new();
    let (errand, wait) = world.errand();
    let [first, second] = [1, 2].map(Uuid::from_u128);
    errand.accept(first);
    errand.accept(second);
    assert!(world.errands.find(first).is_some() && world.errands.find(second).is_none());
    drop(wait);
    assert!(world.errands.of(Uuid::nil()).is_empty());
}
