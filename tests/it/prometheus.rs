//! A real Prometheus with the packaged alerts: it reads the rules, every rule fires for series that call for it, and it
//! watches services that lose a channel, refuse webhooks and stop.

use std::collections::BTreeMap;
use std::fs;
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use reqwest::Client;
use serde_json::{Value, json};
use tempfile::TempDir;
use yaml_rust2::YamlLoader;

use crate::child::OwnedChild;
use crate::database::Universe;
use crate::harness::Answer;
use crate::proxy::OwnPort;
use crate::running::{until, until_soon};
use crate::serving::{SERVE, Serving};

/// Between two scrapes, and between two evaluations of the rules.
const INTERVAL: &str = "200ms";
/// More webhooks than an hour may refuse without an alert.
const REFUSED: usize = 15;

fn rules() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("packaging/prometheus/alerts.yaml")
}

/// A program of Debian's package.
fn program(name: &str) -> PathBuf {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut found =
        std::env::split_paths(&path).map(|directory| directory.join(name)).filter(|file| file.exists());
    found.next().unwrap_or_else(|| {
        panic!("there is no {name}: install Debian's package prometheus, or run scripts/test")
    })
}

fn promtool(arguments: &[&str], directory: &Path) {
    let run = Command::new(program("promtool")).args(arguments).current_dir(directory).output().unwrap();
    let said = [run.stdout, run.stderr].concat();
    assert!(run.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&said));
}

/// The condition of each alert.
fn conditions() -> BTreeMap<String, String> {
    let text = fs::read_to_string(rules()).unwrap();
    let rules = &YamlLoader::load_from_str(&text).unwrap()[0]["groups"][0]["rules"];
    let word = |value: &yaml_rust2::Yaml| value.as_str().unwrap().to_owned();
    rules.as_vec().unwrap().iter().map(|rule| (word(&rule["alert"]), word(&rule["expr"]))).collect()
}

