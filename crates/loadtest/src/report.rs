//! The results of a load test: one object for JSON, the table and the page.
//!
//! Durations are seconds (`_s`) or milliseconds (`_ms`), memory is MiB (`_mib`), processor time is per cent
//! of one core. Unknown values are null.

use std::collections::BTreeMap;
use std::time::Instant;

use serde::Serialize;

use super::balance::Balance;
use super::board::{Board, BulkSend, Phase};
use super::latency::Summary;
use super::limit::Limit;
use super::measure::{Readings, Taken};
use super::own::Own;
use super::sample::{Sample, mib};
use super::target::Tested;
use super::verdict::{self, Outcome, Verdict};
use super::{Plan, Receiving, Target};
use clock::Timestamp;

/// The results of one load test.
#[derive(Debug, Clone, Serialize)]
pub struct Report {
    /// The version of the program.
    pub version: &'static str,
    /// When the first send was due.
    pub started_at: Timestamp,
    /// Whether no message was lost or repeated, every tag reached all its people, and the limit was kept.
    pub passed: bool,
    /// Whether it was ended early.
    pub ended_early: bool,
    /// The verdicts, each a question with its answer.
    pub verdicts: Vec<Verdict>,
    /// What was tested, and how.
    pub setting: Setting,
    /// Single sends.
    pub singles: Singles,
    /// Sends to tags.
    pub bulk: Bulk,
    /// The limit of the channel; null when it has none.
    pub limit: Option<Limit>,
    /// What arrived; null when people receive the messages, so that nothing is counted.
    pub arrivals: Option<Arrivals>,
    /// The accepted messages, compared with the arrivals.
    pub balance: Balance,
    /// The resources that were used.
    pub resources: Resources,
    /// The figures over time.
    pub samples: Vec<Sample>,
}

/// What was tested, and how.
#[derive(Debug, Clone, Serialize)]
pub struct Setting {
    /// `own`, or the address of the service.
    pub service: String,
    /// The receiver: `own simulator`, a simulator's address, or `people`.
    pub receiver: String,
    /// The database of a service of our own.
    pub database: String,
    /// Contacts that were added; null when they existed before.
    pub contacts: Option<u32>,
    /// Contacts added in a second.
    pub contacts_per_s: Option<f64>,
    /// The tags that were sent to.
    pub tags: Vec<String>,
    /// The rate of a channel of our own; null for another service's channel.
    pub rate: Option<String>,
    /// The rate of single sends.
    pub single_rate: Option<String>,
    /// The duration of sending.
    pub sent_s: f64,
    /// The duration, after that, until all messages had arrived or the wait ended.
    pub drained_s: f64,
    /// Processors of this machine.
    pub cores: usize,
    /// Its operating system and architecture.
    pub system: String,
}

/// Single sends.
#[derive(Debug, Clone, Serialize)]
pub struct Singles {
    /// Requests that were due.
    pub due: u64,
    /// Requests that were answered 202.
    pub accepted: u64,
    /// From the due time of each request to its 202.
    pub latency_ms: Summary,
    /// The same by what the service did meanwhile.
    pub by_phase: BTreeMap<Phase, Summary>,
    /// Percentiles and milliseconds by phase, for a curve.
    pub curves: BTreeMap<Phase, Vec<(f64, f64)>>,
    /// The p99 of each phase, as a multiple of that of the idle service.
    pub p99_to_idle: BTreeMap<Phase, f64>,
    /// Refusals of all requests, bulk sends too, by code.
    pub refused: BTreeMap<String, u64>,
    /// Those among them that were answered 429.
    pub too_many_requests: u64,
    /// Requests without a clear answer, by what happened.
    pub unclear: BTreeMap<String, u64>,
}

/// Sends to tags.
#[derive(Debug, Clone, Serialize)]
pub struct Bulk {
    /// Sends that were planned.
    pub planned: u32,
    /// Sends that were accepted, in the order of their answers.
    pub sends: Vec<BulkSend>,
    /// From the request to its 202.
    pub latency_ms: Summary,
}

