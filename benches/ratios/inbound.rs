//! What people write, taken in beside a bulk send: two thousand texts a second, each in a signed webhook that is answered once
//! it is on the disk, and as many as are answered. Single sends meanwhile, beside those of the idle service.

use std::time::{Duration, Instant};

use crate::Row;
use crate::provider::Provider;
use crate::seed::{self, Seed};
use crate::service::{Ground, resident_kib};
use crate::singles::{self, Traffic, at};
use crate::writers::{Writers, WritersPace, Written};

/// The rate of the channels, one of which has the bulk send.
const RATE: &str = "1000/s";
/// More than go out meanwhile.
const RECIPIENTS: u64 = 200_000;
/// The first channel of the bulk send, as the provider knows it.
const BULK: usize = 100;
const EACH_SECOND: u64 = 2_000;
/// A fourth of the first messages begin a conversation.
const PEOPLE: u64 = 5_000;
/// Webhooks under way at once, and messages of one where the provider has gathered some.
const CONNECTIONS: u32 = 64;
const GATHERED: u64 = 100;
const WARMING: Duration = Duration::from_secs(2);
const LASTING: Duration = Duration::from_secs(10);

pub(crate) fn measure() -> Vec<Row> {
    actix_web::rt::System::new().block_on(async {
        let provider = Provider::start();
        let ground = Ground::new(&provider.url(), RATE, 64).await;
        let seed = Seed::at(&ground.database.url).await;
        let bulk = seed.channels(&ground.vault, ground.company, BULK, 1).await[0];
        seed.know_levels().await;
        let service = ground.serve().await;
        let tag = seed::tag(&service.store, service.company, "everyone").await;
        seed.members(service.company, tag, RECIPIENTS).await;
        let mut traffic = Traffic::new(&service);
        traffic.during(actix_web::rt::time::sleep(WARMING), &provider).await;
        let idle = traffic.during(actix_web::rt::time::sleep(LASTING), &provider).await;
        service.send_to_tag_by(bulk, tag, None).await;
        traffic.during(actix_web::rt::time::sleep(WARMING), &provider).await;
        let mut sent = Sent::now(&provider);
        let alone = traffic.during(actix_web::rt::time::sleep(LASTING), &provider).await;
        let rate_alone = sent.rate(&provider);

        let writers = Writers::new(&service, PEOPLE);
        let pace = |in_each, each_second| WritersPace { connections: CONNECTIONS, in_each, each_second };
        let (memory, mut most) = (resident_kib(), 0);
        sent = Sent::now(&provider);
        let writing = writers.begin(pace(1, Some(EACH_SECOND)));
        let watching = async { most = most_memory(LASTING).await };
        let beside = traffic.during(watching, &provider).await;
        let steady = writing.end().await;
        let rate_beside = sent.rate(&provider);
        let mut highest = Vec::new();
        for in_each in [1, GATHERED] {
            let writing = writers.begin(pace(in_each, None));
            actix_web::rt::time::sleep(LASTING).await;
            highest.push(writing.end().await);
        }
        let conversations = service.store.of(service.company).conversations();
        let kept = conversations.provider_ids(service.channel).await.unwrap().len() as u64;
        assert_eq!(kept, writers.taken.load(std::sync::atomic::Ordering::Relaxed), "each is kept once");
        service.engine.stop().await;
        traffic.shut_down();

        let mut rows = rows(&steady, &highest);
        rows.extend([
            singles::row(
                "202 for 200 single sends a second meanwhile",
                &beside.accepted,
                &idle.accepted,
                "≤ 2.0",
            ),
            singles::row("… and their arrival at the provider", &beside.arrived, &idle.arrived, "≤ 2.0"),
            singles::row("… 202 beside the bulk send alone", &alone.accepted, &idle.accepted, "–"),
            singles::row("… arrival beside the bulk send alone", &alone.arrived, &idle.arrived, "–"),
            Row {
                what: "… the bulk send meanwhile",
                ours: format!("{rate_beside:.0}/s"),
                yardstick: format!("without inbound messages {rate_alone:.0}/s"),
                ratio: format!("{:.2}", rate_beside / rate_alone),
                bound: "≥ 0.97",
            },
            Row {
                what: "… memory meanwhile",
                ours: format!("+{:.1} MiB", (most - memory) as f64 / 1_024.0),
                yardstick: format!("the service before {:.1} MiB", memory as f64 / 1_024.0),
                ratio: "–".to_owned(),
                bound: "≤ +64 MiB",
            },
        ]);
        rows
    })
}

fn rows(steady: &Written, highest: &[Written]) -> Vec<Row> {
    let row = |what, written: &Written, bound| {
        let [middle, most] = [0.5, 0.99].map(|share| at(&written.answered, share));
        Row {
            what,
            ours: format!("{:.0}/s, answers p50 {middle:.1}, p99 {most:.1} ms", written.each_second),
            yardstick: format!("{EACH_SECOND}/s"),
            ratio: format!("{:.2}", written.each_second / EACH_SECOND as f64),
            bound,
        }
    };
    vec![
        row("texts of people, one in a webhook, at 2,000/s beside a bulk send of 1,000/s", steady, "≥ 0.99"),
        row("… as many as are answered, one in a webhook", &highest[0], "≥ 1.0"),
        row("… as many as are answered, 100 in a webhook", &highest[1], "≥ 1.0"),
    ]
}

/// The messages of the bulk send so far.
struct Sent {
    messages: u64,
    at: Instant,
}

impl Sent {
    fn now(provider: &Provider) -> Self {
        let messages = provider.seen(|tally| tally.by_channel.get(&BULK.to_string()).copied());
        Self { messages: messages.unwrap_or_default(), at: Instant::now() }
    }

    /// Messages a second since then.
    fn rate(&self, provider: &Provider) -> f64 {
        let now = Self::now(provider);
        (now.messages - self.messages) as f64 / now.at.duration_since(self.at).as_secs_f64()
    }
}

/// The most memory of this process within this time, in KiB.
async fn most_memory(lasting: Duration) -> i64 {
    let (end, mut most) = (Instant::now() + lasting, 0);
    while Instant::now() < end {
        most = most.max(resident_kib());
        actix_web::rt::time::sleep(Duration::from_millis(100)).await;
    }
    most
}
