//! Follows a send until it is over, with a bar on a terminal.

use std::io;
use std::pin::Pin;
use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};
use uuid::Uuid;

use super::results::ResultsFile;
use super::service::{SendService, text};
use crate::cli::failure::OtherEnd;
use crate::cli::progress;
use crate::cli::remote::{Declined, Unanswered};
use crate::domain::message::State;

/// How often a service that does not answer is asked again, and the pause between: it may be restarted meanwhile.
const ATTEMPTS: u32 = 60;
const PAUSE: Duration = Duration::from_secs(2);

/// Completes when a person ends the command.
pub(super) type Interrupted = Pin<Box<dyn Future<Output = io::Result<()>>>>;

/// The states of messages that got to the provider.
const REACHED: [State; 3] = [State::Sent, State::Delivered, State::Read];

/// The record of the send, once it is over, and that of the template which goes in its place to people whose window is closed.
pub(super) async fn until_both_over(
    sender: &SendService,
    send: Uuid,
    interrupted: &mut Interrupted,
) -> anyhow::Result<Vec<Value>> {
    let record = until_over(sender, (send, send), interrupted).await?;
    let instead = record["template_instead_id"].as_str().and_then(|id| id.parse().ok());
    let mut records = vec![record];
    if let Some(instead) = instead {
        records.push(until_over(sender, (instead, send), interrupted).await?);
    }
    Ok(records)
}

/// The record of a send, once it is over; `named` is the one that a person follows again.
async fn until_over(
    sender: &SendService,
    (send, named): (Uuid, Uuid),
    interrupted: &mut Interrupted,
) -> anyhow::Result<Value> {
    let bar = progress::bar(0, "sending", sender.output().json);
    let (mut path, mut attempts) = (format!("/api/v1/sends/{send}"), 0);
    loop {
        let request = sender.remote().request(Method::GET, &path);
        let record = tokio::select! {
            record = sender.remote().ask(request) => record,
            _ = &mut *interrupted => {
                bar.finish_and_clear();
                let said = format!("the send goes on; follow it again with `pombo send --follow {named}`");
                return Err(OtherEnd { code: OtherEnd::INTERRUPTED, said }.into());
            }
        };
        let record = match record {
            Ok(record) => record,
            Err(error) if is_passing(&error) && attempts < ATTEMPTS => {
                attempts += 1;
                tokio::time::sleep(PAUSE).await;
                continue;
            }
            Err(error) => {
                bar.finish_and_clear();
                let said = format!("cannot follow the send; try again with `pombo send --follow {named}`");
                return Err(error.context(said));
            }
        };
        (attempts, path) = (0, format!("/api/v1/sends/{send}?wait=30s"));
        let all = record["recipients_count"].as_u64().unwrap_or_default();
        bar.set_length(all);
        bar.set_position(all.saturating_sub(count(&record, State::Queued) + count(&record, State::Sending)));
        let waits = record["waiting"]["sentence"].as_str().map(str::to_owned);
        bar.set_message(waits.unwrap_or_else(|| "sending".to_owned()));
        if matches!(text(&record, "state"), "finished" | "canceled" | "expired") {
            bar.finish_and_clear();
            return Ok(record);
        }
    }
}

/// Whether a service that is asked again may answer.
fn is_passing(error: &anyhow::Error) -> bool {
    let is_busy = |declined: &Declined| matches!(declined.status, 429 | 502..=504);
    error.is::<Unanswered>() || error.downcast_ref().is_some_and(is_busy)
}

fn count(record: &Value, state: State) -> u64 {
    record["counts"][state.as_str()].as_u64().unwrap_or_default()
}

/// How many messages of these sends are in this state.
fn count_of_all(records: &[Value], state: State) -> u64 {
    records.iter().map(|record| count(record, state)).sum()
}

/// The sum of a figure of these sends.
pub(super) fn sum(records: &[Value], figure: &str) -> u64 {
    records.iter().map(|record| record[figure].as_u64().unwrap_or_default()).sum()
}

/// How many messages got to the provider.
pub(super) fn reached(records: &[Value]) -> u64 {
    REACHED.into_iter().map(|state| count_of_all(records, state)).sum()
}

/// Prints the result: the record, or tables of states and failures, with those of the template that went in place of the
/// message.
pub(super) async fn told(
    sender: &SendService,
    records: &[Value],
    results: Option<&ResultsFile>,
) -> anyhow::Result<()> {
    let output = sender.output();
    if output.json {
        let mut record = records.first().cloned().unwrap_or_default();
        if let Some(fields) = record.as_object_mut() {
            if let Some(ResultsFile { path, rows: _ }) = results {
                fields.insert("results_file".to_owned(), json!(path));
            }
            if let Some(instead) = records.get(1) {
                fields.insert("template_instead".to_owned(), instead.clone());
            }
        }
        return output.record(&record, "");
    }
    let states = State::ALL.into_iter().map(|state| (state.as_str(), count_of_all(records, state)));
    let skipped = sum(records, "skipped_count");
    let states = states.chain([("skipped", skipped)]).filter(|(_, count)| *count > 0);
    output.table(
        &["state", "messages"],
        states.map(|(state, count)| vec![state.to_owned(), count.to_string()]),
    )?;
    let mut causes = Vec::new();
    for record in records {
        let path = format!("/api/v1/sends/{}/failures", text(record, "id"));
        let mut failures = sender.remote().get(&path).await?;
        if let Some(Value::Array(found)) = failures.get_mut("data").map(Value::take) {
            causes.extend(found);
        }
    }
    if !causes.is_empty() {
        let row = |cause: &Value| {
            let code = cause["error_code"].as_i64().map_or_else(String::new, |code| code.to_string());
            let messages = cause["messages"].as_u64().unwrap_or_default().to_string();
            vec![text(cause, "state").to_owned(), messages, code, text(cause, "error").to_owned()]
        };
        output.table(&["state", "messages", "code", "description"], causes.iter().map(row))?;
    }
    if let Some(ResultsFile { path, rows }) = results {
        output.text(&format!("the results of {rows} rows are in {}", path.display()))?;
    }
    Ok(())
}
