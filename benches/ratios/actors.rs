//! Many channels: the memory of an idle channel's actor, and the start of a process with 100,000 channels of
//! which 10,000 have work.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use pombo::clock::Timestamp;
use pombo::domain::block::pack;
use pombo::domain::phone::PhoneNumber;
use pombo::domain::send::{Block, Recipients, Schedule, State};
use pombo::store::ledger::{BlockOf, NewSend, PendingWrites};
use pombo::store::sends::StoredLabel;
use uuid::Uuid;

use crate::Row;
use crate::load;
use crate::provider::Provider;
use crate::seed::{FIRST, Seed};
use crate::service::{Ground, resident_kib};

const IDLE: usize = 10_000;
/// Actors that start before the first measurement of the memory, so that the database's caches are full by then.
const WARMING: usize = IDLE;
const KNOWN: usize = 100_000;
const ACTIVE: usize = 10_000;
/// Messages that each active channel has to send.
const RECIPIENTS: u64 = 200;
const RATE: &str = "1/s";
/// The start phase: from the start of the process until this long after every active channel dispatched.
const AFTERWARDS: Duration = Duration::from_secs(5);
const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) fn idle() -> Vec<Row> {
    actix_web::rt::System::new().block_on(idle_actors())
}

pub(crate) fn start() -> Vec<Row> {
    actix_web::rt::System::new().block_on(start_of_many())
}

async fn idle_actors() -> Vec<Row> {
    let provider = Provider::start();
    let ground = Ground::new(&provider.url(), "80/s", 64).await;
    let seed = Seed::at(&ground.database.url).await;
    let channels = seed.channels(&ground.vault, ground.company, 1_000_000, WARMING + IDLE).await;
    seed.know_levels().await;
    let service = ground.serve().await;
    // A dry run starts the channel's actor and leaves no work.
    let body = r#"{"type":"text","message":"hi","phone_number":"+55 11 98888-7777"}"#;
    let requests: Vec<_> = channels
        .iter()
        .map(|channel| service.request_to(&format!("/api/v1/chat/{channel}/messages?dry_run=true"), body))
        .collect();
    let (warming, counted) = requests.split_at(WARMING);
    load::each(&service.address, warming, "200").await;
    settle(&provider).await;
    let before = resident_kib();
    load::each(&service.address, counted, "200").await;
    settle(&provider).await;
    let each = (resident_kib() - before) as f64 / IDLE as f64;
    let questions = provider.seen(|tally| tally.fastest_second().1);
    service.engine.stop().await;
    vec![Row {
        what: "an idle channel's actor, of 10,000",
        ours: format!("{each:.2} KiB"),
        yardstick: format!("the provider was asked at most {questions} times in a second"),
        ratio: "–".to_owned(),
        bound: "≤ 8 KiB",
    }]
}

/// Waits until the memory no longer grows, because the actors' own first work is over: each probes its number at the
/// provider, at most a hundred of them in a second.
async fn settle(provider: &Provider) {
    const STILL: usize = 4;
    let (mut still, mut before) = (0, (0, 0));
    while still < STILL {
        actix_web::rt::time::sleep(Duration::from_millis(500)).await;
        let now = (resident_kib(), provider.seen(|tally| tally.questions));
        still = if (now.0 - before.0).abs() < 64 && now.1 == before.1 { still + 1 } else { 0 };
        before = now;
    }
}

async fn start_of_many() -> Vec<Row> {
    let provider = Provider::start();
    let ground = Ground::new(&provider.url(), RATE, 64).await;
    let seed = Seed::at(&ground.database.url).await;
    let channels = seed.channels(&ground.vault, ground.company, 1_000_000, KNOWN).await;
    seed.know_levels().await;
    work(&ground, &channels[..ACTIVE]).await;
    let Ground { database, store, data, .. } = ground;
    drop((seed, store));

    let began = Instant::now();
    let process = Process::start(data.path(), &database.url, &provider.url());
    let ready = began.elapsed();
    let all = provider.wait(PATIENCE, |tally| tally.by_channel.len() >= ACTIVE).await;
    let dispatching = began.elapsed();
    let (came, missing) = provider.seen(|tally| (tally.messages, ACTIVE - tally.by_channel.len()));
    actix_web::rt::time::sleep(AFTERWARDS).await;
    let (requests, questions) = provider.seen(|tally| tally.fastest_second());
    let later = provider.messages();
    let peak = process.peak_kib();
    drop(process);
    let row = |what, ours, bound| Row {
        what,
        ours,
        yardstick: "100,000 channels, 10,000 with work at 1/s each".to_owned(),
        ratio: "–".to_owned(),
        bound,
    };
    vec![
        row("the start of the process: ready", format!("{:.2} s", ready.as_secs_f64()), "seconds"),
        row(
            "… every channel with work dispatched",
            if all {
                format!("{:.2} s", dispatching.as_secs_f64())
            } else {
                format!("{missing} did not within {} s", PATIENCE.as_secs())
            },
            "seconds",
        ),
        row(
            "… requests to the provider in the fastest second",
            format!("{requests}, of which {questions} were not messages"),
            "little more than 10,000",
        ),
        row(
            "… pace before and after that",
            format!(
                "{:.0}/s, {:.0}/s",
                came as f64 / (dispatching - ready).as_secs_f64(),
                (later - came) as f64 / AFTERWARDS.as_secs_f64()
            ),
            "10,000/s",
        ),
        row("… peak of its memory", format!("{:.0} MiB", peak as f64 / 1024.0), "–"),
    ]
}

/// A bulk send for each of these channels.
async fn work(ground: &Ground, channels: &[Uuid]) {
    const AT_ONCE: usize = 500;
    let lease = ground.store.lease().acquire(&ground.database, "bench").await.unwrap();
    let numbers: Vec<_> =
        (0..RECIPIENTS).filter_map(|number| PhoneNumber::from_u64(FIRST + number)).collect();
    let packed = pack(&numbers);
    for channels in channels.chunks(AT_ONCE) {
        let mut batch = PendingWrites::default();
        for channel in channels {
            let id = Uuid::now_v7();
            batch.sends.push(NewSend {
                id,
                company_id: ground.company,
                channel_id: *channel,
                state: State::Active,
                content: r#"{"type":"text","body":"hi"}"#.to_owned(),
                template_id: None,
                recipients: Recipients::Blocks(RECIPIENTS),
                skipped: 0,
                schedule: Schedule::default(),
                label: StoredLabel::default(),
            });
            batch.blocks.push(BlockOf {
                send_id: id,
                block: Block { first_ordinal: 0, recipients: RECIPIENTS, packed: packed.clone() },
            });
        }
        ground.store.ledger().commit(&lease, &batch, Timestamp::now()).await.unwrap();
    }
}

/// The program itself, ended when dropped.
struct Process(Child);

impl Process {
    /// Starts the program, and returns when it listens.
    fn start(data: &std::path::Path, database: &str, provider: &str) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_pombo"))
            .arg("serve")
            .env("POMBO__DATA__DIR", data)
            .env("POMBO__DATABASE__URL", database)
            .env("POMBO__CLOUD_API__BASE_URL", provider)
            .env("POMBO__SERVER__BIND", "127.0.0.1:0")
            .env("POMBO__LOG__LEVEL", "warn")
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert!(line.contains("listening"), "the service did not start: {line}");
        Self(child)
    }

    fn peak_kib(&self) -> i64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.0.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
        line.trim().trim_end_matches(" kB").parse().unwrap()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
