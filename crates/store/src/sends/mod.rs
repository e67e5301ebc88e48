//! Sends. This file reads a channel's unfinished sends and the recipients of a block. People's actions on sends, lists,
//! messages and counts are in files of their own.

pub mod control;
mod family;
pub mod idempotency;
mod label;
pub mod list;
pub mod messages;
pub mod personal;
mod recent;
pub mod reschedule;
mod sent;
mod tally;

use std::collections::HashMap;

use entity::message as message_row;
use entity::send::{Column, Entity};
use sea_orm::{
    ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter, QueryOrder, QueryResult, QuerySelect, Select,
};
use uuid::Uuid;

pub use self::label::StoredLabel;
pub use self::recent::Countable;
pub use self::sent::Sent;
use crate::dialect::{Rows, Type};
use crate::ledger::personal::OF_SEND;
use crate::nouns::{AllSends, Sends};
use crate::templates::{APPROVED, MARKETING};
use crate::{Error, Lease, Result, execute, fetch, fetch_one, moment};
use clock::Timestamp;
use domain::block::unpack;
use domain::message::{self, Key, Position};
use domain::phone::PhoneNumber;
use domain::send::{Control, Progress, Recipients, State, TemplateUse};

/// An accepted send that is not finished.
#[derive(Debug, Clone)]
pub struct Unfinished {
    /// Its id.
    pub id: Uuid,
    /// The company that it belongs to.
    pub company_id: Uuid,
    /// The content, as JSON.
    pub content: String,
    /// Its recipients.
    pub recipients: Recipients,
    /// Its progress.
    pub progress: Progress,
    /// The template that it sends, if any.
    pub template: Option<TemplateUse>,
    /// No message of it starts at this moment or later.
    pub expires_at: Option<Timestamp>,
}

/// A message that waits for a retry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Waiting {
    /// Which message.
    pub position: Position,
    /// Its state: queued, or unknown.
    pub state: message::State,
    /// How often it was tried.
    pub attempts: u16,
    /// When it is due.
    pub retry_at: Timestamp,
    /// When the provider may have accepted it in an earlier attempt.
    pub taken_at: Option<Timestamp>,
}

/// The waiting messages of a send that are due soon.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WaitingMessages {
    /// The messages due soon, the first ones first.
    pub soon: Vec<Waiting>,
    /// How many more there are.
    pub later: u64,
    /// When the first of the later ones is due.
    pub later_due: Option<Timestamp>,
}

/// Which unfinished sends may go now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ready {
    /// The present moment.
    pub now: Timestamp,
    /// Whether sends with a template may go.
    pub templates: bool,
}

/// The requested sends of a channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Size {
    /// Sends with one recipient.
    Direct,
    /// Sends with recipient blocks.
    Bulk,
}

/// The columns that [`unfinished`] reads, of a send and its template.
const UNFINISHED: &str = "send.id, send.company_id, content, recipients, recipient, high_water, settled, template_id, \
    category, expires_at";

