//! The results of a load test: one object for JSON, the table and the page.
//!
//! Durations are seconds (`_s`) or milliseconds (`_ms`), memory is MiB (`_mib`), processor time is per cent
//! of one core. Unknown values are null.

mod gather;

use std::collections::BTreeMap;
use std::time::Instant;

use serde::Serialize;

use super::Plan;
use super::answers::AnswerProof;
use super::balance::Balance;
use super::board::{Board, BulkSend, Phase};
use super::changes::{Changed, Changes};
use super::compare::{Base, Comparison};
use super::events::EventArrivals;
use super::latency::Summary;
use super::limit::Limit;
use super::measure::Taken;
use super::own::Own;
use super::ramp::Climb;
use super::receiver::WebhookFigures;
use super::sample::Sample;
use super::target::Tested;
use super::verdict::{self, Outcome, Verdict};
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
    /// The limit of the channel; null when it has none, or there are several channels.
    pub limit: Option<Limit>,
    /// Each channel.
    pub channels: Vec<ChannelReport>,
    /// What arrived; null when people receive the messages, so that nothing is counted.
    pub arrivals: Option<Arrivals>,
    /// The simulator's webhooks; null without a simulator.
    pub receipts: Option<Receipts>,
    /// The events at the receiver of webhooks; null without one.
    pub events: Option<EventArrivals>,
    /// The messages of people and the conversations; null when nobody wrote at a rate.
    pub answers: Option<AnswerProof>,
    /// Changes of the tiers while the test ran.
    pub changes: Vec<Changed>,
    /// The steps of the ramp and its knee; null without a ramp.
    pub ramp: Option<Climb>,
    /// The comparison with an earlier report; null without one.
    pub comparison: Option<Comparison>,
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
    /// The command that started the test, without secrets.
    pub command: String,
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
    /// The rates of the tiers of a service of our own, which its channels have in turns; null for another service.
    pub rate: Option<String>,
    /// The rate of single sends.
    pub single_rate: Option<String>,
    /// The rates of single sends of a ramp.
    pub ramp: Option<String>,
    /// Companies that sent.
    pub companies: usize,
    /// Channels that were sent through.
    pub channels: usize,
    /// Nodes of the service.
    pub nodes: usize,
    /// What was sent.
    pub content: String,
    /// Values of each recipient; null when there were none.
    pub values: Option<u8>,
    /// The options of a simulator of our own.
    pub simulator: Option<String>,
    /// Whether a simulator of our own sent receipts.
    pub receipts: bool,
    /// The most events in a request to the receiver of webhooks; null without one.
    pub webhooks: Option<u8>,
    /// The rate at which people wrote; null when nobody did.
    pub answers: Option<String>,
    /// Planned changes of the tiers.
    pub changes: Vec<String>,
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
    /// Messages while bulk sends ran, divided by the time in which they ran; never above `most_in_a_second`.
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

/// A channel, and what arrived from it.
#[derive(Debug, Clone, Serialize)]
pub struct ChannelReport {
    /// Its name.
    pub name: String,
    /// Its company, when that is ours.
    pub company: Option<String>,
    /// Its tier, when that is ours.
    pub tier: Option<String>,
    /// Its limit when the test began; null when it has none.
    pub limit: Option<Limit>,
    /// Messages in all; null when nothing was counted.
    pub messages: Option<u64>,
    /// The most within any one second, before the first change of the tiers; null when nothing was counted.
    pub most_in_a_second: Option<u64>,
    /// Whether that second is exact to the millisecond.
    pub is_exact: bool,
    /// Messages that the receiver refused because they came too fast.
    pub throttled: u64,
}

/// The simulator's webhooks, as the service took them.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Receipts {
    /// Receipts that the service took.
    pub taken: u64,
    /// Those among them that say that a message failed.
    pub failures: u64,
    /// Answers of people, and other webhooks, that it took.
    pub others: u64,
    /// Webhooks that carried them.
    pub webhooks: u64,
    /// Webhooks that it refused; each was repeated.
    pub refused: u64,
    /// Receipts that were given up after the last attempt, or never sent because too many were outstanding.
    pub dropped: u64,
    /// Messages whose receipts were outstanding at the end.
    pub outstanding: u64,
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
    pub(super) changes: Changes,
    pub(super) events: Option<EventArrivals>,
    pub(super) answers: Option<AnswerProof>,
}

impl Report {
    pub(super) fn new(
        plan: &Plan,
        own: Option<&Own>,
        tested: &Tested,
        board: &Board,
        taken: Taken,
        balance: Balance,
        kept: Kept,
    ) -> Self {
        let setting = gather::setting(plan, own, tested, &kept);
        let Kept {
            started_at,
            sent_s: _,
            drained_s,
            ended_early,
            bulk: planned,
            begin,
            changes,
            events,
            answers,
        } = kept;
        let each =
            tested.receivers.as_ref().map(|receivers| receivers.each_by_tenth(begin)).unwrap_or_default();
        let changes = changes.closed(&each);
        let first_change = changes.first().map(|change| change.at_s);
        let arrivals = gather::arrivals(tested, &taken, plan, &each);
        let channels = gather::channels(tested, &taken, &each, first_change);
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
            started_at,
            passed: false,
            ended_early,
            verdicts: Vec::new(),
            setting,
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
            bulk: Bulk { planned, latency_ms: tally.bulk_latencies.summary(), sends: bulk },
            limit: if let [lane] = tested.lanes.as_slice() { lane.limit } else { None },
            channels,
            resources: gather::resources(&taken, balance.arrived, drained_s),
            arrivals,
            receipts: taken.webhooks.map(Receipts::new),
            events,
            answers,
            changes,
            ramp: plan.ramp.map(|ramp| ramp.climb(plan.duration, &tally.legs)),
            comparison: None,
            balance,
            samples: taken.samples,
        };
        report.judge();
        report
    }

    /// Compares this report with an earlier one, which decides about `passed`, too.
    ///
    /// # Errors
    ///
    /// A sentence when the two have no figure in common.
    pub fn compare(&mut self, base: &Base, allowed_percent: f64) -> anyhow::Result<()> {
        self.comparison = Some(base.compare(self, allowed_percent)?);
        self.judge();
        Ok(())
    }

    fn judge(&mut self) {
        self.verdicts = verdict::all(self);
        self.passed = !self.verdicts.iter().any(|verdict| verdict.decides && verdict.outcome == Outcome::Bad);
    }
}

impl Receipts {
    fn new(figures: WebhookFigures) -> Self {
        Self {
            taken: figures.statuses_delivered,
            failures: figures.failures_delivered,
            others: figures.notices_delivered,
            webhooks: figures.webhooks_delivered,
            refused: figures.webhooks_refused,
            dropped: figures.statuses_given_up + figures.messages_without_receipts,
            outstanding: figures.messages_waiting,
        }
    }
}
