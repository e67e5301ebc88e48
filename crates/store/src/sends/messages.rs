//! A send's messages, one for each recipient, whether attempted or not.
//!
//! Attempted messages have a row in the ledger; the others are only numbers in the recipient blocks. Both are read in
//! stretches of ordinals and combined here, so that a send of millions is read in little memory. Ordinals below
//! `settled` all have a row; none at or above `high_water` had one when the send was read. Those between the marks
//! without a row were reserved: in an ended send, their outcome is unknown.

mod places;
mod selected;
mod to_person;

use std::collections::HashMap;

use sea_orm::{DbBackend, QueryResult, Value};
use uuid::Uuid;

pub use self::selected::Found;
pub(crate) use self::to_person::span;
pub use self::to_person::{Addressed, ToPerson};
use super::{GROUP, recipient, send_state};
use crate::contacts::signed;
use crate::nouns::{Messages, Sends};
use crate::{Error, Result, Store, fetch_one};
use clock::Timestamp;
use domain::content::Stored;
use domain::message::{self, Failure, Outcome, Position};
use domain::page::{Page, Window};
use domain::phone::PhoneNumber;
use domain::send::{Progress, State};

/// Ordinals that are read at once if it is unknown how many of them match.
const STRETCH: u64 = 1000;

const COLUMNS: &str = "ordinal, recipient, state, attempts, provider_message_id, error_code, error, retry_at, \
                       updated_at, taken_at";

/// A send whose messages are read, as it was at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SendSnapshot {
    send_id: Uuid,
    recipients: u64,
    only: Option<Only>,
    progress: Progress,
    /// The state of messages that were reserved and have no row.
    reserved: message::State,
    /// The state of messages that were never attempted.
    unattempted: message::State,
}

/// The recipient, when there is one.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Only {
    Number(PhoneNumber),
    /// A group, by its id.
    Group(String),
}

impl SendSnapshot {
    /// The state of a message without a row.
    const fn rowless(&self, ordinal: u64) -> message::State {
        if ordinal < self.progress.high_water { self.reserved } else { self.unattempted }
    }

    /// The ordinal up to which messages without a row may be in this state. If it is `settled`, there are none.
    fn rowless_end(&self, state: message::State) -> u64 {
        if state == self.unattempted {
            self.recipients
        } else if state == self.reserved {
            self.progress.high_water.min(self.recipients)
        } else {
            self.progress.settled
        }
    }

    /// The number of its recipients.
    pub(crate) const fn recipients(&self) -> u64 {
        self.recipients
    }

    /// The id of the send.
    pub const fn send_id(&self) -> Uuid {
        self.send_id
    }

    /// The id of the group that the send goes to, if it goes to one: the recipient of its message.
    pub fn group(&self) -> Option<&str> {
        match &self.only {
            Some(Only::Group(id)) => Some(id),
            Some(Only::Number(_)) | None => None,
        }
    }
}

/// A message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// Its outcome.
    pub outcome: Outcome,
    /// When the outcome was recorded; `None` for a message that was never attempted.
    pub updated_at: Option<Timestamp>,
}

/// How many rows a send has in the ledger.
struct Attempted {
    all: u64,
    /// The messages that match.
    matching: u64,
    /// The matching messages below `settled`.
    settled: u64,
}

impl Store {
    /// `FROM` and `WHERE` of the rows of a send from one ordinal up to another; send and ordinals are the first three
    /// parameters, and further conditions may follow. PostgreSQL assumes that ordinals and sends are independent,
    /// expects many times as many rows, and would read the whole table for the first ordinals of a large send. The
    /// limit, which excludes no row, makes it use the index.
    pub(crate) const fn rows_between(&self) -> &'static str {
        match self.backend {
            DbBackend::Postgres => {
                "FROM (SELECT * FROM message WHERE send_id = $1 AND ordinal >= $2 AND ordinal < $3 \
                 ORDER BY ordinal LIMIT GREATEST($3 - $2, 0)) AS message WHERE true"
            }
            _ => "FROM message WHERE send_id = $1 AND ordinal >= $2 AND ordinal < $3",
        }
    }
}

