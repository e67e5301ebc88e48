//! Moves the start of a scheduled send, and withdraws one before its start.
//!
//! A channel that reads the send when it becomes due, while that happens, must not begin it: the ledger takes no first mark
//! of a send whose start is ahead, or was ahead when the send ended ([`takes_marks`]), and no message starts before its mark
//! is durable. Either the mark is written first, and the send has begun; or the start is moved or the send withdrawn first,
//! and the channel drops the send.

use sea_orm::QuerySelect;
use sea_orm::sea_query::LockType;
use serde_json::json;
use uuid::Uuid;

use super::send_state;
use crate::changes::{self, What, Who};
use crate::nodes::NoteOfSend;
use crate::nouns::Sends;
use crate::one_row::update_rows;
use crate::{Result, Transaction};
use clock::Timestamp;
use domain::error::Refusal;
use domain::send::{Schedule, State};

/// What the record of changes says of a send whose start somebody moved.
pub const MOVED: &str = "moved";

/// The outcome of the request to move or to withdraw a send.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rescheduled {
    /// It starts at the new time, or is canceled.
    Done {
        /// Its channel.
        channel_id: Uuid,
        /// The id of the note to the owner of its channel, if one was written.
        note: Option<i64>,
    },
    /// The company has no such send.
    Missing,
    /// It is over.
    Over(State),
    /// It is not scheduled, or its start has come.
    Begun,
    /// It cannot have this start.
    Refused(Refusal),
}

/// The condition under which a row of `send` takes marks, at the time of the parameter with this number: its audience is
/// complete, and something of it has begun, or its start has come, and had come when it ended if it is over.
pub(crate) fn takes_marks(now: usize) -> String {
    let active = State::Active.as_i16();
    format!(
        "send.state >= {active} AND (send.high_water > 0 OR send.send_at IS NULL OR send.send_at <= \
         CASE WHEN send.state > {active} THEN COALESCE(send.finished_at, ${now}) ELSE ${now} END)"
    )
}

/// What decides whether a send may still be moved or withdrawn.
struct Planned {
    channel_id: Uuid,
    state: State,
    has_begun: bool,
    schedule: Schedule,
    finished_at: Option<Timestamp>,
    name: Option<String>,
}

impl Planned {
    /// The start that the send waits for; otherwise, why it waits for none.
    fn start(&self, now: Timestamp) -> std::result::Result<Timestamp, Rescheduled> {
        if self.state.is_over() {
            return Err(Rescheduled::Over(self.state));
        }
        self.schedule.waits_until(now).filter(|_| !self.has_begun).ok_or(Rescheduled::Begun)
    }

    /// Whether it was canceled before its start.
    fn is_withdrawn(&self) -> bool {
        let was_ahead = self.finished_at.is_some_and(|end| self.schedule.waits_until(end).is_some());
        self.state == State::Canceled && !self.has_begun && was_ahead
    }
}

impl Sends<'_> {
    /// Moves the start of a send that is scheduled and has not begun. Records the change and leaves the note for the
    /// owner of its channel. A send that starts at this time already is not changed; its note is written again.
    pub async fn reschedule(
        self,
        send_id: Uuid,
        start: Timestamp,
        now: Timestamp,
        who: &Who,
        note: Option<&NoteOfSend>,
    ) -> Result<Rescheduled> {
        let transaction = self.store.begin().await?;
        let Some(planned) = self.planned(&transaction, send_id).await? else {
            return transaction.unchanged(Rescheduled::Missing).await;
        };
        let before = match planned.start(now) {
            Ok(before) => before,
            Err(why) => return transaction.unchanged(why).await,
        };
        let Planned { channel_id, schedule, name, .. } = planned;
        if let Err(refusal) = schedule.starting_at(start, now) {
            return transaction.unchanged(Rescheduled::Refused(refusal)).await;
        }
        if before != start {
            let set = [("send_at", start.millis().into()), ("due_at", start.millis().into())];
            update_rows(&transaction, "send", set, [("id", send_id.into())]).await?;
            let mut after = json!({
                "state": MOVED, "send_at": start.to_string(), "company_id": self.company.to_string(),
            });
            if let Some(name) = name {
                after["name"] = name.into();
            }
            let before = Some(json!({ "send_at": before.to_string() }));
            changes::record_one(&transaction, who, What::Send, send_id, before, after).await?;
        }
        let note = self.note_of(&transaction, send_id, State::Active, note).await?;
        transaction.commit().await?;
        Ok(Rescheduled::Done { channel_id, note })
    }

    /// Cancels a send that is scheduled and has not begun: no message of it ever goes. Records the change and leaves the
    /// note for the owner of its channel. A send that was canceled before its start is not changed; its note is written
    /// again.
    pub async fn withdraw(
        self,
        send_id: Uuid,
        now: Timestamp,
        who: &Who,
        note: Option<&NoteOfSend>,
    ) -> Result<Rescheduled> {
        let transaction = self.store.begin().await?;
        let Some(planned) = self.planned(&transaction, send_id).await? else {
            return transaction.unchanged(Rescheduled::Missing).await;
        };
        if !planned.is_withdrawn() {
            if let Err(why) = planned.start(now) {
                return transaction.unchanged(why).await;
            }
            self.cancel_within(&transaction, send_id, now, Some(who)).await?;
        }
        let note = self.note_of(&transaction, send_id, State::Canceled, note).await?;
        transaction.commit().await?;
        self.store.tell_of_events();
        Ok(Rescheduled::Done { channel_id: planned.channel_id, note })
    }

    /// Reads a send, and locks it until the transaction ends; `None` when the company has no such send.
    async fn planned(self, within: &Transaction, send_id: Uuid) -> Result<Option<Planned>> {
        let locked = self.accepted(send_id).lock(LockType::NoKeyUpdate);
        let Some(send) = locked.one(within).await? else { return Ok(None) };
        let [send_at, expires_at, finished_at] =
            [send.send_at, send.expires_at, send.finished_at].map(|at| at.map(Timestamp::from_millis));
        Ok(Some(Planned {
            channel_id: send.channel_id,
            state: send_state(send.state)?,
            has_begun: send.high_water > 0,
            schedule: Schedule { send_at, expires_at },
            finished_at,
            name: send.given_name,
        }))
    }

    /// Leaves the note about a send in this state, if there is one, for the owner of its channel.
    pub(super) async fn note_of(
        self,
        within: &Transaction,
        send_id: Uuid,
        state: State,
        note: Option<&NoteOfSend>,
    ) -> Result<Option<i64>> {
        match note {
            Some(note) => self.store.notes().add_of_send(within, (self.company, send_id), state, note).await,
            None => Ok(None),
        }
    }
}
