//! Changes a send from outside its channel: pause, resume, cancel, expire.
//!
//! The store decides; a channel that has the send in memory is notified afterwards and releases it. Every change begins
//! at the company.

use entity::send::{ActiveModel, Column, Entity};
use entity::{company, message as message_row};
use sea_orm::sea_query::Expr;
use sea_orm::{
    ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect, QueryTrait, Select, Set, UpdateMany,
};
use serde_json::json;
use uuid::Uuid;

use super::send_state;
use crate::changes::{self, What, Who};
use crate::nodes::NoteOfSend;
use crate::nouns::{AllSends, Sends};
use crate::{Result, Transaction, execute};
use clock::Timestamp;
use domain::message;
use domain::send::{Control, State};

/// What the record of changes says of a send that somebody paused, resumed or canceled.
pub const PAUSED: &str = "paused";
/// The same after it was resumed.
pub const RESUMED: &str = "resumed";
/// The same after it was canceled.
pub const CANCELED: &str = "canceled";

/// A send's state after it was paused, resumed or canceled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SendControl {
    /// Its channel.
    pub channel_id: Uuid,
    /// Its state.
    pub state: State,
    /// Whether it runs.
    pub control: Control,
    /// The id of the note to the owner of its channel, if one was written.
    pub note: Option<i64>,
}

impl Sends<'_> {
    /// Pauses or resumes a send, unless it is over. Records the change, if somebody is named who made it, and leaves
    /// the note for the owner of its channel. Returns its state; `None` when the company has no such send.
    pub async fn control(
        self,
        send_id: Uuid,
        control: Control,
        who: Option<&Who>,
        note: Option<&NoteOfSend>,
    ) -> Result<Option<SendControl>> {
        let transaction = self.store.begin().await?;
        let other = active(send_id)
            .filter(Column::CompanyId.eq(self.company))
            .filter(Column::Control.ne(control.as_i16()))
            .col_expr(Column::Control, Expr::value(control.as_i16()));
        let changed = other.exec(&transaction).await?.rows_affected;
        if let Some(who) = who.filter(|_| changed > 0) {
            let word = match control {
                Control::Paused => PAUSED,
                Control::Running => RESUMED,
            };
            self.record(&transaction, send_id, who, word).await?;
        }
        let note = self.note_of(&transaction, send_id, State::Active, note).await?;
        transaction.commit().await?;
        self.control_of(send_id, note).await
    }

    /// Cancels a send, unless it is over: messages that have not started never will. Records the change, if somebody is
    /// named who made it, and leaves the note for the owner of its channel. Returns its state; `None` when the company has
    /// no such send.
    pub async fn cancel(
        self,
        send_id: Uuid,
        now: Timestamp,
        who: Option<&Who>,
        note: Option<&NoteOfSend>,
    ) -> Result<Option<SendControl>> {
        let transaction = self.store.begin().await?;
        self.cancel_within(&transaction, send_id, now, who).await?;
        // For a send that was canceled before, the note is written again: perhaps no node acted on the first.
        let note = self.note_of(&transaction, send_id, State::Canceled, note).await?;
        transaction.commit().await?;
        self.store.tell_of_events();
        self.control_of(send_id, note).await
    }

    /// Cancels a send as a part of this transaction, unless it is over. Records the change, if somebody is named who made it.
    pub(super) async fn cancel_within(
        self,
        within: &Transaction,
        send_id: Uuid,
        now: Timestamp,
        who: Option<&Who>,
    ) -> Result<()> {
        let own = active(send_id).filter(Column::CompanyId.eq(self.company));
        if own.set(ended(State::Canceled, now)).exec(within).await?.rows_affected > 0 {
            self.store.event_log().tell_end(within, send_id, now).await?;
            self.store.ledger().end_messages(within, send_id, State::Canceled, now).await?;
            if let Some(who) = who {
                self.record(within, send_id, who, CANCELED).await?;
            }
        }
        Ok(())
    }

    /// Records what somebody did to a send, with the name that it was given.
    async fn record(self, within: &Transaction, send_id: Uuid, who: &Who, became: &str) -> Result<()> {
        let name = Entity::find_by_id(send_id).select_only().column(Column::GivenName);
        let name = name.into_tuple::<Option<String>>().one(within).await?.flatten();
        let mut after = json!({ "state": became, "company_id": self.company.to_string() });
        if let Some(name) = name {
            after["name"] = name.into();
        }
        changes::record_one(within, who, What::Send, send_id, None, after).await
    }

    async fn control_of(self, send_id: Uuid, note: Option<i64>) -> Result<Option<SendControl>> {
        let columns = [Column::ChannelId, Column::State, Column::Control];
        let row = self.accepted(send_id).select_only().columns(columns).into_tuple::<(Uuid, i16, i16)>();
        let Some((channel_id, state, control)) = row.one(&self.store.read).await? else { return Ok(None) };
        Ok(Some(SendControl {
            channel_id,
            state: send_state(state)?,
            control: if control == Control::Paused.as_i16() { Control::Paused } else { Control::Running },
            note,
        }))
    }
}

