//! The metrics of the process: their table, their text for Prometheus, and the alerts and the board that belong to them.
//!
//! One table names every metric with its labels. Counters are shown at 0 from the start, with every value of their labels:
//! a counter that appears with its first event has no increase, and no alert would see the event.

mod alerts;
mod board;
mod metric;
mod page;
mod panels;
mod table;
mod text;

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use anyhow::Context as _;
use metrics::{Unit, counter, describe_counter, describe_gauge, describe_histogram};
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};

use self::metric::{Metric, MetricKind};
use crate::api::Measures;
use crate::engine::Sample;

/// The upper bounds of buckets for durations in seconds, from a fast local answer to the provider's timeout.
const SECONDS: &[f64] =
    &[0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0];
/// How often recorded values are added to the buckets.
const UPKEEP: Duration = Duration::from_secs(5);

/// The recorder of the process, shared by all services that are started in it.
static RECORDER: OnceLock<PrometheusHandle> = OnceLock::new();

/// The page of the documentation about metrics.
pub fn page() -> String {
    page::markdown()
}

/// The rules for Prometheus.
pub fn rules() -> String {
    alerts::rules()
}

/// The board for Grafana.
pub fn board() -> serde_json::Value {
    board::json()
}

/// Installs the recorder, and returns the source of `/metrics` with at most `detail` channels and tiers. Needs a running
/// actix system.
///
/// # Errors
///
/// When another recorder is installed already.
pub(super) fn install(detail: usize) -> anyhow::Result<Measures> {
    let recorder = recorder()?;
    let render = move |samples: Vec<Sample>| recorder.render() + &text::of(&samples);
    Ok(Measures { detail, render: Arc::new(render) })
}

fn recorder() -> anyhow::Result<PrometheusHandle> {
    if let Some(handle) = RECORDER.get() {
        return Ok(handle.clone());
    }
    let builder =
        PrometheusBuilder::new().set_buckets_for_metric(Matcher::Suffix("_seconds".to_owned()), SECONDS)?;
    let handle = builder.install_recorder().context("cannot record metrics")?;
    table::all().for_each(begin);
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

/// Describes a metric. A counter begins at 0 with every known value of its labels.
fn begin(metric: &Metric) {
    match metric.kind {
        MetricKind::Counter => {
            describe_counter!(metric.name, metric.help());
            for labels in metric.series() {
                counter!(metric.name, &labels).increment(0);
            }
        }
        MetricKind::Gauge | MetricKind::Process => describe_gauge!(metric.name, metric.help()),
        MetricKind::Seconds => describe_histogram!(metric.name, Unit::Seconds, metric.help()),
        // Their text has its own description.
        MetricKind::Sampled => {}
    }
}

#[cfg(test)]
mod tests;
