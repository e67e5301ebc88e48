//! What a metric is: its name, its labels with their values, and its meaning.

use crate::domain::channel::Status;
use crate::domain::message::State;
use crate::domain::outlook::Reason;

/// How a metric is recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MetricKind {
    Counter,
    Gauge,
    /// A gauge whose label values come and go. The service writes it for each request of `/metrics`, so that a value that
    /// is gone is not shown.
    Sampled,
    /// A histogram of durations in seconds.
    Seconds,
    /// Of the process itself, under Prometheus' standard name.
    Process,
}

/// A metric; `docs/metrics.md` lists all metrics.
#[derive(Debug)]
pub(super) struct Metric {
    pub(super) name: &'static str,
    pub(super) kind: MetricKind,
    /// The labels by which it is divided.
    pub(super) labels: &'static [Label],
    pub(super) meaning: &'static str,
    /// What its figures say about the service; empty when the meaning says it.
    pub(super) watch: &'static str,
}

/// A label of a metric.
#[derive(Debug)]
pub(super) struct Label {
    pub(super) name: &'static str,
    values: Values,
}

/// The values that a label may have.
#[derive(Debug)]
enum Values {
    /// They come with the requests, the channels or the configuration.
    Open,
    These(&'static [&'static str]),
    Statuses,
    States,
    Reasons,
}

impl Label {
    pub(super) const fn open(name: &'static str) -> Self {
        Self { name, values: Values::Open }
    }

    pub(super) const fn of(name: &'static str, values: &'static [&'static str]) -> Self {
        Self { name, values: Values::These(values) }
    }

    /// The statuses of channels.
    pub(super) const fn statuses(name: &'static str) -> Self {
        Self { name, values: Values::Statuses }
    }

    /// The states of messages.
    pub(super) const fn states(name: &'static str) -> Self {
        Self { name, values: Values::States }
    }

    /// The reasons to wait.
    pub(super) const fn reasons(name: &'static str) -> Self {
        Self { name, values: Values::Reasons }
    }

    /// Every value; `None` when they are not known beforehand.
    pub(super) fn values(&self) -> Option<Vec<&'static str>> {
        match self.values {
            Values::Open => None,
            Values::These(values) => Some(values.to_vec()),
            Values::Statuses => Some(Status::ALL.iter().map(|status| status.as_str()).collect()),
            Values::States => Some(State::ALL.iter().map(|state| state.as_str()).collect()),
            Values::Reasons => Some(Reason::ALL.iter().map(|reason| reason.as_str()).collect()),
        }
    }
}

impl Metric {
    pub(super) const fn counter(name: &'static str, meaning: &'static str) -> Self {
        Self::new(name, MetricKind::Counter, meaning)
    }

    pub(super) const fn gauge(name: &'static str, meaning: &'static str) -> Self {
        Self::new(name, MetricKind::Gauge, meaning)
    }

    pub(super) const fn sampled(name: &'static str, meaning: &'static str) -> Self {
        Self::new(name, MetricKind::Sampled, meaning)
    }

    pub(super) const fn seconds(name: &'static str, meaning: &'static str) -> Self {
        Self::new(name, MetricKind::Seconds, meaning)
    }

    pub(super) const fn process(name: &'static str, meaning: &'static str) -> Self {
        Self::new(name, MetricKind::Process, meaning)
    }

    const fn new(name: &'static str, kind: MetricKind, meaning: &'static str) -> Self {
        Self { name, kind, labels: &[], meaning, watch: "" }
    }

    /// Divided by these labels.
    pub(super) const fn by(self, labels: &'static [Label]) -> Self {
        Self { labels, ..self }
    }

    /// What a person reads from its figures.
    pub(super) const fn watch(self, watch: &'static str) -> Self {
        Self { watch, ..self }
    }

    /// The help text in Prometheus.
    pub(super) fn help(&self) -> String {
        match self.labels {
            [] => self.meaning.to_owned(),
            labels => {
                let names: Vec<_> = labels.iter().map(|label| label.name).collect();
                format!("{}; by {}", self.meaning, names.join(", "))
            }
        }
    }

    /// Every combination of label values; none when a label has values that are not known beforehand.
    pub(super) fn series(&self) -> Vec<Vec<(&'static str, &'static str)>> {
        let mut series = vec![Vec::new()];
        for label in self.labels {
            let Some(values) = label.values() else { return Vec::new() };
            let longer = |known: &Vec<(&'static str, &'static str)>| {
                let with = |value| known.iter().copied().chain([(label.name, value)]).collect::<Vec<_>>();
                values.iter().copied().map(with).collect::<Vec<_>>()
            };
            series = series.iter().flat_map(longer).collect();
        }
        series
    }
}
