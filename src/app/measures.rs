//! The metrics of the process: what each means, and their text for Prometheus.

use std::sync::OnceLock;
use std::time::Duration;

use anyhow::Context as _;
use metrics::{Unit, describe_counter, describe_histogram};
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};

/// Upper bounds of what is measured in seconds, from a fast local answer to the provider's time-out.
const SECONDS: &[f64] =
    &[0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0];
/// How often what was recorded is folded into the buckets.
const UPKEEP: Duration = Duration::from_secs(5);

/// A process has one recorder, however often a service is started in it.
static RECORDER: OnceLock<PrometheusHandle> = OnceLock::new();

/// Begins to record. Needs a running actix system.
///
/// # Errors
///
/// When something else records already.
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
    describe_counter!("pombo_sends_accepted_total", "Sends that were answered with 202");
    describe_counter!("pombo_recipients_accepted_total", "Recipients of those sends");
    describe_counter!(
        "pombo_messages_total",
        "Attempts by outcome: sent, failed, retried (tried again later), unknown (left so by the tier's policy)"
    );
    describe_histogram!(
        "pombo_provider_answer_seconds",
        Unit::Seconds,
        "Time from a message's start to the provider's answer"
    );
    describe_histogram!("pombo_ledger_commit_seconds", Unit::Seconds, "Time of one commit of the ledger");
    describe_counter!("pombo_ledger_rows_total", "Sends and outcomes that the ledger wrote");
    describe_counter!(
        "pombo_ledger_failures_total",
        "Commits of the ledger that failed and were tried again"
    );
    describe_counter!("pombo_receipts_total", "Receipts that were taken in, by the state that they say");
    describe_counter!(
        "pombo_receipts_ignored_total",
        "Parts of webhooks that nothing was done with: no_key (a message of another sender, or one whose key the \
         provider left out), unknown_send, never_attempted, foreign_number (of no channel of the company), \
         unreadable"
    );
    describe_counter!(
        "pombo_webhooks_total",
        "Webhooks by result: taken, refused (no such channel, or wrongly signed), unreadable, unavailable, failed"
    );
    describe_histogram!("pombo_webhook_seconds", Unit::Seconds, "Time from a webhook's head to its answer");
    describe_counter!("http_requests_total", "Requests by route, method and status");
    describe_histogram!(
        "http_request_duration_seconds",
        Unit::Seconds,
        "Time to answer, by route, method and status"
    );
}
