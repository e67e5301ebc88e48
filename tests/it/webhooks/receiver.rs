//! A receiver of webhooks on this machine, which keeps what it gets and answers as the test wants.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::net::SocketAddr;
use std::sync::Arc;

use parking_lot::Mutex;
use pombo::connector::cloud_api::webhook::verify;
use pombo::connector::webhook::SigningKey;
use pombo::connector::webhook::signature::sign;
use pombo::domain::secret::Secret;
use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// A request that a receiver got.
#[derive(Debug, Clone)]
pub(crate) struct Got {
    headers: BTreeMap<String, String>,
    body: Vec<u8>,
    /// The status of the answer, once it was given.
    status: Option<u16>,
}

#[derive(Default)]
struct Memory {
    got: Vec<Got>,
    /// The addresses of the requests that only ask.
    asked: Vec<String>,
    /// The verify token of a receiver of Meta's webhooks.
    token: Option<String>,
    /// The answers to the next requests; 200 is the answer to all others.
    answers: VecDeque<u16>,
    /// The answer to all requests instead.
    always: Option<u16>,
}

/// Listens until it is dropped.
pub(crate) struct Receiver {
    address: SocketAddr,
    memory: Arc<Mutex<Memory>>,
    /// How many requests it answers; further ones wait.
    answered: watch::Sender<usize>,
    listening: JoinHandle<()>,
}

impl Got {
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).unwrap_or_else(|| panic!("there is no {name}: {:?}", self.headers))
    }

    pub(crate) fn has_header(&self, name: &str) -> bool {
        self.headers.contains_key(name)
    }

    /// Whether the body has no byte of other letters.
    pub(crate) fn is_ascii(&self) -> bool {
        self.body.is_ascii()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }

    /// The events of the request, one or a list.
    pub(crate) fn events(&self) -> Vec<Value> {
        let body = self.json();
        body["events"].as_array().cloned().unwrap_or_else(|| vec![body.clone()])
    }

    /// Whether the request is signed as Meta signs with this app secret.
    pub(crate) fn is_signed_as_by_meta(&self, secret: &str) -> bool {
        let secret = Secret::new(secret.to_owned());
        verify(&secret, &self.body, self.header("x-hub-signature-256"))
    }

    pub(crate) fn is_signed_with(&self, key: &SigningKey) -> bool {
        self.is_signed_with_all(std::slice::from_ref(key))
    }

    /// Whether each of these keys signed the request, in their order, and no other key did.
    pub(crate) fn is_signed_with_all(&self, keys: &[SigningKey]) -> bool {
        let timestamp = self.header("webhook-timestamp").parse().unwrap();
        self.header("webhook-signature") == sign(keys, self.header("webhook-id"), timestamp, &self.body)
    }

    fn is_accepted(&self) -> bool {
        self.status.is_some_and(|status| (200..300).contains(&status))
    }
}

