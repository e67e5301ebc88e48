//! The alerts: the one list of rules, from which `packaging/prometheus/alerts.yaml` and a table of the documentation are
//! written.

use std::fmt::Write as _;

/// Whom an alert disturbs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Severity {
    /// It wakes the person on call.
    Page,
    /// It waits for the next working day.
    Ticket,
}

impl Severity {
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Page => "page",
            Self::Ticket => "ticket",
        }
    }
}

/// An alert.
#[derive(Debug)]
pub(super) struct Alert {
    pub(super) name: &'static str,
    /// The condition, in Prometheus' language.
    pub(super) when: &'static str,
    /// How long the condition holds before the alert fires, as Prometheus writes durations; empty: at once.
    pub(super) lasts: &'static str,
    pub(super) severity: Severity,
    pub(super) summary: &'static str,
    /// What it means and what to do.
    pub(super) description: &'static str,
}

impl Alert {
    const fn page(name: &'static str, when: &'static str) -> Self {
        Self::new(name, when, Severity::Page)
    }

    const fn ticket(name: &'static str, when: &'static str) -> Self {
        Self::new(name, when, Severity::Ticket)
    }

    const fn new(name: &'static str, when: &'static str, severity: Severity) -> Self {
        Self { name, when, lasts: "", severity, summary: "", description: "" }
    }

    const fn after(self, lasts: &'static str) -> Self {
        Self { lasts, ..self }
    }

    const fn says(self, summary: &'static str, description: &'static str) -> Self {
        Self { summary, description, ..self }
    }
}

