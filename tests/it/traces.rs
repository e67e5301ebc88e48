//! Traces of sends as a collector gets them, from a service in a process of its own.

mod collector;

use std::collections::BTreeSet;
use std::process::Command;
use std::time::{Duration, Instant};

use opentelemetry_proto::tonic::trace::v1::Span;
use opentelemetry_proto::tonic::trace::v1::span::SpanKind;
use opentelemetry_proto::tonic::trace::v1::status::StatusCode;
use serde_json::{Value, json};
use simulator::ReceiptOptions;

use self::collector::{Collector, texts};
use crate::child::OwnedChild;
use crate::database::Universe;
use crate::harness::Answer;
use crate::proxy::OwnPort;
use crate::running::until_soon;
use crate::serving::Serving;

const ENDPOINT: &str = "POMBO__TELEMETRY__OTLP_ENDPOINT";
const CALLER: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
const PEOPLE: u64 = 40;
/// The recipients of a send of which four messages are traced, from the first on.
const TRACED: [&str; 8] = ["0", "1", "2", "3", "4", "8", "16", "32"];

/// Sends like a caller with an id and a trace of its own, and returns the send's id.
async fn send(serving: &Serving, url: &str, body: &Value) -> String {
    let path = format!("{url}/api/v1/chat/{}/messages", serving.channel);
    let request = reqwest::Client::new().post(path).bearer_auth(&serving.key).json(body);
    let answer = Answer::to(request.header("x-request-id", "job-7").header("traceparent", CALLER)).await;
    assert_eq!(answer.status, 202, "{}", answer.body);
    answer.json()["send_id"].as_str().unwrap().to_owned()
}

fn to_everybody(serving: &Serving) -> Value {
    json!({ "type": "text", "message": "hi", "contact_tag_id": serving.tag })
}

fn to_one() -> Value {
    json!({ "type": "text", "message": "hi", "phone_number": "+5511900000001" })
}

/// The metric with these labels, as the service shows it; zero when it does not.
async fn metric(url: &str, name: &str) -> u64 {
    let shown = Answer::to(reqwest::Client::new().get(format!("{url}/metrics"))).await.body;
    let line = shown.lines().find_map(|line| line.strip_prefix(name));
    line.map_or(0, |value| value.trim().parse().unwrap())
}

/// Asks the service to end, waits for that, and returns the time that it took.
async fn stop(child: &mut OwnedChild) -> Duration {
    let began = Instant::now();
    assert!(Command::new("kill").arg(child.id().to_string()).status().unwrap().success());
    until_soon("the end", async || child.try_wait().unwrap().is_some()).await;
    assert!(child.wait().unwrap().success());
    began.elapsed()
}

fn attribute(span: &Span, name: &str) -> String {
    texts(&span.attributes).remove(name).unwrap_or_else(|| panic!("no {name} in {span:?}"))
}

fn attributes(spans: &[Span], name: &str) -> BTreeSet<String> {
    spans.iter().map(|span| attribute(span, name)).collect()
}

