//! The sections of the configuration, field by field. `config/default.toml` explains each option and its
//! default.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use ipnet::IpNet;
use serde::Deserialize;
use url::Url;

use super::units;
use domain::secret::{SealingKey, Secret};
use domain::time_span;

/// `[data]`: files of this process.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Data {
    /// The directory of the database file and the key file.
    pub dir: PathBuf,
}

/// `[server]`: the HTTP surface.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Server {
    /// Where to listen.
    #[serde(deserialize_with = "units::socket_address")]
    pub bind: SocketAddr,
    /// The address for operators; with it, the other address does not serve their routes.
    #[serde(deserialize_with = "units::optional_socket_address")]
    pub operator_bind: Option<SocketAddr>,
    /// The address of the service for browsers and programs outside.
    #[serde(deserialize_with = "units::optional_base_url")]
    pub public_url: Option<Url>,
    /// Networks of proxies in front, whose headers about the client are trusted.
    #[serde(deserialize_with = "units::networks")]
    pub trusted_proxies: Vec<IpNet>,
    /// HTTP threads; 0 means one per core ([`super::per_core`]).
    pub workers: usize,
    /// The maximum of connections of clients.
    pub connections: usize,
    /// The largest request body, in bytes.
    #[serde(deserialize_with = "units::bytes")]
    pub body_limit: usize,
    /// The largest webhook, in bytes.
    #[serde(deserialize_with = "units::bytes")]
    pub hook_body_limit: usize,
    /// The memory for all request bodies together, in bytes.
    #[serde(deserialize_with = "units::bytes")]
    pub body_memory: usize,
    /// How long a whole body may take to arrive.
    #[serde(with = "time_span")]
    pub body_timeout: Duration,
    /// The lowest rate at which a client has to send a body or read an answer, in bytes per second.
    #[serde(deserialize_with = "units::bytes")]
    pub client_rate: usize,
    /// How long a client may take before it begins to read an answer.
    #[serde(with = "time_span")]
    pub write_timeout: Duration,
    /// How long a stop waits for requests and messages in progress.
    #[serde(with = "time_span")]
    pub shutdown_grace: Duration,
    /// How long an idle connection is kept.
    #[serde(with = "time_span")]
    pub keep_alive: Duration,
    /// How long a request's head may take to arrive; zero means no limit.
    #[serde(with = "time_span")]
    pub client_timeout: Duration,
}

/// `[database]`: SQLite or PostgreSQL.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Database {
    /// The address as written; [`super::Config::database_url`] returns the effective address.
    #[serde(deserialize_with = "units::optional_secret")]
    pub url: Option<Secret>,
    /// The most connections; at least [`Database::FEWEST_ON_POSTGRES`] on PostgreSQL.
    pub connections: u32,
    /// How long to wait for a free connection.
    #[serde(with = "time_span")]
    pub acquire_timeout: Duration,
    /// The timeout of a commit of the ledger.
    #[serde(with = "time_span")]
    pub commit_timeout: Duration,
    /// The timeout of one statement of a request or of the engine on PostgreSQL; zero means none.
    #[serde(with = "time_span")]
    pub statement_timeout: Duration,
    /// When a commit of SQLite counts as durable.
    pub sqlite_synchronous: SqliteSynchronous,
    /// Whether every start migrates the schema.
    pub migrate: bool,
}

impl Database {
    /// One for the lock on dispatching, two for the ledger, and one each for reads of requests, for
    /// accepting, and for dispatching.
    pub const FEWEST_ON_POSTGRES: u32 = 6;
}

/// `database.sqlite_synchronous`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SqliteSynchronous {
    /// A commit survives a power cut.
    Full,
    /// A commit survives a crash of the process.
    Normal,
}

impl SqliteSynchronous {
    /// The word that the pragma takes.
    pub const fn pragma(self) -> &'static str {
        match self {
            Self::Full => "FULL",
            Self::Normal => "NORMAL",
        }
    }
}

