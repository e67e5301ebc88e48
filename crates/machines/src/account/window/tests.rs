//! The window under a simulated clock.

mod edges;

use proptest::prelude::*;

use super::*;

const HOUR: u64 = 60 * 60;

fn number(nth: u64) -> PhoneNumber {
    PhoneNumber::from_u64(5_511_900_000_000 + nth).unwrap()
}

/// This many hours after a fixed moment.
fn at(hours: u64) -> Timestamp {
    Timestamp::from_millis(1_700_000_000_000).plus(Duration::from_secs(hours * HOUR))
}

fn read() -> Window {
    Window { stage: Stage::Complete, ..Window::default() }
}

/// A recipient who was written to this many hours after a fixed moment, for certain or perhaps.
fn written(nth: u64, hours: u64, is_certain: bool) -> WrittenTo {
    WrittenTo { recipient: number(nth), at: at(hours), is_certain }
}

/// Counts a recipient that is not known yet.
fn new(window: &mut Window, nth: u64, quota: u32, now: Timestamp) {
    assert_eq!(window.reserve(number(nth), Quota::AtMost(quota), now), Reserved::New { at: now });
}

#[test]
fn a_recipient_counts_once_until_a_day_after_the_last_message() {
    let mut window = read();
    new(&mut window, 1, 2, at(0));
    new(&mut window, 2, 2, at(1));
    assert_eq!(window.reserve(number(1), Quota::AtMost(2), at(10)), Reserved::Known);
    assert_eq!(window.used(at(10)), 2);
    let full = window.reserve(number(3), Quota::AtMost(2), at(24));
    assert_eq!(full, Reserved::Full { until: at(25) }, "the second one goes first now");
    assert_eq!(window.next_slot(Quota::AtMost(2), at(24)), Some(at(25)));
    assert_eq!(window.next_slot(Quota::AtMost(2), at(25)), None);
    new(&mut window, 3, 2, at(25));
    assert_eq!(window.used(at(34)), 1);
    new(&mut window, 1, 2, at(34));
}

#[test]
fn recipients_of_a_clock_that_was_ahead_count_a_day_from_when_it_was_set_back() {
    let mut window = read();
    new(&mut window, 1, 3, at(1));
    for nth in 2..4 {
        new(&mut window, nth, 3, at(100 + nth));
    }
    window.clock_went_back(at(2));
    assert_eq!(window.used(at(2)), 2, "the first one's day was over by the clock that was ahead");
    assert_eq!(window.next_slot(Quota::AtMost(2), at(3)), Some(at(2 + 24)));
    new(&mut window, 4, 3, at(3));
    new(&mut window, 5, 3, at(2 + 24));
}

#[test]
fn a_quota_that_changes_is_in_force_at_once() {
    let mut window = read();
    for nth in 0..5 {
        new(&mut window, nth, 5, at(nth));
    }
    let full = Reserved::Full { until: at(24 + 3) };
    assert_eq!(window.reserve(number(9), Quota::AtMost(2), at(5)), full, "four must go first");
    assert_eq!(window.reserve(number(4), Quota::AtMost(2), at(5)), Reserved::Known);
    new(&mut window, 9, 6, at(6));
    assert_eq!(window.reserve(number(10), Quota::Unlimited, at(6)), Reserved::New { at: at(6) });
}

#[test]
fn a_refused_message_does_not_count_unless_another_one_went() {
    let mut window = read();
    new(&mut window, 1, 1, at(0));
    window.release(number(1), at(0));
    assert_eq!((window.used(at(0)), window.next_slot(Quota::AtMost(1), at(0))), (0, None));
    new(&mut window, 1, 1, at(0));
    assert_eq!(window.reserve(number(1), Quota::AtMost(1), at(0)), Reserved::Known);
    window.release(number(1), at(0));
    assert_eq!(window.used(at(0)), 1, "the second message of the same moment holds it");
    window.release(number(2), at(0));
    assert_eq!(window.order.len(), window.last.len());
}

#[test]
fn a_clock_that_goes_back_opens_nothing() {
    let mut window = read();
    new(&mut window, 1, 2, at(10));
    new(&mut window, 2, 2, at(10));
    assert!(matches!(window.reserve(number(3), Quota::AtMost(2), at(0)), Reserved::Full { .. }));
    assert_eq!(window.reserve(number(1), Quota::AtMost(2), at(0)), Reserved::Known);
    assert_eq!(window.used(at(0)), 2);
    assert_eq!(window.used(at(33)), 2, "a day from the later time");
    new(&mut window, 3, 2, at(34));
}

#[test]
fn no_slot_is_promised_before_the_earlier_messages_are_known() {
    let mut window = Window::default();
    assert_eq!(window.reserve(number(1), Quota::AtMost(2), at(20)), Reserved::Unread);
    assert_eq!(window.reserve(number(1), Quota::Unlimited, at(20)), Reserved::Uncounted);
    window.begin();
    assert_eq!(window.reserve(number(1), Quota::AtMost(2), at(0)), Reserved::Unread, "it is being read");
    assert_eq!(window.reserve(number(2), Quota::Unlimited, at(2)), Reserved::New { at: at(2) });
    window.restore([written(1, 1, true), written(2, 3, true), written(1, 0, true)]);
    window.complete();
    assert_eq!(window.reserve(number(3), Quota::AtMost(2), at(20)), Reserved::Full { until: at(25) });
    // A later read adds new people and removes nobody.
    assert_eq!(window.reserve(number(1), Quota::AtMost(2), at(20)), Reserved::Known);
    window.restore([written(1, 1, true), written(3, 4, true)]);
    assert_eq!(window.used(at(20)), 3);
    assert_eq!(window.next_slot(Quota::AtMost(1), at(20)), Some(at(44)));
}

