//! Parsers for options with units and other formats.
//!
//! Each function is for `#[serde(deserialize_with = …)]`. Its error completes a sentence that begins with the
//! value: "`5` is not a size: …".

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use ipnet::IpNet;
use serde::{Deserialize, Deserializer, de};
use url::Url;

use domain::address;
use domain::secret::{SealingKey, Secret, deserialize_secret};

/// What `parse` makes of a text; `wanted` says what it has to be.
fn read<'de, D: Deserializer<'de>, T>(
    deserializer: D,
    wanted: &str,
    parse: impl FnOnce(&str) -> Option<T>,
) -> Result<T, D::Error> {
    parse(&String::deserialize(deserializer)?).ok_or_else(|| de::Error::custom(wanted))
}

/// As [`read`]; `None` for an empty text.
fn read_optional<'de, D: Deserializer<'de>, T>(
    deserializer: D,
    wanted: &str,
    parse: impl FnOnce(&str) -> Option<T>,
) -> Result<Option<T>, D::Error> {
    read(deserializer, wanted, |text| if text.trim().is_empty() { Some(None) } else { parse(text).map(Some) })
}

/// A number of bytes, "8MiB".
pub(super) fn bytes<'de, D: Deserializer<'de>>(deserializer: D) -> Result<usize, D::Error> {
    let wanted = "is not a size: a whole number and one of B, KiB, MiB, GiB, kB, MB, GB, such as \"8MiB\"";
    read(deserializer, wanted, |text| parse_bytes(text.trim()))
}

fn parse_bytes(text: &str) -> Option<usize> {
    let (number, unit) = text.split_at(text.find(|character: char| !character.is_ascii_digit())?);
    let factor = match unit.trim() {
        "B" => 1,
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        "kB" => 1_000,
        "MB" => 1_000_000,
        "GB" => 1_000_000_000,
        _ => return None,
    };
    number.parse::<usize>().ok()?.checked_mul(factor)
}

/// The maximum age of records; `None` for "forever", and for zero, which would keep nothing.
pub(super) fn age<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Duration>, D::Error> {
    let text = String::deserialize(deserializer)?;
    if text.trim() == "forever" {
        return Ok(None);
    }
    let span = humantime::parse_duration(text.trim())
        .map_err(|_| de::Error::custom("is not an age: a span of time such as \"90d\", or \"forever\""))?;
    Ok(Some(span).filter(|span| !span.is_zero()))
}

/// An address and a port to listen on.
pub(super) fn socket_address<'de, D: Deserializer<'de>>(deserializer: D) -> Result<SocketAddr, D::Error> {
    let wanted = "is not an IP address and a port, such as \"127.0.0.1:8080\" or \"[::]:8080\"";
    read(deserializer, wanted, |text| text.parse().ok())
}

/// An address and a port to listen on, or nothing.
pub(super) fn optional_socket_address<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<SocketAddr>, D::Error> {
    let wanted = "is not an IP address and a port, such as \"127.0.0.1:8081\" or \"[::1]:8081\"";
    read_optional(deserializer, wanted, |text| text.parse().ok())
}

/// An http or https address without query and fragment.
fn web_address(text: &str) -> Option<Url> {
    Url::parse(text.trim()).ok().filter(|url| {
        matches!(url.scheme(), "http" | "https") && url.query().is_none() && url.fragment().is_none()
    })
}

/// An absolute web address that paths are appended to, without slashes at its end.
pub(super) fn base_url<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let wanted = "is not an absolute http or https address without query";
    read(deserializer, wanted, |text| web_address(text).map(|_| text.trim_end_matches('/').to_owned()))
}

/// The address of this service as browsers see it, or nothing.
pub(super) fn optional_base_url<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Url>, D::Error> {
    let wanted = "is not an http or https address without a path, such as \"https://pombo.example\"";
    read_optional(deserializer, wanted, |text| web_address(text).filter(|url| url.path() == "/"))
}

/// Networks such as "10.1.2.0/24"; a single address is a network of one. The environment, which has no lists,
/// separates them with commas.
pub(super) fn networks<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<IpNet>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Written {
        List(Vec<String>),
        Text(String),
    }
    let parts = match Written::deserialize(deserializer) {
        Ok(Written::List(parts)) => parts,
        Ok(Written::Text(text)) if text.trim().is_empty() => Vec::new(),
        Ok(Written::Text(text)) => text.split(',').map(str::to_owned).collect(),
        Err(_) => return Err(de::Error::custom("is not a list of networks, such as [\"10.1.2.0/24\"]")),
    };
    parts.iter().map(|part| parse_network(part.trim())).collect::<Option<_>>().ok_or_else(|| {
        de::Error::custom("has an entry that is not a network, such as \"10.1.2.0/24\" or \"fd00:12::/64\"")
    })
}

fn parse_network(text: &str) -> Option<IpNet> {
    text.parse().ok().or_else(|| text.parse::<IpAddr>().ok().map(IpNet::from))
}

