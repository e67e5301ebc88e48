//! The account machine, driven by hand.

mod random;
mod slots;
mod timers;
mod unknown;

use std::ops::Range;

use uuid::Uuid;

use super::*;
use domain::phone::PhoneNumber;
use domain::template::WrittenTo;
use domain::tier::Quota;

const SECOND: Duration = Duration::from_secs(1);
const DAY: Duration = Duration::from_secs(24 * 3_600);
const COMPANY: Uuid = Uuid::from_u128(100);

fn channel(number: u128) -> Uuid {
    Uuid::from_u128(number)
}

fn person(nth: u64) -> PhoneNumber {
    PhoneNumber::from_u64(5_511_900_000_000 + nth).unwrap()
}

/// A machine, and its effects.
struct World {
    machine: Machine,
    at: Moment,
    effects: Effects,
    /// The effects besides answers, published states and wake-ups.
    wanted: Vec<Effect>,
    wakes_at: Option<Instant>,
    published: Published,
}

impl World {
    fn new() -> Self {
        Self {
            machine: Machine::new(1_800 * SECOND),
            at: Moment { monotonic: Instant::now(), wall: Timestamp::from_millis(1_700_000_000_000) },
            effects: Effects::default(),
            wanted: Vec::new(),
            wakes_at: None,
            published: Published::default(),
        }
    }

    /// A world with this many channels, in which nobody was written to before.
    fn counting(channels: u128) -> Self {
        let mut world = Self::new();
        for number in 1..=channels {
            world.feed(Input::Joined);
            world.feed(Input::PeopleWanted { channel: channel(number) });
        }
        let span = world.span();
        world.feed(Input::PeopleRead { span, result: Ok(()) });
        world.wanted.clear();
        world
    }

    /// The span of the read that was requested last.
    fn span(&self) -> (Timestamp, Timestamp) {
        let span = |effect: &Effect| match effect {
            Effect::ReadPeople { span } => Some(*span),
            _ => None,
        };
        self.wanted.iter().rev().find_map(span).unwrap()
    }

    fn feed(&mut self, input: Input) -> Option<Answer> {
        self.machine.handle(input, self.at, &mut self.effects);
        let mut answer = None;
        for effect in self.effects.drain() {
            match effect {
                Effect::Answer(given) => answer = Some(given),
                Effect::WakeAt(at) => self.wakes_at = Some(at),
                Effect::Publish(published) => self.published = published,
                effect => self.wanted.push(effect),
            }
        }
        answer
    }

    /// Lets this time pass; the timer fires whenever it is due.
    fn pass(&mut self, time: Duration) {
        let end = Moment { monotonic: self.at.monotonic + time, wall: self.at.wall.plus(time) };
        while let Some(at) = self.wakes_at.take_if(|at| *at <= end.monotonic) {
            let passed = at.saturating_duration_since(self.at.monotonic);
            self.at = Moment { monotonic: self.at.monotonic + passed, wall: self.at.wall.plus(passed) };
            self.feed(Input::Timer);
        }
        self.at = end;
    }

    fn ask(&mut self, by: u128, quota: u32, ask: Ask) -> Granted {
        let ask = Ask { channel: channel(by), quota: Quota::AtMost(quota), ..ask };
        match self.feed(Input::Asked(ask)) {
            Some(Answer::Granted(granted)) => granted,
            other => panic!("{other:?}"),
        }
    }

    /// Asks for the people of this range. Returns how many of them the channel is granted.
    fn grant(&mut self, by: u128, quota: u32, people: Range<u64>) -> u64 {
        let asked = people.end - people.start;
        let granted = self.ask(by, quota, Ask { wanted: people.map(person).collect(), ..nothing() });
        asked - granted.refused.len() as u64
    }

    /// The updates that channels were told since the last call.
    fn told(&mut self) -> Vec<(u128, AccountUpdate)> {
        let told = self.wanted.extract_if(.., |effect| matches!(effect, Effect::Tell { .. }));
        told.filter_map(|effect| match effect {
            Effect::Tell { channel, update } => Some((channel.as_u128(), update)),
            _ => None,
        })
        .collect()
    }

    fn used(&self) -> u64 {
        self.machine.used(self.at.wall)
    }
}

fn nothing() -> Ask {
    let (sent, returned, wanted) = (Vec::new(), Vec::new(), Vec::new());
    Ask { channel: Uuid::nil(), quota: Quota::Unlimited, sent, returned, wanted }
}

