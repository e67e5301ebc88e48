//! People who write to a company: signed webhooks with their texts, at a pace or as fast as they are answered, on a thread of
//! their own, whose time does not count as the service's.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use pombo::clock::Timestamp;
use pombo::domain::phone::PhoneNumber;
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;

use crate::live_pages::this_thread;
use crate::load::{each, read_answer};
use crate::receipts::signature;
use crate::service::Service;

/// The number of the first of them.
const FIRST: u64 = 5_521_910_000_000;
/// What they write.
const TEXT: &str = "Do you have it in blue, and when could it be here? I would come by on Friday.";
const TAKEN: &str = "200";
/// Messages of a webhook where their number does not matter.
const MANY: u64 = 100;

/// People who write in turns.
#[derive(Clone)]
pub(crate) struct Writers {
    address: String,
    path: String,
    people: u64,
    /// The number of the next message.
    next: Arc<AtomicU64>,
    /// Messages that were answered.
    pub(crate) taken: Arc<AtomicU64>,
}

/// How they write.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WritersPace {
    /// Webhooks under way at once.
    pub(crate) connections: u32,
    /// Messages of a webhook.
    pub(crate) in_each: u64,
    /// Messages a second; `None` for as many as are answered.
    pub(crate) each_second: Option<u64>,
}

/// What is being written.
pub(crate) struct Writing {
    /// The thread that writes.
    pub(crate) thread: i32,
    over: Arc<AtomicBool>,
    began: Instant,
    taken: Arc<AtomicU64>,
    before: u64,
    times: JoinHandle<Vec<f64>>,
}

/// What was written.
pub(crate) struct Written {
    pub(crate) each_second: f64,
    /// Milliseconds from the planned start of each webhook to its answer, ascending.
    pub(crate) answered: Vec<f64>,
}

impl Writers {
    pub(crate) fn new(service: &Service, people: u64) -> Self {
        let path = format!("/hooks/meta/{}", service.channel);
        let address = service.address.clone();
        Self { address, path, people, next: Arc::default(), taken: Arc::default() }
    }

    /// The number of one of them.
    pub(crate) fn number(person: u64) -> PhoneNumber {
        PhoneNumber::from_u64(FIRST + person).unwrap()
    }

    /// Lets each of them write so many messages, one after the other.
    pub(crate) async fn write_each(&self, times: u64) {
        let webhooks: Vec<_> = (0..self.people * times / MANY).map(|_| self.webhook(MANY)).collect();
        each(&self.address, &webhooks, TAKEN).await;
    }

    /// Begins to write.
    pub(crate) fn begin(&self, pace: WritersPace) -> Writing {
        let (threads, thread) = mpsc::channel();
        let (over, taken, began) = (Arc::<AtomicBool>::default(), Arc::clone(&self.taken), Instant::now());
        let before = taken.load(Ordering::Relaxed);
        let (writers, ended) = (self.clone(), Arc::clone(&over));
        let times = std::thread::spawn(move || {
            threads.send(this_thread()).unwrap();
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let all =
                    (0..pace.connections).map(|nth| writers.clone().write(pace, nth, Arc::clone(&ended)));
                let times = futures_util::future::join_all(all).await;
                times.into_iter().flatten().collect::<Vec<_>>()
            })
        });
        Writing { thread: thread.recv().unwrap(), over, began, taken, before, times }
    }

    /// Writes over one of the connections. Each has its share of the pace.
    async fn write(self, pace: WritersPace, nth: u32, over: Arc<AtomicBool>) -> Vec<f64> {
        let WritersPace { connections, in_each, each_second } = pace;
        let interval = each_second.map(|rate| Duration::from_secs_f64(in_each as f64 / rate as f64));
        let (mut stream, began) = (TcpStream::connect(&self.address).await.unwrap(), Instant::now());
        stream.set_nodelay(true).unwrap();
        let (mut buffer, mut times, expected) = (vec![0; 8_192], Vec::new(), format!("HTTP/1.1 {TAKEN}"));
        for turn in 0.. {
            let mut start = Instant::now();
            if let Some(interval) = interval {
                start = began + interval * (turn * connections + nth);
                tokio::time::sleep_until(start.into()).await;
            }
            if over.load(Ordering::Relaxed) {
                break;
            }
            let webhook = self.webhook(in_each);
            stream.write_all(&webhook).await.unwrap();
            read_answer(&mut stream, &mut buffer, expected.as_bytes()).await;
            self.taken.fetch_add(in_each, Ordering::Relaxed);
            times.push(start.elapsed().as_secs_f64() * 1e3);
        }
        times
    }

    /// The request of a webhook with the next messages.
    fn webhook(&self, messages: u64) -> Vec<u8> {
        let first = self.next.fetch_add(messages, Ordering::Relaxed);
        let all = (first..first + messages).map(|number| (number % self.people, number));
        self.request(all, TEXT)
    }

    /// The request of a webhook with one text.
    pub(crate) fn saying(&self, person: u64, text: &str) -> Vec<u8> {
        self.request(std::iter::once((person, self.next.fetch_add(1, Ordering::Relaxed))), text)
    }

    fn request(&self, messages: impl Iterator<Item = (u64, u64)>, text: &str) -> Vec<u8> {
        let (now, mut people, mut said) = (Timestamp::now().millis() / 1_000, String::new(), String::new());
        for (person, number) in messages {
            let (comma, from) = (if said.is_empty() { "" } else { "," }, FIRST + person);
            let _ = write!(people, r#"{comma}{{"profile":{{"name":"Writer {person}"}},"wa_id":"{from}"}}"#);
            let _ = write!(
                said,
                r#"{comma}{{"from":"{from}","id":"wamid.HBgLMTY0NjcwNDM1OTUVAgARGBI1{number:08}","timestamp":"{now}","type":"text","text":{{"body":"{text}"}}}}"#
            );
        }
        let body = format!(
            r#"{{"object":"whatsapp_business_account","entry":[{{"id":"2","changes":[{{"field":"messages","value":{{"messaging_product":"whatsapp","metadata":{{"display_phone_number":"15550783881","phone_number_id":"1"}},"contacts":[{people}],"messages":[{said}]}}}}]}}]}}"#
        );
        format!(
            "POST {} HTTP/1.1\r\nHost: {}\r\nX-Hub-Signature-256: {}\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\n\r\n{body}",
            self.path,
            self.address,
            signature(&body),
            body.len()
        )
        .into_bytes()
    }
}

impl Writing {
    /// Ends it.
    pub(crate) async fn end(self) -> Written {
        self.over.store(true, Ordering::Relaxed);
        let seconds = self.began.elapsed().as_secs_f64();
        let mut answered = tokio::task::spawn_blocking(move || self.times.join().unwrap()).await.unwrap();
        answered.sort_by(f64::total_cmp);
        let taken = self.taken.load(Ordering::Relaxed) - self.before;
        Written { each_second: taken as f64 / seconds, answered }
    }
}
