//! Outcomes of attempts, and the progress of their sends.

use std::collections::HashSet;
use std::hash::Hash;

use sea_orm::ConnectionTrait;
use uuid::Uuid;

use super::{OutcomeOf, PendingWrites};
use crate::dialect::{Bulk, Cell, Rows, Type};
use crate::event_log::untold_states;
use crate::nouns::Ledger;
use crate::sends::reschedule::takes_marks;
use crate::sends::{key, stored_recipient};
use crate::{Result, execute, fetch};
use clock::Timestamp;
use domain::message::{self, Failure, Key};
use domain::send::{Mark, State};

pub(super) const OUTCOME: &[(&str, Type)] = &[
    ("send_id", Type::Uuid),
    ("ordinal", Type::Int),
    ("company_id", Type::Uuid),
    ("recipient", Type::Int),
    ("state", Type::Int),
    ("attempts", Type::Int),
    ("provider_message_id", Type::Text),
    ("error_code", Type::Int),
    ("error", Type::Text),
    ("retry_at", Type::Int),
    ("taken_at", Type::Int),
];
pub(super) const MARK: &[(&str, Type)] = &[
    ("id", Type::Uuid),
    ("high_water", Type::Int),
    ("settled", Type::Int),
    ("state", Type::Int),
    ("due_at", Type::Int),
];
const KEY: &[(&str, Type)] = &[("send_id", Type::Uuid), ("ordinal", Type::Int)];
/// The rank of the state in `column`, as SQL.
pub(crate) fn rank(column: &str) -> String {
    let cases: Vec<_> = message::State::ALL
        .iter()
        .map(|state| format!("WHEN {} THEN {}", state.as_i16(), state.rank()))
        .collect();
    format!("CASE {column} {} END", cases.join(" "))
}

/// The states that a channel's own attempts can still change, as SQL.
fn open_states() -> String {
    let open = message::State::ALL.iter().filter(|state| state.is_open());
    open.map(|state| state.as_i16().to_string()).collect::<Vec<_>>().join(", ")
}

/// The last statement on each subject, because one SQL statement can change a row only once.
fn last_words<T, K: Eq + Hash>(words: &[T], about: impl Fn(&T) -> K) -> impl Iterator<Item = &T> {
    let mut seen = HashSet::with_capacity(words.len());
    let mut last: Vec<_> = words.iter().rev().filter(|word| seen.insert(about(word))).collect();
    last.reverse();
    last.into_iter()
}

/// The last outcome of each message, in the order in which rows are locked.
pub(super) fn last_outcomes(batch: &PendingWrites) -> Vec<&OutcomeOf> {
    let key = |row: &OutcomeOf| (row.send_id, row.outcome.position.ordinal);
    let mut outcomes: Vec<_> = last_words(&batch.outcomes, key).collect();
    outcomes.sort_unstable_by_key(|row| key(row));
    outcomes
}

/// The last mark of each send.
pub(super) fn last_marks(batch: &PendingWrites) -> Vec<&Mark> {
    last_words(&batch.marks, |mark| mark.send_id).collect()
}

/// The row of an outcome, as [`OUTCOME`] names its columns. A message that has ended waits for no retry.
pub(super) fn cells_of_outcome(row: &OutcomeOf) -> [Cell<'_>; OUTCOME.len()] {
    let OutcomeOf { send_id, company_id, outcome } = row;
    [
        (*send_id).into(),
        outcome.position.ordinal.cast_signed().into(),
        (*company_id).into(),
        stored_recipient(outcome.position.recipient).into(),
        i64::from(outcome.state.as_i16()).into(),
        i64::from(outcome.attempts.min(i16::MAX.cast_unsigned())).into(),
        Cell::Text(outcome.provider_message_id.as_deref()),
        Cell::Int(outcome.error.as_ref().and_then(|failure: &Failure| failure.code)),
        Cell::Text(outcome.error.as_ref().map(|failure| failure.sentence.as_str())),
        Cell::Int(outcome.retry_at.filter(|_| outcome.state.is_open()).map(Timestamp::millis)),
        Cell::Int(outcome.taken_at.map(Timestamp::millis)),
    ]
}

