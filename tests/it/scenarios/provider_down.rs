//! The provider is down in the middle of a send, in every possible way: the channel waits, reports that, and
//! goes on by itself.

use std::time::Duration;

use pombo::clock::Timestamp;
use pombo::config::Config;
use pombo::domain::channel::Status;
use serde_json::{Value, json};

use super::watch::{all_delivered, assert_once, comes_to, receipts, send_to_many, shown};
use crate::database::{Universe, stores};
use crate::proxy::Proxy;
use crate::running::{Running, until};

stores!(
    a_provider_that_refuses_connections_is_waited_for,
    a_provider_whose_line_is_cut_is_waited_for,
    a_provider_behind_a_broken_proxy_is_waited_for,
    a_provider_that_hangs_is_waited_for,
    a_provider_that_says_that_it_is_down_is_waited_for,
);

const CONTACTS: u64 = 1_500;
/// The pause before unanswered messages of an outage go again; longer than any receipt takes.
const GRACE: Duration = Duration::from_secs(4);
/// A wait that ends later than the first pause by more than this belongs to another pause: the outage lasts.
const ANOTHER_PAUSE: Duration = Duration::from_millis(500);

async fn start(universe: &Universe, change: impl FnOnce(&mut Config)) -> Running {
    let running = Running::start(universe, |config| {
        config.retry.unknown_grace = GRACE;
        config.engine.concurrency = 24;
        config.engine.in_flight = 48;
        change(config);
    })
    .await;
    running.simulator.aim_receipts(Some(receipts(&running))).unwrap();
    running
}

/// A proxy of the provider, which the service uses.
fn line(config: &mut Config) -> Proxy {
    let proxy = Proxy::to(config.cloud_api.base_url.trim_start_matches("http://").to_owned());
    config.cloud_api.base_url = format!("http://{}", proxy.address);
    proxy
}

async fn a_provider_that_refuses_connections_is_waited_for(universe: &Universe) {
    let mut proxy = None;
    let running = start(universe, |config| proxy = Some(line(config))).await;
    let proxy = proxy.unwrap();
    goes_on(&running, || proxy.refuse(), || proxy.mend()).await;
    running.end().await;
}

async fn a_provider_whose_line_is_cut_is_waited_for(universe: &Universe) {
    let mut proxy = None;
    let running = start(universe, |config| proxy = Some(line(config))).await;
    let proxy = proxy.unwrap();
    goes_on(&running, || proxy.cut(), || proxy.mend()).await;
    running.end().await;
}

async fn a_provider_behind_a_broken_proxy_is_waited_for(universe: &Universe) {
    let running = start(universe, |_| {}).await;
    let script = json!([{ "outcome": { "bad_gateway": true } }]);
    goes_on(&running, || running.simulator.script(&script).unwrap(), || running.simulator.end_script()).await;
    running.end().await;
}

async fn a_provider_that_hangs_is_waited_for(universe: &Universe) {
    let running =
        start(universe, |config| config.cloud_api.request_timeout = Duration::from_millis(400)).await;
    let script = json!([{ "outcome": { "hang_then_drop": "20s" } }]);
    goes_on(&running, || running.simulator.script(&script).unwrap(), || running.simulator.end_script()).await;
    running.end().await;
}

async fn a_provider_that_says_that_it_is_down_is_waited_for(universe: &Universe) {
    let running = start(universe, |_| {}).await;
    let turn = |is_out: bool| running.simulator.script(&json!({ "outage": is_out })).unwrap();
    goes_on(&running, || turn(true), || turn(false)).await;
    running.end().await;
}

/// Checks that the send goes on once the trouble is over, and until then names the reason of its wait.
async fn goes_on(running: &Running, begin: impl FnOnce(), end: impl FnOnce()) {
    let id = send_to_many(running, CONTACTS).await;
    until("some messages delivered", async || running.delivered().0 > 300).await;
    begin();
    let mut first = None;
    until("one pause after another", async || {
        assert_ne!(running.status(running.channel).await, Status::Disconnected);
        let record = shown(running, &id).await;
        assert_eq!(record["state"], "active", "the fault came too late to be in the middle of the send");
        let Some(pause) = pause_until(&record) else { return false };
        pause > first.get_or_insert(pause).plus(ANOTHER_PAUSE)
    })
    .await;
    let taken = running.delivered().0;
    assert!(taken < CONTACTS, "{taken}");
    end();
    comes_to(running, &id, "finished").await;
    all_delivered(running, &id, CONTACTS).await;
    assert_once(&running.simulator, CONTACTS);
    assert_eq!(running.status(running.channel).await, Status::Connected);
}

/// The end of the send's wait for a provider that accepts no messages.
fn pause_until(record: &Value) -> Option<Timestamp> {
    let waiting = &record["waiting"];
    if waiting["reason"] != "provider_pause" {
        return None;
    }
    Some(Timestamp::parse(waiting["until"].as_str()?).unwrap())
}
