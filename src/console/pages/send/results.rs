//! The results of a send whose recipients came in a file, as that file: its own columns, and beside them the outcome of each
//! row. Rows that were skipped come last.

use std::io;

use actix_web::HttpResponse;
use actix_web::http::header::CONTENT_DISPOSITION;
use actix_web::web::{Bytes, Data};
use futures_util::stream::try_unfold;
use uuid::Uuid;

use super::origin::OriginFile;
use super::{skipped_row, words};
use crate::console::State;
use crate::console::error::Error;
use crate::console::query::Id;
use crate::console::text::Text;
use crate::console::visitor::Viewer;
use crate::console::zone::Zone;
use crate::domain::message::Selection;
use crate::domain::page::PageRequest;
use crate::domain::request::SkippedEntry;
use crate::engine::records::messages::{Found, Message, SendSnapshot};
use crate::engine::{self, Engine, Exported};
use crate::import::csv_row;

/// Skipped rows in each read.
const SKIPPED: u64 = 1_000;

/// What is read next.
enum ResultsPart {
    /// The messages from this one on.
    Messages(u64),
    /// This page of the skipped rows.
    Skipped(u64),
}

/// The file of a company's send, as long as its values are kept.
pub(super) async fn origin(engine: &Engine, company: Uuid, send: Uuid) -> Result<Option<OriginFile>, Error> {
    let first = engine.sends().values_of(company, send, (0, 1)).await?;
    Ok(first.into_iter().flatten().next().and_then(|values| OriginFile::read(&values)))
}

/// Downloads the results.
pub(crate) async fn download(viewer: Viewer, state: Data<State>, Id(id): Id) -> Result<HttpResponse, Error> {
    let (company, text, zone) = (viewer.company.id, viewer.text, viewer.zone.clone());
    let records = state.engine.company(company).await?;
    let snapshot = records.sends().snapshot(id).await?.ok_or(Error::NotFound)?;
    drop(records);
    let origin = origin(&state.engine, company, id).await?.ok_or(Error::NotFound)?;
    state.engine.contacts().record_export(&viewer.who(), company, Exported::Messages(id)).await?;
    let format = origin.format();
    let head = ["send-result-state", "send-result-error", "send-result-time"].map(|key| text.get(key));
    let head = record(&origin, origin.header().to_vec(), head);
    let head = format!("{}{}", format.mark(), String::from_utf8_lossy(&head));
    let results = Results { engine: state.engine.clone(), company, send: id, snapshot, origin, text, zone };
    let rows =
        try_unfold((results, Some(ResultsPart::Messages(0)), head), |(results, part, head)| async move {
            let Some(part) = part else { return Ok(None) };
            let (written, next) = results.part(part).await.map_err(|error| {
                tracing::error!(%error, send.id = %results.send, "the results of a send broke off");
                io::Error::other("the list broke off")
            })?;
            let written = format!("{head}{}", String::from_utf8_lossy(&written));
            let encoded = Bytes::from(results.origin.format().encoded(&written));
            Ok::<_, io::Error>(Some((encoded, (results, next, String::new()))))
        });
    Ok(HttpResponse::Ok()
        .content_type(format!("text/csv; charset={}", format.encoding()))
        .insert_header((CONTENT_DISPOSITION, format!("attachment; filename=\"results-{id}.csv\"")))
        .streaming(Box::pin(rows)))
}

struct Results {
    engine: Engine,
    company: Uuid,
    send: Uuid,
    snapshot: SendSnapshot,
    origin: OriginFile,
    text: Text,
    /// The zone of the times.
    zone: Zone,
}

impl Results {
    /// The rows of a part, and the part behind it.
    async fn part(&self, part: ResultsPart) -> Result<(Vec<u8>, Option<ResultsPart>), engine::Error> {
        match part {
            ResultsPart::Messages(from) => self.messages(from).await,
            ResultsPart::Skipped(page) => self.skipped(page).await,
        }
    }

    async fn messages(&self, from: u64) -> Result<(Vec<u8>, Option<ResultsPart>), engine::Error> {
        let sends = self.engine.sends();
        let all = Selection::default();
        let Found { messages, next } = sends.some_messages(self.company, &self.snapshot, &all, from).await?;
        let ordinal = |message: &Message| message.outcome.position.ordinal;
        let first = messages.first().map_or(from, ordinal);
        let behind = messages.last().map_or(first, |message| ordinal(message) + 1);
        let values = sends.values_of(self.company, self.send, (first, behind)).await?;
        let mut written = Vec::new();
        for message in &messages {
            let place = usize::try_from(ordinal(message) - first).unwrap_or(usize::MAX);
            let values = values.get(place).and_then(Option::as_ref);
            let outcome = &message.outcome;
            let number = || outcome.position.recipient.map_or_else(String::new, |number| number.to_string());
            // Where the values are gone, the number alone says whose row it is.
            let cells =
                values.map_or_else(|| self.origin.numbered(number()), |values| self.origin.cells(values));
            let code = outcome.error.as_ref().and_then(|error| error.code);
            let error = match &outcome.error {
                Some(error) => {
                    let cause = words::cause(self.text, outcome.state, code);
                    code.map_or_else(|| cause.clone(), |code| format!("{cause} ({code}: {})", error.sentence))
                }
                None => String::new(),
            };
            let state = words::state_word(self.text, outcome.state);
            let time = message.updated_at.map_or_else(String::new, |at| self.zone.cell(at));
            written.append(&mut record(&self.origin, cells, [state, error, time]));
        }
        Ok((written, Some(next.map_or(ResultsPart::Skipped(1), ResultsPart::Messages))))
    }

    async fn skipped(&self, page: u64) -> Result<(Vec<u8>, Option<ResultsPart>), engine::Error> {
        let records = self.engine.company(self.company).await?;
        let window = PageRequest { page: page.into(), limit: SKIPPED };
        let entries = records.sends().skipped(self.send, window).await?.map(|page| page.records);
        drop(records);
        let entries: Vec<SkippedEntry> = entries.unwrap_or_default();
        let state = self.text.get("send-result-skipped");
        let mut written = Vec::new();
        for entry in &entries {
            let columns = (self.origin.names(), self.origin.header());
            let reason = skipped_row::reason(self.text, columns, entry, (&entry.input, None));
            let outcome = [state.clone(), reason, String::new()];
            written.append(&mut record(&self.origin, self.origin.numbered(entry.input.clone()), outcome));
        }
        let more = entries.len() as u64 == SKIPPED;
        Ok((written, more.then_some(ResultsPart::Skipped(page + 1))))
    }
}

/// A row of the file with the outcome of its message.
fn record(origin: &OriginFile, cells: Vec<String>, outcome: [String; 3]) -> Vec<u8> {
    let cells: Vec<String> = cells.into_iter().chain(outcome).collect();
    csv_row(origin.format().delimiter(), &cells)
}
