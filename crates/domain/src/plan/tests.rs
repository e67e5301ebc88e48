//! The model in cases, and what must hold for every course.

use proptest::prelude::*;

use super::*;
use crate::rate::Rate;

const DAY: u64 = 86_400;

fn tier(rate: &str, quota: Option<u32>) -> Tier {
    let mut tier: Tier = serde_json::from_str(
        r#"{"name": "t", "kind": "business_account", "messages_per_second": "unlimited"}"#,
    )
    .unwrap();
    tier.messages_per_second = rate.parse().unwrap();
    tier.template_quota = quota.map_or(Quota::Unlimited, Quota::AtMost);
    tier
}

fn templates(recipients: u64) -> Course {
    Course { recipients, has_template: true, ..Course::default() }
}

fn bulk(plain: u64, templates: u64) -> Amount {
    Amount { plain, templates }
}

/// Milliseconds, and what decides.
fn told(course: &Course, tier: &Tier) -> (Option<u64>, Option<Binding>) {
    let Estimate { takes, binding } = estimate(course, tier);
    (takes.map(|takes| (takes.as_secs_f64() * 1e3).round() as u64), binding)
}

#[test]
fn the_pace_decides_where_nothing_else_does() {
    let course = templates(1_000);
    assert_eq!(told(&course, &tier("80/s", None)), (Some(12_500), Some(Binding::MessagesPerSecond)));
    assert_eq!(told(&course, &tier("10/min", None)), (Some(6_000_000), Some(Binding::MessagesPerSecond)));
    assert_eq!(told(&course, &tier("unlimited", None)), (None, None));
    let leveled = Course { level: Some(Level::Standard), ..course.clone() };
    assert_eq!(told(&leveled, &tier("1000/s", None)), (Some(12_500), Some(Binding::ProviderLevel)));
    assert_eq!(told(&leveled, &tier("80/s", None)).1, Some(Binding::MessagesPerSecond));
    let slowed = Course { slowed_to: Some(40.0), ..leveled };
    assert_eq!(told(&slowed, &tier("1000/s", None)), (Some(25_000), Some(Binding::BackOff)));
    let faster = Course { slowed_to: Some(2_000.0), ..course };
    assert_eq!(told(&faster, &tier("1000/s", None)), (Some(1_000), Some(Binding::MessagesPerSecond)));
}

#[test]
fn a_quota_takes_a_day_for_each_time_that_it_is_used_up() {
    let at = |recipients, rate: &str, quota| told(&templates(recipients), &tier(rate, Some(quota)));
    let quota = Some(Binding::TemplateQuota);
    // 250,000 under 100,000: two days, and the last 50,000 at their pace.
    assert_eq!(at(250_000, "80/s", 100_000), (Some((2 * DAY + 625) * 1_000), quota));
    assert_eq!(at(200_000, "80/s", 100_000), (Some((DAY + 1_250) * 1_000), quota));
    assert_eq!(at(100_000, "80/s", 100_000), (Some(1_250_000), Some(Binding::MessagesPerSecond)));
    assert_eq!(at(100_001, "100/s", 100_000).0, Some(DAY * 1_000 + 10), "a day after the first of them");
    assert_eq!(at(1_000, "unlimited", 250), (Some(3 * DAY * 1_000), quota));
    assert_eq!(at(250, "unlimited", 250), (None, None));
    // So slow that the day is over before the quota is used up.
    assert_eq!(at(300_000, "1/s", 100_000), (Some(300_000_000), Some(Binding::MessagesPerSecond)));
    let texts = Course { has_template: false, ..templates(1_000) };
    assert_eq!(told(&texts, &tier("100/s", Some(250))), (Some(10_000), Some(Binding::MessagesPerSecond)));
}

#[test]
fn used_slots_count_until_their_day_is_over() {
    let hours = |hours: u64| Duration::from_secs(hours * 3_600);
    let tier = tier("unlimited", Some(4));
    let quota = Some(Binding::TemplateQuota);
    let used = |known, ages: &[u64]| Course {
        written: Written { known, others: ages.iter().map(|age| hours(*age)).collect() },
        ..templates(3)
    };
    assert_eq!(told(&used(0, &[20]), &tier), (None, None), "three are left");
    assert_eq!(told(&used(0, &[20, 6, 1]), &tier), (Some(18 * 3_600_000), quota));
    assert_eq!(told(&used(0, &[30, 20, 1]), &tier), (Some(4 * 3_600_000), quota));
    // Under a lowered quota, the send waits until all surplus people have left the day.
    assert_eq!(told(&used(0, &[20, 10, 5, 4, 3, 2]), &tier), (Some(21 * 3_600_000), quota));
    // A recipient who counts already takes no slot.
    assert_eq!(told(&used(2, &[6]), &tier), (None, None));
    assert_eq!(told(&used(2, &[6, 1]), &tier), (Some(18 * 3_600_000), quota));
}

