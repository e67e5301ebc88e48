//! The cost of 200 open live pages during a send, and their effect on its pace: a service with the pages and
//! without, in turns.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::oneshot;

use crate::pages::{RATE, Stage, agents};
use crate::service::{Ground, Service};
use crate::{Row, dispatch, median};

const PAGES: usize = 200;
const ROUNDS: usize = 3;
const LASTING: Duration = Duration::from_secs(12);
/// The first seconds, in which the channel begins and the pages open.
const BEGINNING: Duration = Duration::from_secs(3);
/// Messages per second of the tier.
const EXPECTED: f64 = 100.0;

pub(crate) fn measure() -> Vec<Row> {
    let arrivals = Arc::new(AtomicU64::new(0));
    let provider = dispatch::provider(Arc::clone(&arrivals));
    let (mut with, mut without) = (Vec::new(), Vec::new());
    actix_web::rt::System::new().block_on(async {
        let ground = Ground::new(&format!("http://{provider}"), RATE, dispatch::CONCURRENCY).await;
        let stage = Stage::prepare(ground).await;
        let service = &stage.service;
        let agents = agents(service, PAGES).await;
        let places = ["/console/live".to_owned(), format!("/console/sends/{}/live", stage.running)];
        let channel = format!("/console/channels/{}/live", service.channel);
        // Half of them the overview, the others a send and a channel.
        let places = agents.iter().enumerate().map(|(nth, agent)| {
            let place = match nth % 4 {
                0 | 1 => &places[0],
                2 => &places[1],
                _ => &channel,
            };
            page(&service.address, place, agent)
        });
        let places: Vec<_> = places.collect();
        actix_web::rt::time::sleep(BEGINNING).await;
        for _ in 0..ROUNDS {
            without.push(Cost::during(&arrivals, &[]).await);
            let readers = Readers::open(&service.address, places.clone());
            actix_web::rt::time::sleep(BEGINNING).await;
            assert_eq!(service.pages.open_streams(), PAGES);
            with.push(Cost::during(&arrivals, &[readers.thread]).await);
            readers.close(service).await;
        }
        service.engine.stop().await;
    });
    let cores = |costs: &[Cost]| median(costs.iter().map(|cost| cost.cores * 100.0).collect());
    let rates = |costs: &[Cost]| median(costs.iter().map(|cost| cost.messages).collect());
    vec![
        Row {
            what: "200 open live pages while a send goes out at 100/s",
            ours: format!("{:.1} % of a core, the send included", cores(&with)),
            yardstick: format!("without them {:.1} %", cores(&without)),
            ratio: format!("+{:.1} %", cores(&with) - cores(&without)),
            bound: "≤ 5 % of a core",
        },
        Row {
            what: "… messages a second meanwhile",
            ours: format!("{:.1}/s", rates(&with)),
            yardstick: format!("without them {:.1}/s of {EXPECTED}/s", rates(&without)),
            ratio: format!("{:.2}", rates(&with) / rates(&without)),
            bound: "≥ 0.97",
        },
    ]
}

/// The request of an open page for its stream, in the session with this token.
pub(crate) fn page(address: &str, place: &str, session: &str) -> String {
    format!("GET {place} HTTP/1.1\r\nHost: {address}\r\nCookie: pombo_session={session}\r\n\r\n")
}

/// The figures of one period.
pub(crate) struct Cost {
    /// Processor time of this process for each second, without that of some threads.
    pub(crate) cores: f64,
    /// Messages that arrived each second.
    pub(crate) messages: f64,
}

impl Cost {
    /// The figures of the next seconds; the time of the threads `without` is that of clients.
    pub(crate) async fn during(arrivals: &AtomicU64, without: &[i32]) -> Self {
        let spent = || process_time() - without.iter().map(|thread| thread_time(*thread)).sum::<f64>();
        let (before, arrived, began) = (spent(), arrivals.load(Ordering::Relaxed), Instant::now());
        actix_web::rt::time::sleep(LASTING).await;
        let seconds = began.elapsed().as_secs_f64();
        let messages = arrivals.load(Ordering::Relaxed) - arrived;
        Self { cores: (spent() - before) / seconds, messages: messages as f64 / seconds }
    }
}

/// Clients that read the streams, on a thread of their own, whose time does not count as the service's.
pub(crate) struct Readers {
    pub(crate) thread: i32,
    close: oneshot::Sender<()>,
}

impl Readers {
    pub(crate) fn open(address: &str, requests: Vec<String>) -> Self {
        let (close, closed) = oneshot::channel::<()>();
        let (threads, thread) = std::sync::mpsc::channel();
        let address = address.to_owned();
        std::thread::spawn(move || {
            threads.send(this_thread()).unwrap();
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                for request in requests {
                    tokio::spawn(read(address.clone(), request));
                }
                let _ = closed.await;
            });
        });
        Self { thread: thread.recv().unwrap(), close }
    }

    /// Ends them, and waits until the service has noticed.
    pub(crate) async fn close(self, service: &Service) {
        let _ = self.close.send(());
        while service.pages.open_streams() > 0 {
            actix_web::rt::time::sleep(Duration::from_millis(20)).await;
        }
    }
}

async fn read(address: String, request: String) {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut buffer = vec![0; 65_536];
    let first = stream.read(&mut buffer).await.unwrap();
    assert!(buffer[..first].starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(&buffer[..first]));
    while stream.read(&mut buffer).await.is_ok_and(|read| read > 0) {}
}

/// Seconds of processor time of this process.
fn process_time() -> f64 {
    time_of("/proc/self/stat")
}

/// The same of one of its threads.
fn thread_time(thread: i32) -> f64 {
    time_of(&format!("/proc/self/task/{thread}/stat"))
}

fn time_of(file: &str) -> f64 {
    /// `USER_HZ` is the same on all of Linux.
    const TICKS: f64 = 100.0;
    let text = std::fs::read_to_string(file).unwrap_or_default();
    // After the name, which may contain spaces, the times are the twelfth and thirteenth fields.
    let fields = text.rsplit(')').next().unwrap_or_default().split_whitespace().skip(11).take(2);
    fields.filter_map(|field| field.parse::<f64>().ok()).sum::<f64>() / TICKS
}

/// The id of the current thread.
pub(crate) fn this_thread() -> i32 {
    let link = std::fs::read_link("/proc/thread-self").unwrap();
    link.file_name().unwrap().to_str().unwrap().parse().unwrap()
}
