//! What people are told: which limits hold, what set them, and the outlook of each send.

use super::*;
use domain::limit::{Allows, Limit, Limits, Origin};
use domain::outlook::{Outlook, Reason};
use domain::rate::Rate;
use domain::tier::Quota;

impl World {
    pub(super) fn limits(&self) -> Limits {
        self.machine.explain(self.at)
    }

    pub(super) fn limit(&self, name: &str) -> Limit {
        self.limits().limits.into_iter().find(|limit| limit.name.as_str() == name).unwrap()
    }

    /// The names of the limits that decide now.
    pub(super) fn binding(&self) -> Vec<&'static str> {
        self.limits()
            .limits
            .iter()
            .filter(|limit| limit.is_binding)
            .map(|limit| limit.name.as_str())
            .collect()
    }

    pub(super) fn outlook(&self, id: u128) -> Option<Outlook> {
        let viewed = Viewed { id: Uuid::from_u128(id), has_template: false };
        self.machine.look_ahead(vec![viewed], self.at).remove(&Uuid::from_u128(id))
    }

    /// A web session that was linked this long ago, and did nothing in the last day.
    pub(super) fn of_web(linked: Duration) -> Self {
        let mut world = Self::with(
            1,
            |_| (),
            |channel| {
                channel.kind = Kind::WebSession;
                channel.tier = "web-new".to_owned();
                channel.linked_at = Some(channel.created_at.minus(linked));
            },
        );
        for size in [Size::Direct, Size::Bulk] {
            world.feed(Input::Fetched { size, result: Ok(nothing()) });
        }
        world
    }
}

#[test]
fn the_lower_of_tier_and_level_sets_the_pace() {
    let paced = |rate| World::with_tier(1, move |tier| tier.messages_per_second = Rate::each_second(rate));
    for (world, rate, binding) in
        [(paced(10), 10.0, "messages_per_second"), (paced(500), 80.0, "provider_level")]
    {
        let limits = world.limits();
        assert_eq!((limits.rate, world.binding()), (Some(rate), vec![binding]));
        let names: Vec<_> = limits.limits.iter().map(|limit| limit.name.as_str()).collect();
        assert_eq!(names, ["messages_per_second", "provider_level", "pair", "template_quota"]);
        assert!(limits.limits.iter().all(|limit| limit.next_slot.is_none()), "nothing waits: {limits:?}");
        let level = Origin::Level { level: Level::Standard, is_known: true };
        assert_eq!(world.limit("provider_level").set_by, level);
    }
    let unpaced = World::with(
        1,
        |tier| {
            tier.messages_per_second = Rate::UNLIMITED;
            tier.pair_interval = Duration::ZERO;
        },
        |channel| {
            channel.level = Some(Level::NotApplicable);
            channel.messaging_limit = Some(Quota::AtMost(250));
        },
    )
    .begun();
    let limits = unpaced.limits();
    let names: Vec<_> = limits.limits.iter().map(|limit| limit.name.as_str()).collect();
    assert_eq!(names, ["messages_per_second", "template_quota", "provider_messaging_limit"]);
    assert_eq!((limits.rate, limits.waiting), (None, None));
    assert_eq!(unpaced.machine.pace(unpaced.at).slowed_to, None);
}

#[test]
fn a_channel_says_how_long_a_message_waits_for_the_pace() {
    let mut world = World::with_tier(1, |tier| tier.messages_per_second = Rate::each_second(2)).begun();
    world.accept(10);
    world.accept(11);
    while world.attempts.is_empty() {
        world.written();
    }
    world.written();
    let limits = world.limits();
    assert_eq!((limits.in_flight, limits.active_sends), (1, 2));
    let waiting = limits.waiting.unwrap();
    let (until, half_a_second) = (waiting.until.unwrap(), world.at.wall.plus(SECOND / 2));
    assert_eq!(waiting.reason, Reason::Rate);
    assert!(until > half_a_second.minus(SECOND / 20) && until <= half_a_second, "{until}");
    assert_eq!(waiting.sentence, "the tier `standard` allows 2/s (option messages_per_second)");
    assert_eq!(world.limit("messages_per_second").next_slot, Some(until));
    assert_eq!(world.limit("provider_level").next_slot, None);
    let outlook = world.outlook(11).unwrap();
    assert_eq!(
        (outlook.rate, outlook.waiting.map(|waiting| waiting.reason)),
        (Some(2.0), Some(Reason::Rate))
    );
    let end = outlook.estimated_end.unwrap();
    assert!(end > world.at.wall && end <= world.at.wall.plus(SECOND), "{end}");
}

