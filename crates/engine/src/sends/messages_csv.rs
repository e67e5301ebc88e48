//! The messages of a send as CSV, by RFC 4180.
//!
//! They are read a part at a time, each after the previous one was sent, and in turns with other requests.

use futures_util::stream::{once, try_unfold};
use futures_util::{Stream, StreamExt as _};
use uuid::Uuid;

use crate::Error;
use crate::sends::Sends;
use clock::Timestamp;
use domain::cell::guard;
use domain::message::{Failure, Outcome, Position, Selection};
use domain::request::GROUP_SUFFIX;
use store::sends::messages::{Found, Message, SendSnapshot};

/// The messages that a list holds in memory.
const STRETCH: u64 = 4096;
/// The messages examined in one turn, whether they are selected or not.
const SPAN: u64 = 50_000;
const HEADER: [&str; 10] = [
    "ordinal",
    "recipient",
    "state",
    "attempts",
    "provider_message_id",
    "error_code",
    "error",
    "retry_at",
    "updated_at",
    "message_reference",
];

impl Sends<'_> {
    /// The selected messages from `from` on, as many as are read in one turn.
    pub async fn some_messages(
        &self,
        company_id: Uuid,
        snapshot: &SendSnapshot,
        selection: &Selection,
        from: u64,
    ) -> Result<Found, Error> {
        let records = self.engine.records_of(company_id).await?;
        Ok(records.messages().selected(snapshot, selection, from, STRETCH, SPAN).await?)
    }

    /// The selected messages as CSV: a line with the names of the columns, and a line for each message. A text that a
    /// spreadsheet would take for a formula has an apostrophe before it, and numbers have no plus sign, as in files of
    /// contacts.
    pub fn messages_csv(
        &self,
        (company_id, send_id): (Uuid, Uuid),
        snapshot: SendSnapshot,
        selection: Selection,
    ) -> impl Stream<Item = Result<Vec<u8>, Error>> + use<> {
        let head = once(async { record(HEADER.map(str::to_owned)) });
        let engine = self.engine.clone();
        let rest = try_unfold(Some(0), move |next| {
            let (engine, snapshot, selection) = (engine.clone(), snapshot.clone(), selection.clone());
            async move {
                let Some(next) = next else { return Ok(None) };
                let Found { messages, next } =
                    engine.sends().some_messages(company_id, &snapshot, &selection, next).await?;
                let mut references = engine.sends().references(company_id, send_id, &messages).await?;
                let mut written = Vec::new();
                for message in messages {
                    let reference = references.remove(&message.outcome.position.ordinal);
                    written.append(&mut record(cells(message, reference, &snapshot))?);
                }
                Ok(Some((written, next)))
            }
        });
        head.chain(rest)
    }
}

fn cells(
    Message { outcome, updated_at }: Message,
    reference: Option<String>,
    snapshot: &SendSnapshot,
) -> [String; 10] {
    let Outcome { position, state, attempts, provider_message_id, error, retry_at, taken_at: _ } = outcome;
    let Position { ordinal, recipient } = position;
    let (code, sentence) = error.map_or((None, None), |Failure { code, sentence }| (code, Some(sentence)));
    let group = || format!("{}{GROUP_SUFFIX}", snapshot.group().unwrap_or_default());
    let moment = |at: Option<Timestamp>| at.map(|at| at.to_string()).unwrap_or_default();
    let text = |text: Option<String>| guard(&text.unwrap_or_default()).into_owned();
    [
        ordinal.to_string(),
        recipient.map_or_else(group, |number| number.to_string()),
        state.as_str().to_owned(),
        attempts.to_string(),
        text(provider_message_id),
        code.map(|code| code.to_string()).unwrap_or_default(),
        text(sentence),
        moment(retry_at),
        moment(updated_at),
        text(reference),
    ]
}

/// One record.
pub(super) fn record<const N: usize>(cells: [String; N]) -> Result<Vec<u8>, Error> {
    let mut writer = csv::WriterBuilder::new().terminator(csv::Terminator::CRLF).from_writer(Vec::new());
    // A write to memory never fails.
    writer.write_record(cells).map_err(|_| Error::Internal)?;
    writer.into_inner().map_err(|_| Error::Internal)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_contains_no_formula_and_quotes_its_cells() {
        let cells = [
            "7",
            "5511988887777",
            "failed",
            "2",
            &guard("=cmd"),
            "-1",
            &guard("say \"no\"\r\n@later"),
            "",
            "",
            "crm-7",
        ];
        let written = record(cells.map(str::to_owned)).unwrap();
        let expected = "7,5511988887777,failed,2,'=cmd,-1,\"say \"\"no\"\"\r\n'@later\",,,crm-7\r\n";
        assert_eq!(String::from_utf8(written).unwrap(), expected);
    }
}