impl Sends<'_> {
    /// The company's accepted send of this id, to read its messages.
    pub async fn snapshot(self, send_id: Uuid) -> Result<Option<SendSnapshot>> {
        Ok(self.snapshots("id = $3", send_id).await?.pop())
    }

    /// The company's accepted sends that `chosen` selects, the oldest first. Its parameter `$3` is `send_id`.
    pub(super) async fn snapshots(self, chosen: &str, send_id: Uuid) -> Result<Vec<SendSnapshot>> {
        // The content may be long: it is read only if it names the recipient.
        let sql = format!(
            "SELECT recipients, recipient, high_water, settled, state, \
             CASE WHEN recipient = {GROUP} THEN content END, id FROM send \
             WHERE company_id = $1 AND state > $2 AND {chosen} ORDER BY id"
        );
        let values = [self.company.into(), State::Resolving.as_i16().into(), send_id.into()];
        self.store.rows(sql, values).await?.iter().map(snapshot).collect()
    }
}

impl Messages<'_> {
    /// A part of a send's messages by ordinal, only those in `state` if given, and how many match.
    pub async fn page(
        self,
        snapshot: &SendSnapshot,
        state: Option<message::State>,
        window: impl Into<Window<u64>>,
    ) -> Result<Page<Message>> {
        let window = window.into();
        let limit = window.limit;
        let (offset, after) = window.parts();
        let following = after.map(|ordinal| ordinal.saturating_add(1));
        let (total, start) = match state {
            None => (snapshot.recipients, Some(following.unwrap_or(offset))),
            Some(state) => {
                let attempted = self.attempted(snapshot, state).await?;
                let high_water = snapshot.progress.high_water.min(snapshot.recipients);
                let reserved = high_water.saturating_sub(attempted.all);
                let mut total = attempted.matching;
                if state == snapshot.reserved {
                    total += reserved;
                }
                if state == snapshot.unattempted {
                    total += snapshot.recipients.saturating_sub(attempted.all + reserved);
                }
                let start = match following {
                    Some(following) => Some(following),
                    None => self.ordinal_of(snapshot, state, &attempted, offset).await?,
                };
                (total, start)
            }
        };
        let records = match start {
            Some(start) if offset < total => self.from(snapshot, state, start, limit).await?,
            _ => Vec::new(),
        };
        Ok(Page { records, total })
    }

    /// The first messages of a send from `ordinal` on, only those in `state` if given, at most `limit`.
    /// Fewer than that mean that there are no more.
    pub async fn from(
        self,
        snapshot: &SendSnapshot,
        state: Option<message::State>,
        ordinal: u64,
        limit: u64,
    ) -> Result<Vec<Message>> {
        let Some(state) = state else { return self.stretch(snapshot, ordinal, limit).await };
        let (settled, end) = (snapshot.progress.settled, snapshot.rowless_end(state));
        if end <= settled {
            return self.rows_in(snapshot, state, ordinal, snapshot.recipients, limit).await;
        }
        let mut found = self.rows_in(snapshot, state, ordinal, settled, limit).await?;
        let mut next = ordinal.max(settled);
        while (found.len() as u64) < limit && next < end {
            let stretch = self.stretch(snapshot, next, limit.max(STRETCH)).await?;
            let Some(last) = stretch.last() else { break };
            next = last.outcome.position.ordinal + 1;
            found.extend(stretch.into_iter().filter(|message| message.outcome.state == state));
        }
        found.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
        Ok(found)
    }

    /// The ordinal of the message that follows `offset` others in this state.
    async fn ordinal_of(
        self,
        snapshot: &SendSnapshot,
        state: message::State,
        attempted: &Attempted,
        offset: u64,
    ) -> Result<Option<u64>> {
        let Progress { settled, high_water } = snapshot.progress;
        let is_unattempted = state == snapshot.unattempted;
        let may_be_rowless = snapshot.rowless_end(state) > settled;
        let below = if may_be_rowless { settled } else { snapshot.recipients };
        if !may_be_rowless || offset < attempted.settled {
            let sql = "SELECT ordinal FROM message WHERE send_id = $1 AND state = $2 AND ordinal < $3 \
                       ORDER BY ordinal LIMIT 1 OFFSET $4";
            let values =
                [snapshot.send_id.into(), state.as_i16().into(), signed(below).into(), signed(offset).into()];
            return Ok(fetch_one(&self.store.read, sql, values).await?.map(i64::cast_unsigned));
        }
        // The recently attempted messages: no more than may be in flight.
        let (mut before, mut next) = (offset - attempted.settled, settled);
        while next < high_water {
            let stretch = self.stretch(snapshot, next, STRETCH.min(high_water - next)).await?;
            for message in stretch.iter().filter(|message| message.outcome.state == state) {
                if before == 0 {
                    return Ok(Some(message.outcome.position.ordinal));
                }
                before -= 1;
            }
            next += (stretch.len() as u64).max(1);
        }
        Ok(is_unattempted.then(|| next.saturating_add(before)))
    }

    async fn attempted(self, snapshot: &SendSnapshot, state: message::State) -> Result<Attempted> {
        let sql = "SELECT COUNT(*), COUNT(*) FILTER (WHERE state = $2), \
                   COUNT(*) FILTER (WHERE state = $2 AND ordinal < $3) FROM message WHERE send_id = $1";
        let settled = signed(snapshot.progress.settled);
        let values = [snapshot.send_id.into(), state.as_i16().into(), settled.into()];
        let row: Option<(i64, i64, i64)> = fetch_one(&self.store.read, sql, values).await?;
        let (all, matching, settled) = row.unwrap_or_default();
        let [all, matching, settled] = [all, matching, settled].map(i64::cast_unsigned);
        Ok(Attempted { all, matching, settled })
    }

    /// Rows of the ledger in this state, their ordinals from `from` up to `to`.
    async fn rows_in(
        self,
        snapshot: &SendSnapshot,
        state: message::State,
        from: u64,
        to: u64,
        limit: u64,
    ) -> Result<Vec<Message>> {
        let values = [
            snapshot.send_id.into(),
            signed(from).into(),
            signed(to).into(),
            state.as_i16().into(),
            signed(limit).into(),
        ];
        self.rows_where(" AND state = $4 ORDER BY ordinal LIMIT $5", values).await
    }

    /// Rows of the ledger, of the send and the ordinals of the first three values, with `more` conditions and an order.
    async fn rows_where(self, more: &str, values: impl IntoIterator<Item = Value>) -> Result<Vec<Message>> {
        let sql = format!("SELECT {COLUMNS} {}{more}", self.store.rows_between());
        self.store.rows(sql, values).await?.iter().map(message).collect()
    }

    /// Every message from `ordinal` on, at most `limit`.
    async fn stretch(self, snapshot: &SendSnapshot, ordinal: u64, limit: u64) -> Result<Vec<Message>> {
        let end = ordinal.saturating_add(limit).min(snapshot.recipients);
        if ordinal >= end {
            return Ok(Vec::new());
        }
        let values = [snapshot.send_id.into(), signed(ordinal).into(), signed(end).into()];
        let rows = self.rows_where("", values).await?.into_iter();
        let mut attempted: HashMap<_, _> =
            rows.map(|message| (message.outcome.position.ordinal, message)).collect();
        let numbers = self.numbers(snapshot, ordinal, end).await?;
        let with_ordinals = (ordinal..end).zip(numbers);
        Ok(with_ordinals
            .map(|(ordinal, recipient)| {
                attempted.remove(&ordinal).unwrap_or(Message {
                    outcome: Outcome {
                        position: Position { ordinal, recipient },
                        state: snapshot.rowless(ordinal),
                        attempts: 0,
                        provider_message_id: None,
                        error: None,
                        retry_at: None,
                        taken_at: None,
                    },
                    updated_at: None,
                })
            })
            .collect())
    }

    /// The recipients from `ordinal` up to `end`.
    async fn numbers(
        self,
        snapshot: &SendSnapshot,
        ordinal: u64,
        end: u64,
    ) -> Result<Vec<Option<PhoneNumber>>> {
        match snapshot.only {
            Some(Only::Number(number)) => return Ok(vec![Some(number)]),
            Some(Only::Group(_)) => return Ok(vec![None]),
            None => {}
        }
        let (mut found, mut next) = (Vec::new(), ordinal);
        while next < end {
            let (first, numbers) = self.store.sends().block_at(snapshot.send_id, next).await?;
            let place = |ordinal: u64| usize::try_from(ordinal - first).unwrap_or(usize::MAX);
            let here = numbers.get(place(next)..place(end).min(numbers.len())).unwrap_or_default();
            if here.is_empty() {
                let what = format!("send {} has no recipient at {next}", snapshot.send_id);
                return Err(Error::Impossible(what));
            }
            next += here.len() as u64;
            found.extend(here.iter().copied().map(Some));
        }
        Ok(found)
    }
}

