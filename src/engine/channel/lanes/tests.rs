//! The order of work, case by case.

use std::time::Duration;

use super::*;
use crate::connector::cloud_api::Rendered;
use crate::domain::content::Content;
use crate::engine::channel::work::Source;

const BOUNDS: Bounds = Bounds { direct: 4, bulk: 2, deferred: 3, ahead: 8 };

fn number(value: u64) -> PhoneNumber {
    PhoneNumber::from_u64(1_000_000 + value).unwrap()
}

fn work(id: u128, recipients: u64) -> Work {
    let source = if recipients == 1 {
        Source::One(number(0))
    } else {
        Source::Blocks { first: 0, numbers: (0..recipients).map(number).collect(), loading: false }
    };
    let rendered = Rendered::new(&Content::Text { body: "hi".to_owned() });
    Work::new(Uuid::from_u128(id), Uuid::nil(), rendered, recipients, source, Progress::default(), [])
}

fn lanes(works: impl IntoIterator<Item = Work>) -> Lanes {
    let mut lanes = Lanes::new(BOUNDS);
    for work in works {
        lanes.add(work);
    }
    write_marks(&mut lanes);
    lanes
}

fn write_marks(lanes: &mut Lanes) -> Vec<Uuid> {
    lanes.reserve_ahead();
    let marks = lanes.marks();
    lanes.written(&marks)
}

fn order(lanes: &mut Lanes, now: Instant, count: usize) -> Vec<u128> {
    (0..count).filter_map(|_| lanes.take(now)).map(|ticket| ticket.send_id.as_u128()).collect()
}

#[test]
fn single_sends_go_before_bulk_sends_which_take_turns() {
    let mut lanes = lanes([work(1, 3), work(2, 3), work(7, 1), work(8, 1)]);
    assert_eq!(order(&mut lanes, Instant::now(), 9), [7, 8, 1, 2, 1, 2, 1, 2]);
}

#[test]
fn what_is_due_again_goes_first_and_not_before_it_is_due() {
    let now = Instant::now();
    let mut lanes = lanes([work(1, 3), work(7, 1)]);
    let ticket = lanes.take(now).unwrap();
    lanes.defer(ticket, now + Duration::from_secs(1));
    assert_eq!(order(&mut lanes, now, 1), [1]);
    assert_eq!(order(&mut lanes, now + Duration::from_secs(1), 2), [7, 1]);
}

#[test]
fn too_many_messages_waiting_to_be_tried_again_stop_new_ones() {
    let now = Instant::now();
    let mut lanes = lanes([work(1, 8)]);
    for _ in 0..BOUNDS.deferred {
        let ticket = lanes.take(now).unwrap();
        lanes.defer(ticket, now + Duration::from_secs(1));
    }
    assert!(!lanes.is_ready(now));
    assert_eq!(lanes.take(now), None);
    assert!(lanes.is_ready(now + Duration::from_secs(1)));
}

#[test]
fn a_full_lane_leaves_later_sends_to_the_store_until_it_was_read() {
    let mut lanes = lanes([]);
    assert!(!lanes.admits(Size::Direct), "the store was not read yet");
    lanes.look(Size::Direct);
    lanes.caught_up(Size::Direct);
    lanes.caught_up(Size::Bulk);
    for id in 0..4 {
        assert!(lanes.admits(Size::Direct));
        lanes.add(work(id, 1));
    }
    assert!(!lanes.admits(Size::Direct));
    assert!(lanes.admits(Size::Bulk), "the other lane has room");
    assert_eq!(lanes.room(Size::Direct), None);
    write_marks(&mut lanes);
    order(&mut lanes, Instant::now(), 2);
    assert!(!lanes.admits(Size::Direct), "older ones wait in the store");
    assert_eq!(lanes.room(Size::Direct), Some(2));
}

#[test]
fn a_finished_send_is_gone_once_its_last_mark_is_durable() {
    let mut lanes = lanes([work(7, 1)]);
    let ticket = lanes.take(Instant::now()).unwrap();
    lanes.settle(ticket, true);
    assert!(lanes.holds(ticket.send_id));
    assert_eq!(write_marks(&mut lanes), [ticket.send_id]);
    assert!(!lanes.holds(ticket.send_id));
}

#[test]
fn a_bulk_send_that_waits_for_its_recipients_lets_others_pass() {
    let mut lanes = lanes([work(1, 3)]);
    let mut starved = work(2, 3);
    starved.source = Source::Blocks { first: 0, numbers: Vec::new(), loading: false };
    lanes.add(starved);
    write_marks(&mut lanes);
    assert_eq!(order(&mut lanes, Instant::now(), 4), [1, 1, 1]);
    let wanted = (Uuid::from_u128(2), 0);
    assert_eq!(lanes.loads(), [wanted]);
    lanes.loaded(wanted.0, 0, &[number(5), number(6), number(7)]);
    assert_eq!(order(&mut lanes, Instant::now(), 4), [2, 2, 2]);
}

#[test]
fn a_send_that_was_left_to_the_store_during_a_look_makes_another_look() {
    let mut lanes = lanes([]);
    lanes.look(Size::Direct);
    assert!(!lanes.admits(Size::Direct), "it came after the look began");
    lanes.caught_up(Size::Direct);
    assert_eq!(lanes.room(Size::Direct), Some(BOUNDS.direct));
    lanes.look(Size::Direct);
    lanes.caught_up(Size::Direct);
    assert_eq!(lanes.room(Size::Direct), None);
}

#[test]
fn only_what_is_handed_out_next_is_reserved() {
    let bounds = Bounds { direct: 100, ahead: 4, ..BOUNDS };
    let mut lanes = Lanes::new(bounds);
    for id in 0..50 {
        lanes.add(work(id, 1));
    }
    lanes.add(work(100, 50));
    lanes.add(work(101, 50));
    lanes.reserve_ahead();
    let reserved: u64 = lanes.marks().iter().map(|mark| mark.progress.high_water).sum();
    assert_eq!(reserved, 4 + 2 + 2);
    lanes.reserve_ahead();
    assert!(!lanes.has_marks(), "once");
}

#[test]
fn a_send_that_is_gone_from_the_store_is_forgotten() {
    let mut lanes = lanes([work(1, 3), work(7, 1), work(8, 1)]);
    lanes.forget(&[Uuid::from_u128(1), Uuid::from_u128(7)]);
    assert_eq!(order(&mut lanes, Instant::now(), 4), [8]);
}
