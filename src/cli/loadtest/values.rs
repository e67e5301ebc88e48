//! The values of a load test's arguments.

use std::str::FromStr;
use std::time::Duration;

use super::arguments::misused;
use crate::cli::argument;
use crate::domain::rate::Rate;
use crate::domain::secret::Secret;
use loadtest::{Content, TierChange};

/// The longest test.
const LONGEST: Duration = Duration::from_secs(24 * 3_600);
/// The shortest.
const SHORTEST: Duration = Duration::from_secs(1);
/// The highest rate of single sends that a generator on one thread keeps up with.
pub(super) const FASTEST_SINGLES: f64 = 20_000.0;

/// The highest rate at which people write.
const FASTEST_ANSWERS: f64 = 10_000.0;

/// The rate of single sends, if there are any.
#[derive(Debug, Clone, Copy)]
pub(super) struct Singles(pub(super) Option<Rate>);

pub(super) fn duration(text: &str) -> Result<Duration, String> {
    let span = argument::span(text)?;
    if (SHORTEST..=LONGEST).contains(&span) { Ok(span) } else { Err("a test lasts 1s to 24h".to_owned()) }
}

pub(super) fn rate(text: &str) -> Result<Rate, String> {
    text.parse().map_err(|reason| format!("it {reason}"))
}

pub(super) fn singles(text: &str) -> Result<Singles, String> {
    if text.trim() == "none" {
        return Ok(Singles(None));
    }
    let rate = rate(text)?;
    if rate.per_second() <= FASTEST_SINGLES {
        return Ok(Singles(Some(rate)));
    }
    Err(format!("the rate of single sends is at most {FASTEST_SINGLES}/s, or none"))
}

/// The rate at which people write.
pub(super) fn answers(text: &str) -> Result<Rate, String> {
    let rate = rate(text)?;
    if rate.per_second() <= FASTEST_ANSWERS {
        return Ok(rate);
    }
    Err(format!("people write at most {FASTEST_ANSWERS} messages a second"))
}

pub(super) fn address(text: &str) -> Result<String, String> {
    let url =
        url::Url::parse(text).ok().filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
    match url {
        Some(_) => Ok(text.trim_end_matches('/').to_owned()),
        None => Err("it must be an address such as http://127.0.0.1:8080".to_owned()),
    }
}

/// Checked later: an error of the parser of arguments would quote the text.
#[expect(clippy::unnecessary_wraps, reason = "the shape that a parser of arguments has")]
pub(super) fn secret(text: &str) -> Result<Secret, String> {
    Ok(Secret::new(text.to_owned()))
}

/// Refuses the address of anything but a PostgreSQL server, without repeating it.
pub(super) fn check_server(server: &Secret) -> anyhow::Result<()> {
    let url = crate::domain::address::parse(server.expose());
    match url.filter(|url| matches!(url.scheme(), "postgres" | "postgresql") && url.has_host()) {
        Some(_) => Ok(()),
        None => Err(misused(
            "--database-url must be an address such as postgres://user@host; without it, SQLite is used",
        )),
    }
}

pub(super) fn key(text: &str) -> Result<Secret, String> {
    if text.trim().is_empty() {
        Err("it is empty".to_owned())
    } else {
        Ok(Secret::new(text.trim().to_owned()))
    }
}

/// A change of the tiers, such as `20s:40/s`.
pub(super) fn change(text: &str) -> Result<TierChange, String> {
    let (at, to) = text.split_once(':').ok_or("a change is a moment and a rate, such as 20s:40/s")?;
    Ok(TierChange { at: argument::span(at)?, rate: rate(to)? })
}

/// A share in per cent, such as `5%`.
pub(super) fn percent(text: &str) -> Result<f64, String> {
    let percent = text.trim().strip_suffix('%').and_then(|percent| f64::from_str(percent.trim()).ok());
    let percent = percent.filter(|percent| (0.0..=1_000.0).contains(percent));
    percent.ok_or_else(|| "a share is given in per cent, such as 5%".to_owned())
}

/// What is sent.
pub(super) fn content(text: &str) -> Result<Content, String> {
    match text {
        "text" => Ok(Content::Text),
        "image" => Ok(Content::Image),
        "template" => Ok(Content::Template),
        "fields" => Ok(Content::Fields),
        _ => {
            Err("the content is text, image, template or fields (of each contact, in a template)".to_owned())
        }
    }
}

/// Whether an address is this machine's own.
pub(super) fn is_loopback(address: &str) -> bool {
    let url = url::Url::parse(address).ok();
    match url.as_ref().and_then(url::Url::host) {
        Some(url::Host::Domain(name)) => name == "localhost",
        Some(url::Host::Ipv4(address)) => address.is_loopback(),
        Some(url::Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}
