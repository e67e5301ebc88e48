//! A service and a simulator of the load test's own. They are separate processes, so that their resources are
//! measured separately. The database is filled in bulk through the store. All of it is removed after the test.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context as _, anyhow, bail};
use tempfile::TempDir;
use uuid::Uuid;

use super::child::{Child, this_program};
use super::client::Named;
use super::people::People;
use super::program::Program;
use super::stop::Stop;
use super::{Event, Plan};
use clock::Timestamp;
use config::{Config, Secrets};
use domain::channel::{Kind, Status};
use domain::scope::Scopes;
use domain::secret::Secret;
use domain::tier;
use store::Store;
use store::api_keys::NewKey;
use store::changes::Who;
use store::channels::{NewChannel, Sealed};
use store::scratch::Scratch;
use vault::{Vault, api_key, context};

/// Contacts in each write.
const LOT: usize = 2_000;
/// The name of the company, its tier and its key.
const NAME: &str = "loadtest";
/// The ids of the number and the account at the simulator, which accepts every id.
const NUMBER_ID: &str = "106540352242922";
const ACCOUNT_ID: &str = "102290129340398";
const TOKEN: &[u8] = b"loadtest-token";

/// Dropping it ends both processes and removes their files; [`Own::stop`] also removes the database.
#[derive(Debug)]
pub(super) struct Own {
    // In the order in which they must be dropped.
    pub(super) service: Child,
    pub(super) simulator: Child,
    pub(super) store: Store,
    scratch: Option<Scratch>,
    pub(super) key: Secret,
    pub(super) channel: Uuid,
    pub(super) tags: Vec<(Named, u64)>,
    pub(super) seeding: Duration,
    _directory: TempDir,
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
        let latency = format!("{}ms", plan.provider_latency.as_millis());
        let command = this_program(&["simulator", "--port", "0", "--latency", &latency], &log)?;
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
            Ok(filled) => {
                serve(plan, place, &simulator, scratch.as_ref()).await.map(|service| (filled, service))
            }
            Err(error) => Err(error),
        };
        let ((store, key, channel, tags, seeding), service) = match started {
            Ok(started) => started,
            Err(error) => {
                if let Some(scratch) = scratch {
                    scratch.remove().await?;
                }
                return Err(error);
            }
        };
        Ok(Self { service, simulator, store, scratch, key, channel, tags, seeding, _directory: directory })
    }

    /// Ends both processes, and removes the database and every file.
    pub(super) async fn stop(self) -> anyhow::Result<()> {
        let Self { service, simulator, store, scratch, .. } = self;
        store.close().await;
        service.stop().await;
        simulator.stop().await;
        match scratch {
            Some(scratch) => Ok(scratch.remove().await?),
            None => Ok(()),
        }
    }

    /// The error when one of them has ended by itself.
    pub(super) fn fault(&mut self) -> Option<anyhow::Error> {
        let ended = |what: &str, words: String| anyhow!("the {what} ended by itself\n{words}");
        let service = self.service.has_ended().map(|words| ended("service", words));
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

type Filled = (Store, Secret, Uuid, Vec<(Named, u64)>, Duration);

/// A company with a key, a channel and its contacts, in a new database.
async fn fill(
    plan: &Plan,
    program: &impl Program,
    place: &Path,
    simulator: &Child,
    scratch: Option<&Scratch>,
    hear: &mut impl FnMut(Event<'_>) -> bool,
) -> anyhow::Result<Filled> {
    let mut config = plan.config.clone();
    config.data.dir = data(place);
    config.database.url = scratch.map(|scratch| Secret::new(scratch.url().to_owned()));
    config.database.migrate = true;
    // The database is filled before the measurement, so its load does not matter.
    config.database.statement_timeout = Duration::ZERO;
    config.secrets = Secrets { key: None, previous_keys: Vec::new(), key_file: None };
    config.cloud_api.base_url.clone_from(&simulator.base_url);
    config.server.bind = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    // The key is created before the app looks for it, because a new key of a load test needs no warning.
    std::fs::create_dir_all(&config.data.dir)?;
    Vault::open(&config.secrets, &config.data.dir)?;
    let (store, vault) = program.open(config).await?;
    let store = &store;

    add_tier(store, plan).await?;
    let company = store.companies().add(&Who::Pombo, NAME, NAME).await?.id;
    let (key, prefix) = api_key::generate();
    let hash = api_key::hash(key.expose());
    store
        .of(company)
        .keys()
        .add(&Who::Pombo, NewKey { name: NAME, prefix: &prefix, hash, expires_at: None, scopes: Scopes::ALL })
        .await?;
    let channel = add_channel(program, store, &vault, company).await?;
    let people = People { contacts: plan.contacts, tags: plan.tags };
    let begun = Instant::now();
    let tags = seed(store, company, people, hear).await?;
    Ok((store.clone(), key, channel, tags, begun.elapsed()))
}

/// Writes the contacts. `hear` returns whether to stop.
async fn seed(
    store: &Store,
    company: Uuid,
    people: People,
    hear: &mut impl FnMut(Event<'_>) -> bool,
) -> anyhow::Result<Vec<(Named, u64)>> {
    let mut tags = Vec::new();
    for (number, expected) in (1..).zip(people.recipients()) {
        let name = format!("group {number}");
        let id = store.of(company).tags().ensure(&name, None).await?;
        tags.push((Named { id, name }, expected));
    }
    let mut done = 0;
    for (its, lot) in people.lots(LOT) {
        let its: Vec<_> = its.iter().filter_map(|tag| Some(tags.get(*tag as usize)?.0.id)).collect();
        let lot: Vec<_> = lot.into_iter().map(|person| (Uuid::now_v7(), person)).collect();
        store.of(company).contacts().add(&lot, &its, Timestamp::now()).await?;
        done += lot.len() as u64;
        if hear(Event::Seeding { done, total: people.contacts.into() }) {
            bail!("ended before anything was measured");
        }
    }
    store.contacts().grew().await?;
    // With more tags than contacts, some tags have no contact.
    tags.retain(|(_, expected)| *expected > 0);
    Ok(tags)
}

/// A tier with the rate of the test, and without a limit for pairs: contacts have several tags, and a tag may
/// be sent to several times.
async fn add_tier(store: &Store, plan: &Plan) -> anyhow::Result<()> {
    let built_in = tier::parse(tier::BUILT_IN)
        .map_err(|faults| anyhow!(faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")))?;
    let mut tier =
        built_in.into_iter().find(|tier| tier.name == "unlimited").context("no tier `unlimited`")?;
    NAME.clone_into(&mut tier.name);
    tier.description = "The rate of this load test.".to_owned();
    tier.messages_per_second = plan.rate;
    let document = serde_json::to_string(&tier)?;
    store.tiers().apply(&Who::Pombo, &[(NAME.to_owned(), document)]).await?;
    Ok(())
}

async fn add_channel(
    program: &impl Program,
    store: &Store,
    vault: &Vault,
    company: Uuid,
) -> anyhow::Result<Uuid> {
    let id = Uuid::now_v7();
    let new = NewChannel {
        id,
        company_id: company,
        kind: Kind::BusinessAccount,
        name: NAME.to_owned(),
        phone_number: Some("+999 600 000 001".to_owned()),
        phone_number_id: Some(NUMBER_ID.to_owned()),
        waba_id: Some(ACCOUNT_ID.to_owned()),
        tier: NAME.to_owned(),
        secrets: Sealed { token: Some(vault.seal(TOKEN, &context::token(id))), app_secret: None },
        status: Status::Connecting,
    };
    let channel = store.channels().add(&Who::Pombo, new).await?;
    program.probe(&channel).await?;
    match store.channels().find(id).await? {
        Some(channel) if channel.connection.status == Status::Connected => Ok(id),
        _ => bail!("the simulator did not confirm the channel"),
    }
}

/// Starts the service with the tester's own configuration, except for its paths and addresses.
async fn serve(
    plan: &Plan,
    place: &Path,
    simulator: &Child,
    scratch: Option<&Scratch>,
) -> anyhow::Result<Child> {
    let log = place.join("service.log");
    let file = plan.config_file.as_deref().map(Path::to_string_lossy);
    let config: Vec<&str> = file.iter().flat_map(|file| ["--config", file]).collect();
    let mut command = this_program(&[&["serve"], config.as_slice()].concat(), &log)?;
    let (data, simulator) = (data(place), &simulator.base_url);
    command
        .env("POMBO__DATA__DIR", data)
        .env("POMBO__DATABASE__URL", scratch.map(Scratch::url).unwrap_or_default())
        .env("POMBO__DATABASE__MIGRATE", "true")
        .env("POMBO__SECRETS__KEY", "")
        .env("POMBO__SECRETS__PREVIOUS_KEYS", "")
        .env("POMBO__SECRETS__KEY_FILE", "")
        .env("POMBO__CLOUD_API__BASE_URL", simulator)
        .env("POMBO__SERVER__BIND", "127.0.0.1:0")
        .env("POMBO__LOG__LEVEL", &plan.config.log.level);
    Child::start(command, &log).await.context("the service did not start")
}

fn data(place: &Path) -> PathBuf {
    place.join("data")
}

/// The words for the database of a plan.
pub(super) fn database(plan: &Plan) -> String {
    let synchronous = |config: &Config| config.database.sqlite_synchronous.pragma().to_ascii_lowercase();
    match plan.database_url {
        Some(_) => "PostgreSQL".to_owned(),
        None => format!("SQLite, synchronous = {}", synchronous(&plan.config)),
    }
}
