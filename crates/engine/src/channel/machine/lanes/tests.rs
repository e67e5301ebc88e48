//! The order of work, case by case.

use std::time::{Duration, Instant};

use super::*;
use crate::channel::machine::ahead::Ahead;
use crate::channel::machine::rendered::Rendered;
use crate::channel::machine::settled::Settled;
use crate::channel::machine::work::{Beginning, Source};
use domain::channel::Kind;
use domain::content::{Content, Stored};
use domain::send::Progress;

pub(super) const NOW: Timestamp = Timestamp::from_millis(1_000);
pub(super) const BOUNDS: Bounds = Bounds { direct: 4, bulk: 2, deferred: 3, ahead: 8 };

pub(super) fn number(value: u64) -> PhoneNumber {
    PhoneNumber::from_u64(1_000_000 + value).unwrap()
}

pub(super) fn work(id: u128, recipients: u64) -> Work {
    let source = if recipients == 1 {
        Source::One(number(0))
    } else {
        Source::Blocks { first: 0, numbers: (0..recipients).map(number).collect(), loading: None }
    };
    let content = Content::Text { body: "hi".to_owned(), preview_url: None };
    let rendered = Rendered::new(
        Kind::BusinessAccount,
        &Stored {
            content: &content,
            group: None,
            key: None,
            quotes: None,
            sender: None,
            confirms: false,
            keeps_turn: false,
            values: false,
        },
    );
    Work::new(Beginning {
        id: Uuid::from_u128(id),
        company_id: Uuid::nil(),
        rendered,
        confirms: false,
        recipients,
        source,
        template: None,
        expires_at: None,
        progress: Progress::default(),
        settled: Settled::new(0, []),
    })
}

fn lanes(works: impl IntoIterator<Item = Work>) -> Lanes {
    let mut lanes = Lanes::new(BOUNDS);
    for work in works {
        lanes.add(work);
    }
    write_marks(&mut lanes);
    lanes
}

pub(super) fn write_marks(lanes: &mut Lanes) -> Vec<Uuid> {
    lanes.reserve_ahead(false, |_| true);
    let marks = lanes.marks();
    lanes.written(&marks)
}

pub(super) fn order(lanes: &mut Lanes, count: usize) -> Vec<u128> {
    (0..count).filter_map(|_| lanes.take()).map(|ticket| ticket.send_id.as_u128()).collect()
}

#[test]
fn single_sends_go_before_bulk_sends_which_take_turns() {
    let mut lanes = lanes([work(1, 3), work(2, 3), work(7, 1), work(8, 1)]);
    assert_eq!(order(&mut lanes, 9), [7, 8, 1, 2, 1, 2, 1, 2]);
}

#[test]
fn a_due_retry_goes_before_new_messages_of_its_size_and_never_early() {
    let (now, later) = (Instant::now(), Instant::now() + Duration::from_secs(1));
    let mut lanes = lanes([work(1, 3), work(7, 1), work(8, 1)]);
    let (single, _) = (lanes.take().unwrap(), lanes.take().unwrap());
    let bulk = lanes.take().unwrap();
    assert!(lanes.defer(single, later, true) && lanes.defer(bulk, later, true));
    assert_eq!((lanes.due(Size::Direct, now), lanes.due(Size::Bulk, now)), (None, None));
    assert_eq!(order(&mut lanes, 1), [1]);
    for size in [Size::Bulk, Size::Direct] {
        let due = lanes.due(size, later).unwrap();
        lanes.try_again(due);
    }
    lanes.add(work(9, 1));
    write_marks(&mut lanes);
    let again: Vec<_> =
        (0..4).filter_map(|_| lanes.take()).map(|it| (it.send_id.as_u128(), it.ordinal)).collect();
    assert_eq!(again, [(7, 0), (9, 0), (1, 0), (1, 2)]);
}

#[test]
fn trouble_with_bulk_sends_holds_up_no_single_one() {
    let later = Instant::now() + Duration::from_secs(1);
    let mut lanes = lanes([work(1, 8)]);
    for _ in 0..BOUNDS.deferred {
        let ticket = lanes.take().unwrap();
        assert!(lanes.defer(ticket, later, true));
    }
    assert!(lanes.is_troubled(Size::Bulk) && !lanes.is_troubled(Size::Direct) && !lanes.is_ready());
    lanes.add(work(7, 1));
    write_marks(&mut lanes);
    assert!(lanes.is_ready());
    assert_eq!(order(&mut lanes, 2), [7]);
}

#[test]
fn too_many_messages_waiting_for_trouble_to_pass_stop_new_ones_and_others_do_not() {
    let later = Instant::now() + Duration::from_secs(1);
    for (is_troubled, stopped) in [(true, true), (false, false)] {
        let mut lanes = lanes([work(1, 8)]);
        for _ in 0..BOUNDS.deferred {
            let ticket = lanes.take().unwrap();
            assert!(lanes.defer(ticket, later, is_troubled));
        }
        assert_eq!((lanes.is_ready(), lanes.is_troubled(Size::Bulk)), (!stopped, stopped));
        let due = lanes.due(Size::Bulk, later).unwrap();
        lanes.try_again(due);
        assert!(lanes.is_ready(), "a due retry may go");
    }
}