#[test]
fn without_a_quota_no_more_is_kept_than_another_channel_of_the_account_may_need() {
    let mut window = read();
    for nth in 0..MOST_WITHOUT_QUOTA as u64 {
        assert_eq!(window.reserve(number(nth), Quota::Unlimited, at(0)), Reserved::New { at: at(0) });
    }
    assert_eq!(window.reserve(number(0), Quota::Unlimited, at(0)), Reserved::Known);
    let one_more = number(MOST_WITHOUT_QUOTA as u64);
    assert_eq!(window.reserve(one_more, Quota::Unlimited, at(0)), Reserved::Uncounted);
    assert_eq!(window.last.capacity(), 0);
    assert_eq!(window.reserve(one_more, Quota::AtMost(250), at(0)), Reserved::Unread);
}

#[test]
fn while_a_channel_with_a_quota_asks_as_many_are_counted_as_there_are() {
    let mut window = read();
    new(&mut window, 0, 250, at(0));
    for nth in 1..=MOST_WITHOUT_QUOTA as u64 {
        assert_eq!(window.reserve(number(nth), Quota::Unlimited, at(0)), Reserved::New { at: at(0) });
    }
    assert_eq!(window.next_slot(Quota::AtMost(250), at(1)), Some(at(24)));
    assert_eq!(
        window.reserve(number(1_000_000), Quota::Unlimited, at(2)),
        Reserved::Uncounted,
        "no channel with a quota asks"
    );
}

#[test]
fn a_person_who_was_perhaps_written_to_counts_and_passes_only_while_the_quota_is_kept() {
    let mut window = Window::default();
    window.begin();
    window.restore([written(1, 0, true), written(2, 10, false), written(3, 10, false)]);
    window.restore([written(2, 9, true), written(1, 10, false)]);
    window.complete();
    let reserve =
        |window: &mut Window, nth, quota, hours| window.reserve(number(nth), Quota::AtMost(quota), at(hours));
    assert!(
        window.counts(number(3), Quota::AtMost(3), at(11))
            && !window.counts(number(3), Quota::AtMost(2), at(11))
    );
    assert_eq!(window.room(Quota::AtMost(5), at(11)), 2);
    // One must expire first. A person who was certainly written to does not wait for that.
    assert_eq!(reserve(&mut window, 3, 2, 11), Reserved::Full { until: at(34) });
    assert_eq!(reserve(&mut window, 2, 2, 11), Reserved::Known);
    assert_eq!(reserve(&mut window, 4, 3, 11), Reserved::Full { until: at(34) });
    assert_eq!(
        reserve(&mut window, 3, 3, 11),
        Reserved::New { at: at(10) },
        "its refusal makes it uncertain again"
    );
    assert_eq!(reserve(&mut window, 3, 2, 11), Reserved::Known, "it was written to now");
}

#[test]
fn recipients_whose_day_is_over_are_removed_little_by_little_and_never_take_room() {
    let mut window = read();
    for nth in 0..1_000 {
        new(&mut window, nth, 1_000, at(0));
    }
    new(&mut window, 1_000, 1_000, at(24));
    assert_eq!((window.used(at(24)), window.last.len()), (1, 1_001 - SWEEP));
    new(&mut window, 1_001, 2, at(24));
    assert_eq!(window.last.len(), 2);
    assert_eq!(window.reserve(number(1_002), Quota::AtMost(2), at(24)), Reserved::Full { until: at(48) });
}

proptest! {
    #[test]
    fn never_more_people_within_a_day_than_the_quota_and_the_counts_are_exact(
        steps in proptest::collection::vec((0_u64..4, 0_u64..12, 1_u32..8, any::<bool>()), 1..400),
    ) {
        let (mut window, mut hours) = (read(), 0);
        // The people who were written to, and when they last were.
        let mut went: HashMap<u64, Timestamp> = HashMap::new();
        for (passed, nth, quota, refused) in steps {
            hours += passed;
            let now = at(hours);
            let counted = |went: &HashMap<u64, Timestamp>| went.values().filter(|last| !is_over(**last, now)).count();
            let before = counted(&went);
            match window.reserve(number(nth), Quota::AtMost(quota), now) {
                Reserved::New { at } => {
                    prop_assert!(before < quota as usize);
                    if refused {
                        window.release(number(nth), at);
                    } else {
                        went.insert(nth, at);
                    }
                }
                Reserved::Known => {
                    let last = went.get_mut(&nth).unwrap();
                    prop_assert!(!is_over(*last, now));
                    *last = now.max(last.plus(Duration::from_millis(1)));
                }
                Reserved::Full { until } => {
                    prop_assert!(before >= quota as usize && until > now);
                    prop_assert_eq!(window.next_slot(Quota::AtMost(quota), until), None);
                    let just_before = Timestamp::from_millis(until.millis() - 1);
                    prop_assert!(window.next_slot(Quota::AtMost(quota), just_before).is_some());
                }
                other => prop_assert!(false, "{other:?}"),
            }
            prop_assert_eq!(window.used(now), counted(&went) as u64);
            prop_assert_eq!(window.order.len(), window.last.len());
        }
    }
}
