//! A channel whose level the provider has not reported yet.

use std::time::Duration;

use serde_json::{Value, json};
use simulator::{Level, Number};

use super::stage::{FIRST, OTHER_NUMBER, other_channel, other_number, send_to, text};
use crate::database::{Universe, stores};
use crate::running::{Running, until};

stores!(
    a_new_channel_keeps_to_its_level_from_its_first_second_on,
    a_number_without_a_reported_level_is_treated_as_standard,
    a_number_that_the_provider_does_not_describe_is_treated_as_standard,
);

const CONTACTS: u64 = 200;
/// What the level allows in a second, and what a slow machine may bring late from the second before.
const MOST: u32 = 80 + 20;

async fn assert_keeps_to_it(running: Running, number: Number, fields: Value) {
    let tag = running.tag("everyone", FIRST, CONTACTS).await;
    let channel = other_channel(&running, number, "unlimited").await;
    let shown = json!({ "number": { "phone_number_id": OTHER_NUMBER, "fields": fields } });
    running.simulator.script(&shown).unwrap();
    send_to(&running, channel, tag, text()).await;
    let figures = || running.simulator.number(OTHER_NUMBER).unwrap();
    until("every message taken", async || figures().messages == CONTACTS).await;
    assert!(figures().max_per_second <= MOST, "{:?}", figures());
    running.end().await;
}

async fn a_new_channel_keeps_to_its_level_from_its_first_second_on(universe: &Universe) {
    // Changes that the service reads from its store come too late.
    let running =
        Running::start(universe, |config| config.engine.watch_interval = Duration::from_secs(5)).await;
    assert_keeps_to_it(running, other_number().at_level(Level::Standard), json!({})).await;
}

async fn a_number_without_a_reported_level_is_treated_as_standard(universe: &Universe) {
    let running = Running::start(universe, |_| {}).await;
    assert_keeps_to_it(running, other_number(), json!({ "throughput": {} })).await;
}

async fn a_number_that_the_provider_does_not_describe_is_treated_as_standard(universe: &Universe) {
    let running = Running::start(universe, |_| {}).await;
    assert_keeps_to_it(running, other_number(), json!({ "id": [] })).await;
}
