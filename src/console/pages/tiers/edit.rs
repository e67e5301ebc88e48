//! A tier as the fields of a form, and back.

use serde_json::{Map, Value};

use crate::console::form::Form;
use crate::domain::tier::{self, Tier};

/// The options of a stored tier, as the form shows them.
pub(super) fn options(settings: &str) -> Vec<(&'static str, String)> {
    let whole = serde_json::from_str::<Tier>(settings).and_then(|tier| serde_json::to_value(&tier));
    let whole = whole.unwrap_or_else(|_| serde_json::from_str(settings).unwrap_or_default());
    let shown = |value: &Value| match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(entries) => entries.iter().map(Value::to_string).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    };
    Tier::OPTIONS.iter().map(|option| (*option, whole.get(option).map_or_else(String::new, shown))).collect()
}

/// The tier that a form describes; `None` with a fault beside each invalid option.
pub(super) fn read(name: &str, before: &Value, form: &mut Form) -> Option<Tier> {
    let mut options = Map::new();
    for option in Tier::OPTIONS.iter().filter(|option| **option != "name") {
        let written = form.words().one(option);
        let value = match *option {
            // The kind of a tier cannot change.
            "kind" => before.get("kind").cloned().unwrap_or(Value::Null),
            // Options that the form of this kind does not have stay as they are.
            absent if !form.words().names(absent) => before.get(absent).cloned().unwrap_or(Value::Null),
            option => tier::value(option, written),
        };
        options.insert((*option).to_owned(), value);
    }
    match tier::from_json(name, options) {
        Ok(tier) => Some(tier),
        Err(faults) => {
            for fault in faults {
                note(form, &fault);
            }
            None
        }
    }
}

/// Shows a fault beside the option that it names.
fn note(form: &mut Form, fault: &str) {
    let names =
        |option: &&&str| fault.contains(&format!("\"{option}\"")) || fault.contains(&format!("`{option}`"));
    match Tier::OPTIONS.iter().find(names) {
        Some(option) if form.words().names(option) => form.fault(option, fault),
        _ => form.general_fault(fault),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::console::language::Language;
    use crate::console::text::Text;

    #[test]
    fn every_shipped_tier_reads_back_from_its_own_form() {
        for tier in tier::parse(tier::BUILT_IN).unwrap() {
            let settings = serde_json::to_string(&tier).unwrap();
            let mut form = Form::filled(Text(Language::English), options(&settings));
            let read = read(&tier.name, &serde_json::from_str(&settings).unwrap(), &mut form);
            assert_eq!(read, Some(tier), "{settings}");
        }
    }

    #[test]
    fn a_fault_is_shown_beside_its_option() {
        let settings = r#"{"name":"a","kind":"business_account","messages_per_second":"80/s"}"#;
        let wrong = |option| match option {
            "messages_per_second" => "fast".to_owned(),
            "burst" => "-1".to_owned(),
            _ => String::new(),
        };
        let written = options(settings).into_iter().map(|(option, _)| (option, wrong(option)));
        let mut form = Form::filled(Text(Language::English), written);
        assert_eq!(read("a", &serde_json::from_str(settings).unwrap(), &mut form), None);
        assert!(form.fault_of("messages_per_second").is_some() && form.fault_of("burst").is_some());
    }
}
