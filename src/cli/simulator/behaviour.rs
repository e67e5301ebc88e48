//! How a simulated provider behaves: options that `pombo simulator` and `pombo loadtest` share.

use std::time::Duration;

use clap::{Args, ValueEnum};
use serde_json::{Map, Value, json};

use crate::cli::argument;
use simulator::{Fail, Latency, Level, Options, ReceiptOptions};

/// Answers of the provider to sends.
#[derive(Debug, Clone, Default, Args)]
pub(in crate::cli) struct Behaviour {
    /// How long answers to sends take: 80ms, or percentiles such as p50=80ms,p99=900ms
    #[arg(long, value_name = "LATENCY")]
    latency: Option<Latency>,
    /// The share of messages that fail, and the provider's code: 1%:131026; may be given several times. Codes that
    /// the provider reports later come in a webhook; :now or :later decides. Without a code: reset, bad_gateway,
    /// drop_reply or garbled_reply
    #[arg(long, value_name = "SHARE:CODE")]
    fail: Vec<Fail>,
    /// Enforce the limit of this level for every number; without it, there is none
    #[arg(long, value_name = "LEVEL")]
    level: Option<LevelWord>,
    /// Enforce the limit for one recipient: a message each 6 seconds, 45 at once
    #[arg(long)]
    pair: bool,
}

/// A level as a person writes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum LevelWord {
    /// 80 messages a second
    Standard,
    /// 1000 messages a second
    High,
}

/// Receipts and answers of people. What is not given is as the simulator does it.
#[derive(Debug, Clone, Default, Args)]
pub(in crate::cli) struct Delays {
    /// From the acceptance of a message to its `sent`; 0ms without it
    #[arg(long, value_name = "SPAN", value_parser = argument::span)]
    sent_after: Option<Duration>,
    /// From `sent` to `delivered`; 200ms without it
    #[arg(long, value_name = "SPAN", value_parser = argument::span)]
    delivered_after: Option<Duration>,
    /// From `delivered` to `read`; 1s without it
    #[arg(long, value_name = "SPAN", value_parser = argument::span)]
    read_after: Option<Duration>,
    /// The share of messages that are read; 50% without it
    #[arg(long, value_name = "SHARE", value_parser = share)]
    read: Option<f64>,
    /// From the last receipt of a message to its answer; 1s without it
    #[arg(long, value_name = "SPAN", value_parser = argument::span)]
    answered_after: Option<Duration>,
    /// The share of messages that people answer with a text; none without it
    #[arg(long, value_name = "SHARE", value_parser = share)]
    answered: Option<f64>,
}

impl Behaviour {
    /// Whether a failure is reported in a webhook, so that it needs a receiver.
    pub(in crate::cli) fn reports(&self) -> bool {
        self.fail.iter().any(Fail::is_reported)
    }

    /// The first option that was given, for a refusal.
    pub(in crate::cli) fn given(&self) -> Option<&'static str> {
        let given = [
            ("--latency", self.latency.is_some()),
            ("--fail", !self.fail.is_empty()),
            ("--level", self.level.is_some()),
            ("--pair", self.pair),
        ];
        given.iter().find(|(_, is_given)| *is_given).map(|(option, _)| *option)
    }

    /// The options of a simulator that behaves like this.
    pub(in crate::cli) fn options(self) -> Options {
        let level = self.level.map(|level| match level {
            LevelWord::Standard => Level::Standard,
            LevelWord::High => Level::High,
        });
        Options {
            latency: self.latency.unwrap_or_default(),
            failures: self.fail,
            level,
            pair_throttle: self.pair,
            accept_any: true,
            ..Options::default()
        }
    }

    /// The arguments with which another process of this program behaves like this.
    pub(in crate::cli) fn arguments(&self) -> Vec<String> {
        let mut arguments = Vec::new();
        let mut add = |option: &str, value: String| arguments.extend([option.to_owned(), value]);
        if let Some(latency) = &self.latency {
            add("--latency", latency.to_string());
        }
        for fail in &self.fail {
            add("--fail", fail.to_string());
        }
        if let Some(word) = self.level.as_ref().and_then(ValueEnum::to_possible_value) {
            add("--level", word.get_name().to_owned());
        }
        arguments.extend(self.pair.then(|| "--pair".to_owned()));
        arguments
    }
}

