//! Clients that use up the service's resources: silent connections, heads and bodies that never end, answers
//! that are never read. The program runs in a process of its own, with a small limit of open files where that
//! matters.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use reqwest::Method;
use serde_json::{Value, json};

use crate::database::Universe;
use crate::harness::Answer;
use crate::running::{until, until_soon};
use crate::serving::{SERVE, Serving};

/// Under this limit, a process has few files left for clients.
const SMALL_LIMIT: u64 = 300;
/// More connections than the limit that an attacker fills.
const IDLE: usize = 355;
/// A webhook that is smaller than the provider's largest.
const LARGE: usize = 3_000_000;
/// Webhooks of that size that arrive slowly at the same time.
const SLOW_BODIES: usize = 60;
/// A message that goes at once takes less than this, even on a busy machine.
const AT_ONCE: Duration = Duration::from_secs(10);
/// How long a test waits for bytes that must come.
const PATIENCE: Duration = Duration::from_secs(30);

/// The same command under a limit of open files, which it cannot raise.
fn limited(command: &Command, files: u64) -> Command {
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("ulimit -n {files} && exec \"$0\" \"$@\"")]);
    shell.arg(command.get_program()).args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => shell.env(name, value),
            None => shell.env_remove(name),
        };
    }
    shell.current_dir(command.get_current_dir().unwrap()).stdin(Stdio::null());
    shell.stdout(Stdio::piped()).stderr(Stdio::piped());
    shell
}

async fn serving(options: &[(&str, &str)]) -> (Universe, Serving) {
    let universe = Universe::sqlite().await;
    let serving = Serving::new_with(&universe, 1, "unlimited", options).await;
    (universe, serving)
}

fn connect(url: &str) -> TcpStream {
    let stream = TcpStream::connect(url.trim_start_matches("http://")).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream
}

/// All bytes until the service closes the connection; fails the test if it stays open.
fn read_to_end(mut stream: &TcpStream) -> String {
    let (mut all, mut buffer) = (Vec::new(), [0; 65_536]);
    loop {
        match stream.read(&mut buffer) {
            Ok(0) => break,
            Ok(more) => all.extend_from_slice(&buffer[..more]),
            Err(error) if error.kind() == ErrorKind::ConnectionReset => break,
            Err(error) => panic!("the connection stays open: {error}"),
        }
    }
    String::from_utf8_lossy(&all).into_owned()
}

/// A client of its own, so that its connection is known.
struct Asking<'a> {
    client: reqwest::Client,
    url: &'a str,
    serving: &'a Serving,
}

impl<'a> Asking<'a> {
    fn new(serving: &'a Serving, url: &'a str) -> Self {
        let client = reqwest::Client::builder().no_proxy().timeout(PATIENCE).build().unwrap();
        Self { client, url, serving }
    }

    async fn ask(&self, method: Method, path: &str, body: &Value) -> Answer {
        let mut request = self.client.request(method, format!("{}{path}", self.url));
        if !body.is_null() {
            request = request.json(body);
        }
        Answer::to(request.bearer_auth(&self.serving.key)).await
    }

    async fn get(&self, path: &str) -> Answer {
        self.ask(Method::GET, path, &Value::Null).await
    }

    /// The status of `GET path`, which need not be one of the reference's paths.
    async fn status(&self, path: &str) -> u16 {
        let request = self.client.get(format!("{}{path}", self.url)).bearer_auth(&self.serving.key);
        request.send().await.unwrap().status().as_u16()
    }

    async fn send_text(&self) -> Answer {
        let body = json!({ "type": "text", "message": "hi", "phone_number": "5511988887777" });
        let path = format!("/api/v1/chat/{}/messages", self.serving.channel);
        self.ask(Method::POST, &path, &body).await
    }

    /// The value of a metric, 0 when there is none.
    async fn metric(&self, series: &str) -> u64 {
        let shown = self.get("/metrics").await.body;
        let line =
            shown.lines().find_map(|line| line.strip_prefix(series)?.strip_prefix(' ').map(str::to_owned));
        line.map_or(0, |value| value.parse::<f64>().unwrap() as u64)
    }
}