#[test]
fn a_granted_person_takes_one_slot_however_many_channels_hold_them() {
    let mut world = World::counting(3);
    assert_eq!(world.grant(1, 4, 0..3), 3);
    assert_eq!(world.grant(2, 4, 10..15), 1, "three are granted to the first");
    assert_eq!(world.grant(3, 4, 0..3), 3, "to the same people");
    assert_eq!((world.grant(3, 4, 20..21), world.grant(3, 5, 20..22), world.used()), (0, 1, 5));
    let returned = (0..3).map(person).collect();
    world.ask(1, 5, Ask { returned, ..nothing() });
    assert_eq!(world.used(), 5, "the third still has them");
    world.feed(Input::Left { channel: channel(3) });
    assert_eq!((world.used(), world.grant(1, 5, 30..40)), (1, 4));
}

#[test]
fn a_person_who_was_written_to_passes_a_full_quota_for_a_day() {
    let mut world = World::counting(2);
    assert_eq!(world.grant(1, 3, 0..3), 3);
    let sent = (0..3).map(|nth| (person(nth), world.at.wall)).collect();
    let returned = (0..3).map(person).collect();
    assert!(world.ask(1, 3, Ask { sent, returned, ..nothing() }).has_arrivals);
    assert_eq!((world.used(), world.grant(2, 3, 0..5)), (3, 3));
    world.pass(DAY - SECOND);
    assert_eq!(world.grant(2, 3, 3..5), 0);
    world.pass(SECOND);
    assert_eq!(world.used(), 3, "their day is over, and messages may go to them any moment");
    world.ask(2, 3, Ask { returned: (0..2).map(person).collect(), ..nothing() });
    assert_eq!(world.grant(1, 3, 3..7), 2);
}

#[test]
fn unused_grants_are_recalled_for_a_channel_that_waits() {
    let mut world = World::counting(3);
    assert_eq!(world.grant(1, 2, 0..2), 2);
    assert_eq!((world.told(), world.grant(2, 2, 2..4)), (vec![], 0));
    assert_eq!(world.told(), [(1, AccountUpdate::Recalled)]);
    world.ask(1, 2, Ask { returned: vec![person(0)], ..nothing() });
    assert_eq!(world.told(), [(2, AccountUpdate::HasRoom)]);
    assert_eq!(world.grant(2, 2, 2..4), 1);
    world.told();
    // The slot of a person who was written to is not freed, and no channel is told that there is room.
    let sent = vec![(person(1), world.at.wall)];
    world.ask(1, 2, Ask { sent, returned: vec![person(1)], ..nothing() });
    assert_eq!((world.told(), world.used()), (vec![], 2));
    world.feed(Input::Left { channel: channel(2) });
    assert_eq!((world.told(), world.grant(3, 2, 8..10)), (vec![], 1));
}

#[test]
fn grants_of_a_smaller_quota_are_void_when_a_channel_with_a_larger_one_or_none_used_them_up() {
    let mut world = World::counting(3);
    assert_eq!((world.grant(1, 4, 0..3), world.grant(2, 6, 10..11), world.published.voids), (3, 1, 0));
    assert_eq!((world.grant(2, 6, 11..12), world.published.voids), (1, 1), "five are more than four");
    assert_eq!(
        (world.told(), world.used()),
        (vec![(1, AccountUpdate::Recalled)], 5),
        "perhaps they were written to"
    );
    assert_eq!((world.grant(2, 6, 12..14), world.published.voids), (1, 1), "once");
    let sent = vec![(person(0), world.at.wall)];
    world.ask(1, 4, Ask { sent, returned: (0..3).map(person).collect(), ..nothing() });
    assert_eq!((world.used(), world.grant(1, 4, 0..2)), (4, 1), "a person who counts passes");
    world.ask(2, 6, Ask { returned: vec![person(10)], ..nothing() });
    assert_eq!(world.grant(1, 4, 1..2), 1);
    world.feed(Input::Counted { recipient: person(1) });
    assert_eq!((world.used(), world.published.voids), (4, 1), "a granted person takes no second slot");
    world.feed(Input::Counted { recipient: person(20) });
    assert_eq!((world.used(), world.published.voids), (5, 2), "their day may be over when a message goes");
}

