//! The load test: an instrument that loads a service as its clients do and measures what becomes of it, at the
//! receiver.
//!
//! A load test brings up a service and a simulator of its own, or takes a service that somebody names, sends to tags and
//! meanwhile single messages by a fixed schedule, and closes the account at the end: what was promised, what
//! arrived, what came twice. Figures are a [`Report`], which is also a [`page`]. It uses the app to fill a database
//! and otherwise only what every client can use; it never messages anybody but through [`Receiving`], which says
//! who receives. Called by `pombo loadtest` alone.

mod account;
mod balance;
mod board;
mod chart;
mod child;
mod client;
mod latency;
mod limit;
mod measure;
mod meter;
mod own;
pub mod page;
mod people;
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

pub use self::balance::Balance;
pub use self::board::{BulkSend, Phase};
pub use self::latency::Summary;
pub use self::limit::Limit;
pub use self::report::{Arrivals, Bulk, Report, Resources, Setting, Singles, Usage};
pub use self::sample::Sample;
pub use self::verdict::{Outcome, Verdict};
use crate::config::Config;
use crate::domain::rate::Rate;
use crate::domain::secret::Secret;

use self::own::Own;
use self::stop::Stop;

/// The service under test, and the options of the test.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The configuration that a service of our own runs under, but for where it keeps things.
    pub config: Config,
    /// The file that it came from.
    pub config_file: Option<PathBuf>,
    /// What is tested.
    pub target: Target,
    /// Bulk sends in all, to the tags in turns; one for each tag when `None`.
    pub bulk: Option<u32>,
    /// Single sends; none when `None`. Never unlimited.
    pub single_rate: Option<Rate>,
    /// How long to send.
    pub duration: Duration,
    /// How long to wait, after that, for what was accepted to arrive.
    pub drain: Duration,
    /// Contacts of a service of our own, at least 1.
    pub contacts: u32,
    /// Tags of a service of our own, at least 1.
    pub tags: u32,
    /// The rate of its channel.
    pub rate: Rate,
    /// How long the simulator takes to answer.
    pub provider_latency: Duration,
    /// A PostgreSQL server, on which a database is made for the test and removed after it; SQLite when `None`.
    pub database_url: Option<Secret>,
    /// Where a temporary directory is made; the system's place when `None`.
    pub directory: Option<PathBuf>,
}

/// What is tested.
#[derive(Debug, Clone)]
pub enum Target {
    /// A service and a simulator of our own.
    Own,
    /// A service that runs already.
    Other {
        /// Its address.
        url: String,
        /// A key of the company that sends.
        key: Secret,
        /// The channel's name or id; the company's only one when `None`.
        channel: Option<String>,
        /// Names or ids of the tags; all of the company's when there are none.
        tags: Vec<String>,
        /// The receiver of the messages.
        receiving: Receiving,
    },
}

/// The receiver of the messages of a service that the load test did not start.
#[derive(Debug, Clone)]
pub enum Receiving {
    /// The simulator at this address. That the service really sends there is made sure of before anything else.
    Simulator(String),
    /// People. Somebody said so in so many words.
    RealPeople {
        /// The numbers that single sends go to, in turns; without any there are no single sends.
        singles_to: Vec<String>,
    },
}

/// What a load test says while it goes on.
#[derive(Debug, Clone, Copy)]
pub enum Event<'a> {
    /// Something begins.
    Stage(&'a str),
    /// Contacts are being added.
    Seeding {
        /// So many are there.
        done: u64,
        /// So many are wanted.
        total: u64,
    },
    /// Messages are being sent, or waited for.
    Live(&'a Live),
}

/// The newest figures.
#[derive(Debug, Clone, Default)]
pub struct Live {
    /// Since the test began.
    pub passed: Duration,
    /// How long it sends.
    pub duration: Duration,
    /// Whether it only waits for what was accepted.
    pub is_draining: bool,
    /// The newest sample.
    pub sample: Sample,
    /// Messages that arrived in the last second.
    pub per_second: Option<u64>,
    /// Requests that were refused or got no clear answer.
    pub errors: u64,
}

/// Carries a load test out. Ctrl-C ends it early, with the report of what was measured so far; a second one at
/// once. Needs a running actix system.
///
/// # Errors
///
/// A sentence for the tester when it could not be carried out: not when the service failed the test.
pub async fn run(plan: &Plan, mut hear: impl FnMut(Event<'_>)) -> anyhow::Result<Report> {
    let stop = Stop::listen();
    // The tested service may be reached over TLS; the provider that is there already stays.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut own = match plan.target {
        Target::Own => {
            hear(Event::Stage("starting a simulator and adding contacts"));
            Some(Box::pin(Own::start(plan, &stop, &mut hear)).await?)
        }
        Target::Other { .. } => None,
    };
    let measured = Box::pin(measure::measure(plan, own.as_mut(), &stop, &mut hear)).await;
    if let Some(own) = own {
        hear(Event::Stage("removing what was made for the test"));
        own.stop().await?;
    }
    measured
}
