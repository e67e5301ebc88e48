//! When the machine wants to be woken, and when templates are listed, questions are asked and throttles end.

use super::*;

const MINUTE: Duration = Duration::from_secs(60);
/// A short time before a timer is due.
const MOMENT: Duration = Duration::from_millis(1);

fn follow(company: u128, number: u128) -> Input {
    let company = Uuid::from_u128(company);
    Input::Followed { company, channel: channel(number), is_connected: true }
}

fn want(company: u128, after: Duration) -> Input {
    Input::TemplatesWanted { company: Uuid::from_u128(company), after }
}

impl World {
    /// An account with this many channels whose templates are listed once in each interval.
    fn listing(interval: Duration, channels: usize) -> Self {
        let mut world = Self { machine: Machine::new(interval), ..Self::new() };
        (0..channels).for_each(|_| assert!(world.feed(Input::Joined).is_none()));
        world
    }

    /// The listings that began since the last call: each company and channel.
    fn listings(&mut self) -> Vec<(u128, u128)> {
        let listed = self.wanted.extract_if(.., |effect| matches!(effect, Effect::ListTemplates { .. }));
        let pair = |effect| match effect {
            Effect::ListTemplates { company, through } => Some((company.as_u128(), through.as_u128())),
            _ => None,
        };
        listed.filter_map(pair).collect()
    }

    fn listed(&mut self, company: u128, is_success: bool) {
        self.feed(Input::TemplatesListed { company: Uuid::from_u128(company), is_success });
    }

    /// Checks that no listing begins before this time has passed, and that the expected one begins then.
    fn lists_after(&mut self, time: Duration, expected: (u128, u128)) {
        self.pass(time - MOMENT);
        assert!(self.listings().is_empty(), "not before {time:?}");
        self.pass(MOMENT);
        assert_eq!(self.listings(), [expected], "after {time:?}");
    }
}

#[test]
fn a_throttled_account_is_woken_at_the_end_only_when_no_channel_uses_it() {
    let mut world = World::listing(30 * MINUTE, 2);
    let answer = world.feed(Input::Refused { hint: Some(5 * SECOND) });
    let until = world.at.monotonic + 5 * SECOND;
    assert!(matches!(answer, Some(Answer::Until(told)) if told == until), "{answer:?}");
    world.feed(Input::Left { channel: channel(1) });
    assert_eq!(world.wakes_at, None, "its channel waits by itself");
    world.feed(Input::Left { channel: channel(2) });
    assert_eq!(world.wakes_at, Some(until));
    assert_eq!(world.machine.throttled_until(until - MOMENT), Some(until));
    assert_eq!(world.machine.throttled_until(until), None);
}

#[test]
fn a_machine_asks_once_to_be_woken_at_the_same_moment() {
    let mut world = World::listing(30 * MINUTE, 1);
    world.feed(follow(1, 1));
    world.listed(1, true);
    assert_eq!(world.wakes_at.take(), Some(world.at.monotonic + 30 * MINUTE));
    world.feed(Input::Accepted);
    assert_eq!(world.wakes_at, None);
    world.feed(want(1, 2 * MINUTE));
    assert_eq!(world.wakes_at, Some(world.at.monotonic + 2 * MINUTE), "something is due sooner");
}

#[test]
fn each_company_of_an_account_has_a_schedule_and_channels_of_its_own() {
    let mut world = World::listing(30 * MINUTE, 2);
    world.feed(follow(1, 10));
    world.feed(follow(2, 20));
    assert_eq!(world.listings(), [(1, 10), (2, 20)]);
    world.listed(1, true);
    world.listed(2, false);
    world.lists_after(MINUTE, (2, 20));
    world.listed(2, true);
    world.lists_after(29 * MINUTE, (1, 10));
    world.listed(1, true);
    world.feed(Input::Left { channel: channel(20) });
    world.lists_after(30 * MINUTE, (1, 10));
}

#[test]
fn a_listing_that_is_requested_for_later_begins_then_whatever_is_listed_before() {
    let mut world = World::listing(30 * MINUTE, 1);
    world.feed(follow(1, 10));
    world.listed(1, true);
    world.listings();
    world.feed(want(1, 9 * MINUTE));
    world.feed(want(1, 5 * MINUTE));
    world.lists_after(5 * MINUTE, (1, 10));
    world.listed(1, true);
    world.lists_after(4 * MINUTE, (1, 10));
    world.listed(1, true);
    world.lists_after(30 * MINUTE, (1, 10));
}

#[test]
fn a_listing_by_schedule_serves_no_request_for_a_later_time() {
    let mut world = World::listing(30 * MINUTE, 1);
    world.feed(want(1, 3 * MINUTE));
    world.feed(want(1, 2 * MINUTE));
    world.feed(follow(1, 10));
    assert_eq!(world.listings(), [(1, 10)]);
    world.listed(1, true);
    world.lists_after(2 * MINUTE, (1, 10));
    world.listed(1, true);
    world.lists_after(MINUTE, (1, 10));
}