/// Texts: a list, or one text with commas between them.
pub(super) fn texts<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Written {
        List(Vec<String>),
        Text(String),
    }
    let parts = match Written::deserialize(deserializer) {
        Ok(Written::List(parts)) => parts,
        Ok(Written::Text(text)) if text.trim().is_empty() => Vec::new(),
        Ok(Written::Text(text)) => text.split(',').map(str::to_owned).collect(),
        Err(_) => return Err(de::Error::custom("is not a list of texts, such as [\"one\", \"two\"]")),
    };
    Ok(parts.iter().map(|part| part.trim().to_owned()).collect())
}

/// A path, or nothing.
pub(super) fn optional_path<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<PathBuf>, D::Error> {
    let text = String::deserialize(deserializer)?;
    Ok(Some(text).filter(|text| !text.is_empty()).map(PathBuf::from))
}

/// A secret text, or nothing.
pub(super) fn optional_secret<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Secret>, D::Error> {
    let secret = Secret::deserialize(deserializer)?;
    Ok(Some(secret).filter(|secret| !secret.expose().is_empty()))
}

/// The address of a proxy, which may contain a password, or nothing.
pub(super) fn optional_proxy<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Secret>, D::Error> {
    let proxy = optional_secret(deserializer)?;
    let is_address = |text: &str| {
        address::parse(text).is_some_and(|url| matches!(url.scheme(), "http" | "https") && url.has_host())
    };
    match proxy {
        Some(proxy) if !is_address(proxy.expose()) => Err(de::Error::custom(
            "is not the http or https address of a proxy, such as \"http://proxy:3128\"",
        )),
        proxy => Ok(proxy),
    }
}

/// The address of a collector, which may have a path, or nothing. It is read as a secret, because an address that is
/// refused may contain one.
pub(super) fn optional_endpoint<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Url>, D::Error> {
    let text = Secret::deserialize(deserializer)?;
    if text.expose().trim().is_empty() {
        return Ok(None);
    }
    let is_plain = |url: &Url| url.username().is_empty() && url.password().is_none();
    web_address(text.expose()).filter(is_plain).map(Some).ok_or_else(|| {
        de::Error::custom(
            "is not an http or https address without user and query, such as \"http://127.0.0.1:4318\"",
        )
    })
}

/// Names and values of headers, "name=value", separated by commas. The values are secret.
pub(super) fn headers<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<(String, Secret)>, D::Error> {
    let text = Secret::deserialize(deserializer)?;
    let parts = text.expose().split(',').map(str::trim).filter(|part| !part.is_empty());
    parts.map(parse_header).collect::<Option<_>>().ok_or_else(|| {
        de::Error::custom(
            "has a part that is not a header: write name=value, and a comma between two of them",
        )
    })
}

fn parse_header(part: &str) -> Option<(String, Secret)> {
    let (name, value) = part.split_once('=')?;
    let (name, value) = (name.trim(), value.trim());
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    let is_value = |byte: u8| byte.is_ascii_graphic() || byte == b' ';
    let is_sound = !name.is_empty() && name.bytes().all(is_name) && value.bytes().all(is_value);
    is_sound.then(|| (name.to_ascii_lowercase(), Secret::new(value.to_owned())))
}

/// A sealing key, or nothing.
pub(super) fn optional_key<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<SealingKey>, D::Error> {
    optional_secret(deserializer)?
        .map(|secret| SealingKey::parse(secret.expose()).map_err(de::Error::custom))
        .transpose()
}

/// Sealing keys. The environment, which has no lists, separates them with commas.
pub(super) fn keys<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<SealingKey>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Written {
        List(Vec<Secret>),
        Text(Secret),
    }
    let parts = match deserialize_secret(deserializer) {
        Ok(Written::List(parts)) => parts,
        Ok(Written::Text(text)) if text.expose().trim().is_empty() => Vec::new(),
        Ok(Written::Text(text)) => {
            text.expose().split(',').map(|part| Secret::new(part.to_owned())).collect()
        }
        Err(_) => return Err(de::Error::custom("is not a list of keys, each in quotes")),
    };
    let keys = parts.iter().map(|part| SealingKey::parse(part.expose()));
    keys.collect::<Result<_, _>>().map_err(|_| {
        de::Error::custom("has an entry that is not a key: 64 hex digits or the base64 of 32 bytes")
    })
}

#[cfg(test)]
mod tests {
    use super::{parse_bytes, parse_header};

    #[test]
    fn a_header_is_a_name_and_a_value() {
        let read = |part| parse_header(part).map(|(name, value)| (name, value.expose().to_owned()));
        let header = |name: &str, value: &str| Some((name.to_owned(), value.to_owned()));
        assert_eq!(read("Authorization=Bearer a=="), header("authorization", "Bearer a=="));
        assert_eq!(read("x-team = ops"), header("x-team", "ops"));
        for part in ["x-team", "=ops", "x team=ops", "x-team=o\np", "x-team=é"] {
            assert_eq!(read(part), None, "{part}");
        }
    }

    #[test]
    fn a_size_is_a_number_and_a_unit() {
        for (text, bytes) in [
            ("8MiB", Some(8_388_608)),
            ("64 KiB", Some(65_536)),
            ("1GB", Some(1_000_000_000)),
            ("0B", Some(0)),
            ("8", None),
            ("MiB", None),
            ("8mib", None),
            ("-8MiB", None),
            ("99999999999999999999B", None),
            ("18446744073709551615GiB", None),
        ] {
            assert_eq!(parse_bytes(text), bytes, "{text}");
        }
    }
}
