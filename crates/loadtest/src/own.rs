//! A service and a simulator of the load test's own. They are separate processes, so that their resources are
//! measured separately. The database is filled in bulk through the store. All of it is removed after the test.

mod fill;

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, anyhow};
use serde_json::{Map, Value, json};
use tempfile::TempDir;
use uuid::Uuid;

pub(super) use self::fill::change_tiers;
use self::fill::{APP_SECRET, Filled, fill};
use super::child::{Child, this_program};
use super::client::Named;
use super::people::People;
use super::program::Program;
use super::receiver::Simulator;
use super::stop::Stop;
use super::{Event, Plan};
use config::Config;
use domain::secret::Secret;
use store::Store;
use store::scratch::Scratch;

/// The name of the company, its tier and its key; several have a number behind it.
const NAME: &str = "loadtest";

/// Dropping it ends all processes and removes their files; [`Own::stop`] also removes the database.
#[derive(Debug)]
pub(super) struct Own {
    // In the order in which they must be dropped.
    /// The nodes of the service; usually one.
    pub(super) services: Vec<Child>,
    pub(super) simulator: Child,
    pub(super) store: Store,
    scratch: Option<Scratch>,
    pub(super) companies: Vec<OwnCompany>,
    /// The names of the tiers.
    pub(super) tiers: Vec<String>,
    pub(super) seeding: Duration,
    _directory: TempDir,
}

/// A company of the test.
#[derive(Debug)]
pub(super) struct OwnCompany {
    pub(super) name: String,
    pub(super) key: Secret,
    pub(super) channels: Vec<OwnChannel>,
    /// Its tags, with the recipients that a send to each must have.
    pub(super) tags: Vec<(Named, u64)>,
    pub(super) people: People,
}

/// A channel of the test.
#[derive(Debug)]
pub(super) struct OwnChannel {
    pub(super) id: Uuid,
    pub(super) name: String,
    /// The id of its number at the simulator.
    pub(super) number: String,
    pub(super) tier: String,
}

impl Own {
    /// Starts the simulator, fills a new database, and starts the service on it.
    pub(super) async fn start(
        plan: &Plan,
        program: &impl Program,
        stop: &Stop,
        hear: &mut impl FnMut(Event<'_>),
    ) -> anyhow::Result<Self> {
        let directory = directory(plan.directory.as_deref())?;
        let place = directory.path();
        let log = place.join("simulator.log");
        let mut arguments = vec!["simulator", "--port", "0"];
        arguments.extend(plan.simulator.iter().map(String::as_str));
        let command = this_program(&arguments, &log)?;
        let simulator = Child::start(command, &log).await.context("the simulator did not start")?;
        let scratch = match &plan.database_url {
            Some(server) => Some(Scratch::create(server.expose()).await.context(
                "cannot create a database for the test; --database-url needs a server and a user who may \
                 CREATE DATABASE",
            )?),
            None => None,
        };
        let mut hear = |event: Event<'_>| {
            hear(event);
            stop.is_asked()
        };
        let filled = Box::pin(fill(plan, program, place, &simulator, scratch.as_ref(), &mut hear)).await;
        let started = match filled {
            Ok(filled) => Box::pin(serve_all(plan, place, &simulator, scratch.as_ref(), &filled))
                .await
                .map(|services| (filled, services)),
            Err(error) => Err(error),
        };
        let (Filled { store, companies, tiers, seeding }, services) = match started {
            Ok(started) => started,
            Err(error) => {
                if let Some(scratch) = scratch {
                    scratch.remove().await?;
                }
                return Err(error);
            }
        };
        Ok(Self { services, simulator, store, scratch, companies, tiers, seeding, _directory: directory })
    }

    /// Ends all processes, and removes the database and every file.
    pub(super) async fn stop(self) -> anyhow::Result<()> {
        let Self { services, simulator, store, scratch, .. } = self;
        store.close().await;
        for service in services {
            service.stop().await;
        }
        simulator.stop().await;
        match scratch {
            Some(scratch) => Ok(scratch.remove().await?),
            None => Ok(()),
        }
    }

    /// The addresses of the nodes.
    pub(super) fn urls(&self) -> Vec<String> {
        self.services.iter().map(|service| service.base_url.clone()).collect()
    }

    /// The error when one of them has ended by itself.
    pub(super) fn fault(&mut self) -> Option<anyhow::Error> {
        let ended = |what: &str, words: String| anyhow!("the {what} ended by itself\n{words}");
        let service = self.services.iter_mut().find_map(|service| service.has_ended());
        let service = service.map(|words| ended("service", words));
        service.or_else(|| self.simulator.has_ended().map(|words| ended("simulator", words)))
    }
}

