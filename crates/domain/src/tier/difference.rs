//! The difference between two versions of a tier, option by option.

use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::Tier;

/// One option that differs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = OptionDifference)]
pub struct OptionChange {
    /// The option's name.
    #[schema(example = "messages_per_second")]
    pub option: String,
    /// Its value before; null when it was not set.
    #[schema(value_type = Option<OptionValue>, example = "80/s")]
    pub old: Value,
    /// Its new value; null when it is no longer set.
    #[schema(value_type = Option<OptionValue>, example = "40/s")]
    pub new: Value,
}

/// The value of an option of a tier.
#[derive(ToSchema)]
#[serde(untagged)]
pub enum OptionValue {
    /// A rate, a duration, `unlimited`, or a text.
    Text(String),
    /// A number.
    Count(u32),
    /// The caps of the first days.
    Counts(Vec<u32>),
}

/// The options in which two tiers, given as their stored documents, differ, in the order of [`Tier::OPTIONS`]. A
/// missing option has its default.
pub fn difference(before: &Value, after: &Value) -> Vec<OptionChange> {
    let (before, after) = (options(before), options(after));
    let value = |options: &Map<String, Value>, name| options.get(name).cloned().unwrap_or(Value::Null);
    Tier::OPTIONS
        .iter()
        .map(|option| OptionChange {
            option: (*option).to_owned(),
            old: value(&before, *option),
            new: value(&after, *option),
        })
        .filter(|change| change.old != change.new)
        .collect()
}

/// Every option of a document; of a document that another version wrote and this one cannot read, those that are
/// readable.
fn options(document: &Value) -> Map<String, Value> {
    let whole = serde_json::from_value::<Tier>(document.clone()).and_then(serde_json::to_value);
    match whole.unwrap_or_else(|_| document.clone()) {
        Value::Object(options) => options,
        _ => Map::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_missing_option_equals_its_default() {
        let short = json!({"name": "a", "kind": "business_account", "messages_per_second": "80/s"});
        let mut long = serde_json::to_value(serde_json::from_value::<Tier>(short.clone()).unwrap()).unwrap();
        assert_eq!(difference(&short, &long), []);
        long["burst"] = json!(2);
        let burst = OptionChange { option: "burst".to_owned(), old: Value::Null, new: json!(2) };
        assert_eq!(difference(&short, &long), [burst]);
    }

    #[test]
    fn a_document_that_is_no_tier_is_compared_by_its_readable_options() {
        let odd = json!({"messages_per_second": "80/s", "colour": "red"});
        let changed = difference(&odd, &json!({"messages_per_second": "40/s"}));
        assert_eq!(changed.len(), 1);
        assert_eq!(difference(&json!("broken"), &odd).len(), 1);
    }
}