#[test]
fn a_refused_message_does_not_count_unless_another_went_to_the_same_person() {
    let mut world = World::counting(1);
    world.grant(1, 2, 0..2);
    let first = world.at.wall;
    let second = first.plus(SECOND);
    let sent = vec![(person(0), first), (person(1), first), (person(1), second)];
    world.ask(1, 2, Ask { sent, returned: vec![person(0), person(1)], ..nothing() });
    for (recipient, at) in [(person(0), first), (person(1), second)] {
        world.feed(Input::Released { recipient, at });
    }
    assert_eq!((world.used(), world.grant(1, 2, 0..1), world.grant(1, 2, 5..6)), (1, 1, 0));
}

#[test]
fn the_store_is_read_once_for_all_channels_and_again_after_it_failed() {
    let mut world = World::new();
    let readings = |world: &World| {
        world.wanted.iter().filter(|effect| matches!(effect, Effect::ReadPeople { .. })).count()
    };
    for number in 1..=3 {
        world.feed(Input::Joined);
        let answer = world.feed(Input::PeopleWanted { channel: channel(number) });
        assert!(matches!(answer, Some(Answer::IsKnown(false))), "{answer:?}");
    }
    assert_eq!((readings(&world), world.published.is_counting, world.grant(1, 9, 0..1)), (1, true, 0));
    let first = world.span();
    world.feed(Input::PeopleRead { span: first, result: Err(Unread) });
    world.pass(SECOND);
    assert_eq!(readings(&world), 2);
    let span = world.span();
    assert_ne!(first, span);
    let people = (0..4).map(|nth| WrittenTo { recipient: person(nth), at: span.1, is_certain: true });
    world.feed(Input::PeopleFound(people.collect()));
    world.feed(Input::PeopleRead { span: first, result: Ok(()) });
    assert!(world.told().is_empty(), "the end of an earlier read is ignored");
    world.feed(Input::PeopleRead { span, result: Ok(()) });
    assert_eq!(world.told(), [1, 2, 3].map(|number| (number, AccountUpdate::PeopleKnown)));
    let answer = world.feed(Input::PeopleWanted { channel: channel(4) });
    assert!(matches!(answer, Some(Answer::IsKnown(true))), "{answer:?}");
    assert_eq!((world.used(), world.grant(1, 5, 0..9)), (4, 5));
}

#[test]
fn channels_ask_about_their_numbers_one_after_another() {
    let mut world = World::counting(3);
    let answers = [1, 2, 3].map(|number| {
        let answer = world.feed(Input::QuestionWanted { channel: channel(number) });
        matches!(answer, Some(Answer::MayAsk(true)))
    });
    assert_eq!((answers, world.told()), ([true, false, false], vec![]));
    world.feed(Input::Left { channel: channel(2) });
    world.feed(Input::QuestionEnded { channel: channel(1) });
    assert_eq!(world.told(), [(3, AccountUpdate::MayAsk)]);
    world.feed(Input::QuestionWanted { channel: channel(1) });
    world.pass(5 * SECOND);
    assert_eq!(world.told(), [(1, AccountUpdate::MayAsk)], "the answer to the third is overdue");
}

#[test]
fn templates_are_listed_by_schedule_and_by_request_through_a_connected_channel() {
    let mut world = World::counting(2);
    let listings = |world: &mut World| {
        let listed = world.wanted.extract_if(.., |effect| matches!(effect, Effect::ListTemplates { .. }));
        let mut through = Vec::new();
        for effect in listed {
            if let Effect::ListTemplates { company, through: channel } = effect {
                assert_eq!(company, COMPANY);
                through.push(channel.as_u128());
            }
        }
        through
    };
    world.feed(Input::TemplatesWanted { company: COMPANY, after: Duration::ZERO });
    world.pass(SECOND);
    assert!(listings(&mut world).is_empty());
    let follow = |number| Input::Followed { company: COMPANY, channel: channel(number), is_connected: true };
    world.feed(follow(2));
    world.feed(follow(1));
    assert_eq!(listings(&mut world), [2]);
    world.pass(DAY);
    assert!(listings(&mut world).is_empty(), "one is under way");
    world.feed(Input::TemplatesListed { company: COMPANY, is_success: false });
    world.pass(60 * SECOND);
    assert_eq!(listings(&mut world), [1], "through another channel");
    world.feed(Input::TemplatesListed { company: COMPANY, is_success: true });
    world.pass(1_799 * SECOND);
    assert!(listings(&mut world).is_empty());
    world.pass(SECOND);
    assert_eq!(listings(&mut world), [2]);
}

