//! Addresses that may contain a password: of a database, of NATS, of a proxy.
//!
//! In a password, characters such as `/`, `?` and `#` have to be percent-encoded. Otherwise the password ends too early,
//! and its rest is taken for another part of the address. Such an address is not readable, even if it can be parsed.

use url::{Host, Url};

/// Schemes of addresses, which may be shown: anything else before `://` may be a part of a password.
const SCHEMES: [&str; 6] = ["postgres", "postgresql", "nats", "tls", "http", "https"];

/// What to do about an address that is not readable.
pub const REMEDY: &str = "percent-encode the special characters of user and password: write %2F for /, %23 for #, %3F for ?, \
                          %40 for @ and %25 for %";

/// Whether the host is this machine.
pub fn is_here(address: &Url) -> bool {
    match address.host() {
        Some(Host::Domain(name)) => name.eq_ignore_ascii_case("localhost"),
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

/// The parts of a readable address.
pub fn parse(address: &str) -> Option<Url> {
    let url = Url::parse(address).ok()?;
    let is_whole = url.fragment().is_none()
        && !url.path().contains('@')
        && url.query_pairs().all(|(name, _)| !name.contains('@'));
    is_whole.then_some(url)
}

/// The address without passwords, which may be before the host or among the parameters. The address of a SQLite file
/// is shown as it is.
pub fn shown(address: &str) -> String {
    if address.starts_with("sqlite:") {
        return address.to_owned();
    }
    let Some(mut url) = parse(address) else {
        let scheme = address.split_once("://").map(|(scheme, _)| scheme);
        return match SCHEMES.into_iter().find(|known| scheme == Some(*known)) {
            Some(scheme) => format!("{scheme}://… (the rest is not a readable address)"),
            None => "an unreadable address".to_owned(),
        };
    };
    url.set_query(None);
    // An address without a host has no password. A user of a web address may be a key.
    let _ = url.set_password(None);
    if matches!(url.scheme(), "http" | "https") {
        let _ = url.set_username("");
    }
    url.to_string()
}

/// `HOST:PORT` of a PostgreSQL server's readable address; `None` for SQLite, and for an address without a host.
pub fn place(address: &str) -> Option<String> {
    const USUAL: u16 = 5432;
    let url = parse(address).filter(|url| url.scheme().starts_with("postgres"))?;
    let host = url.host_str().filter(|host| !host.is_empty())?;
    Some(format!("{host}:{}", url.port().unwrap_or(USUAL)))
}

/// Whether a text that is meant to be secret contains a secret: an address does when it has a user or parameters.
pub fn holds_secret(text: &str) -> bool {
    match text.split_once("://") {
        Some(("sqlite", _)) => false,
        Some((_, rest)) => rest.contains(['@', '?', '#']),
        None => !text.trim().is_empty() && !text.starts_with("sqlite:"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_shown_without_its_password_wherever_that_stands() {
        let postgres = "postgres://… (the rest is not a readable address)";
        for (address, seen) in [
            ("postgres://pombo:hunter2@db:5432/pombo", "postgres://pombo@db:5432/pombo"),
            ("postgres://pombo:hun@ter2@db/pombo", "postgres://pombo@db/pombo"),
            ("postgres://db/pombo?user=pombo&password=hunter2", "postgres://db/pombo"),
            ("postgres://db/pombo?user=pombo&password=hunter@2", "postgres://db/pombo"),
            ("postgres://pombo:hunt/er2@db/pombo", postgres),
            ("postgres://pombo:12/hunter2@db/pombo", postgres),
            ("postgres://pombo:12#hunter2@db/pombo", postgres),
            ("postgres://pombo:12?hunter2@db/pombo", postgres),
            ("postgres://pombo:hunter2@[db/pombo", postgres),
            ("hunter2://pombo@[db/pombo", "an unreadable address"),
            ("hunter2", "an unreadable address"),
            ("sqlite://data/pombo.db?mode=rwc", "sqlite://data/pombo.db?mode=rwc"),
            ("https://hunter2@graph.example/v1?key=hunter2", "https://graph.example/v1"),
        ] {
            assert_eq!(shown(address), seen);
        }
    }

    #[test]
    fn an_address_with_a_user_or_parameters_holds_a_secret() {
        for text in ["postgres://a:b@c/d", "postgres://c/d?password=b", "nats://x,nats://token@y", "hunter2"]
        {
            assert!(holds_secret(text), "{text}");
        }
        for text in ["", " ", "postgres://c/d", "nats://x:4222", "sqlite://a?mode=rwc", "sqlite:a.db"] {
            assert!(!holds_secret(text), "{text}");
        }
    }
}
