//! The arguments of a load test, checked before anything starts.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use crate::cli::argument;
use crate::cli::failure::Misused;
use crate::cli::secret_input;
use crate::config::Config;
use crate::domain::rate::Rate;
use crate::domain::secret::Secret;
use loadtest::{Plan, Receiving, Target};

/// The longest test.
const LONGEST: Duration = Duration::from_secs(24 * 3_600);
/// The shortest.
const SHORTEST: Duration = Duration::from_secs(1);
/// The highest rate of single sends that a generator on one thread keeps up with.
const FASTEST_SINGLES: f64 = 20_000.0;

const OWN: &str = "A service of its own";
const OTHER: &str = "Another service";

#[derive(Debug, Args)]
pub(in crate::cli) struct Arguments {
    /// How long to send, such as 30s
    #[arg(long, default_value = "10s", value_name = "SPAN", value_parser = duration)]
    duration: Duration,
    /// Single sends beside the bulk sends, such as 50/s, or none
    #[arg(long, default_value = "50/s", value_name = "RATE", value_parser = singles)]
    single_rate: Singles,
    /// Bulk sends, to the tags in turns; without it, one to each tag
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=100_000))]
    bulk: Option<u32>,
    /// How long to wait afterwards for accepted messages; messages that have not started by then are canceled
    #[arg(long, default_value = "60s", value_name = "SPAN", value_parser = argument::span)]
    drain: Duration,
    /// The file for a report with charts, which needs no network to be read
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) report: Option<PathBuf>,

    /// Contacts to add
    #[arg(long, help_heading = OWN, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    contacts: Option<u32>,
    /// Tags to spread the contacts over; some contacts get two
    #[arg(long, help_heading = OWN, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000))]
    tags: Option<u32>,
    /// The rate of the channel: unlimited, or such as 80/s
    #[arg(long, help_heading = OWN, value_name = "RATE", value_parser = rate)]
    rate: Option<Rate>,
    /// How long the simulated provider takes to answer, such as 40ms
    #[arg(long, help_heading = OWN, value_name = "SPAN", value_parser = argument::span)]
    latency: Option<Duration>,
    /// A PostgreSQL server, on which a database is created and removed again; without it, SQLite. Give its
    /// password in PGPASSWORD or ~/.pgpass rather than here
    #[arg(long, help_heading = OWN, value_name = "URL", value_parser = secret)]
    database_url: Option<Secret>,
    /// Where to create the test's temporary directory; without it, in the system's directory for temporary
    /// files, which may be in memory
    #[arg(long, help_heading = OWN, value_name = "DIR")]
    data: Option<PathBuf>,

    /// The address of a running service; the test adds no data to it
    #[arg(long, help_heading = OTHER, value_name = "URL", value_parser = address)]
    url: Option<String>,
    /// An API key of the company that sends; better give it in a file
    #[arg(long, help_heading = OTHER, value_name = "KEY", conflicts_with = "key_file", value_parser = key)]
    key: Option<Secret>,
    /// The file with that key; - reads standard input
    #[arg(long, help_heading = OTHER, value_name = "FILE")]
    key_file: Option<PathBuf>,
    /// The channel's name or id; without it, the company's only connected channel
    #[arg(long, help_heading = OTHER, value_name = "CHANNEL")]
    channel: Option<String>,
    /// The name or id of a tag to send to; may be given several times; without it, all tags of the company
    #[arg(long = "tag", help_heading = OTHER, value_name = "TAG")]
    only: Vec<String>,
    /// The address of the simulator that the service sends to. The test checks that first, with one message
    #[arg(long, help_heading = OTHER, value_name = "URL", value_parser = address)]
    simulator: Option<String>,
    /// There is no simulator: everybody with the tags gets a message, again for each bulk send
    #[arg(long, help_heading = OTHER, conflicts_with = "simulator")]
    message_real_people: bool,
    /// With --message-real-people, a number for single sends; may be given several times
    #[arg(long, help_heading = OTHER, value_name = "NUMBER", requires = "message_real_people", value_parser = argument::phone_number)]
    single_to: Vec<String>,
}

/// The rate of single sends, if there are any.
#[derive(Debug, Clone, Copy)]
struct Singles(Option<Rate>);

impl Arguments {
    /// The plan of the test that the arguments describe.
    ///
    /// # Errors
    ///
    /// A sentence about arguments that contradict each other, or a key that cannot be read.
    pub(in crate::cli) fn plan(self, config: Config, config_file: Option<PathBuf>) -> anyhow::Result<Plan> {
        self.database_url.as_ref().map_or(Ok(()), check_server)?;
        let target = match &self.url {
            None => self.own()?,
            Some(url) => self.other(url.clone())?,
        };
        if self.single_rate.0.is_none() && self.bulk == Some(0) {
            return Err(misused(
                "nothing would be sent: allow single sends with --single-rate, or bulk sends with --bulk",
            ));
        }
        Ok(Plan {
            config,
            config_file,
            target,
            bulk: self.bulk,
            single_rate: self.single_rate.0,
            duration: self.duration,
            drain: self.drain,
            contacts: self.contacts.unwrap_or(20_000),
            tags: self.tags.unwrap_or(5),
            rate: self.rate.unwrap_or(Rate::UNLIMITED),
            provider_latency: self.latency.unwrap_or_default(),
            database_url: self.database_url,
            directory: self.data,
        })
    }

