//! The service is killed again and again in the middle of a large send: every recipient gets the message, and
//! as long as the provider sends receipts, none gets it twice.

use std::time::Duration;

use rand::RngExt as _;

use super::killed::{Killed, slow};
use super::seed::Seed;
use super::watch::assert_once;
use crate::database::{Universe, stores};
use crate::running::until;

stores!(
    a_service_killed_eight_times_in_one_send_loses_nothing_and_repeats_nothing,
    a_service_that_was_away_longer_than_the_grace_waits_for_receipts_before_it_repeats,
);

const CONTACTS: u64 = 5_000;
const KILLS: u64 = 8;
/// How long the provider takes for an answer.
const LATENCY: Duration = Duration::from_millis(15);

/// The most messages between a start and a kill that comes soon after it.
const SOON: u64 = 200;

async fn a_service_killed_eight_times_in_one_send_loses_nothing_and_repeats_nothing(universe: &Universe) {
    let mut chance = Seed::new().chance();
    let options = [("POMBO__ENGINE__CONCURRENCY", "48"), ("POMBO__ENGINE__IN_FLIGHT", "96")];
    let mut killed = Killed::start(universe, CONTACTS, "unlimited", &options).await;
    slow(&killed, LATENCY);
    let answer = killed.serving.send(&killed.url).await;
    assert_eq!(answer.status, 202, "{}", answer.body);
    let id = answer.json()["send_id"].as_str().unwrap().to_owned();
    for kill in 1..=KILLS {
        // Three of four kills come after this much progress, the others soon after the service's start, some
        // of them at once.
        let step = CONTACTS / (KILLS + 2);
        let enough = if chance.random_ratio(3, 4) {
            (kill - 1) * step + chance.random_range(0..step)
        } else {
            killed.messages() + chance.random_range(0..SOON)
        };
        let enough = enough.min(CONTACTS);
        until("messages before the kill", async || killed.messages() >= enough).await;
        killed.kill_and_start_again().await;
        assert_eq!(
            killed.serving.simulator.number(crate::running::NUMBER).unwrap().repeated,
            0,
            "kill {kill}"
        );
    }
    killed.finished(&id, CONTACTS).await;
    assert_once(&killed.serving.simulator, CONTACTS);
    assert!(killed.in_doubt >= KILLS, "only {} messages were in flight at {KILLS} kills", killed.in_doubt);
    killed.end().await;
}

async fn a_service_that_was_away_longer_than_the_grace_waits_for_receipts_before_it_repeats(
    universe: &Universe,
) {
    const FEW: u64 = 2_000;
    let options = [("POMBO__ENGINE__CONCURRENCY", "48")];
    let mut killed = Killed::start(universe, FEW, "unlimited", &options).await;
    slow(&killed, LATENCY);
    let id = killed.serving.send(&killed.url).await.json()["send_id"].as_str().unwrap().to_owned();
    until("some messages", async || killed.messages() > 500).await;
    // Messages that the first start finds in doubt are written with the time of their retry.
    killed.kill().await;
    killed.start_again().await;
    until("the messages in doubt written", async || killed.doubts().await > 0).await;
    killed.kill().await;
    until("the grace over", async || killed.doubts_within_grace().await == 0).await;
    killed.start_again().await;
    let now = killed.messages();
    until("the service at work again", async || killed.messages() > now + 100).await;
    killed.aim();
    killed.finished(&id, FEW).await;
    assert_once(&killed.serving.simulator, FEW);
    assert_ne!(killed.in_doubt, 0, "nothing was in flight at the kills");
    killed.end().await;
}
