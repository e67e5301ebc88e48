//! The provider throttles a number, a business account or an app.

use std::time::Duration;

use serde_json::{Value, json};
use uuid::Uuid;

use super::stage::{
    FIRST, OTHER_NUMBER, from_now, limit, limits, other_channel, other_number, run_under, send_to, show,
    taken, text, until_it_waits_for,
};
use crate::database::{Universe, stores};
use crate::running::{NUMBER, Running, WABA, until};

stores!(
    a_number_that_is_throttled_in_mid_send_slows_down_and_comes_back_without_loss_or_repeat,
    an_account_that_is_throttled_slows_all_of_its_channels_and_loses_nothing,
    an_app_that_is_throttled_slows_all_of_its_channels_and_loses_nothing,
    the_provider_s_own_estimate_of_an_account_s_throttle_is_kept_by_all_of_its_channels,
);

const RATE: u32 = 300;
const BURST: u32 = 5;
/// Concurrent requests: this many may arrive in a second in which they were not started.
const CONCURRENCY: u32 = 8;
const CONTACTS: u64 = 450;
const OTHERS: u64 = 300;

/// Two channels of one company, account and app, with this pace each.
async fn two_channels(universe: &Universe, rate: u32) -> (Running, Uuid) {
    let running = Running::start(universe, |config| config.engine.concurrency = CONCURRENCY as usize).await;
    let pace = json!({ "messages_per_second": format!("{rate}/s"), "burst": BURST, "pair_interval": "0s" });
    run_under(&running, "brisk", pace).await;
    let other = other_channel(&running, other_number(), "brisk").await;
    (running, other)
}

async fn a_number_that_is_throttled_in_mid_send_slows_down_and_comes_back_without_loss_or_repeat(
    universe: &Universe,
) {
    let (running, other) = two_channels(universe, RATE).await;
    let everyone = running.tag("everyone", FIRST, CONTACTS).await;
    let others = running.tag("others", FIRST + 100_000, OTHERS).await;
    let send = send_to(&running, running.channel, everyone, text()).await;
    until("some messages taken", async || running.delivered().0 > CONTACTS / 3).await;
    let storm = json!({ "number": { "phone_number_id": NUMBER, "throttled_for": "1s" } });
    running.simulator.script(&storm).unwrap();
    send_to(&running, other, others, text()).await;

    let rate = |limits: &Value| limits["rate_per_second"].as_f64().unwrap();
    let mut slowed = Value::Null;
    until("the channel backing off", async || {
        slowed = limits(&running, running.channel).await;
        limit(&slowed, "back_off") != Value::Null
    })
    .await;
    let back_off = limit(&slowed, "back_off");
    assert!(rate(&slowed) <= f64::from(RATE) / 2.0, "{slowed}");
    assert_eq!(
        (&back_off["in_force"], &back_off["set_by"]),
        (&json!(true), &json!("the provider's answer 130429"))
    );
    assert_eq!(limit(&slowed, "messages_per_second")["in_force"], false);
    let waiting = until_it_waits_for(&running, &send, "back_off").await;
    assert!(waiting["waiting"]["sentence"].as_str().unwrap().contains("130429"), "{waiting}");

    let beside = limits(&running, other).await;
    assert_eq!((limit(&beside, "back_off"), rate(&beside)), (Value::Null, f64::from(RATE)));
    until("the other channel done", async || taken(&running, OTHER_NUMBER).0 == OTHERS).await;
    assert!(running.delivered().0 < CONTACTS, "the other channel was as slow");

    let lowest = rate(&limits(&running, running.channel).await);
    until("the channel speeding up", async || {
        rate(&limits(&running, running.channel).await) >= lowest + 0.1 * f64::from(RATE)
    })
    .await;
    running.settled(CONTACTS).await;
    assert_eq!(taken(&running, NUMBER), (CONTACTS, CONTACTS, 0));
    assert_eq!(taken(&running, OTHER_NUMBER), (OTHERS, OTHERS, 0));
    assert_eq!(show(&running, &send).await["counts"]["sent"], CONTACTS);

    let (number, beside) =
        (running.simulator.number(NUMBER).unwrap(), running.simulator.number(OTHER_NUMBER).unwrap());
    assert!(number.throttled > 0 && beside.throttled == 0);
    for figures in [number, beside] {
        assert!(figures.max_per_second <= RATE + BURST + CONCURRENCY + 1, "{figures:?}");
    }
    let columns = running.simulator.timeline(NUMBER).unwrap().accepted;
    let seconds: Vec<u32> = columns.windows(10).map(|second| second.iter().sum()).collect();
    let (slowest, last) = (*seconds.iter().min().unwrap(), *seconds.last().unwrap());
    assert!(slowest < RATE / 4 && last > 2 * slowest, "{seconds:?}");
    running.end().await;
}