#[test]
fn messages_that_wait_without_trouble_are_left_to_the_store_beyond_a_bound() {
    let later = Instant::now() + Duration::from_secs(1);
    let mut lanes = lanes([work(1, 8)]);
    let kept = (0..8).filter(|_| lanes.take().is_some_and(|ticket| lanes.defer(ticket, later, false)));
    assert_eq!(kept.count(), 2 * BOUNDS.deferred);
}

#[test]
fn a_released_send_gives_everything_back_to_the_store() {
    let (now, wall) = (Instant::now(), Timestamp::from_millis(1_000_000));
    let mut lanes = lanes([work(1, 8), work(2, 8), work(7, 1)]);
    let tickets: Vec<_> = (0..5).filter_map(|_| lanes.take()).collect();
    let of = |send: u128| tickets.iter().filter(move |ticket| ticket.send_id.as_u128() == send);
    let (first, second) = (*of(1).next().unwrap(), *of(1).nth(1).unwrap());
    lanes.settle(first, false);
    assert!(lanes.defer(first, now + Duration::from_secs(5), false));
    lanes.try_again(second);
    let back = lanes.leave(Leave::Held, (now, wall), |work| work.id == Uuid::from_u128(1));
    assert_eq!(back, [second], "it was about to go and has to be put back");
    lanes.settle(second, false);
    lanes.park(second, wall);
    assert!(order(&mut lanes, 20).iter().all(|id| *id == 2));
    assert_eq!(lanes.due(Size::Bulk, now + Duration::from_secs(9)), None);
    let gone = write_marks(&mut lanes);
    assert_eq!(gone, [Uuid::from_u128(1)]);
    assert_eq!(lanes.room(Size::Bulk), Some(BOUNDS.bulk - 1), "the store is read again for the send");
}

#[test]
fn a_receipt_ends_the_wait_of_a_message() {
    let now = Instant::now();
    let mut lanes = lanes([work(7, 1)]);
    let ticket = lanes.take().unwrap();
    lanes.settle(ticket, false);
    assert!(lanes.defer(ticket, now, false));
    assert!(lanes.heard(ticket.key()));
    assert!(!lanes.heard(ticket.key()));
    assert_eq!(lanes.due(Size::Direct, now), None);
    assert_eq!(write_marks(&mut lanes), [ticket.send_id]);
}

#[test]
fn a_send_expires_at_its_moment_and_not_before() {
    let at = Timestamp::from_millis;
    let mut expiring = work(1, 3);
    expiring.expires_at = Some(at(500));
    let mut lanes = lanes([expiring, work(2, 3)]);
    assert!(lanes.expired(at(499)).is_empty());
    assert_eq!(lanes.expired(at(500)), [Uuid::from_u128(1)]);
    assert_eq!(lanes.next_expiry(), None);
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
    let taken: Vec<_> = (0..2).filter_map(|_| lanes.take()).collect();
    assert!(!lanes.admits(Size::Direct), "older ones wait in the store");
    assert_eq!(lanes.room(Size::Direct), None, "sends in flight take room too");
    taken.into_iter().for_each(|ticket| lanes.settle(ticket, true));
    write_marks(&mut lanes);
    assert_eq!(lanes.room(Size::Direct), Some(2));
}

#[test]
fn a_finished_send_is_gone_once_its_last_mark_is_durable() {
    let mut lanes = lanes([work(7, 1)]);
    let ticket = lanes.take().unwrap();
    lanes.settle(ticket, true);
    assert!(lanes.holds(ticket.send_id));
    assert_eq!(write_marks(&mut lanes), [ticket.send_id]);
    assert!(!lanes.holds(ticket.send_id));
}

#[test]
fn a_bulk_send_that_waits_for_its_recipients_lets_others_pass() {
    let mut lanes = lanes([work(1, 3)]);
    let mut starved = work(2, 3);
    starved.source = Source::Blocks { first: 0, numbers: Vec::new(), loading: None };
    lanes.add(starved);
    write_marks(&mut lanes);
    assert_eq!(order(&mut lanes, 4), [1, 1, 1]);
    let wanted = (Uuid::from_u128(2), 0);
    assert_eq!(lanes.loads(), [wanted]);
    lanes.loaded(wanted.0, 0, &[number(5), number(6), number(7)]);
    assert_eq!(order(&mut lanes, 4), [2, 2, 2]);
}

#[test]
fn a_send_that_was_left_to_the_store_during_a_read_causes_another_read() {
    let mut lanes = lanes([]);
    lanes.look(Size::Direct);
    assert!(!lanes.admits(Size::Direct), "it came after the read began");
    lanes.caught_up(Size::Direct);
    assert_eq!(lanes.room(Size::Direct), Some(BOUNDS.direct));
    lanes.look(Size::Direct);
    lanes.caught_up(Size::Direct);
    assert_eq!(lanes.room(Size::Direct), None);
}

