//! Deliveries to small receivers on this machine, friendly and hostile.

mod library;

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use parking_lot::Mutex;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

use super::*;
use crate::guard::Lookup;
use domain::webhook::signed_at;

/// Long enough for any answer that comes.
const PATIENCE: Duration = Duration::from_secs(10);
/// Short enough to wait for.
const IMPATIENCE: Duration = Duration::from_millis(300);
const BODY: &[u8] = br#"{"type":"send.finished"}"#;

/// What a receiver writes after each request: an answer, and bytes that repeat after a pause until the client is gone.
struct Script {
    answer: Vec<u8>,
    repeated: Option<(Vec<u8>, Duration)>,
}

/// A receiver that listens until it is dropped.
struct Receiver {
    address: SocketAddr,
    connections: Arc<AtomicUsize>,
    requests: Arc<Mutex<Vec<String>>>,
    listening: JoinHandle<()>,
}

impl Receiver {
    async fn new(answer: &str) -> Self {
        Self::scripted(Script { answer: answer.as_bytes().to_vec(), repeated: None }).await
    }

    async fn repeating(answer: &str, bytes: Vec<u8>, pause: Duration) -> Self {
        Self::scripted(Script { answer: answer.as_bytes().to_vec(), repeated: Some((bytes, pause)) }).await
    }

    async fn scripted(script: Script) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (connections, requests) = (Arc::<AtomicUsize>::default(), Arc::<Mutex<Vec<String>>>::default());
        let (count, heard, script) = (Arc::clone(&connections), Arc::clone(&requests), Arc::new(script));
        let listening = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                count.fetch_add(1, Ordering::SeqCst);
                tokio::spawn(serve(stream, Arc::clone(&script), Arc::clone(&heard)));
            }
        });
        Self { address, connections, requests, listening }
    }

    fn url(&self) -> String {
        format!("http://{}/hook", self.address)
    }

    fn request(&self) -> String {
        let requests = self.requests.lock();
        assert_eq!(requests.len(), 1);
        requests[0].clone()
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.listening.abort();
    }
}

async fn serve(mut stream: TcpStream, script: Arc<Script>, heard: Arc<Mutex<Vec<String>>>) {
    while let Some(request) = read(&mut stream).await {
        heard.lock().push(request);
        if stream.write_all(&script.answer).await.is_err() {
            return;
        }
        while let Some((bytes, pause)) = &script.repeated {
            tokio::time::sleep(*pause).await;
            if stream.write_all(bytes).await.is_err() {
                return;
            }
        }
    }
}

/// A request with its head and its body; `None` at the end of the connection.
async fn read(stream: &mut TcpStream) -> Option<String> {
    let mut request = Vec::new();
    while !request.ends_with(b"\r\n\r\n") {
        request.push(stream.read_u8().await.ok()?);
    }
    let head = String::from_utf8_lossy(&request).into_owned();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
    let mut body = vec![0; length.parse().unwrap()];
    stream.read_exact(&mut body).await.ok()?;
    Some(head + &String::from_utf8_lossy(&body))
}

fn answer(status: u16, headers: &str, body: &str) -> String {
    format!("HTTP/1.1 {status} x\r\nContent-Length: {}\r\n{headers}\r\n{body}", body.len())
}

fn options(timeout: Duration) -> config::Webhooks {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let allow_networks = vec!["127.0.0.0/8".parse().unwrap()];
    config::Webhooks { allow_networks, allow_http: true, timeout }
}

fn delivery(url: &str) -> Delivery {
    signed(url, &[SigningKey::parse(&signature::generate()).unwrap()])
}

/// A delivery that these keys sign.
fn signed(url: &str, keys: &[SigningKey]) -> Delivery {
    let at = Timestamp::now();
    Delivery {
        company_id: Uuid::nil(),
        url: url.to_owned(),
        headers: vec![("Authorization".to_owned(), Secret::new("Bearer hunter2".to_owned()))],
        id: "evt_1".to_owned(),
        at,
        signature: signature::sign(keys, "evt_1", signed_at(at), BODY),
        hub: None,
        body: BODY.to_vec(),
    }
}

