//! `pombo doctor`.

use super::Global;
use super::output::{Columns, Listed, Output};
use super::session::quiet_config;
use crate::app::doctor::{self, Finding, FindingState};
use crate::config::Faults;
use crate::domain::plural::counted;

impl Listed for Finding {
    const COLUMNS: Columns<Self> = &[
        ("check", |finding| finding.check.to_owned()),
        ("state", |finding| finding.state.as_str().to_owned()),
        ("finding", |finding| finding.finding.clone()),
    ];
}

/// The number of `bad` findings, which make the exit code 1.
#[derive(Debug, thiserror::Error)]
#[error("{}: the service does not work as it should until that is fixed", counted(*.0, "finding is bad", "findings are bad"))]
struct Unwell(u64);

pub(super) async fn run(global: &Global) -> anyhow::Result<()> {
    let config = match quiet_config(global) {
        Ok(config) => Ok(config),
        Err(error) => Err(error.downcast::<Faults>()?),
    };
    let findings = doctor::examine(config).await;
    let bad = findings.iter().filter(|finding| finding.state == FindingState::Bad).count();
    Output::new(global.json).list(&findings, "there is nothing to check")?;
    if bad == 0 { Ok(()) } else { Err(Unwell(bad as u64).into()) }
}
