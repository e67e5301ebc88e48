//! Compares two reports: which figures became worse by more than is allowed.

use anyhow::{bail, ensure};
use serde::Serialize;
use serde_json::Value;

/// A figure of a report that two reports are compared by.
struct Figure {
    name: &'static str,
    /// Where it stands in a report.
    pointer: &'static str,
    unit: &'static str,
    is_higher_better: bool,
    /// A difference up to this much is noise.
    noise: f64,
}

const fn lower(name: &'static str, pointer: &'static str, unit: &'static str, noise: f64) -> Figure {
    Figure { name, pointer, unit, is_higher_better: false, noise }
}

const fn higher(name: &'static str, pointer: &'static str, unit: &'static str, noise: f64) -> Figure {
    Figure { name, pointer, unit, is_higher_better: true, noise }
}

/// What is compared. Figures that one of the reports does not have are left out.
const FIGURES: [Figure; 11] = [
    higher("pace while bulk sends ran", "/arrivals/per_s_while_running", "/s", 1.0),
    higher("knee of the ramp", "/ramp/knee_per_s", "/s", 1.0),
    lower("single message, p50", "/singles/latency_ms/p50", "ms", 0.5),
    lower("single message, p99", "/singles/latency_ms/p99", "ms", 2.0),
    lower("single message while bulk sends run, p99", "/singles/by_phase/running/p99", "ms", 2.0),
    lower("bulk send, slowest 202", "/bulk/latency_ms/max", "ms", 5.0),
    lower("processor time for each message", "/resources/service_cpu_us_per_message", "µs", 5.0),
    lower("most memory of the service", "/resources/service/most_mib", "MiB", 4.0),
    lower("database for each message", "/resources/database_bytes_per_message", "bytes", 8.0),
    lower("from an event to its arrival by webhook, p99", "/events/latency_ms/p99", "ms", 10.0),
    lower("messages lost or repeated", "", "", 0.0),
];
/// Settings that make two reports comparable.
const SETTINGS: [&str; 18] = [
    "receiver",
    "database",
    "contacts",
    "rate",
    "single_rate",
    "ramp",
    "companies",
    "channels",
    "nodes",
    "content",
    "values",
    "simulator",
    "receipts",
    "webhooks",
    "answers",
    "changes",
    "cores",
    "system",
];

/// A report that others are compared with.
#[derive(Debug, Clone)]
pub struct Base(Value);

/// Two reports, compared.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// The version of the earlier report's program.
    pub base_version: String,
    /// When the earlier test began.
    pub base_started_at: String,
    /// How much worse a figure may be, in per cent.
    pub allowed_percent: f64,
    /// Whether no figure is worse by more than that.
    pub passed: bool,
    /// The figures that both reports have.
    pub figures: Vec<Compared>,
    /// Settings that differ: the figures may differ because of them.
    pub other_settings: Vec<OtherSetting>,
}

/// A figure of two reports.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Compared {
    /// What it is.
    pub figure: &'static str,
    /// Its unit.
    pub unit: &'static str,
    /// In the earlier report.
    pub before: f64,
    /// In the later one.
    pub now: f64,
    /// The change in per cent of the earlier figure; null when that is zero.
    pub change_percent: Option<f64>,
    /// Whether it is worse by more than is allowed.
    pub is_worse: bool,
}

/// A setting of two reports that differs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OtherSetting {
    /// Its name in a report's `setting`.
    pub setting: &'static str,
    /// In the earlier report.
    pub before: Value,
    /// In the later one.
    pub now: Value,
}

impl Base {
    /// Reads a report that `pombo loadtest --json` printed.
    ///
    /// # Errors
    ///
    /// A sentence when it is none.
    pub fn read(text: &str) -> anyhow::Result<Self> {
        let report: Value = serde_json::from_str(text.trim()).unwrap_or_default();
        let has = |name: &str| report[name].is_object();
        ensure!(
            has("setting") && has("singles") && has("balance"),
            "this is no report of a load test: write one with `pombo loadtest --json > base.json`"
        );
        Ok(Self(report))
    }

    /// Compares a later report with this one.
    ///
    /// # Errors
    ///
    /// A sentence when there is no figure that both have.
    pub fn compare(&self, later: &impl Serialize, allowed_percent: f64) -> anyhow::Result<Comparison> {
        self.compare_values(&serde_json::to_value(later)?, allowed_percent)
    }

    /// The same with a report that was read.
    ///
    /// # Errors
    ///
    /// A sentence when there is no figure that both have.
    pub fn compare_with(&self, later: &Self, allowed_percent: f64) -> anyhow::Result<Comparison> {
        self.compare_values(&later.0, allowed_percent)
    }

