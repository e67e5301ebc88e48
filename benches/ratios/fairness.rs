//! Fair shares, counted at the provider in the middle of the run: ten bulk sends on one channel, and a bulk send on
//! each of a thousand channels.

use std::time::{Duration, Instant};

use pombo::clock::Timestamp;

use crate::Row;
use crate::provider::Provider;
use crate::seed::{self, Seed};
use crate::service::{Ground, Service};

const SENDS: usize = 10;
const RECIPIENTS: u64 = 50_000;
const CHANNELS: usize = 1_000;
const RECIPIENTS_EACH: u64 = 1_000;
const PATIENCE: Duration = Duration::from_secs(90);
const LOOK: Duration = Duration::from_millis(2);

pub(crate) fn measure() -> Vec<Row> {
    actix_web::rt::System::new().block_on(async {
        let mut rows = vec![sends().await];
        rows.extend(channels().await);
        rows
    })
}

async fn sends() -> Row {
    let provider = Provider::start();
    let service = Service::start(&provider.url(), "unlimited", 64).await;
    let tag = seed::tag(&service.store, service.company, "everyone").await;
    Seed::at(&service.database.url).await.members(service.company, tag, RECIPIENTS).await;
    // All sends begin together, when the first one gets its turn.
    let begin = beginning(SENDS);
    for _ in 0..SENDS {
        service.send_to_tag_by(service.channel, tag, Some(&begin.to_string())).await;
    }
    assert!(Timestamp::now() < begin, "some were taken in too late to begin with the others");
    let middle = SENDS as u64 * RECIPIENTS / 2;
    assert!(
        provider.wait(PATIENCE, |tally| tally.messages >= middle).await,
        "the sends made too little progress"
    );
    let shares = provider.seen(|tally| shares(&tally.by_send, SENDS));
    service.engine.stop().await;
    row("ten bulk sends on one channel, in the middle of the run", &shares)
}

async fn channels() -> Vec<Row> {
    let provider = Provider::start();
    let ground = Ground::new(&provider.url(), "unlimited", 64).await;
    let seed = Seed::at(&ground.database.url).await;
    let channels = seed.channels(&ground.vault, ground.company, 1_000_000, CHANNELS).await;
    seed.know_levels().await;
    let service = ground.serve().await;
    let tag = seed::tag(&service.store, service.company, "everyone").await;
    seed.members(service.company, tag, RECIPIENTS_EACH).await;
    let begin = beginning(CHANNELS);
    for channel in channels {
        service.send_to_tag_by(channel, tag, Some(&begin.to_string())).await;
    }
    assert!(Timestamp::now() < begin, "some were taken in too late to begin with the others");
    while Timestamp::now() < begin {
        actix_web::rt::time::sleep(LOOK).await;
    }
    let began = Instant::now();
    let all_began = provider.wait(PATIENCE, |tally| tally.by_channel.len() == CHANNELS).await;
    assert!(all_began, "some channels did not begin");
    let (ramp, first) = (began.elapsed(), provider.seen(|tally| tally.by_channel.clone()));
    let middle = CHANNELS as u64 * RECIPIENTS_EACH / 2;
    assert!(
        provider.wait(PATIENCE, |tally| tally.messages >= middle).await,
        "the channels made too little progress"
    );
    let last = provider.seen(|tally| tally.by_channel.clone());
    service.engine.stop().await;
    // Messages that a channel sent before the others began do not count as its share, and a finished channel
    // has none.
    let with_work = last.iter().filter(|(_, messages)| **messages < RECIPIENTS_EACH);
    let mut shares: Vec<_> = with_work.map(|(channel, messages)| messages - first[channel]).collect();
    shares.sort_unstable();
    vec![
        row("1,000 channels with a bulk send each, from when all began to the middle", &shares),
        Row {
            what: "… until all 1,000 channels have begun",
            ours: format!("{:.2} s", ramp.as_secs_f64()),
            yardstick: format!("{} channels were done before the middle", CHANNELS - shares.len()),
            ratio: "–".to_owned(),
            bound: "–",
        },
    ]
}

/// A moment by which `sends` sends are accepted.
fn beginning(sends: usize) -> Timestamp {
    const AT_LEAST: Duration = Duration::from_secs(3);
    const EACH: Duration = Duration::from_millis(25);
    Timestamp::now().plus(AT_LEAST + EACH * u32::try_from(sends).unwrap())
}

/// The messages of each, the fewest first, including the ones without any.
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