/// What arrived at the receiver.
#[derive(Debug, Clone, Serialize)]
pub struct Arrivals {
    /// Messages in all, repeated ones too.
    pub messages: u64,
    /// Messages in a second on average, in those tenths of a second in which bulk sends ran.
    pub per_s_while_running: f64,
    /// The most within any one second.
    pub most_in_a_second: u64,
    /// Whether that second is exact to the millisecond, and not to a tenth of a second.
    pub is_exact: bool,
    /// Messages that the receiver refused, which the service retries.
    pub refused: u64,
    /// Those that it refused because they came too fast.
    pub throttled: u64,
    /// Messages in each tenth of a second since the beginning.
    pub by_tenth: Vec<u32>,
}

/// The resources that the test used.
#[derive(Debug, Clone, Serialize)]
pub struct Resources {
    /// The service.
    pub service: Option<Usage>,
    /// The simulator, when it is our own.
    pub simulator: Option<Usage>,
    /// The load test itself.
    pub loadtest: Option<Usage>,
    /// Microseconds of the service's processor time for each message, all that it did included.
    pub service_cpu_us_per_message: Option<f64>,
    /// The size of the database at the beginning.
    pub database_start_mib: Option<f64>,
    /// The size of the database at the end.
    pub database_end_mib: Option<f64>,
    /// The growth of the database for each message, in bytes.
    pub database_bytes_per_message: Option<f64>,
}

/// The resources that a process used.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Usage {
    /// Processor time.
    pub cpu_s: f64,
    /// Processor time on average, in per cent of one core.
    pub cpu_percent: f64,
    /// Memory at the beginning.
    pub start_mib: f64,
    /// The most memory.
    pub most_mib: f64,
    /// Memory at the end.
    pub end_mib: f64,
}

/// The results that are known only while the test runs.
pub(super) struct Kept {
    pub(super) started_at: Timestamp,
    pub(super) sent_s: f64,
    pub(super) drained_s: f64,
    pub(super) ended_early: bool,
    pub(super) bulk: u32,
    pub(super) begin: Instant,
}

impl Report {
    pub(super) fn new(
        plan: &Plan,
        own: Option<&Own>,
        tested: &Tested,
        board: &Board,
        taken: Taken,
        balance: Balance,
        kept: &Kept,
    ) -> Self {
        let arrivals = arrivals(tested, &taken, plan, kept.begin);
        let tally = board.tally();
        let by_phase: BTreeMap<_, _> =
            Phase::ALL.map(|phase| (phase, tally.singles[phase as usize].summary())).into();
        let idle = by_phase.get(&Phase::Idle).filter(|idle| idle.count > 0).map(|idle| idle.p99);
        let to_idle =
            |(phase, of): (&Phase, &Summary)| Some((*phase, of.p99 / idle?)).filter(|_| of.count > 0);
        let p99_to_idle =
            by_phase.iter().filter(|(phase, _)| **phase > Phase::Idle).filter_map(to_idle).collect();
        let mut bulk = tally.bulk.clone();
        bulk.sort_by(|a, b| a.at_s.total_cmp(&b.at_s));
        let mut report = Self {
            version: env!("CARGO_PKG_VERSION"),
            started_at: kept.started_at,
            passed: false,
            ended_early: kept.ended_early,
            verdicts: Vec::new(),
            setting: setting(plan, own, tested, kept),
            singles: Singles {
                due: tally.due,
                accepted: tally.singles_accepted,
                latency_ms: tally.latencies().summary(),
                curves: Phase::ALL.map(|phase| (phase, tally.singles[phase as usize].curve())).into(),
                by_phase,
                p99_to_idle,
                refused: tally.refused.clone(),
                too_many_requests: tally.too_many,
                unclear: tally.unclear.clone(),
            },
            bulk: Bulk { planned: kept.bulk, latency_ms: tally.bulk_latencies.summary(), sends: bulk },
            limit: tested.limit,
            resources: resources(&taken, balance.arrived, kept.drained_s),
            arrivals,
            balance,
            samples: taken.samples,
        };
        report.verdicts = verdict::all(&report);
        report.passed =
            !report.verdicts.iter().any(|verdict| verdict.decides && verdict.outcome == Outcome::Bad);
        report
    }
}