#[test]
fn an_unused_account_ends_once_its_state_is_not_needed() {
    let mut world = World::counting(1);
    let ends = |world: &mut World| world.wanted.extract_if(.., |it| matches!(it, Effect::End)).count();
    let until = match world.feed(Input::Refused { hint: Some(5 * SECOND) }) {
        Some(Answer::Until(until)) => until,
        other => panic!("{other:?}"),
    };
    assert!(world.published.is_throttled);
    assert_eq!(world.machine.throttled_until(world.at.monotonic), Some(until));
    world.grant(1, 9, 0..9);
    world.feed(Input::Left { channel: channel(1) });
    assert_eq!((ends(&mut world), world.used()), (0, 0), "it is throttled");
    world.pass(5 * SECOND);
    assert_eq!(ends(&mut world), 1);
    world.feed(Input::Joined);
    world.feed(Input::Accepted);
    assert!(!world.published.is_throttled);
    world.feed(Input::TemplatesWanted { company: COMPANY, after: Duration::ZERO });
    world.feed(Input::Left { channel: channel(1) });
    assert_eq!(ends(&mut world), 0, "a listing of its templates is requested");
}

#[test]
fn a_wall_clock_that_is_set_moves_no_throttle_and_shortens_no_day_by_more_than_it_was_ahead() {
    let mut world = World::counting(1);
    world.feed(Input::Refused { hint: Some(60 * SECOND) });
    world.at.wall = world.at.wall.plus(10 * DAY);
    assert!(world.machine.throttled_until(world.at.monotonic).is_some());
    world.grant(1, 1, 0..1);
    let sent = vec![(person(0), world.at.wall)];
    world.ask(1, 1, Ask { sent, returned: vec![person(0)], ..nothing() });
    world.at.wall = world.at.wall.minus(10 * DAY);
    world.feed(Input::ClockWentBack);
    assert_eq!(world.grant(1, 1, 1..2), 0);
    world.pass(DAY);
    assert_eq!(world.grant(1, 1, 1..2), 1);
}

#[test]
fn a_message_that_a_clock_that_was_ahead_sent_counts_for_a_day_although_the_account_hears_of_it_late() {
    let mut world = World::counting(1);
    world.grant(1, 1, 0..1);
    let sent = vec![(person(0), world.at.wall.plus(10 * DAY))];
    world.feed(Input::ClockWentBack);
    world.ask(1, 1, Ask { sent, returned: vec![person(0)], ..nothing() });
    assert_eq!((world.used(), world.grant(1, 1, 1..2)), (1, 0));
    world.pass(DAY);
    assert_eq!((world.used(), world.grant(1, 1, 1..2)), (0, 1));
}

#[test]
fn a_clock_that_is_adjusted_by_a_little_lets_a_refused_message_give_its_slot_back() {
    let mut world = World::counting(1);
    world.grant(1, 1, 0..1);
    let at = world.at.wall.plus(SECOND);
    world.ask(1, 1, Ask { sent: vec![(person(0), at)], returned: vec![person(0)], ..nothing() });
    world.feed(Input::Released { recipient: person(0), at });
    assert_eq!((world.used(), world.grant(1, 1, 1..2)), (0, 1));
}

#[test]
fn a_message_that_is_refused_after_the_clock_was_set_back_counts_for_a_day_at_most() {
    let mut world = World::counting(1);
    world.at.wall = world.at.wall.plus(10 * DAY);
    world.grant(1, 1, 0..1);
    let at = world.at.wall;
    world.ask(1, 1, Ask { sent: vec![(person(0), at)], returned: vec![person(0)], ..nothing() });
    world.at.wall = world.at.wall.minus(10 * DAY);
    world.feed(Input::ClockWentBack);
    world.feed(Input::Released { recipient: person(0), at });
    assert_eq!(world.used(), 1, "another message of that time may have reached the person");
    world.pass(DAY);
    assert_eq!((world.used(), world.grant(1, 1, 1..2)), (0, 1));
}

#[test]
fn a_person_whom_a_refused_message_leaves_counted_does_not_pass_a_quota_that_is_full() {
    let mut world = World::counting(1);
    world.at.wall = world.at.wall.plus(10 * DAY);
    world.grant(1, 2, 0..2);
    let at = world.at.wall;
    let sent = vec![(person(0), at), (person(1), at)];
    world.ask(1, 2, Ask { sent, returned: vec![person(0), person(1)], ..nothing() });
    world.at.wall = world.at.wall.minus(10 * DAY);
    world.feed(Input::ClockWentBack);
    world.feed(Input::Released { recipient: person(0), at });
    assert_eq!((world.used(), world.grant(1, 1, 0..1), world.grant(1, 2, 0..1)), (2, 0, 1));
}
