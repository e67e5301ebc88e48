//! Checks a written tier option by option, so that every fault is reported at once with its correction, in whichever
//! notation it is written.

use serde::Deserialize as _;
use serde_json::{Map, Value, json};

use super::{Tier, example};
use crate::nearest::nearest;

/// The notation of a tier, for sentences that show how to correct it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Notation {
    /// `burst = 1`
    Toml,
    /// `"burst": 1`
    Json,
    /// `burst=1`
    Words,
}

/// One option, as written.
pub(super) struct Written {
    pub(super) option: String,
    /// Its value; never null, which is no valid option.
    pub(super) value: Value,
    /// The value in its own notation.
    pub(super) shown: String,
}

impl Notation {
    fn assign(self, option: &str, value: &str) -> String {
        match self {
            Self::Toml => format!("{option} = {value}"),
            Self::Json => format!("\"{option}\": {value}"),
            Self::Words => format!("{option}={}", value.trim_matches('"')),
        }
    }

    /// A value in this notation.
    pub(super) fn shown(self, value: &Value) -> String {
        match (self, value) {
            (Self::Words, Value::String(text)) => text.clone(),
            _ => value.to_string(),
        }
    }
}

/// The tier of this name with these options.
///
/// # Errors
///
/// Every fault, a sentence each.
pub(super) fn judge(name: &str, options: Vec<Written>, notation: Notation) -> Result<Tier, Vec<String>> {
    let mut faults: Vec<String> =
        options.iter().filter_map(|written| fault(name, written, notation)).collect();
    for required in ["kind", "messages_per_second"] {
        if options.iter().all(|written| written.option != required) {
            let example = notation.assign(required, example(required));
            faults.push(format!("`{required}` is missing; add it, for example `{example}`"));
        }
    }
    if !faults.is_empty() {
        return Err(faults);
    }
    let mut fields: Map<String, Value> =
        options.into_iter().map(|Written { option, value, shown: _ }| (option, value)).collect();
    fields.insert("name".to_owned(), name.into());
    let tier = Tier::deserialize(Value::Object(fields)).map_err(|error| vec![error.to_string()])?;
    let faults = tier.faults();
    if faults.is_empty() { Ok(tier) } else { Err(faults) }
}

/// The fault of one option, found by putting it alone into an otherwise valid tier.
fn fault(name: &str, written: &Written, notation: Notation) -> Option<String> {
    let Written { option, value, shown } = written;
    if option == "name" {
        return match notation {
            Notation::Toml => Some("a tier is named by its table; remove `name`".to_owned()),
            Notation::Json | Notation::Words if value == name => None,
            Notation::Json | Notation::Words => {
                Some(format!("a tier is named by its path, here `{name}`; remove `name`"))
            }
        };
    }
    if !Tier::OPTIONS.contains(&option.as_str()) {
        let mend = nearest(option, Tier::OPTIONS.iter().copied()).map_or_else(
            || format!("it may have {}", Tier::OPTIONS[1..].join(", ")),
            |near| format!("did you mean `{near}`?"),
        );
        return Some(format!("there is no option `{option}`; {mend}"));
    }
    let mut sound = json!({"name": "sound", "kind": "business_account", "messages_per_second": "1/s"});
    sound[option.as_str()] = value.clone();
    let message = Tier::deserialize(sound).err()?.to_string();
    let joint = if message.starts_with("invalid") || message.starts_with("unknown") { ": " } else { " " };
    let (given, example) = (notation.assign(option, shown), notation.assign(option, example(option)));
    Some(format!("`{given}`{joint}{message}; write it like `{example}`"))
}
