//! `pombo doctor`: checks what a service needs, and says for each check whether it is good and what to do if
//! not.
//!
//! It creates and changes nothing, shows no secret, and gives up on each check after a timeout. When a check
//! fails, the checks that depend on it are skipped.

mod clients;
mod database;
mod machine;
mod mail;
mod nats;
mod provider;

use std::time::Duration;

use serde::Serialize;
use tokio::time::timeout;

use super::{App, key_proof, open_files, sealing_keys, serve, store_options};
use crate::config::{Config, Faults};

/// The timeout of one check.
const PATIENCE: Duration = Duration::from_secs(10);
/// The most findings that a start logs.
const TOLD: usize = 8;

/// The result of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FindingState {
    /// Everything is as it should be.
    Good,
    /// The service works, but a person should look at the finding.
    Look,
    /// The service does not work, or a secret is exposed.
    Bad,
}

impl FindingState {
    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Look => "look",
            Self::Bad => "bad",
        }
    }
}

/// The finding of one check, in a sentence that says what to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The name of the check.
    pub check: &'static str,
    /// The result of the check.
    pub state: FindingState,
    /// The sentence.
    pub finding: String,
}

/// The findings so far.
#[derive(Debug, Default)]
struct Findings(Vec<Finding>);

impl Findings {
    fn add(&mut self, check: &'static str, state: FindingState, finding: impl Into<String>) {
        self.0.push(Finding { check, state, finding: finding.into() });
    }

    fn good(&mut self, check: &'static str, finding: impl Into<String>) {
        self.add(check, FindingState::Good, finding);
    }

    fn look(&mut self, check: &'static str, finding: impl Into<String>) {
        self.add(check, FindingState::Look, finding);
    }

    fn bad(&mut self, check: &'static str, finding: impl Into<String>) {
        self.add(check, FindingState::Bad, finding);
    }
}

/// Runs all checks.
pub async fn examine(config: Result<Config, Faults>) -> Vec<Finding> {
    let mut findings = Findings::default();
    let config = match config {
        Ok(config) => config,
        Err(Faults(faults)) => {
            for fault in faults {
                let what = fault.option.unwrap_or_else(|| fault.source.to_string());
                findings.bad("configuration", format!("{what}: {}; {}", fault.problem, fault.mend));
            }
            return findings.0;
        }
    };
    // The provider's client and the database driver both use the process' TLS provider; the first one that is
    // set stays.
    let _ = rustls::crypto::ring::default_provider().install_default();
    machine::configuration(&mut findings, &config);
    machine::directory(&mut findings, &config);
    machine::disk(&mut findings, &config);
    let vault = machine::key_file(&mut findings, &config);
    let sessions = bounded(&mut findings, "database", async |findings| {
        database::check(findings, &config, vault.as_ref()).await
    })
    .await;
    machine::open_files(&mut findings, &config, sessions.unwrap_or_default());
    provider::version(&mut findings, &config);
    bounded(&mut findings, "provider", async |findings| provider::check(findings, &config).await).await;
    bounded(&mut findings, "mail", async |findings| mail::check(findings, &config).await).await;
    bounded(&mut findings, "NATS", async |findings| nats::check(findings, &config).await).await;
    findings.0
}

/// What a person should look at although the service starts: those findings that need no other machine than the
/// database's. The data directory and the key file are checked when they are opened.
pub async fn at_start(app: &App) -> Vec<Finding> {
    let App { config, store, vault } = app;
    let mut findings = Findings::default();
    machine::configuration(&mut findings, config);
    machine::disk(&mut findings, config);
    bounded(&mut findings, "database", async |findings| {
        database::check_open(findings, config, store, vault).await;
    })
    .await;
    findings.0.retain(|finding| finding.state != FindingState::Good);
    findings.0
}

/// Logs what [`at_start`] finds, in a few lines.
pub async fn tell_at_start(app: App) {
    let findings = at_start(&app).await;
    for Finding { check, state: _, finding } in findings.iter().take(TOLD) {
        tracing::warn!(check, "{finding}");
    }
    if let Some(more) = findings.len().checked_sub(TOLD).filter(|more| *more > 0) {
        tracing::warn!(more, "there are more findings: run `pombo doctor`");
    }
}

/// Gives up on a check that takes too long.
async fn bounded<T>(
    findings: &mut Findings,
    check: &'static str,
    work: impl AsyncFnOnce(&mut Findings) -> T,
) -> Option<T> {
    let done = timeout(PATIENCE, work(findings)).await;
    if done.is_err() {
        let seconds = PATIENCE.as_secs();
        findings
            .bad(check, format!("no answer within {seconds} seconds: check whether it hangs, and try again"));
    }
    done.ok()
}
