//! Writes events, each in the transaction of its change and before the statement that changes the row.
//!
//! The rows still have their old state, so an event is written only for a change. That is so for rows that nobody else
//! changes meanwhile: of messages and inbound events on SQLite, which has one writer (on PostgreSQL [the statement that
//! changes them](super::moved) writes their events), and of sends and channels, which their transaction locks first.

use entity::channel::ActiveModel;
use sea_orm::{ActiveEnum as _, ActiveValue, ConnectionTrait, Value};
use serde_json::json;
use uuid::Uuid;

use super::Kind;
use crate::Result;
use crate::dialect::{Bulk, Cell, Type};
use crate::ledger::{Event, rank};
use crate::nouns::Outbox;
use clock::Timestamp;
use domain::channel::{self, Status};
use domain::event::is_told;
use domain::message::{self, Failure};
use domain::phone::PhoneNumber;
use domain::send;

const MESSAGE: &[(&str, Type)] = &[
    ("send_id", Type::Uuid),
    ("ordinal", Type::Int),
    ("company_id", Type::Uuid),
    ("state", Type::Int),
    ("recipient", Type::Int),
    ("name", Type::Text),
    ("number", Type::Int),
    ("detail", Type::Text),
    ("at", Type::Int),
];
const SEND: &[(&str, Type)] = &[("id", Type::Uuid), ("state", Type::Int)];
const INBOUND: &[(&str, Type)] = &[
    ("id", Type::Uuid),
    ("company_id", Type::Uuid),
    ("channel_id", Type::Uuid),
    ("kind", Type::Text),
    ("identity", Type::Text),
    ("sender", Type::Int),
    ("at", Type::Int),
];

/// A message that may reach another state.
pub(crate) struct Announced<'a> {
    pub(crate) key: message::Key,
    pub(crate) company_id: Uuid,
    pub(crate) state: message::State,
    /// As in the column of the row; `None` if the message has a row already.
    pub(crate) recipient: Option<i64>,
    pub(crate) provider_message_id: Option<&'a str>,
    pub(crate) error: Option<&'a Failure>,
    pub(crate) at: Timestamp,
}

/// The condition under which a row takes the announced state: the same as in the statement that writes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Moves {
    /// The outcome of an attempt.
    Outcome,
    /// A receipt of a message that has a row.
    Receipt,
    /// A receipt of a message that has none yet.
    EarlyReceipt,
}

impl Moves {
    const fn join(self) -> &'static str {
        match self {
            Self::Receipt => "JOIN",
            Self::Outcome | Self::EarlyReceipt => "LEFT JOIN",
        }
    }

    fn condition(self) -> String {
        let (heard, known) = (rank("incoming.state"), rank("message.state"));
        match self {
            Self::Outcome => {
                let open = message::State::ALL.iter().filter(|state| state.is_open());
                let open = open.map(|state| state.as_i16().to_string()).collect::<Vec<_>>().join(", ");
                format!(
                    "(message.state IS NULL OR (message.state <> incoming.state \
                     AND (message.state IN ({open}) OR {heard} > {known})))"
                )
            }
            Self::Receipt => format!("message.company_id = incoming.company_id AND {heard} > {known}"),
            Self::EarlyReceipt => format!(
                "(message.state IS NULL OR message.company_id = incoming.company_id AND {heard} > {known})"
            ),
        }
    }
}

