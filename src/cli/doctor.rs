//! `pombo doctor`.

use serde::Serialize;

use super::Global;
use super::output::{Listed, Output};
use super::session::quiet_config;
use crate::app::doctor::{self, Finding, State};
use crate::config::Faults;

#[derive(Serialize)]
struct Record {
    check: &'static str,
    state: &'static str,
    finding: String,
}

impl From<Finding> for Record {
    fn from(Finding { check, state, finding }: Finding) -> Self {
        Self { check, state: state.as_str(), finding }
    }
}

impl Listed for Record {
    const COLUMNS: &'static [&'static str] = &["check", "state", "finding"];

    fn cells(&self) -> Vec<String> {
        vec![self.check.to_owned(), self.state.to_owned(), self.finding.clone()]
    }
}

/// The number of `bad` findings, which make the exit code 1.
#[derive(Debug, thiserror::Error)]
#[error("{0} findings are bad: the service does not work as it should until they are fixed")]
struct Unwell(usize);

pub(super) async fn run(global: &Global) -> anyhow::Result<()> {
    let config = match quiet_config(global) {
        Ok(config) => Ok(config),
        Err(error) => Err(error.downcast::<Faults>()?),
    };
    let findings = doctor::examine(config, global.config.as_deref()).await;
    let bad = findings.iter().filter(|finding| finding.state == State::Bad).count();
    let records: Vec<Record> = findings.into_iter().map(Record::from).collect();
    Output::new(global.json).list(&records, "there is nothing to check")?;
    if bad == 0 { Ok(()) } else { Err(Unwell(bad).into()) }
}
