//! The sends of web sessions, by the time in their ids.

use uuid::Uuid;

use super::contacts::MOST_TIMES;
use crate::nouns::WebSessions;
use crate::sends::send_state;
use crate::{Error, Result, fetch, fetch_one};
use clock::Timestamp;
use domain::content::Stored;
use domain::message;
use domain::phone::PhoneNumber;
use domain::send::State;
use domain::tier::TURN_SPAN;

/// The conditions are written out because the index is a partial one. Messages that are queued, canceled or expired (0,
/// 6, 7) were certainly not handed over, nor were those that failed (5) without a WhatsApp code, unless an earlier
/// attempt may have been handed over (`taken_at`).
pub(crate) const ATTEMPTS: &str = "SELECT send.id,
        (SELECT message.taken_at FROM message WHERE message.send_id = send.id AND message.ordinal = 0) FROM send
    WHERE channel_id = $1 AND id >= $2 AND recipient IS NOT NULL AND expires_at IS NOT NULL AND high_water > 0
        AND NOT EXISTS (SELECT 1 FROM message WHERE message.send_id = send.id AND message.ordinal = 0
            AND message.taken_at IS NULL
            AND (message.state IN (0, 6, 7) OR (message.state = 5 AND message.error_code IS NULL)))
    ORDER BY id DESC LIMIT $3";
pub(crate) const OF_STAMP: &str = "SELECT id FROM send WHERE id >= $1 AND id <= $2 AND channel_id = $3";

const KEPT: &str =
    "SELECT send.id, send.recipient, send.content, known.first_sent_at, known.first_heard_at FROM send
    LEFT JOIN web_session_contact AS known ON known.channel_id = send.channel_id AND known.phone = send.recipient
    WHERE send.channel_id = $1 AND send.state < 2 AND send.state = $2 AND send.recipient IS NOT NULL
        AND send.expires_at > $3
    ORDER BY send.id LIMIT $4";
/// The most messages that one call reads: ten times as many as may wait.
const MOST_KEPT: i64 = 10_000;

/// The bits of an id behind its milliseconds.
const BEHIND_MILLIS: u32 = 80;
/// The bits of milliseconds in an id.
const MILLIS_BITS: u32 = 48;

/// The progress of a send with one message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FirstTry {
    /// The send has ended.
    pub is_over: bool,
    /// The message was attempted, or may have been.
    pub was_attempted: bool,
    /// The state of the message, if it has a row.
    pub state: Option<message::State>,
    /// The message goes in its turn although no caller waits for it.
    pub keeps_turn: bool,
}

impl WebSessions<'_> {
    /// The sends of a web session whose message was handed over at `since` or later, or may have been, with the time when
    /// WhatsApp took it, or else that in their ids. Ascending; the latest 100,000. Sends of web sessions are recognised by their
    /// single recipient and their expiry, which all of them have.
    pub async fn web_attempts_since(self, channel: Uuid, since: Timestamp) -> Result<Vec<(Timestamp, Uuid)>> {
        // A message may have waited for its turn.
        let first = since.minus(TURN_SPAN).millis().max(0).cast_unsigned();
        let values = [channel.into(), id_at(first).into(), MOST_TIMES.into()];
        let rows = fetch::<(Uuid, Option<i64>)>(&self.store.read, ATTEMPTS, values).await?;
        let attempts = rows.into_iter().map(|(id, taken_at)| {
            let accepted = accepted_at(id);
            (taken_at.map_or(accepted, |taken_at| Timestamp::from_millis(taken_at).max(accepted)), id)
        });
        let mut attempts: Vec<_> = attempts.filter(|(at, _)| *at >= since).collect();
        attempts.sort_unstable();
        Ok(attempts)
    }

    /// The messages of a web session that keep their turn and wait, with their recipients whom the session neither wrote to nor
    /// heard from; the first 10,000.
    pub async fn kept_turns(self, channel: Uuid, now: Timestamp) -> Result<Vec<(Uuid, Option<PhoneNumber>)>> {
        type Row = (Uuid, i64, String, Option<i64>, Option<i64>);
        let values = [channel.into(), State::Active.as_i16().into(), now.millis().into(), MOST_KEPT.into()];
        let mut kept = Vec::new();
        for (id, recipient, content, sent, heard) in fetch::<Row>(&self.store.read, KEPT, values).await? {
            // A content that cannot be read is skipped where its send is read.
            if serde_json::from_str::<Stored>(&content).is_ok_and(|content| content.keeps_turn) {
                let is_stranger = recipient > 0 && sent.is_none() && heard.is_none();
                kept.push((id, PhoneNumber::from_i64(recipient).filter(|_| is_stranger)));
            }
        }
        Ok(kept)
    }

    /// The progress of a send with one message; `None` when there is no such send.
    pub async fn first_try(self, send_id: Uuid) -> Result<Option<FirstTry>> {
        let sql = "SELECT send.state, send.high_water, message.state, send.content FROM send
                   LEFT JOIN message ON message.send_id = send.id AND message.ordinal = 0 WHERE send.id = $1";
        type Row = (i16, i64, Option<i16>, String);
        let row = fetch_one::<Row>(&self.store.read, sql, [send_id.into()]).await?;
        let Some((send, high_water, message, content)) = row else { return Ok(None) };
        let content = serde_json::from_str::<Stored>(&content)
            .map_err(|error| Error::Impossible(format!("the content of send {send_id}: {error}")))?;
        let send = send_state(send)?;
        Ok(Some(FirstTry {
            is_over: send.is_over(),
            was_attempted: high_water > 0,
            state: message.map(crate::sends::state).transpose()?,
            keeps_turn: content.keeps_turn,
        }))
    }

    /// The send of the channel whose id has these Unix milliseconds and ends with these bytes; `None` when there is
    /// none, or more than one.
    pub async fn send_of_stamp(self, channel: Uuid, millis: u64, tail: [u8; 3]) -> Result<Option<Uuid>> {
        if millis >> MILLIS_BITS > 0 {
            return Ok(None);
        }
        let (first, rest) = (id_at(millis), (1_u128 << BEHIND_MILLIS) - 1);
        let last = Uuid::from_u128(first.as_u128() | rest);
        let ids =
            fetch::<Uuid>(&self.store.read, OF_STAMP, [first.into(), last.into(), channel.into()]).await?;
        let mut matching = ids.into_iter().filter(|id| id.as_bytes().ends_with(&tail));
        Ok(matching.next().filter(|_| matching.next().is_none()))
    }
}

/// The lowest possible id of these milliseconds.
const fn id_at(millis: u64) -> Uuid {
    Uuid::from_u128((millis as u128) << BEHIND_MILLIS)
}

/// The time in a send's id.
const fn accepted_at(id: Uuid) -> Timestamp {
    // 48 bits are never negative.
    Timestamp::from_millis(((id.as_u128() >> BEHIND_MILLIS) as u64).cast_signed())
}
