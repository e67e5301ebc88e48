//! The metrics of the process: their meanings, and their text for Prometheus.

use std::sync::OnceLock;
use std::time::Duration;

use anyhow::Context as _;
use metrics::{Unit, describe_counter, describe_gauge, describe_histogram};
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};

/// The upper bounds of buckets for durations in seconds, from a fast local answer to the provider's timeout.
const SECONDS: &[f64] =
    &[0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0];
/// How often recorded values are added to the buckets.
const UPKEEP: Duration = Duration::from_secs(5);

/// A metric; `docs/metrics.md` lists all metrics.
struct Metric {
    name: &'static str,
    /// The labels by which it is divided.
    labels: &'static [&'static str],
    meaning: &'static str,
}

const fn metric(name: &'static str, labels: &'static [&'static str], meaning: &'static str) -> Metric {
    Metric { name, labels, meaning }
}

const COUNTERS: &[Metric] = &[
    metric("pombo_sends_accepted_total", &[], "Sends that were answered with 202"),
    metric("pombo_recipients_accepted_total", &[], "Recipients of the sends that were answered with 202"),
    metric(
        "pombo_messages_total",
        &["outcome"],
        "Attempts by outcome: sent, failed, retried (waiting for a retry), unknown (and held by the tier's \
         policy); and suppressed (not attempted, because the recipient opted out meanwhile)",
    ),
    metric(
        "pombo_messages_held_total",
        &["reason"],
        "Messages that were held back, by reason: the words of a send's `waiting`",
    ),
    metric(
        "pombo_channel_changes_total",
        &["to"],
        "Channels that changed their status, by the new one: connected, connecting, disconnected, blocked, pairing",
    ),
    metric("pombo_ledger_rows_total", &[], "Sends and outcomes that the ledger wrote"),
    metric("pombo_ledger_failures_total", &[], "Commits of the ledger that failed and were retried"),
    metric(
        "pombo_ledger_refused_rows_total",
        &["row", "then"],
        "Rows that the database refuses permanently, by what they are and what was done: set aside, or written without the \
         provider's words",
    ),
    metric("pombo_receipts_total", &["state"], "Receipts that were stored, by the state that they report"),
    metric(
        "pombo_receipts_ignored_total",
        &["reason"],
        "Parts of webhooks that were ignored: no_key (a message of another sender, or one whose key the \
         provider left out), unknown_send, never_attempted, foreign_number (of no channel of the company), \
         unreadable",
    ),
    metric(
        "pombo_webhooks_total",
        &["result"],
        "Webhooks by result: taken, refused (no such channel, or wrongly signed), unreadable, unavailable, failed",
    ),
    metric(
        "pombo_forgotten_total",
        &["what"],
        "Rows that retention removed: sends, messages, events, changes, answers (under an \
         Idempotency-Key), holds (of recipients), imports (of contacts, with their rejected rows)",
    ),
    metric(
        "pombo_imported_rows_total",
        &["result"],
        "Rows of uploaded files by result: created, updated, unchanged, rejected",
    ),
    metric(
        "pombo_imports_total",
        &["result"],
        "Imports of contacts that ended by themselves: finished, failed",
    ),
    metric("pombo_panics_total", &["work"], "Panics of background work, each a defect; the work continues"),
    metric(
        "pombo_connections_ended_total",
        &["reason"],
        "Connections of clients that the service ended: room (there were too many, and it waited for its client), head (a \
         request's head took too long), unread (an answer was not read)",
    ),
    metric(
        "pombo_spans_total",
        &["result"],
        "Spans of traces by result: exported, no_room (the collector is too slow, and the queue was full), lost (the \
         collector was away, or refused them)",
    ),
    metric(
        "pombo_events_total",
        &["result"],
        "Events by result: published, dropped (the outbox was full), refused (larger than NATS takes, or unreadable)",
    ),
    metric("pombo_nats_failures_total", &[], "Attempts to connect to NATS that failed"),
    metric(
        "pombo_nats_requests_total",
        &["result"],
        "Requests to other nodes by result: answered, no_responder, no_answer, not_connected",
    ),
    metric(
        "pombo_nats_refused_total",
        &["reason"],
        "Messages on NATS that this node did not believe, by reason: not_sealed, unknown_key, forged, too_long, \
         repeated, old",
    ),
    metric("http_requests_total", &["route", "method", "status"], "Requests"),
    metric(
        "pombo_cluster_shards_gained_total",
        &[],
        "Business accounts and web sessions that this node took",
    ),
    metric(
        "pombo_cluster_shards_released_total",
        &[],
        "Business accounts and web sessions that this node gave away",
    ),
];

const GAUGES: &[Metric] = &[
    metric("pombo_ledger_in_doubt", &[], "Sends whose commit is unknown while their callers wait"),
    metric("pombo_ledger_queue", &[], "Requests to the ledger that wait until their rows are durable"),
    metric("pombo_ledger_open_rows", &[], "Rows that the ledger's next commit will write"),
    metric(
        "pombo_lane_messages",
        &["lane"],
        "Messages that wait in the memory of channels, by lane: direct (sends to one recipient), bulk, retry (to be \
         tried again)",
    ),
    metric("pombo_messages_in_flight", &[], "Messages between their start and their durable outcome"),
    metric(
        "pombo_mailbox_messages",
        &["actor"],
        "Messages that wait in the mailboxes of actors: channel (all of them together), ledger",
    ),
    metric(
        "pombo_cluster_shards",
        &[],
        "Business accounts and web sessions whose channels run on this node; in a cluster",
    ),
    metric("pombo_cluster_nodes", &[], "Nodes that take channels, as this node sees them"),
    metric(
        "pombo_cluster_trusted",
        &[],
        "1 while the lease of this node is renewed; otherwise it sends nothing",
    ),
    metric(
        "pombo_cluster_lease_seconds",
        &[],
        "How long this node still trusts its lease; about 4 while it is renewed each second",
    ),
    metric(
        "pombo_clock_offset_seconds",
        &[],
        "How far the clock of this machine is ahead of the database's; with PostgreSQL",
    ),
    metric("pombo_sealing_keys_missing", &[], "Sealing keys of the database that this process does not have"),
    metric("pombo_nats_connected", &[], "1 while NATS is connected, otherwise 0"),
    metric(
        "pombo_events_connected",
        &[],
        "1 while events' own connection to NATS is there, otherwise 0; with events.url",
    ),
    metric("pombo_outbox_rows", &[], "Events that wait to be published"),
    metric("pombo_outbox_age_seconds", &[], "How long the oldest waiting event has waited"),
    metric("pombo_imports_running", &[], "Imports of contacts that run or wait for their turn"),
    metric("pombo_connections", &["listener"], "Open connections of clients"),
    metric(
        "pombo_connections_max",
        &["listener"],
        "Connections of clients that may be open before waiting ones are closed",
    ),
    metric("pombo_console_streams", &[], "Live pages of the console"),
    metric(
        "pombo_body_bytes",
        &[],
        "Bytes of request bodies, and of what is made of them, that are being read or processed",
    ),
    metric("pombo_body_bytes_max", &[], "The most that request bodies may take together"),
];

const SECONDS_TAKEN: &[Metric] = &[
    metric("pombo_provider_answer_seconds", &[], "Time from a message's start to the provider's answer"),
    metric("pombo_ledger_commit_seconds", &[], "Time of one commit of the ledger"),
    metric("pombo_retention_step_seconds", &[], "Time of one step of retention"),
    metric("pombo_webhook_seconds", &[], "Time from a webhook's head to its answer"),
    metric("http_request_duration_seconds", &["route", "method", "status"], "Time to answer"),
];

/// Metrics of the process itself, read for each request of `/metrics`, under Prometheus' standard names.
const PROCESS: &[Metric] = &[
    metric("process_cpu_seconds_total", &[], "Processor time of all threads"),
    metric("process_resident_memory_bytes", &[], "Memory in use"),
    metric("process_virtual_memory_bytes", &[], "Address space in use"),
    metric("process_virtual_memory_max_bytes", &[], "The system's limit of address space"),
    metric("process_open_fds", &[], "Open files and connections"),
    metric("process_max_fds", &[], "The most files and connections that may be open"),
    metric("process_threads", &[], "Threads"),
    metric("process_start_time_seconds", &[], "When the process started, in seconds since the Unix epoch"),
];

/// The recorder of the process, shared by all services that are started in it.
static RECORDER: OnceLock<PrometheusHandle> = OnceLock::new();

/// Installs the recorder. Needs a running actix system.
///
/// # Errors
///
/// When another recorder is installed already.
pub(super) fn install() -> anyhow::Result<PrometheusHandle> {
    if let Some(handle) = RECORDER.get() {
        return Ok(handle.clone());
    }
    let builder =
        PrometheusBuilder::new().set_buckets_for_metric(Matcher::Suffix("_seconds".to_owned()), SECONDS)?;
    let handle = builder.install_recorder().context("cannot record metrics")?;
    describe();
    let upkeep = handle.clone();
    actix_web::rt::spawn(async move {
        let mut tick = tokio::time::interval(UPKEEP);
        loop {
            tick.tick().await;
            upkeep.run_upkeep();
        }
    });
    Ok(RECORDER.get_or_init(|| handle).clone())
}

fn describe() {
    for counter in COUNTERS {
        describe_counter!(counter.name, counter.help());
    }
    for gauge in GAUGES.iter().chain(PROCESS) {
        describe_gauge!(gauge.name, gauge.help());
    }
    for histogram in SECONDS_TAKEN {
        describe_histogram!(histogram.name, Unit::Seconds, histogram.help());
    }
}

impl Metric {
    /// The help text in Prometheus.
    fn help(&self) -> String {
        match self.labels {
            [] => self.meaning.to_owned(),
            labels => format!("{}; by {}", self.meaning, labels.join(", ")),
        }
    }
}

#[cfg(test)]
mod tests;