#[test]
fn a_channel_that_the_provider_throttles_says_so_until_the_full_pace_is_back() {
    let mut world = World::ready(1);
    world.accept(10);
    world.written();
    world.answer(refused(Disposition::SlowNumber));
    world.written();
    let limits = world.limits();
    assert_eq!((limits.rate, world.binding()), (Some(40.0), vec!["back_off"]));
    let until = world.at.wall.plus(10 * SECOND);
    assert_eq!(world.limit("back_off").allows, Allows::Slowed { per_second: 40.0, until });
    assert_eq!(world.machine.pace(world.at).slowed_to, Some(40.0));
    let paused = Limits { limits: Vec::new(), ..limits };
    assert!(paused.waiting.is_none_or(|waiting| waiting.reason == Reason::BackOff));
    world.pass(10 * SECOND);
    assert_eq!((world.limits().rate, world.machine.pace(world.at).slowed_to), (Some(80.0), None));
}

#[test]
fn webhooks_about_messages_that_were_in_flight_together_halve_the_rate_once() {
    let mut world = World::ready(1);
    let taken_at = world.at.wall;
    let rate_after = |world: &mut World, taken_at| {
        let (disposition, failure) = (Disposition::SlowNumber, failure());
        world.feed(Input::Troubled(Troubled {
            disposition,
            failure,
            is_of_message: true,
            taken_at: Some(taken_at),
        }));
        world.limits().rate
    };
    let rates: Vec<_> = (0..3).map(|_| rate_after(&mut world, taken_at)).collect();
    assert_eq!(rates, [Some(40.0); 3]);
    world.pass(3 * SECOND);
    assert_eq!(rate_after(&mut world, taken_at), Some(52.0), "reported late, but in flight then");
    let now = world.at.wall;
    assert_eq!(rate_after(&mut world, now), Some(26.0), "taken at the halved rate");
}

#[test]
fn a_channel_that_pauses_says_until_when_and_why() {
    let mut world = World::ready(1);
    world.accept(10);
    world.written();
    world.answer(Reply::NotSent(failure()));
    world.written();
    assert!(world.binding().contains(&"pause"), "{:?}", world.limits());
    let (pause, waiting) = (world.limit("pause"), world.limits().waiting.unwrap());
    assert_eq!((pause.allows, pause.next_slot), (Allows::Nothing, waiting.until));
    assert_eq!(waiting.reason, Reason::ProviderPause);
    assert!(waiting.until.unwrap() > world.at.wall);
    assert_eq!(pause.set_by, Origin::Wait { reason: Reason::ProviderPause, sentence: waiting.sentence });
}

#[test]
fn a_refused_channel_has_no_pace_for_its_sends() {
    let mut world = World::ready(1);
    world.accept(10);
    world.accept(11);
    world.written();
    world.answer(refused(Disposition::Disconnect));
    let waiting = world.limits().waiting.unwrap();
    assert_eq!((waiting.reason, waiting.until), (Reason::Disconnected, None));
    assert_eq!(
        waiting.sentence,
        "the channel is disconnected: the provider refused the channel: no. Reconnect it, and the queue goes on"
    );
    let outlook = world.outlook(11).unwrap();
    assert_eq!((outlook.rate, outlook.estimated_end), (None, None));
    assert_eq!(outlook.waiting.unwrap().reason, Reason::Disconnected);
}

#[test]
fn bulk_sends_share_the_pace_and_single_ones_have_all_of_it() {
    let mut world = World::ready(1);
    world.accept_to(10, Recipients::Blocks(800));
    world.accept_to(11, Recipients::Blocks(1_600));
    world.accept(12);
    let share = |world: &World, id| {
        let outlook = world.outlook(id).unwrap();
        (outlook.rate.unwrap(), outlook.estimated_end.unwrap().from_now(world.at.wall).as_secs())
    };
    assert_eq!(share(&world, 10), (40.0, (1 + 800 + 800) / 80));
    assert_eq!(share(&world, 11), (40.0, (1 + 800 + 1_600) / 80));
    assert_eq!(share(&world, 12), (80.0, 0));
    assert_eq!((world.outlook(13), world.limits().active_sends), (None, 3));
}

#[test]
fn a_quota_says_how_much_is_left_of_it() {
    let mut world = World::with_tier(1, |tier| tier.template_quota = Quota::AtMost(5)).begun();
    let limit = world.limit("template_quota");
    assert_eq!(
        (limit.allows, limit.left, limit.next_slot),
        (Allows::People(Quota::AtMost(5)), Some(5), None)
    );
    assert!(!limit.is_binding);
    let at = world.at;
    world.machine.account.want_people(at);
    assert_eq!(world.machine.account.used(at.wall), 0);
    assert_eq!(World::ready(1).limit("template_quota").left, None, "a tier without a quota");
    assert!(world.pass(SECOND).is_empty() || world.limit("template_quota").left == Some(5));
}

