//! The sections about NATS and events.

use std::path::PathBuf;
use std::time::Duration;

use serde::Deserialize;

use super::validate::Found;
use super::{Config, units};
use domain::address;
use domain::secret::Secret;
use domain::time_span;

/// `[nats]`: the connection to NATS.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Nats {
    /// Addresses of servers of one cluster, separated by commas; `None` means that NATS is not used.
    #[serde(deserialize_with = "units::optional_secret")]
    pub url: Option<Secret>,
    /// The file with the credentials of a user.
    #[serde(deserialize_with = "units::optional_path")]
    pub credentials: Option<PathBuf>,
    /// A token instead of the credentials.
    #[serde(deserialize_with = "units::optional_secret")]
    pub token: Option<Secret>,
    /// Whether a server without TLS is refused.
    pub tls: bool,
    /// The file with certificates that servers' certificates are checked against; `None` means the system's.
    #[serde(deserialize_with = "units::optional_path")]
    pub ca_file: Option<PathBuf>,
    /// The beginning of every subject.
    pub prefix: String,
    /// The timeout of an answer of another node, or of the stream.
    #[serde(with = "time_span")]
    pub request_timeout: Duration,
}

/// `[events]`: the log of events, and their stream at NATS.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Events {
    /// Whether events are published at NATS.
    pub enabled: bool,
    /// Servers for the events alone; `None` means those of `[nats]`, with its user.
    #[serde(deserialize_with = "units::optional_secret")]
    pub url: Option<Secret>,
    /// The file with the credentials of the user there.
    #[serde(deserialize_with = "units::optional_path")]
    pub credentials: Option<PathBuf>,
    /// A token instead of the credentials.
    #[serde(deserialize_with = "units::optional_secret")]
    pub token: Option<Secret>,
    /// The stream's name.
    pub stream: String,
    /// How long the log keeps events, and a stream that this program creates; `None` means without limit.
    #[serde(deserialize_with = "units::age")]
    pub keep: Option<Duration>,
    /// The most bytes of one company's log.
    #[serde(deserialize_with = "units::bytes")]
    pub max_bytes: usize,
}

impl Nats {
    /// The addresses, one by one.
    pub fn addresses(&self) -> impl Iterator<Item = &str> {
        addresses(self.url.as_ref())
    }
}

impl Events {
    /// The connection of the events alone, with the other options of `[nats]`; `None` when they share that of `[nats]`.
    pub fn own_nats(&self, nats: &Nats) -> Option<Nats> {
        let Self { url, credentials, token, enabled: _, stream: _, keep: _, max_bytes: _ } = self;
        url.as_ref()?;
        Some(Nats {
            url: url.clone(),
            credentials: credentials.clone(),
            token: token.clone(),
            ..nats.clone()
        })
    }
}

fn addresses(url: Option<&Secret>) -> impl Iterator<Item = &str> {
    let all = url.map(Secret::expose).unwrap_or_default();
    all.split(',').map(str::trim).filter(|address| !address.is_empty())
}

/// The smallest maximum. With less than a few seconds bring, events would be dropped whenever NATS is briefly
/// unreachable.
const FEWEST_BYTES: usize = 1024 * 1024;
/// The shortest time for which events are kept: a reader that asks once an hour is not forgotten.
const SHORTEST: Duration = Duration::from_secs(24 * 3_600);

/// All faults of these sections.
pub(super) fn faults(config: &Config, found: &mut Vec<Found>) {
    let Config { nats, events, cluster, .. } = config;
    let mut fault = |option, problem: &str, mend: &str| {
        found.push((option, problem.to_owned(), mend.to_owned()));
    };
    for (option, url) in [("nats.url", &nats.url), ("events.url", &events.url)] {
        if url.is_some() && addresses(url.as_ref()).next().is_none() {
            fault(option, "the value has no address", "give one such as \"nats://127.0.0.1:4222\"");
        }
        if !addresses(url.as_ref()).all(is_address) {
            fault(
                option,
                "the value has a part that is not the address of a NATS server",
                "begin each with nats:// or tls://, separate them with commas, and percent-encode the special \
                 characters of user and password: \
                 \"nats://10.0.0.5:4222,nats://user:p%2Fw@10.0.0.6:4222\"",
            );
        }
    }
    if nats.credentials.is_some() && nats.token.is_some() {
        fault("nats.token", "there is nats.credentials too", "give one of the two");
    }
    if events.credentials.is_some() && events.token.is_some() {
        fault("events.token", "there is events.credentials too", "give one of the two");
    }
    for (option, is_set) in
        [("events.credentials", events.credentials.is_some()), ("events.token", events.token.is_some())]
    {
        if is_set && events.url.is_none() {
            fault(
                option,
                "there is no events.url",
                "give events.url, which may be that of nats.url, or take this away",
            );
        }
    }
    if nats.url.is_some() && cluster.is_joined() && !cluster.name.split('.').all(is_token) {
        fault(
            "cluster.name",
            "it cannot be a part of the subjects at NATS",
            "write words of letters, digits, - and _, with dots between them, such as \"production\"",
        );
    }
    if !nats.prefix.split('.').all(is_token) {
        fault(
            "nats.prefix",
            "it cannot begin a subject",
            "write words of letters, digits, - and _, with dots between them, such as \"pombo\"",
        );
    }
    if nats.request_timeout.is_zero() {
        fault("nats.request_timeout", "it cannot be zero", "give a span such as \"5s\"");
    }
    if !is_token(&events.stream) {
        fault(
            "events.stream",
            "it cannot be the name of a stream",
            "write letters, digits, - and _, such as \"POMBO_EVENTS\"",
        );
    }
    if events.keep.is_some_and(|keep| keep < SHORTEST) {
        fault(
            "events.keep",
            "a reader that is away for so short a time would miss events",
            "give at least \"1d\"",
        );
    }
    if events.max_bytes < FEWEST_BYTES {
        fault(
            "events.max_bytes",
            "with so little room, events are dropped at once",
            "give at least \"1MiB\"",
        );
    }
    if events.enabled && nats.url.is_none() && events.url.is_none() {
        fault(
            "events.enabled",
            "there is no NATS to publish to",
            "give nats.url or events.url, or switch events off",
        );
    }
}

fn is_address(text: &str) -> bool {
    address::parse(text).is_some_and(|url| matches!(url.scheme(), "nats" | "tls") && url.has_host())
}

/// Whether the text is a word of a subject and no wildcard.
fn is_token(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
}
