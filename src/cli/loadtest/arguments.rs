//! The arguments of a load test, checked before anything starts.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context as _;
use clap::{Args, Subcommand};

use super::values::{
    Singles, address, answers, change, check_server, content, duration, is_loopback, key, percent, rate,
    secret, singles,
};
use crate::cli::argument;
use crate::cli::failure::Misused;
use crate::cli::secret_input;
use crate::cli::simulator::{Behaviour, Delays};
use crate::config::Config;
use crate::domain::rate::Rate;
use crate::domain::secret::Secret;
use loadtest::{Content, Plan, Ramp, Receiving, Target, TierChange};

const OWN: &str = "A service of its own";
const PROVIDER: &str = "The simulated provider of a service of its own";
const OTHER: &str = "Another service";
const RESULT: &str = "The result";
/// The most contacts of a tag, besides those who have it as their second, for a request that names them.
const MOST_WITH_VALUES: u32 = 90_000;

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(in crate::cli) struct Arguments {
    #[command(subcommand)]
    pub(in crate::cli) command: Option<Command>,
    /// How long to send, such as 30s
    #[arg(long, default_value = "10s", value_name = "SPAN", value_parser = duration)]
    duration: Duration,
    /// Single sends beside the bulk sends, such as 50/s, or none
    #[arg(long, default_value = "50/s", value_name = "RATE", value_parser = singles)]
    single_rate: Singles,
    /// Single sends at a rising rate, such as 100/s..5000/s, to find the highest that the service keeps up with; without
    /// bulk sends, unless --bulk asks for some
    #[arg(long, value_name = "FROM..TO", conflicts_with = "single_rate")]
    ramp: Option<Ramp>,
    /// Bulk sends, to the tags in turns; without it, one to each tag
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=100_000))]
    bulk: Option<u32>,
    /// What to send: text, image, template, or fields (a template with fields of each contact)
    #[arg(long, default_value = "text", value_name = "CONTENT", value_parser = content)]
    content: Content,
    /// A file with the body of a send without recipients, in place of --content
    #[arg(long, value_name = "FILE", conflicts_with = "content")]
    body: Option<PathBuf>,
    /// Values of each recipient, in the content. A request then names its recipients, so that it needs no look at contacts
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=10))]
    values: Option<u8>,
    /// How long to wait afterwards for accepted messages; messages that have not started by then are canceled
    #[arg(long, default_value = "60s", value_name = "SPAN", value_parser = argument::span)]
    drain: Duration,
    /// Add a receiver of webhooks on this machine, with up to N events in a request (1 to 100), and check that every event of
    /// the test reaches it. It takes part of the processor, so that other figures change
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=100))]
    webhooks: Option<u8>,
    /// Let people write to the channels at this rate, such as 200/s, and check that each message is in a conversation once
    #[arg(long, value_name = "RATE", value_parser = answers, conflicts_with = "no_receipts")]
    answers: Option<Rate>,

    /// The file for a report with charts, which needs no network to be read
    #[arg(long, help_heading = RESULT, value_name = "FILE")]
    pub(in crate::cli) report: Option<PathBuf>,
    /// The file for the figures over time, as CSV
    #[arg(long, help_heading = RESULT, value_name = "FILE")]
    pub(in crate::cli) csv: Option<PathBuf>,
    /// The file for every request with its latency and answer, as CSV
    #[arg(long, help_heading = RESULT, value_name = "FILE")]
    pub(in crate::cli) requests_csv: Option<PathBuf>,
    /// An earlier report, as --json prints it: the test fails when a figure is worse
    #[arg(long, help_heading = RESULT, value_name = "FILE")]
    pub(in crate::cli) compare: Option<PathBuf>,
    /// How much worse a figure may be
    #[arg(long, help_heading = RESULT, default_value = "10%", value_name = "SHARE", value_parser = percent, requires = "compare")]
    pub(in crate::cli) allow: f64,

    /// Contacts to add, in all
    #[arg(long, help_heading = OWN, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    contacts: Option<u32>,
    /// Tags to spread the contacts of a company over; some contacts get two
    #[arg(long, help_heading = OWN, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000))]
    tags: Option<u32>,
    /// Companies, which share the contacts
    #[arg(long, help_heading = OWN, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100))]
    companies: Option<u32>,
    /// Channels of each company
    #[arg(long, help_heading = OWN, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100))]
    channels: Option<u32>,
    /// The rate of the channel: unlimited, or such as 80/s. Several rates make several tiers, which the channels get in
    /// turns
    #[arg(long, help_heading = OWN, value_name = "RATE", value_parser = rate)]
    rate: Vec<Rate>,
    /// Change the rate of the tiers while the test runs, such as 20s:40/s; may be given several times
    #[arg(long, help_heading = OWN, value_name = "MOMENT:RATE", value_parser = change)]
    then: Vec<TierChange>,
    /// Nodes of the service, as a cluster on one PostgreSQL database
    #[arg(long, help_heading = OWN, value_name = "N", requires = "database_url", value_parser = clap::value_parser!(u32).range(1..=16))]
    nodes: Option<u32>,
    /// A PostgreSQL server, on which a database is created and removed again; without it, SQLite. Give its
    /// password in PGPASSWORD or ~/.pgpass rather than here
    #[arg(long, help_heading = OWN, value_name = "URL", value_parser = secret)]
    database_url: Option<Secret>,
    /// Where to create the test's temporary directory; without it, in the system's directory for temporary
    /// files, which may be in memory
    #[arg(long, help_heading = OWN, value_name = "DIR")]
    data: Option<PathBuf>,

    #[command(flatten, next_help_heading = PROVIDER)]
    provider: Behaviour,
    /// Send no receipts and no answers
    #[arg(long, help_heading = PROVIDER)]
    no_receipts: bool,
    #[command(flatten, next_help_heading = PROVIDER)]
    delays: Delays,

    /// The address of a running service; the test adds no data to it. Several are nodes of a cluster, which get the
    /// requests in turns
    #[arg(long, help_heading = OTHER, value_name = "URL", value_parser = address)]
    url: Vec<String>,
    /// An API key of the company that sends; better give it in a file
    #[arg(long, help_heading = OTHER, value_name = "KEY", conflicts_with = "key_file", value_parser = key)]
    key: Option<Secret>,
    /// The file with that key; - reads standard input
    #[arg(long, help_heading = OTHER, value_name = "FILE")]
    key_file: Option<PathBuf>,
    /// The channel's name or id; may be given several times; without it, the company's only connected channel
    #[arg(long, help_heading = OTHER, value_name = "CHANNEL")]
    channel: Vec<String>,
    /// The name or id of a tag to send to; may be given several times; without it, all tags of the company
    #[arg(long = "tag", help_heading = OTHER, value_name = "TAG")]
    only: Vec<String>,
    /// The address of the simulator that the service sends to. The test checks that first, with one message
    #[arg(long, help_heading = OTHER, value_name = "URL", value_parser = address)]
    simulator: Option<String>,
    /// The service or its simulator may be on another machine
    #[arg(long, help_heading = OTHER)]
    remote: bool,
    /// There is no simulator: everybody with the tags gets a message, again for each bulk send
    #[arg(long, help_heading = OTHER, conflicts_with = "simulator")]
    message_real_people: bool,
    /// With --message-real-people, a number for single sends; may be given several times
    #[arg(long, help_heading = OTHER, value_name = "NUMBER", requires = "message_real_people", value_parser = argument::phone_number)]
    single_to: Vec<String>,
}

