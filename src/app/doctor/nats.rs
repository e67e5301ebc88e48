//! Checks NATS: whether a server accepts this service.

use super::Findings;
use crate::config::Config;
use crate::connector::nats::{Carries, reach};

pub(super) async fn check(findings: &mut Findings, config: &Config) {
    const CHECK: &str = "NATS";
    let own = config.events.own_nats(&config.nats);
    let shared = Some(&config.nats).filter(|nats| nats.url.is_some());
    let all = [(Carries::All, shared, ""), (Carries::Events, own.as_ref(), " at events.url")];
    for (carries, options, place) in all {
        let Some(options) = options else { continue };
        match reach(carries, options).await {
            Ok(version) => {
                findings.good(CHECK, format!("a server of version {version} accepts this service{place}"));
            }
            Err(error) => findings.bad(CHECK, error.to_string()),
        }
    }
}
