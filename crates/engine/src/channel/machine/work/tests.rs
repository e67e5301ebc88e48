//! One send, step by step.

use super::*;
use domain::channel::Kind;
use domain::content::{Content, Stored};

fn work(recipients: u64, progress: Progress) -> Work {
    let numbers = (0..recipients).filter_map(|n| PhoneNumber::from_u64(1_000_000 + n)).collect();
    let source = Source::Blocks { first: 0, numbers, loading: None };
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
        id: Uuid::nil(),
        company_id: Uuid::nil(),
        rendered,
        confirms: false,
        recipients,
        source,
        template: None,
        expires_at: None,
        progress,
        settled: Settled::new(progress.settled, []),
    })
}

#[test]
fn nothing_is_handed_out_before_its_mark_is_durable() {
    let mut work = work(10, Progress::default());
    assert_eq!(work.take(), None);
    assert!(work.request(3, false, |_| true).has_moved);
    assert_eq!(work.take(), None, "the mark is not durable yet");
    work.reserve(work.mark().progress);
    assert_eq!(std::iter::from_fn(|| work.take()).count(), 6);
    assert_eq!(work.mark().progress.high_water, 6);
}

#[test]
fn a_send_is_finished_when_its_last_outcome_is_in_whatever_the_order() {
    let mut work = work(3, Progress::default());
    work.request(3, false, |_| true);
    work.reserve(work.mark().progress);
    let tickets: Vec<_> = std::iter::from_fn(|| work.take()).collect();
    work.settle(tickets[2].ordinal, true);
    work.settle(tickets[0].ordinal, false);
    assert_eq!(work.mark().progress.settled, 1);
    work.settle(tickets[1].ordinal, true);
    assert!(!work.is_finished(), "one waits for a retry");
    work.settle(tickets[0].ordinal, true);
    assert_eq!(work.mark().progress, Progress { high_water: 3, settled: 3 });
    assert_eq!(work.mark().state, State::Finished);
}

#[test]
fn a_graceful_stop_takes_back_messages_that_were_not_handed_out() {
    let mut work = work(10, Progress::default());
    work.request(4, false, |_| true);
    work.reserve(work.mark().progress);
    work.take();
    assert!(work.release());
    assert_eq!(work.mark().progress.high_water, 1);
    assert_eq!(work.take(), None);
}

#[test]
fn the_next_recipients_are_read_before_the_last_are_used() {
    let mut work = work(4, Progress::default());
    work.recipients = 8;
    work.request(8, false, |_| true);
    work.reserve(work.mark().progress);
    assert_eq!(work.load(), None);
    work.take();
    work.take();
    assert_eq!(work.load(), Some(4));
    assert_eq!(work.load(), None, "once");
    let more: Vec<_> = (4..8).filter_map(|n| PhoneNumber::from_u64(1_000_000 + n)).collect();
    work.loaded(4, &more);
    // The same recipients are read twice when a send leaves memory and comes back.
    work.loaded(4, &more);
    let rest: Vec<_> = std::iter::from_fn(|| work.take())
        .filter_map(|ticket| ticket.recipient)
        .map(PhoneNumber::as_u64)
        .collect();
    assert_eq!(rest, (1_000_002..1_000_008).collect::<Vec<_>>());
}

fn at(millis: i64) -> Timestamp {
    Timestamp::from_millis(millis)
}

#[test]
fn a_send_of_which_only_waiting_messages_are_left_sleeps_until_the_first_is_due() {
    let mut work = work(2, Progress::default());
    work.request(2, false, |_| true);
    work.reserve(work.mark().progress);
    let (first, second) = (work.take().unwrap(), work.take().unwrap());
    work.settle(first.ordinal, false);
    work.park(at(90_000));
    assert!(!work.is_done_here(), "one is in flight");
    assert_eq!(work.mark().due_at, None);
    work.settle(second.ordinal, false);
    work.park(at(60_000));
    assert!(work.is_done_here());
    assert_eq!((work.mark().state, work.mark().due_at), (State::Active, Some(at(60_000))));
}

#[test]
fn a_send_with_new_messages_does_not_sleep_for_those_that_wait() {
    let mut work = work(3, Progress::default());
    work.request(3, false, |_| true);
    work.reserve(work.mark().progress);
    let ticket = work.take().unwrap();
    work.settle(ticket.ordinal, false);
    work.park(at(60_000));
    assert!(work.is_ready());
    assert!(!work.unpark(at(59_999)));
    assert!(work.unpark(at(60_000)));
    assert!(!work.unpark(at(60_000)), "once");
    work.resume();
    work.unparked(1, 0, at(90_000));
    assert_eq!((work.remaining(), work.parked_due()), (3, None));
}

#[test]
fn a_send_that_leaves_hands_out_no_message_and_takes_back_reserved_ones() {
    let mut work = work(10, Progress::default());
    work.request(4, false, |_| true);
    work.reserve(work.mark().progress);
    let ticket = work.take().unwrap();
    work.leave(Leave::Held);
    assert_eq!(work.take(), None);
    assert_eq!(work.request(4, true, |_| true), Requested::default());
    assert!(!work.is_done_here(), "one is in flight");
    work.settle(ticket.ordinal, true);
    assert!(work.is_done_here());
    assert_eq!(work.mark().progress, Progress { high_water: 1, settled: 1 });
    work.leave(Leave::Over(State::Expired));
    work.leave(Leave::Held);
    assert_eq!(work.mark().state, State::Expired);
}
