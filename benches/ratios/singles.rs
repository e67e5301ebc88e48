//! Single sends beside a tag send of a million. They come at a steady pace, independent of the service's
//! answers, and each is measured from its planned start. First on an idle service, then while audiences of a
//! million are accepted, then while such an audience is dispatched through the same channel at full speed.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use pombo::clock::Timestamp;

use crate::Row;
use crate::provider::{Provider, SINGLES};
use crate::seed::{self, Seed};
use crate::service::Service;

const RECIPIENTS: u64 = 1_000_000;
const EACH_SECOND: u64 = 200;
const IDLE: Duration = Duration::from_secs(10);
/// Audiences accepted one after the other while singles come.
const ACCEPTS: usize = 8;
/// How long the million runs at most while singles come.
const RUNNING: Duration = Duration::from_secs(15);
/// Time for the service to reach its pace.
const WARMING: Duration = Duration::from_secs(2);

pub(crate) fn measure() -> Vec<Row> {
    actix_web::rt::System::new().block_on(async {
        let provider = Provider::start();
        let service = Service::start(&provider.url(), "unlimited", 64).await;
        let tag = seed::tag(&service.store, service.company, "everyone").await;
        Seed::at(&service.database.url).await.members(service.company, tag, RECIPIENTS).await;
        let mut traffic = Traffic::new(&service);

        traffic.during(actix_web::rt::time::sleep(WARMING), &provider).await;
        let idle = traffic.during(actix_web::rt::time::sleep(IDLE), &provider).await;
        // These sends begin later: this part measures accepting, the part below measures dispatching.
        let later = Timestamp::now().plus(Duration::from_secs(3_600)).to_string();
        let taking_in = async {
            for _ in 0..ACCEPTS {
                service.send_to_tag_by(service.channel, tag, Some(&later)).await;
            }
        };
        let accepting = traffic.during(taking_in, &provider).await;
        service.send_to_tag(tag).await;
        let before = provider.messages();
        let began = Instant::now();
        let dispatched = provider.wait(RUNNING, |tally| tally.messages >= before + RECIPIENTS * 9 / 10);
        let running = traffic
            .during(
                async {
                    let _ = dispatched.await;
                },
                &provider,
            )
            .await;
        let rate = (provider.messages() - before) as f64 / began.elapsed().as_secs_f64();
        service.engine.stop().await;
        traffic.shut_down();
        rows(&idle, &accepting, &running, rate)
    })
}

/// Times beside those of the idle service. Milliseconds, ascending.
pub(crate) fn row(what: &'static str, ours: &[f64], idle: &[f64], bound: &'static str) -> Row {
    Row {
        what,
        ours: shown(ours),
        yardstick: format!("idle {}", shown(idle)),
        ratio: format!("{:.1}", at(ours, 0.99) / at(idle, 0.99)),
        bound,
    }
}

fn shown(values: &[f64]) -> String {
    let [middle, most, all] = [0.5, 0.99, 1.0].map(|share| at(values, share));
    format!("p50 {middle:.1}, p99 {most:.1}, at most {all:.1} ms of {}", values.len())
}

fn rows(idle: &Times, accepting: &Times, running: &Times, rate: f64) -> Vec<Row> {
    let row = |what, ours: &[f64], idle: &[f64]| row(what, ours, idle, "≤ 3.0");
    let mut rows = vec![
        row("202 for 200 single sends a second while 1 M are taken in", &accepting.accepted, &idle.accepted),
        row("… and their arrival at the provider", &accepting.arrived, &idle.arrived),
        row("202 for 200 single sends a second while 1 M run unlimited", &running.accepted, &idle.accepted),
        row("… and their arrival at the provider", &running.arrived, &idle.arrived),
    ];
    rows.push(Row {
        what: "the million meanwhile",
        ours: format!("{rate:.0}/s"),
        yardstick: "–".to_owned(),
        ratio: "–".to_owned(),
        bound: "–",
    });
    rows
}

/// Milliseconds from each send's planned start, ascending.
pub(crate) struct Times {
    pub(crate) accepted: Vec<f64>,
    pub(crate) arrived: Vec<f64>,
}

/// The value below which this share of ascending `values` lies.
pub(crate) fn at(values: &[f64], share: f64) -> f64 {
    let place = (values.len() as f64 * share).ceil() as usize;
    values[place.clamp(1, values.len()) - 1]
}

/// Single sends at a steady pace.
pub(crate) struct Traffic {
    runtime: tokio::runtime::Runtime,
    client: reqwest::Client,
    url: String,
    key: String,
    next: u64,
}

impl Traffic {
    /// Ends its threads without waiting for them; a drop would wait.
    pub(crate) fn shut_down(self) {
        self.runtime.shutdown_background();
    }

    pub(crate) fn new(service: &Service) -> Self {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        Self {
            runtime,
            client: reqwest::Client::builder().tcp_nodelay(true).build().unwrap(),
            url: format!("http://{}/api/v1/chat/{}/messages", service.address, service.channel),
            key: service.key.clone(),
            next: SINGLES,
        }
    }

    /// Sends while `busy` runs, and returns the time that each send took.
    pub(crate) async fn during(&mut self, busy: impl Future<Output = ()>, provider: &Provider) -> Times {
        let over = Arc::new(AtomicBool::new(false));
        let first = self.next;
        let accepted = Arc::<Mutex<Vec<f64>>>::default();
        let (handle, client) = (self.runtime.handle().clone(), self.client.clone());
        let (url, key) = (self.url.clone(), self.key.clone());
        let (ended, results) = (Arc::clone(&over), Arc::clone(&accepted));
        // A thread that sleeps by itself is more punctual than a runtime's timer.
        let pace = std::thread::spawn(move || {
            let began = Instant::now();
            let mut meant = Vec::new();
            let mut posts = Vec::new();
            while !ended.load(Ordering::Relaxed) {
                let start = began + Duration::from_secs_f64(meant.len() as f64 / EACH_SECOND as f64);
                std::thread::sleep(start.saturating_duration_since(Instant::now()));
                let number = first + meant.len() as u64;
                meant.push(start);
                let body = format!(r#"{{"type":"text","message":"hi","phone_number":"{number}"}}"#);
                let request = client.post(&url).bearer_auth(&key).header("Content-Type", "application/json");
                let results = Arc::clone(&results);
                posts.push(handle.spawn(async move {
                    let status = request.body(body).send().await.unwrap().status();
                    assert_eq!(status, 202);
                    results.lock().unwrap().push(start.elapsed().as_secs_f64() * 1e3);
                }));
            }
            (meant, posts)
        });
        busy.await;
        over.store(true, Ordering::Relaxed);
        let (meant, posts) = tokio::task::spawn_blocking(move || pace.join().unwrap()).await.unwrap();
        for post in posts {
            post.await.unwrap();
        }
        self.next += meant.len() as u64;
        let last = self.next;
        let all =
            |tally: &crate::provider::Tally| (first..last).all(|number| tally.singles.contains_key(&number));
        assert!(provider.wait(Duration::from_secs(30), all).await, "single sends never arrived");
        let came = provider.seen(|tally| std::mem::take(&mut tally.singles));
        let mut arrived: Vec<_> = (first..last)
            .zip(meant)
            .map(|(number, meant)| came[&number].duration_since(meant).as_secs_f64() * 1e3)
            .collect();
        let mut accepted = std::mem::take(&mut *accepted.lock().unwrap());
        arrived.sort_by(f64::total_cmp);
        accepted.sort_by(f64::total_cmp);
        Times { accepted, arrived }
    }
}
