//! Configuration: three layers, typed, with every fault reported at once.
//!
//! `config/default.toml` is compiled in as the lowest layer and is the reference of all options. The file of
//! `--config` overrides it, and the environment overrides both. Only this crate reads the environment.
//! `main` loads it once; all other code gets the section that it needs.

mod check;
mod cluster;
mod fault;
mod graph;
mod inbox;
mod layers;
mod mail;
mod media;
mod nats;
mod provider_version;
mod secret;
mod sections;
mod sources;
#[cfg(test)]
mod tests;
mod units;
mod validate;
mod values;
mod webhooks;

use std::path::{Path, PathBuf};

use figment::Figment;
use figment::providers::{Format as _, Toml};
use figment::value::Value;
use serde::Deserialize;

pub use cluster::Cluster;
use domain::request;
pub use fault::{Fault, Faults, Source};
pub use graph::{Graph, WebInteractive};
pub use inbox::Inbox;
pub use mail::{Encryption, Mail};
pub use media::Media;
pub use nats::{Events, Nats};
pub use secret::secret_options;
pub use sections::{
    CloudApi, Data, Database, Docs, Engine, Imports, Limits, Log, LogFormat, Metrics, Network, Retention,
    Retry, Secrets, Server, SqliteSynchronous, Telemetry, WebSession,
};
pub use sources::{PACKAGED, Sources, VARIABLE, locate};
pub use values::Values;
pub use webhooks::Webhooks;

/// All options with their defaults and reasons, as TOML: the text of `config/default.toml`.
pub const REFERENCE: &str = include_str!("../../../config/default.toml");

/// The whole configuration, checked.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Files of this process.
    pub data: Data,
    /// The HTTP surface.
    pub server: Server,
    /// SQLite or PostgreSQL.
    pub database: Database,
    /// Several services on one database.
    pub cluster: Cluster,
    /// The key that seals tokens at rest.
    pub secrets: Secrets,
    /// The provider of business accounts.
    pub cloud_api: CloudApi,
    /// Channels that are linked devices.
    pub web_session: WebSession,
    /// Bounds inside the engine.
    pub engine: Engine,
    /// Trying a message again.
    pub retry: Retry,
    /// How long finished records are kept.
    pub retention: Retention,
    /// The limits of one request.
    pub limits: Limits,
    /// Files of contacts that are uploaded.
    pub imports: Imports,
    /// What people write to channels.
    pub inbox: Inbox,
    /// What requests say about each of their recipients.
    pub values: Values,
    /// Files behind links, and files that companies keep.
    pub media: Media,
    /// The door for programs that speak Meta's Graph API.
    pub graph: Graph,
    /// Outgoing connections.
    pub network: Network,
    /// The connection to NATS.
    pub nats: Nats,
    /// The stream of events.
    pub events: Events,
    /// Events for the receivers of companies.
    pub webhooks: Webhooks,
    /// E-mail to people.
    pub mail: Mail,
    /// The level and the format of the log.
    pub log: Log,
    /// Prometheus text.
    pub metrics: Metrics,
    /// Traces of sends.
    pub telemetry: Telemetry,
    /// The API's description.
    pub docs: Docs,
    /// The files that it was read from.
    #[serde(skip)]
    pub sources: Sources,
}

impl Config {
    /// The reference, then `file`, then this process's environment.
    ///
    /// # Errors
    ///
    /// Every fault of every layer.
    pub fn load(file: Option<&Path>) -> Result<Self, Faults> {
        Self::load_with(&[], file)
    }

    /// The reference, then `presets` (options and texts), then `file`, then this process's environment. A
    /// command with other defaults sets them as presets; a configured option has priority.
    ///
    /// # Errors
    ///
    /// Every fault of every layer.
    pub fn load_with(presets: &[(&str, &str)], file: Option<&Path>) -> Result<Self, Faults> {
        // Values that are not UTF-8 become visibly wrong and do not end the process.
        let variables = std::env::vars_os().filter_map(|(name, value)| {
            Some((name.into_string().ok()?, value.to_string_lossy().into_owned()))
        });
        Self::layered(presets, file, variables)
    }

    /// The reference, then `file`, then `environment` (names and values).
    ///
    /// # Errors
    ///
    /// Every fault of every layer.
    pub fn load_from(
        file: Option<&Path>,
        environment: impl Iterator<Item = (String, String)>,
    ) -> Result<Self, Faults> {
        Self::layered(&[], file, environment)
    }