async fn an_account_that_is_throttled_slows_all_of_its_channels_and_loses_nothing(universe: &Universe) {
    let throttle = json!({ "account": { "waba_id": WABA, "throttled_for": "1500ms", "regain_minutes": 0 } });
    Box::pin(throttled_in_common(universe, &throttle, "account_throttled")).await;
}

async fn an_app_that_is_throttled_slows_all_of_its_channels_and_loses_nothing(universe: &Universe) {
    let throttle = json!({ "app": { "throttled_for": "1500ms" } });
    Box::pin(throttled_in_common(universe, &throttle, "app_throttled")).await;
}

async fn throttled_in_common(universe: &Universe, throttle: &Value, reason: &str) {
    const EACH: u64 = 150;
    let (running, other) = two_channels(universe, 100).await;
    let sends = begin_on_both(&running, other, EACH).await;
    running.simulator.script(throttle).unwrap();
    for (channel, send) in [running.channel, other].into_iter().zip(&sends) {
        until_it_waits_for(&running, send, reason).await;
        assert_eq!(limits(&running, channel).await["rate_per_second"], 100.0, "a number's own pace stays");
    }
    running.settled(EACH).await;
    for (number, send) in [NUMBER, OTHER_NUMBER].into_iter().zip(&sends) {
        assert_eq!(taken(&running, number), (EACH, EACH, 0));
        assert_eq!(show(&running, send).await["counts"]["sent"], EACH);
    }
    let throttled: u64 = running.simulator.numbers().iter().map(|number| number.throttled).sum();
    assert!((1..100).contains(&throttled), "asked {throttled} times while it took nothing");
    running.end().await;
}

async fn the_provider_s_own_estimate_of_an_account_s_throttle_is_kept_by_all_of_its_channels(
    universe: &Universe,
) {
    const EACH: u64 = 150;
    let (running, other) = two_channels(universe, 100).await;
    let sends = begin_on_both(&running, other, EACH).await;
    let throttle = json!({ "account": { "waba_id": WABA, "throttled_for": "500ms", "regain_minutes": 2 } });
    running.simulator.script(&throttle).unwrap();
    for (channel, send) in [running.channel, other].into_iter().zip(&sends) {
        let shown = until_it_waits_for(&running, send, "account_throttled").await;
        let left = from_now(&shown["waiting"]["until"]);
        assert!(left > Duration::from_secs(60) && left <= Duration::from_secs(120), "{shown}");
        assert_eq!(limits(&running, channel).await["waiting"]["reason"], "account_throttled");
        let counts = &shown["counts"];
        let sum =
            ["queued", "sending", "sent"].map(|state| counts[state].as_u64().unwrap()).iter().sum::<u64>();
        assert_eq!(sum, EACH, "{shown}");
    }
    running.end().await;
}

/// A send through each of both channels, some of whose messages are accepted.
async fn begin_on_both(running: &Running, other: Uuid, each: u64) -> [String; 2] {
    let mut sends = [String::new(), String::new()];
    for (place, channel) in [running.channel, other].into_iter().enumerate() {
        let first = FIRST + 100_000 * place as u64;
        let tag = running.tag(&format!("tag {place}"), first, each).await;
        sends[place] = send_to(running, channel, tag, text()).await;
    }
    for number in [NUMBER, OTHER_NUMBER] {
        until("some messages taken", async || taken(running, number).0 > 20).await;
    }
    sends
}