    fn own(&self) -> anyhow::Result<Target> {
        let given = [
            ("--key", self.key.is_some()),
            ("--key-file", self.key_file.is_some()),
            ("--channel", self.channel.is_some()),
            ("--tag", !self.only.is_empty()),
            ("--simulator", self.simulator.is_some()),
            ("--message-real-people", self.message_real_people),
        ];
        match first(&given) {
            Some(option) => Err(misused(&format!(
                "{option} is for a running service: give its address with --url. Without --url the test \
                 starts a service and a simulator of its own"
            ))),
            None => Ok(Target::Own),
        }
    }

    fn other(&self, url: String) -> anyhow::Result<Target> {
        let given = [
            ("--contacts", self.contacts.is_some()),
            ("--tags", self.tags.is_some()),
            ("--rate", self.rate.is_some()),
            ("--latency", self.latency.is_some()),
            ("--database-url", self.database_url.is_some()),
            ("--data", self.data.is_some()),
        ];
        if let Some(option) = first(&given) {
            return Err(misused(&format!(
                "{option} is for a service that the test starts: a running service keeps its contacts and its tiers. \
                 Import contacts with `pombo contacts import`, set a rate with `pombo tier apply`, or leave --url \
                 out"
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
        Ok(Target::Other { url, key, channel: self.channel.clone(), tags: self.only.clone(), receiving })
    }
}

fn first(given: &[(&'static str, bool)]) -> Option<&'static str> {
    given.iter().find(|(_, is_given)| *is_given).map(|(option, _)| *option)
}

fn misused(sentence: &str) -> anyhow::Error {
    Misused(sentence.to_owned()).into()
}

fn duration(text: &str) -> Result<Duration, String> {
    let span = argument::span(text)?;
    if (SHORTEST..=LONGEST).contains(&span) { Ok(span) } else { Err("a test lasts 1s to 24h".to_owned()) }
}

fn rate(text: &str) -> Result<Rate, String> {
    text.parse().map_err(|reason| format!("it {reason}"))
}

fn singles(text: &str) -> Result<Singles, String> {
    if text.trim() == "none" {
        return Ok(Singles(None));
    }
    let rate = rate(text)?;
    if rate.per_second() <= FASTEST_SINGLES {
        return Ok(Singles(Some(rate)));
    }
    Err(format!("the rate of single sends is at most {FASTEST_SINGLES}/s, or none"))
}

fn address(text: &str) -> Result<String, String> {
    let url =
        url::Url::parse(text).ok().filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
    match url {
        Some(_) => Ok(text.trim_end_matches('/').to_owned()),
        None => Err("it must be an address such as http://127.0.0.1:8080".to_owned()),
    }
}

/// Checked later: an error of the parser of arguments would quote the text.
#[expect(clippy::unnecessary_wraps, reason = "the shape that a parser of arguments has")]
fn secret(text: &str) -> Result<Secret, String> {
    Ok(Secret::new(text.to_owned()))
}

/// Refuses the address of anything but a PostgreSQL server, without repeating it.
fn check_server(server: &Secret) -> anyhow::Result<()> {
    let url = crate::domain::address::parse(server.expose());
    match url.filter(|url| matches!(url.scheme(), "postgres" | "postgresql") && url.has_host()) {
        Some(_) => Ok(()),
        None => Err(misused(
            "--database-url must be an address such as postgres://user@host; without it, SQLite is used",
        )),
    }
}

fn key(text: &str) -> Result<Secret, String> {
    if text.trim().is_empty() {
        Err("it is empty".to_owned())
    } else {
        Ok(Secret::new(text.trim().to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        arguments: Arguments,
    }

    fn plan(line: &str) -> Result<Plan, String> {
        let line = Line::try_parse_from(format!("loadtest {line}").split_whitespace());
        let line = line.map_err(|error| error.to_string())?;
        line.arguments.plan(Config::default(), None).map_err(|error| error.to_string())
    }

    #[test]
    fn only_the_intended_recipients_are_messaged() {
        let aimed = plan("--url http://host --key k --simulator http://sim").unwrap();
        assert!(matches!(aimed.target, Target::Other { receiving: Receiving::Simulator(_), .. }));
        let real = plan("--url http://host --key k --message-real-people").unwrap();
        let Target::Other { receiving: Receiving::RealPeople { singles_to }, .. } = real.target else {
            panic!()
        };
        assert_eq!(singles_to, Vec::<String>::new(), "no number is made up");
        for (line, words) in [
            ("--url http://host --key k", "--message-real-people"),
            ("--url http://host --key k --single-to +5511988887777", "--message-real-people"),
            ("--url http://host --key k --message-real-people --simulator http://sim", "cannot be used with"),
            ("--message-real-people", "--url"),
        ] {
            let error = plan(line).unwrap_err();
            assert!(error.contains(words), "{line}: {error}");
        }
    }

    #[test]
    fn contradicting_arguments_are_refused_with_a_remedy() {
        for (line, words) in [
            ("--url http://host --simulator http://sim", "--key-file"),
            ("--url host:80 --key k --simulator http://sim", "http://127.0.0.1:8080"),
            ("--url http://host --key k --simulator http://sim --contacts 5", "pombo contacts import"),
            ("--key k", "--url"),
            ("--single-rate unlimited", "at most"),
            ("--single-rate none --bulk 0", "--bulk"),
            ("--rate fast", "80/s"),
            ("--duration 10", "\"7d\""),
            ("--duration 10ms", "1s to 24h"),
            ("--contacts 0", "1..=10000000"),
            ("--database-url sqlite://hunter2", "postgres://user@host"),
            ("--database-url postgres://a:hunt/er2@b", "postgres://user@host"),
        ] {
            let error = plan(line).unwrap_err();
            assert!(error.contains(words) && !error.contains("hunt"), "{line}: {error}");
        }
        let usual = plan("").unwrap();
        assert!(matches!(usual.target, Target::Own) && usual.rate.is_unlimited());
    }
}
