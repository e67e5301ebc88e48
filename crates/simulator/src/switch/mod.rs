//! Scripts: rules for future sends, and switches that change the simulator at once.
//!
//! A script is one entry or an array of entries. If any entry is wrong, none is applied.

mod account;
mod number;
mod template;
mod webhook;

use serde::Deserialize;
use serde::de::Deserializer;
use serde_json::Value;

use self::account::{AccountSwitch, AppSwitch};
use self::number::NumberSwitch;
use self::template::TemplateSwitch;
use self::webhook::WebhookSwitch;
use super::latency::Latency;
use super::script::{Rule, read_rule};
use super::span::Span;
use super::world::World;

/// A change of the world.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Switch {
    Number(NumberSwitch),
    Account(AccountSwitch),
    /// The calls of the app.
    App(AppSwitch),
    Token(TokenSwitch),
    Template(TemplateSwitch),
    /// A webhook, now or later.
    Webhook(WebhookSwitch),
    /// Everything is answered with 503 and code 2.
    Outage(Outage),
    /// The limit per (number, recipient).
    PairThrottle(bool),
    /// Whether only templates go to people who did not write within 24 hours.
    ServiceWindow(bool),
    /// How long answers to sends take.
    Latency(Latency),
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct TokenSwitch {
    value: String,
    valid: bool,
    /// Unix seconds; 0 for a token without an end.
    expires_at: Option<i64>,
}

/// `true`, `false`, or how long it lasts.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(untagged)]
enum Outage {
    Is(bool),
    For(Span),
}

/// Distinguishes a field that is `null` from an absent one.
fn given<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

/// Applies a script, or says in a sentence what is wrong with it.
pub(super) fn apply(world: &World, script: &Value) -> Result<(), String> {
    let entries = match script {
        Value::Array(entries) => entries.as_slice(),
        Value::Object(_) => std::slice::from_ref(script),
        _ => return Err("a script is a rule, a switch, or an array of them".to_owned()),
    };
    let mut rules: Vec<Rule> = Vec::new();
    let mut switches: Vec<Switch> = Vec::new();
    for (place, entry) in entries.iter().enumerate() {
        if entry.get("outcome").is_some() || entry.get("match").is_some() {
            rules.push(read_rule(place, entry)?);
        } else {
            let switch = Switch::deserialize(entry)
                .map_err(|error| format!("entry {place} has no outcome, so it must be a switch: {error}"))?;
            switch.check(world).map_err(|fault| format!("entry {place}: {fault}"))?;
            switches.push(switch);
        }
    }
    world.script.add(rules)?;
    switches.iter().for_each(|switch| switch.turn(world));
    Ok(())
}

impl Switch {
    /// Checks that the object of the switch exists.
    fn check(&self, world: &World) -> Result<(), String> {
        match self {
            Self::Number(switch) => switch.check(world),
            Self::Account(switch) => switch.check(world),
            Self::Template(switch) => switch.check(world),
            Self::Webhook(switch) => switch.check(world),
            Self::Token(switch) => {
                let is_known = world.directory.read().knows_token(&switch.value);
                if is_known { Ok(()) } else { Err(format!("there is no token {}", switch.value)) }
            }
            Self::App(_)
            | Self::Outage(_)
            | Self::PairThrottle(_)
            | Self::ServiceWindow(_)
            | Self::Latency(_) => Ok(()),
        }
    }

    fn turn(&self, world: &World) {
        match self {
            Self::Number(switch) => switch.turn(world),
            Self::Account(switch) => switch.turn(world),
            Self::App(switch) => switch.turn(world),
            Self::Template(switch) => switch.turn(world),
            Self::Webhook(switch) => switch.turn(world),
            Self::Token(switch) => {
                world.directory.write().set_token(&switch.value, switch.valid, switch.expires_at);
            }
            Self::Outage(Outage::Is(true)) => world.begin_outage(None),
            Self::Outage(Outage::Is(false)) => world.end_outage(),
            Self::Outage(Outage::For(span)) => world.begin_outage(Some(span.0)),
            Self::PairThrottle(is_on) => world.set_pair_throttle(*is_on),
            Self::ServiceWindow(is_on) => world.windows.keep(*is_on),
            Self::Latency(latency) => world.set_latency(latency.clone()),
        }
    }
}
