//! Options of a tier one by one, as a person writes them: `messages_per_second=40/s`.

use std::str::FromStr;

use serde_json::{Map, Number, Value};

use super::judge::{Notation, Written, judge};
use super::{Tier, example};

/// One option with its new value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assignment {
    /// The option's name, as it was written.
    option: String,
    /// Its value, as it was written; empty for the default.
    text: String,
}

impl Assignment {
    /// The option's name.
    pub(super) fn option(&self) -> &str {
        &self.option
    }
}

impl FromStr for Assignment {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (option, text) = text.split_once('=').ok_or_else(|| {
            "an option is set as OPTION=VALUE, such as messages_per_second=40/s; OPTION= gives it its default".to_owned()
        })?;
        Ok(Self { option: option.trim().to_owned(), text: text.trim().to_owned() })
    }
}

/// Several assignments on one line, separated by spaces. A value with spaces goes to its end.
///
/// # Errors
///
/// A sentence when the line does not begin with an assignment.
pub fn assignments(line: &str) -> Result<Vec<Assignment>, String> {
    let mut parts: Vec<String> = Vec::new();
    for word in line.split_whitespace() {
        match parts.last_mut() {
            Some(last) if !word.contains('=') => *last = format!("{last} {word}"),
            _ => parts.push(word.to_owned()),
        }
    }
    parts.iter().map(|part| part.parse()).collect()
}

/// The value of an option that a person wrote, as the option's example is written: a list of numbers, a number (or a word
/// such as `unlimited`), or a text. Null for an empty text.
pub fn value(option: &str, text: &str) -> Value {
    match example(option).as_bytes().first() {
        _ if text.is_empty() => Value::Null,
        Some(b'[') => list(text),
        Some(b'0'..=b'9') => number(text),
        _ => Value::from(text),
    }
}

fn number(text: &str) -> Value {
    text.parse::<u64>().map_or_else(|_| Value::from(text), |number| Value::Number(Number::from(number)))
}

fn list(text: &str) -> Value {
    let text = text.trim_start_matches('[').trim_end_matches(']');
    Value::Array(text.split([',', ' ', ';']).filter(|entry| !entry.is_empty()).map(number).collect())
}

impl Tier {
    /// The same tier with these options; an option without a value has its default.
    ///
    /// # Errors
    ///
    /// Every fault, a sentence each.
    pub fn with(&self, assignments: &[Assignment]) -> Result<Self, Vec<String>> {
        let mut changes = Map::new();
        for Assignment { option, text } in assignments {
            changes.insert(option.clone(), value(option, text));
        }
        self.changed(changes, Notation::Words)
    }

    /// The same tier with these options of a JSON object; an option that is null has its default.
    ///
    /// # Errors
    ///
    /// As [`Tier::with`].
    pub fn with_json(&self, changes: Map<String, Value>) -> Result<Self, Vec<String>> {
        self.changed(changes, Notation::Json)
    }

    fn changed(&self, changes: Map<String, Value>, notation: Notation) -> Result<Self, Vec<String>> {
        let mut options = match serde_json::to_value(self) {
            Ok(Value::Object(options)) => options,
            Ok(_) | Err(_) => Map::new(),
        };
        let fixed =
            |option: &&str| changes.get(*option).is_some_and(|value| options.get(*option) != Some(value));
        let mut faults = Vec::new();
        if fixed(&"name") {
            faults.push("`name` is not set like an option; rename the tier instead".to_owned());
        }
        if fixed(&"kind") {
            faults.push(
                "`kind` cannot change, since channels may run under the tier; add another tier".to_owned(),
            );
        }
        if !faults.is_empty() {
            return Err(faults);
        }
        options.remove("name");
        options.extend(changes.into_iter().filter(|(option, _)| option != "name"));
        let written = options.into_iter().filter(|(_, value)| !value.is_null());
        let written = written.map(|(option, value)| Written { shown: notation.shown(&value), option, value });
        judge(&self.name, written.collect(), notation)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::only;
    use super::*;

    fn set(line: &str) -> Result<Tier, Vec<String>> {
        let tier = only("kind = \"business_account\"\nmessages_per_second = \"80/s\"\nburst = 3");
        tier.with(&assignments(line).unwrap())
    }

    #[test]
    fn options_are_set_one_by_one_and_the_others_stay() {
        let tier =
            set("messages_per_second=40/s template_quota=unlimited description=For new numbers burst=")
                .unwrap();
        assert_eq!((tier.messages_per_second.to_string().as_str(), tier.burst), ("40/s", None));
        assert_eq!((tier.description.as_str(), tier.pair_burst), ("For new numbers", 10));
        let web = only("kind = \"web_session\"\nmessages_per_second = \"6/min\"");
        let warm = web.with(&assignments("warm_up=20, 40,80 daily_cap=200").unwrap()).unwrap();
        assert_eq!(warm.warm_up, [20, 40, 80]);
        assert_eq!(web.with(&assignments("warm_up=[20,40]").unwrap()).unwrap().warm_up, [20, 40]);
    }

    #[test]
    fn every_fault_is_told_as_it_was_written() {
        let faults = set("burts=1 messages_per_second=fast burst=-1").unwrap_err();
        insta::assert_snapshot!(faults.join("\n"), @r#"
        `burst=-1`: invalid type: string "-1", expected u32; write it like `burst=1`
        there is no option `burts`; did you mean `burst`?
        `messages_per_second=fast` is not a rate: a whole number, a slash and one of s, min, h, d, such as "80/s", or "unlimited"; write it like `messages_per_second=80/s`
        "#);
        assert!(set("kind=web_session name=other").unwrap_err()[0].contains("rename"));
        assert!(set("kind=business_account").is_ok());
        assert!("burst".parse::<Assignment>().is_err());
        assert_eq!(set("daily_cap=5").unwrap_err().len(), 1);
    }
}
