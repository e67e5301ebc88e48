//! What applying a file of tiers changes, option by option.

use std::fmt;

use serde::Serialize;
use serde_json::{Map, Value};

use crate::domain::tier::{OptionChange, Tier, difference};

/// The tiers of the file, in its order: new ones, changed options, and unchanged ones.
#[derive(Debug, Default, Serialize)]
pub(super) struct Difference {
    added: Vec<String>,
    changed: Vec<Change>,
    unchanged: Vec<String>,
}

/// One option of one tier.
#[derive(Debug, Serialize)]
struct Change {
    tier: String,
    #[serde(flatten)]
    change: OptionChange,
}

impl Difference {
    /// The changes when `given` is applied over `stored`.
    pub(super) fn between(stored: &[Tier], given: &[Tier]) -> anyhow::Result<Self> {
        let mut all = Self::default();
        for tier in given {
            let Some(old) = stored.iter().find(|stored| stored.name == tier.name) else {
                all.added.push(tier.name.clone());
                continue;
            };
            let (old, new) = (serde_json::to_value(old)?, serde_json::to_value(tier)?);
            let changes: Vec<Change> = difference(&old, &new)
                .into_iter()
                .map(|change| Change { tier: tier.name.clone(), change })
                .collect();
            if changes.is_empty() {
                all.unchanged.push(tier.name.clone());
            }
            all.changed.extend(changes);
        }
        Ok(all)
    }

    /// The first tier whose kind of channel would change.
    pub(super) fn changes_kind(&self) -> Option<&str> {
        self.changed.iter().find(|changed| changed.change.option == "kind").map(|change| change.tier.as_str())
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut lines: Vec<String> = self.added.iter().map(|name| format!("{name}: new")).collect();
        lines.extend(self.changed.iter().map(
            |Change { tier, change: OptionChange { option, old, new } }| {
                format!("{tier}: {option} {} → {}", written(old), written(new))
            },
        ));
        if !self.unchanged.is_empty() {
            lines.push(format!("unchanged: {}", self.unchanged.join(", ")));
        }
        if lines.is_empty() {
            lines.push("the file has no tiers".to_owned());
        }
        f.write_str(&lines.join("\n"))
    }
}

/// The options of a tier that are set, in their order.
pub(super) fn options(tier: &Tier) -> anyhow::Result<Vec<(String, Value)>> {
    let mut fields = fields(tier)?;
    let ordered = Tier::OPTIONS.iter().filter_map(|option| fields.remove_entry(*option));
    Ok(ordered.collect())
}

/// A value as a person reads it.
pub(super) fn written(value: &Value) -> String {
    match value {
        Value::Null => "(not set)".to_owned(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn fields(tier: &Tier) -> anyhow::Result<Map<String, Value>> {
    match serde_json::to_value(tier)? {
        Value::Object(fields) => Ok(fields),
        _ => Ok(Map::new()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::tier::parse;

    #[test]
    fn each_change_is_shown_with_its_old_and_its_new_value() {
        let stored = parse("[a]\nkind = \"business_account\"\nmessages_per_second = \"80/s\"\n[b]\nkind = \"web_session\"\nmessages_per_second = \"6/min\"").unwrap();
        let given = parse("[a]\nkind = \"business_account\"\nmessages_per_second = \"40/s\"\nburst = 2\n[b]\nkind = \"web_session\"\nmessages_per_second = \"6/min\"\n[c]\nkind = \"web_session\"\nmessages_per_second = \"1/s\"").unwrap();
        let difference = Difference::between(&stored, &given).unwrap();
        assert_eq!(
            difference.to_string(),
            "c: new\na: messages_per_second 80/s → 40/s\na: burst (not set) → 2\nunchanged: b"
        );
        assert_eq!(difference.changes_kind(), None);
    }
}
