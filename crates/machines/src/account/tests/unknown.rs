//! People who are counted, or granted, and were perhaps not written to.

use super::*;

#[test]
fn a_person_granted_under_a_larger_quota_does_not_pass_a_smaller_one_that_is_used_up() {
    let mut world = World::counting(2);
    assert_eq!(world.grant(1, 2, 0..2), 2);
    let sent = vec![(person(0), world.at.wall), (person(1), world.at.wall)];
    world.ask(1, 2, Ask { sent, returned: vec![person(0), person(1)], ..nothing() });
    assert_eq!(world.grant(2, 6, 10..12), 2);
    assert_eq!(world.grant(1, 2, 10..11), 0, "a message to them would make three people of two");
    let sent = vec![(person(10), world.at.wall)];
    world.ask(2, 6, Ask { sent, ..nothing() });
    assert_eq!((world.grant(1, 2, 10..11), world.grant(1, 2, 11..12)), (1, 0), "person 10 was written to");
    assert_eq!(world.grant(1, 4, 11..12), 1, "and within the quota the two share a slot");
    assert_eq!(world.used(), 4);
}

#[test]
fn a_person_who_was_perhaps_not_written_to_does_not_pass_a_quota_that_is_exceeded() {
    let mut world = World::counting(1);
    let first = world.at.wall;
    let second = first.plus(SECOND);
    assert_eq!(world.grant(1, 2, 0..2), 2);
    let sent = vec![(person(0), first), (person(0), second), (person(1), first)];
    world.ask(1, 2, Ask { sent, returned: vec![person(0), person(1)], ..nothing() });
    for at in [first, second] {
        world.feed(Input::Released { recipient: person(0), at });
    }
    assert_eq!((world.used(), world.grant(1, 2, 0..1)), (2, 1), "both were refused, and the quota has room");
    world.ask(1, 2, Ask { returned: vec![person(0)], ..nothing() });
    world.feed(Input::Counted { recipient: person(2) });
    assert_eq!((world.used(), world.grant(1, 2, 0..1)), (3, 0), "others used it up");
    assert_eq!(world.grant(1, 2, 1..2), 1, "a person who was certainly written to passes");
}

#[test]
fn a_refused_message_of_a_channel_without_a_quota_leaves_its_recipient_uncertain() {
    let mut world = World::new();
    world.feed(Input::Joined);
    world.feed(Input::PeopleWanted { channel: channel(1) });
    let (span, at) = (world.span(), world.at.wall);
    world.feed(Input::PeopleFound(vec![WrittenTo { recipient: person(0), at, is_certain: false }]));
    world.feed(Input::PeopleRead { span, result: Ok(()) });
    let Some(Answer::Counted(Reserved::New { at })) = world.feed(Input::Counted { recipient: person(0) })
    else {
        panic!("it can be given back");
    };
    world.feed(Input::Released { recipient: person(0), at });
    world.feed(Input::Counted { recipient: person(1) });
    assert_eq!((world.used(), world.grant(1, 1, 0..1), world.grant(1, 1, 1..2)), (2, 0, 1));
}