/// What can be done with reports.
#[derive(Debug, Subcommand)]
pub(in crate::cli) enum Command {
    /// Compare two reports, as --json prints them; fails when a figure is worse
    Compare(Compare),
}

#[derive(Debug, Args)]
pub(in crate::cli) struct Compare {
    /// The earlier report
    pub(in crate::cli) before: PathBuf,
    /// The later report
    pub(in crate::cli) after: PathBuf,
    /// How much worse a figure may be
    #[arg(long, default_value = "10%", value_name = "SHARE", value_parser = percent)]
    pub(in crate::cli) allow: f64,
}

impl Arguments {
    /// The plan of the test that the arguments describe.
    ///
    /// # Errors
    ///
    /// A sentence about arguments that contradict each other, or a file that cannot be read.
    pub(in crate::cli) fn plan(
        self,
        config: Config,
        config_file: Option<PathBuf>,
        command: String,
    ) -> anyhow::Result<Plan> {
        self.database_url.as_ref().map_or(Ok(()), check_server)?;
        let target = if self.url.is_empty() { self.own()? } else { self.other()? };
        let bulk = self.bulk.or(self.ramp.map(|_| 0));
        let single_rate = self.single_rate.0.filter(|_| self.ramp.is_none());
        if single_rate.is_none() && self.ramp.is_none() && bulk == Some(0) {
            return Err(misused(
                "nothing would be sent: allow single sends with --single-rate, or bulk sends with --bulk",
            ));
        }
        if self.ramp.is_some_and(|ramp| ramp.per_second(loadtest::STEPS - 1) > super::values::FASTEST_SINGLES)
        {
            return Err(misused("a ramp goes to at most 20000/s: one thread sends all single messages"));
        }
        if let Some(change) = self.then.iter().find(|change| change.at >= self.duration) {
            let at = humantime::format_duration(change.at);
            return Err(misused(&format!(
                "the change after {at} would come after the end: give a longer --duration, or an earlier moment"
            )));
        }
        let contacts = self.contacts.unwrap_or(20_000);
        let (tags, companies) = (self.tags.unwrap_or(5), self.companies.unwrap_or(1));
        if self.values.is_some() && contacts / companies / tags > MOST_WITH_VALUES {
            return Err(misused(
                "a request takes 100000 recipients with values: give fewer --contacts or more --tags",
            ));
        }
        let receipts = (!self.no_receipts).then(|| self.delays.fields());
        Ok(Plan {
            config,
            config_file,
            command,
            target,
            content: match &self.body {
                Some(path) => read_body(path)?,
                None => self.content,
            },
            bulk,
            single_rate,
            ramp: self.ramp,
            keeps_requests: self.requests_csv.is_some(),
            duration: self.duration,
            drain: self.drain,
            values: self.values.unwrap_or(0),
            contacts,
            tags,
            companies,
            channels: self.channels.unwrap_or(1),
            rates: if self.rate.is_empty() { vec![Rate::UNLIMITED] } else { self.rate },
            changes: self.then,
            nodes: self.nodes.unwrap_or(1),
            simulator: self.provider.arguments(),
            receipts,
            webhooks: self.webhooks,
            answers: self.answers,
            database_url: self.database_url,
            directory: self.data,
        })
    }

