//! Recipients who count already, of a bulk send that is here while one of its messages waits for a retry.

use super::*;

const SEND: u128 = 20;

impl World {
    /// A bulk send of eight. The outcome of its first message, to a person who counts, is unknown; the next recipient is
    /// new, and the last six are not read.
    fn with_a_stuck_send() -> Self {
        let mut world = Self::with_quota(2, &[5, 6]);
        world.accept_order(SEND, of_template(7), Recipients::Blocks(8));
        world.read_people(SEND, 0, &[5, 3]);
        world.go_on();
        assert_eq!(world.under_way(), [SEND]);
        world.answer(Reply::Uncertain(failure()));
        world.feed(Input::StatesRead { question: Question::WasHeard, result: Ok(Vec::new()) });
        world.flush();
        assert_eq!(world.machine.backlog().retry, 1, "{:?}", world.log);
        world
    }

    /// The last search.
    fn search(&self) -> &Counting {
        self.fetches.last().unwrap().counted.as_ref().unwrap()
    }

    /// The search of the send ends so.
    fn searched(&mut self, beyond: Beyond) {
        let searched = vec![(Uuid::from_u128(SEND), beyond)];
        let found = Fetched { all: false, searched, ..nothing() };
        self.feed(Input::Fetched { size: Size::Bulk, result: Ok(found) });
    }
}

#[test]
fn a_message_that_waits_for_a_retry_keeps_no_send_from_later_recipients_who_count() {
    let mut world = World::with_a_stuck_send();
    let look = world.fetches.last().unwrap();
    assert_eq!((look.size, look.room), (Size::Bulk, 0), "no other send is read");
    assert_eq!(world.search().unread(), [(Uuid::from_u128(SEND), 2..8)]);
    world.searched(Beyond::CountedAt(6));
    world.read_people(SEND, 2, &[4, 7]);
    world.flush();
    assert_eq!(world.count("read recipients 20 4"), 1, "{:?}", world.log);
    world.read_people(SEND, 4, &[8, 9, 6, 10]);
    world.go_on();
    assert_eq!(world.started_messages(), [(SEND, 6)]);
    assert_eq!(world.mark(SEND).progress, send::Progress { high_water: 7, settled: 6 });
    assert_eq!(world.machine.backlog().retry, 1, "the first message still waits");
}

#[test]
fn a_send_of_which_nobody_else_counts_is_searched_again_once_somebody_began_to_count() {
    let mut world = World::with_a_stuck_send();
    let (looks, arrivals) = (world.fetches.len(), world.search().arrivals());
    world.searched(Beyond::Nobody { arrivals });
    world.accept(30);
    world.go_on();
    assert_eq!((world.under_way(), world.fetches.len()), (vec![30], looks), "nothing is read for that");
    let mut other = (**world.machine.channel()).clone();
    other.id = Uuid::from_u128(9);
    let common = Arc::clone(&world.machine.common);
    let mut member = common.accounts.member(&other, world.at);
    member.count(person(9), Quota::Unlimited, world.at);
    assert!(world.feed(Input::Timer).contains(&"fetch"));
    assert_eq!(world.search().unread(), [(Uuid::from_u128(SEND), 2..8)]);
    assert!(world.search().arrivals() > arrivals && world.search().counts(person(9)));
}

#[test]
fn a_search_of_a_send_that_is_here_begins_no_sooner_than_another_one() {
    let mut world = World::with_a_stuck_send();
    let slow = Fetched { took: Some(100 * MILLI), all: false, ..nothing() };
    let looks = world.fetches.len();
    world.feed(Input::Fetched { size: Size::Bulk, result: Ok(slow) });
    world.pass(2 * SECOND - MILLI);
    world.feed(Input::Timer);
    assert_eq!(world.fetches.len(), looks, "searches take a twentieth of the time");
    world.pass(MILLI);
    world.store_is_empty();
    assert!(world.fetches[looks..].iter().any(|look| {
        let unread = look.counted.as_ref().map(Counting::unread);
        unread.is_some_and(|unread| unread.first().is_some_and(|(id, _)| id.as_u128() == SEND))
    }));
}

#[test]
fn a_send_that_was_searched_here_is_not_searched_once_more_in_the_store() {
    let mut world = World::with_a_stuck_send();
    let arrivals = world.search().arrivals();
    world.searched(Beyond::Nobody { arrivals });
    let looks = world.fetches.len();
    let key = Key { send_id: Uuid::from_u128(SEND), ordinal: 0 };
    world.feed(Input::Heard(vec![(key, State::Delivered)]));
    world.flush();
    assert_eq!((world.limits().active_sends, world.fetches.len()), (0, looks + 1), "{:?}", world.log);
    let search = world.search();
    assert!(search.unread().is_empty() && search.is_known_to_count_nobody(Uuid::from_u128(SEND)));
}
