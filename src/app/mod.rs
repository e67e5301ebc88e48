//! Constructs the parts of the program and connects them. No other module does.
//!
//! [`App::open`] opens what a service needs, in this order: data directory, log, vault, store; it creates what is
//! missing. [`App::open_existing`] opens them for a command, which creates and migrates nothing. [`serve`] adds the engine
//! and the HTTP surface; [`demo`] adds a simulator and a receiver of webhooks. Only the command line calls this module. It
//! writes nothing to standard output except the address of the service.

pub mod backup;
#[cfg(feature = "tools")]
pub mod demo;
pub mod doctor;
mod error;
pub mod key_proof;
pub mod measures;
mod open_files;
pub mod provider;
pub mod sealing_keys;
pub mod serve;
pub mod shutdown;
mod surfaces;
mod web_session;

use std::path::Path;
use std::sync::Arc;

use anyhow::Context as _;

use crate::clock::database::{self, Estimate};
use crate::config::{Config, SqliteSynchronous};
use crate::domain::tier;
use crate::files;
use crate::logging;
use crate::store::changes::Who;
use crate::store::schema::{self, Schema, SchemaStanding};
use crate::store::{self, Store};
use crate::vault::{KeyOrigin, Vault};

/// How often the database's clock is read before the service starts: the quickest answer counts most.
const CLOCK_READINGS: usize = 3;

/// The parts that every command needs.
#[derive(Debug, Clone)]
pub struct App {
    /// The configuration in force.
    pub config: Config,
    /// The database, with the schema of this program.
    pub store: Store,
    /// Seals and opens secrets.
    pub vault: Arc<Vault>,
}

/// Whether a command seals or opens secrets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Secrecy {
    /// It needs the sealing keys of the database.
    Keys,
    /// It needs none.
    NoKeys,
}

impl App {
    /// Opens everything for a service: creates the data directory, the sealing key and the database where they are
    /// missing, and brings the schema up to date.
    ///
    /// # Errors
    ///
    /// A sentence for the operator; it contains the database's address without its password.
    pub async fn open(config: Config) -> anyhow::Result<Self> {
        prepare(&config)?;
        tracing::info!("the configuration was read from {}", config.sources);
        let vault = open_vault(&config)?;
        let options = store_options(&config);
        let app = Self::with_store(config, vault, &options).await?;
        add_built_in_tiers(&app.store).await?;
        Ok(app)
    }

    /// Opens a database that is there. Creates and migrates nothing, and makes no key.
    ///
    /// # Errors
    ///
    /// As [`App::open`]; also when there is no database, its schema is not this program's, or a key that the command
    /// needs is missing.
    pub async fn open_existing(config: Config, secrecy: Secrecy) -> anyhow::Result<Self> {
        begin(&config)?;
        let options = store::Options { migrate: false, ..store_options(&config) };
        require_current(&config, &options).await?;
        let vault = match (Vault::open_existing(&config.secrets, &config.data.dir)?, secrecy) {
            (Some(vault), _) => vault,
            (None, Secrecy::NoKeys) => Vault::unused(),
            (None, Secrecy::Keys) => return Err(error::no_key(&config)),
        };
        Self::with_store(config, vault, &options).await
    }

    /// Opens the database for the command that may be the first one: creates the data directory, the sealing key and
    /// the database if there is no database, unless `database.migrate` leaves that to a person. A database that is there
    /// is opened as it is; its first sealing key and its first tiers are made if it has none.
    ///
    /// # Errors
    ///
    /// As [`App::open_existing`].
    pub async fn open_or_create(config: Config) -> anyhow::Result<Self> {
        begin(&config)?;
        let options = store_options(&config);
        if config.database.migrate && standing(&options).await? == SchemaStanding::Missing {
            return Self::open(config).await;
        }
        let mut app = Self::open_existing(config, Secrecy::NoKeys).await?;
        let App { config, store, vault } = &mut app;
        add_built_in_tiers(store).await?;
        let is_missing = Vault::open_existing(&config.secrets, &config.data.dir)?.is_none();
        let is_first = store.sealing_keys().all().await?.is_empty()
            && sealing_keys::missing(store, None).await?.is_empty();
        if is_missing && is_first {
            prepare(config)?;
            *vault = Arc::new(open_vault(config)?);
        }
        Ok(app)
    }

    async fn with_store(config: Config, vault: Vault, options: &store::Options) -> anyhow::Result<Self> {
        let store =
            Box::pin(Store::open(options)).await.map_err(|error| error::unopened(error, &options.url))?;
        let app = Self { config, store, vault: Arc::new(vault) };
        app.follow_database_clock().await?;
        Ok(app)
    }

    /// Takes the database's time, which the nodes of a cluster have in common. A service that runs alone keeps the time
    /// of its machine.
    async fn follow_database_clock(&self) -> anyhow::Result<()> {
        if !self.config.cluster.is_joined() {
            return Ok(());
        }
        let mut estimate = Estimate::new(database::origin());
        for _ in 0..CLOCK_READINGS {
            if let Some(reading) = self.store.nodes().read_clock().await? {
                database::follow(estimate.take(&reading));
            }
        }
        Ok(())
    }
}

