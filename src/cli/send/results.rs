//! The result of each recipient as CSV: the columns of the given file, then state, error and time.

use std::collections::HashMap;
use std::io::BufWriter;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use reqwest::Method;
use reqwest::header::ACCEPT;
use serde::Deserialize;
use serde_json::Value;

use super::recipients::{Recipient, Recipients};
use super::service::{SendService, text};
use crate::cli::failure::Misused;
use crate::domain::cell::guard;
use crate::domain::phone::PhoneNumber;
use crate::files;

/// The columns behind those of the file.
const OWN: [&str; 3] = ["state", "error", "time"];

/// The file that was written.
pub(super) struct ResultsFile {
    pub(super) path: PathBuf,
    pub(super) rows: u64,
}

/// A message, as the service lists it.
#[derive(Deserialize)]
struct Listed {
    recipient: String,
    state: Box<str>,
    error: Option<Wrong>,
    updated_at: Option<Box<str>>,
}

#[derive(Deserialize)]
struct Wrong {
    message: Box<str>,
}

/// What happened to a recipient.
struct Fate {
    state: Box<str>,
    error: Box<str>,
    time: Box<str>,
}

/// Why recipients were skipped: by their places, and by their numbers for those who were named otherwise, too.
#[derive(Default)]
struct Reasons {
    by_place: HashMap<u64, String>,
    by_number: HashMap<u64, String>,
}

/// Checks before the send that the file is not there yet.
pub(super) fn check(path: Option<&Path>) -> anyhow::Result<()> {
    match path {
        Some(path) if path.exists() => {
            Err(Misused(format!("{} exists already; choose another file for the results", path.display()))
                .into())
        }
        _ => Ok(()),
    }
}

/// Writes the results of a send to these recipients: of each of its records, as some may have the template in its place.
pub(super) async fn write(
    sender: &SendService,
    records: &[Value],
    recipients: &Recipients,
    path: &Path,
) -> anyhow::Result<ResultsFile> {
    let (mut fates, mut reasons) = (HashMap::new(), Reasons::default());
    for record in records {
        let send = text(record, "id");
        add_fates(sender, send, &mut fates).await?;
        add_reasons(sender, send, &mut reasons).await?;
    }
    let cannot = || format!("cannot write {}", path.display());
    let file = files::create_new(path).with_context(cannot)?;
    let mut csv = csv::Writer::from_writer(BufWriter::new(file));
    let (mut header, mut rows) = (recipients.header(), 0_u64);
    header.extend(OWN.map(str::to_owned));
    // Reading took the guards of cells away that a spreadsheet would run.
    let record = |cells: &[String]| cells.iter().map(|cell| guard(cell).into_owned()).collect::<Vec<_>>();
    csv.write_record(record(&header)).with_context(cannot)?;
    recipients.read(&mut |Recipient { line: _, entry, mut cells }| {
        let number = entry.get("phone_number").and_then(number);
        let reason = reasons.by_place.get(&rows);
        let fate = number.and_then(|number| fates.get(&number)).filter(|_| reason.is_none());
        match fate {
            Some(Fate { state, error, time }) => {
                cells.extend([&**state, &**error, &**time].map(str::to_owned));
            }
            None => {
                let other = || number.and_then(|number| reasons.by_number.get(&number));
                let reason = reason.or_else(other).map_or("", String::as_str);
                cells.extend(["skipped", reason, ""].map(str::to_owned));
            }
        }
        rows += 1;
        csv.write_record(record(&cells)).with_context(cannot)
    })?;
    csv.flush().with_context(cannot)?;
    Ok(ResultsFile { path: path.to_owned(), rows })
}

/// The number of an entry, if it is one.
fn number(written: &Value) -> Option<u64> {
    let text = match written {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    PhoneNumber::parse(&text).ok().map(PhoneNumber::as_u64)
}

/// Adds all messages of a send by their numbers.
async fn add_fates(sender: &SendService, send: &str, fates: &mut HashMap<u64, Fate>) -> anyhow::Result<()> {
    let remote = sender.remote();
    let request = remote.request(Method::GET, &format!("/api/v1/sends/{send}/messages/export"));
    // The answer is as long as the send.
    let request =
        request.header(ACCEPT, "application/x-ndjson").timeout(std::time::Duration::from_secs(3_600));
    let mut answer = remote.carry(request).await?;
    let mut text = Vec::new();
    while let Some(piece) = answer.chunk().await.context("the list of messages broke off")? {
        text.extend_from_slice(&piece);
        let whole = text.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        for line in text[..whole].split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            let Listed { recipient, state, error, updated_at } =
                serde_json::from_slice(line).context("a message in the list cannot be read")?;
            if let Ok(number) = PhoneNumber::parse(&recipient) {
                let error = error.map(|Wrong { message }| message).unwrap_or_default();
                let fate = Fate { state, error, time: updated_at.unwrap_or_default() };
                fates.insert(number.as_u64(), fate);
            }
        }
        text.drain(..whole);
    }
    Ok(())
}

/// Adds why recipients of a send were skipped.
async fn add_reasons(sender: &SendService, send: &str, reasons: &mut Reasons) -> anyhow::Result<()> {
    for entry in sender.listed(&format!("/api/v1/sends/{send}/skipped?")).await? {
        let reason = text(&entry, "reason").to_owned();
        if let Some(place) = entry["index"].as_u64() {
            reasons.by_place.insert(place, reason);
        } else if let Some(number) = number(&entry["input"]) {
            reasons.by_number.insert(number, reason);
        }
    }
    Ok(())
}
