//! Several messages to the same recipients: at an even pace, as the tier allows, and no recipient waits for
//! another one's limit.

use std::collections::BTreeMap;

use pombo::clock::Timestamp;
use serde_json::json;

use super::stage::{FIRST, run_under, send_to, taken, text};
use crate::database::{Universe, stores};
use crate::running::{NUMBER, Running, until};

stores!(
    nobody_gets_more_at_once_than_the_tier_allows_and_everybody_gets_everything,
    a_recipient_that_the_provider_wants_slower_waits_alone,
);

const CONTACTS: u64 = 40;
const SENDS: usize = 5;
/// In milliseconds.
const INTERVAL: i64 = 400;
const BURST: i64 = 2;

async fn nobody_gets_more_at_once_than_the_tier_allows_and_everybody_gets_everything(universe: &Universe) {
    let running = Running::start(universe, |_| {}).await;
    let options = json!({
        "messages_per_second": "unlimited", "pair_interval": format!("{INTERVAL}ms"), "pair_burst": BURST,
    });
    run_under(&running, "paired", options).await;
    let tag = running.tag("everyone", FIRST, CONTACTS).await;
    let began = Timestamp::now().millis();
    for _ in 0..SENDS {
        send_to(&running, running.channel, tag, text()).await;
    }
    let all = CONTACTS * SENDS as u64;
    running.settled(all).await;
    assert_eq!(taken(&running, NUMBER), (all, CONTACTS, 0));

    let mut times: BTreeMap<String, Vec<i64>> = BTreeMap::new();
    for message in running.simulator.messages(0, 10_000) {
        times.entry(message.to).or_default().push(message.at.millis());
    }
    for (recipient, times) in times {
        assert_eq!(times.len(), SENDS, "{recipient}");
        for (place, at) in (1..).zip(&times) {
            let soonest = began + INTERVAL * (place - BURST);
            assert!(
                *at >= soonest,
                "{recipient}: message {place} at {at}, the first after {began}: {times:?}"
            );
        }
    }
    running.end().await;
}

async fn a_recipient_that_the_provider_wants_slower_waits_alone(universe: &Universe) {
    let running = Running::start(universe, |_| {}).await;
    let slow = FIRST + 3;
    let refuse = json!({ "match": { "to": slow.to_string() }, "outcome": { "error": { "code": 131_056 } } });
    running.simulator.script(&refuse).unwrap();
    let tag = running.tag("everyone", FIRST, 200).await;
    running.send_to_tag(tag, 200).await;
    until("everybody else reached", async || running.delivered().0 == 199).await;
    for number in [slow, FIRST + 4] {
        let body = json!({ "type": "text", "message": "hi", "phone_number": number });
        assert_eq!(running.send(&body).await.0, 202);
    }
    until("another recipient reached again", async || running.delivered().0 == 200).await;
    let figures = running.simulator.number(NUMBER).unwrap();
    assert_eq!(figures.pair_violations, figures.refused);
    assert!((1..10).contains(&figures.refused), "tried {} times in a moment", figures.refused);

    running.simulator.end_script();
    running.settled(202).await;
    assert_eq!(taken(&running, NUMBER), (202, 200, 0));
    assert_eq!(running.simulator.recipients(NUMBER, 1).into_values().collect::<Vec<_>>(), [2, 2]);
    running.end().await;
}