impl Delays {
    /// The fields of the simulator's webhooks that were given, as `POST /_sim/webhook` takes them.
    pub(in crate::cli) fn fields(&self) -> Map<String, Value> {
        let span =
            |span: Option<Duration>| span.map(|span| json!(humantime::format_duration(span).to_string()));
        let share = |share: Option<f64>| share.map(|share| json!(share));
        let all = [
            ("sent_after", span(self.sent_after)),
            ("delivered_after", span(self.delivered_after)),
            ("read_after", span(self.read_after)),
            ("read_probability", share(self.read)),
            ("answer_after", span(self.answered_after)),
            ("answer_probability", share(self.answered)),
        ];
        all.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
    }

    /// The options of this receiver of webhooks.
    ///
    /// # Errors
    ///
    /// Never: the simulator reads the fields that it names.
    pub(in crate::cli) fn receiver(&self, url: &str, app_secret: &str) -> serde_json::Result<ReceiptOptions> {
        let mut fields = self.fields();
        fields.insert("url".to_owned(), url.into());
        fields.insert("app_secret".to_owned(), app_secret.into());
        serde_json::from_value(Value::Object(fields))
    }
}

/// A share in per cent.
fn share(text: &str) -> Result<f64, String> {
    let percent: Option<f64> = text.trim().strip_suffix('%').and_then(|percent| percent.trim().parse().ok());
    let share = percent.filter(|percent| (0.0..=100.0).contains(percent)).map(|percent| percent / 100.0);
    share.ok_or_else(|| "a share is given in per cent, such as 50%".to_owned())
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        behaviour: Behaviour,
        #[command(flatten)]
        delays: Delays,
    }

    fn line(text: &str) -> Result<Line, String> {
        Line::try_parse_from(format!("simulator {text}").split_whitespace())
            .map_err(|error| error.to_string())
    }

    #[test]
    fn another_process_gets_the_same_behaviour() {
        let given = "--latency p50=80ms,p99=900ms --fail 1%:131026 --fail 0.5%:reset --level high --pair";
        let first = line(given).unwrap().behaviour;
        let arguments = first.arguments();
        let again = Line::try_parse_from(std::iter::once("simulator".to_owned()).chain(arguments.clone()));
        let again = again.unwrap_or_else(|error| panic!("{error}")).behaviour;
        assert_eq!(again.arguments(), arguments);
        assert!(again.reports());
        let options = again.options();
        assert_eq!((options.failures.len(), options.level), (2, Some(Level::High)));
        assert!(options.pair_throttle && options.accept_any);
    }

    #[test]
    fn the_simulator_reads_the_given_delays_and_a_wrong_share_is_refused() {
        let usual = line("").unwrap();
        assert_eq!(usual.behaviour.given(), None);
        assert!(usual.delays.fields().is_empty());
        let given = "--sent-after 1ms --delivered-after 2ms --read-after 3s --read 25% --answered-after 1m --answered 2%";
        let given = line(given).unwrap().delays.receiver("http://u", "s").unwrap();
        assert_eq!(given.sent_after + given.delivered_after, Duration::from_millis(3));
        assert_eq!(given.read_after + given.answer_after, Duration::from_secs(63));
        let shares = given.read_probability + given.answer_probability;
        assert!((shares - 0.27).abs() < 1e-9, "{shares}");
        for (wrong, words) in [
            ("--read 2", "50%"),
            ("--answered 101%", "50%"),
            ("--level medium", "standard"),
            ("--fail 131026", "1%:131026"),
        ] {
            let fault = line(wrong).err().unwrap();
            assert!(fault.contains(words), "{wrong}: {fault}");
        }
    }
}