impl AllSends<'_> {
    /// The oldest unfinished sends of a channel that may go now, at most `limit`: without those that are paused, that
    /// wait for a later time, or whose template the provider refuses.
    pub async fn unfinished(
        self,
        channel_id: Uuid,
        size: Size,
        ready: Ready,
        limit: usize,
    ) -> Result<Vec<Unfinished>> {
        let which = which(size);
        let template = if ready.templates {
            format!("(send.template_id IS NULL OR template.status = '{APPROVED}')")
        } else {
            "send.template_id IS NULL".to_owned()
        };
        let sql = format!(
            "SELECT {UNFINISHED} FROM send LEFT JOIN template ON template.id = send.template_id \
             WHERE channel_id = $1 AND state < 2 AND state = $2 AND control = $3 \
             AND (due_at IS NULL OR due_at <= $4) AND {template} AND send.{which} \
             ORDER BY send.id LIMIT $5"
        );
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let values = [
            channel_id.into(),
            State::Active.as_i16().into(),
            Control::Running.as_i16().into(),
            ready.now.millis().into(),
            limit.into(),
        ];
        self.store.rows(sql, values).await?.iter().map(unfinished).collect()
    }

    /// The unfinished sends among these, as [`AllSends::unfinished`](crate::AllSends::unfinished) reads them.
    pub async fn unfinished_among(self, sends: &[Uuid]) -> Result<Vec<Unfinished>> {
        let asked = Rows::of_ids(self.store.backend, sends);
        if asked.is_empty() {
            return Ok(Vec::new());
        }
        let (asked, values) = asked.select(3);
        let sql = format!(
            "SELECT {UNFINISHED} FROM {asked} AS asked JOIN send ON send.id = asked.id \
             LEFT JOIN template ON template.id = send.template_id \
             WHERE state = $1 AND control = $2 ORDER BY send.id"
        );
        let ready = [State::Active.as_i16().into(), Control::Running.as_i16().into()];
        let rows = self.store.rows(sql, ready.into_iter().chain(values)).await?;
        rows.iter().map(unfinished).collect()
    }

    /// The messages of `send_id` that wait: at most `limit` of those due before `horizon`, and how many more.
    pub async fn waiting(self, send_id: Uuid, horizon: Timestamp, limit: usize) -> Result<WaitingMessages> {
        let sql = "SELECT ordinal, recipient, state, attempts, retry_at, taken_at FROM message \
                   WHERE send_id = $1 AND retry_at IS NOT NULL AND retry_at < $2 ORDER BY retry_at, ordinal \
                   LIMIT $3";
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let values = [send_id.into(), horizon.millis().into(), limit.into()];
        let rows = fetch(&self.store.read, sql, values).await?;
        let soon = rows.into_iter().map(waiting).collect::<Result<Vec<_>>>()?;
        let sql = "SELECT COUNT(*), MIN(CASE WHEN retry_at >= $2 THEN retry_at END) FROM message \
                   WHERE send_id = $1 AND retry_at IS NOT NULL";
        let values = [send_id.into(), horizon.millis().into()];
        let row = fetch_one::<(i64, Option<i64>)>(&self.store.read, sql, values).await?;
        let Some((all, beyond)) = row else {
            return Ok(WaitingMessages { soon, ..WaitingMessages::default() });
        };
        let later = all.cast_unsigned().saturating_sub(soon.len() as u64);
        // When not all messages that are due soon were read, the next one is due like the last one read.
        let is_cut = soon.len() as i64 >= limit;
        let cut = soon.last().filter(|_| is_cut).map(|last| last.retry_at);
        let later_due = cut.or(beyond.map(Timestamp::from_millis)).filter(|_| later > 0);
        Ok(WaitingMessages { soon, later, later_due })
    }

    /// The states of these messages of a send that have a row.
    pub async fn message_states(
        self,
        send_id: Uuid,
        ordinals: &[u64],
    ) -> Result<HashMap<u64, message::State>> {
        let ordinals = ordinals.iter().copied().map(u64::cast_signed);
        let (asked, values) = Rows::of_ordinals(self.store.backend, ordinals).behind([send_id.into()]);
        let sql = format!(
            "SELECT ordinal, state FROM message WHERE send_id = $1 AND ordinal IN (SELECT ordinal FROM {asked} AS asked)"
        );
        let rows = fetch::<(i64, i16)>(&self.store.read, sql, values).await?;
        rows.into_iter().map(|(ordinal, stored)| Ok((ordinal.cast_unsigned(), state(stored)?))).collect()
    }

    /// The ordinals from `progress.settled` up to `progress.high_water` that have a row in the ledger,
    /// ascending.
    pub async fn recorded(self, send_id: Uuid, progress: Progress) -> Result<Vec<u64>> {
        let rows = message_row::Entity::find()
            .filter(message_row::Column::SendId.eq(send_id))
            .filter(message_row::Column::Ordinal.gte(progress.settled.cast_signed()))
            .filter(message_row::Column::Ordinal.lt(progress.high_water.cast_signed()))
            .order_by_asc(message_row::Column::Ordinal);
        let ordinals = rows.select_only().column(message_row::Column::Ordinal).into_tuple::<i64>();
        Ok(ordinals.all(&self.store.read).await?.into_iter().map(i64::cast_unsigned).collect())
    }

    /// The recipients of the block that holds `ordinal`, with the ordinal of the first of them.
    ///
    /// # Errors
    ///
    /// [`Error::Impossible`] when there is no such block or it is damaged.
    pub async fn block_at(self, send_id: Uuid, ordinal: u64) -> Result<(u64, Vec<PhoneNumber>)> {
        self.block_in(&self.store.read, send_id, ordinal).await
    }

    /// Like [`AllSends::block_at`](crate::AllSends::block_at), as this connection sees the block.
    pub(crate) async fn block_in(
        self,
        to: &impl ConnectionTrait,
        send_id: Uuid,
        ordinal: u64,
    ) -> Result<(u64, Vec<PhoneNumber>)> {
        let sql = "SELECT first_ordinal, packed FROM recipient_block \
                   WHERE send_id = $1 AND first_ordinal <= $2 ORDER BY first_ordinal DESC LIMIT 1";
        let block =
            fetch_one::<(i64, Vec<u8>)>(to, sql, [send_id.into(), ordinal.cast_signed().into()]).await?;
        let (first, packed) =
            block.ok_or_else(|| Error::Impossible(format!("send {send_id} has no block at {ordinal}")))?;
        let numbers = unpack(&packed).map_err(|damage| Error::Impossible(damage.to_string()))?;
        Ok((first.cast_unsigned(), numbers))
    }

    /// Removes sends whose audience was still being written when the previous process ended, or lost the `lease`: they
    /// were never accepted, and no process can continue them. Returns how many.
    pub async fn remove_unresolved(self, lease: &Lease) -> Result<u64> {
        let transaction = self.store.begin_fenced(lease).await?;
        let unresolved = "SELECT id FROM send WHERE state < 2 AND state = $1";
        let state = State::Resolving.as_i16();
        // Sends are locked first, as everywhere: another process may be settling one of them.
        let lock = format!("{unresolved} ORDER BY id{}", self.store.locking());
        transaction.query_all_raw(self.store.statement(lock, [state.into()])).await?;
        for table in ["recipient_block", "send_source"].into_iter().chain(OF_SEND) {
            let remains = format!("DELETE FROM {table} WHERE send_id IN ({unresolved})");
            execute(&transaction, remains, [state.into()]).await?;
        }
        let sends = "DELETE FROM send WHERE state < 2 AND state = $1";
        let removed = execute(&transaction, sends, [state.into()]).await?;
        transaction.commit().await?;
        Ok(removed)
    }
}