/// `[secrets]`: the keys that seal secrets at rest.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Secrets {
    /// The key itself; it has priority over the file.
    #[serde(deserialize_with = "units::optional_key")]
    pub key: Option<SealingKey>,
    /// Keys that only open values that were sealed with them.
    #[serde(deserialize_with = "units::keys")]
    pub previous_keys: Vec<SealingKey>,
    /// The file with the keys; `None` means `secret.key` in the data directory.
    #[serde(deserialize_with = "units::optional_path")]
    pub key_file: Option<PathBuf>,
}

impl Secrets {
    /// The file with the key: as set, or `secret.key` in `data_dir`.
    pub fn key_file(&self, data_dir: &Path) -> PathBuf {
        self.key_file.clone().unwrap_or_else(|| data_dir.join("secret.key"))
    }
}

/// `[cloud_api]`: the provider of business accounts.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CloudApi {
    /// Absolute, without a slash at its end.
    #[serde(deserialize_with = "units::base_url")]
    pub base_url: String,
    /// The first segment of every path, "v26.0".
    pub version: String,
    /// The timeout of connecting.
    #[serde(with = "time_span")]
    pub connect_timeout: Duration,
    /// The timeout of one request, from its start to the end of the answer.
    #[serde(with = "time_span")]
    pub request_timeout: Duration,
    /// The interval between two probes of a connected number.
    #[serde(with = "time_span")]
    pub probe_interval: Duration,
    /// The interval between two fetches of templates; zero means never.
    #[serde(with = "time_span")]
    pub template_sync_interval: Duration,
    /// Connections kept open between requests.
    pub idle_connections: usize,
    /// How long an unused connection is kept.
    #[serde(with = "time_span")]
    pub idle_timeout: Duration,
}

/// `[engine]`: the bounds inside the engine.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Engine {
    /// Threads for channel actors; 0 means one per core ([`super::per_core`]).
    pub arbiters: usize,
    /// Requests to the provider at once, per channel.
    pub concurrency: usize,
    /// Messages per channel between start and durable outcome: the most that a crash can repeat.
    pub in_flight: usize,
    /// The same for all channels together.
    pub total_in_flight: usize,
    /// Recipients in one stored block.
    pub block_size: usize,
    /// The maximum of messages per channel that wait for a retry before no new ones start; for single and
    /// bulk sends each.
    pub deferred: usize,
    /// Bulk sends per channel that take turns.
    pub active_bulk_sends: usize,
    /// Single-recipient sends per channel kept in memory.
    pub direct_lane: usize,
    /// The interval between two checks for changes by other processes.
    #[serde(with = "time_span")]
    pub watch_interval: Duration,
    /// Actors that expand audiences.
    pub resolvers: usize,
    /// Sends in the process that are accepted but not yet durable.
    pub accept_queue: usize,
}

/// `[retry]`: retries of messages.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Retry {
    /// Attempts for one message, the first included.
    pub attempts: u32,
    /// The wait after the first attempt.
    #[serde(with = "time_span")]
    pub first: Duration,
    /// The factor by which each wait is longer than the one before; at least 1.
    pub multiplier: f64,
    /// The longest wait.
    #[serde(with = "time_span")]
    pub cap: Duration,
    /// How long an unknown outcome waits for a receipt.
    #[serde(with = "time_span")]
    pub unknown_grace: Duration,
}

/// `[retention]`: how long finished records are kept; `None` means without end.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Retention {
    /// Finished sends, with their messages.
    #[serde(deserialize_with = "units::age")]
    pub sends: Option<Duration>,
    /// Updates of the provider, such as messages from people.
    #[serde(deserialize_with = "units::age")]
    pub events: Option<Duration>,
    /// The record of changes.
    #[serde(deserialize_with = "units::age")]
    pub changes: Option<Duration>,
    /// Failed attempts to sign in, which are in that record too.
    #[serde(deserialize_with = "units::age")]
    pub failed_sign_ins: Option<Duration>,
    /// Finished imports of contacts.
    #[serde(deserialize_with = "units::age")]
    pub imports: Option<Duration>,
    /// The interval between two checks for records to delete.
    #[serde(with = "time_span")]
    pub interval: Duration,
}

