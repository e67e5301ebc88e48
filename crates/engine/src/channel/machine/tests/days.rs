//! The hours and days of a tier, and a channel's own values of its options.

use serde_json::json;

use super::*;
use domain::limit::{Allows, Origin};
use domain::outlook::Reason;
use domain::rate::Rate;
use domain::tier::{OwnOptions, Quota};

const HOUR: Duration = Duration::from_secs(3_600);

impl World {
    /// Lets time pass until the wall clock shows this, as its timer wakes it. Every write is durable.
    fn until(&mut self, wall: Timestamp) {
        while self.at.wall < wall {
            self.settle();
            self.pass(self.wakes_in().min(wall.from_now(self.at.wall)).max(Duration::from_millis(1)));
        }
        self.settle();
    }
}

/// It is a quarter past ten in the evening when the world begins.
fn at_night() -> (World, Timestamp) {
    let world = World::with_tier(1, |tier| {
        tier.quiet_hours = Some("22:00-08:00 UTC".parse().unwrap());
        tier.messages_per_second = Rate::each_second(10);
    })
    .begun();
    (world, Timestamp::from_millis(1_700_035_200_000))
}

#[test]
fn bulk_sends_rest_in_quiet_hours_and_single_sends_go() {
    let (mut world, morning) = at_night();
    world.accept_bulk(20, order(), &[1, 2, 3]);
    world.flush();
    assert!(world.attempts.is_empty(), "{:?}", world.under_way());
    world.accept(10);
    world.flush();
    world.pass(SECOND);
    world.flush();
    assert_eq!(world.under_way(), [10]);
    world.answer(accepted());
    world.settle();
    assert!(
        world.writes.iter().flat_map(|write| &write.marks).all(|mark| mark.send_id.as_u128() != 20),
        "nothing of the bulk send is reserved"
    );
    let limit = world.limit("quiet_hours");
    assert_eq!((limit.allows, limit.next_slot, limit.is_binding), (Allows::Singles, Some(morning), true));
    let viewed = Viewed { id: Uuid::from_u128(20), has_template: false };
    let outlook = world.machine.look_ahead(vec![viewed], world.at).remove(&Uuid::from_u128(20)).unwrap();
    let waiting = outlook.waiting.unwrap();
    assert_eq!((waiting.reason, waiting.until), (Reason::QuietHours, Some(morning)));
    assert!(waiting.sentence.contains("22:00-08:00 UTC"), "{}", waiting.sentence);
    assert_eq!(outlook.rate, None);
    assert!(outlook.estimated_end.unwrap() >= morning);

    world.until(morning.minus(Duration::from_millis(1)));
    assert!(world.attempts.is_empty());
    world.until(morning.plus(SECOND));
    assert_eq!(world.under_way(), [20, 20, 20]);
    assert!(world.limits().limits.iter().all(|limit| limit.name.as_str() != "quiet_hours"));
}

#[test]
fn retries_of_bulk_sends_rest_too_and_a_bulk_send_stops_when_the_quiet_hours_begin() {
    let mut world = World::with_tier(1, |tier| {
        tier.quiet_hours = Some("22:14-08:00 UTC".parse().unwrap());
        tier.messages_per_second = Rate::each_second(1);
    })
    .begun();
    let evening = Timestamp::from_millis(1_700_000_040_000);
    let people: Vec<u64> = (1..=100).collect();
    world.accept_bulk(20, order(), &people);
    world.flush();
    world.answer(refused(Disposition::Pair));
    let mut started = 1;
    while world.at.wall < evening {
        world.pass(SECOND / 4);
        world.flush();
        started += world.attempts.len();
        while !world.attempts.is_empty() {
            world.answer(accepted());
            world.flush();
        }
    }
    assert!((30..=41).contains(&started), "{started} messages in the forty seconds before");
    world.settle();
    let progress = world.mark(20).progress;
    let handed_out = usize::try_from(progress.high_water).unwrap();
    // One of those that started is the retry.
    assert_eq!(handed_out + 1, started, "what was reserved and not handed out is taken back");
    // The send is read again, and rests here.
    let mut stored = world.stored(20);
    stored.send.recipients = Recipients::Blocks(100);
    stored.send.progress = progress;
    world.found(Size::Bulk, vec![stored]);
    world.read_people(20, progress.high_water, &people[handed_out..]);
    world.until(evening.plus(3 * HOUR));
    assert!(world.attempts.is_empty(), "neither the retry nor what was reserved goes");
    world.until(evening.plus(9 * HOUR + 50 * MINUTE));
    assert!(!world.attempts.is_empty());
}

#[test]
fn a_new_business_account_warms_up_day_by_day() {
    let mut world = World::with(
        1,
        |tier| {
            tier.warm_up = vec![2, 3];
            tier.template_quota = Quota::Unlimited;
        },
        |channel| channel.created_at = channel.created_at.minus(23 * HOUR),
    )
    .begun();
    let begun = world.at.wall;
    world.account_knows(&[]);
    world.settle();
    for id in 10..14 {
        world.accept_template(id, 7);
        world.settle();
        world.pass(SECOND);
        world.settle();
    }
    assert_eq!(world.under_way(), [10, 11]);
    let limit = world.limit("template_quota");
    assert_eq!(limit.allows, Allows::People(Quota::AtMost(2)));
    assert_eq!(limit.set_by, Origin::WarmUp { tier: "standard".to_owned(), day: 1 });
    for _ in 0..2 {
        world.answer(accepted());
    }
    world.until(begun.plus(HOUR - 2 * SECOND));
    assert!(world.fetches.iter().rev().take(2).all(|look| !look.ready.templates));
    world.until(begun.plus(HOUR + SECOND));
    assert!(world.fetches.iter().rev().take(2).any(|look| look.ready.templates), "the next day begins");
    let limit = world.limit("template_quota");
    assert_eq!((limit.allows, limit.left), (Allows::People(Quota::AtMost(3)), Some(1)));
    // After the last day, only the tier's own quota counts, and it has none.
    world.until(begun.plus(25 * HOUR + SECOND));
    assert_eq!(world.limit("template_quota").allows, Allows::People(Quota::Unlimited));
}

#[test]
fn a_channel_s_own_options_replace_those_of_its_tier() {
    let own = |tier: &Tier| {
        let options = json!({ "messages_per_second": "2/s" });
        OwnOptions::new(options.as_object().unwrap().clone(), tier).unwrap()
    };
    let tiers = tier::parse(tier::BUILT_IN).unwrap();
    let standard = tiers.iter().find(|tier| tier.name == "standard").unwrap();
    let mut world = World::with(1, |_| (), |channel| channel.own_options = own(standard)).begun();
    let limit = world.limit("messages_per_second");
    assert_eq!(limit.allows.to_string(), "2/s, burst 1");
    assert_eq!(
        limit.set_by.to_string(),
        "the channel's own options messages_per_second and burst, instead of the tier `standard`"
    );
    // The channel is put under its tier alone again.
    let channel =
        Channel { own_options: OwnOptions::default(), revision: 2, ..(**world.machine.channel()).clone() };
    world.feed(Input::Refreshed(Arc::new(channel)));
    assert_eq!(world.limit("messages_per_second").allows.to_string(), "80/s, burst 1");
}
