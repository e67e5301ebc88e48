//! Constructs the parts of the program and connects them. No other module does.
//!
//! [`App::open`] opens what every command needs, in this order: data directory, log, vault, store. [`serve`]
//! adds the engine and the HTTP surface; [`demo`] adds a simulator. Only the command line calls this module. It
//! writes nothing to standard output except the address of the service.

pub mod backup;
#[cfg(feature = "tools")]
pub mod demo;
pub mod doctor;
mod error;
pub mod key_proof;
mod measures;
mod open_files;
pub mod provider;
pub mod sealing_keys;
pub mod serve;
pub mod shutdown;
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
use crate::store::schema::Schema;
use crate::store::{self, Store};
use crate::vault::{KeyOrigin, Vault};

/// How often the database's clock is read before the service starts: the quickest answer counts most.
const CLOCK_READINGS: usize = 3;

/// The parts that every command needs.
#[derive(Debug)]
pub struct App {
    /// The configuration in force.
    pub config: Config,
    /// The database, with the schema of this program.
    pub store: Store,
    /// Seals and opens secrets.
    pub vault: Arc<Vault>,
}

impl App {
    /// Creates the data directory, starts the log, opens the vault and the store, and adds the tiers to a new
    /// database.
    ///
    /// # Errors
    ///
    /// A sentence for the operator; it contains the database's address without its password.
    pub async fn open(config: Config) -> anyhow::Result<Self> {
        prepare(&config)?;
        let (vault, origin) = Vault::open(&config.secrets, &config.data.dir)?;
        match &origin {
            KeyOrigin::Configured | KeyOrigin::File { exposed: false, .. } => tracing::info!("{origin}"),
            KeyOrigin::File { exposed: true, .. } | KeyOrigin::Created { .. } => tracing::warn!("{origin}"),
        }
        let options = store_options(&config);
        let store = Store::open(&options).await.map_err(|error| error::unopened(error, &options.url))?;
        let store = if config.events.enabled { store.writing_events() } else { store };
        let app = Self { config, store, vault: Arc::new(vault) };
        app.follow_database_clock().await?;
        app.add_built_in_tiers().await?;
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

    async fn add_built_in_tiers(&self) -> anyhow::Result<()> {
        if !self.store.tiers().all().await?.is_empty() {
            return Ok(());
        }
        let tiers = tier::parse(tier::BUILT_IN).map_err(|faults| error::all(&faults))?;
        let documents = tiers.iter().map(|tier| Ok((tier.name.clone(), serde_json::to_string(tier)?)));
        let documents = documents.collect::<anyhow::Result<Vec<_>>>()?;
        self.store.tiers().apply(&Who::Pombo, &documents).await?;
        tracing::info!(tiers = documents.len(), "added the built-in tiers to the new database");
        Ok(())
    }
}

/// Opens only the schema, in any version, for the commands that migrate it.
pub async fn open_schema(config: &Config) -> anyhow::Result<Schema> {
    prepare(config)?;
    let options = store_options(config);
    Schema::open(&options).await.map_err(|error| error::unopened(error, &options.url))
}

/// Prepares the data directory and the log, which everything else may use.
fn prepare(config: &Config) -> anyhow::Result<()> {
    prepare_directory(&config.data.dir)?;
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
