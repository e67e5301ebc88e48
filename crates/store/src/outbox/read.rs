//! Reads events in the form in which they are published.

use sea_orm::QueryResult;
use serde::Deserialize;
use uuid::Uuid;

use super::Kind;
use crate::nouns::Outbox;
use crate::sends::{GROUP, state};
use crate::{Error, Result};
use clock::Timestamp;
use domain::channel::{Connection, Reason};
use domain::content::Stored;
use domain::event::{ErrorData, Event, InboundData, LostData, MessageData, SendData};
use domain::phone::PhoneNumber;
use domain::request::GROUP_SUFFIX;
use domain::send::State;

/// An event that waits to be published.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pending {
    /// Its number in the outbox.
    pub seq: i64,
    /// The event; `None` for a row that this program cannot read.
    pub event: Option<Event>,
}

/// The content of a channel's event row.
#[derive(Deserialize)]
struct Kept {
    status: String,
    reason: Option<KeptReason>,
}

#[derive(Deserialize)]
struct KeptReason {
    code: String,
    sentence: String,
    provider_code: Option<i64>,
}

impl Outbox<'_> {
    /// The oldest events, at most `limit`.
    pub async fn pending(self, limit: u32) -> Result<Vec<Pending>> {
        let sql = format!(
            "SELECT seq, kind, company_id, channel_id, subject_id, ordinal, recipient, state, number, name, detail, \
             at, written_at, CASE WHEN kind = {message} AND recipient = {GROUP} \
             THEN (SELECT content FROM send WHERE send.id = subject_id) END AS content \
             FROM outbox_event ORDER BY seq LIMIT $1",
            message = Kind::Message.as_i16(),
        );
        let rows = self.store.rows(sql, [i64::from(limit).into()]).await?;
        rows.iter()
            .map(|row| {
                let seq = row.try_get("", "seq")?;
                let event = match event(row, seq) {
                    Ok(event) => Some(event),
                    Err(error @ Error::Impossible(_)) => {
                        tracing::error!(seq, %error, "an event cannot be read");
                        None
                    }
                    Err(error) => return Err(error),
                };
                Ok(Pending { seq, event })
            })
            .collect()
    }
}

fn event(row: &QueryResult, seq: i64) -> Result<Event> {
    let unreadable = |what: &str| Error::Impossible(format!("an event of the outbox without {what}"));
    let company_id = row.try_get("", "company_id")?;
    let channel_id: Option<Uuid> = row.try_get("", "channel_id")?;
    let subject_id: Option<Uuid> = row.try_get("", "subject_id")?;
    let number: Option<i64> = row.try_get("", "number")?;
    let name: Option<String> = row.try_get("", "name")?;
    let detail: Option<String> = row.try_get("", "detail")?;
    let moved: Option<i16> = row.try_get("", "state")?;
    let recipient: Option<i64> = row.try_get("", "recipient")?;
    let at = Timestamp::from_millis(row.try_get("", "at")?);
    let whose = || Ok::<_, Error>((company_id, channel_id.ok_or_else(|| unreadable("a channel"))?));
    let subject = || subject_id.ok_or_else(|| unreadable("its subject"));
    let count = |number: Option<i64>| number.unwrap_or_default().cast_unsigned();
    match Kind::from_i16(row.try_get("", "kind")?).ok_or_else(|| unreadable("a known kind"))? {
        Kind::Message => {
            let ordinal: Option<i64> = row.try_get("", "ordinal")?;
            let content: Option<String> = row.try_get("", "content")?;
            let failure = (number.is_some() || detail.is_some())
                .then(|| ErrorData { code: number, message: detail.unwrap_or_default() });
            let data = MessageData {
                send_id: subject()?,
                ordinal: ordinal.ok_or_else(|| unreadable("an ordinal"))?.cast_unsigned(),
                recipient: shown(recipient, content.as_deref()),
                provider_message_id: name,
                error: failure,
            };
            let moved = state(moved.ok_or_else(|| unreadable("a state"))?)?;
            Ok(Event::of_message(whose()?, moved, at, data))
        }
        Kind::Send => {
            let ended = moved.and_then(State::from_i16).ok_or_else(|| unreadable("a state"))?;
            let data = SendData { send_id: subject()?, recipients_count: count(number) };
            Ok(Event::of_send(whose()?, ended, at, data))
        }
        Kind::Channel => {
            let kept: Option<Kept> = detail.and_then(|detail| serde_json::from_str(&detail).ok());
            let Kept { status, reason } = kept.ok_or_else(|| unreadable("a channel's state"))?;
            let status = status.parse().map_err(|_| unreadable("a known status"))?;
            let reason = reason.map(|KeptReason { code, sentence, provider_code }| Reason {
                code: code.as_str().into(),
                sentence,
                provider_code,
            });
            Ok(Event::of_channel(whose()?, seq, Connection { status, reason, since: at }))
        }
        Kind::Inbound => {
            let from = recipient.and_then(PhoneNumber::from_i64).map(|number| format!("+{number}"));
            let provider_message_id = name.ok_or_else(|| unreadable("the provider's id"))?;
            Ok(Event::of_inbound(whose()?, subject()?, at, InboundData { provider_message_id, from }))
        }
        Kind::Lost => {
            let since = Timestamp::from_millis(row.try_get("", "written_at")?);
            Ok(Event::of_loss(company_id, at, LostData { count: count(number), since }))
        }
    }
}

/// The recipient as the API writes it. A group's name is in the content of its send.
fn shown(recipient: Option<i64>, content: Option<&str>) -> String {
    match recipient.and_then(PhoneNumber::from_i64) {
        Some(number) => format!("+{number}"),
        None => {
            let content: Option<Stored> = content.and_then(|content| serde_json::from_str(content).ok());
            let group = content.and_then(|content| content.group).unwrap_or_default();
            format!("{group}{GROUP_SUFFIX}")
        }
    }
}
