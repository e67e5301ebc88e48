//! All messages of a send in one answer: as lines of JSON, or as CSV.

use actix_web::web::Bytes;
use actix_web::{HttpRequest, HttpResponse};
use futures_util::stream::try_unfold;
use futures_util::{Stream, TryStreamExt as _};
use uuid::Uuid;

use super::MessageRecord;
use crate::api::lines::{CSV, NDJSON, accepted};
use crate::api::tables::csv_head;
use crate::domain::message::Selection;
use crate::engine::records::messages::{Found, SendSnapshot};
use crate::engine::{self, Engine};

/// The format of the messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ExportForm {
    /// A JSON object on each line.
    Lines,
    /// A CSV record for each message, after a line with the names of the columns.
    Csv,
}

/// The messages to list: their company, send and states.
pub(super) struct ListedMessages {
    pub(super) engine: Engine,
    pub(super) company_id: Uuid,
    pub(super) send_id: Uuid,
    pub(super) snapshot: SendSnapshot,
    pub(super) selection: Selection,
}

impl ExportForm {
    const ALL: [Self; 2] = [Self::Lines, Self::Csv];

    const fn media_type(self) -> &'static str {
        match self {
            Self::Lines => NDJSON,
            Self::Csv => CSV,
        }
    }

    /// The first format that the client accepts by its name.
    pub(super) fn accepted(request: &HttpRequest) -> Option<Self> {
        accepted(request)
            .find_map(|name| Self::ALL.into_iter().find(|form| name.eq_ignore_ascii_case(form.media_type())))
    }

    /// The answer with all of these messages.
    pub(super) fn answer(self, listed: ListedMessages) -> HttpResponse {
        let send_id = listed.send_id;
        let broken = move |error: engine::Error| {
            tracing::error!(%error, send.id = %send_id, "the list of messages broke off");
            std::io::Error::other("the list broke off")
        };
        match self {
            Self::Lines => {
                let lines = lines(listed).map_err(broken);
                HttpResponse::Ok().content_type(self.media_type()).streaming(lines)
            }
            Self::Csv => {
                let ListedMessages { engine, company_id, snapshot, selection, .. } = listed;
                let of = (company_id, send_id);
                let records = engine.sends().messages_csv(of, snapshot, selection).map_ok(Bytes::from);
                csv_head(&format!("send-{send_id}")).streaming(Box::pin(records.map_err(broken)))
            }
        }
    }
}

/// Streams all messages in parts; each part is read once the client has received the one before.
fn lines(listed: ListedMessages) -> impl Stream<Item = Result<Bytes, engine::Error>> {
    try_unfold((listed, Some(0)), async |(listed, next)| {
        let Some(next) = next else { return Ok(None) };
        let ListedMessages { engine, company_id, send_id, snapshot, selection } = &listed;
        let Found { messages, next } =
            engine.sends().some_messages(*company_id, snapshot, selection, next).await?;
        let mut references = engine.sends().references(*company_id, *send_id, &messages).await?;
        let mut written = Vec::new();
        for message in messages {
            let reference = references.remove(&message.outcome.position.ordinal);
            serde_json::to_writer(&mut written, &MessageRecord::new(message, snapshot).named(reference))
                .map_err(|_| engine::Error::Internal)?;
            written.push(b'\n');
        }
        Ok(Some((Bytes::from(written), (listed, next))))
    })
}

#[cfg(test)]
mod tests {
    use actix_web::http::header::ACCEPT;
    use actix_web::test::TestRequest;

    use super::*;

    #[test]
    fn all_messages_need_a_format_that_is_accepted_by_name() {
        let asks = |accept: &str| {
            ExportForm::accepted(&TestRequest::default().insert_header((ACCEPT, accept)).to_http_request())
        };
        for (accept, form) in [
            ("application/x-ndjson", ExportForm::Lines),
            ("Application/X-NDJSON;q=1", ExportForm::Lines),
            ("application/json, application/x-ndjson", ExportForm::Lines),
            ("text/csv", ExportForm::Csv),
            ("TEXT/CSV; header=present", ExportForm::Csv),
            ("text/csv, application/x-ndjson", ExportForm::Csv),
        ] {
            assert_eq!(asks(accept), Some(form), "{accept}");
        }
        for accept in ["*/*", "text/*", "application/json", "", "application/x-ndjson+x", "text/csvx"] {
            assert_eq!(asks(accept), None, "{accept}");
        }
        assert_eq!(ExportForm::accepted(&TestRequest::default().to_http_request()), None);
    }
}