#[test]
fn two_listings_are_a_minute_apart_or_a_thirtieth_of_a_shorter_interval() {
    for (interval, apart) in [(60 * MINUTE, MINUTE), (10 * MINUTE, 20 * SECOND), (Duration::ZERO, MINUTE)] {
        let mut world = World::listing(interval, 1);
        world.feed(follow(1, 10));
        world.feed(want(1, Duration::ZERO));
        world.listings();
        world.listed(1, true);
        world.feed(want(1, Duration::ZERO));
        world.lists_after(apart, (1, 10));
        world.listed(1, false);
        world.lists_after(apart, (1, 10));
        world.listed(1, false);
        world.lists_after(2 * apart, (1, 10));
    }
}

#[test]
fn without_an_interval_a_listing_that_fails_is_retried_after_half_an_hour_at_most() {
    let mut world = World::listing(Duration::ZERO, 1);
    world.feed(follow(1, 10));
    assert!(world.listings().is_empty(), "none is requested");
    world.feed(want(1, Duration::ZERO));
    assert_eq!(world.listings(), [(1, 10)]);
    for minutes in [1, 2, 4, 8, 16, 30, 30] {
        world.listed(1, false);
        world.lists_after(minutes * MINUTE, (1, 10));
    }
    world.listed(1, true);
    world.pass(DAY);
    assert!(world.listings().is_empty(), "it succeeded");
}

#[test]
fn a_listing_under_way_serves_no_request_that_came_after_it_began() {
    let mut world = World::listing(30 * MINUTE, 1);
    world.feed(follow(1, 10));
    world.feed(want(1, Duration::ZERO));
    world.pass(SECOND);
    world.listings();
    world.listed(1, true);
    world.lists_after(MINUTE - SECOND, (1, 10));
    world.listed(1, true);
    world.feed(Input::Left { channel: channel(10) });
    assert!(!world.machine.is_used(world.at.monotonic), "all requests were served");
}

#[test]
fn a_listing_under_way_keeps_an_account_that_nobody_uses() {
    let mut world = World::listing(30 * MINUTE, 1);
    world.feed(follow(1, 10));
    world.feed(Input::Left { channel: channel(10) });
    assert!(world.machine.is_used(world.at.monotonic));
    assert!(!world.wanted.iter().any(|effect| matches!(effect, Effect::End)));
    world.listed(1, true);
    assert!(world.wanted.iter().any(|effect| matches!(effect, Effect::End)));
}

#[test]
fn a_question_that_is_not_answered_holds_the_next_one_up_for_five_seconds() {
    let mut world = World::listing(30 * MINUTE, 3);
    let may_ask = |world: &mut World, number| {
        let answer = world.feed(Input::QuestionWanted { channel: channel(number) });
        matches!(answer, Some(Answer::MayAsk(true)))
    };
    assert!(may_ask(&mut world, 1));
    world.pass(SECOND);
    assert!(!may_ask(&mut world, 2) && !may_ask(&mut world, 3));
    world.pass(4 * SECOND - MOMENT);
    assert!(world.told().is_empty());
    world.pass(MOMENT);
    assert_eq!(world.told(), [(2, AccountUpdate::MayAsk)]);
    // A late answer does not end another channel's probe.
    world.feed(Input::QuestionEnded { channel: channel(1) });
    assert!(world.told().is_empty());
    assert!(!may_ask(&mut world, 1));
    world.pass(5 * SECOND);
    assert_eq!(world.told(), [(3, AccountUpdate::MayAsk)]);
    world.feed(Input::QuestionEnded { channel: channel(1) });
    world.feed(Input::QuestionEnded { channel: channel(3) });
    assert!(world.told().is_empty(), "the first channel does not want to probe any more");
    assert!(may_ask(&mut world, 2));
}

#[test]
fn a_question_may_be_asked_at_once_when_the_last_one_is_overdue_and_nobody_waits() {
    let mut world = World::listing(30 * MINUTE, 2);
    for (wait, expected) in [(Duration::ZERO, true), (5 * SECOND, true)] {
        world.pass(wait);
        let answer = world.feed(Input::QuestionWanted { channel: channel(1) });
        assert!(matches!(answer, Some(Answer::MayAsk(may_ask)) if may_ask == expected), "{answer:?}");
    }
    let answer = world.feed(Input::QuestionWanted { channel: channel(2) });
    assert!(matches!(answer, Some(Answer::MayAsk(false))), "{answer:?}");
}

#[test]
fn refusals_in_a_row_double_the_throttle_and_an_accepted_message_ends_the_row() {
    let mut world = World::listing(30 * MINUTE, 1);
    for seconds in [1, 2, 4] {
        let until = world.at.monotonic + seconds * SECOND;
        world.feed(Input::Refused { hint: None });
        assert_eq!(world.machine.throttled_until(world.at.monotonic), Some(until));
        world.feed(Input::Accepted);
        assert!(world.published.is_throttled, "answers of messages in flight end no throttle");
        world.pass(seconds * SECOND);
    }
    world.feed(Input::Accepted);
    assert!(!world.published.is_throttled);
    world.feed(Input::Refused { hint: None });
    assert_eq!(world.machine.throttled_until(world.at.monotonic), Some(world.at.monotonic + SECOND));
}
