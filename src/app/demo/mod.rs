//! A service to try, with a simulated provider and two companies with channels, templates and contacts. All
//! data is in a directory of its own.
//!
//! Everything works as for a real company: tokens are sealed and channels probed, templates come through the
//! connector, receipts come by signed webhooks, and events go to a receiver by signed webhooks. Only web sessions
//! run on the simulator's driver, which is linked to a phone that the simulator plays: no demonstration reaches
//! WhatsApp. Programs written for Meta's API can be connected. Some people have written, and some answer what is
//! sent to them. A second start uses the same companies again. Called by `pombo demo`.

mod keys;
mod people;
mod plan;
mod receipts;
mod receiver;
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
use self::receiver::DemoReceiver;
pub use self::report::{
    Console, DemoChannel, DemoCompany, DemoTag, DemoTemplate, EventInbox, Phone, Report, SignIn,
};
pub use self::running::{Running, RunningChannel, SOMEBODY, none_runs};
use super::App;
use super::serve::{self, Service};
use crate::accounts::Accounts;
use crate::config::{Config, Secrets};
use crate::connector::web_session::Driver;
use crate::vault::Vault;
use simulator::{Simulator, WebSessionOptions};

/// The default directory of a demonstration.
pub const DIRECTORY: &str = "./pombo-demo";
/// The file that marks a directory as a demonstration's, which may be filled and deleted.
const MARKER: &str = "made-by-pombo-demo";
/// How long the simulator takes to answer a send, somewhat like the provider.
const LATENCY: Duration = Duration::from_millis(40);

/// The options of a demonstration.
#[derive(Debug, Clone)]
pub struct Options {
    /// The directory for all data.
    pub directory: PathBuf,
    /// The service's port on this machine; 0 takes a free one.
    pub port: u16,
    /// Contacts of the first company.
    pub contacts: u32,
}

/// A running demonstration.
pub struct Demo {
    /// The report of what there is to try.
    pub report: Report,
    running: Option<Running>,
    service: Service,
    receiver: DemoReceiver,
    simulator: Simulator,
}

/// Starts a demonstration with `config`, in which directory, address, database and provider are replaced.
/// `progress` is called with the number of contacts so far and the number in all.
///
/// # Errors
///
/// A sentence for the person who tries it, for example when the directory contains something else.
pub async fn start(
    mut config: Config,
    options: Options,
    progress: impl FnMut(u64, u64),
) -> anyhow::Result<Demo> {
    let Options { directory, port, contacts } = options;
    let is_reused = claim(&directory)?;
    let simulator = simulator::start(
        simulator::Options {
            latency: LATENCY.into(),
            service_window: true,
            web_sessions: WebSessionOptions {
                answer_probability: plan::ANSWERED,
                answered_within: plan::ANSWERED_WITHIN,
                answers: plan::answers(),
                ..WebSessionOptions::lifelike()
            },
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
    // The receiver of the demonstration, and one that a person tries, are on this machine.
    config.webhooks.allow_networks = vec!["127.0.0.0/8".parse()?, "::1/128".parse()?];
    config.webhooks.allow_http = true;
    // A program on this machine, such as Chatwoot or Typebot, may be connected, too.
    config.graph.enabled = true;
    // The key is created before the app looks for it, because a new key of a demonstration needs no warning.
    Vault::open(&config.secrets, &config.data.dir)?;

    let app = App::open(config).await?;
    let companies = seed::companies(&app, contacts, progress).await?;
    let receiver = DemoReceiver::start(&app)?;
    let (store, vault) = (app.store.clone(), Arc::clone(&app.vault));
    let accounts = Accounts::new(store.clone(), Arc::clone(&vault));
    let driver: Arc<dyn Driver> = Arc::new(simulator.web_sessions());
    let service = serve::start_with(app, Some(driver))
        .await
        .context("the service did not start; choose another port with --port, or a free one with --port 0")?;
    receipts::send_to(&store, &vault, &simulator, service.base_url()).await?;
    // Now the port and the database are this demonstration's.
    let events = match companies.first() {
        Some(first) => receiver.aim(first.company.id).await?,
        None => None,
    };
    simulator.script(&plan::greetings(contacts)).context("the people of the demonstration cannot write")?;
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
    report.events = events;
    let running = report.running();
    if let Some(running) = &running {
        running.write(&report.directory)?;
        report.phone = Some(running.phone(&report.directory));
    }
    Ok(Demo { report, running, service, receiver, simulator })
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

    /// Ends the service gracefully, then the receiver of its webhooks and the simulator.
    ///
    /// # Errors
    ///
    /// Those of the service.
    pub async fn stop(self) -> anyhow::Result<()> {
        if let Some(running) = &self.running {
            running.remove(&self.report.directory);
        }
        let stopped = self.service.stop().await;
        self.receiver.stop().await;
        self.simulator.stop().await;
        stopped
    }
}

/// Checks that the directory is a demonstration's. Returns whether it was one before.
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
                 real data is not mixed with example data"
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
