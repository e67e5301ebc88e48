//! Limits of the window at their exact edges.

use super::*;

fn just_before(moment: Timestamp) -> Timestamp {
    moment.minus(Duration::from_millis(1))
}

#[test]
fn the_people_who_count_are_listed_the_oldest_first_until_their_day_is_over() {
    let mut window = read();
    for (nth, hours) in [(1, 5), (2, 0), (3, 10)] {
        new(&mut window, nth, 9, at(hours));
    }
    let listed = |now| window.people(now).collect::<Vec<_>>();
    let all = [(number(2), at(0)), (number(1), at(5)), (number(3), at(10))];
    assert_eq!(listed(just_before(at(24))), all);
    assert_eq!(listed(at(24)), all[1..]);
    assert!(listed(at(34)).is_empty());
}

#[test]
fn a_channel_that_asked_with_a_quota_has_everybody_counted_for_an_hour() {
    // Only how many there are matters here.
    let last: HashMap<_, _> = (0..MOST_WITHOUT_QUOTA as u64).map(|nth| (number(nth), at(0))).collect();
    let one_more = number(MOST_WITHOUT_QUOTA as u64);
    let almost = just_before(at(1));
    for (asked_with, moment, expected) in [
        (Quota::AtMost(250), almost, Reserved::New { at: almost }),
        (Quota::AtMost(250), at(1), Reserved::Uncounted),
        (Quota::Unlimited, at(0), Reserved::Uncounted),
    ] {
        let mut window = Window { last: last.clone(), ..read() };
        window.look_after(asked_with, at(0));
        assert_eq!(window.reserve(one_more, Quota::Unlimited, moment), expected, "{asked_with:?}");
    }
}

#[test]
fn nobody_is_left_out_while_the_store_is_read_for_a_channel_with_a_quota() {
    let last: HashMap<_, _> = (0..MOST_WITHOUT_QUOTA as u64).map(|nth| (number(nth), at(0))).collect();
    let one_more = number(MOST_WITHOUT_QUOTA as u64);
    let mut window = Window { last, stage: Stage::Reading, ..Window::default() };
    window.look_after(Quota::AtMost(250), at(0));
    assert_eq!(window.reserve(one_more, Quota::Unlimited, at(0)), Reserved::New { at: at(0) });
    assert_eq!(window.asked, None, "a channel that is told to wait does not count as asking");
}

#[test]
fn one_person_fewer_than_are_counted_without_a_quota_leaves_room_for_one_more() {
    let last: HashMap<_, _> = (1..MOST_WITHOUT_QUOTA as u64).map(|nth| (number(nth), at(0))).collect();
    let mut window = Window { last, ..read() };
    assert_eq!(window.reserve(number(0), Quota::Unlimited, at(0)), Reserved::New { at: at(0) });
    let one_more = number(MOST_WITHOUT_QUOTA as u64);
    assert_eq!(window.reserve(one_more, Quota::Unlimited, at(0)), Reserved::Uncounted);
}

#[test]
fn a_quota_of_more_than_a_million_people_counts_as_a_million() {
    assert_eq!([999_999, 1_000_000, 1_000_001, u32::MAX].map(most_of), [999_999, MOST, MOST, MOST]);
}

#[test]
fn a_message_of_a_person_whose_day_is_over_is_taken_back_by_its_own_time() {
    let mut window = read();
    new(&mut window, 1, 9, at(0));
    let arrivals = window.arrivals();
    window.spend(number(1), just_before(at(24)));
    assert_eq!(window.arrivals(), arrivals, "the person still counts");
    window.release(number(1), just_before(at(24)));
    assert!(window.is_live(number(1), at(24)), "an earlier message may have reached them");
    let mut window = read();
    new(&mut window, 1, 9, at(0));
    window.spend(number(1), at(24));
    assert_eq!(window.arrivals(), arrivals + 1, "the person counts again");
    window.release(number(1), at(24));
    assert_eq!((window.used(at(24)), window.order.len()), (0, 0));
}

#[test]
fn a_clock_that_is_set_back_moves_only_recipients_of_a_later_time() {
    let mut window = read();
    for (nth, hours) in [(1, 4), (2, 5), (3, 6)] {
        new(&mut window, nth, 9, at(hours));
    }
    window.clock_went_back(at(5));
    let people: Vec<_> = window.people(at(5)).collect();
    assert_eq!(people, [(number(1), at(4)), (number(2), at(5)), (number(3), at(5))]);
    assert!(window.counts(number(2), Quota::AtMost(1), at(5)), "a person written to by then is certain");
    assert!(!window.counts(number(3), Quota::AtMost(1), at(5)), "a person written to later is not");
}

#[test]
fn the_newest_row_of_a_person_counts() {
    let mut window = Window::default();
    window.begin();
    window.restore([written(1, 3, true), written(1, 5, true), written(1, 4, true)]);
    window.complete();
    assert_eq!(window.people(at(6)).collect::<Vec<_>>(), [(number(1), at(5))]);
    assert_eq!(window.order.len(), 1);
}
