//! Fair shares, counted at the provider in the middle of the run: ten bulk sends on one channel, and a bulk send on
//! each of a thousand channels.

use std::time::Duration;

use crate::Row;
use crate::provider::{Provider, Tally};
use crate::seed::{self, Seed};
use crate::service::{Ground, Service};

const SENDS: usize = 10;
const RECIPIENTS: u64 = 50_000;
const CHANNELS: usize = 1_000;
const RECIPIENTS_EACH: u64 = 500;
const PATIENCE: Duration = Duration::from_secs(50);

pub(crate) fn measure() -> Vec<Row> {
    actix_web::rt::System::new().block_on(async { vec![sends().await, channels().await] })
}

async fn sends() -> Row {
    let provider = Provider::start();
    let service = Service::start(&provider.url(), "unlimited", 64).await;
    let tag = seed::tag(&service.store, service.company, "everyone").await;
    Seed::at(&service.database.url).await.members(service.company, tag, RECIPIENTS).await;
    // All of them begin together, when the first comes to its turn.
    let begin = beginning();
    for _ in 0..SENDS {
        service.send_to_tag_by(service.channel, tag, Some(&begin)).await;
    }
    let middle = SENDS as u64 * RECIPIENTS / 2;
    assert!(provider.wait(PATIENCE, |tally| tally.messages >= middle).await, "the sends did not get on");
    let shares = provider.seen(|tally| shares(&tally.by_send, SENDS));
    service.engine.stop().await;
    row("ten bulk sends on one channel, in the middle of the run", &shares)
}

async fn channels() -> Row {
    let provider = Provider::start();
    let ground = Ground::new(&provider.url(), "unlimited", 64).await;
    let seed = Seed::at(&ground.database.url).await;
    let channels = seed.channels(&ground.vault, ground.company, 1_000_000, CHANNELS).await;
    let service = ground.serve().await;
    let tag = seed::tag(&service.store, service.company, "everyone").await;
    seed.members(service.company, tag, RECIPIENTS_EACH).await;
    let begin = beginning();
    for channel in channels {
        service.send_to_tag_by(channel, tag, Some(&begin)).await;
    }
    let middle = CHANNELS as u64 * RECIPIENTS_EACH / 2;
    assert!(provider.wait(PATIENCE, |tally| tally.messages >= middle).await, "the channels did not get on");
    let shares = provider.seen(|tally: &mut Tally| shares(&tally.by_channel, CHANNELS));
    service.engine.stop().await;
    row("1,000 channels with a bulk send each, in the middle of the run", &shares)
}

/// A moment when everything is taken in.
fn beginning() -> String {
    const MARGIN: Duration = Duration::from_secs(6);
    pombo::clock::Timestamp::now().plus(MARGIN).to_string()
}

/// How much each got done, the least first; those of which nothing came are among them.
fn shares(counts: &std::collections::HashMap<String, u64>, all: usize) -> Vec<u64> {
    let mut shares: Vec<_> = counts.values().copied().collect();
    shares.resize(all.max(shares.len()), 0);
    shares.sort_unstable();
    shares
}

fn row(what: &'static str, shares: &[u64]) -> Row {
    let (least, most) = (shares[0], shares[shares.len() - 1]);
    Row {
        what,
        ours: format!("least {least}, most {most} messages"),
        yardstick: "the same share for each".to_owned(),
        ratio: format!("{:.2}", least as f64 / most as f64),
        bound: "≥ 0.9",
    }
}