    fn compare_values(&self, later: &Value, allowed_percent: f64) -> anyhow::Result<Comparison> {
        let base = &self.0;
        let figures: Vec<_> =
            FIGURES.iter().filter_map(|figure| figure.compared(base, later, allowed_percent)).collect();
        if figures.is_empty() {
            bail!("the two reports have no figure in common");
        }
        let text = |name: &str| base[name].as_str().unwrap_or("unknown").to_owned();
        let other = |setting: &'static str| {
            let (before, now) = (&base["setting"][setting], &later["setting"][setting]);
            (before != now).then(|| OtherSetting { setting, before: before.clone(), now: now.clone() })
        };
        Ok(Comparison {
            base_version: text("version"),
            base_started_at: text("started_at"),
            allowed_percent,
            passed: !figures.iter().any(|figure| figure.is_worse),
            figures,
            other_settings: SETTINGS.into_iter().filter_map(other).collect(),
        })
    }
}

impl Figure {
    /// `None` when one of the reports has no such figure, or nothing was measured for it.
    fn of(&self, report: &Value) -> Option<f64> {
        if self.pointer.is_empty() {
            let balance = &report["balance"];
            return Some(balance["lost"].as_f64()? + balance["repeated"].as_f64()?);
        }
        let value = report.pointer(self.pointer)?.as_f64()?;
        // Percentiles without a request are 0.
        let parent = self.pointer.rsplit_once('/').map_or("", |(parent, _)| parent);
        let is_counted = report.pointer(parent)?.get("count").is_none_or(|count| *count != 0);
        Some(value).filter(|_| is_counted)
    }

    fn compared(&self, base: &Value, later: &Value, allowed_percent: f64) -> Option<Compared> {
        let (before, now) = (self.of(base)?, self.of(later)?);
        let worse = if self.is_higher_better { before - now } else { now - before };
        let is_worse = worse > self.noise && worse > before * allowed_percent / 100.0;
        let change_percent = (before > 0.0).then(|| (now / before - 1.0) * 100.0);
        Some(Compared { figure: self.name, unit: self.unit, before, now, change_percent, is_worse })
    }
}

impl Comparison {
    /// What became worse, in a sentence; `None` when nothing did.
    pub fn fault(&self) -> Option<String> {
        let worse = self.figures.iter().filter(|figure| figure.is_worse).map(|figure| {
            let Compared { figure, unit, before, now, .. } = figure;
            format!("{figure} {before:.1} → {now:.1} {unit}").trim_end().to_owned()
        });
        let worse: Vec<_> = worse.collect();
        (!worse.is_empty())
            .then(|| format!("Worse by more than {} %: {}.", self.allowed_percent, worse.join(", ")))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn report(pace: f64, p99: f64, lost: u64) -> Base {
        let report = json!({
            "version": "1.0.0", "started_at": "2026-01-01T00:00:00.000Z",
            "setting": { "rate": "80/s", "cores": 2 },
            "arrivals": { "per_s_while_running": pace },
            "singles": { "latency_ms": { "count": 10, "p50": 5.0, "p99": p99 }, "by_phase": {
                "running": { "count": 0, "p99": 0.0 },
            } },
            "balance": { "lost": lost, "repeated": 0 },
        });
        Base::read(&report.to_string()).unwrap()
    }

    #[test]
    fn a_figure_that_is_worse_by_more_than_is_allowed_fails() {
        let base = report(1_000.0, 40.0, 0);
        for (pace, p99, lost, worse) in [
            (1_000.0, 40.0, 0, None),
            (960.0, 41.9, 0, None),
            (940.0, 40.0, 0, Some("pace while bulk sends ran 1000.0 → 940.0 /s")),
            (2_000.0, 60.0, 0, Some("single message, p99 40.0 → 60.0 ms")),
            (1_000.0, 40.0, 1, Some("messages lost or repeated 0.0 → 1.0")),
        ] {
            let compared = base.compare_with(&report(pace, p99, lost), 5.0).unwrap();
            assert_eq!((compared.passed, compared.figures.len()), (worse.is_none(), 4), "{compared:?}");
            let fault = compared.fault();
            assert!(worse.is_none_or(|worse| fault.as_ref().unwrap().contains(worse)), "{fault:?}");
        }
        // A small figure may change by much and mean nothing.
        let (quick, slower) = (report(1_000.0, 1.0, 0), report(1_000.0, 2.5, 0));
        assert!(quick.compare_with(&slower, 5.0).unwrap().passed);
    }

    #[test]
    fn settings_that_differ_are_named_and_a_file_that_is_no_report_is_refused() {
        let (base, mut other) = (report(1.0, 1.0, 0), report(1.0, 1.0, 0));
        other.0["setting"]["rate"] = json!("unlimited");
        let compared = base.compare_with(&other, 5.0).unwrap();
        let expected = OtherSetting { setting: "rate", before: json!("80/s"), now: json!("unlimited") };
        assert_eq!(compared.other_settings, [expected]);
        assert!(Base::read("{}").unwrap_err().to_string().contains("--json"));
    }
}
