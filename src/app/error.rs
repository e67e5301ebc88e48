//! Sentences for failures at the start, which say what to do next.

use std::fmt::Display;

use anyhow::anyhow;

use crate::domain::address;
use crate::store;

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

/// Several faults as one failure.
pub(super) fn all(faults: &[impl Display]) -> anyhow::Error {
    anyhow!(faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))
}