async fn deliver(timeout: Duration, url: &str) -> DeliveryAnswer {
    Sender::new(&options(timeout)).unwrap().deliver(delivery(url)).await
}

/// The answer to a delivery to a receiver that always answers so.
async fn answered(text: &str) -> DeliveryAnswer {
    let receiver = Receiver::new(text).await;
    deliver(PATIENCE, &receiver.url()).await
}

#[tokio::test]
async fn a_delivery_is_posted_with_its_signature_and_its_headers() {
    let receiver = Receiver::new(&answer(200, "", "thanks\0")).await;
    let keys = [SigningKey::parse(&signature::generate()).unwrap()];
    let sent = signed(&receiver.url(), &keys);
    let answer = Sender::new(&options(PATIENCE)).unwrap().deliver(sent).await;
    assert!(answer.is_delivered() && !answer.is_gone() && !answer.aborts, "{answer:?}");
    assert_eq!((answer.status, answer.fault, answer.kept.as_str()), (Some(200), None, "thanks"));

    let request = receiver.request();
    let value = |name: &str| {
        let found = request.lines().find_map(|line| line.strip_prefix(&format!("{name}: ")));
        found.unwrap_or_else(|| panic!("there is no {name}: {request}")).to_owned()
    };
    assert!(request.starts_with("POST /hook HTTP/1.1\r\n"), "{request}");
    assert!(request.ends_with(&format!("\r\n\r\n{}", String::from_utf8_lossy(BODY))), "{request}");
    assert_eq!(
        (value("authorization"), value("webhook-id")),
        ("Bearer hunter2".to_owned(), "evt_1".to_owned())
    );
    assert_eq!(value("content-type"), "application/json");
    assert!(value("user-agent").starts_with("pombo/"));
    let timestamp = value("webhook-timestamp").parse().unwrap();
    assert_eq!(value("webhook-signature"), signature::sign(&keys, "evt_1", timestamp, BODY));
}

#[tokio::test]
async fn deliveries_one_after_the_other_share_connections() {
    let receiver = Receiver::new(&answer(204, "", "")).await;
    let sender = Sender::new(&options(PATIENCE)).unwrap();
    for _ in 0..20 {
        assert!(sender.deliver(delivery(&receiver.url())).await.is_delivered());
    }
    assert_eq!(receiver.requests.lock().len(), 20);
    // The client may begin a second connection while the first one is about to be free.
    let connections = receiver.connections.load(Ordering::SeqCst);
    assert!(connections < 10, "{connections} connections");
}

#[tokio::test]
async fn a_receiver_says_that_it_is_gone() {
    let answer = answered(&answer(410, "", "")).await;
    assert!(answer.is_gone() && !answer.is_delivered());
    assert_eq!(answer.fault, Some(DeliveryFault::Status(410)));
}

#[tokio::test]
async fn a_receiver_says_when_to_retry() {
    let day = Duration::from_secs(24 * 60 * 60);
    for (status, value, delay) in [
        (429, "7", Some(Duration::from_secs(7))),
        (503, "Fri, 31 Dec 2100 23:59:59 GMT", Some(day)),
        (429, "soon", None),
        (200, "7", None),
    ] {
        let answer = answered(&answer(status, &format!("Retry-After: {value}\r\n"), "")).await;
        assert_eq!((answer.status, answer.retry_after), (Some(status), delay), "{value}");
        assert_eq!(answer.fault, (status != 200).then_some(DeliveryFault::Status(status)));
    }
}

