//! On PostgreSQL, events come from the rows that a statement changed: the statement that moves messages returns them,
//! and writes their events.
//!
//! A separate statement would read the rows as they were when it began, while another node moves them: it would miss a
//! state, or write one that the message never reached. Here an event gets its number while its row is locked, so that
//! the numbers of a message's events are in the order of its states, and a reader of one sees the earlier ones. SQLite
//! has one writer, and no statement that changes two tables: there the [announcements](super::announce) come first.

use std::fmt::Write as _;

use sea_orm::{ConnectionTrait, DbBackend, Value};

use super::Kind;
use crate::dialect::{Bulk, Incoming};
use crate::nouns::Outbox;
use crate::{Error, Result};
use domain::event::is_told;
use domain::message::State;

/// What a statement that moves messages returns of each row; the caller adds the time as `at`.
const RETURNED: &str = "message.send_id, message.ordinal, message.company_id, message.recipient, message.state, \
                        message.provider_message_id, message.error_code, message.error";

/// The states that have no event, as SQL.
pub(crate) fn untold_states() -> String {
    states(|state| !is_told(state))
}

fn states(are_meant: impl Fn(State) -> bool) -> String {
    let mut list = String::new();
    for state in State::ALL.into_iter().filter(|state| are_meant(*state)) {
        let comma = if list.is_empty() { "" } else { ", " };
        // Writing into a string cannot fail.
        let _ = write!(list, "{comma}{}", state.as_i16());
    }
    list
}

/// The statement `change`, which moves messages, with an event for each that reaches a state with one. `at` is the time
/// of the event and `tells` whether the row has one, as SQL; `now` is the number of the parameter with the present time.
/// The statement yields how many rows moved. A change that names the company of each message has an event only if the send
/// is of that company; [`with_events_of_send`] is for the messages of one send.
pub(crate) fn with_events(change: &str, at: &str, tells: &str, now: usize) -> String {
    telling(change, at, tells, " AND send.company_id = moved.company_id", now)
}

/// Like [`with_events`], for a change of messages of one send, whatever company a row has.
pub(crate) fn with_events_of_send(change: &str, at: &str, tells: &str, now: usize) -> String {
    telling(change, at, tells, "", now)
}

fn telling(change: &str, at: &str, tells: &str, of_company: &str, now: usize) -> String {
    format!(
        "WITH moved AS ({change} RETURNING {RETURNED}, {at} AS at, {tells} AS tells), \
         told AS (INSERT INTO outbox_event (kind, company_id, channel_id, subject_id, ordinal, recipient, state, \
         number, name, detail, at, written_at) \
         SELECT {kind}, send.company_id, send.channel_id, moved.send_id, moved.ordinal, moved.recipient, \
         moved.state, moved.error_code, moved.provider_message_id, moved.error, moved.at, ${now} \
         FROM moved JOIN send ON send.id = moved.send_id{of_company} \
         WHERE moved.tells AND moved.state IN ({told}) ORDER BY moved.send_id, moved.ordinal) \
         SELECT count(*) FROM moved",
        kind = Kind::Message.as_i16(),
        told = states(is_told),
    )
}

/// The statement `insert`, which stores inbound events and skips those that it has, with an event of the outbox for each
/// new one. `incoming` is the source of its rows. Yields how many are new.
pub(crate) fn with_inbound_events(insert: &str, incoming: &str, now: usize) -> String {
    format!(
        "WITH kept AS ({insert} RETURNING event.id), \
         told AS (INSERT INTO outbox_event (kind, company_id, channel_id, subject_id, recipient, name, at, \
         written_at) \
         SELECT {kind}, incoming.company_id, incoming.channel_id, incoming.id, incoming.sender, \
         incoming.identity, incoming.at, ${now} \
         FROM kept JOIN {incoming} AS incoming ON incoming.id = kept.id ORDER BY incoming.id) \
         SELECT count(*) FROM kept",
        kind = Kind::Inbound.as_i16(),
    )
}

impl Outbox<'_> {
    /// Whether the statement that changes a row writes its event.
    pub(crate) fn tells_with_change(self) -> bool {
        self.store.writes_events() && self.store.backend == DbBackend::Postgres
    }

    /// Like [`Store::write`], for statements that yield how many rows they changed.
    pub(crate) async fn write_counting(
        self,
        to: &impl ConnectionTrait,
        rows: Bulk,
        own: Vec<Value>,
        sql: impl Fn(&str, usize) -> String,
    ) -> Result<u64> {
        let mut changed = 0;
        for Incoming { select, mut values, next } in rows.into_statements() {
            values.extend_from_slice(&own);
            changed += self.count_changed(to, sql(&select, next), values).await?;
        }
        Ok(changed)
    }

    /// Executes one statement that yields how many rows it changed.
    pub(crate) async fn count_changed(
        self,
        to: &impl ConnectionTrait,
        sql: String,
        values: Vec<Value>,
    ) -> Result<u64> {
        let row = to.query_one_raw(self.store.statement(sql, values)).await?;
        let row = row.ok_or_else(|| Error::Impossible("a count without a row".to_owned()))?;
        Ok(row.try_get_by_index::<i64>(0)?.cast_unsigned())
    }
}