impl Sends<'_> {
    /// The company's accepted send of this id.
    fn accepted(self, send_id: Uuid) -> Select<Entity> {
        Entity::find_by_id(send_id)
            .filter(Column::CompanyId.eq(self.company))
            .filter(Column::State.gt(State::Resolving.as_i16()))
    }

    /// The recipients' numbers of these messages of the company that have a row, without groups.
    pub async fn recipients_of(self, keys: &[Key]) -> Result<HashMap<Key, PhoneNumber>> {
        if keys.is_empty() {
            return Ok(HashMap::new());
        }
        let mut asked = Rows::new(self.store.backend, &[("send_id", Type::Uuid), ("ordinal", Type::Int)]);
        for key in keys {
            asked.push([key.send_id.into(), key.ordinal.cast_signed().into()]);
        }
        let (asked, values) = asked.select(2);
        let sql = format!(
            "SELECT message.send_id, message.ordinal, message.recipient FROM {asked} AS asked \
             JOIN message ON message.send_id = asked.send_id AND message.ordinal = asked.ordinal \
             WHERE message.company_id = $1"
        );
        let rows = fetch(&self.store.read, sql, [self.company.into()].into_iter().chain(values)).await?;
        let mut numbers = HashMap::with_capacity(rows.len());
        for (send_id, ordinal, stored) in rows {
            if let Some(number) = recipient(stored)? {
                numbers.insert(key((send_id, ordinal)), number);
            }
        }
        Ok(numbers)
    }
}

pub(crate) const fn which(size: Size) -> &'static str {
    match size {
        Size::Direct => "recipient IS NOT NULL",
        Size::Bulk => "recipient IS NULL",
    }
}

/// The recipients of a send, by its row.
pub(crate) fn recipients(one: Option<i64>, many: i64) -> Result<Recipients> {
    Ok(match one {
        Some(stored) => recipient(stored)?.map_or(Recipients::Group, Recipients::One),
        None => Recipients::Blocks(many.cast_unsigned()),
    })
}

fn unfinished(row: &QueryResult) -> Result<Unfinished> {
    let category: Option<String> = row.try_get("", "category")?;
    let template = row.try_get::<Option<i64>>("", "template_id")?;
    Ok(Unfinished {
        id: row.try_get("", "id")?,
        company_id: row.try_get("", "company_id")?,
        content: row.try_get("", "content")?,
        recipients: recipients(row.try_get("", "recipient")?, row.try_get("", "recipients")?)?,
        progress: Progress {
            high_water: row.try_get::<i64>("", "high_water")?.cast_unsigned(),
            settled: row.try_get::<i64>("", "settled")?.cast_unsigned(),
        },
        template: template.map(|id| TemplateUse { id, is_marketing: category.as_deref() == Some(MARKETING) }),
        expires_at: moment(row, "expires_at")?,
    })
}

fn waiting(row: (i64, i64, i16, i16, i64, Option<i64>)) -> Result<Waiting> {
    let (ordinal, stored, state, attempts, retry_at, taken_at) = row;
    Ok(Waiting {
        position: Position { ordinal: ordinal.cast_unsigned(), recipient: recipient(stored)? },
        state: self::state(state)?,
        attempts: attempts.cast_unsigned(),
        retry_at: Timestamp::from_millis(retry_at),
        taken_at: taken_at.map(Timestamp::from_millis),
    })
}

/// The key of a message, by its columns.
pub(crate) fn key((send_id, ordinal): (Uuid, i64)) -> Key {
    Key { send_id, ordinal: ordinal.cast_unsigned() }
}

/// The state of a send, by its column.
pub(crate) fn send_state(stored: i16) -> Result<State> {
    State::from_i16(stored).ok_or_else(|| Error::Impossible(format!("{stored} is no state of a send")))
}

pub(crate) fn state(stored: i16) -> Result<message::State> {
    message::State::from_i16(stored)
        .ok_or_else(|| Error::Impossible(format!("{stored} is no state of a message")))
}

/// The stored value in place of a recipient when the send's content names a group.
pub(crate) const GROUP: i64 = 0;

/// The recipient that a row names.
pub(crate) fn recipient(stored: i64) -> Result<Option<PhoneNumber>> {
    if stored == GROUP {
        return Ok(None);
    }
    let number = PhoneNumber::from_i64(stored);
    number.map(Some).ok_or_else(|| Error::Impossible(format!("{stored} is no phone number")))
}

/// A recipient as it is stored in a row.
pub(crate) fn stored_recipient(recipient: Option<PhoneNumber>) -> i64 {
    recipient.map_or(GROUP, PhoneNumber::as_i64)
}
