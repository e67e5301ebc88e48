//! Options of a tier for which one channel has values of its own.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{Assignment, Tier};

/// Options that cannot have a value of a channel's own: what the tier is, and what counts for companies.
const SHARED: [&str; 4] = ["name", "kind", "description", "api_requests"];

/// The values by the option's name, as JSON writes them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct OwnOptions(Map<String, Value>);

impl OwnOptions {
    /// The options of a JSON object; those that are null are left out.
    ///
    /// # Errors
    ///
    /// Every fault, a sentence each: the values must be sound together with the tier's others.
    pub fn new(options: Map<String, Value>, tier: &Tier) -> Result<Self, Vec<String>> {
        let own = Self(options.into_iter().filter(|(_, value)| !value.is_null()).collect());
        own.over(tier).map(|_| own)
    }

    /// The options as a person writes them.
    ///
    /// # Errors
    ///
    /// As [`OwnOptions::new`].
    pub fn written(assignments: &[Assignment], tier: &Tier) -> Result<Self, Vec<String>> {
        let tuned = tier.with(assignments)?;
        let tuned = serde_json::to_value(tuned).unwrap_or_default();
        let value = |option: &str| tuned.get(option).cloned().unwrap_or_default();
        let options = assignments.iter().map(Assignment::option);
        Self::new(options.map(|option| (option.to_owned(), value(option))).collect(), tier)
    }

    /// Reads what [`OwnOptions`] displays; empty for what another version wrote and this one cannot read.
    pub fn read(text: &str) -> Self {
        serde_json::from_str(text).unwrap_or_default()
    }

    /// Whether the tier alone counts.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether the channel has its own value of this option.
    pub fn has(&self, option: &str) -> bool {
        self.0.contains_key(option)
    }

    /// Each option with its value, as JSON writes it.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.0.iter().map(|(option, value)| (option.as_str(), value))
    }

    /// The tier with these options.
    ///
    /// # Errors
    ///
    /// As [`OwnOptions::new`]; the tier may have changed since.
    pub fn over(&self, tier: &Tier) -> Result<Tier, Vec<String>> {
        let shared = SHARED.iter().filter(|option| self.has(option));
        let faults: Vec<_> = shared
            .map(|option| format!("`{option}` belongs to the tier: a channel has no value of its own for it"))
            .collect();
        if faults.is_empty() { tier.with_json(self.0.clone()) } else { Err(faults) }
    }

    /// The options as a person writes them, separated by spaces.
    pub fn line(&self) -> String {
        let written = self.0.iter().map(|(option, value)| {
            let value = match value {
                Value::String(text) => text.clone(),
                other => other.to_string().replace(['[', ']'], ""),
            };
            format!("{option}={value}")
        });
        written.collect::<Vec<_>>().join(" ")
    }
}

impl fmt::Display for OwnOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&serde_json::to_string(&self.0).unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::super::assignments;
    use super::super::tests::only;
    use super::*;

    fn written(line: &str) -> Result<OwnOptions, Vec<String>> {
        let tier = only("kind = \"business_account\"\nmessages_per_second = \"80/s\"\nburst = 3");
        OwnOptions::written(&assignments(line).unwrap(), &tier)
    }

    #[test]
    fn a_channel_has_some_values_of_its_own_and_the_tier_s_others() {
        let own = written("messages_per_second=20/s warm_up=20,40 quiet_hours=21:00-08:00 UTC").unwrap();
        let other = only("kind = \"business_account\"\nmessages_per_second = \"1000/s\"\npair_burst = 7");
        let tuned = own.over(&other).unwrap();
        assert_eq!((tuned.messages_per_second.to_string().as_str(), tuned.pair_burst), ("20/s", 7));
        assert_eq!(tuned.warm_up, [20, 40]);
        assert_eq!(own.line(), "messages_per_second=20/s quiet_hours=21:00-08:00 UTC warm_up=20,40");
        assert_eq!(written(&own.line()), Ok(own.clone()));
        assert_eq!(OwnOptions::read(&own.to_string()), own);
        assert!(own.has("warm_up") && !own.has("burst"));
        assert!(written("burst=").unwrap().is_empty());
        assert!(OwnOptions::read("of a later version").is_empty());
    }

    #[test]
    fn what_a_channel_cannot_have_is_told() {
        for line in ["api_requests=5/s", "description=slow", "burst=0", "burts=1", "daily_cap=5"] {
            assert_eq!(written(line).unwrap_err().len(), 1, "{line}");
        }
    }
}