#[test]
fn a_web_session_says_what_its_day_allows() {
    let world = World::of_web(Duration::ZERO);
    assert!(
        world.limits().limits.iter().all(|limit| limit.name.as_str() != "daily_cap"),
        "it is not known yet"
    );
    for (linked, used, cap, warm_up) in
        [(0, 3, 20, Some(1)), (1, 20, 40, Some(2)), (5, 0, 150, Some(6)), (6, 200, 200, None)]
    {
        let mut world = World::of_web(linked * DAY);
        let wall = world.at.wall;
        let attempts = (0..used).map(|nth| (wall.minus(DAY / 2), Uuid::from_u128(nth))).collect();
        let strangers = vec![(wall.minus(DAY / 4), PhoneNumber::from_u64(5_511_900_000_000).unwrap())];
        world.feed(Input::WebActivityRead(Ok(WebActivity { attempts, strangers, ..WebActivity::default() })));
        let day = world.limit("daily_cap");
        assert_eq!(day.allows, Allows::Messages(Quota::AtMost(cap)), "day {linked}");
        assert_eq!(day.left, Some(u64::from(cap) - u64::try_from(used).unwrap()));
        let is_full = u128::from(cap) == used;
        assert_eq!((day.is_binding, day.next_slot), (is_full, is_full.then(|| wall.plus(DAY / 2))));
        let tier = "web-new".to_owned();
        let set_by = match warm_up {
            Some(day) => Origin::WarmUp { tier, day },
            None => Origin::Tier { name: tier, options: &["daily_cap"] },
        };
        assert_eq!(day.set_by, set_by);
        let cold = world.limit("cold_contacts");
        assert_eq!((cold.allows, cold.left), (Allows::Strangers(Quota::AtMost(10)), Some(9)));
        assert_eq!((cold.is_binding, cold.next_slot), (false, None));
        let pace = world.limit("messages_per_second");
        assert!(matches!(pace.allows, Allows::Jittered { jitter, .. } if jitter == 4 * SECOND), "{pace:?}");
    }
}

#[test]
fn every_reason_to_wait_has_a_sentence_that_names_it() {
    let paced = |tier: &mut Tier| tier.messages_per_second = Rate::each_second(100);
    for (reply, reason, words) in [
        (
            refused(Disposition::SlowAccount),
            Reason::AccountThrottled,
            "throttles this business account (80007)",
        ),
        (refused(Disposition::SlowApp), Reason::AppThrottled, "throttles this app (4)"),
        (Reply::NoSocket(failure()), Reason::NoSocket, "raise its limit of open files"),
        (Reply::NotSent(failure()), Reason::ProviderPause, "the service retries by itself"),
        (refused(Disposition::Retry), Reason::Retry, "so many messages wait for a retry"),
        (
            refused(Disposition::SlowNumber),
            Reason::BackOff,
            "(130429): it goes at 40.0/s and recovers by itself",
        ),
        (accepted(), Reason::Rate, "the provider's level for the number allows 80/s"),
    ] {
        let deferred = if reason == Reason::Retry { 1 } else { 1_000 };
        let mut world = World::configured(1, paced, |_| (), |engine, _| engine.deferred = deferred).begun();
        world.start(10);
        world.accept(11);
        world.flush();
        world.answer(reply);
        world.flush();
        let waiting = world.limits().waiting.unwrap();
        assert_eq!(waiting.reason, reason);
        assert!(waiting.sentence.contains(words), "{reason}: {}", waiting.sentence);
        assert!(waiting.until.is_some_and(|until| until >= world.at.wall), "{reason}");
    }
}

#[test]
fn the_wait_of_the_rest_of_a_send_is_told_unless_the_whole_channel_waits() {
    let mut world = World::ready(1);
    world.start(10);
    world.answer(refused(Disposition::Pair));
    world.flush();
    let waiting = world.outlook(10).unwrap().waiting.unwrap();
    assert_eq!((waiting.reason, waiting.until), (Reason::Pair, Some(world.at.wall.plus(SECOND))));
    assert!(waiting.sentence.contains("pair_interval"), "{}", waiting.sentence);
    assert_eq!(world.outlook(10).unwrap().rate, None);
    // A bulk send that goes on with others waits for nothing.
    world.accept_bulk(20, order(), &[1, 2, 3]);
    world.pass(SECOND / 50);
    world.flush();
    assert_eq!(world.under_way(), [20]);
    world.answer(refused(Disposition::Pair));
    world.flush();
    let outlook = world.outlook(20).unwrap();
    assert!(outlook.rate.is_some() && outlook.waiting.is_none_or(|it| it.reason == Reason::Rate));
    // The reason that holds the channel takes precedence over the message's own.
    world.feed(Input::Troubled(Troubled {
        disposition: Disposition::Maintenance,
        failure: failure(),
        is_of_message: false,
        taken_at: None,
    }));
    assert_eq!(world.outlook(10).unwrap().waiting.unwrap().reason, Reason::ProviderPause);
}
