//! A tier as a JSON object, which is how operators' programs write it.

use serde_json::{Map, Value};

use super::Tier;
use super::judge::{Notation, Written, judge};

/// Reads the tier `name` from an object with the options of the file. An option that is null is left out;
/// `name` may be repeated.
///
/// # Errors
///
/// Every fault, a sentence each.
pub fn from_json(name: &str, options: Map<String, Value>) -> Result<Tier, Vec<String>> {
    let written = options.into_iter().filter(|(_, value)| !value.is_null());
    let written = written.map(|(option, value)| Written { option, shown: value.to_string(), value });
    judge(name, written.collect(), Notation::Json)
}

/// The tier `name` as a record of its changes has it, whatever it was called then.
///
/// # Errors
///
/// As [`from_json`]; a record of another version may have options that this program does not know.
pub fn from_record(name: &str, document: &Value) -> Result<Tier, Vec<String>> {
    let mut options = document.as_object().cloned().unwrap_or_default();
    options.remove("name");
    from_json(name, options)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(options: &Value) -> Result<Tier, Vec<String>> {
        from_json("fast", options.as_object().unwrap().clone())
    }

    #[test]
    fn a_tier_reads_back_from_its_own_document() {
        let given = json!({"kind": "business_account", "messages_per_second": "80/s", "burst": null});
        let tier = read(&given).unwrap();
        assert_eq!((tier.name.as_str(), tier.burst), ("fast", None));
        assert_eq!(read(&serde_json::to_value(&tier).unwrap()).unwrap(), tier);
    }

    #[test]
    fn every_fault_is_told_in_the_notation_of_json() {
        let faults = read(&json!({
            "name": "slow", "messages_per_second": 80, "burts": 1, "pair_interval": "6", "warm_up": [0.5],
        }));
        insta::assert_snapshot!(faults.unwrap_err().join("\n"), @r#"
        there is no option `burts`; did you mean `burst`?
        `"messages_per_second": 80`: invalid type: integer `80`, expected a string; write it like `"messages_per_second": "80/s"`
        a tier is named by its path, here `fast`; remove `name`
        `"pair_interval": "6"` is not a span of time: a number and a unit such as "250ms", "30s", "10m", "2h" or "7d"; write it like `"pair_interval": "6s"`
        `"warm_up": [0.5]`: invalid type: floating point `0.5`, expected u32; write it like `"warm_up": [20, 40, 80]`
        `kind` is missing; add it, for example `"kind": "business_account"`
        "#);
    }

    #[test]
    fn values_that_contradict_each_other_are_faults_too() {
        let faults = read(&json!({
            "kind": "business_account", "messages_per_second": "1/s", "burst": 0, "daily_cap": 5,
        }));
        assert_eq!(faults.unwrap_err().len(), 2);
    }
}
