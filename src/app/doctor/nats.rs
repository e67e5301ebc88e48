//! Checks NATS: whether a server accepts this service.

use super::Findings;
use crate::config::Config;
use crate::connector::nats::reach;

pub(super) async fn check(findings: &mut Findings, config: &Config) {
    const CHECK: &str = "NATS";
    if config.nats.url.is_none() {
        return;
    }
    match reach(&config.nats).await {
        Ok(version) => findings.good(CHECK, format!("a server of version {version} accepts this service")),
        Err(error) => findings.bad(CHECK, error.to_string()),
    }
}