impl Receiver {
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (address, memory) = (listener.local_addr().unwrap(), Arc::<Mutex<Memory>>::default());
        let own = Arc::clone(&memory);
        let (answered, watched) = watch::channel(usize::MAX);
        let listening = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, Arc::clone(&own), watched.clone()));
            }
        });
        Self { address, memory, answered, listening }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/hook", self.address)
    }

    /// Answers the next requests so.
    pub(crate) fn answer_next(&self, answers: impl IntoIterator<Item = u16>) {
        self.memory.lock().answers.extend(answers);
    }

    /// Answers all requests so, or as usual.
    pub(crate) fn answer_always(&self, answer: Option<u16>) {
        self.memory.lock().always = answer;
    }

    /// Answers this many requests, counted from the first one; further ones wait until [`Receiver::answer_all`].
    pub(crate) fn hold_after(&self, requests: usize) {
        self.answered.send_replace(requests);
    }

    /// Answers the requests that wait, and all others.
    pub(crate) fn answer_all(&self) {
        self.answered.send_replace(usize::MAX);
    }

    /// Expects this verify token, as receivers of Meta's webhooks do.
    pub(crate) fn expect_token(&self, token: &str) {
        self.memory.lock().token = Some(token.to_owned());
    }

    /// The addresses of the requests that only asked.
    pub(crate) fn asked(&self) -> Vec<String> {
        self.memory.lock().asked.clone()
    }

    pub(crate) fn got(&self) -> Vec<Got> {
        self.memory.lock().got.clone()
    }

    /// The events, in the order in which they came.
    pub(crate) fn events(&self) -> Vec<Value> {
        self.got().iter().flat_map(Got::events).collect()
    }

    /// The ids of the events, each once.
    pub(crate) fn ids(&self) -> BTreeSet<String> {
        self.ids_of(|_| true)
    }

    /// The ids of the events that it accepted.
    pub(crate) fn accepted(&self) -> BTreeSet<String> {
        self.ids_of(Got::is_accepted)
    }

    /// The ids of the events in requests that have no answer.
    pub(crate) fn unanswered(&self) -> BTreeSet<String> {
        self.ids_of(|got| got.status.is_none())
    }

    fn ids_of(&self, chosen: impl Fn(&Got) -> bool) -> BTreeSet<String> {
        let got = self.got();
        let events = got.iter().filter(|got| chosen(got)).flat_map(Got::events);
        events.map(|event| event["id"].as_str().unwrap().to_owned()).collect()
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.listening.abort();
    }
}

async fn serve(mut stream: TcpStream, memory: Arc<Mutex<Memory>>, mut answered: watch::Receiver<usize>) {
    while let Some((asked, got)) = read(&mut stream).await {
        if let Some(address) = asked {
            let said = challenge(&memory, &address);
            let status = if said.is_empty() { 403 } else { 200 };
            let answer = format!("HTTP/1.1 {status} x\r\nContent-Length: {}\r\n\r\n{said}", said.len());
            if stream.write_all(answer.as_bytes()).await.is_err() {
                return;
            }
            continue;
        }
        let (place, status) = {
            let mut memory = memory.lock();
            memory.got.push(got);
            let next = memory.answers.pop_front();
            (memory.got.len() - 1, memory.always.or(next).unwrap_or(200))
        };
        let may_answer = answered.wait_for(|answered| place < *answered).await.is_ok();
        let answer = format!("HTTP/1.1 {status} x\r\nContent-Length: 0\r\n\r\n");
        if !may_answer || stream.write_all(answer.as_bytes()).await.is_err() {
            return;
        }
        memory.lock().got[place].status = Some(status);
    }
}

/// The challenge of a request with the right verify token; empty for any other.
fn challenge(memory: &Mutex<Memory>, address: &str) -> String {
    let mut memory = memory.lock();
    memory.asked.push(address.to_owned());
    let url = url::Url::parse(&format!("http://receiver{address}")).unwrap();
    let pairs: BTreeMap<String, String> = url.query_pairs().into_owned().collect();
    let is_right = pairs.get("hub.verify_token") == memory.token.as_ref() && pairs["hub.mode"] == "subscribe";
    if is_right { pairs["hub.challenge"].clone() } else { String::new() }
}

/// The next request, with its address if it only asks; `None` at the end of the connection.
async fn read(stream: &mut TcpStream) -> Option<(Option<String>, Got)> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.ok()?);
    }
    let head = String::from_utf8_lossy(&head);
    let asked = head.strip_prefix("GET ").and_then(|rest| rest.split(' ').next()).map(str::to_owned);
    let fields = head.lines().filter_map(|line| line.split_once(": "));
    let headers: BTreeMap<_, _> =
        fields.map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned())).collect();
    let length = headers.get("content-length").map_or(0, |length| length.parse().unwrap());
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await.ok()?;
    Some((asked, Got { headers, body, status: None }))
}