/// Opens the vault; makes a key if there is none.
fn open_vault(config: &Config) -> anyhow::Result<Vault> {
    let (vault, origin) = Vault::open(&config.secrets, &config.data.dir)?;
    match &origin {
        KeyOrigin::Configured | KeyOrigin::File { exposed: false, .. } => tracing::info!("{origin}"),
        KeyOrigin::File { exposed: true, .. } | KeyOrigin::Created { .. } => tracing::warn!("{origin}"),
    }
    Ok(vault)
}

async fn add_built_in_tiers(store: &Store) -> anyhow::Result<()> {
    if !store.tiers().all().await?.is_empty() {
        return Ok(());
    }
    let tiers = tier::parse(tier::BUILT_IN).map_err(|faults| error::all(&faults))?;
    let documents = tiers.iter().map(|tier| Ok((tier.name.clone(), serde_json::to_string(tier)?)));
    let documents = documents.collect::<anyhow::Result<Vec<_>>>()?;
    store.tiers().apply(&Who::Pombo, &documents).await?;
    tracing::info!(tiers = documents.len(), "added the built-in tiers to the new database");
    Ok(())
}

async fn standing(options: &store::Options) -> anyhow::Result<SchemaStanding> {
    schema::standing(options).await.map_err(|error| error::unopened(error, &options.url))
}

/// Refuses when there is no database, or one with another schema.
async fn require_current(config: &Config, options: &store::Options) -> anyhow::Result<()> {
    match standing(options).await? {
        SchemaStanding::Current => Ok(()),
        SchemaStanding::Missing => Err(error::no_database(config)),
        SchemaStanding::Behind(pending) => Err(error::behind(config, pending)),
    }
}

/// Opens only the schema of a database that is there, in any version.
///
/// # Errors
///
/// As [`App::open_existing`], except for the version.
pub async fn open_schema(config: &Config) -> anyhow::Result<Schema> {
    begin(config)?;
    let options = store_options(config);
    if schema::standing(&options).await.is_ok_and(|standing| standing == SchemaStanding::Missing) {
        return Err(error::no_database(config));
    }
    Schema::open(&options).await.map_err(|error| error::unopened(error, &options.url))
}

/// Applies every migration that is missing and names them, oldest first. A new database gets the built-in tiers.
///
/// # Errors
///
/// As [`App::open`].
pub async fn migrate_up(config: &Config) -> anyhow::Result<Vec<String>> {
    prepare(config)?;
    let options = store_options(config);
    let unopened = |error| error::unopened(error, &options.url);
    let schema = Schema::open(&options).await.map_err(unopened)?;
    let applied = schema.up().await;
    schema.close().await;
    let applied = applied?;
    let store = Store::open(&options).await.map_err(unopened)?;
    let added = add_built_in_tiers(&store).await;
    store.close().await;
    added.map(|()| applied)
}

/// Prepares the data directory and the log, which a service may use.
fn prepare(config: &Config) -> anyhow::Result<()> {
    prepare_directory(&config.data.dir)?;
    begin(config)
}

/// Prepares the log, and what a process has once. Creates nothing.
fn begin(config: &Config) -> anyhow::Result<()> {
    match logging::init(&config.log) {
        // A process that opens the app twice keeps its first log.
        Ok(()) | Err(logging::Error::Twice(_)) => {}
        Err(error) => return Err(error.into()),
    }
    warn_of_readers(&config.data.dir);
    // The provider's client and the database driver both use the process' TLS provider; the first one that is
    // set stays.
    let _ = rustls::crypto::ring::default_provider().install_default();
    Ok(())
}

/// Creates the data directory with access only for its owner. An existing directory keeps its permissions, so
/// other users may be able to read it.
fn prepare_directory(directory: &Path) -> anyhow::Result<()> {
    files::create_directory(directory).with_context(|| {
        format!(
            "cannot create the data directory {}; give another one with data.dir, or create it yourself",
            directory.display()
        )
    })
}

/// Warns when other users may look into the data directory or read the database in it.
fn warn_of_readers(directory: &Path) {
    let database = directory.join("pombo.db");
    for (what, path, mode) in [("data directory", directory, "700"), ("database", &database, "600")] {
        if files::is_exposed(path) {
            let path = path.display();
            tracing::warn!(
                "other users of this machine may read the {what} {path}: run `chmod {mode} {path}`"
            );
        }
    }
}

/// The options of the store under this configuration.
pub fn store_options(config: &Config) -> store::Options {
    store::Options {
        url: config.database_url(),
        connections: config.database.connections,
        acquire_timeout: config.database.acquire_timeout,
        statement_timeout: config.database.statement_timeout,
        synchronous_full: config.database.sqlite_synchronous == SqliteSynchronous::Full,
        migrate: config.database.migrate,
    }
}
