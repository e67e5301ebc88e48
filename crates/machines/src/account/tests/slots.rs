//! Which channel gets a slot of the quota, which is told that one is free, and who counts.

use super::*;

/// The channel writes to these people now, and returns their grants.
fn write_to(world: &mut World, by: u128, quota: u32, people: Range<u64>) -> Granted {
    let sent = people.clone().map(|nth| (person(nth), world.at.wall)).collect();
    world.ask(by, quota, Ask { sent, returned: people.map(person).collect(), ..nothing() })
}

#[test]
fn a_channel_without_a_slot_is_told_of_room_however_many_are_given_back_at_once() {
    for given_back in 1..4 {
        let mut world = World::counting(2);
        assert_eq!((world.grant(1, 3, 0..3), world.grant(2, 3, 10..11)), (3, 0));
        assert_eq!(world.told(), [(1, AccountUpdate::Recalled)]);
        world.ask(1, 3, Ask { returned: (0..given_back).map(person).collect(), ..nothing() });
        assert_eq!(world.told(), [(2, AccountUpdate::HasRoom)]);
        assert_eq!(world.grant(2, 3, 10..14), given_back);
    }
}

#[test]
fn a_channel_without_a_slot_is_told_of_room_when_the_holder_of_one_or_of_several_leaves() {
    for held in 1..4 {
        let mut world = World::counting(2);
        let quota = u32::try_from(held).unwrap();
        assert_eq!((world.grant(1, quota, 0..held), world.grant(2, quota, 10..11)), (held, 0));
        world.told();
        world.feed(Input::Left { channel: channel(1) });
        assert_eq!(world.told(), [(2, AccountUpdate::HasRoom)]);
    }
}

#[test]
fn a_channel_that_leaves_without_unused_slots_tells_nobody_of_room() {
    let mut world = World::counting(3);
    assert_eq!((world.grant(1, 2, 0..1), world.grant(3, 2, 5..6), world.grant(2, 2, 10..11)), (1, 1, 0));
    world.told();
    let sent = vec![(person(0), world.at.wall)];
    world.ask(1, 2, Ask { sent, ..nothing() });
    world.feed(Input::Left { channel: channel(1) });
    assert_eq!((world.told(), world.used()), (vec![], 2), "the recipient still counts");
}

#[test]
fn a_quota_used_up_by_messages_recalls_nothing_from_channels_with_a_larger_one() {
    let mut world = World::counting(2);
    assert_eq!(world.grant(1, 2, 0..2), 2);
    write_to(&mut world, 1, 2, 0..2);
    assert_eq!(world.grant(2, 5, 10..11), 1);
    assert_eq!((world.grant(1, 2, 20..21), world.told()), (0, vec![]), "there would be no slot for it");
    world.ask(2, 5, Ask { returned: vec![person(10)], ..nothing() });
    assert!(world.told().is_empty());
}

#[test]
fn a_person_whom_two_channels_hold_takes_a_slot_until_both_gave_them_back() {
    let mut world = World::counting(3);
    assert_eq!((world.grant(1, 1, 0..1), world.grant(2, 1, 0..1), world.grant(3, 1, 5..6)), (1, 1, 0));
    assert_eq!(world.told(), [(1, AccountUpdate::Recalled), (2, AccountUpdate::Recalled)]);
    world.ask(1, 1, Ask { returned: vec![person(0)], ..nothing() });
    assert_eq!((world.told(), world.used()), (vec![], 1));
    world.ask(1, 1, Ask { returned: vec![person(0)], ..nothing() });
    assert_eq!((world.told(), world.used()), (vec![], 1), "it does not hold them any more");
    world.ask(2, 1, Ask { returned: vec![person(0)], ..nothing() });
    assert_eq!((world.told(), world.used()), (vec![(3, AccountUpdate::HasRoom)], 0));
}

#[test]
fn a_person_asked_for_again_takes_no_second_slot() {
    let mut world = World::counting(2);
    assert_eq!((world.grant(1, 2, 0..1), world.grant(1, 2, 0..2), world.used()), (1, 2, 2));
    world.ask(1, 2, Ask { returned: vec![person(0)], ..nothing() });
    assert_eq!((world.used(), world.grant(2, 2, 5..7)), (1, 1));
}

#[test]
fn a_channel_whose_own_messages_void_its_grants_is_not_told_to_give_them_back() {
    let mut world = World::counting(2);
    assert_eq!((world.grant(1, 3, 0..2), world.grant(2, 9, 10..11)), (2, 1));
    let sent = vec![(person(50), world.at.wall), (person(51), world.at.wall)];
    world.ask(1, 3, Ask { sent, ..nothing() });
    assert_eq!((world.published.voids, world.told()), (1, vec![]));
}

#[test]
fn grants_stay_good_while_exactly_as_many_count_as_the_quota_allows() {
    let mut world = World::counting(2);
    assert_eq!((world.grant(1, 3, 0..2), world.grant(2, 9, 10..11), world.published.voids), (2, 1, 0));
    write_to(&mut world, 2, 9, 10..11);
    assert_eq!((world.used(), world.published.voids), (3, 0));
    world.feed(Input::Counted { recipient: person(10) });
    assert_eq!(world.published.voids, 0, "the recipient counts already");
    world.feed(Input::Counted { recipient: person(20) });
    assert_eq!(
        (world.used(), world.published.voids, world.told()),
        (4, 1, vec![(1, AccountUpdate::Recalled)])
    );
}

