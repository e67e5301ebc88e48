//! The file that tiers are written in: one TOML table for each, named like the tier.

use std::fmt;

use toml::{Table, Value};

use super::Tier;
use super::judge::{Notation, Written, judge};

/// The tiers that a new database begins with.
pub const BUILT_IN: &str = include_str!("../../../../config/tiers.toml");

/// A fault in a tier file: its place, its description and its remedy, as one sentence.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct TierFault {
    /// The table; `None` when the file cannot be read as tables at all.
    pub tier: Option<String>,
    /// The fault, and how to correct it.
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

/// The tier as [`parse`] reads it: a table with every option that is set, in the order of the options.
pub fn to_toml(tier: &Tier) -> String {
    let mut text = format!("[{}]\n", tier.name);
    let document = serde_json::to_value(tier).unwrap_or_default();
    for option in Tier::OPTIONS.iter().filter(|option| **option != "name") {
        let value = document.get(option).filter(|value| !value.is_null());
        if let Some(value) = value.and_then(|value| Value::try_from(value).ok()) {
            text += &format!("{option} = {value}\n");
        }
    }
    text
}

fn tier(name: &str, written: Value) -> Result<Tier, Vec<String>> {
    let Value::Table(options) = written else {
        return Err(vec![format!("it must be a table: write [{name}] and its options below")]);
    };
    let options = options.into_iter().map(|(option, value)| {
        let shown = value.to_string();
        let value = serde_json::to_value(value).ok().filter(|value| !value.is_null());
        // A value that JSON cannot express, such as `nan`, is no valid option.
        Written { option, value: value.unwrap_or_else(|| shown.clone().into()), shown }
    });
    judge(name, options.collect(), Notation::Toml)
}