impl AllSends<'_> {
    /// Ends expired sends, of which at most `limit` are examined. Returns those with their channels.
    pub async fn expire(self, now: Timestamp, limit: u32) -> Result<Vec<(Uuid, Uuid)>> {
        let due = all_active().filter(Column::ExpiresAt.lte(now.millis())).order_by_asc(Column::Id);
        let due = due.limit(u64::from(limit)).columns([Column::Id, Column::ChannelId]);
        let due = due.into_tuple::<(Uuid, Uuid)>().all(&self.store.read).await?;
        if due.is_empty() {
            return Ok(due);
        }
        let transaction = self.store.begin().await?;
        self.store.ledger().lock_sends(&transaction, due.iter().map(|(send_id, _)| *send_id)).await?;
        let mut expired = Vec::with_capacity(due.len());
        for (send_id, channel_id) in due {
            let expired_now = active(send_id).set(ended(State::Expired, now)).exec(&transaction).await?;
            // The send may have been canceled since it was found.
            if expired_now.rows_affected > 0 {
                self.store.event_log().tell_end(&transaction, send_id, now).await?;
                self.store.ledger().end_messages(&transaction, send_id, State::Expired, now).await?;
                expired.push((send_id, channel_id));
            }
        }
        transaction.commit().await?;
        self.store.tell_of_events();
        Ok(expired)
    }

    /// Sends of disabled companies that are neither over nor paused, each with its company: at most `limit` of each company.
    pub async fn of_disabled_companies(self, limit: u32) -> Result<Vec<(Uuid, Uuid)>> {
        let disabled = company::Entity::find().filter(company::Column::DisabledAt.is_not_null());
        let mut found = Vec::new();
        for company::Model { id: company_id, .. } in disabled.all(&self.store.read).await? {
            let sends = all_active()
                .filter(Column::CompanyId.eq(company_id))
                .filter(Column::Control.eq(Control::Running.as_i16()))
                .order_by_asc(Column::Id)
                .limit(u64::from(limit));
            let sends = sends.column(Column::Id).into_tuple::<Uuid>().all(&self.store.read).await?;
            found.extend(sends.into_iter().map(|send_id| (send_id, company_id)));
        }
        Ok(found)
    }

    /// Delays the retries of messages that may have been sent until `until`, in unfinished sends. Returns how many
    /// messages it delays.
    pub async fn put_off_unknown(self, until: Timestamp) -> Result<u64> {
        let doubtful = format!(
            "retry_at IS NOT NULL AND retry_at < $2 \
             AND (state IN ({sending}, {unknown}) OR (state = {queued} AND taken_at IS NOT NULL)) \
             AND send_id IN (SELECT id FROM send WHERE state < 2 AND state = {active})",
            queued = message::State::Queued.as_i16(),
            sending = message::State::Sending.as_i16(),
            unknown = message::State::Unknown.as_i16(),
            active = State::Active.as_i16(),
        );
        let sql = format!(
            "UPDATE message SET retry_at = $1 WHERE {doubtful} AND (send_id, ordinal) IN \
             (SELECT send_id, ordinal FROM message WHERE {doubtful} ORDER BY send_id, ordinal{})",
            self.store.locking()
        );
        let values = [until.millis().into(), until.millis().into()];
        execute(&self.store.write, sql, values).await
    }

    /// Ends the waiting messages of ended sends: they were put back just before their process ended or gave their
    /// channel away, and the channel would have ended them. Returns how many sends had such messages.
    pub async fn end_left_messages(self, now: Timestamp) -> Result<u64> {
        let waiting = message_row::Entity::find().filter(message_row::Column::RetryAt.is_not_null());
        let waiting = waiting.select_only().column(message_row::Column::SendId).into_query();
        let over = Entity::find()
            .filter(Column::State.is_in([State::Canceled, State::Expired].map(State::as_i16)))
            .filter(Column::Id.in_subquery(waiting));
        let over = over.select_only().columns([Column::Id, Column::State]).into_tuple::<(Uuid, i16)>();
        let mut over = over.all(&self.store.read).await?;
        if over.is_empty() {
            return Ok(0);
        }
        over.sort_unstable();
        let transaction = self.store.begin().await?;
        self.store.ledger().lock_sends(&transaction, over.iter().map(|(send_id, _)| *send_id)).await?;
        for (send_id, state) in &over {
            let is_canceled = *state == State::Canceled.as_i16();
            let end = if is_canceled { State::Canceled } else { State::Expired };
            self.store.ledger().end_messages(&transaction, *send_id, end, now).await?;
        }
        transaction.commit().await?;
        self.store.tell_of_events();
        Ok(over.len() as u64)
    }

    /// When the next scheduled send of a channel is due.
    pub async fn next_due(self, channel_id: Uuid, now: Timestamp) -> Result<Option<Timestamp>> {
        let scheduled = all_active()
            .filter(Column::ChannelId.eq(channel_id))
            .filter(Column::Control.eq(Control::Running.as_i16()))
            .filter(Column::DueAt.is_not_null())
            .filter(Column::DueAt.gt(now.millis()));
        let due = scheduled.expr(Column::DueAt.min()).into_tuple::<Option<i64>>();
        Ok(due.one(&self.store.read).await?.flatten().map(Timestamp::from_millis))
    }
}

/// The sends that are accepted and not over, still without columns. As text, because indexes of sends have the condition.
fn all_active() -> Select<Entity> {
    let state = State::Active.as_i16();
    Entity::find().filter(Expr::cust(format!("state < 2 AND state = {state}"))).select_only()
}

/// One of them, to be changed.
fn active(send_id: Uuid) -> UpdateMany<Entity> {
    Entity::update_many().filter(Column::Id.eq(send_id)).filter(Column::State.eq(State::Active.as_i16()))
}

/// What changes of a send that ends in this state.
fn ended(state: State, now: Timestamp) -> ActiveModel {
    ActiveModel {
        state: Set(state.as_i16()),
        finished_at: Set(Some(now.millis())),
        due_at: Set(None),
        ..Default::default()
    }
}
