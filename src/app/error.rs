//! Sentences for failures at the start, which say what to do next.

use std::fmt::Display;

use anyhow::anyhow;
use url::Url;

use crate::store;

/// The sentence for a database that cannot be opened.
pub(super) fn unopened(error: store::Error, address: &str) -> anyhow::Error {
    let shown = without_password(address);
    let sentence = match &error {
        store::Error::Unavailable(_) if address.starts_with("sqlite:") => format!(
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

/// The address without passwords, which may be before the host or among the parameters.
pub(super) fn without_password(address: &str) -> String {
    if address.starts_with("sqlite:") {
        return address.to_owned();
    }
    let Ok(mut url) = Url::parse(address) else {
        let scheme = address.split_once("://").map_or("postgres", |(scheme, _)| scheme);
        return format!("{scheme}://… (the rest is not a readable address)");
    };
    url.set_query(None);
    // An address without a host has no password.
    let _ = url.set_password(None);
    url.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_shown_without_its_password_wherever_that_stands() {
        for (address, shown) in [
            ("postgres://pombo:hunter2@db:5432/pombo", "postgres://pombo@db:5432/pombo"),
            ("postgres://db/pombo?user=pombo&password=hunter2", "postgres://db/pombo"),
            ("postgresql://pombo:hunt/er2@db/pombo", "postgresql://… (the rest is not a readable address)"),
            ("sqlite://data/pombo.db?mode=rwc", "sqlite://data/pombo.db?mode=rwc"),
        ] {
            assert_eq!(without_password(address), shown);
        }
    }
}