/// All alerts, those that concern everything first.
pub(super) const ALERTS: &[Alert] = &[
    Alert::page("PomboDown", r#"up{job="pombo"} == 0"#).after("2m").says(
        "Pombo on {{ $labels.instance }} does not answer",
        "It accepts and sends nothing. Look at the service's log, and run `pombo doctor`.",
    ),
    Alert::page("PomboRestartsAgainAndAgain", r#"changes(process_start_time_seconds{job="pombo"}[30m]) > 3"#)
        .says(
            "Pombo on {{ $labels.instance }} restarts again and again",
            "The end of the log says why. `pombo doctor` checks what the service needs.",
        ),
    Alert::page("PomboNodeHasNoLease", "pombo_cluster_trusted == 0").after("30s").says(
        "The node {{ $labels.instance }} cannot renew its lease",
        "It sends nothing, and other nodes take its channels over. Look at its connection to the database.",
    ),
    Alert::page("PomboLedgerCannotWrite", "increase(pombo_ledger_failures_total[5m]) > 3").after("2m").says(
        "Commits fail on {{ $labels.instance }}",
        "Requests are answered 503, and outcomes wait in memory. The database is unreachable, full or overloaded; the log has \
         its error.",
    ),
    Alert::page("PomboCommitsInDoubt", "pombo_ledger_in_doubt > 0").after("2m").says(
        "The outcome of commits is unknown on {{ $labels.instance }}",
        "The connection broke during a commit, and the database cannot be asked for the result. The callers wait.",
    ),
    Alert::ticket(
        "PomboCommitsSlow",
        "histogram_quantile(0.99, sum by (le, instance) (rate(pombo_ledger_commit_seconds_bucket[5m]))) > 1",
    )
    .after("10m")
    .says(
        "The slowest commits on {{ $labels.instance }} take {{ $value | humanizeDuration }}",
        "The disk or the database server is slow; every request waits for a commit.",
    ),
    Alert::ticket("PomboRowRefused", "increase(pombo_ledger_refused_rows_total[1h]) > 0").says(
        "The database refuses a row on {{ $labels.instance }}",
        "The row was set aside, or written without the provider's error text; the log names it. This is a defect.",
    ),
    Alert::page("PomboChannelLost", r#"increase(pombo_channel_changes_total{to=~"disconnected|blocked"}[15m]) > 0"#)
        .says(
            "A channel is {{ $labels.to }}",
            "Its sends wait. `pombo channel list` shows which channel and why: its token has to be replaced, its phone has to be \
             linked, or the provider restricts it.",
        ),
    Alert::ticket(
        "PomboChannelsDown",
        r#"max by (status) (pombo_channels{status=~"disconnected|blocked"}) > 0"#,
    )
    .after("1h")
    .says(
        "{{ $value }} channels are {{ $labels.status }}",
        "They send nothing until a person acts. `pombo channel list` shows them; remove those that nobody needs.",
    ),
    Alert::ticket("PomboNoSocket", r#"increase(pombo_messages_held_total{reason="no_socket"}[5m]) > 0"#).says(
        "{{ $labels.instance }} has no file, port or address for a connection to the provider",
        "Messages wait. Raise the limit of open files, or find what uses the ports up.",
    ),
    Alert::ticket(
        "PomboMessagesFail",
        r#"sum by (instance) (rate(pombo_messages_total{outcome="failed"}[15m])) / sum by (instance) (rate(pombo_messages_total{outcome=~"sent|failed"}[15m])) > 0.2"#,
    )
    .after("15m")
    .says(
        "{{ $value | humanizePercentage }} of the messages fail on {{ $labels.instance }}",
        "The console shows the reasons of each send. Often a template, a token or a list of numbers is wrong.",
    ),
    Alert::ticket("PomboMessagesUnknown", r#"increase(pombo_messages_total{outcome="unknown"}[15m]) > 0"#).says(
        "The outcome of messages stays unknown on {{ $labels.instance }}",
        "The provider may or may not have them, and the tier's unknown_outcome says that they are not sent again. A person has \
         to decide whether to send them again.",
    ),
    Alert::ticket(
        "PomboProviderSlow",
        "histogram_quantile(0.95, sum by (le, instance) (rate(pombo_provider_answer_seconds_bucket[5m]))) > 5",
    )
    .after("10m")
    .says(
        "The provider takes {{ $value | humanizeDuration }} to answer",
        "Messages wait for their turn. The provider's status page may say why.",
    ),
    Alert::page(
        "PomboWebhooksNotTaken",
        r#"increase(pombo_webhooks_total{result=~"unavailable|failed"}[10m]) > 0"#,
    )
    .after("10m")
    .says(
        "Webhooks are not stored on {{ $labels.instance }}",
        "Receipts and opt-outs wait at the provider, which repeats them for some days.",
    ),
    Alert::ticket(
        "PomboWebhooksRefused",
        r#"increase(pombo_webhooks_total{result=~"refused|unreadable"}[1h]) > 10"#,
    )
    .says(
        "Webhooks are {{ $labels.result }} on {{ $labels.instance }}",
        "Refused: the app secret of a channel is not the provider's. Give the right one with `pombo channel webhook`. \
         Unreadable: something else than the provider sends there.",
    ),
    Alert::ticket("PomboWebhookStopped", r#"max(pombo_webhook_endpoints{state="stopped"}) > 0"#).after("5m").says(
        "{{ $value }} webhook endpoints of companies get no more events",
        "Their receivers answered 410, or accepted nothing for five days. `pombo webhook list` shows them, and `pombo webhook \
         deliveries ID` what went wrong. Tell the company: it mends the receiver and enables the endpoint, or deletes it.",
    ),
    Alert::page(
        "PomboRequestsFail",
        r#"sum by (instance) (rate(http_responses_total{job="pombo",class="5xx"}[5m])) / sum by (instance) (rate(http_responses_total{job="pombo"}[5m])) > 0.05"#,
    )
    .after("5m")
    .says(
        "{{ $value | humanizePercentage }} of the requests are answered with an error of the service",
        "After 503 nothing was stored, and the client may repeat the request. Look at the database and at the log.",
    ),
    Alert::ticket("PomboConnectionsNearlyUsedUp", "pombo_connections / pombo_connections_max > 0.9")
        .after("10m")
        .says(
            "Clients of {{ $labels.instance }} have nearly all connections of the listener {{ $labels.listener }}",
            "The connections that are idle longest are closed. Raise server.connections and the limit of open files.",
        ),
    Alert::ticket(
        "PomboFilesNearlyUsedUp",
        r#"process_open_fds{job="pombo"} / process_max_fds{job="pombo"} > 0.9"#,
    )
    .after("10m")
    .says(
        "{{ $labels.instance }} has nearly as many files open as it may",
        "Raise LimitNOFILE= of systemd or the container's nofile.",
    ),
    Alert::ticket("PomboEventsDropped", r#"increase(pombo_events_total{result=~"dropped|refused"}[10m]) > 0"#)
        .says(
            "Events of {{ $labels.instance }} are {{ $labels.result }}",
            "Dropped: NATS was unreachable until the log had no more room. Programs that read the events find an event outbox.lost; they \
             have to read sends and messages again by the API. Refused: a defect.",
        ),
    Alert::ticket("PomboNatsAway", "pombo_nats_connected == 0 or pombo_events_connected == 0").after("5m").says(
        "Pombo on {{ $labels.instance }} has no connection to NATS",
        "Events wait in the database. The log has the reason; `pombo doctor` tries the connection.",
    ),
    Alert::ticket("PomboNatsRefused", "increase(pombo_nats_refused_total[15m]) > 0").says(
        "{{ $labels.instance }} does not believe messages on NATS: {{ $labels.reason }}",
        "Somebody else than the nodes publishes on their subjects, or the nodes have different sealing keys (unknown_key). Give \
         other programs a user that may not: docs/events.md has the permissions.",
    ),
    Alert::ticket("PomboClockWrong", "abs(pombo_clock_offset_seconds) > 2").after("5m").says(
        "The clock of {{ $labels.instance }} does not agree with the database's",
        "Let a time service set the clocks of this machine and of the database's. A service that runs alone sends by its own \
         clock.",
    ),
    Alert::page("PomboKeyMissing", "pombo_sealing_keys_missing > 0").after("1m").says(
        "Pombo on {{ $labels.instance }} lacks a sealing key of the database",
        "A node gives its channels to the others. Give it the key file or the keys of the others; `pombo secrets list` names the \
         key.",
    ),
    Alert::ticket("PomboMailsFail", "pombo_mails_waiting_age_seconds > 3600").after("15m").says(
        "Alerts by e-mail wait for {{ $value | humanizeDuration }}",
        "The mail server is away, or refuses the service; the log has its answer, and `pombo doctor` tries it. After a day, mails \
         are given up.",
    ),
    Alert::ticket("PomboPanics", "increase(pombo_panics_total[1h]) > 0").says(
        "A defect interrupted {{ $labels.work }} on {{ $labels.instance }}, which continues",
        "The log says where. Please report it.",
    ),
];

const HEAD: &str = "\
# Alerts of Pombo, written by `pombo explain --alerts`. `severity: page` wakes the person on call; `ticket` waits for the
# next working day. The job is called `pombo` in scrape_configs:
#
#   - job_name: pombo
#     static_configs:
#       - targets: [\"127.0.0.1:8081\"]
groups:
  - name: pombo
    rules:
";

/// The longest line of a text in the file.
const WIDTH: usize = 120;

/// The rules as a file for Prometheus.
pub(super) fn rules() -> String {
    let mut text = HEAD.to_owned();
    for Alert { name, when, lasts, severity, summary, description } in ALERTS {
        let _ = write!(text, "      - alert: {name}\n        expr: >-\n{}", folded(when, 10));
        if !lasts.is_empty() {
            let _ = writeln!(text, "        for: {lasts}");
        }
        let _ = write!(
            text,
            "        labels:\n          severity: {}\n        annotations:\n          summary: >-\n{}          description: >-\n{}\n",
            severity.as_str(),
            folded(summary, 12),
            folded(description, 12)
        );
    }
    text.truncate(text.trim_end().len());
    text + "\n"
}

/// A text in lines of YAML's folded style: line breaks stand for single spaces.
fn folded(text: &str, indent: usize) -> String {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut().filter(|line| line.len() + 1 + word.len() + indent <= WIDTH) {
            Some(line) => {
                line.push(' ');
                line.push_str(word);
            }
            None => lines.push(word.to_owned()),
        }
    }
    lines.iter().map(|line| format!("{:indent$}{line}\n", "")).collect()
}