fn setting(plan: &Plan, own: Option<&Own>, tested: &Tested, kept: &Kept) -> Setting {
    let (service, receiver) = match &plan.target {
        Target::Own => ("own".to_owned(), "own simulator".to_owned()),
        Target::Other { url, receiving, .. } => {
            let receiver = match receiving {
                Receiving::Simulator(simulator) => simulator.clone(),
                Receiving::RealPeople { .. } => "people".to_owned(),
            };
            (url.clone(), receiver)
        }
    };
    let seeding = own.map(|own| own.seeding.as_secs_f64()).filter(|seconds| *seconds > 0.0);
    Setting {
        service,
        receiver,
        database: tested.database.clone(),
        contacts: own.map(|_| plan.contacts),
        contacts_per_s: seeding.map(|seconds| f64::from(plan.contacts) / seconds),
        tags: tested.tags.iter().map(|tag| tag.name.clone()).collect(),
        rate: own.map(|_| plan.rate.to_string()),
        single_rate: plan.single_rate.filter(|_| tested.has_singles).map(|rate| rate.to_string()),
        sent_s: kept.sent_s,
        drained_s: (kept.drained_s - kept.sent_s).max(0.0),
        cores: std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
        system: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
    }
}

fn arrivals(tested: &Tested, taken: &Taken, plan: &Plan, begin: Instant) -> Option<Arrivals> {
    let (receiver, figures) = (tested.receiver.as_ref()?, taken.figures?);
    let by_tenth = receiver.arrivals(begin);
    let (most_in_a_second, is_exact) = receiver.most_in_a_second(&figures);
    let singles = plan.single_rate.map_or(0.0, |rate| rate.per_second());
    Some(Arrivals {
        messages: figures.messages,
        per_s_while_running: while_running(&by_tenth, singles),
        most_in_a_second,
        is_exact,
        refused: figures.refused,
        throttled: figures.throttled,
        by_tenth,
    })
}

/// Messages per second in those tenths that have more than twice the rate of single sends; if there are none,
/// in all tenths with messages.
fn while_running(by_tenth: &[u32], singles_per_second: f64) -> f64 {
    let mean = |least: f64| {
        let busy: Vec<_> = by_tenth.iter().copied().map(f64::from).filter(|count| *count > least).collect();
        (!busy.is_empty()).then(|| busy.iter().sum::<f64>() * 10.0 / busy.len() as f64)
    };
    mean(singles_per_second / 5.0 + 1.0).or_else(|| mean(0.0)).unwrap_or_default()
}

fn resources(taken: &Taken, messages: u64, passed: f64) -> Resources {
    let usage = |readings: &Readings| {
        let (first, last) = (readings.first?, readings.last?);
        let cpu_s = last.cpu.saturating_sub(first.cpu).as_secs_f64();
        Some(Usage {
            cpu_s,
            cpu_percent: if passed > 0.0 { cpu_s / passed * 100.0 } else { 0.0 },
            start_mib: mib(first.resident),
            most_mib: mib(readings.most),
            end_mib: mib(last.resident),
        })
    };
    let service = usage(&taken.service);
    let each = |whole: f64| (messages > 0).then(|| whole / messages as f64);
    Resources {
        service,
        simulator: usage(&taken.simulator),
        loadtest: usage(&taken.loadtest),
        service_cpu_us_per_message: service.and_then(|service| each(service.cpu_s * 1e6)),
        database_start_mib: taken.database.map(|(start, _)| mib(start)),
        database_end_mib: taken.database.map(|(_, end)| mib(end)),
        database_bytes_per_message: taken
            .database
            .and_then(|(start, end)| each(end.saturating_sub(start) as f64)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pace_of_bulk_sends_leaves_out_single_sends() {
        // Ten a second alone, then two hundred for a tenth.
        let pace = while_running(&[1, 1, 1, 200, 200, 1, 0, 1], 10.0);
        assert!((pace - 2_000.0).abs() < 1e-6, "{pace}");
        assert!((while_running(&[1, 0, 1], 10.0) - 10.0).abs() < 1e-6);
        assert!(while_running(&[], 10.0).abs() < 1e-6);
    }
}