#[test]
fn a_channel_that_left_is_not_told_that_the_earlier_recipients_are_known() {
    let mut world = World::new();
    for number in 1..=3 {
        world.feed(Input::Joined);
        world.feed(Input::PeopleWanted { channel: channel(number) });
        world.feed(Input::PeopleWanted { channel: channel(number) });
    }
    let span = world.span();
    world.feed(Input::Left { channel: channel(2) });
    world.feed(Input::PeopleRead { span, result: Ok(()) });
    assert_eq!(world.told(), [1, 3].map(|number| (number, AccountUpdate::PeopleKnown)), "each once");
}

#[test]
fn an_account_whose_channels_have_no_quota_counts_nobody() {
    let mut world = World::new();
    world.feed(Input::Joined);
    let answer = world.feed(Input::Counted { recipient: person(0) });
    assert!(matches!(answer, Some(Answer::Counted(Reserved::Uncounted))), "{answer:?}");
    let sent = vec![(person(1), world.at.wall), (person(2), world.at.wall.plus(DAY))];
    world.feed(Input::Asked(Ask { sent, ..nothing() }));
    world.feed(Input::Released { recipient: person(1), at: world.at.wall });
    assert_eq!((world.published.is_counting, world.used()), (false, 0));
    world.feed(Input::PeopleWanted { channel: channel(1) });
    let answer = world.feed(Input::Counted { recipient: person(0) });
    assert!(matches!(answer, Some(Answer::Counted(Reserved::New { .. }))), "{answer:?}");
    assert_eq!((world.published.is_counting, world.used()), (true, 1), "while the store is still being read");
}

#[test]
fn a_message_after_the_recipient_s_day_counts_again_and_gives_its_slot_back_when_it_is_refused() {
    let mut world = World::counting(1);
    assert_eq!(world.grant(1, 1, 0..1), 1);
    assert!(write_to(&mut world, 1, 1, 0..1).has_arrivals);
    world.pass(DAY - SECOND);
    assert_eq!(world.grant(1, 1, 0..1), 1);
    world.pass(SECOND);
    let at = world.at.wall;
    assert!(write_to(&mut world, 1, 1, 0..1).has_arrivals, "a person counts who did not before");
    assert_eq!(world.used(), 1);
    world.feed(Input::Released { recipient: person(0), at });
    assert_eq!((world.used(), world.grant(1, 1, 1..2)), (0, 1));
}

#[test]
fn a_further_message_to_a_recipient_brings_nobody_new_and_counts_a_day_from_itself() {
    let mut world = World::counting(1);
    assert_eq!(world.grant(1, 1, 0..1), 1);
    write_to(&mut world, 1, 1, 0..1);
    world.pass(DAY / 2);
    assert!(!write_to(&mut world, 1, 1, 0..1).has_arrivals);
    world.pass(DAY / 2);
    assert_eq!((world.used(), world.grant(1, 1, 1..2)), (1, 0));
    world.pass(DAY / 2 + SECOND);
    assert_eq!((world.used(), world.grant(1, 1, 1..2)), (0, 1));
}

#[test]
fn while_the_store_is_read_nobody_is_granted_and_the_channel_is_told_why() {
    let mut world = World::new();
    world.feed(Input::Joined);
    world.feed(Input::PeopleWanted { channel: channel(1) });
    let granted = world.ask(1, 9, Ask { wanted: vec![person(0)], ..nothing() });
    assert_eq!((granted.is_known, granted.refused), (false, vec![person(0)]));
    let span = world.span();
    world.feed(Input::PeopleRead { span, result: Ok(()) });
    let granted = world.ask(1, 9, Ask { wanted: vec![person(0)], ..nothing() });
    assert_eq!((granted.is_known, granted.refused, granted.has_arrivals), (true, vec![], false));
    // A page that arrives after the end of the read is ignored.
    let late = WrittenTo { recipient: person(5), at: world.at.wall, is_certain: true };
    world.feed(Input::PeopleFound(vec![late]));
    assert_eq!(world.used(), 1);
}

#[test]
fn the_people_of_an_account_are_dropped_with_its_last_channel_even_if_the_account_stays() {
    let mut world = World::counting(1);
    assert_eq!(world.grant(1, 2, 0..1), 1);
    write_to(&mut world, 1, 2, 0..1);
    world.feed(Input::TemplatesWanted { company: COMPANY, after: Duration::ZERO });
    world.feed(Input::Left { channel: channel(1) });
    assert!(world.machine.is_used(world.at.monotonic), "a listing is requested");
    assert_eq!((world.published.is_counting, world.used()), (false, 0));
    // Another node wrote to a person meanwhile, which only the store knows.
    world.feed(Input::Joined);
    let answer = world.feed(Input::PeopleWanted { channel: channel(1) });
    assert!(matches!(answer, Some(Answer::IsKnown(false))), "{answer:?}");
    assert_eq!(world.grant(1, 2, 2..3), 0);
    let written_to = |nth| WrittenTo { recipient: person(nth), at: world.at.wall, is_certain: true };
    world.feed(Input::PeopleFound(vec![written_to(0), written_to(1)]));
    let span = world.span();
    world.feed(Input::PeopleRead { span, result: Ok(()) });
    assert_eq!((world.used(), world.grant(1, 2, 2..3), world.grant(1, 2, 1..2)), (2, 0, 1));
}
