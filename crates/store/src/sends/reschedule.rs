//! Moves the start of a scheduled send.
//!
//! A channel that reads the send when it becomes due, while the start is moved, must not begin it: the ledger takes no
//! first mark of a send whose start is ahead ([`takes_marks`]), and no message starts before its mark is durable. Either
//! the mark is written first, and the send has begun; or the start is moved first, and the channel drops the send until
//! it is due again.

use serde_json::json;
use uuid::Uuid;

use super::send_state;
use crate::changes::{self, What, Who};
use crate::nodes::NoteOfSend;
use crate::nouns::Sends;
use crate::{Result, execute, fetch_one};
use clock::Timestamp;
use domain::error::Refusal;
use domain::send::{Schedule, State};

/// What the record of changes says of a send whose start somebody moved.
pub const MOVED: &str = "moved";

/// The outcome of the request to move a send.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rescheduled {
    /// It starts at the new time.
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
/// complete, and if it runs and nothing of it has begun, its start has come.
pub(crate) fn takes_marks(now: usize) -> String {
    let active = State::Active.as_i16();
    format!(
        "send.state >= {active} AND (send.state > {active} OR send.high_water > 0 \
         OR send.send_at IS NULL OR send.send_at <= ${now})"
    )
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
        type Row = (Uuid, i16, i64, Option<i64>, Option<i64>, Option<String>);
        let transaction = self.store.begin().await?;
        let sql = format!(
            "SELECT channel_id, state, high_water, send_at, expires_at, given_name FROM send \
             WHERE id = $1 AND company_id = $2 AND state > $3{}",
            self.store.locking()
        );
        let values = [send_id.into(), self.company.into(), State::Resolving.as_i16().into()];
        let Some((channel_id, state, high_water, send_at, expires_at, name)) =
            fetch_one::<Row>(&transaction, sql, values).await?
        else {
            return transaction.unchanged(Rescheduled::Missing).await;
        };
        let state = send_state(state)?;
        if state.is_over() {
            return transaction.unchanged(Rescheduled::Over(state)).await;
        }
        let [send_at, expires_at] = [send_at, expires_at].map(|at| at.map(Timestamp::from_millis));
        let schedule = Schedule { send_at, expires_at };
        let before = match schedule.waits_until(now) {
            Some(before) if high_water == 0 => before,
            _ => return transaction.unchanged(Rescheduled::Begun).await,
        };
        if let Err(refusal) = schedule.starting_at(start, now) {
            return transaction.unchanged(Rescheduled::Refused(refusal)).await;
        }
        if before != start {
            let sql = "UPDATE send SET send_at = $2, due_at = $2 WHERE id = $1";
            execute(&transaction, sql, [send_id.into(), start.millis().into()]).await?;
            let mut after = json!({
                "state": MOVED, "send_at": start.to_string(), "company_id": self.company.to_string(),
            });
            if let Some(name) = name {
                after["name"] = name.into();
            }
            let before = Some(json!({ "send_at": before.to_string() }));
            changes::record_one(&transaction, who, What::Send, send_id, before, after).await?;
        }
        let note = match note {
            Some(note) => {
                let send = (self.company, send_id);
                self.store.notes().add_of_send(&transaction, send, State::Active, note).await?
            }
            None => None,
        };
        transaction.commit().await?;
        Ok(Rescheduled::Done { channel_id, note })
    }
}