/// `[web_session]`: channels that are linked devices.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WebSession {
    /// Sessions that begin to connect per second, over all channels.
    pub starts_per_second: u32,
    /// Sessions that connect at the same time.
    pub dials_at_once: usize,
    /// Threads for all sessions together.
    pub threads: usize,
    /// The name of the device on phones.
    pub device_name: String,
    /// How long a caller may wait for a message to be handed over.
    #[serde(with = "time_span")]
    pub patience: Duration,
}

/// `[limits]`: the limits of one request.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// Characters of a text.
    pub text_chars: usize,
    /// Characters of a caption.
    pub caption_chars: usize,
    /// Characters of a link.
    pub link_chars: usize,
    /// Entries of `phone_number`.
    pub phone_numbers: usize,
    /// Entries of `contact_tag_id`.
    pub tags: usize,
    /// The largest `limit`.
    pub page_size: u64,
    /// Characters of `search`.
    pub search_chars: usize,
}

/// `[imports]`: files of contacts that are uploaded.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Imports {
    /// The largest file, in bytes.
    #[serde(deserialize_with = "units::bytes")]
    pub max_bytes: usize,
}

/// `[media]`: fetching the files behind links, for web sessions.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Media {
    /// Networks that are not public, but to which links may lead.
    #[serde(deserialize_with = "units::networks")]
    pub allow: Vec<IpNet>,
    /// Networks to which links may not lead, even if they are public or allowed.
    #[serde(deserialize_with = "units::networks")]
    pub refuse: Vec<IpNet>,
    /// The timeout of connecting, including the resolution of the name.
    #[serde(with = "time_span")]
    pub connect_timeout: Duration,
    /// The longest time without any data.
    #[serde(with = "time_span")]
    pub stall_timeout: Duration,
    /// The timeout from the link to the last byte of the file, including redirects.
    #[serde(with = "time_span")]
    pub timeout: Duration,
    /// The largest image, in bytes.
    #[serde(deserialize_with = "units::bytes")]
    pub image_limit: usize,
    /// The largest video, in bytes.
    #[serde(deserialize_with = "units::bytes")]
    pub video_limit: usize,
    /// The largest audio, in bytes.
    #[serde(deserialize_with = "units::bytes")]
    pub audio_limit: usize,
    /// The largest document, in bytes.
    #[serde(deserialize_with = "units::bytes")]
    pub document_limit: usize,
    /// Links that are fetched at once.
    pub concurrency: usize,
    /// All files that are being fetched or wait to be sent, in bytes.
    #[serde(deserialize_with = "units::bytes")]
    pub memory: usize,
}

/// `[network]`: outgoing connections.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Network {
    /// The proxy between this process and the provider of business accounts; `None` means none.
    #[serde(deserialize_with = "units::optional_proxy")]
    pub proxy: Option<Secret>,
}

/// `[log]`: the level and the format of the log.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Log {
    /// Env-filter syntax: "info", "info,pombo::engine=debug".
    pub level: String,
    /// For people or for collectors.
    pub format: LogFormat,
}

/// `log.format`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LogFormat {
    /// One line for a person.
    Text,
    /// One JSON object for a collector.
    Json,
    /// Text on a terminal, JSON elsewhere.
    Auto,
}

/// `[metrics]`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Metrics {
    /// Whether `/metrics` is served.
    pub enabled: bool,
    /// The most channels, and the most tiers, with series of their own.
    pub detail: usize,
}

/// `[telemetry]`: traces of sends.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Telemetry {
    /// The collector, without the path of traces; `None` means that there are no traces.
    #[serde(deserialize_with = "units::optional_endpoint")]
    pub otlp_endpoint: Option<Url>,
    /// Headers of each request to the collector.
    #[serde(deserialize_with = "units::headers")]
    pub otlp_headers: Vec<(String, Secret)>,
    /// The name of the service at the collector.
    pub service_name: String,
    /// The fraction of sends that are traced, from 0 to 1.
    pub sample_sends: f64,
    /// The first messages of each send whose attempts and receipts are traced, besides some later ones.
    pub sample_attempts_per_send: u64,
    /// The timeout of one export, including retries.
    #[serde(with = "time_span")]
    pub timeout: Duration,
}

/// `[docs]`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Docs {
    /// Whether `/openapi.json` and `/docs` are served.
    pub enabled: bool,
}