    fn own(&self) -> anyhow::Result<Target> {
        let given = [
            ("--key", self.key.is_some()),
            ("--key-file", self.key_file.is_some()),
            ("--channel", !self.channel.is_empty()),
            ("--tag", !self.only.is_empty()),
            ("--simulator", self.simulator.is_some()),
            ("--remote", self.remote),
            ("--message-real-people", self.message_real_people),
        ];
        if let Some(option) = first(&given) {
            return Err(misused(&format!(
                "{option} is for a running service: give its address with --url. Without --url the test \
                 starts a service and a simulator of its own"
            )));
        }
        if self.no_receipts && self.provider.reports() {
            return Err(misused(
                "a webhook reports these failures, and --no-receipts leaves webhooks out: leave out that option, or \
                 write the failure as 1%:131026:now",
            ));
        }
        Ok(Target::Own)
    }

    fn other(&self) -> anyhow::Result<Target> {
        let given = [
            ("--contacts", self.contacts.is_some()),
            ("--tags", self.tags.is_some()),
            ("--companies", self.companies.is_some()),
            ("--channels", self.channels.is_some()),
            ("--rate", !self.rate.is_empty()),
            ("--then", !self.then.is_empty()),
            ("--nodes", self.nodes.is_some()),
            ("--database-url", self.database_url.is_some()),
            ("--data", self.data.is_some()),
            ("--no-receipts", self.no_receipts),
            ("--answers", self.answers.is_some()),
            ("--values", self.values.is_some()),
        ];
        if let Some(option) = first(&given) {
            return Err(misused(&format!(
                "{option} is for a service that the test starts: a running service keeps its contacts and its tiers. \
                 Import contacts with `pombo contacts import`, set a rate with `pombo tier apply`, or leave --url \
                 out"
            )));
        }
        let receipts = (!self.delays.fields().is_empty()).then_some("a delay or share of receipts");
        if let Some(option) = self.provider.given().or(receipts) {
            return Err(misused(&format!(
                "{option} is for a simulator that the test starts: give it to `pombo simulator`, or leave --url out"
            )));
        }
        let addresses = self.url.iter().chain(&self.simulator);
        if let Some(far) =
            addresses.into_iter().find(|address| !is_loopback(address)).filter(|_| !self.remote)
        {
            return Err(misused(&format!(
                "{far} is not this machine, and a load test loads what it is pointed at: add --remote if that is what \
                 you want"
            )));
        }
        if self.webhooks.is_some()
            && let Some(far) = self.url.iter().find(|address| !is_loopback(address))
        {
            return Err(misused(&format!(
                "--webhooks needs a service on this machine, because its receiver listens on 127.0.0.1, and {far} is none: \
                 leave it out"
            )));
        }
        let receiving = match (&self.simulator, self.message_real_people) {
            (Some(simulator), _) => Receiving::Simulator(simulator.clone()),
            (None, true) => Receiving::RealPeople { singles_to: self.single_to.clone() },
            (None, false) => {
                return Err(misused(
                    "no receiver of the messages is given: name the simulator that this service sends to with \
                     --simulator URL. If there is none, everybody with the tags would be messaged for real: only \
                     --message-real-people does that",
                ));
            }
        };
        let key = match (&self.key, &self.key_file) {
            (Some(key), _) => key.clone(),
            (None, Some(path)) => secret_input::read(path)?,
            (None, None) => {
                return Err(misused(
                    "--url needs a key of the company that sends: --key-file FILE, or --key KEY",
                ));
            }
        };
        Ok(Target::Other {
            urls: self.url.clone(),
            key,
            channels: self.channel.clone(),
            tags: self.only.clone(),
            receiving,
        })
    }
}

fn read_body(path: &std::path::Path) -> anyhow::Result<Content> {
    let body = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    Content::given(&body).map_err(|fault| misused(&format!("{}: {fault}", path.display())))
}

fn first(given: &[(&'static str, bool)]) -> Option<&'static str> {
    given.iter().find(|(_, is_given)| *is_given).map(|(option, _)| *option)
}

pub(super) fn misused(sentence: &str) -> anyhow::Error {
    Misused(sentence.to_owned()).into()
}

#[cfg(test)]
mod tests;
