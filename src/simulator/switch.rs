//! Scripts as they arrive: rules for sends, and switches that change the world at once.
//!
//! A script is one entry or an array of them. Nothing is applied when any entry is wrong.

use serde::Deserialize;
use serde::de::Deserializer;
use serde_json::Value;

use super::script::{Rule, read_rule};
use super::span::Span;
use super::world::World;

/// A change of the world.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Switch {
    Number(NumberSwitch),
    Account(AccountSwitch),
    Token(TokenSwitch),
    Template(TemplateSwitch),
    /// Everything is answered with 503 and code 2.
    Outage(bool),
    /// The limit per (number, recipient).
    PairThrottle(bool),
    /// How long every answer to a send takes.
    Latency(Span),
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct NumberSwitch {
    phone_number_id: String,
    status: Option<String>,
    /// Messages per second; `null` is unlimited.
    #[serde(default, deserialize_with = "given")]
    throttle: Option<Option<u32>>,
    /// Sends are answered with 131057.
    maintenance: Option<bool>,
    /// A token that may use the number's account from now on.
    token: Option<String>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct AccountSwitch {
    waba_id: String,
    /// The code that every send is refused with (368, 131031, 131042); `null` lifts it.
    restriction: Option<u32>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct TokenSwitch {
    value: String,
    valid: bool,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct TemplateSwitch {
    waba_id: String,
    name: String,
    language: String,
    status: String,
}

/// Tells a field that is `null` from one that is absent.
fn given<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Option<u32>>, D::Error> {
    Option::deserialize(deserializer).map(Some)
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
    /// Whether what the switch is about exists.
    fn check(&self, world: &World) -> Result<(), String> {
        match self {
            Self::Number(switch) => {
                let id = &switch.phone_number_id;
                let exists = world.directory.read().number(id).is_some();
                let exists = exists || world.number_on_first_use(id).is_some();
                if exists { Ok(()) } else { Err(format!("there is no number {id}")) }
            }
            Self::Account(AccountSwitch { waba_id, .. }) => {
                let exists = world.directory.read().account(waba_id).is_some();
                if exists { Ok(()) } else { Err(format!("there is no account {waba_id}")) }
            }
            Self::Token(switch) => {
                let is_known = world.directory.read().knows_token(&switch.value);
                if is_known { Ok(()) } else { Err(format!("there is no token {}", switch.value)) }
            }
            Self::Template(switch) => {
                let directory = world.directory.read();
                let account = directory.account(&switch.waba_id);
                let exists = account.is_some_and(|account| {
                    account.catalogue.read().find(&switch.name, &switch.language).is_some()
                });
                if exists { Ok(()) } else { Err(format!("there is no template {} there", switch.name)) }
            }
            Self::Outage(_) | Self::PairThrottle(_) | Self::Latency(_) => Ok(()),
        }
    }

    fn turn(&self, world: &World) {
        match self {
            Self::Number(switch) => switch.turn(world),
            Self::Account(switch) => {
                if let Some(account) = world.directory.read().account(&switch.waba_id) {
                    account.restrict(switch.restriction);
                }
            }
            Self::Token(switch) => world.directory.write().set_token(&switch.value, switch.valid),
            Self::Template(switch) => {
                if let Some(account) = world.directory.read().account(&switch.waba_id) {
                    let mut catalogue = account.catalogue.write();
                    let id = catalogue.find(&switch.name, &switch.language).map(|stored| stored.id);
                    id.map(|id| catalogue.set_status(id, &switch.status));
                }
            }
            Self::Outage(is_out) => world.set_outage(*is_out),
            Self::PairThrottle(is_on) => world.set_pair_throttle(*is_on),
            Self::Latency(latency) => world.set_latency(latency.0),
        }
    }
}

impl NumberSwitch {
    fn turn(&self, world: &World) {
        let Some(number) = world.directory.read().number(&self.phone_number_id).cloned() else { return };
        if let Some(status) = &self.status {
            number.set_status(status);
        }
        if let Some(throttle) = self.throttle {
            number.set_throughput(throttle);
        }
        if let Some(is_in_maintenance) = self.maintenance {
            number.set_maintenance(is_in_maintenance);
        }
        if let Some(token) = &self.token {
            world.directory.write().grant(token, &number.account.waba_id);
        }
    }
}
