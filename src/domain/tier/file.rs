//! The file that tiers are written in: one TOML table for each, named like the tier.

use std::fmt;

use serde::Deserialize as _;
use toml::{Table, Value};

use super::Tier;
use crate::domain::nearest::nearest;

/// The tiers that a new database begins with.
pub const BUILT_IN: &str = include_str!("../../../config/tiers.toml");

/// Something wrong in a tier file: where, what, and its mend, as one sentence.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct TierFault {
    /// The table; `None` when the file cannot be read as tables at all.
    pub tier: Option<String>,
    /// What is wrong and how to mend it.
    pub sentence: String,
}

impl fmt::Display for TierFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.tier {
            Some(tier) => write!(f, "tier `{tier}`: {}", self.sentence),
            None => write!(f, "tier file: {}", self.sentence),
        }
    }
}

/// Reads all tiers of a file, in the order of their names.
///
/// # Errors
///
/// Every fault of the file, not only the first.
pub fn parse(text: &str) -> Result<Vec<Tier>, Vec<TierFault>> {
    let tables: Table = text.parse().map_err(|error: toml::de::Error| {
        let line = error.span().map_or(1, |span| 1 + text[..span.start].matches('\n').count());
        vec![TierFault { tier: None, sentence: format!("line {line} is not TOML: {}", error.message()) }]
    })?;
    let mut tiers = Vec::new();
    let mut faults = Vec::new();
    for (name, written) in tables {
        match tier(&name, written) {
            Ok(tier) => tiers.push(tier),
            Err(sentences) => {
                faults.extend(
                    sentences.into_iter().map(|sentence| TierFault { tier: Some(name.clone()), sentence }),
                );
            }
        }
    }
    if faults.is_empty() { Ok(tiers) } else { Err(faults) }
}

fn tier(name: &str, written: Value) -> Result<Tier, Vec<String>> {
    let Value::Table(mut options) = written else {
        return Err(vec![format!("it must be a table: write [{name}] and its options below")]);
    };
    let mut faults: Vec<String> = options.iter().filter_map(|(option, value)| fault(option, value)).collect();
    for required in ["kind", "messages_per_second"] {
        if !options.contains_key(required) {
            faults.push(format!("`{required}` is missing; add it, for example `{}`", example(required)));
        }
    }
    if !faults.is_empty() {
        return Err(faults);
    }
    options.insert("name".to_owned(), name.into());
    let tier = Tier::deserialize(options).map_err(|error| vec![error.message().to_owned()])?;
    let faults = tier.faults();
    if faults.is_empty() { Ok(tier) } else { Err(faults) }
}

/// What is wrong with one option, judged by putting it alone into an otherwise sound tier.
fn fault(option: &str, value: &Value) -> Option<String> {
    if option == "name" {
        return Some("a tier is named by its table; remove `name`".to_owned());
    }
    if !Tier::OPTIONS.contains(&option) {
        let mend = nearest(option, Tier::OPTIONS.iter().copied()).map_or_else(
            || format!("it may have {}", Tier::OPTIONS[1..].join(", ")),
            |near| format!("did you mean `{near}`?"),
        );
        return Some(format!("there is no option `{option}`; {mend}"));
    }
    let mut sound = Table::new();
    sound.insert("name".to_owned(), "sound".into());
    sound.insert("kind".to_owned(), "business_account".into());
    sound.insert("messages_per_second".to_owned(), "1/s".into());
    sound.insert(option.to_owned(), value.clone());
    let error = Tier::deserialize(sound).err()?;
    let message = error.message();
    let joint = if message.starts_with("invalid") || message.starts_with("unknown") { ": " } else { " " };
    Some(format!("`{option} = {value}`{joint}{message}; write it like `{}`", example(option)))
}

fn example(option: &str) -> &'static str {
    match option {
        "kind" => "kind = \"business_account\"",
        "messages_per_second" => "messages_per_second = \"80/s\"",
        "burst" => "burst = 1",
        "pair_interval" => "pair_interval = \"6s\"",
        "pair_burst" => "pair_burst = 10",
        "template_quota" => "template_quota = 2000",
        "api_requests" => "api_requests = \"50/s\"",
        "unknown_outcome" => "unknown_outcome = \"resend\"",
        "jitter" => "jitter = \"4s\"",
        "daily_cap" => "daily_cap = 200",
        "warm_up" => "warm_up = [20, 40, 80]",
        _ => "description = \"For new numbers\"",
    }
}