async fn a_send_has_one_trace(universe: Universe) {
    let collector = Collector::start();
    let options = [
        (ENDPOINT, collector.endpoint.as_str()),
        ("POMBO__TELEMETRY__OTLP_HEADERS", "authorization=Bearer s3cret"),
        ("POMBO__TELEMETRY__SERVICE_NAME", "pombo-test"),
        ("POMBO__TELEMETRY__SAMPLE_ATTEMPTS_PER_SEND", "4"),
    ];
    let mut serving = Serving::new_with(&universe, PEOPLE, "unlimited", &options).await;
    let (mut child, url) = serving.serve().await;
    let short = Duration::from_millis(20);
    let receipts = ReceiptOptions { delivered_after: short, read_probability: 0.0, ..serving.receipts(&url) };
    serving.simulator.aim_receipts(Some(receipts)).unwrap();
    let id = send(&serving, &url, &to_everybody(&serving)).await;

    let traced: BTreeSet<_> = TRACED.map(str::to_owned).into();
    until_soon("every traced message delivered", async || {
        let mut receipts = collector.spans(&id, "receipt");
        receipts.retain(|receipt| attribute(receipt, "state") == "delivered");
        attributes(&receipts, "message.ordinal") == traced
    })
    .await;
    let [root] = &collector.spans(&id, "accept")[..] else { panic!("one root") };
    assert_eq!((&root.trace_id[8..], root.parent_span_id.as_slice()), (&root.span_id[..], &[][..]));
    for (name, value) in [
        ("request.id", "job-7"),
        ("send.id", id.as_str()),
        ("channel.id", serving.channel.as_str()),
        ("send.kind", "text"),
        ("send.recipients", "40"),
    ] {
        assert_eq!(attribute(root, name), value, "{name}");
    }
    let [caller] = &root.links[..] else { panic!("one caller") };
    assert_eq!(hex::encode(&caller.trace_id), &CALLER[3..35]);
    assert_eq!(hex::encode(&caller.span_id), &CALLER[36..52]);

    let [resolve] = &collector.spans(&id, "resolve")[..] else { panic!("the send is resolved once") };
    let found = ["tags", "numbers", "recipients", "skipped"]
        .map(|name| attribute(resolve, &format!("audience.{name}")));
    assert_eq!(found, ["1", "0", "40", "0"]);
    let [commit] = &collector.spans(&id, "commit")[..] else { panic!("the send fits into one commit") };
    assert_eq!(attribute(commit, "batch.sends"), "1");
    assert!(attribute(commit, "batch.rows").parse::<u64>().unwrap() >= 2, "the send and its block");
    let attempts = collector.spans(&id, "attempt");
    assert_eq!(attempts.len(), TRACED.len());
    assert_eq!(attributes(&attempts, "message.ordinal"), traced);
    assert_eq!(attributes(&attempts, "outcome"), BTreeSet::from(["accepted".to_owned()]));
    assert_eq!(attributes(&attempts, "message.attempt"), BTreeSet::from(["1".to_owned()]));

    let all = collector.look(|got| got.spans.clone());
    for span in &all {
        assert_eq!(hex::encode(&span.trace_id), id.replace('-', ""), "{span:?}");
        assert!(span.start_time_unix_nano <= span.end_time_unix_nano, "{span:?}");
        assert!(span.start_time_unix_nano >= root.start_time_unix_nano, "{span:?}");
        assert_ne!(span.status.as_ref().unwrap().code, StatusCode::Error as i32, "{span:?}");
        let is_private = texts(&span.attributes).values().any(|value| value.contains("5511"));
        assert!(!is_private, "{span:?}");
        let kind = match span.name.as_str() {
            "accept" => SpanKind::Server,
            "attempt" => SpanKind::Client,
            _ => SpanKind::Internal,
        };
        assert_eq!(span.kind, kind as i32, "{span:?}");
        if span.name != "accept" {
            assert_eq!(span.parent_span_id, root.span_id, "{span:?}");
        }
    }
    let different: BTreeSet<_> = all.iter().map(|span| &span.span_id).collect();
    assert_eq!(different.len(), all.len());
    let (authorization, resource) = collector.look(|got| (got.authorization.clone(), got.resource.clone()));
    assert_eq!(authorization.as_deref(), Some("Bearer s3cret"));
    assert_eq!(resource["service.name"], "pombo-test");
    until_soon("the exported spans counted", async || {
        let counted = metric(&url, r#"pombo_spans_total{result="exported"}"#).await;
        counted >= all.len() as u64 && counted == collector.look(|got| got.spans.len() as u64)
    })
    .await;

    // Spans that are not exported when the stop begins reach the collector before the service has ended.
    let last = send(&serving, &url, &to_one()).await;
    stop(&mut child).await;
    assert_eq!(collector.spans(&last, "accept").len(), 1);
    assert_eq!(collector.spans(&last, "commit").len(), 1);
    assert_eq!(collector.spans(&last, "resolve").len(), 0, "there is nothing to resolve");
    let attempts = collector.spans(&last, "attempt");
    // The stop may have come before the message had started: then the next process sends it.
    assert!(attempts.len() <= 1, "{attempts:?}");
    serving.simulator.stop().await;
    universe.end().await;
}

#[cfg(unix)]
#[actix_web::test]
async fn a_send_has_one_trace_from_its_request_to_its_receipts() {
    a_send_has_one_trace(Universe::sqlite().await).await;
}

#[cfg(unix)]
#[actix_web::test]
#[ignore = "needs PostgreSQL: run scripts/test"]
async fn a_send_has_one_trace_from_its_request_to_its_receipts_on_postgres() {
    a_send_has_one_trace(Universe::postgres().await).await;
}

#[cfg(unix)]
#[actix_web::test]
async fn each_attempt_of_a_message_says_how_it_ended() {
    let (universe, collector) = (Universe::sqlite().await, Collector::start());
    let mut serving = Serving::new_with(&universe, 0, "unlimited", &[(ENDPOINT, &collector.endpoint)]).await;
    let refuse_once = json!({ "times": 1, "outcome": { "error": { "code": 131_000 } } });
    serving.simulator.script(&refuse_once).unwrap();
    let (mut child, url) = serving.serve().await;
    let id = send(&serving, &url, &to_one()).await;
    until_soon("both attempts", async || collector.spans(&id, "attempt").len() == 2).await;
    let mut attempts = collector.spans(&id, "attempt");
    attempts.sort_unstable_by_key(|attempt| attempt.start_time_unix_nano);
    let [refused, accepted] = &attempts[..] else { panic!("two attempts") };
    let said = |span: &Span| {
        let is_error = span.status.as_ref().unwrap().code == StatusCode::Error as i32;
        (attribute(span, "message.attempt"), attribute(span, "outcome"), is_error)
    };
    assert_eq!(said(refused), ("1".to_owned(), "refused".to_owned(), true));
    assert_eq!(attribute(refused, "provider.code"), "131000");
    assert_eq!(said(accepted), ("2".to_owned(), "accepted".to_owned(), false));
    stop(&mut child).await;
    serving.simulator.stop().await;
    universe.end().await;
}

#[cfg(unix)]
#[actix_web::test]
async fn the_work_of_another_process_on_a_send_joins_its_trace() {
    let (universe, collector) = (Universe::sqlite().await, Collector::start());
    let away = OwnPort::new();
    let provider = format!("http://{}", away.address);
    let options =
        [(ENDPOINT, collector.endpoint.as_str()), ("POMBO__CLOUD_API__BASE_URL", provider.as_str())];
    let mut serving = Serving::new_with(&universe, 0, "unlimited", &options).await;
    let (mut child, url) = serving.serve().await;
    let id = send(&serving, &url, &to_one()).await;
    stop(&mut child).await;
    let [root] = &collector.spans(&id, "accept")[..] else { panic!("one root") };

    serving.place = serving.place.with("POMBO__CLOUD_API__BASE_URL", serving.simulator.base_url());
    let (mut child, _) = serving.serve().await;
    let accepted = || {
        let mut attempts = collector.spans(&id, "attempt");
        attempts.retain(|attempt| attribute(attempt, "outcome") == "accepted");
        attempts
    };
    until_soon("the attempt of the second process", async || !accepted().is_empty()).await;
    assert_eq!(accepted()[0].parent_span_id, root.span_id);
    stop(&mut child).await;
    assert_eq!(collector.spans(&id, "accept").len(), 1, "the root is made once");
    serving.simulator.stop().await;
    universe.end().await;
}

#[cfg(unix)]
#[actix_web::test]
async fn sends_go_on_while_the_collector_is_away_and_lost_spans_are_counted() {
    let (universe, away) = (Universe::sqlite().await, OwnPort::new());
    let endpoint = format!("http://{}", away.address);
    let mut serving = Serving::new_with(&universe, PEOPLE, "unlimited", &[(ENDPOINT, &endpoint)]).await;
    let (mut child, url) = serving.serve().await;
    send(&serving, &url, &to_everybody(&serving)).await;
    until_soon("everybody reached", async || serving.figures() == (PEOPLE, PEOPLE)).await;
    // The root, its parts, and the attempts of 16 messages and one further on.
    until_soon("the lost spans counted", async || {
        metric(&url, r#"pombo_spans_total{result="lost"}"#).await >= 20
    })
    .await;
    assert_eq!(metric(&url, r#"pombo_spans_total{result="exported"}"#).await, 0);
    stop(&mut child).await;
    serving.simulator.stop().await;
    universe.end().await;
}

#[cfg(unix)]
#[actix_web::test]
async fn a_collector_that_never_answers_holds_up_neither_sends_nor_the_stop() {
    let universe = Universe::sqlite().await;
    // No program accepts connections there.
    let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let endpoint = format!("http://{}", silent.local_addr().unwrap());
    let options = [
        (ENDPOINT, endpoint.as_str()),
        ("POMBO__TELEMETRY__TIMEOUT", "10m"),
        ("POMBO__SERVER__SHUTDOWN_GRACE", "2s"),
    ];
    let mut serving = Serving::new_with(&universe, PEOPLE, "unlimited", &options).await;
    let (mut child, url) = serving.serve().await;
    send(&serving, &url, &to_everybody(&serving)).await;
    until_soon("everybody reached", async || serving.figures() == (PEOPLE, PEOPLE)).await;
    let took = stop(&mut child).await;
    assert!(took < Duration::from_secs(10), "{took:?} with a grace of 2s");
    serving.simulator.stop().await;
    universe.end().await;
}

#[cfg(unix)]
#[actix_web::test]
async fn without_an_endpoint_nothing_is_exported_whatever_the_environment_of_other_programs_says() {
    let (universe, collector) = (Universe::sqlite().await, Collector::start());
    let endpoint = collector.endpoint.clone();
    let options = [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint.as_str()),
        ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", endpoint.as_str()),
    ];
    let mut serving = Serving::new_with(&universe, PEOPLE, "unlimited", &options).await;
    let (mut child, url) = serving.serve().await;
    send(&serving, &url, &to_everybody(&serving)).await;
    until_soon("everybody reached", async || serving.figures() == (PEOPLE, PEOPLE)).await;
    let shown = Answer::to(reqwest::Client::new().get(format!("{url}/metrics"))).await.body;
    let mut spans = shown.lines().filter(|line| line.starts_with("pombo_spans_total{"));
    assert!(spans.all(|line| line.ends_with("} 0")), "{shown}");
    stop(&mut child).await;
    assert_eq!(collector.look(|got| got.requests), 0);
    serving.simulator.stop().await;
    universe.end().await;
}