#[test]
fn messages_ahead_take_time() {
    let queue = Queue { direct: bulk(7, 3), bulk: vec![bulk(100, 0), bulk(0, 300)] };
    assert_eq!(queue.before(100), bulk(107, 103));
    assert_eq!(queue.before(1_000), bulk(107, 303));
    assert_eq!((queue.before(1), queue.total()), (bulk(7, 3), 410));
    let course = Course { queue, ..templates(1_000) };
    assert_eq!(told(&course, &tier("100/s", None)).0, Some(14_100));
    // Templates before it use the quota up first.
    assert_eq!(told(&course, &tier("100/s", Some(1_000))).0, Some(DAY * 1_000 + 4_100));
    // Templates that wait for the quota let texts pass.
    let texts = Course { has_template: false, ..course };
    assert_eq!(told(&texts, &tier("100/s", Some(10))).0, Some(11_170));
}

#[test]
fn the_same_person_hears_again_after_the_interval() {
    let mut tier = tier("unlimited", None);
    (tier.pair_interval, tier.pair_burst) = (Duration::from_secs(6), 10);
    let after = |to_same| told(&Course { to_same, ..templates(5) }, &tier);
    assert_eq!(after(9), (None, None));
    assert_eq!(after(10), (Some(6_000), Some(Binding::Pair)));
    assert_eq!(after(19), (Some(60_000), Some(Binding::Pair)));
    tier.messages_per_second = Rate::each_second(1);
    let course = Course { to_same: 10, ..templates(7) };
    assert_eq!(told(&course, &tier), (Some(7_000), Some(Binding::MessagesPerSecond)));
}

fn courses() -> impl Strategy<Value = Course> {
    let amount = || (0..40_u64, any::<bool>());
    let sorted = |plain| if plain { |n| bulk(n, 0) } else { |n| bulk(0, n) };
    let queue = (0..20_u64, 0..20_u64, prop::collection::vec(amount(), 0..4)).prop_map(
        move |(plain, templates, others)| Queue {
            direct: bulk(plain, templates),
            bulk: others.into_iter().map(|(n, plain)| sorted(plain)(n)).collect(),
        },
    );
    let others = prop::collection::vec(0..DAY + 100, 0..30).prop_map(|mut ages| {
        ages.sort_unstable_by(|one, other| other.cmp(one));
        ages.into_iter().map(Duration::from_secs).collect()
    });
    (1..200_u64, any::<bool>(), queue, 0..15_u64, 0..20_u64, others).prop_map(
        |(recipients, has_template, queue, to_same, known, others)| Course {
            recipients,
            has_template,
            queue,
            to_same,
            written: Written { known: known.min(recipients), others },
            level: None,
            slowed_to: None,
        },
    )
}

fn paced(rate: u32, quota: Option<u32>) -> Tier {
    tier(&if rate == 0 { "unlimited".to_owned() } else { format!("{rate}/min") }, quota)
}

fn seconds(course: &Course, tier: &Tier) -> f64 {
    estimate(course, tier).takes.map_or(0.0, |takes| takes.as_secs_f64())
}

proptest! {
    #[test]
    fn more_recipients_never_take_less(
        course in courses(), more in 1..100_u64, rate in 0..200_u32, quota in prop::option::of(1..60_u32),
    ) {
        let tier = paced(rate, quota);
        let longer = Course { recipients: course.recipients + more, ..course.clone() };
        prop_assert!(seconds(&longer, &tier) >= seconds(&course, &tier) - ROUNDING);
    }

    #[test]
    fn a_higher_rate_never_takes_longer(
        course in courses(), rate in 1..200_u32, faster in 0..200_u32, quota in prop::option::of(1..60_u32),
    ) {
        let slow = seconds(&course, &paced(rate, quota));
        for rate in [rate + faster, 0] {
            prop_assert!(seconds(&course, &paced(rate, quota)) <= slow + ROUNDING);
        }
    }

    #[test]
    fn a_higher_quota_never_takes_longer(
        course in courses(), rate in 0..200_u32, quota in 1..60_u32, larger in 0..60_u32,
    ) {
        // A text does take longer: more templates that were held up go before it.
        let course = Course { has_template: true, ..course };
        let small = seconds(&course, &paced(rate, Some(quota)));
        for quota in [Some(quota + larger), None] {
            prop_assert!(seconds(&course, &paced(rate, quota)) <= small + ROUNDING);
        }
    }

    #[test]
    fn a_quota_steps_by_whole_days(recipients in 1..5_000_u64, quota in 1..400_u32, rate in 1..200_u32) {
        let (tier, each) = (tier(&format!("{rate}/s"), Some(quota)), 1.0 / f64::from(rate));
        let (days, rest) = ((recipients - 1) / u64::from(quota), (recipients - 1) % u64::from(quota));
        let exact = days as f64 * DAY as f64 + (rest + 1) as f64 * each;
        let told = seconds(&templates(recipients), &tier);
        prop_assert!((told - exact).abs() < 1e-3, "{told} and not {exact}");
    }
}
