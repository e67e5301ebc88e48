//! The pace of a channel, measured at the receiver: never faster, and not much slower.

use std::time::Duration;

use serde_json::json;

use super::stage::{FIRST, run_under, send_to, text};
use crate::database::{Universe, stores};
use crate::running::{NUMBER, Running};

stores!(no_second_holds_more_than_the_rate_and_the_burst_and_the_rate_is_used);

const RATE: u32 = 200;
const BURST: u32 = 4;
/// Concurrent requests: this many may arrive in a span in which they were not started.
const CONCURRENCY: u32 = 8;
const BULK: u64 = 250;
const SINGLES: u64 = 20;

async fn no_second_holds_more_than_the_rate_and_the_burst_and_the_rate_is_used(universe: &Universe) {
    let running = Running::start(universe, |config| config.engine.concurrency = CONCURRENCY as usize).await;
    let pace = json!({ "messages_per_second": format!("{RATE}/s"), "burst": BURST, "pair_interval": "0s" });
    run_under(&running, "paced", pace).await;
    let tags = [running.tag("some", FIRST, BULK).await, running.tag("others", FIRST + 10_000, BULK).await];
    for tag in tags {
        send_to(&running, running.channel, tag, text()).await;
    }
    for number in FIRST + 20_000..FIRST + 20_000 + SINGLES {
        let body = json!({ "type": "text", "message": "hi", "phone_number": number });
        assert_eq!(running.send(&body).await.0, 202);
    }
    let first = 2 * BULK + SINGLES;
    running.settled(first).await;
    assert_eq!(running.delivered(), (first, first));
    let figures = running.simulator.number(NUMBER).unwrap();
    let took = figures.last_at.unwrap().from_now(figures.first_at.unwrap());
    let evenly = Duration::from_secs_f64((first - u64::from(BURST + CONCURRENCY)) as f64 / f64::from(RATE));
    assert!(took >= evenly - Duration::from_millis(20), "too fast: {took:?} for {evenly:?}");
    // A busy machine is late, and the channel does not catch up: this check only tells a pace from a
    // standstill.
    assert!(took <= 12 * evenly, "too slow: {took:?} for {evenly:?}");

    // The pause between two sends allows no more than the burst.
    send_to(&running, running.channel, tags[0], text()).await;
    running.settled(first + BULK).await;
    let figures = running.simulator.number(NUMBER).unwrap();
    assert_eq!((figures.messages, figures.refused), (first + BULK, 0));
    assert!(figures.max_per_second <= RATE + BURST + CONCURRENCY + 1, "{figures:?}");
    let columns = running.simulator.timeline(NUMBER).unwrap().accepted;
    let most = columns.iter().max().unwrap();
    assert!(*most <= RATE / 10 + BURST + CONCURRENCY + 1, "{columns:?}");
    running.end().await;
}