#[tokio::test]
async fn a_receiver_asks_for_no_further_attempts() {
    let answer = answered(&answer(400, "Webhook-Delivery: abort-message\r\n", "")).await;
    assert!(answer.aborts && !answer.is_delivered());
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let target = Receiver::new(&answer(200, "", "")).await;
    for status in [301, 302, 307, 308] {
        let answer = answered(&answer(status, &format!("Location: {}\r\n", target.url()), "")).await;
        assert_eq!((answer.status, answer.fault), (Some(status), Some(DeliveryFault::Redirect(status))));
    }
    assert_eq!(target.connections.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn of_an_answer_of_ten_megabytes_only_the_beginning_is_read() {
    let head = "HTTP/1.1 200 x\r\nContent-Length: 10000000\r\n\r\n";
    let receiver = Receiver::repeating(head, vec![b'x'; 64 * 1024], Duration::ZERO).await;
    let answer = deliver(PATIENCE, &receiver.url()).await;
    assert!(answer.is_delivered() && answer.took < PATIENCE, "{answer:?}");
    assert_eq!((answer.fault, answer.kept.len()), (Some(DeliveryFault::AnswerTooLong), KEPT_BYTES));
}

#[tokio::test]
async fn an_answer_of_one_byte_a_second_ends_with_the_timeout() {
    let begun = Instant::now();
    let pause = Duration::from_secs(1);
    let receiver = Receiver::repeating("HTTP/1.1 200 x\r\n\r\nslow", vec![b'x'], pause).await;
    let answer = deliver(IMPATIENCE, &receiver.url()).await;
    assert!(answer.is_delivered(), "{answer:?}");
    assert_eq!(
        (answer.fault, answer.kept.as_str()),
        (Some(DeliveryFault::AnswerTooSlow(IMPATIENCE)), "slow")
    );

    // The same with the status line.
    let receiver = Receiver::repeating("HTTP/1.1 ", vec![b'2'], pause).await;
    let answer = deliver(IMPATIENCE, &receiver.url()).await;
    assert!(answer.took >= IMPATIENCE && begun.elapsed() < PATIENCE, "{answer:?}");
    assert_eq!((answer.status, answer.fault), (None, Some(DeliveryFault::Timeout(IMPATIENCE))));
}

#[tokio::test]
async fn an_answer_that_breaks_off_counts_by_its_status() {
    // The client would wait for the rest, if the receiver did not close the connection.
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let receiver = tokio::spawn(async move {
        for text in ["HTTP/1.1 200 x\r\nContent-Length: 9\r\n\r\nhalf", "HTTP/1.1 20", "220 mail\r\n"] {
            let (mut stream, _) = listener.accept().await.unwrap();
            read(&mut stream).await.unwrap();
            stream.write_all(text.as_bytes()).await.unwrap();
        }
    });
    let answer = deliver(PATIENCE, &url).await;
    assert!(answer.is_delivered());
    assert_eq!((answer.fault, answer.kept.as_str()), (Some(DeliveryFault::AnswerBroken), "half"));
    for _ in 0..2 {
        let answer = deliver(PATIENCE, &url).await;
        assert_eq!((answer.status, answer.fault), (None, Some(DeliveryFault::Broken)));
    }
    receiver.await.unwrap();
}

#[tokio::test]
async fn a_receiver_that_does_not_run_refuses_connections() {
    let address = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let answer = deliver(PATIENCE, &format!("http://{address}/")).await;
    assert_eq!((answer.status, answer.fault), (None, Some(DeliveryFault::Refused)));
}

#[tokio::test]
async fn a_receiver_without_tls_is_no_receiver_with_it() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let receiver = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        stream.write_all(b"HTTP/1.1 400 x\r\n\r\n").await.unwrap();
        // Until the client closes the connection.
        let mut bytes = [0; 1024];
        while stream.read(&mut bytes).await.is_ok_and(|length| length > 0) {}
    });
    let answer = deliver(PATIENCE, &format!("https://{address}/")).await;
    assert_eq!((answer.status, answer.fault), (None, Some(DeliveryFault::Tls)));
    receiver.await.unwrap();
}