/// The row of a mark, as [`MARK`] names its columns.
pub(super) fn cells_of_mark(mark: &Mark) -> [Cell<'static>; MARK.len()] {
    [
        mark.send_id.into(),
        mark.progress.high_water.cast_signed().into(),
        mark.progress.settled.cast_signed().into(),
        i64::from(mark.state.as_i16()).into(),
        Cell::Int(mark.due_at.map(Timestamp::millis)),
    ]
}

/// The statement that inserts outcomes. It ends with the source of the rows.
pub(super) fn insert_into_message(incoming: &str, now: usize) -> String {
    format!(
        "INSERT INTO message (send_id, ordinal, company_id, recipient, state, attempts, \
         provider_message_id, error_code, error, retry_at, taken_at, updated_at) \
         SELECT send_id, ordinal, company_id, recipient, state, attempts, provider_message_id, \
         error_code, error, retry_at, taken_at, ${now} FROM {incoming} AS incoming"
    )
}

/// Whether a message keeps its state, because a receipt says more than the outcome.
fn heard() -> String {
    format!(
        "message.state NOT IN ({}) AND {} <= {}",
        open_states(),
        rank("excluded.state"),
        rank("message.state")
    )
}

/// The update for a message that has a row. A receipt may have come first: its state stays unless the outcome is
/// further along. No attempt follows the announcement of a message that has ended, so the announcement does not set the
/// time when the provider took it.
pub(super) fn unless_heard() -> String {
    let announced = message::State::Sending.as_i16();
    let heard = heard();
    format!(
        "ON CONFLICT (send_id, ordinal) DO UPDATE SET \
         state = CASE WHEN {heard} THEN message.state ELSE excluded.state END, \
         recipient = excluded.recipient, attempts = excluded.attempts, \
         provider_message_id = COALESCE(excluded.provider_message_id, message.provider_message_id), \
         error_code = CASE WHEN {heard} THEN message.error_code ELSE excluded.error_code END, \
         error = CASE WHEN {heard} THEN message.error ELSE excluded.error END, \
         retry_at = CASE WHEN {heard} THEN NULL ELSE excluded.retry_at END, \
         taken_at = CASE WHEN {heard} AND excluded.state = {announced} THEN message.taken_at \
         WHEN {heard} THEN COALESCE(message.taken_at, excluded.taken_at) ELSE excluded.taken_at END, \
         updated_at = excluded.updated_at"
    )
}

/// The condition of that update under which its row takes the state of the outcome and, if the state has an event, did
/// not have it before.
fn if_state_changes() -> String {
    format!(
        "WHERE NOT ({}) AND (message.state <> excluded.state OR excluded.state IN ({}))",
        heard(),
        untold_states()
    )
}

/// The statement that moves the marks of sends that take them.
pub(super) fn update_send(incoming: &str, now: usize) -> String {
    format!(
        "UPDATE send SET high_water = incoming.high_water, settled = incoming.settled, \
         state = CASE WHEN send.state > {active} THEN send.state ELSE incoming.state END, \
         due_at = incoming.due_at, \
         finished_at = CASE WHEN send.finished_at IS NULL AND incoming.state > {active} THEN ${now} \
         ELSE send.finished_at END \
         FROM {incoming} AS incoming WHERE send.id = incoming.id AND {takes_marks}",
        active = State::Active.as_i16(),
        takes_marks = takes_marks(now)
    )
}