impl Outbox<'_> {
    /// Writes an event for each of these messages that reaches its state now.
    pub(crate) async fn announce_messages(
        self,
        to: &impl ConnectionTrait,
        messages: impl Iterator<Item = Announced<'_>>,
        moves: Moves,
        now: Timestamp,
    ) -> Result<()> {
        if !self.store.writes_events() {
            return Ok(());
        }
        let mut rows = Bulk::new(self.store.backend, MESSAGE);
        for message in messages.filter(|message| is_told(message.state)) {
            let Announced { key, company_id, state, recipient, provider_message_id, error, at } = message;
            rows.push([
                key.send_id.into(),
                key.ordinal.cast_signed().into(),
                company_id.into(),
                i64::from(state.as_i16()).into(),
                Cell::Int(recipient),
                Cell::Text(provider_message_id),
                Cell::Int(error.and_then(|failure| failure.code)),
                Cell::Text(error.map(|failure| failure.sentence.as_str())),
                at.millis().into(),
            ]);
        }
        let (join, condition) = (moves.join(), moves.condition());
        self.store.write(to, rows, vec![now.millis().into()], |incoming, now| {
            format!(
                "INSERT INTO outbox_event (kind, company_id, channel_id, subject_id, ordinal, recipient, state, \
                 number, name, detail, at, written_at) \
                 SELECT {kind}, send.company_id, send.channel_id, incoming.send_id, incoming.ordinal, \
                 COALESCE(incoming.recipient, message.recipient), incoming.state, incoming.number, \
                 COALESCE(incoming.name, message.provider_message_id), incoming.detail, incoming.at, ${now} \
                 FROM {incoming} AS incoming \
                 JOIN send ON send.id = incoming.send_id AND send.company_id = incoming.company_id \
                 {join} message ON message.send_id = incoming.send_id AND message.ordinal = incoming.ordinal \
                 WHERE {condition} ORDER BY incoming.send_id, incoming.ordinal",
                kind = Kind::Message.as_i16(),
            )
        })
        .await?;
        Ok(())
    }

    /// Writes an event for each waiting message of an ended send: messages that never started take the state `end`, the
    /// others are unknown.
    pub(crate) async fn announce_ended_messages(
        self,
        to: &impl ConnectionTrait,
        send_id: Uuid,
        end: message::State,
        now: Timestamp,
    ) -> Result<()> {
        if !self.store.writes_events() {
            return Ok(());
        }
        let sql = format!(
            "INSERT INTO outbox_event (kind, company_id, channel_id, subject_id, ordinal, recipient, state, \
             number, name, detail, at, written_at) \
             SELECT {kind}, send.company_id, send.channel_id, send.id, message.ordinal, message.recipient, \
             CASE message.state WHEN {queued} THEN {end} ELSE {unknown} END, message.error_code, \
             message.provider_message_id, message.error, $2, $2 \
             FROM message JOIN send ON send.id = message.send_id \
             WHERE message.send_id = $1 AND message.retry_at IS NOT NULL AND message.state <> {unknown} \
             ORDER BY message.ordinal",
            kind = Kind::Message.as_i16(),
            queued = message::State::Queued.as_i16(),
            unknown = message::State::Unknown.as_i16(),
            end = end.as_i16(),
        );
        to.execute_raw(self.store.statement(sql, [send_id.into(), now.millis().into()])).await?;
        Ok(())
    }

    /// Writes an event for each of these sends that ends in this state.
    pub(crate) async fn announce_ends(
        self,
        to: &impl ConnectionTrait,
        sends: impl Iterator<Item = (Uuid, send::State)>,
        now: Timestamp,
    ) -> Result<()> {
        if !self.store.writes_events() {
            return Ok(());
        }
        let mut rows = Bulk::new(self.store.backend, SEND);
        for (send_id, state) in sends.filter(|(_, state)| state.is_over()) {
            rows.push([send_id.into(), i64::from(state.as_i16()).into()]);
        }
        self.store.write(to, rows, vec![now.millis().into()], |incoming, now| {
            format!(
                "INSERT INTO outbox_event (kind, company_id, channel_id, subject_id, state, number, at, written_at) \
                 SELECT {kind}, send.company_id, send.channel_id, send.id, incoming.state, send.recipients, \
                 ${now}, ${now} FROM {incoming} AS incoming JOIN send ON send.id = incoming.id \
                 AND send.state = {active} ORDER BY send.id",
                kind = Kind::Send.as_i16(),
                active = send::State::Active.as_i16(),
            )
        })
        .await?;
        Ok(())
    }

    /// Writes an event for a send that the previous statement ended.
    pub(crate) async fn announce_end(
        self,
        to: &impl ConnectionTrait,
        send_id: Uuid,
        now: Timestamp,
    ) -> Result<()> {
        if !self.store.writes_events() {
            return Ok(());
        }
        let sql = format!(
            "INSERT INTO outbox_event (kind, company_id, channel_id, subject_id, state, number, at, written_at) \
             SELECT {kind}, company_id, channel_id, id, state, recipients, $2, $2 FROM send WHERE id = $1",
            kind = Kind::Send.as_i16(),
        );
        to.execute_raw(self.store.statement(sql, [send_id.into(), now.millis().into()])).await?;
        Ok(())
    }

    /// Writes an event if these changes give the channel another status, or another reason for it.
    pub(crate) async fn announce_channel(
        self,
        to: &impl ConnectionTrait,
        id: Uuid,
        changes: &ActiveModel,
    ) -> Result<()> {
        let (ActiveValue::Set(status), ActiveValue::Set(code)) = (&changes.status, &changes.status_code)
        else {
            return Ok(());
        };
        if !self.store.writes_events() {
            return Ok(());
        }
        let since = changes.status_since.try_as_ref().copied();
        let now = Timestamp::now().millis();
        let reason = code.as_ref().map(|code| {
            json!({
                "code": code,
                "sentence": changes.status_sentence.try_as_ref().cloned().flatten().unwrap_or_default(),
                "provider_code": changes.status_provider_code.try_as_ref().copied().flatten(),
            })
        });
        let detail = json!({ "status": status.to_value(), "reason": reason }).to_string();
        let sql = format!(
            "INSERT INTO outbox_event (kind, company_id, channel_id, detail, at, written_at) \
             SELECT {kind}, company_id, id, $2, $3, $4 FROM channel \
             WHERE id = $1 AND (status <> $5 OR COALESCE(status_code, '') <> $6)",
            kind = Kind::Channel.as_i16(),
        );
        let values: [Value; 6] = [
            id.into(),
            detail.into(),
            since.unwrap_or(now).into(),
            now.into(),
            status.to_value().into(),
            code.clone().unwrap_or_default().into(),
        ];
        to.execute_raw(self.store.statement(sql, values)).await?;
        Ok(())
    }

    /// Writes an event for each connected web session with keys, because it becomes `connecting`.
    pub(crate) async fn announce_resumed(self, to: &impl ConnectionTrait, now: i64) -> Result<()> {
        if !self.store.writes_events() {
            return Ok(());
        }
        let sql = format!(
            "INSERT INTO outbox_event (kind, company_id, channel_id, detail, at, written_at) \
             SELECT {kind}, company_id, id, $1, $2, $2 FROM channel WHERE status = $3 AND kind = $4 \
             AND EXISTS (SELECT 1 FROM web_session_record WHERE web_session_record.channel_id = channel.id) \
             ORDER BY id",
            kind = Kind::Channel.as_i16(),
        );
        let detail = json!({ "status": Status::Connecting.as_str(), "reason": null }).to_string();
        let of: [Value; 2] = [Status::Connected.as_str().into(), channel::Kind::WebSession.as_str().into()];
        to.execute_raw(self.store.statement(sql, [detail.into(), now.into()].into_iter().chain(of))).await?;
        Ok(())
    }

    /// Writes an event for each of these inbound events that is not stored yet.
    pub(crate) async fn announce_inbound(
        self,
        to: &impl ConnectionTrait,
        events: &[&Event],
        now: Timestamp,
    ) -> Result<()> {
        if !self.store.writes_events() {
            return Ok(());
        }
        let mut rows = Bulk::new(self.store.backend, INBOUND);
        let mut before = None;
        for event in events {
            let identity = (event.channel_id, event.kind, &event.identity);
            // A webhook may contain an event twice. The events are sorted, so repetitions are neighbours.
            if before.replace(identity) == Some(identity) {
                continue;
            }
            rows.push([
                event.id.into(),
                event.company_id.into(),
                event.channel_id.into(),
                event.kind.into(),
                event.identity.as_str().into(),
                Cell::Int(event.from.map(PhoneNumber::as_i64)),
                event.at.millis().into(),
            ]);
        }
        self.store.write(to, rows, vec![now.millis().into()], |incoming, now| {
            format!(
                "INSERT INTO outbox_event (kind, company_id, channel_id, subject_id, recipient, name, at, written_at) \
                 SELECT {kind}, incoming.company_id, incoming.channel_id, incoming.id, incoming.sender, \
                 incoming.identity, incoming.at, ${now} FROM {incoming} AS incoming \
                 WHERE NOT EXISTS (SELECT 1 FROM event WHERE event.channel_id = incoming.channel_id \
                 AND event.kind = incoming.kind AND event.identity = incoming.identity) ORDER BY incoming.id",
                kind = Kind::Inbound.as_i16(),
            )
        })
        .await?;
        Ok(())
    }
}
