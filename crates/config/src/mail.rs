//! `[mail]`.

use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::Duration;

use serde::Deserialize;

use super::validate::Found;
use super::{Config, units};
use domain::secret::Secret;
use domain::time_span;
use domain::user::Email;

/// `[mail]`: the server through which people get e-mail.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mail {
    /// The server; empty when no mail is sent.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// How the connection is encrypted.
    pub encryption: Encryption,
    /// The name with which the service signs in; empty when it does not.
    pub user: String,
    /// The password of that name.
    #[serde(deserialize_with = "units::optional_secret")]
    pub password: Option<Secret>,
    /// The sender of all mails: an address, or a name and an address in angle brackets.
    pub from: String,
    /// The file with certificates that the server's certificate is checked against; `None` means the system's.
    #[serde(deserialize_with = "units::optional_path")]
    pub ca_file: Option<PathBuf>,
    /// The timeout of one mail, from connecting to the last answer.
    #[serde(with = "time_span")]
    pub timeout: Duration,
}

/// `mail.encryption`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Encryption {
    /// TLS after a beginning without it.
    StartTls,
    /// TLS from the beginning.
    Tls,
    /// No TLS.
    None,
}

/// The range of the timeout. Busy servers let a client wait on purpose for some seconds.
const TIMEOUT: RangeInclusive<Duration> = Duration::from_secs(1)..=Duration::from_secs(5 * 60);

impl Mail {
    /// Whether mail is sent.
    pub const fn is_on(&self) -> bool {
        !self.host.is_empty()
    }

    /// The name and the address of the sender; `None` for a text that is neither.
    pub fn sender(&self) -> Option<(Option<&str>, Email)> {
        let text = self.from.trim();
        let (name, address) = match text.strip_suffix('>').and_then(|text| text.rsplit_once('<')) {
            Some((name, address)) => {
                (Some(name.trim().trim_matches('"')).filter(|name| !name.is_empty()), address)
            }
            None => (None, text),
        };
        let is_line = name.is_none_or(|name| !name.chars().any(char::is_control));
        Email::parse(address).ok().filter(|_| is_line).map(|address| (name, address))
    }
}

/// All faults of this section.
pub(super) fn faults(config: &Config, found: &mut Vec<Found>) {
    let Config { mail, server, .. } = config;
    let mut fault = |option, problem: &str, mend: &str| {
        found.push((option, problem.to_owned(), mend.to_owned()));
    };
    if !TIMEOUT.contains(&mail.timeout) {
        fault("mail.timeout", "it is out of bounds", "give a span from \"1s\" to \"5m\"");
    }
    if !mail.is_on() {
        return;
    }
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b".-:[]_".contains(&byte);
    if !mail.host.bytes().all(is_name) {
        fault(
            "mail.host",
            "it is not the name or the address of a host",
            "give one such as \"smtp.example.com\", and the port in mail.port",
        );
    }
    if mail.port == 0 {
        fault("mail.port", "there is no port 0", "give 587 for starttls, 465 for tls, or the server's own");
    }
    if mail.sender().is_none() {
        fault(
            "mail.from",
            "the sender is not an e-mail address",
            "give one such as \"alerts@example.com\" or \"Pombo <alerts@example.com>\"",
        );
    }
    if mail.user.is_empty() != mail.password.is_none() {
        fault("mail.password", "there is only one of mail.user and mail.password", "give both, or none");
    }
    if mail.encryption == Encryption::None && mail.password.is_some() && !is_local(&mail.host) {
        fault(
            "mail.encryption",
            "without TLS, others on the way can read the password",
            "give \"starttls\" or \"tls\", or take mail.user and mail.password away",
        );
    }
    if server.public_url.is_none() {
        fault(
            "server.public_url",
            "mails have links to the console, and its address is not known",
            "give the address at which people reach it, such as \"https://pombo.example\", or take mail.host away",
        );
    }
}

/// Whether the host is this machine.
fn is_local(host: &str) -> bool {
    matches!(host, "localhost" | "127.0.0.1" | "::1" | "[::1]")
}