impl Ledger<'_> {
    pub(super) async fn upsert_outcomes(
        self,
        to: &impl ConnectionTrait,
        batch: &PendingWrites,
        now: Timestamp,
    ) -> Result<()> {
        let mut rows = Bulk::new(self.store.backend, OUTCOME);
        let outcomes = last_outcomes(batch);
        for row in &outcomes {
            rows.push(cells_of_outcome(row));
        }
        // `WHERE TRUE` keeps SQLite's parser from reading ON as a join's.
        let upsert = |incoming: &str, now| {
            format!("{} WHERE TRUE {}", insert_into_message(incoming, now), unless_heard())
        };
        let own = vec![now.millis().into()];
        let log = self.store.event_log();
        if !log.is_read(to).await? {
            self.store.write(to, rows, own, upsert).await?;
            return Ok(());
        }
        let moving = |incoming: &str, now| format!("{} {}", upsert(incoming, now), if_state_changes());
        let moved = log.moving(to, rows, own.clone(), moving).await?;
        if moved.len() < outcomes.len() {
            // The others keep their states. Their rows are locked by now.
            let mut rows = Bulk::new(self.store.backend, OUTCOME);
            let has_moved: HashSet<_> = moved.iter().map(|row| row.key).collect();
            let key = |row: &OutcomeOf| Key { send_id: row.send_id, ordinal: row.outcome.position.ordinal };
            outcomes
                .iter()
                .filter(|row| !has_moved.contains(&key(row)))
                .for_each(|row| rows.push(cells_of_outcome(row)));
            self.store.write(to, rows, own, upsert).await?;
        }
        log.tell_moved(to, &moved, |_| now, now).await
    }

    /// The announced messages that have ended, according to their rows.
    pub(super) async fn overtaken(
        self,
        to: &impl ConnectionTrait,
        batch: &PendingWrites,
    ) -> Result<Vec<Key>> {
        let mut rows = Rows::new(self.store.backend, KEY);
        for OutcomeOf { send_id, outcome, .. } in &batch.outcomes {
            if outcome.state == message::State::Sending {
                rows.push([(*send_id).into(), outcome.position.ordinal.cast_signed().into()]);
            }
        }
        if rows.is_empty() {
            return Ok(Vec::new());
        }
        let (announced, values) = rows.select(1);
        let sql = format!(
            "SELECT message.send_id, message.ordinal FROM {announced} AS announced \
             JOIN message ON message.send_id = announced.send_id AND message.ordinal = announced.ordinal \
             WHERE message.state NOT IN ({})",
            open_states()
        );
        Ok(fetch(to, sql, values).await?.into_iter().map(key).collect())
    }

    pub(super) async fn mark_progress(
        self,
        to: &impl ConnectionTrait,
        batch: &PendingWrites,
        now: Timestamp,
    ) -> Result<Vec<Uuid>> {
        let marks = last_marks(batch);
        let mut rows = Bulk::new(self.store.backend, MARK);
        for mark in &marks {
            rows.push(cells_of_mark(mark));
        }
        let ends = marks.iter().map(|mark| (mark.send_id, mark.state));
        self.store.event_log().tell_ends(to, ends, now).await?;
        let written = self.store.write(to, rows, vec![now.millis().into()], update_send);
        let written = written.await?;
        for mark in marks.iter().filter(|mark| matches!(mark.state, State::Canceled | State::Expired)) {
            self.end_messages(to, mark.send_id, mark.state, now).await?;
        }
        if written >= marks.len() as u64 {
            return Ok(Vec::new());
        }
        let asked = Rows::of_ids(self.store.backend, marks.iter().map(|mark| &mark.send_id));
        let (asked, mut values) = asked.select(1);
        values.push(now.millis().into());
        let sql = format!(
            "SELECT asked.id FROM {asked} AS asked WHERE NOT EXISTS \
             (SELECT 1 FROM send WHERE send.id = asked.id AND {})",
            takes_marks(values.len())
        );
        fetch(to, sql, values).await
    }

    /// Ends the messages that wait for a retry in an ended send. Messages that may have been sent stay unknown.
    pub(crate) async fn end_messages(
        self,
        to: &impl ConnectionTrait,
        send_id: Uuid,
        state: State,
        now: Timestamp,
    ) -> Result<()> {
        let end = match state {
            State::Canceled => message::State::Canceled,
            _ => message::State::Expired,
        };
        let (queued, unknown) = (message::State::Queued.as_i16(), message::State::Unknown.as_i16());
        let update = format!(
            "UPDATE message SET state = CASE message.state WHEN {queued} THEN $2 ELSE {unknown} END, \
             retry_at = NULL, updated_at = $3 \
             FROM (SELECT ordinal, state AS earlier FROM message WHERE send_id = $1 AND retry_at IS NOT NULL \
             ORDER BY ordinal{locking}) AS waiting \
             WHERE message.send_id = $1 AND message.ordinal = waiting.ordinal AND message.retry_at IS NOT NULL",
            locking = self.store.locking(),
        );
        let values = vec![send_id.into(), end.as_i16().into(), now.millis().into()];
        self.store.event_log().tell_ended_messages(to, send_id, end, now).await?;
        execute(to, update, values).await?;
        Ok(())
    }
}
