//! The messages of a send as a file for people: with the names of contacts, in the person's language and zone, and separated as the
//! company's own files are.

use std::io;

use actix_web::HttpResponse;
use actix_web::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use actix_web::web::{Bytes, Data};
use futures_util::stream::try_unfold;
use uuid::Uuid;

use super::{messages, selection, words};
use crate::console::State;
use crate::console::error::Error;
use crate::console::pages::contact_export::delimiter;
use crate::console::query::{Id, Query};
use crate::console::text::Text;
use crate::console::visitor::Viewer;
use crate::console::zone::Zone;
use crate::domain::message::Selection;
use crate::engine::records::messages::{Found, SendSnapshot};
use crate::engine::{self, Engine, Exported};
use crate::import::{BYTE_ORDER_MARK, csv_row};

/// The columns, by the keys of their names.
const COLUMNS: [&str; 8] = [
    "send-recipient",
    "contacts-name",
    "send-state",
    "send-cause",
    "send-code",
    "send-said",
    "send-heard",
    "send-reference",
];

struct MessagesFile {
    engine: Engine,
    company: Uuid,
    send: Uuid,
    snapshot: SendSnapshot,
    selection: Selection,
    text: Text,
    /// The zone of the times.
    zone: Zone,
    delimiter: u8,
}

/// Downloads the messages that the query selects.
pub(crate) async fn download(
    viewer: Viewer,
    state: Data<State>,
    Id(id): Id,
    query: Query,
) -> Result<HttpResponse, Error> {
    let (company, text, zone) = (viewer.company.id, viewer.text, viewer.zone.clone());
    let records = state.engine.company(company).await?;
    let snapshot = records.sends().snapshot(id).await?.ok_or(Error::NotFound)?;
    drop(records);
    let delimiter = delimiter(&viewer, &state).await?;
    state.engine.contacts().record_export(&viewer.who(), company, Exported::Messages(id)).await?;
    let mut head = BYTE_ORDER_MARK.as_bytes().to_vec();
    head.append(&mut csv_row(delimiter, &COLUMNS.map(|key| text.get(key))));
    let (engine, selection) = (state.engine.clone(), selection(&query));
    let file = MessagesFile { engine, company, send: id, snapshot, selection, text, zone, delimiter };
    let rows = try_unfold((file, Some(0), head), |(file, from, mut written)| async move {
        let Some(from) = from else { return Ok(None) };
        let (mut rows, next) = file.part(from).await.map_err(|error| {
            tracing::error!(%error, send.id = %file.send, "the list of messages broke off");
            io::Error::other("the list broke off")
        })?;
        written.append(&mut rows);
        Ok::<_, io::Error>(Some((Bytes::from(written), (file, next, Vec::new()))))
    });
    Ok(HttpResponse::Ok()
        .insert_header((CONTENT_TYPE, "text/csv; charset=utf-8; header=present"))
        .insert_header((CONTENT_DISPOSITION, format!("attachment; filename=\"send-{id}.csv\"")))
        .streaming(Box::pin(rows)))
}

impl MessagesFile {
    /// The rows of the messages from this one on, and where the next part begins.
    async fn part(&self, from: u64) -> Result<(Vec<u8>, Option<u64>), engine::Error> {
        let (sends, text) = (self.engine.sends(), self.text);
        let Found { messages, next } =
            sends.some_messages(self.company, &self.snapshot, &self.selection, from).await?;
        let mut references = sends.references(self.company, self.send, &messages).await?;
        let numbers: Vec<_> =
            messages.iter().filter_map(|message| message.outcome.position.recipient).collect();
        let records = self.engine.company(self.company).await?;
        let people = records.contacts().people(&numbers).await?;
        drop(records);
        let mut written = Vec::new();
        for message in &messages {
            let (outcome, position) = (&message.outcome, message.outcome.position);
            let code = outcome.error.as_ref().and_then(|error| error.code);
            // As files of contacts have it: without a plus sign, which begins a formula.
            let recipient = position
                .recipient
                .map_or_else(|| messages::recipient(&self.snapshot, position), |number| number.to_string());
            let name = position.recipient.and_then(|number| people.get(&number)).and_then(messages::name);
            let cells = [
                recipient,
                name.unwrap_or_default(),
                words::state_word(text, outcome.state),
                outcome.error.as_ref().map_or_else(String::new, |_| words::cause(text, outcome.state, code)),
                code.filter(|code| *code >= 0).map_or_else(String::new, |code| code.to_string()),
                outcome.error.as_ref().map_or_else(String::new, |error| error.sentence.clone()),
                message.updated_at.map_or_else(String::new, |at| self.zone.cell(at)),
                references.remove(&position.ordinal).unwrap_or_default(),
            ];
            written.append(&mut csv_row(self.delimiter, &cells));
        }
        Ok((written, next))
    }
}
