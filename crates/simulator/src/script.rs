//! Scripted outcomes of sends that have passed every check.
//!
//! Rules are tried in the order in which they were added; the first one whose turn it is decides. A script
//! does not see sends that were refused before, so `times: 3` means three sends that would otherwise have
//! been accepted.

use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::error::GraphError;
use super::span::Span;

/// The most rules at a time; each send without an outcome is compared with all of them.
const MOST_RULES: usize = 1_000;

/// The sends that a rule matches; absent fields match every send.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Match {
    phone_number_id: Option<String>,
    to: Option<String>,
    to_suffix: Option<String>,
    #[serde(rename = "type")]
    kind: Option<String>,
    template: Option<String>,
    key_prefix: Option<String>,
}

/// The outcome of a send.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Outcome {
    /// Refused with this error.
    Error(ScriptedError),
    /// Accepted at once, answered this much later.
    Delay(Span),
    /// No answer for this long; then the send is accepted, whether or not the client still waits.
    HangThenAccept(Span),
    /// No answer for this long; then the connection is closed, and the send is not accepted.
    HangThenDrop(Span),
    /// Accepted, and the connection is closed without an answer.
    DropReply(Yes),
    /// Accepted, and answered with status 200 and a body that is not JSON.
    GarbledReply(Yes),
    /// The connection is closed, and the send is not accepted.
    Reset(Yes),
    /// A page of a proxy with status 502; the send is not accepted.
    BadGateway(Yes),
    /// Accepted; the status webhook that follows says `failed`.
    AsyncFailed(AsyncFailure),
    /// The number gets this status now, and the send is refused because of it.
    Status(NumberStatus),
}

/// `true`: the only value of an outcome that has no parameters.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(try_from = "bool")]
pub(super) struct Yes;

impl TryFrom<bool> for Yes {
    type Error = &'static str;

    fn try_from(value: bool) -> Result<Self, Self::Error> {
        if value { Ok(Self) } else { Err("this outcome must be true") }
    }
}

/// An error as a script writes it.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ScriptedError {
    code: u32,
    http: Option<u16>,
    subcode: Option<u32>,
    message: Option<String>,
    is_transient: Option<bool>,
}

impl ScriptedError {
    pub(super) fn graph_error(&self) -> GraphError {
        let mut error = GraphError::new(self.code);
        if let Some(message) = &self.message {
            error = error.titled(message.clone());
        }
        if let Some(http) = self.http {
            error = error.with_status(http);
        }
        error.subcode = self.subcode;
        error.is_transient = self.is_transient.or(error.is_transient);
        error
    }
}

/// The error of a `failed` status.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AsyncFailure {
    pub(super) code: u32,
    pub(super) title: Option<String>,
}

/// The status that a number gets.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NumberStatus {
    pub(super) phone_number_status: String,
}

/// One rule as a script writes it.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Rule {
    #[serde(rename = "match", default)]
    matching: Match,
    times: Option<u64>,
    every: Option<u64>,
    probability: Option<f64>,
    #[serde(default)]
    seed: u64,
    outcome: Outcome,
}

impl Rule {
    /// A sentence about the fault of this rule; `None` for a valid rule.
    pub(super) fn fault(&self) -> Option<&'static str> {
        if self.times == Some(0) || self.every == Some(0) {
            return Some("times and every must be at least 1");
        }
        if self.probability.is_some_and(|share| !(0.0..=1.0).contains(&share)) {
            return Some("probability must be between 0 and 1");
        }
        None
    }
}

/// The fields of a send that rules use.
pub(super) struct Occasion<'a> {
    pub(super) phone_number_id: &'a str,
    pub(super) to: &'a str,
    pub(super) kind: &'a str,
    pub(super) template: Option<&'a str>,
    pub(super) key: &'a str,
}

impl Match {
    fn has(&self, occasion: &Occasion<'_>) -> bool {
        let same = |wanted: &Option<String>, value: &str| wanted.as_deref().is_none_or(|it| it == value);
        same(&self.phone_number_id, occasion.phone_number_id)
            && self.to.as_deref().is_none_or(|to| to.trim_start_matches('+') == occasion.to)
            && self.to_suffix.as_deref().is_none_or(|suffix| occasion.to.ends_with(suffix))
            && same(&self.kind, occasion.kind)
            && self.template.as_deref().is_none_or(|name| occasion.template == Some(name))
            && self.key_prefix.as_deref().is_none_or(|prefix| occasion.key.starts_with(prefix))
    }
}

#[derive(Debug)]
struct Running {
    rule: Rule,
    chance: SmallRng,
    matched: u64,
    applied: u64,
}

impl Running {
    /// Whether it is this rule's turn to decide about a send that it matches.
    fn has_turn(&mut self) -> bool {
        self.matched += 1;
        let is_due = self.rule.every.is_none_or(|every| self.matched.is_multiple_of(every));
        is_due && self.rule.probability.is_none_or(|share| self.chance.random_bool(share))
    }

    fn is_over(&self) -> bool {
        self.rule.times.is_some_and(|times| self.applied >= times)
    }
}

/// The progress of a rule, for `GET /_sim/script`.
#[derive(Debug, Serialize)]
pub(super) struct Progress {
    matched: u64,
    applied: u64,
    outcome: String,
}

/// The rules in force.
#[derive(Debug, Default)]
pub(super) struct Script {
    rules: Mutex<Vec<Running>>,
    has_rules: AtomicBool,
}

impl Script {
    /// Adds rules after those in force.
    pub(super) fn add(&self, added: Vec<Rule>) -> Result<(), String> {
        let mut rules = self.rules.lock();
        if rules.len() + added.len() > MOST_RULES {
            return Err(format!("a script has at most {MOST_RULES} rules"));
        }
        rules.extend(added.into_iter().map(|rule| {
            let chance = SmallRng::seed_from_u64(rule.seed);
            Running { rule, chance, matched: 0, applied: 0 }
        }));
        self.has_rules.store(!rules.is_empty(), Ordering::Release);
        Ok(())
    }

    /// Ends all rules.
    pub(super) fn clear(&self) {
        self.rules.lock().clear();
        self.has_rules.store(false, Ordering::Release);
    }

    /// The outcome for this send; `None` lets it be accepted. Without rules this takes no lock.
    pub(super) fn outcome(&self, occasion: &Occasion<'_>) -> Option<Outcome> {
        if !self.has_rules.load(Ordering::Acquire) {
            return None;
        }
        let mut rules = self.rules.lock();
        let turn = |running: &mut Running| running.rule.matching.has(occasion) && running.has_turn();
        let decides = rules.iter_mut().position(turn)?;
        let running = &mut rules[decides];
        running.applied += 1;
        let outcome = running.rule.outcome.clone();
        if running.is_over() {
            rules.remove(decides);
        }
        Some(outcome)
    }

    /// The rules in force, in order.
    pub(super) fn progress(&self) -> Vec<Progress> {
        let shown = |running: &Running| Progress {
            matched: running.matched,
            applied: running.applied,
            outcome: format!("{:?}", running.rule.outcome),
        };
        self.rules.lock().iter().map(shown).collect()
    }
}

/// Parses one rule. The error names its position in the script.
pub(super) fn read_rule(place: usize, value: &Value) -> Result<Rule, String> {
    let rule = Rule::deserialize(value).map_err(|error| format!("entry {place}: {error}"))?;
    match rule.fault() {
        Some(fault) => Err(format!("entry {place}: {fault}")),
        None => Ok(rule),
    }
}
