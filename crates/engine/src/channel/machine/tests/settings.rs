//! A channel whose record, tier or clock is changed while it runs.

use super::*;
use domain::rate::Rate;
use domain::tier::Quota;

impl World {
    /// The tiers change, and the channel hears of it.
    fn retier(&mut self, change: impl Fn(&mut Tier)) -> Vec<&'static str> {
        let mut tiers = tier::parse(tier::BUILT_IN).unwrap();
        tiers.iter_mut().for_each(change);
        let settings = |tier: &Tier| (tier.name.clone(), serde_json::to_string(tier).unwrap());
        self.machine.common.tiers.replace(tiers.iter().map(settings));
        let channel = Arc::clone(self.machine.channel());
        self.feed(Input::Refreshed(channel))
    }

    /// The channel gets another tier.
    fn move_to(&mut self, tier: &str) -> Vec<&'static str> {
        let mut channel = (**self.machine.channel()).clone();
        channel.tier = tier.to_owned();
        self.feed(Input::Refreshed(Arc::new(channel)))
    }
}

#[test]
fn a_changed_tier_changes_the_pace_of_waiting_messages_at_once() {
    let mut world = World::with_tier(1, |tier| tier.messages_per_second = Rate::each_second(1)).begun();
    world.accept(10);
    world.accept(11);
    world.flush();
    assert_eq!((world.under_way(), world.wakes_in() > SECOND / 2), (vec![10], true));
    world.retier(|tier| tier.messages_per_second = Rate::each_second(10));
    assert_eq!(world.limits().rate, Some(10.0));
    assert!(world.wakes_in() <= SECOND / 10, "{:?}", world.wakes_in());
    world.pass(SECOND / 10);
    assert_eq!(world.under_way(), [10, 11]);
    assert_eq!(world.machine.pace(world.at).tier.name, "standard");
    world.move_to("coexistence");
    assert_eq!(world.limits().rate, Some(10.0));
    assert_eq!(world.machine.pace(world.at).tier.name, "coexistence");
}

#[test]
fn a_changed_pair_interval_holds_for_the_next_message() {
    let mut world = World::with_tier(1, |tier| tier.pair_burst = 1).begun();
    world.start(10);
    world.retier(|tier| tier.pair_interval = Duration::ZERO);
    world.pass(SECOND);
    world.accept_for(11, 10);
    world.flush();
    assert_eq!(world.under_way(), [10, 11]);
    assert!(world.limits().limits.iter().all(|limit| limit.name.as_str() != "pair"));
}

#[test]
fn more_messages_are_marked_ahead_at_a_higher_pace() {
    let mut world = World::with_tier(1, |tier| tier.messages_per_second = Rate::each_second(1)).begun();
    world.accept_to(20, Recipients::Blocks(1_000));
    world.flush();
    let slow = world.mark(20).progress.high_water;
    world.retier(|tier| tier.messages_per_second = Rate::each_second(1_000));
    world.flush();
    let fast = world.mark(20).progress.high_water;
    assert!(slow == 16 && fast == 250, "a quarter of a second's worth, at least sixteen: {slow} {fast}");
}

#[test]
fn a_new_quota_sends_templates_back_to_the_store_until_the_people_who_count_are_known() {
    let mut world = World::ready(1);
    world.start(10);
    world.accept_bulk(20, Order { template: Some(marketing(7)), ..order() }, &[1, 2, 3]);
    world.accept_bulk(21, order(), &[4, 5, 6]);
    world.flush();
    world.retier(|tier| tier.template_quota = Quota::AtMost(5));
    world.flush();
    assert!(world.fetches.iter().rev().take(1).all(|look| !look.ready.templates));
    assert_eq!((world.limits().active_sends, world.mark(20).progress.high_water), (2, 0));
    world.store_is_empty();
    world.store_is_empty();
    assert!(world.account_knows(&[]).contains(&"fetch"));
    assert!(world.fetches.last().unwrap().ready.templates);
    world.store_is_empty();
    world.store_is_empty();
    assert!(world.retier(|tier| tier.template_quota = Quota::AtMost(6)).contains(&"fetch"));
    assert_eq!(world.limit("template_quota").left, Some(6));
    world.store_is_empty();
    world.store_is_empty();
    assert!(
        !world.retier(|tier| tier.template_quota = Quota::AtMost(6)).contains(&"fetch"),
        "nothing changed"
    );
}

#[test]
fn after_the_clock_was_set_the_pace_is_the_same_and_the_store_is_read() {
    let mut world = World::ready(1);
    world.start(10);
    world.pass(SECOND);
    world.at.wall = world.at.wall.plus(30 * DAY);
    assert!(world.feed(Input::ClockWasSet).contains(&"fetch"));
    assert_eq!((world.limits().rate, world.limits().waiting), (Some(80.0), None));
}

#[test]
fn the_record_shows_what_the_provider_allows_and_how_fast_the_channel_was() {
    let mut world = World::ready(1);
    for id in 10..15 {
        world.start(id);
        world.answer(accepted());
        world.flush();
        world.pass(SECOND);
    }
    let pace = world.limits().pace;
    assert!((pace.per_second - 0.5).abs() < 0.01, "{pace:?}");
    assert_eq!(pace.step, 10 * SECOND);
    assert_eq!(pace.points.len(), 1);
    assert_eq!(pace.points[0].limit, Some(80.0));
}

#[test]
fn a_caller_who_ends_a_send_is_answered_when_that_is_durable_and_one_who_pauses_it_at_once() {
    let released =
        |id, over, caller| Input::Released { send_id: Uuid::from_u128(id), over, caller: Caller(caller) };
    let callers = |world: &World| world.replies.iter().map(|(caller, _)| caller.0).collect::<Vec<_>>();
    let mut world = World::ready(1);
    world.start(10);
    world.accept(11);
    world.flush();
    world.attempts.truncate(1);
    world.feed(released(10, None, 1));
    assert_eq!(callers(&world), [1]);
    world.feed(released(10, Some(send::State::Canceled), 2));
    world.feed(released(10, Some(send::State::Canceled), 3));
    assert_eq!(callers(&world), [1], "the mark of its end is being written");
    world.flush();
    assert_eq!(callers(&world), [1, 2, 3], "though its message is under way");
    world.answer(accepted());
    assert_eq!((world.outcome().state, world.mark(10).state), (State::Sent, send::State::Canceled));
    world.feed(released(99, Some(send::State::Canceled), 4));
    assert_eq!(callers(&world), [1, 2, 3, 4]);
    // A send that was released before it arrived is not begun when it arrives.
    let looks = world.fetches.len();
    world.accept(99);
    assert_eq!((world.fetches.len(), world.mark(11).state), (looks + 1, send::State::Active));
    assert!(world.machine.lanes.work(Uuid::from_u128(99)).is_none());
}
