//! The result of the soak.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use simulator::Simulator;

use crate::channel::{Channel, Verdict};
use crate::memory;

#[derive(Debug, Serialize)]
pub(crate) struct Report {
    minutes: f64,
    /// Messages that the service promised with a 202.
    accepted: u64,
    /// Messages that the service knows to be delivered or read.
    delivered: u64,
    /// Promised messages that the provider never got.
    lost: u64,
    /// Messages that the provider got more than once, by their key.
    repeated: u64,
    /// Messages that were not promised, repeated ones included.
    surplus: u64,
    /// Sends that were never answered 202.
    pub(crate) undecided: u64,
    /// How often the service was killed.
    pub(crate) kills: u64,
    /// Messages by state, from the service's own database.
    states: BTreeMap<String, u64>,
    numbers: Vec<Number>,
    memory: memory::Figures,
    /// The service's directory, if it was kept.
    pub(crate) kept: Option<PathBuf>,
}

/// How fast one number sent.
#[derive(Debug, Serialize)]
struct Number {
    tier: &'static str,
    limit_per_second: u32,
    /// The most that arrived in any second, refused ones included.
    most_arrived: u32,
    /// The most that were accepted in any second.
    most_accepted: u32,
    messages: u64,
    refused: u64,
    throttled: u64,
    pair_violations: u64,
}

impl Report {
    pub(crate) fn new(
        channels: &[Arc<Channel>],
        simulator: &Simulator,
        lasting: Duration,
        states: BTreeMap<String, u64>,
        memory: memory::Figures,
    ) -> Self {
        let of = |state: &str| states.get(state).copied().unwrap_or(0);
        let mut report = Self {
            minutes: lasting.as_secs_f64() / 60.0,
            accepted: channels.iter().map(|channel| channel.promised()).sum(),
            delivered: of("delivered") + of("read"),
            lost: 0,
            repeated: 0,
            surplus: 0,
            undecided: 0,
            kills: 0,
            states,
            numbers: Vec::new(),
            memory,
            kept: None,
        };
        for channel in channels {
            let figures = channel.figures(simulator);
            let Verdict { lost, surplus } = channel.judge(&simulator.recipients(channel.plan.number, 0));
            report.lost += lost;
            report.surplus += surplus;
            report.repeated += figures.repeated;
            report.numbers.push(Number {
                tier: channel.plan.tier,
                limit_per_second: channel.plan.limit,
                most_arrived: figures.max_per_second,
                most_accepted: figures.max_accepted_per_second,
                messages: figures.messages,
                refused: figures.refused,
                throttled: figures.throttled,
                pair_violations: figures.pair_violations,
            });
        }
        report
    }

    /// Whether nothing was lost, repeated or left open.
    pub(crate) fn is_clean(&self) -> bool {
        self.lost == 0 && self.repeated == 0 && self.surplus == 0 && self.undecided == 0
    }

    pub(crate) fn json(&self) -> serde_json::Result<String> {
        serde_json::to_string_pretty(self)
    }

    pub(crate) fn table(&self) -> String {
        let states: Vec<_> = self.states.iter().map(|(state, count)| format!("{count} {state}")).collect();
        let memory = match self.memory.mib_per_hour {
            Some(slope) => format!(
                "{:.1} MiB at most, {slope:+.1} MiB/hour over the last {:.0} s",
                self.memory.most_mib, self.memory.seconds
            ),
            None => format!("{:.1} MiB at most; too short to tell the slope", self.memory.most_mib),
        };
        let mut rows = vec![
            ("sent for".to_owned(), format!("{} min, {} kills", self.minutes, self.kills)),
            ("accepted".to_owned(), self.accepted.to_string()),
            ("delivered".to_owned(), self.delivered.to_string()),
            ("lost".to_owned(), self.lost.to_string()),
            ("repeated".to_owned(), self.repeated.to_string()),
            ("beyond what was promised".to_owned(), self.surplus.to_string()),
            ("never answered".to_owned(), self.undecided.to_string()),
            ("in the ledger".to_owned(), states.join(", ")),
        ];
        rows.extend(self.numbers.iter().map(|number| {
            let Number { tier, limit_per_second, most_arrived, most_accepted, .. } = number;
            let Number { messages, refused, throttled, pair_violations, .. } = number;
            let said = format!(
                "{most_arrived} arrived, {most_accepted} accepted in any second, of {limit_per_second}; {messages} \
                 messages; {refused} refused, of them {throttled} throttled, {pair_violations} to one recipient"
            );
            (format!("number, tier {tier}"), said)
        }));
        rows.push(("memory".to_owned(), memory));
        rows.extend(
            self.kept.iter().map(|kept| ("kept for inspection".to_owned(), kept.display().to_string())),
        );
        let lines = rows.iter().map(|(name, value)| format!("| {name:<24} | {value} |"));
        lines.collect::<Vec<_>>().join("\n")
    }
}
