//! Questions and commands to a simulator that runs, at its `/_sim/…`.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context as _, bail};
use clap::{Args, Subcommand};
use reqwest::{Method, RequestBuilder};
use serde_json::Value;

use super::read;
use crate::cli::output::Output;
use crate::connector::http;

/// The timeout of an answer.
const PATIENCE: Duration = Duration::from_secs(10);
/// The most columns of a timeline that a person is shown: half a minute.
const SHOWN: usize = 300;

/// The simulator that is asked.
#[derive(Debug, Args)]
pub(in crate::cli) struct At {
    /// The simulator's address
    #[arg(long, default_value = "http://127.0.0.1:8090", value_name = "URL")]
    at: String,
}

/// One number of the simulator.
#[derive(Debug, Args)]
pub(in crate::cli) struct OfNumber {
    /// The provider's id of the number
    number: String,
    #[command(flatten)]
    at: At,
}

/// A file for the simulator.
#[derive(Debug, Args)]
pub(in crate::cli) struct File {
    /// A file of JSON
    file: PathBuf,
    #[command(flatten)]
    at: At,
}

/// What can be asked of a simulator that runs.
#[derive(Debug, Subcommand)]
pub(in crate::cli) enum Control {
    /// Messages and recipients of each number, and its fastest second
    Numbers(At),
    /// The newest messages that it accepted, with their bodies in --json
    Messages {
        /// Only messages to this number
        #[arg(long, value_name = "NUMBER")]
        to: Option<String>,
        /// The most messages to show
        #[arg(long, default_value_t = 20, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=10_000))]
        limit: u64,
        #[command(flatten)]
        at: At,
    },
    /// Recipients of a number, with how many messages each got
    Recipients {
        #[command(flatten)]
        number: OfNumber,
        /// Only recipients of more messages than this
        #[arg(long, default_value_t = 0, value_name = "N")]
        above: u64,
    },
    /// Accepted messages of a number by tenth of a second
    Timeline(OfNumber),
    /// Run a script of failures and switches
    Script(File),
    /// Add accounts, numbers, tokens and templates
    Accounts(File),
    /// The outcomes of webhooks: delivered, refused, given up
    Webhooks(At),
    /// Begin again as at the start: counts, messages, scripts and switches go; receivers of webhooks stay
    Reset(At),
}

/// The columns of a table, and the field of each.
type Fields = &'static [(&'static str, &'static str)];

const NUMBERS: Fields = &[
    ("number", "phone_number_id"),
    ("messages", "messages"),
    ("recipients", "unique_recipients"),
    ("repeated", "repeated"),
    ("most in a second", "max_accepted_per_second"),
    ("refused", "refused"),
    ("throttled", "throttled"),
];
const MESSAGES: Fields =
    &[("at", "at"), ("from", "phone_number_id"), ("to", "to"), ("type", "type"), ("key", "key")];

impl Control {
    /// Asks, and prints the answer.
    pub(super) async fn run(self, output: &Output) -> anyhow::Result<()> {
        match self {
            Self::Numbers(at) => {
                let numbers = at.get("/_sim/numbers", &[]).await?;
                rows(output, &numbers, NUMBERS, "no number was used yet")
            }
            Self::Messages { to, limit, at } => {
                let mut query = vec![("limit", limit.to_string()), ("newest", "true".to_owned())];
                query.extend(to.map(|to| ("to", to)));
                let messages = at.get("/_sim/messages", &query).await?;
                rows(output, &messages, MESSAGES, "no message was accepted yet")
            }
            Self::Recipients { number: OfNumber { number, at }, above } => {
                let path = format!("/_sim/numbers/{number}/recipients");
                let found =
                    at.get(&path, &[("above", above.to_string()), ("limit", "10000".to_owned())]).await?;
                if output.json {
                    return output.record(&found, "");
                }
                let each = found["data"].as_object().into_iter().flatten();
                let row =
                    |(recipient, messages): (&String, &Value)| vec![recipient.clone(), messages.to_string()];
                output.table(&["recipient", "messages"], each.map(row))?;
                output.record(&(), &format!("recipients in all: {}", found["total"]))
            }
            Self::Timeline(OfNumber { number, at }) => {
                let timeline = at.get(&format!("/_sim/numbers/{number}/timeline"), &[]).await?;
                if output.json {
                    return output.record(&timeline, "");
                }
                output.table(&["second", "messages", "by tenth"], seconds(&timeline).into_iter())
            }
            Self::Script(File { file, at }) => {
                at.post("/_sim/script", &read::<Value>(&file)?).await?;
                output.record(&serde_json::json!({ "success": true }), "the script runs")
            }
            Self::Accounts(File { file, at }) => {
                at.post("/_sim/accounts", &read::<Value>(&file)?).await?;
                output.record(&serde_json::json!({ "success": true }), "the accounts were added")
            }
            Self::Webhooks(at) => {
                let figures = at.get("/_sim/webhook", &[]).await?;
                if output.json {
                    return output.record(&figures, "");
                }
                let fields = figures.as_object().into_iter().flatten().filter(|(_, value)| !value.is_array());
                let row = |(name, value): (&String, &Value)| vec![name.replace('_', " "), plain(value)];
                output.table(&["what", "figure"], fields.map(row))
            }
            Self::Reset(at) => {
                at.post("/_sim/reset", &Value::Null).await?;
                output.record(&serde_json::json!({ "success": true }), "the simulator begins again")
            }
        }
    }
}

