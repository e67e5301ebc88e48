//! The database's address for the driver.
//!
//! The driver's own words about an address quote it, with the password: an address is checked here before the driver
//! gets it, and a failure is told in our words.

use std::str::FromStr as _;
use std::sync::Once;

use sea_orm::sqlx::postgres::PgConnectOptions;
use sea_orm::sqlx::sqlite::SqliteConnectOptions;
use url::Url;

use super::{Error, Result};
use domain::address;

/// The parameters of an address that the driver knows, besides `options`; of others it would log the value.
const PARAMETERS: [&str; 17] = [
    "sslmode",
    "ssl-mode",
    "sslrootcert",
    "ssl-root-cert",
    "ssl-ca",
    "sslcert",
    "ssl-cert",
    "sslkey",
    "ssl-key",
    "statement-cache-capacity",
    "host",
    "hostaddr",
    "port",
    "dbname",
    "user",
    "password",
    "application_name",
];

fn invalid() -> Error {
    Error::Unavailable(format!("database.url is not a valid address: {}", address::REMEDY))
}

/// The address, if the driver can read it, without the parameters that the driver does not know.
pub(super) fn for_driver(url: &str) -> Result<String> {
    if url.starts_with("sqlite:") {
        sqlite(url)?;
        return if Url::parse(url).is_ok() { Ok(url.to_owned()) } else { Err(invalid()) };
    }
    let mut known = address::parse(url).ok_or_else(invalid)?;
    let is_known =
        |name: &str| PARAMETERS.contains(&name) || name == "options" || name.starts_with("options[");
    if known.query_pairs().any(|(name, _)| !is_known(&name)) {
        static TOLD: Once = Once::new();
        TOLD.call_once(|| tracing::warn!("database.url has parameters that are not known, and are ignored"));
        let kept: Vec<_> = known.query_pairs().into_owned().filter(|(name, _)| is_known(name)).collect();
        known.set_query(None);
        if !kept.is_empty() {
            known.query_pairs_mut().extend_pairs(kept);
        }
    }
    let known = String::from(known);
    PgConnectOptions::from_str(&known).map_err(|_| invalid())?;
    Ok(known)
}

/// The settings of a connection to this PostgreSQL server.
pub(super) fn postgres(url: &str) -> Result<PgConnectOptions> {
    PgConnectOptions::from_str(&for_driver(url)?).map_err(|_| invalid())
}

/// The settings of a connection to this SQLite file.
pub(super) fn sqlite(url: &str) -> Result<SqliteConnectOptions> {
    SqliteConnectOptions::from_str(url).map_err(|_| {
        Error::Unavailable(
            "database.url is not a valid address of a SQLite file: write sqlite://PATH".to_owned(),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_driver_gets_the_parameters_that_it_knows() {
        let kept = "postgres://a:b%2F@c/d?sslmode=require&options[search_path]=x&password=p%20q";
        assert_eq!(for_driver(kept).unwrap(), kept);
        assert_eq!(for_driver("postgres://a@c/d?pasword=hunter2").unwrap(), "postgres://a@c/d");
        let mixed = "postgres://c/d?channel_binding=require&user=a";
        assert_eq!(for_driver(mixed).unwrap(), "postgres://c/d?user=a");
    }

    #[test]
    fn no_word_of_an_unreadable_address_is_repeated() {
        for url in [
            "postgres://a:hunter2@[c/d",
            "postgres://a:hun/ter2@c/d",
            "postgres://a:12/hunter2@c/d",
            "postgres://c/d?sslmode=hunter2",
            "postgres://c/d?port=hunter2",
            "postgres://c/d?hostaddr=hunter2",
            "postgres://c/d?statement-cache-capacity=hunter2",
            "sqlite://a?mode=hunter2",
            "sqlite://[hunter2",
        ] {
            let told = for_driver(url).unwrap_err().to_string();
            assert!(
                !told.contains("hunter") && !told.contains("ter2") && told.contains("database.url"),
                "{told}"
            );
        }
    }
}
