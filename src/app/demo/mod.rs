//! A service to try: beside it a simulated provider, in it two companies with channels, templates and
//! contacts, all in a directory of its own.
//!
//! Everything goes the way that it goes for a real company: channels are sealed and probed, templates come
//! through the connector, receipts come by signed webhooks. Only web sessions run on a driver of the simulator's, which
//! is linked to a phone that the simulator plays: no demonstration reaches WhatsApp. A second start finds the first one's
//! companies again. Called by `pombo demo`.

mod people;
mod plan;
mod receipts;
mod report;
mod running;
mod seed;

use std::fs;
use std::io::ErrorKind;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, anyhow, bail};

pub use self::plan::GOOD_TOKEN;
pub use self::report::{Channel, Company, Console, Phone, Report, SignIn, Tag, Template};
pub use self::running::{Running, none_runs};
use super::App;
use super::serve::{self, Service};
use crate::accounts::Accounts;
use crate::config::{Config, Secrets};
use crate::connector::web_session::Driver;
use crate::simulator::{self, Simulator, WebSessionOptions};
use crate::vault::Vault;

/// Where a demonstration is kept, unless somebody says another place.
pub const DIRECTORY: &str = "./pombo-demo";
/// The file that says that a directory is a demonstration's, and may be filled and deleted.
const MARKER: &str = "made-by-pombo-demo";
/// How long the simulator takes to answer a send, somewhat like the provider.
const LATENCY: Duration = Duration::from_millis(40);

/// What can be chosen.
#[derive(Debug, Clone)]
pub struct Options {
    /// Where everything is kept.
    pub directory: PathBuf,
    /// The service's port on this machine; 0 takes a free one.
    pub port: u16,
    /// Contacts of the first company.
    pub contacts: u32,
}

/// A running demonstration.
pub struct Demo {
    /// What there is to try.
    pub report: Report,
    running: Option<Running>,
    service: Service,
    simulator: Simulator,
}

/// Starts a demonstration on top of `config`, of which directory, address, database and provider are
/// replaced; `progress` hears how many contacts of how many are there.
///
/// # Errors
///
/// A sentence for the person who tries it, above all when the directory holds something else.
pub async fn start(
    mut config: Config,
    options: Options,
    progress: impl FnMut(u64, u64),
) -> anyhow::Result<Demo> {
    let Options { directory, port, contacts } = options;
    let is_reused = claim(&directory)?;
    let simulator = simulator::start(
        simulator::Options {
            latency: LATENCY,
            web_sessions: WebSessionOptions::lifelike(),
            ..simulator::Options::default()
        },
        plan::simulator_seed(),
    )
    .await?;
    config.data.dir = directory.clone();
    config.server.bind = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    config.database.url = None;
    config.database.migrate = true;
    config.secrets = Secrets { key: None, previous_keys: Vec::new(), key_file: None };
    config.cloud_api.base_url = simulator.base_url();
    // The key of a demonstration is nothing to warn about, so it is there before the app looks for it.
    Vault::open(&config.secrets, &config.data.dir)?;

    let app = App::open(config).await?;
    let companies = seed::companies(&app, contacts, progress).await?;
    let (store, vault) = (app.store.clone(), Arc::clone(&app.vault));
    let accounts = Accounts::new(store.clone(), Arc::clone(&vault));
    let driver: Arc<dyn Driver> = Arc::new(simulator.web_sessions());
    let service = serve::start_with(app, Some(driver))
        .await
        .context("the service did not start; choose another port with --port, or a free one with --port 0")?;
    receipts::send_to(&store, &vault, &simulator, service.base_url()).await?;
    let mut report = report::gather(
        &store,
        &accounts,
        companies,
        service.base_url().to_owned(),
        simulator.base_url(),
        directory,
        is_reused,
    )
    .await?;
    let running = report.running();
    if let Some(running) = &running {
        running.write(&report.directory)?;
        report.phone = Some(running.phone(&report.directory));
    }
    Ok(Demo { report, running, service, simulator })
}

impl Demo {
    /// Runs until `end`, then ends the service gracefully, and the simulator after it. Ends by itself, as a
    /// failure, when another process takes the database over.
    ///
    /// # Errors
    ///
    /// Those of `end` and of the service.
    pub async fn run_until(self, end: impl Future<Output = std::io::Result<()>>) -> anyhow::Result<()> {
        let reason = tokio::select! {
            ended = end => ended.map_err(anyhow::Error::from),
            fenced = self.service.fenced() => Err(anyhow!(serve::unasked(fenced))),
        };
        self.stop().await?;
        reason
    }

    /// Ends the service gracefully, then the simulator.
    ///
    /// # Errors
    ///
    /// Those of the service.
    pub async fn stop(self) -> anyhow::Result<()> {
        if let Some(running) = &self.running {
            running.remove(&self.report.directory);
        }
        let stopped = self.service.stop().await;
        self.simulator.stop().await;
        stopped
    }
}

/// Makes sure that the directory is a demonstration's; whether it was one before.
fn claim(directory: &Path) -> anyhow::Result<bool> {
    let shown = directory.display();
    let marker = directory.join(MARKER);
    if marker.exists() {
        return Ok(true);
    }
    let entries = fs::read_dir(directory).map(|mut entries| entries.next());
    match entries {
        Ok(None) => {}
        Ok(Some(_)) => bail!(
            "{shown} is not empty and not a demonstration's; choose another directory with --data, so that \
             nothing real is mixed with what is made up"
        ),
        Err(error) if error.kind() == ErrorKind::NotFound => super::prepare_directory(directory)?,
        Err(error) => {
            return Err(error)
                .with_context(|| format!("cannot use {shown}; choose another directory with --data"));
        }
    }
    fs::write(&marker, "This directory was made by `pombo demo` and may be deleted.\n")
        .with_context(|| format!("cannot write into {shown}; choose another directory with --data"))?;
    Ok(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_with_something_else_in_it_is_left_alone() {
        let place = tempfile::tempdir().unwrap();
        let fresh = place.path().join("demo");
        assert!(!claim(&fresh).unwrap());
        assert!(claim(&fresh).unwrap(), "the second time it is known");

        fs::write(place.path().join("pombo.db"), "real").unwrap();
        assert!(claim(place.path()).unwrap_err().to_string().contains("--data"));
        assert!(!place.path().join(MARKER).exists());
    }
}