#[test]
fn only_the_messages_that_go_next_are_reserved() {
    let bounds = Bounds { direct: 100, ahead: 4, ..BOUNDS };
    let mut lanes = Lanes::new(bounds);
    for id in 0..50 {
        lanes.add(work(id, 1));
    }
    lanes.add(work(100, 50));
    lanes.add(work(101, 50));
    lanes.reserve_ahead(false, |_| true);
    let reserved: u64 = lanes.marks().iter().map(|mark| mark.progress.high_water).sum();
    assert_eq!(reserved, 4 + 2 + 2);
    lanes.reserve_ahead(false, |_| true);
    assert!(!lanes.has_marks(), "once");
}

#[test]
fn a_send_that_is_gone_from_the_store_is_dropped() {
    let mut lanes = lanes([work(1, 3), work(7, 1), work(8, 1)]);
    lanes.forget(&[Uuid::from_u128(1), Uuid::from_u128(7)]);
    assert_eq!(order(&mut lanes, 4), [8]);
}

#[test]
fn bulk_sends_progress_equally_whatever_their_marks_and_recipients_wait_for() {
    const SENDS: u128 = 10;
    const RECIPIENTS: u64 = 4_000;
    const BLOCK: u64 = 500;
    let bounds = Bounds { bulk: 16, ahead: 256, ..BOUNDS };
    let mut lanes = Lanes::new(bounds);
    for id in 0..SENDS {
        let mut empty = work(id, RECIPIENTS);
        empty.source = Source::Blocks { first: 0, numbers: Vec::new(), loading: None };
        lanes.add(empty);
    }
    let mut taken = vec![0_u64; SENDS as usize];
    let mut on_their_way = std::collections::VecDeque::new();
    for round in 0..400 {
        on_their_way.extend(lanes.loads());
        // One block of recipients is read at a time, and marks are written every other round.
        if let Some((send, from)) = on_their_way.pop_front() {
            let numbers: Vec<_> = (from..(from + BLOCK).min(RECIPIENTS)).map(number).collect();
            lanes.loaded(send, from, &numbers);
        }
        if round % 2 == 0 {
            write_marks(&mut lanes);
        }
        for id in order(&mut lanes, 64) {
            taken[usize::try_from(id).unwrap()] += 1;
        }
        let (least, most) = (*taken.iter().min().unwrap(), *taken.iter().max().unwrap());
        if taken.iter().sum::<u64>() > SENDS as u64 * RECIPIENTS / 2 {
            assert!(least as f64 >= 0.9 * most as f64, "{taken:?}");
            return;
        }
    }
    panic!("the sends did not progress: {taken:?}");
}

/// Runs one send at 1,000 messages a second. A commit takes five milliseconds, and one in ten seconds takes `stall`.
/// Returns the number of milliseconds without a message in each ten seconds.
fn idle_with_a_disk_that_stalls(in_flight: usize, stall: Duration) -> Vec<u64> {
    let tier = "[t]\nkind = \"business_account\"\nmessages_per_second = \"1000/s\"\n";
    let tier = domain::tier::parse(tier).unwrap().remove(0);
    let start = Instant::now();
    let mut ahead = Ahead::new(&tier, in_flight, start);
    let mut lanes = Lanes::new(Bounds { ahead: ahead.messages(start), ..BOUNDS });
    lanes.add(work(1, 100_000));
    let (mut idle, mut commit) = (vec![0; 4], None::<(Instant, Instant, Vec<Mark>)>);
    for milli in 0..40_000 {
        let now = start + Duration::from_millis(milli);
        if let Some((_, begun, marks)) = commit.take_if(|(end, ..)| *end <= now) {
            lanes.written(&marks);
            ahead.took(now - begun, now);
            lanes.set_ahead(ahead.messages(now));
        }
        match if lanes.is_ready() { lanes.take() } else { None } {
            Some(ticket) => lanes.settle(ticket, true),
            None => idle[milli as usize / 10_000] += 1,
        }
        if commit.is_none() {
            lanes.reserve_ahead(lanes.has_marks(), |_| true);
            let took = if milli % 10_000 == 5_000 { stall } else { Duration::from_millis(5) };
            commit = Some((now + took, now, lanes.marks()));
        }
    }
    idle
}

#[test]
fn the_pace_does_not_wait_for_a_disk_that_stalls_again_and_again() {
    let idle = idle_with_a_disk_that_stalls(4_096, Duration::from_secs(1));
    assert!(idle[0] > 400, "the first stall is not foreseen: {idle:?}");
    assert_eq!(idle[1..], [0, 0, 0]);
    let bounded = idle_with_a_disk_that_stalls(1_024, Duration::from_secs(1));
    assert!(bounded[1..].iter().all(|idle| *idle < 50), "{bounded:?}");
}
