//! The load test: it loads a service as its clients do, and measures the result at the receiver.
//!
//! A load test starts a service and a simulator of its own, or uses a given service. It sends to tags, and
//! meanwhile sends single messages by a fixed schedule. At the end it compares the accepted messages with
//! those that arrived, once or repeatedly. The results are a [`Report`], which is also a [`page`]. The load
//! test uses the [`Program`] to fill a database, and otherwise only the API that every client can use. It sends
//! messages only to the receiver in [`Receiving`]. Only `pombo loadtest` calls this crate.

mod account;
mod answers;
mod balance;
mod board;
mod changes;
mod chart;
mod child;
mod client;
pub mod compare;
mod content;
mod events;
mod latency;
mod limit;
mod measure;
mod meter;
mod own;
mod pace;
pub mod page;
mod people;
mod program;
mod ramp;
pub mod raw;
mod receiver;
mod report;
mod sample;
mod schedule;
mod stop;
mod target;
mod traffic;
mod verdict;

use std::path::PathBuf;
use std::time::Duration;

pub use self::answers::AnswerProof;
pub use self::balance::Balance;
pub use self::board::{BulkSend, Phase};
pub use self::changes::{Changed, TierChange};
pub use self::content::Content;
pub use self::events::EventArrivals;
pub use self::latency::Summary;
pub use self::limit::Limit;
pub use self::program::Program;
pub use self::ramp::{Climb, Ramp, RampStep, STEPS};
pub use self::report::{Arrivals, Bulk, ChannelReport, Receipts, Report, Resources, Setting, Singles, Usage};
pub use self::sample::Sample;
pub use self::verdict::{Outcome, Verdict};
use serde_json::{Map, Value};

use config::Config;
use domain::rate::Rate;
use domain::secret::Secret;

use self::own::Own;
use self::stop::Stop;

/// The service under test, and the options of the test.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The configuration of a service of our own, except for its paths and addresses.
    pub config: Config,
    /// The file of this configuration.
    pub config_file: Option<PathBuf>,
    /// The command that started the test, for its report. It has no secrets.
    pub command: String,
    /// What is tested.
    pub target: Target,
    /// What is sent.
    pub content: Content,
    /// Values of each recipient, on a service of our own; 0 for none.
    pub values: u8,
    /// Bulk sends in all, to the tags in turns; one for each tag when `None`.
    pub bulk: Option<u32>,
    /// Single sends; none when `None`. Never unlimited.
    pub single_rate: Option<Rate>,
    /// Single sends at a rising rate, in place of `single_rate`.
    pub ramp: Option<Ramp>,
    /// Whether every request is kept for a CSV.
    pub keeps_requests: bool,
    /// How long to send.
    pub duration: Duration,
    /// How long to wait, after that, for the accepted messages to arrive.
    pub drain: Duration,
    /// Contacts of a service of our own in all, at least 1.
    pub contacts: u32,
    /// Tags of each of its companies, at least 1.
    pub tags: u32,
    /// Its companies, at least 1.
    pub companies: u32,
    /// Channels of each company, at least 1.
    pub channels: u32,
    /// The rates of its tiers, which the channels get in turns; at least one.
    pub rates: Vec<Rate>,
    /// Changes of the tiers while the test runs.
    pub changes: Vec<TierChange>,
    /// Its nodes; several need PostgreSQL.
    pub nodes: u32,
    /// The options of the simulator, as its command takes them.
    pub simulator: Vec<String>,
    /// The fields of the simulator's webhooks besides their receiver; `None` for no receipts.
    pub receipts: Option<Map<String, Value>>,
    /// The most events in a request to a receiver of webhooks, from 1 to 100; without a receiver, `None`.
    pub webhooks: Option<u8>,
    /// The rate at which people write to a service of our own, never unlimited; nobody does when `None`.
    pub answers: Option<Rate>,
    /// A PostgreSQL server, on which a database is created for the test and removed after it; SQLite when
    /// `None`.
    pub database_url: Option<Secret>,
    /// Where a temporary directory is created; the system's directory for temporary files when `None`.
    pub directory: Option<PathBuf>,
}

impl Plan {
    /// The rate of single sends; of a ramp, the lowest.
    fn singles_per_second(&self) -> f64 {
        let steady = self.single_rate.map_or(0.0, |rate| rate.per_second());
        self.ramp.map_or(steady, |ramp| ramp.per_second(0))
    }
}

/// What is tested.
#[derive(Debug, Clone)]
pub enum Target {
    /// A service and a simulator of our own.
    Own,
    /// A service that runs already.
    Other {
        /// The addresses of its nodes, at least one.
        urls: Vec<String>,
        /// A key of the company that sends.
        key: Secret,
        /// Names or ids of the channels; the company's only one when there are none.
        channels: Vec<String>,
        /// Names or ids of the tags; all of the company's when there are none.
        tags: Vec<String>,
        /// The receiver of the messages.
        receiving: Receiving,
    },
}

/// The receiver of the messages of a service that the load test did not start.
#[derive(Debug, Clone)]
pub enum Receiving {
    /// The simulator at this address. The test first checks that the service does send there.
    Simulator(String),
    /// People, after an explicit confirmation.
    RealPeople {
        /// The numbers for single sends, in turns; without any there are no single sends.
        singles_to: Vec<String>,
    },
}

/// The progress of a load test.
#[derive(Debug, Clone, Copy)]
pub enum Event<'a> {
    /// A stage begins.
    Stage(&'a str),
    /// Contacts are being added.
    Seeding {
        /// The number of contacts that exist.
        done: u64,
        /// The number of contacts to add.
        total: u64,
    },
    /// Messages are being sent, or waited for.
    Live(&'a Live),
    /// Events are waited for at the receiver of webhooks.
    Events {
        /// The number of events that have arrived.
        arrived: u64,
        /// The number of events that have to arrive.
        total: u64,
    },
    /// Something went wrong that the report does not say, and what to do.
    Warning(&'a str),
}

/// The newest figures.
#[derive(Debug, Clone, Default)]
pub struct Live {
    /// Since the test began.
    pub passed: Duration,
    /// How long it sends.
    pub duration: Duration,
    /// Whether it only waits for accepted messages.
    pub is_draining: bool,
    /// The newest sample.
    pub sample: Sample,
    /// Messages that arrived in the last second.
    pub per_second: Option<u64>,
    /// Requests that were refused or got no clear answer.
    pub errors: u64,
}

/// Runs a load test, and returns its report and the requests, if they are kept. Ctrl-C ends it early, with a report of the measurements so far; a second Ctrl-C ends it
/// at once. Needs a running actix system.
///
/// # Errors
///
/// A sentence for the tester when the test could not be run. A service that fails the test is no error.
pub async fn run(
    plan: &Plan,
    program: &impl Program,
    mut hear: impl FnMut(Event<'_>),
) -> anyhow::Result<(Report, Vec<raw::Request>)> {
    let stop = Stop::listen(program);
    // The tested service may be reached over TLS. A TLS provider that is set already stays.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut own = match plan.target {
        Target::Own => {
            hear(Event::Stage("starting a simulator and adding contacts"));
            Some(Box::pin(Own::start(plan, program, &stop, &mut hear)).await?)
        }
        Target::Other { .. } => None,
    };
    let measured = Box::pin(measure::measure(plan, own.as_mut(), &stop, &mut hear)).await;
    if let Some(own) = own {
        hear(Event::Stage("removing the processes and data of the test"));
        own.stop().await?;
    }
    measured
}