/// One row of [`Sends::snapshots`].
fn snapshot(row: &QueryResult) -> Result<SendSnapshot> {
    let only: Option<i64> = row.try_get_by_index(1)?;
    let only = only.map(|only| sole(only, row)).transpose()?;
    let state = send_state(row.try_get_by_index(4)?)?;
    Ok(SendSnapshot {
        send_id: row.try_get_by_index(6)?,
        recipients: unsigned(row, 0)?,
        only,
        progress: Progress { high_water: unsigned(row, 2)?, settled: unsigned(row, 3)? },
        reserved: state.of_reserved(),
        unattempted: state.of_unattempted(),
    })
}

fn unsigned(row: &QueryResult, index: usize) -> Result<u64> {
    Ok(row.try_get_by_index::<i64>(index)?.cast_unsigned())
}

/// The recipient that the row of a send names: by its number, or in the content.
fn sole(stored: i64, row: &QueryResult) -> Result<Only> {
    if let Some(number) = recipient(stored)? {
        return Ok(Only::Number(number));
    }
    let content: Option<String> = row.try_get_by_index(5)?;
    let read = content.and_then(|content| serde_json::from_str::<Stored>(&content).ok());
    let group = read.and_then(|stored| stored.group);
    group.map(Only::Group).ok_or_else(|| Error::Impossible("a send to a group names no group".to_owned()))
}

/// One row of [`COLUMNS`].
fn message(row: &QueryResult) -> Result<Message> {
    let state: i16 = row.try_get_by_index(2)?;
    let attempts: i16 = row.try_get_by_index(3)?;
    let code: Option<i64> = row.try_get_by_index(5)?;
    let sentence: Option<String> = row.try_get_by_index(6)?;
    let retry_at: Option<i64> = row.try_get_by_index(7)?;
    let outcome = Outcome {
        position: Position { ordinal: unsigned(row, 0)?, recipient: recipient(row.try_get_by_index(1)?)? },
        state: super::state(state)?,
        attempts: attempts.cast_unsigned(),
        provider_message_id: row.try_get_by_index(4)?,
        error: sentence.map(|sentence| Failure { code, sentence }),
        retry_at: retry_at.map(Timestamp::from_millis),
        taken_at: row.try_get_by_index::<Option<i64>>(9)?.map(Timestamp::from_millis),
    };
    Ok(Message { outcome, updated_at: Some(Timestamp::from_millis(row.try_get_by_index(8)?)) })
}
