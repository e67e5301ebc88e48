//! The requests for an account's templates: one schedule for any number of callers.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::stage::{other_channel, other_number, tell};
use crate::database::{Universe, stores};
use crate::running::{Running, WABA, until};

stores!(
    a_storm_of_webhooks_lists_the_templates_at_once_and_once_more,
    a_failed_listing_of_templates_is_retried_soon,
);

/// The pause between listings by schedule. Requested listings may follow each other after a thirtieth of it.
const INTERVAL: Duration = Duration::from_secs(3);

async fn start(universe: &Universe, interval: Duration) -> Running {
    let running = Running::start(universe, |config| config.cloud_api.template_sync_interval = interval).await;
    until_listed(&running, 1).await;
    running
}

/// Waits for this listing, and returns its time.
async fn until_listed(running: &Running, times: u64) -> Instant {
    until(&format!("listing {times}"), async || running.simulator.template_listings(WABA) >= times).await;
    Instant::now()
}

/// One webhook about a dozen unknown templates.
async fn tell_of_unknown_templates(running: &Running) {
    let change = |number: u64| {
        let value = json!({
            "event": "APPROVED", "message_template_id": number, "message_template_name": format!("new_{number}"),
            "message_template_language": "en_US",
        });
        json!({ "field": "message_template_status_update", "value": value })
    };
    let changes: Vec<Value> = (1..=12).map(change).collect();
    tell(running, &changes).await;
}

async fn a_storm_of_webhooks_lists_the_templates_at_once_and_once_more(universe: &Universe) {
    let interval = Duration::from_secs(2);
    let running = start(universe, interval).await;
    // A second channel of the account adds no schedule of its own.
    other_channel(&running, other_number(), "unlimited").await;
    tell_of_unknown_templates(&running).await;
    let (told, listed) = (Instant::now(), running.simulator.template_listings(WABA));
    // The service knows all changes now. One listing may be on its way to the provider, one more may be for the last
    // changes, and the one after it is on schedule.
    let third = until_listed(&running, listed + 3).await;
    assert!(third - told > interval / 2, "listed three times more within {:?}", third - told);
    running.end().await;
}

async fn a_failed_listing_of_templates_is_retried_soon(universe: &Universe) {
    let running = start(universe, INTERVAL).await;
    let throttle = |span: &str| {
        running.simulator.script(&json!({ "account": { "waba_id": WABA, "throttled_for": span } })).unwrap();
    };
    throttle("1h");
    let refused = until_listed(&running, 2).await;
    let third = until_listed(&running, 4).await;
    assert!(third - refused < INTERVAL, "asked twice again within {:?}", third - refused);
    throttle("0s");
    until_listed(&running, 5).await;
    running.end().await;
}