/// For each alert, series that call for it after twenty minutes, a value each half minute.
const CALLS: &[(&str, &[(&str, &str)])] = &[
    ("PomboDown", &[(r#"up{job="pombo"}"#, "0+0x40")]),
    ("PomboRestartsAgainAndAgain", &[(r#"process_start_time_seconds{job="pombo"}"#, "1 2 3 4 5 6 7+0x34")]),
    ("PomboNodeHasNoLease", &[("pombo_cluster_trusted", "0+0x40")]),
    ("PomboLedgerCannotWrite", &[("pombo_ledger_failures_total", "0+1x40")]),
    ("PomboCommitsInDoubt", &[("pombo_ledger_in_doubt", "1+0x40")]),
    (
        "PomboCommitsSlow",
        &[
            (r#"pombo_ledger_commit_seconds_bucket{le="1"}"#, "0+0x40"),
            (r#"pombo_ledger_commit_seconds_bucket{le="2.5"}"#, "0+1x40"),
            (r#"pombo_ledger_commit_seconds_bucket{le="+Inf"}"#, "0+1x40"),
        ],
    ),
    (
        "PomboRowRefused",
        &[(r#"pombo_ledger_refused_rows_total{row="send",then="set aside"}"#, "0+0x20 1+0x20")],
    ),
    ("PomboChannelLost", &[(r#"pombo_channel_changes_total{to="disconnected"}"#, "0+0x20 1+0x20")]),
    ("PomboChannelsDown", &[(r#"pombo_channels{status="blocked"}"#, "1+0x40")]),
    ("PomboNoSocket", &[(r#"pombo_messages_held_total{reason="no_socket"}"#, "0+0x32 1+0x8")]),
    (
        "PomboMessagesFail",
        &[
            (r#"pombo_messages_total{outcome="failed"}"#, "0+1x40"),
            (r#"pombo_messages_total{outcome="sent"}"#, "0+1x40"),
        ],
    ),
    ("PomboMessagesUnknown", &[(r#"pombo_messages_total{outcome="unknown"}"#, "0+0x20 1+0x20")]),
    (
        "PomboProviderSlow",
        &[
            (r#"pombo_provider_answer_seconds_bucket{le="5"}"#, "0+0x40"),
            (r#"pombo_provider_answer_seconds_bucket{le="10"}"#, "0+1x40"),
            (r#"pombo_provider_answer_seconds_bucket{le="+Inf"}"#, "0+1x40"),
        ],
    ),
    ("PomboWebhooksNotTaken", &[(r#"pombo_webhooks_total{result="failed"}"#, "0+0x30 1+0x10")]),
    ("PomboWebhooksRefused", &[(r#"pombo_webhooks_total{result="refused"}"#, "0+1x40")]),
    ("PomboWebhookStopped", &[(r#"pombo_webhook_endpoints{state="stopped"}"#, "1+0x40")]),
    (
        "PomboRequestsFail",
        &[
            (r#"http_responses_total{job="pombo",class="5xx"}"#, "0+1x40"),
            (r#"http_responses_total{job="pombo",class="2xx"}"#, "0+1x40"),
        ],
    ),
    (
        "PomboConnectionsNearlyUsedUp",
        &[
            (r#"pombo_connections{listener="api"}"#, "95+0x40"),
            (r#"pombo_connections_max{listener="api"}"#, "100+0x40"),
        ],
    ),
    (
        "PomboFilesNearlyUsedUp",
        &[(r#"process_open_fds{job="pombo"}"#, "95+0x40"), (r#"process_max_fds{job="pombo"}"#, "100+0x40")],
    ),
    ("PomboEventsDropped", &[(r#"pombo_events_total{result="dropped"}"#, "0+0x30 1+0x10")]),
    ("PomboNatsAway", &[("pombo_nats_connected", "0+0x40")]),
    ("PomboNatsRefused", &[(r#"pombo_nats_refused_total{reason="old"}"#, "0+0x20 1+0x20")]),
    ("PomboClockWrong", &[("pombo_clock_offset_seconds", "-3+0x40")]),
    ("PomboKeyMissing", &[("pombo_sealing_keys_missing", "1+0x40")]),
    ("PomboMailsFail", &[("pombo_mails_waiting_age_seconds", "4000+0x40")]),
    ("PomboPanics", &[(r#"pombo_panics_total{work="log"}"#, "0+0x20 1+0x20")]),
];

/// A test of promtool: the condition holds for these series, or not.
fn expected(condition: &str, series: &[(&str, &str)], holds: bool) -> Value {
    let series: Vec<_> =
        series.iter().map(|(series, values)| json!({ "series": series, "values": values })).collect();
    json!({
        "interval": "30s",
        "input_series": series,
        "promql_expr_test": [{
            "expr": format!("count({condition}) or vector(0)"),
            "eval_time": "20m",
            "exp_samples": [{ "labels": "{}", "value": u8::from(holds) }],
        }],
    })
}

#[test]
#[ignore = "needs Prometheus: run scripts/test"]
fn every_alert_fires_for_series_that_call_for_it_and_not_for_counters_at_zero() {
    let directory = tempfile::tempdir().unwrap();
    let rules = rules();
    promtool(&["check", "rules", rules.to_str().unwrap()], directory.path());
    let conditions = conditions();
    let calls: Vec<_> = CALLS.iter().map(|(name, _)| *name).collect();
    let mut named = calls.clone();
    named.sort_unstable();
    assert_eq!(named, conditions.keys().map(String::as_str).collect::<Vec<_>>(), "an alert without a test");
    let mut tests = Vec::new();
    for (name, series) in CALLS {
        tests.push(expected(&conditions[*name], series, true));
        if series.iter().all(|(series, _)| series.contains("_total")) {
            let quiet: Vec<_> = series.iter().map(|(series, _)| (*series, "0+0x40")).collect();
            tests.push(expected(&conditions[*name], &quiet, false));
        }
    }
    let file = json!({ "rule_files": [rules], "evaluation_interval": "30s", "tests": tests });
    fs::write(directory.path().join("tests.yaml"), file.to_string()).unwrap();
    promtool(&["test", "rules", "tests.yaml"], directory.path());
}

/// A Prometheus that watches services with the packaged rules, without their waits.
struct Watching {
    _child: OwnedChild,
    _directory: TempDir,
    url: String,
}

impl Watching {
    async fn start(targets: &[&str]) -> Self {
        let (directory, port) = (tempfile::tempdir().unwrap(), OwnPort::new());
        let text = fs::read_to_string(rules()).unwrap();
        let at_once = text.lines().filter(|line| !line.trim_start().starts_with("for: "));
        fs::write(directory.path().join("alerts.yaml"), at_once.collect::<Vec<_>>().join("\n")).unwrap();
        let targets: Vec<_> = targets.iter().map(|url| url.trim_start_matches("http://")).collect();
        let config = json!({
            "global": {
                "scrape_interval": INTERVAL,
                "scrape_timeout": INTERVAL,
                "evaluation_interval": INTERVAL,
            },
            "rule_files": ["alerts.yaml"],
            "scrape_configs": [{ "job_name": "pombo", "static_configs": [{ "targets": targets }] }],
        });
        fs::write(directory.path().join("prometheus.yml"), config.to_string()).unwrap();
        promtool(&["check", "config", "prometheus.yml"], directory.path());
        // It ends with the thread of its test, however that ends.
        let mut command = Command::new("setpriv");
        command.args(["--pdeathsig", "KILL"]).arg(program("prometheus"));
        command.arg("--config.file=prometheus.yml").arg("--storage.tsdb.path=data");
        command.arg(format!("--web.listen-address={}", port.address));
        command.current_dir(directory.path()).stdout(Stdio::null()).stderr(Stdio::null());
        let child = OwnedChild::spawn(&mut command);
        until_soon("Prometheus listening", async || TcpStream::connect(port.address).is_ok()).await;
        let url = format!("http://{}", port.address);
        Self { _child: child, _directory: directory, url }
    }

    async fn ask(&self, path: &str, query: &[(&str, &str)]) -> Value {
        let answer = Client::new().get(format!("{}{path}", self.url)).query(query).send().await.unwrap();
        // It answers 503 until it has read its storage.
        let answer: Value = serde_json::from_str(&answer.text().await.unwrap()).unwrap_or_default();
        answer["data"].clone()
    }

    /// Waits until a query has a result.
    async fn until_holds(&self, query: &str) {
        until_soon(query, async || {
            let found = self.ask("/api/v1/query", &[("query", query)]).await;
            found["result"].as_array().is_some_and(|result| !result.is_empty())
        })
        .await;
    }

    /// Whether an alert with these labels fires.
    async fn fires(&self, alert: &str, labels: &[(&str, &str)]) -> bool {
        let alerts = self.ask("/api/v1/alerts", &[]).await["alerts"].clone();
        alerts.as_array().into_iter().flatten().any(|one| {
            one["state"] == "firing"
                && one["labels"]["alertname"] == alert
                && labels.iter().all(|(label, value)| one["labels"][*label] == *value)
        })
    }

    async fn until_fires(&self, alert: &str, labels: &[(&str, &str)]) {
        until(alert, async || self.fires(alert, labels).await).await;
    }
}

/// Services of these nodes; one that runs alone has no name.
async fn prometheus_sees(universe: &Universe, nodes: &[&str]) {
    let mut serving = Serving::new(universe, 0, "unlimited").await;
    let mut services = Vec::new();
    for node in nodes {
        let mut command = serving.place.command(SERVE);
        if !node.is_empty() {
            command.env("POMBO__CLUSTER__NAME", "test").env("POMBO__CLUSTER__NODE", node);
        }
        services.push(serving.serve_as(command).await);
    }
    let urls: Vec<_> = services.iter().map(|(_, url)| url.clone()).collect();
    let url = &urls[0];
    let watching = Watching::start(&urls.iter().map(String::as_str).collect::<Vec<_>>()).await;
    // Counters are there before anything happens, so that the first event is an increase.
    let known = format!(
        "count(min_over_time(pombo_channel_changes_total{{to=\"disconnected\"}}[1m]) == 0) == {}",
        nodes.len()
    );
    watching.until_holds(&known).await;
    watching.until_holds("min(count_over_time(pombo_webhooks_total{result=\"refused\"}[1m])) > 1").await;
    watching.until_holds("max(pombo_channels{status=~\"connected|connecting\"}) == 1").await;
    for alert in ["PomboChannelLost", "PomboChannelsDown", "PomboWebhooksRefused", "PomboDown"] {
        assert!(!watching.fires(alert, &[]).await, "{alert} fires without a reason");
    }

    // The provider refuses the token: the first and only loss of a channel.
    let refused = json!({ "match": {}, "outcome": { "error": { "code": 190 } } });
    serving.simulator.script(&refused).unwrap();
    let text = json!({ "type": "text", "message": "hi", "phone_number": "+5511900000001" });
    until_soon("the send accepted", async || {
        serving.send_through(&serving.channel, url, &text).await.status == 202
    })
    .await;
    watching.until_fires("PomboChannelLost", &[("to", "disconnected"), ("severity", "page")]).await;
    watching.until_fires("PomboChannelsDown", &[("status", "disconnected")]).await;
    // The message waits, for a reason that the metrics know.
    watching
        .until_holds("sum(pombo_messages_waiting{reason=\"disconnected\",tier=\"unlimited\"}) == 1")
        .await;
    watching.until_holds("count(pombo_channel_rate_limit{tier=\"unlimited\"} > 0) > 0").await;

    let hook = format!("{url}/hooks/meta/{}", serving.channel);
    for _ in 0..REFUSED {
        let answer = Answer::to(Client::new().post(&hook).body("{}")).await;
        assert!(answer.status >= 400, "{}", answer.body);
    }
    watching.until_fires("PomboWebhooksRefused", &[("result", "refused")]).await;

    let (mut last, stopped) = services.pop().unwrap();
    last.crash();
    let instance = stopped.trim_start_matches("http://");
    watching.until_fires("PomboDown", &[("instance", instance), ("severity", "page")]).await;
    if !services.is_empty() {
        // The others see that it is gone.
        let others = format!("min(pombo_cluster_nodes{{instance!=\"{instance}\"}}) == {}", services.len());
        watching.until_holds(&others).await;
    }
    services.iter_mut().for_each(|(service, _)| service.crash());
    serving.simulator.stop().await;
}

#[actix_web::test]
#[ignore = "needs Prometheus: run scripts/test"]
async fn prometheus_sees_a_lost_channel_refused_webhooks_and_a_stopped_service() {
    let universe = Universe::sqlite().await;
    prometheus_sees(&universe, &[""]).await;
    universe.end().await;
}

#[actix_web::test]
#[ignore = "needs Prometheus and PostgreSQL: run scripts/test"]
async fn prometheus_sees_a_lost_channel_refused_webhooks_and_a_stopped_node_of_two() {
    let universe = Universe::postgres().await;
    prometheus_sees(&universe, &["a", "b"]).await;
    universe.end().await;
}