fn directory(parent: Option<&Path>) -> anyhow::Result<TempDir> {
    let mut builder = tempfile::Builder::new();
    builder.prefix("pombo-loadtest-");
    match parent {
        Some(parent) => builder.tempdir_in(parent),
        None => builder.tempdir(),
    }
    .context("cannot create a temporary directory; give a directory for it with --data")
}

/// Starts every node, and has the simulator send them its webhooks.
async fn serve_all(
    plan: &Plan,
    place: &Path,
    simulator: &Child,
    scratch: Option<&Scratch>,
    filled: &Filled,
) -> anyhow::Result<Vec<Child>> {
    let mut services = Vec::new();
    for node in 1..=plan.nodes.max(1) {
        services.push(serve(plan, place, simulator, scratch, node).await?);
    }
    if let Some(receipts) = &plan.receipts {
        aim(receipts, simulator, &services, &filled.companies).await?;
    }
    Ok(services)
}

/// Has the simulator send each channel's webhooks to the nodes in turns.
async fn aim(
    receipts: &Map<String, Value>,
    simulator: &Child,
    services: &[Child],
    companies: &[OwnCompany],
) -> anyhow::Result<()> {
    let simulator = Simulator::find(&simulator.base_url).await?;
    let channels = companies.iter().flat_map(|company| &company.channels);
    for (channel, service) in channels.zip(services.iter().cycle()) {
        let mut webhook = receipts.clone();
        let url = format!("{}/hooks/meta/{}", service.base_url, channel.id);
        for (name, value) in [
            ("url", json!(url)),
            ("app_secret", json!(APP_SECRET)),
            ("phone_number_id", json!(channel.number)),
        ] {
            webhook.insert(name.to_owned(), value);
        }
        simulator.aim(&webhook).await?;
    }
    Ok(())
}

/// Starts a node with the tester's own configuration, except for its paths and addresses.
async fn serve(
    plan: &Plan,
    place: &Path,
    simulator: &Child,
    scratch: Option<&Scratch>,
    node: u32,
) -> anyhow::Result<Child> {
    let log = place.join(format!("service-{node}.log"));
    let file = plan.config_file.as_deref().map(Path::to_string_lossy);
    let config: Vec<&str> = file.iter().flat_map(|file| ["--config", file]).collect();
    let mut command = this_program(&[&["serve"], config.as_slice()].concat(), &log)?;
    // The nodes of a cluster have the key that sealed the channels' secrets, and directories of their own.
    let key_file = if node == 1 { PathBuf::new() } else { data(place, 1).join("secret.key") };
    let (cluster, name) = if plan.nodes > 1 { (NAME, format!("node-{node}")) } else { ("", String::new()) };
    command
        .env("POMBO__DATA__DIR", data(place, node))
        .env("POMBO__DATABASE__URL", scratch.map(Scratch::url).unwrap_or_default())
        .env("POMBO__DATABASE__MIGRATE", "true")
        .env("POMBO__CLUSTER__NAME", cluster)
        .env("POMBO__CLUSTER__NODE", name)
        .env("POMBO__SECRETS__KEY", "")
        .env("POMBO__SECRETS__PREVIOUS_KEYS", "")
        .env("POMBO__SECRETS__KEY_FILE", key_file)
        .env("POMBO__CLOUD_API__BASE_URL", &simulator.base_url)
        .env("POMBO__SERVER__BIND", "127.0.0.1:0")
        .env("POMBO__LOG__LEVEL", &plan.config.log.level);
    if plan.webhooks.is_some() {
        // The receiver of the test is on this machine.
        command
            .env("POMBO__WEBHOOKS__ALLOW_NETWORKS", "127.0.0.1")
            .env("POMBO__WEBHOOKS__ALLOW_HTTP", "true");
    }
    Child::start(command, &log).await.with_context(|| match plan.nodes {
        0 | 1 => "the service did not start".to_owned(),
        _ => format!("node {node} of the service did not start"),
    })
}

/// The data directory of a node.
fn data(place: &Path, node: u32) -> PathBuf {
    place.join(if node == 1 { "data".to_owned() } else { format!("data-{node}") })
}

/// The words for the database of a plan.
pub(super) fn database(plan: &Plan) -> String {
    let synchronous = |config: &Config| config.database.sqlite_synchronous.pragma().to_ascii_lowercase();
    match plan.database_url {
        Some(_) => "PostgreSQL".to_owned(),
        None => format!("SQLite, synchronous = {}", synchronous(&plan.config)),
    }
}