    fn layered(
        presets: &[(&str, &str)],
        file: Option<&Path>,
        environment: impl Iterator<Item = (String, String)>,
    ) -> Result<Self, Faults> {
        let defaults = Figment::from(Toml::string(REFERENCE));
        let reference: Value = extract(&defaults)?;
        let mut faults = Vec::new();
        let mut sources_read = Sources { file: file.map(Path::to_owned), ..Sources::default() };
        let mut settings = Vec::new();
        for layer in file.into_iter().map(layers::file) {
            match layer {
                Ok(layer) => settings.extend(layer),
                Err(fault) => faults.push(fault),
            }
        }
        let beside = file.map_or(Ok(Vec::new()), |file| sources::variables(file, &mut sources_read));
        let mut beside = beside.unwrap_or_else(|fault| {
            faults.push(fault);
            Vec::new()
        });
        let mut variables: Vec<_> = environment.filter(|(name, _)| name.starts_with("POMBO_")).collect();
        beside.sort_unstable();
        variables.sort_unstable();
        for (variables, place) in [(&beside, sources_read.variables.as_deref()), (&variables, None)] {
            settings.extend(layers::environment(&reference, variables, place));
            let names = variables.iter().map(|(name, _)| name);
            faults.extend(names.filter_map(|name| check::misspelt(&reference, name, place)));
        }

        let mut merged = presets.iter().fold(defaults.clone(), |merged, preset| merged.merge(*preset));
        let mut sources = Vec::new();
        for setting in settings {
            match check::fault(&defaults, &reference, &setting) {
                Some(fault) => faults.push(fault),
                None => {
                    merged = merged.merge((&setting.option, &setting.value));
                    sources.push((setting.option, setting.source));
                }
            }
        }
        let config = Self { sources: sources_read, ..extract(&merged)? };
        faults.extend(validate::faults(&config).into_iter().map(|(option, problem, mend)| {
            let source = sources.iter().rfind(|(set, _)| set == option).map(|(_, source)| source.clone());
            let source = source.unwrap_or(Source::Default);
            Fault { option: Some(option.to_owned()), source, problem, mend }
        }));
        if faults.is_empty() { Ok(config) } else { Err(Faults(faults)) }
    }

    /// The database's address: as set, or the SQLite file in the data directory, which is created if it does
    /// not exist. The value may contain a password.
    pub fn database_url(&self) -> String {
        self.database.url.as_ref().map_or_else(
            || {
                let file = self.data.dir.join("pombo.db").display().to_string();
                // The driver decodes the path, and reads the part after a question mark as parameters.
                format!("sqlite://{}?mode=rwc", file.replace('%', "%25").replace('?', "%3F"))
            },
            |url| url.expose().to_owned(),
        )
    }

    /// The file with the sealing key: as set, or `secret.key` in the data directory.
    pub fn key_file(&self) -> PathBuf {
        self.secrets.key_file(&self.data.dir)
    }
}

impl Limits {
    /// How much one request to send may ask for.
    pub const fn of_requests(&self) -> request::Limits {
        let Self {
            text_chars,
            caption_chars,
            link_chars,
            phone_numbers,
            tags,
            page_size: _,
            search_chars: _,
        } = *self;
        request::Limits { text_chars, caption_chars, link_chars, phone_numbers, tags }
    }
}

impl Default for Config {
    /// The reference alone, without file and environment.
    #[expect(clippy::expect_used, reason = "the reference is compiled in, and a test loads it")]
    fn default() -> Self {
        Self::load_from(None, std::iter::empty()).expect("the compiled-in reference is sound")
    }
}

/// The number of threads that an option asks for: 0 means one per core.
pub fn per_core(option: usize) -> usize {
    match option {
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        count => count,
    }
}

/// A fault here is in the reference, or in two settings that are valid only separately.
fn extract<'de, T: Deserialize<'de>>(figment: &Figment) -> Result<T, Faults> {
    figment.extract().map_err(|error| {
        Faults(vec![Fault {
            option: Some(error.path.join(".")),
            source: Source::Default,
            // Its words would quote the value.
            problem: match secret_options().contains(&error.path.join(".")) {
                true => "the value is not valid".to_owned(),
                false => error.kind.to_string(),
            },
            mend: "compare with config/default.toml".to_owned(),
        }])
    })
}
