//! Sentences for failures at the start, which say what to do next.

use std::fmt::Display;

use anyhow::anyhow;

use super::{key_proof, store_options};
use crate::config::Config;
use crate::domain::address;
use crate::store::{self, checkup};

/// The sentence for a database that cannot be opened.
pub(super) fn unopened(error: store::Error, url: &str) -> anyhow::Error {
    let shown = address::shown(url);
    let sentence = match &error {
        store::Error::Unavailable(_) if url.starts_with("sqlite:") => format!(
            "cannot open the database {shown}; check that its directory exists and that this user may write there"
        ),
        store::Error::Unavailable(_) => format!(
            "cannot reach the database at {shown}; check that it runs there and that database.url is right"
        ),
        store::Error::Schema(_) => format!("the database {shown} does not fit this program"),
        _ => format!("cannot open the database {shown}"),
    };
    anyhow::Error::new(error).context(sentence)
}

/// The place of the database, as a person finds it.
fn place(config: &Config) -> String {
    let options = store_options(config);
    match checkup::file_of(&options) {
        Some(file) => std::path::absolute(&file).unwrap_or(file).display().to_string(),
        None => address::shown(&options.url),
    }
}

/// The sentence for a command that finds no database.
pub(super) fn no_database(config: &Config) -> anyhow::Error {
    anyhow!(
        "there is no database at {}; the configuration was read from {}\n\
         next: give the configuration of the service with --config FILE, or run this in the service's directory; `pombo \
         serve`, `pombo migrate up` and `pombo company create NAME` create a new database",
        place(config),
        config.sources
    )
}

/// The sentence for a command that finds a database with an older schema.
pub(super) fn behind(config: &Config, pending: usize) -> anyhow::Error {
    let migrations = if pending == 1 { "1 migration" } else { &format!("{pending} migrations") };
    anyhow!(
        "the database at {} has an older schema than this program: {migrations} missing\n\
         next: stop the older service, back up, and run `pombo migrate up`, or start this version of the service; or run \
         this with the program of the service",
        place(config)
    )
}

/// The sentence for a command that needs a sealing key and finds none.
pub(super) fn no_key(config: &Config) -> anyhow::Error {
    anyhow!(
        "there is no sealing key: secrets.key is not set, and there is no {}; the configuration was read from {}\n\
         next: give the configuration of the service with --config FILE, or put its key file there; a new database gets \
         a key when the service starts",
        key_proof::place(config),
        config.sources
    )
}

/// Several faults as one failure.
pub(super) fn all(faults: &[impl Display]) -> anyhow::Error {
    anyhow!(faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))
}
