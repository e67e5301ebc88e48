//! `[webhooks]`.

use std::ops::RangeInclusive;
use std::time::Duration;

use ipnet::IpNet;
use serde::Deserialize;

use super::validate::Found;
use super::{Config, units};
use domain::time_span;
use domain::webhook::Schemes;

/// `[webhooks]`: delivering events to the receivers of companies.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Webhooks {
    /// Networks that are not public, but in which receivers may be.
    #[serde(deserialize_with = "units::networks")]
    pub allow_networks: Vec<IpNet>,
    /// Whether the address of a receiver may be http.
    pub allow_http: bool,
    /// The timeout of one attempt, from looking up the receiver's name to the end of its answer.
    #[serde(with = "time_span")]
    pub timeout: Duration,
}

impl Webhooks {
    /// The schemes of the addresses of receivers.
    pub const fn schemes(&self) -> Schemes {
        if self.allow_http { Schemes::HttpToo } else { Schemes::Https }
    }
}

/// The range of the timeout. With a shorter one, receivers far away would never answer in time; with a longer one, a
/// receiver that hangs would delay its next events too much.
const TIMEOUT: RangeInclusive<Duration> = Duration::from_secs(1)..=Duration::from_secs(15);

/// All faults of this section.
pub(super) fn faults(config: &Config, found: &mut Vec<Found>) {
    let timeout = config.webhooks.timeout;
    if !TIMEOUT.contains(&timeout) {
        let problem = format!("{} is out of bounds", humantime::format_duration(timeout));
        found.push(("webhooks.timeout", problem, "give a span from \"1s\" to \"15s\"".to_owned()));
    }
}
