//! Checks the provider: whether it answers, how long it supports the version of its API, and whether our
//! clock agrees with its clock.

use std::time::Duration;

use super::Findings;
use crate::clock::Timestamp;
use crate::config::Config;
use crate::connector::cloud_api::reach::{Reached, reach};
use crate::domain::address;

/// The timeout of the provider's answer.
const PATIENCE: Duration = Duration::from_secs(5);
/// A difference between the clocks that a person should look at, in milliseconds.
const APART: i64 = 5_000;
/// With a larger difference, codes of second factors and times of receipts are wrong.
const FAR_APART: i64 = 30_000;

pub(super) fn version(findings: &mut Findings, config: &Config) {
    const CHECK: &str = "API version";
    let now = Timestamp::now();
    let version = &config.cloud_api.version;
    match config.cloud_api.version_warning(now) {
        None => findings.good(CHECK, format!("{version} is not about to end")),
        Some(warning) if config.cloud_api.version_has_ended(now) => findings.bad(CHECK, warning),
        Some(warning) => findings.look(CHECK, warning),
    }
}

pub(super) async fn check(findings: &mut Findings, config: &Config) {
    const CHECK: &str = "provider";
    let shown = address::shown(&config.cloud_api.base_url);
    match reach(&config.cloud_api, &config.network, PATIENCE).await {
        Ok(Reached { clock_ahead }) => {
            findings.good(CHECK, format!("{shown} answers"));
            clock(findings, clock_ahead);
        }
        Err(error) => findings
            .bad(CHECK, format!("{shown}: {error}; check the network, network.proxy and cloud_api.base_url")),
    }
}

fn clock(findings: &mut Findings, ahead: Option<i64>) {
    const CHECK: &str = "clock";
    let Some(ahead) = ahead else {
        findings.look(CHECK, "the provider did not send its time: check the clock by hand");
        return;
    };
    let seconds = ahead.unsigned_abs() / 1000;
    let way = if ahead > 0 { "ahead of" } else { "behind" };
    let sentence = || {
        format!(
            "the clock is {seconds} seconds {way} the provider's: let a time service set it, such as chrony"
        )
    };
    match ahead.saturating_abs() {
        apart if apart <= APART => findings.good(CHECK, "it agrees with the provider's"),
        apart if apart <= FAR_APART => findings.look(CHECK, sentence()),
        _ => findings.bad(CHECK, sentence()),
    }
}