/// Knows one name, and its address.
struct Names(&'static str, IpAddr);

#[async_trait]
impl Lookup for Names {
    async fn addresses(&self, host: &str) -> io::Result<Vec<IpAddr>> {
        if host == self.0 { Ok(vec![self.1]) } else { Err(io::ErrorKind::NotFound.into()) }
    }
}

#[tokio::test]
async fn a_network_that_is_not_allowed_is_refused_before_a_connection() {
    let receiver = Receiver::new(&answer(200, "", "")).await;
    let port = receiver.address.port();
    let names = Arc::new(Names("hooks.example", receiver.address.ip()));
    let allowed = options(PATIENCE);
    let closed = config::Webhooks { allow_networks: Vec::new(), ..allowed.clone() };
    let sender = Sender::with_lookup(&closed, names.clone()).unwrap();
    for url in [
        receiver.url(),
        format!("http://hooks.example:{port}/"),
        "http://169.254.169.254/latest/meta-data/".to_owned(),
        "http://[::1]/".to_owned(),
        "http://10.0.0.1/".to_owned(),
    ] {
        let answer = sender.deliver(delivery(&url)).await;
        assert_eq!((answer.status, answer.fault), (None, Some(DeliveryFault::Network)), "{url}");
        assert_eq!(sender.check(Uuid::nil(), &url).await, Err(DeliveryFault::Network), "{url}");
    }
    assert_eq!(receiver.connections.load(Ordering::SeqCst), 0);

    let sender = Sender::with_lookup(&allowed, names).unwrap();
    let url = format!("http://hooks.example:{port}/");
    assert_eq!(sender.check(Uuid::nil(), &url).await, Ok(()));
    assert!(sender.deliver(delivery(&url)).await.is_delivered());
    assert_eq!(
        sender.deliver(delivery("http://other.example/")).await.fault,
        Some(DeliveryFault::UnknownHost)
    );
    assert_eq!(sender.check(Uuid::nil(), "http://other.example/").await, Err(DeliveryFault::UnknownHost));
}

#[tokio::test]
async fn an_address_is_https_without_credentials() {
    let options = config::Webhooks { allow_http: false, ..options(PATIENCE) };
    let sender = Sender::new(&options).unwrap();
    for (url, fault) in [
        ("hooks.example", DeliveryFault::Address),
        ("https://", DeliveryFault::Address),
        ("ftp://127.0.0.1/", DeliveryFault::Scheme),
        ("http://127.0.0.1/", DeliveryFault::Unencrypted),
        ("https://user@127.0.0.1/", DeliveryFault::Credentials),
        ("https://:word@127.0.0.1/", DeliveryFault::Credentials),
    ] {
        assert_eq!(sender.check(Uuid::nil(), url).await, Err(fault.clone()), "{url}");
        assert_eq!(sender.deliver(delivery(url)).await.fault, Some(fault), "{url}");
    }
    assert_eq!(sender.check(Uuid::nil(), "https://127.0.0.1:8443/hook?key=1").await, Ok(()));
}

#[tokio::test]
async fn a_header_that_belongs_to_the_protocol_is_not_sent() {
    let receiver = Receiver::new(&answer(200, "", "")).await;
    let sender = Sender::new(&options(PATIENCE)).unwrap();
    for name in ["Host", "content-length", "Transfer-Encoding", "Webhook-Signature", "x team", ""] {
        let headers = vec![(name.to_owned(), Secret::new("x".to_owned()))];
        let answer = sender.deliver(Delivery { headers, ..delivery(&receiver.url()) }).await;
        assert_eq!(answer.fault, Some(DeliveryFault::Header(name.to_owned())));
    }
    let headers = vec![("X-Team".to_owned(), Secret::new("line\nbreak".to_owned()))];
    let answer = sender.deliver(Delivery { headers, ..delivery(&receiver.url()) }).await;
    assert_eq!(answer.fault, Some(DeliveryFault::Header("X-Team".to_owned())));
    assert_eq!(receiver.connections.load(Ordering::SeqCst), 0);
}

#[test]
fn a_delivery_is_not_shown() {
    let shown = format!("{:?}", delivery("https://hooks.example/?token=hunter2"));
    assert_eq!(shown, format!("Delivery(evt_1, {} bytes)", BODY.len()));
}
