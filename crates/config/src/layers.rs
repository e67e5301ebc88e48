//! The layers above the reference, divided into single options with their sources.
//!
//! This module only checks whether a layer can be read.

use std::io;
use std::path::Path;

use figment::providers::{Format as _, Toml};
use figment::value::{Dict, Num, Value};

use super::fault::{Fault, Source};

/// The prefix of our environment variables; two underscores also separate section and key.
pub(super) const PREFIX: &str = "POMBO__";

/// One option as a file or the environment sets it.
pub(super) struct Setting {
    pub(super) option: String,
    pub(super) value: Value,
    pub(super) source: Source,
}

/// The options that the file sets.
pub(super) fn file(path: &Path) -> Result<Vec<Setting>, Fault> {
    let source = Source::File(path.to_owned());
    let fault = |problem: String, mend: &str| Fault {
        option: None,
        source: source.clone(),
        problem,
        mend: mend.to_owned(),
    };
    let text = std::fs::read_to_string(path).map_err(|error| {
        let mend = match error.kind() {
            io::ErrorKind::NotFound => "check the path given with --config",
            io::ErrorKind::PermissionDenied => {
                "let the user that runs this process read it, run this as the service's user, such as with `sudo -u \
                 pombo`, or give another file with --config"
            }
            _ => "give a readable UTF-8 file",
        };
        fault(format!("it cannot be read: {error}"), mend)
    })?;
    let tree: Dict = Toml::from_str(&text).map_err(|error| {
        let line = error.span().map_or(1, |span| 1 + text[..span.start].matches('\n').count());
        // The faulty line itself is not shown, because it may contain a secret.
        fault(format!("line {line} is not TOML: {}", error.message()), "correct that line")
    })?;
    let mut settings = Vec::new();
    flatten("", tree, &source, &mut settings);
    Ok(settings)
}

fn flatten(section: &str, tree: Dict, source: &Source, settings: &mut Vec<Setting>) {
    for (key, value) in tree {
        let option = if section.is_empty() { key } else { format!("{section}.{key}") };
        match value {
            Value::Dict(_, inner) if !inner.is_empty() => flatten(&option, inner, source, settings),
            value => settings.push(Setting { option, value, source: source.clone() }),
        }
    }
}

/// The options that the environment sets, each with the type that it has in the reference, so that a password
/// of digits stays a text and a port becomes a number.
///
/// They are those of this process, or of the file at `place`.
pub(super) fn environment(
    reference: &Value,
    variables: &[(String, String)],
    place: Option<&Path>,
) -> Vec<Setting> {
    variables
        .iter()
        .filter_map(|(name, text)| {
            let option = name.strip_prefix(PREFIX)?.to_ascii_lowercase().replace("__", ".");
            let value = typed(reference.find_ref(&option), text);
            Some(Setting { option, value, source: Source::variable(name, place) })
        })
        .collect()
}

/// The text as a value of the reference's type; still a text when it cannot be converted.
fn typed(reference: Option<&Value>, text: &str) -> Value {
    let number = || text.trim().replace('_', "");
    match reference {
        Some(Value::Bool(..)) => text.trim().parse().ok().map(|flag: bool| Value::from(flag)),
        Some(Value::Num(_, Num::F32(_) | Num::F64(_))) => {
            number().parse().ok().map(|number: f64| Value::from(number))
        }
        Some(Value::Num(..)) => number().parse().ok().map(|number: i64| Value::from(number)),
        _ => None,
    }
    .unwrap_or_else(|| Value::from(text))
}
