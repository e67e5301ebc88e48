//! A receiver of webhooks on a thread of its own, which accepts everything and counts events.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use actix_web::{App, HttpResponse, HttpServer, web};
use parking_lot::Mutex;
use pombo::clock::Timestamp;

/// What each event has once.
const MARK: &[u8] = b"\"sequence\":";
const TIME: &[u8] = b"\"at\":\"";
/// The characters of a time.
const TIME_CHARS: usize = 24;
/// How long events are waited for.
const PATIENCE: Duration = Duration::from_secs(120);

#[derive(Default)]
struct Seen {
    events: AtomicU64,
    /// The largest body so far.
    largest: Mutex<web::Bytes>,
    /// From when an event happened to its arrival in milliseconds, of requests to the path `/timed`.
    latencies: Mutex<Vec<f64>>,
}

pub(super) struct Receiver {
    address: String,
    seen: Arc<Seen>,
}

impl Receiver {
    pub(super) fn start() -> Self {
        let (addresses, address) = mpsc::channel();
        let seen = Arc::<Seen>::default();
        let state = web::Data::from(Arc::clone(&seen));
        std::thread::spawn(move || {
            actix_web::rt::System::new().block_on(async move {
                let server = HttpServer::new(move || {
                    App::new()
                        .app_data(state.clone())
                        .app_data(web::PayloadConfig::new(4 << 20))
                        .route("/timed", web::post().to(time))
                        .route("/counted", web::post().to(count))
                })
                .workers(1)
                .keep_alive(Duration::from_secs(300))
                .disable_signals()
                .bind(("127.0.0.1", 0))
                .unwrap();
                addresses.send(server.addrs()[0].to_string()).unwrap();
                server.run().await.unwrap();
            });
        });
        Self { address: address.recv().unwrap(), seen }
    }

    /// The address for requests whose events are only counted.
    pub(super) fn counted(&self) -> String {
        format!("http://{}/counted", self.address)
    }

    /// The address for requests whose latencies are kept, too.
    pub(super) fn timed(&self) -> String {
        format!("http://{}/timed", self.address)
    }

    pub(super) fn events(&self) -> u64 {
        self.seen.events.load(Ordering::Relaxed)
    }

    /// Waits until there are this many events.
    pub(super) async fn wait(&self, events: u64) {
        let end = Instant::now() + PATIENCE;
        while self.events() < events {
            assert!(Instant::now() < end, "{} of {events} events came", self.events());
            actix_web::rt::time::sleep(Duration::from_millis(2)).await;
        }
    }

    /// The largest body since the last call, and how many events it has.
    pub(super) fn take_largest(&self) -> (web::Bytes, usize) {
        let body = std::mem::take(&mut *self.seen.largest.lock());
        let events = events_of(&body);
        (body, events)
    }

    /// The latencies since the last call.
    pub(super) fn take_latencies(&self) -> Vec<f64> {
        std::mem::take(&mut *self.seen.latencies.lock())
    }
}

async fn count(body: web::Bytes, seen: web::Data<Seen>) -> HttpResponse {
    let events = events_of(&body);
    {
        let mut largest = seen.largest.lock();
        if largest.len() < body.len() {
            *largest = body;
        }
    }
    seen.events.fetch_add(events as u64, Ordering::Relaxed);
    HttpResponse::Ok().finish()
}

async fn time(body: web::Bytes, seen: web::Data<Seen>) -> HttpResponse {
    let now = Timestamp::now();
    let at = body.windows(TIME.len()).position(|part| part == TIME).unwrap() + TIME.len();
    let text = std::str::from_utf8(&body[at..at + TIME_CHARS]).unwrap();
    let latency = now.from_now(Timestamp::parse(text).unwrap());
    seen.latencies.lock().push(latency.as_secs_f64() * 1e3);
    seen.events.fetch_add(1, Ordering::Relaxed);
    HttpResponse::Ok().finish()
}

fn events_of(body: &[u8]) -> usize {
    body.windows(MARK.len()).filter(|part| *part == MARK).count()
}
