//! A provider that accepts every message and records its channel, its send and its time.

use std::collections::HashMap;
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use actix_web::{App, HttpRequest, HttpResponse, HttpServer, web};
use parking_lot::Mutex;

/// The first number of single sends, each of which goes to a number of its own.
pub(crate) const SINGLES: u64 = 5_512_000_000_000;

const TAKEN: &str = r#"{"messaging_product":"whatsapp","messages":[{"id":"wamid.HBgLMTY0NjcwNDM1OTUVAgARGBI1RjQyNUE3NEYxMzAzMzQ5MkEA"}]}"#;
/// Its level sets no limit, so that only the tier limits the number. A number without a level would get the
/// limit of the lowest one.
const HEALTHY: &str = r#"{"id":"1","display_phone_number":"+1 555 078 3881","quality_rating":"GREEN","status":"CONNECTED",
    "throughput":{"level":"NOT_APPLICABLE"}}"#;
const NO_TEMPLATES: &str = r#"{"data":[]}"#;

/// The requests so far.
#[derive(Default)]
pub(crate) struct Tally {
    pub(crate) messages: u64,
    /// Requests that are no messages: about a number's state or about templates.
    pub(crate) questions: u64,
    /// Messages by the channel's id at the provider, and by send.
    pub(crate) by_channel: HashMap<String, u64>,
    pub(crate) by_send: HashMap<String, u64>,
    /// The time of the message to each single send's number.
    pub(crate) singles: HashMap<u64, Instant>,
    /// Requests, and the questions among them, by the millisecond.
    requests_by_millisecond: Vec<u32>,
    questions_by_millisecond: Vec<u32>,
}

#[derive(Clone)]
pub(crate) struct Provider {
    pub(crate) address: String,
    seen: Arc<Mutex<Tally>>,
}

impl Provider {
    /// Starts a provider on a thread of its own.
    pub(crate) fn start() -> Self {
        let (addresses, address) = mpsc::channel();
        let seen = Arc::<Mutex<Tally>>::default();
        let (state, began) = (web::Data::from(Arc::clone(&seen)), Instant::now());
        std::thread::spawn(move || {
            actix_web::rt::System::new().block_on(async move {
                let server = HttpServer::new(move || {
                    App::new()
                        .app_data(state.clone())
                        .app_data(web::Data::new(began))
                        .default_service(web::to(answer))
                })
                .workers(1)
                // Thousands of channels may connect at once.
                .max_connections(60_000)
                .backlog(16_384)
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

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Reads the requests so far; no request is recorded meanwhile.
    pub(crate) fn seen<T>(&self, look: impl FnOnce(&mut Tally) -> T) -> T {
        look(&mut self.seen.lock())
    }

    pub(crate) fn messages(&self) -> u64 {
        self.seen(|tally| tally.messages)
    }

    /// Waits until the requests are `enough`; `false` if that takes longer than `patience`.
    pub(crate) async fn wait(&self, patience: Duration, enough: impl Fn(&Tally) -> bool) -> bool {
        let end = Instant::now() + patience;
        while !self.seen(|tally| enough(tally)) {
            if Instant::now() > end {
                return false;
            }
            actix_web::rt::time::sleep(Duration::from_millis(5)).await;
        }
        true
    }
}

impl Tally {
    /// Removes all records.
    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }

    /// The most requests, and the most questions among them, in any second.
    pub(crate) fn fastest_second(&self) -> (u32, u32) {
        (fastest(&self.requests_by_millisecond), fastest(&self.questions_by_millisecond))
    }
}

fn fastest(counts: &[u32]) -> u32 {
    const SECOND: usize = 1000;
    let (mut window, mut most) = (0, 0);
    for (at, count) in counts.iter().enumerate() {
        window += count;
        if at >= SECOND {
            window -= counts[at - SECOND];
        }
        most = most.max(window);
    }
    most
}

async fn answer(
    request: HttpRequest,
    body: web::Bytes,
    seen: web::Data<Mutex<Tally>>,
    began: web::Data<Instant>,
) -> HttpResponse {
    let now = Instant::now();
    let mut parts = request.path().split('/').skip(2);
    let (object, edge) = (parts.next().unwrap_or_default(), parts.next());
    let is_message = edge == Some("messages");
    let mut tally = seen.lock();
    let millisecond = usize::try_from(now.duration_since(**began).as_millis()).unwrap();
    count(&mut tally.requests_by_millisecond, millisecond);
    if is_message {
        tally.messages += 1;
        add(&mut tally.by_channel, object);
        let text = std::str::from_utf8(&body).unwrap();
        if let Some((send, _)) = value(text, "biz_opaque_callback_data").and_then(|key| key.split_once('.')) {
            add(&mut tally.by_send, send);
        }
        let number = value(text, "to").and_then(|to| to.trim_start_matches('+').parse().ok());
        if let Some(number) = number.filter(|number| *number >= SINGLES) {
            tally.singles.entry(number).or_insert(now);
        }
    } else {
        tally.questions += 1;
        count(&mut tally.questions_by_millisecond, millisecond);
    }
    drop(tally);
    let text = match edge {
        Some("messages") => TAKEN,
        Some(_) => NO_TEMPLATES,
        None => HEALTHY,
    };
    HttpResponse::Ok().content_type("application/json").body(text)
}

fn count(counts: &mut Vec<u32>, at: usize) {
    if counts.len() <= at {
        counts.resize(at + 1, 0);
    }
    counts[at] += 1;
}

fn add(counts: &mut HashMap<String, u64>, key: &str) {
    match counts.get_mut(key) {
        Some(count) => *count += 1,
        None => {
            counts.insert(key.to_owned(), 1);
        }
    }
}

/// The text of a field of an object whose texts have no quotes in them.
fn value<'a>(json: &'a str, field: &str) -> Option<&'a str> {
    let at = json.find(&format!("\"{field}\":\""))? + field.len() + 4;
    json[at..].split('"').next()
}
