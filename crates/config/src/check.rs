//! Checks one setting at a time: whether the option exists, and whether the value is valid.

use std::path::Path;

use figment::Figment;
use figment::error::Kind;
use figment::value::{Dict, Num, Value};

use super::Config;
use super::fault::{Fault, Source};
use super::layers::{self, Setting};
use super::secret::secret_options;
use domain::nearest::nearest;

/// The fault of a setting, found by applying it alone to the reference.
pub(super) fn fault(defaults: &Figment, reference: &Value, setting: &Setting) -> Option<Fault> {
    let (problem, mend) = match reference.find_ref(&setting.option) {
        None => unknown(reference, &setting.option),
        Some(Value::Dict(_, section)) if !is_empty_section(&setting.value) => {
            ("it is a section, not an option".to_owned(), keys(section, &setting.option))
        }
        Some(Value::Dict(..)) => return None,
        Some(default) => {
            let alone = defaults.clone().merge((&setting.option, &setting.value));
            let error = alone.extract::<Config>().err()?;
            (problem(&setting.option, &setting.value, &error.kind), mend(&setting.option, default))
        }
    };
    Some(Fault { option: Some(setting.option.clone()), source: setting.source.clone(), problem, mend })
}

fn is_empty_section(value: &Value) -> bool {
    value.as_dict().is_some_and(Dict::is_empty)
}

/// The fault of an environment variable that looks like one of ours and is not read, because two underscores
/// have to separate section and key; `None` for other programs' variables.
pub(super) fn misspelt(reference: &Value, variable: &str, place: Option<&Path>) -> Option<Fault> {
    let rest = variable.strip_prefix("POMBO_").filter(|rest| !rest.starts_with('_'))?;
    let flat = |name: &str| name.to_ascii_lowercase().replace(['.', '_'], "");
    let option = options(reference).into_iter().find(|option| flat(option) == flat(rest))?;
    Some(Fault {
        source: Source::variable(variable, place),
        problem: "it is not read: two underscores have to separate prefix, section and key".to_owned(),
        mend: format!("write {}{}", layers::PREFIX, option.to_ascii_uppercase().replace('.', "__")),
        option: Some(option),
    })
}

/// Every option of the reference.
fn options(reference: &Value) -> Vec<String> {
    let sections = reference.as_dict().into_iter().flatten();
    sections
        .flat_map(|(name, keys)| {
            keys.as_dict().into_iter().flatten().map(move |(key, _)| format!("{name}.{key}"))
        })
        .collect()
}

fn unknown(reference: &Value, option: &str) -> (String, String) {
    let known = options(reference);
    let (section, key) = option.split_once('.').unwrap_or(("", option));
    let elsewhere = || known.iter().find(|known| known.rsplit('.').next() == Some(key)).map(String::as_str);
    let mend = match (
        nearest(option, known.iter().map(String::as_str)).or_else(elsewhere),
        reference.find_ref(section),
    ) {
        (Some(near), _) => format!("did you mean {near}?"),
        (None, Some(Value::Dict(_, inner))) if !section.is_empty() => keys(inner, section),
        (None, _) => format!("the sections are {}", names(reference.as_dict())),
    };
    ("there is no such option".to_owned(), mend)
}

fn keys(section: &Dict, name: &str) -> String {
    format!("the options of {name} are {}", names(Some(section)))
}

fn names(tree: Option<&Dict>) -> String {
    tree.into_iter().flatten().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(", ")
}

/// A text of an option that holds no secrets, for a sentence. An address that may contain a password is not repeated: it
/// may be the value of another option.
pub(super) fn repeated(text: &str) -> String {
    if text.contains("://") && text.contains('@') { "the value".to_owned() } else { format!("\"{text}\"") }
}

/// Completes a sentence that begins with the value.
fn problem(option: &str, value: &Value, kind: &Kind) -> String {
    let value = match value {
        _ if secret_options().contains(option) => "the value".to_owned(),
        Value::String(_, text) => repeated(text),
        value => written(value),
    };
    match kind {
        Kind::Message(text) => format!("{value} {text}"),
        Kind::InvalidType(_, expected) | Kind::InvalidValue(_, expected) => {
            let expected = match expected.as_str() {
                "a boolean" => "true or false",
                "a string" | "path string" => "a text (in a file, put it in quotes)",
                "f64" => "a number",
                "u16" => "a whole number from 0 to 65535",
                "u32" => "a whole number from 0 to 4294967295",
                "usize" | "u64" => "a whole number of 0 or more",
                other => other,
            };
            format!("{value} is not {expected}")
        }
        Kind::UnknownVariant(_, words) => format!("{value} is none of {}", words.join(", ")),
        Kind::InvalidLength(..)
        | Kind::UnknownField(..)
        | Kind::MissingField(..)
        | Kind::DuplicateField(..)
        | Kind::ISizeOutOfRange(..)
        | Kind::USizeOutOfRange(..)
        | Kind::Unsupported(..)
        | Kind::UnsupportedKey(..) => format!("{value} does not fit: {kind}"),
    }
}

fn mend(option: &str, default: &Value) -> String {
    match (option, written(default).as_str()) {
        ("secrets.key", _) => "make one with `openssl rand -hex 32`".to_owned(),
        (_, "a list") => "give a list, or leave it out".to_owned(),
        (_, "\"\"") => "give a text, or leave it out".to_owned(),
        (_, default) => format!("write it like its default, {default}"),
    }
}

/// A value as it is written in a file.
fn written(value: &Value) -> String {
    match value {
        Value::String(_, text) => format!("\"{text}\""),
        Value::Char(_, character) => format!("\"{character}\""),
        Value::Bool(_, flag) => flag.to_string(),
        Value::Num(_, Num::F32(number)) => number.to_string(),
        Value::Num(_, Num::F64(number)) => format!("{number:?}"),
        Value::Num(_, number) => {
            let whole =
                number.to_i128().or_else(|| number.to_u128().and_then(|number| number.try_into().ok()));
            whole.map_or_else(|| "this number".to_owned(), |number| number.to_string())
        }
        Value::Empty(..) => "nothing".to_owned(),
        Value::Dict(..) => "a table".to_owned(),
        Value::Array(..) => "a list".to_owned(),
    }
}