impl At {
    async fn get(&self, path: &str, query: &[(&str, String)]) -> anyhow::Result<Value> {
        let request = self.request(Method::GET, path)?.query(query);
        self.answer(request).await
    }

    async fn post(&self, path: &str, body: &Value) -> anyhow::Result<Value> {
        let request = self.request(Method::POST, path)?.json(body);
        self.answer(request).await
    }

    fn request(&self, method: Method, path: &str) -> anyhow::Result<RequestBuilder> {
        // A TLS provider that is set already stays.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = http::direct().timeout(PATIENCE).build()?;
        Ok(client.request(method, format!("{}{path}", self.at.trim_end_matches('/'))))
    }

    async fn answer(&self, request: RequestBuilder) -> anyhow::Result<Value> {
        let answer = request.send().await.with_context(|| {
            format!(
                "no simulator answers at {}: start one with `pombo simulator`, or name another with --at",
                self.at
            )
        })?;
        let status = answer.status();
        let body: Value = answer.json().await.unwrap_or_default();
        if !status.is_success() {
            bail!(
                "the simulator refused: {}",
                body["error"].as_str().unwrap_or("it is no simulator of Pombo")
            );
        }
        Ok(body)
    }
}

/// Prints the records of a list.
fn rows(output: &Output, list: &Value, fields: Fields, empty: &str) -> anyhow::Result<()> {
    let records = list["data"].as_array().context("this is no simulator of Pombo")?;
    if output.json {
        return output.record(records, "");
    }
    if records.is_empty() {
        return output.record(&(), empty);
    }
    let titles: Vec<_> = fields.iter().map(|(title, _)| *title).collect();
    let row = |record: &Value| fields.iter().map(|(_, field)| plain(&record[*field])).collect();
    output.table(&titles, records.iter().map(row))
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

/// The seconds of a timeline, the newest last: when each began, its messages, and those of each tenth.
fn seconds(timeline: &Value) -> Vec<Vec<String>> {
    let begins = timeline["begins_ms"].as_u64().unwrap_or_default();
    let tenths: Vec<_> =
        timeline["accepted"].as_array().into_iter().flatten().filter_map(Value::as_u64).collect();
    let skipped = tenths.len().saturating_sub(SHOWN) / 10;
    let row = |(place, second): (usize, &[u64])| {
        let from = begins as f64 / 1_000.0 + place as f64;
        let each: Vec<_> = second.iter().map(ToString::to_string).collect();
        vec![format!("{from:.1}"), second.iter().sum::<u64>().to_string(), each.join(" ")]
    };
    tenths.chunks(10).enumerate().skip(skipped).map(row).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_timeline_is_shown_by_second() {
        let shown = seconds(
            &json!({ "step_ms": 100, "begins_ms": 1_500, "accepted": [1, 0, 0, 0, 0, 0, 0, 0, 0, 2, 7] }),
        );
        assert_eq!(shown, [["1.5", "3", "1 0 0 0 0 0 0 0 0 2"], ["2.5", "7", "7"]]);
    }
}
