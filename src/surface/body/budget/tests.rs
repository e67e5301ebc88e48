use uuid::Uuid;

use super::super::sender::Peer;
use super::*;

fn sender(number: u128) -> Sender {
    Sender::Company(Uuid::from_u128(number))
}

fn person(company: u128, user: u128) -> Sender {
    Sender::Person { company: Uuid::from_u128(company), user: Uuid::from_u128(user) }
}

fn visitor(last: u8) -> Sender {
    Sender::Visitor(Peer::new(Some([192, 0, 2, last].into())))
}

/// As many rooms of this size as the sender gets.
fn fill(budget: &Budget, sender: Sender, bytes: usize) -> Vec<Room> {
    std::iter::from_fn(|| budget.take(sender, bytes).ok()).collect()
}

#[test]
fn each_sender_may_hold_as_much_as_is_free_beside_it() {
    let budget = Budget::new(120);
    let (first, second, third) =
        (fill(&budget, sender(1), 10), fill(&budget, sender(2), 10), fill(&budget, sender(3), 10));
    assert_eq!((first.len(), second.len(), third.len()), (6, 3, 2));
    assert_eq!(budget.held(), 110);
    assert_eq!(budget.take(sender(1), 1).err(), Some(Fault::NoRoom), "the sender holds more than is free");
    assert!(budget.take(sender(4), 10).is_ok(), "a sender that holds nothing finds room");
    drop((first, second, third));
    assert_eq!(budget.held(), 0);
    assert_eq!(fill(&budget, sender(1), 10).len(), 6, "what was held is given back");
}

#[test]
fn a_room_grows_within_its_senders_share_and_nothing_takes_no_room() {
    let budget = Budget::new(100);
    let mut room = budget.take(sender(1), 0).unwrap();
    assert_eq!(budget.held(), 0);
    room.charge(40).unwrap();
    room.charge(10).unwrap();
    assert_eq!(room.charge(1), Err(Fault::TooMuch), "no body may take more than half");
    assert_eq!(budget.held(), 50);
    room.shrink_to(20);
    assert_eq!(budget.held(), 20);
    room.shrink_to(30);
    assert_eq!(budget.held(), 20);
    drop(room);
    assert_eq!(budget.held(), 0);
}

#[test]
fn webhooks_never_take_more_than_half() {
    let budget = Budget::new(120);
    let hook = |number| Sender::Hook(Uuid::from_u128(number), Peer::new(None));
    let rooms: Vec<_> = (0..1000).filter_map(|number| budget.take(hook(number % 100), 1).ok()).collect();
    assert_eq!((rooms.len(), budget.held()), (60, 60));
    assert!(budget.take(hook(1), 1).is_err());
    assert!(budget.take(sender(1), 60).is_ok());
    drop(rooms);
    assert_eq!(budget.held(), 0);
    assert!(budget.take(hook(1), 60).is_ok());
}

#[test]
fn programs_that_are_not_known_never_take_more_than_a_quarter() {
    let budget = Budget::new(120);
    let program = |last: u8| Sender::Program(Peer::new(Some([192, 0, 2, last].into())));
    let whole = budget.take(program(1), 30).unwrap();
    assert_eq!(budget.take(program(2), 1).err(), Some(Fault::NoRoom));
    assert_eq!(budget.take(program(1), 31).err(), Some(Fault::TooMuch));
    let hook = Sender::Hook(Uuid::from_u128(1), Peer::new(None));
    assert!(budget.take(hook, 60).is_ok(), "others have their shares");
    assert!(budget.take(sender(1), 60).is_ok());
    drop(whole);
    assert_eq!(budget.held(), 0);
    assert!(budget.take(program(2), 30).is_ok());
}

#[test]
fn a_person_leaves_room_for_colleagues_and_a_company_s_people_for_other_companies() {
    let budget = Budget::new(360);
    let viewer = fill(&budget, person(1, 1), 1);
    assert_eq!(viewer.len(), 120, "a third");
    let colleague = fill(&budget, person(1, 2), 1);
    assert!((30..=60).contains(&colleague.len()), "{}", colleague.len());
    let many: Vec<_> = (3..100).flat_map(|user| fill(&budget, person(1, user), 1)).collect();
    let together = viewer.len() + colleague.len() + many.len();
    assert!((170..=180).contains(&together), "{together}: all people of a company hold half of it");
    let others = fill(&budget, person(2, 1), 1);
    assert!(others.len() >= 50, "{}", others.len());
    assert!(fill(&budget, sender(1), 1).len() >= 40, "the company's programs have a share of their own");
    drop((viewer, colleague, many, others));
    assert_eq!(budget.held(), 0);
}

#[test]
fn visitors_have_memory_of_their_own() {
    let budget = Budget::new(100);
    let all: Vec<_> = (1..50).flat_map(|user| fill(&budget, person(user, user), 1)).collect();
    let programs: Vec<_> = (1..50).flat_map(|company| fill(&budget, sender(company), 1)).collect();
    assert!(all.len() + programs.len() > 95);
    let form = budget.take(visitor(1), 16 * 1024).unwrap();
    assert!(budget.held() > 16 * 1024);
    drop((all, programs, form));
    let visitors: Vec<_> = (1..200).flat_map(|last| fill_settled(&budget, last)).collect();
    assert!(budget.held() <= VISITORS);
    assert!(budget.take(sender(1), 50).is_ok(), "and they take nobody else's");
    drop(visitors);
    assert_eq!(budget.held(), 0);
}

/// Forms of a visitor that have arrived.
fn fill_settled(budget: &Budget, last: u8) -> Vec<Room> {
    let take = || {
        let mut room = budget.take(visitor(last), 16 * 1024).ok()?;
        room.settle().ok()?;
        Some(room)
    };
    std::iter::from_fn(take).collect()
}

#[tokio::test]
async fn the_visitors_form_that_arrives_slowest_makes_room_for_another() {
    let budget = Budget::new(100);
    // One network fills its share with forms that never arrive whole.
    let share = VISITORS / 16;
    let mut slow: Vec<_> = (0..16).map(|_| budget.take(visitor(1), share / 16).unwrap()).collect();
    assert_eq!(budget.held(), share);
    let mut honest = budget.take(visitor(1), 1000).unwrap();
    slow[0].made_room().await;
    assert_eq!(slow[0].charge(1), Err(Fault::NoRoom));
    assert_eq!(budget.held(), share - share / 16 + 1000, "the oldest one has made room");
    honest.settle().unwrap();
    // Many networks fill everything. Another one finds room, at the expense of the one that holds most.
    let mut others: Vec<_> = Vec::new();
    for last in 2..=100 {
        others.extend((0..4).filter_map(|_| budget.take(visitor(last), share / 4).ok()));
    }
    assert!(budget.held() <= VISITORS);
    let mut stranger = budget.take(visitor(200), 16 * 1024).unwrap();
    stranger.settle().unwrap();
    assert!(budget.held() <= VISITORS);
    drop((slow, honest, others, stranger));
    assert_eq!(budget.held(), 0, "what made room is not given back twice");
}

#[test]
fn forms_that_have_arrived_never_make_room() {
    let budget = Budget::new(100);
    let settled = fill_settled(&budget, 1);
    assert_eq!(settled.len() * 16 * 1024, VISITORS / 16);
    assert_eq!(budget.take(visitor(1), 1).err(), Some(Fault::NoRoom));
    assert!(budget.take(visitor(2), 1).is_ok());
}