#[tokio::test]
async fn idle_connections_leave_dispatching_its_sockets() {
    let (_universe, mut serving) = serving(&[("POMBO__SERVER__CLIENT_TIMEOUT", "0s")]).await;
    let command = limited(&serving.place.command(SERVE), SMALL_LIMIT);
    let (_child, url) = serving.serve_as(command).await;
    let _idle: Vec<_> = (0..IDLE).map(|_| connect(&url)).collect();
    let asking = Asking::new(&serving, &url);
    let accepted = asking.send_text().await;
    assert_eq!(accepted.status, 202, "{}", accepted.body);
    let started = Instant::now();
    until_soon("the message at the provider", async || serving.figures().0 == 1).await;
    assert!(started.elapsed() < AT_ONCE, "{:?}", started.elapsed());
    let most = asking.metric(r#"pombo_connections_max{listener="public"}"#).await;
    assert!((16..SMALL_LIMIT).contains(&most), "{most}");
    let open = asking.metric(r#"pombo_connections{listener="public"}"#).await;
    assert!(open <= most + 16, "{open} of {most}");
    let ended = asking.metric(r#"pombo_connections_ended_total{reason="room"}"#).await;
    assert!(ended + most + 16 >= IDLE as u64, "{ended} ended");
}

#[tokio::test]
async fn slow_sign_ins_leave_room_for_new_clients() {
    // At this rate the forms may take longer than the test.
    let slowly = [("POMBO__SERVER__CLIENT_RATE", "1B"), ("POMBO__SERVER__BODY_TIMEOUT", "120s")];
    let (_universe, mut serving) = serving(&slowly).await;
    let command = limited(&serving.place.command(SERVE), SMALL_LIMIT);
    let (_child, url) = serving.serve_as(command).await;
    let form = format!(
        "POST /console/sign-in HTTP/1.1\r\nHost: x\r\nSec-Fetch-Site: same-origin\r\n\
         Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 100\r\n\r\nemail={}",
        "a".repeat(80)
    );
    let _slow: Vec<_> = (0..IDLE)
        .map(|_| {
            let mut stream = connect(&url);
            // An earlier one may have made room by now.
            let _ = stream.write_all(form.as_bytes());
            stream
        })
        .collect();
    let asking = Asking::new(&serving, &url);
    let accepted = asking.send_text().await;
    assert_eq!(accepted.status, 202, "{}", accepted.body);
    until_soon("the slow forms in the memory for bodies", async || {
        asking.metric("pombo_body_bytes").await >= 100
    })
    .await;
    let most = asking.metric(r#"pombo_connections_max{listener="public"}"#).await;
    until_soon("the slow forms ended that waited longest", async || {
        let ended = asking.metric(r#"pombo_connections_ended_total{reason="room"}"#).await;
        ended + most + 16 >= IDLE as u64
    })
    .await;
    let page = asking.client.get(format!("{url}/console/sign-in")).send().await.unwrap();
    assert_eq!(page.status(), 200);
}

#[tokio::test]
async fn a_process_with_too_few_files_says_how_many_it_needs() {
    let (_universe, serving) = serving(&[]).await;
    let output = limited(&serving.place.command(SERVE), 100).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success(), "{said}");
    assert!(
        said.contains("the limit of open files, 100, is too small") && said.contains("ulimit -n"),
        "{said}"
    );
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_send_without_a_socket_says_so_and_goes_once_there_is_one() {
    use rlimit::{Resource, prlimit};

    let (_universe, mut serving) = serving(&[("POMBO__CLOUD_API__IDLE_CONNECTIONS", "0")]).await;
    let (child, url) = serving.serve().await;
    let asking = Asking::new(&serving, &url);
    assert_eq!(asking.send_text().await.status, 202);
    until_soon("the first message at the provider", async || serving.figures().0 == 1).await;
    // From here on the process can open no more files and sockets.
    let process = i32::try_from(child.id()).unwrap();
    let (mut soft, mut hard) = (0, 0);
    prlimit(process, Resource::NOFILE, None, Some((&mut soft, &mut hard))).unwrap();
    prlimit(process, Resource::NOFILE, Some((3, hard)), None).unwrap();
    let accepted = asking.send_text().await;
    assert_eq!(accepted.status, 202, "{}", accepted.body);
    let send = format!("/api/v1/sends/{}", accepted.json()["send_id"].as_str().unwrap());
    let mut shown = Value::Null;
    until_soon("a reason to wait", async || {
        shown = asking.get(&send).await.json();
        !shown["waiting"].is_null() && shown["waiting"]["reason"] != "rate"
    })
    .await;
    assert_eq!(shown["waiting"]["reason"], "no_socket", "{shown}");
    assert!(asking.metric(r#"pombo_messages_held_total{reason="no_socket"}"#).await >= 1);
    prlimit(process, Resource::NOFILE, Some((soft, hard)), None).unwrap();
    until("the message at the provider", async || serving.figures().0 == 2).await;
}

#[tokio::test]
async fn a_head_that_never_ends_is_given_up_on_every_request_of_a_connection() {
    let (_universe, mut serving) = serving(&[("POMBO__SERVER__CLIENT_TIMEOUT", "1s")]).await;
    let (_child, url) = serving.serve().await;
    let mut stream = connect(&url);
    stream.write_all(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
    let mut first = [0; 12];
    stream.read_exact(&mut first).unwrap();
    assert_eq!(&first, b"HTTP/1.1 200");
    stream.write_all(b"GET /healthz HTT").unwrap();
    read_to_end(&stream);
    let asking = Asking::new(&serving, &url);
    assert_eq!(asking.metric(r#"pombo_connections_ended_total{reason="head"}"#).await, 1);
}

#[tokio::test]
async fn a_client_that_does_not_read_is_ended() {
    let (_universe, mut serving) = serving(&[("POMBO__SERVER__WRITE_TIMEOUT", "1s")]).await;
    let (_child, url) = serving.serve().await;
    let asking = Asking::new(&serving, &url);
    let size = asking.get("/openapi.json").await.body.len();
    // More than the buffers of both sides hold.
    let requests = b"GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n".repeat(40_000_000 / size);
    let stream = connect(&url);
    let mut writing = stream.try_clone().unwrap();
    let writer = std::thread::spawn(move || {
        // It is cut off in the middle.
        let _ = writing.write_all(&requests);
    });
    until_soon("the end of the connection", async || {
        asking.metric(r#"pombo_connections_ended_total{reason="unread"}"#).await >= 1
    })
    .await;
    writer.join().unwrap();
}

#[tokio::test]
async fn slow_bodies_share_a_budget_and_leave_room_for_others() {
    let (_universe, mut serving) = serving(&[("POMBO__SERVER__BODY_TIMEOUT", "8s")]).await;
    let (_child, url) = serving.serve().await;
    let asking = Asking::new(&serving, &url);
    let head = |length: usize| {
        format!(
            "POST /hooks/meta/{} HTTP/1.1\r\nHost: x\r\nX-Hub-Signature-256: sha256=00\r\nContent-Length: {length}\r\n\r\n",
            serving.channel
        )
    };
    // A body that is larger than any of the provider's is refused by its head.
    let mut larger = connect(&url);
    larger.write_all(head(3 * 1024 * 1024 + 1).as_bytes()).unwrap();
    let refused = read_to_end(&larger);
    assert!(refused.starts_with("HTTP/1.1 413 "), "{refused}");
    let head = head(LARGE);
    let part = [head.as_bytes(), &[b' '; 32_768]].concat();
    let slow: Vec<_> = (0..SLOW_BODIES)
        .map(|_| {
            let mut stream = connect(&url);
            // A refused connection may be closed by now.
            let _ = stream.write_all(&part);
            stream
        })
        .collect();
    until_soon("most of them refused", async || {
        let refused = r#"http_requests_total{route="/hooks/meta/{id}",method="POST",status="503"}"#;
        asking.metric(refused).await >= 40
    })
    .await;
    let (used, most) = (asking.metric("pombo_body_bytes").await, asking.metric("pombo_body_bytes_max").await);
    assert!(used > 0 && used <= most / 2, "{used} of {most}");
    // Another sender has room for a large body meanwhile.
    let numbers: Vec<_> = (0..90_000_u64).map(|number| (5_511_900_000_000 + number).to_string()).collect();
    let many = json!({ "type": "text", "message": "hi", "phone_number": numbers });
    let path = format!("/api/v1/chat/{}/messages?dry_run=true", serving.channel);
    let answer = asking.ask(Method::POST, &path, &many).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    // Each has an answer: there was no room, or the body took too long.
    let answers: Vec<_> = slow.iter().map(read_to_end).collect();
    for answer in &answers {
        let is_refused = answer.starts_with("HTTP/1.1 503 ") && answer.contains("retry-after: ");
        assert!(is_refused || answer.starts_with("HTTP/1.1 408 "), "{answer}");
    }
    assert!(answers.iter().any(|answer| answer.starts_with("HTTP/1.1 408 ")));
    until_soon("the budget given back", async || asking.metric("pombo_body_bytes").await == 0).await;
}

#[tokio::test]
async fn operators_have_a_listener_of_their_own() {
    let (_universe, mut serving) = serving(&[("POMBO__SERVER__OPERATOR_BIND", "127.0.0.1:0")]).await;
    let command = serving.place.command(SERVE);
    let (mut child, started) = serving.serve_told(command).await;
    let [url, operator_url] =
        ["base_url", "operator_url"].map(|name| started[name].as_str().unwrap().to_owned());
    let (public, operators) = (Asking::new(&serving, &url), Asking::new(&serving, &operator_url));
    let key = serving.place.json("operator create ana")["key"].as_str().unwrap().to_owned();
    for path in ["/operator/v1/tiers", "/metrics"] {
        assert_eq!(public.status(path).await, 404, "{path}");
        let request = operators.client.get(format!("{operator_url}{path}")).bearer_auth(&key);
        assert_eq!(Answer::to(request).await.status, 200, "{path}");
    }
    for path in ["/api/v1/chat", "/api/v1/contacts"] {
        assert_eq!(public.get(path).await.status, 200, "{path}");
        assert_eq!(operators.status(path).await, 404, "{path}");
    }
    for asked in [&public, &operators] {
        for path in ["/healthz", "/readyz", "/docs", "/docs/", "/openapi.json"] {
            assert_eq!(asked.get(path).await.status, 200, "{path}");
        }
    }
    // Both end with the process, gracefully.
    drop(child.stdin.take());
    assert!(child.wait_with_output().status.success());
}
