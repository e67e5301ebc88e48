//! Marking templates, case by case.

use super::super::tests::{BOUNDS, NOW, number, order, work, write_marks};
use super::*;
use crate::channel::machine::work::{Source, Ticket};
use domain::send::TemplateUse;

const TEMPLATE: Option<TemplateUse> = Some(TemplateUse { id: 1, is_marketing: false });

fn add(lanes: &mut Lanes, id: u128, recipients: u64, template: Option<TemplateUse>) {
    let mut work = work(id, recipients);
    work.template = template;
    lanes.add(work);
}

#[test]
fn templates_are_marked_while_there_are_slots_and_blocked_when_none_is_left() {
    let mut lanes = Lanes::new(BOUNDS);
    for (id, recipients, template) in [(1, 50, TEMPLATE), (2, 50, None), (7, 1, TEMPLATE), (8, 1, None)] {
        add(&mut lanes, id, recipients, template);
    }
    let mut slots = 3;
    let passed = lanes.reserve_ahead(false, |_| {
        slots -= 1;
        slots >= 0
    });
    assert_eq!((passed.is_blocked, lanes.marked_people().count()), (false, 1 + 2));
    let marks = lanes.marks();
    lanes.written(&marks);
    assert_eq!(order(&mut lanes, 9), [7, 8, 1, 2, 1, 2, 2, 2]);
    assert!(lanes.reserve_ahead(true, |_| false).is_blocked, "the first send finds no slot");

    add(&mut lanes, 10, 1, None);
    assert!(lanes.reserve_ahead(true, |_| false).is_blocked);
    assert!(!lanes.reserve_ahead(true, |_| true).is_blocked);
    assert_eq!(lanes.marked_people().count(), 4);
    lanes.take_back_templates();
    assert_eq!(lanes.marked_people().count(), 0);
    assert!(!lanes.reserve_ahead(true, |_| true).is_blocked, "slots are asked for again");
    assert_eq!(lanes.marked_people().count(), 4);
}

#[test]
fn sends_that_find_no_slot_are_passed_over_and_cost_no_write() {
    const WAITING: u128 = 1_000;
    let mut lanes = Lanes::new(BOUNDS);
    let mut add = |id: u128, who: u64, template| {
        let mut work = work(id, 1);
        (work.source, work.template) = (Source::One(number(who)), template);
        lanes.add(work);
    };
    (0..WAITING).for_each(|id| add(id, 7, TEMPLATE));
    add(WAITING, 8, TEMPLATE);
    add(WAITING + 1, 7, None);
    let passed = lanes.reserve_ahead(false, |who| who == number(8));
    let new: Set<_> = (0..WAITING).map(Uuid::from_u128).collect();
    assert_eq!((passed.is_blocked, &passed.sends, passed.people.len()), (true, &new, 0));
    lanes.send_back(&passed.sends);
    assert_eq!((lanes.works().count(), lanes.marks().len()), (2, 2), "the others are gone at once");
    assert!(!lanes.reserve_ahead(false, |who| who == number(8)).is_blocked);
}

#[test]
fn people_without_a_slot_are_passed_over_up_to_the_next_who_has_one() {
    let mut lanes = Lanes::new(BOUNDS);
    let mut many = work(1, 20);
    many.template = TEMPLATE;
    lanes.add(many);
    let counts = |who| who == number(0) || who == number(6);
    let passed = lanes.reserve_ahead(false, counts);
    assert!(!passed.is_blocked, "the first recipient has a slot");
    let first = lanes.marks();
    lanes.written(&first);
    let ticket = lanes.take().unwrap();
    assert_eq!((ticket.ordinal, lanes.take()), (0, None));
    let passed = lanes.reserve_ahead(false, counts);
    let people: Vec<_> = passed.people.iter().map(|(_, _, person)| person.ordinal).collect();
    assert_eq!((passed.is_blocked, passed.sends.len(), people), (true, 0, (1..6).collect()));
    lanes.passed_until(Uuid::from_u128(1), NOW);
    let mark = lanes.marks();
    assert_eq!(mark[0].progress.high_water, 6, "their rows are written with the mark");
    lanes.written(&mark);
    assert_eq!(lanes.take(), None, "none of them is handed out");
    assert!(lanes.unparks(NOW, false).is_empty(), "nor read again while no template may go");
    lanes.reserve_ahead(false, counts);
    let mark = lanes.marks();
    lanes.written(&mark);
    assert_eq!(lanes.take().unwrap().ordinal, 6);
    // No later recipient has a slot: the send stays while its messages are under way, and leaves then.
    assert!(lanes.reserve_ahead(false, counts).sends.is_empty());
    for ordinal in [0, 6] {
        lanes.settle(Ticket { ordinal, ..ticket }, true);
    }
    let passed = lanes.reserve_ahead(false, counts);
    assert_eq!((passed.people.len(), passed.sends), (0, Set::from_iter([Uuid::from_u128(1)])));
    assert_eq!(lanes.unparks(NOW, true), [Uuid::from_u128(1)]);
}

#[test]
fn other_messages_do_not_wait_for_the_marks_of_templates() {
    let mut lanes = Lanes::new(BOUNDS);
    for (id, template) in [(1, TEMPLATE), (2, None), (3, TEMPLATE), (4, None)] {
        add(&mut lanes, id, 1, template);
    }
    write_marks(&mut lanes);
    lanes.take_back_templates();
    assert_eq!(order(&mut lanes, 4), [2, 4], "they are still marked");
    for (id, recipients, template) in [(5, 1, None), (6, 20, TEMPLATE), (7, 20, None)] {
        add(&mut lanes, id, recipients, template);
    }
    lanes.reserve_others_ahead(false);
    let marks = lanes.marks();
    lanes.written(&marks);
    assert_eq!(lanes.marked_people().count(), 0);
    assert_eq!(order(&mut lanes, 3), [5, 7, 7], "though templates may not go yet");
    write_marks(&mut lanes);
    assert_eq!(order(&mut lanes, 3), [1, 3, 6], "now templates may go");
}
