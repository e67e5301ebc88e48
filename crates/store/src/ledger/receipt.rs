//! Receipts: the provider's later reports on messages that it accepted, possibly before the outcome of the attempt is
//! written.
//!
//! A receipt only moves a message forward, and only a message of the company whose channel received it. A receipt that
//! comes before the outcome of its attempt creates the row that the outcome later finds.

use std::collections::{HashMap, HashSet};

use sea_orm::ConnectionTrait;
use uuid::Uuid;

use super::billing::{ByMessage, Charge, Charges, IN_UPDATE, IN_UPSERT};
use super::outcome::rank;
use crate::dialect::{Bulk, Cell, Rows, Type};
use crate::event_log::MovedRow;
use crate::nouns::Ledger;
use crate::sends::key;
use crate::{Error, Result, fetch};
use clock::Timestamp;
use domain::message::{Failure, Key, State};
use domain::phone::PhoneNumber;

/// What the receipts of messages without a row led to.
#[derive(Debug, Default)]
pub(super) struct Early {
    /// Those that matched no message.
    pub(super) ignored: Ignored,
    /// Receipts whose messages got their rows since [`Ledger::receive`](crate::Ledger::receive) looked for them, by another transaction. They
    /// have moved nothing yet.
    pub(super) overlooked: Vec<Receipt>,
}

/// A receipt of one message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Receipt {
    /// The message.
    pub key: Key,
    /// The company of the channel that received the receipt: a message of another company stays as it is.
    pub company_id: Uuid,
    /// Sent, delivered, read or failed.
    pub state: State,
    /// The provider's id of the message.
    pub provider_message_id: Option<String>,
    /// The failure, if it failed.
    pub error: Option<Failure>,
    /// When it happened.
    pub at: Timestamp,
    /// How the provider bills the message, if it arrived and the receipt says so.
    pub charge: Option<Charge>,
}

/// Receipts that matched no message.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Ignored {
    /// The company has no such send (any more).
    pub unknown_send: u64,
    /// The send has no such recipient, or never attempted the message.
    pub never_attempted: u64,
}

const RECEIPT: &[(&str, Type)] = &[
    ("send_id", Type::Uuid),
    ("ordinal", Type::Int),
    ("company_id", Type::Uuid),
    ("state", Type::Int),
    ("provider_message_id", Type::Text),
    ("error_code", Type::Int),
    ("error", Type::Text),
    ("at", Type::Int),
    ("billing", Type::Int),
];
const ASKED: &[(&str, Type)] =
    &[("send_id", Type::Uuid), ("ordinal", Type::Int), ("company_id", Type::Uuid), ("state", Type::Int)];
const EARLY: &[(&str, Type)] = &[
    ("send_id", Type::Uuid),
    ("ordinal", Type::Int),
    ("company_id", Type::Uuid),
    ("recipient", Type::Int),
    ("state", Type::Int),
    ("provider_message_id", Type::Text),
    ("error_code", Type::Int),
    ("error", Type::Text),
    ("at", Type::Int),
    ("billing", Type::Int),
];

impl Receipt {
    /// One receipt for each message of each company: the one that is furthest along.
    pub fn reduce(receipts: &mut Vec<Self>) {
        receipts.sort_by_key(|receipt| (receipt.company_id, receipt.key.send_id, receipt.key.ordinal));
        receipts.dedup_by(|next, kept| {
            let same = (next.company_id, next.key) == (kept.company_id, kept.key);
            if same {
                kept.absorb(next);
            }
            same
        });
    }

    /// One receipt for each message, in the order in which messages are locked.
    pub(super) fn in_order(receipts: &[Self]) -> Vec<Self> {
        let mut receipts = receipts.to_vec();
        Self::reduce(&mut receipts);
        receipts.sort_by_key(|receipt| (receipt.key.send_id, receipt.key.ordinal));
        receipts
    }

    fn absorb(&mut self, other: &mut Self) {
        let id = self.provider_message_id.take().or_else(|| other.provider_message_id.take());
        let charge = self.charge.or(other.charge);
        if self.state.advanced_by(other.state) != self.state {
            std::mem::swap(self, other);
        }
        self.provider_message_id = id;
        self.charge = charge;
    }

    fn cells(&self) -> [Cell<'_>; 9] {
        [
            self.key.send_id.into(),
            self.key.ordinal.cast_signed().into(),
            self.company_id.into(),
            i64::from(self.state.as_i16()).into(),
            Cell::Text(self.provider_message_id.as_deref()),
            Cell::Int(self.error.as_ref().and_then(|failure| failure.code)),
            Cell::Text(self.error.as_ref().map(|failure| failure.sentence.as_str())),
            self.at.millis().into(),
            Cell::Int(self.charge.map(|charge| i64::from(charge.billing.as_i16()))),
        ]
    }
}

/// The recipients of the block that was read last: receipts come in the order of their keys.
struct Open {
    send_id: Uuid,
    first: u64,
    numbers: Vec<PhoneNumber>,
}

impl Open {
    fn recipient(&self, key: Key) -> Option<PhoneNumber> {
        let place = usize::try_from(key.ordinal.checked_sub(self.first)?).ok()?;
        self.numbers.get(place).copied().filter(|_| self.send_id == key.send_id)
    }
}

impl Ledger<'_> {
    /// Writes receipts, which are [in order](Receipt::in_order), of messages that have a row. Returns whether some
    /// receipts moved no row: their messages may have none.
    pub(super) async fn receive(
        self,
        to: &impl ConnectionTrait,
        receipts: &[Receipt],
        charges: &mut Charges,
        now: Timestamp,
    ) -> Result<bool> {
        if receipts.is_empty() {
            return Ok(false);
        }
        let mut rows = Bulk::new(self.store.backend, RECEIPT);
        for receipt in receipts {
            rows.push(receipt.cells());
        }
        let update = |incoming: &str| {
            format!(
                "UPDATE message SET state = incoming.state, error_code = incoming.error_code, \
                 error = incoming.error, retry_at = NULL, billing = {IN_UPDATE}, \
                 taken_at = COALESCE(message.taken_at, incoming.at), \
                 provider_message_id = COALESCE(message.provider_message_id, incoming.provider_message_id), \
                 updated_at = CASE WHEN incoming.at > message.updated_at THEN incoming.at \
                 ELSE message.updated_at END \
                 FROM {} AS incoming \
                 WHERE message.send_id = incoming.send_id AND message.ordinal = incoming.ordinal \
                 AND message.company_id = incoming.company_id AND {} > {}",
                self.with_messages_locked(incoming),
                rank("incoming.state"),
                rank("message.state"),
            )
        };
        let (advanced, moved) = self.write_moving(to, rows, receipts, charges, now, update).await?;
        let are_left = advanced < receipts.len() as u64;
        if are_left {
            self.charge_late(to, receipts, &moved, charges).await?;
        }
        Ok(are_left)
    }

    /// Writes rows of receipts, counts those that say how the provider bills a message, and tells of the messages that
    /// this moves. Returns how many rows changed, and which, if a receipt says how its message is billed.
    async fn write_moving(
        self,
        to: &impl ConnectionTrait,
        rows: Bulk,
        receipts: &[Receipt],
        charges: &mut Charges,
        now: Timestamp,
        sql: impl Fn(&str) -> String,
    ) -> Result<(u64, Vec<MovedRow>)> {
        let log = self.store.event_log();
        let (is_read, are_charged) =
            (log.is_read(to).await?, receipts.iter().any(|receipt| receipt.charge.is_some()));
        if !is_read && !are_charged {
            let changed = self.store.write(to, rows, Vec::new(), |incoming, _| sql(incoming)).await?;
            return Ok((changed, Vec::new()));
        }
        let by_message: ByMessage<'_> =
            receipts.iter().map(|receipt| ((receipt.company_id, receipt.key), receipt)).collect();
        let mut moved = self.write_charged(to, rows, &by_message, charges, sql).await?;
        if is_read {
            // The database yields them in any order.
            moved.sort_unstable_by_key(|row| (row.key.send_id, row.key.ordinal));
            let at =
                |row: &MovedRow| by_message.get(&(row.company_id, row.key)).map_or(now, |receipt| receipt.at);
            log.tell_moved(to, &moved, at, now).await?;
        }
        Ok((moved.len() as u64, moved))
    }

    /// The `incoming` rows, in a sub-select that locks their messages by send and ordinal.
    pub(super) fn with_messages_locked(self, incoming: &str) -> String {
        if self.store.locking().is_empty() {
            return incoming.to_owned();
        }
        format!(
            "(SELECT incoming.* FROM {incoming} AS incoming JOIN message \
             ON message.send_id = incoming.send_id AND message.ordinal = incoming.ordinal \
             ORDER BY message.send_id, message.ordinal{})",
            self.store.locking_of("message")
        )
    }

    /// Inserts rows for messages that have none yet, from receipts that are [in order](Receipt::in_order).
    pub(super) async fn receive_early(
        self,
        to: &impl ConnectionTrait,
        receipts: &[Receipt],
        charges: &mut Charges,
        now: Timestamp,
    ) -> Result<Early> {
        let mut asked = Rows::new(self.store.backend, ASKED);
        for Receipt { key, company_id, state, .. } in receipts {
            let (ordinal, state) = (key.ordinal.cast_signed(), i64::from(state.as_i16()));
            asked.push([key.send_id.into(), ordinal.into(), (*company_id).into(), state.into()]);
        }
        let (asked, values) = asked.select(1);
        let sql = format!(
            "SELECT asked.send_id, asked.ordinal, asked.company_id, send.recipient, send.recipients, \
             send.high_water, CASE WHEN message.send_id IS NULL THEN 0 ELSE 1 END FROM {asked} AS asked \
             LEFT JOIN send ON send.id = asked.send_id AND send.company_id = asked.company_id \
             LEFT JOIN message ON message.send_id = asked.send_id \
             AND message.ordinal = asked.ordinal AND message.company_id = asked.company_id \
             WHERE message.send_id IS NULL OR {} > {}",
            rank("asked.state"),
            rank("message.state"),
        );
        type Columns = (Uuid, i64, Uuid, Option<i64>, Option<i64>, Option<i64>, i32);
        let found = fetch::<Columns>(to, sql, values).await?;
        let (mut missing, mut have_rows) = (HashMap::with_capacity(found.len()), HashSet::new());
        for (send_id, ordinal, company_id, recipient, recipients, high_water, has_row) in found {
            let key = key((send_id, ordinal));
            if has_row > 0 {
                have_rows.insert((company_id, key));
                continue;
            }
            let attempted =
                recipients.zip(high_water).map(|(all, mark)| key.ordinal < all.min(mark).cast_unsigned());
            missing.insert((company_id, key), (attempted, recipient));
        }
        let (Early { mut ignored, mut overlooked }, mut open) = (Early::default(), None);
        let (mut rows, mut are_none) = (Bulk::new(self.store.backend, EARLY), true);
        for receipt in receipts {
            let recipient = match missing.get(&(receipt.company_id, receipt.key)) {
                None => {
                    let is_overlooked = have_rows.contains(&(receipt.company_id, receipt.key));
                    overlooked.extend(is_overlooked.then(|| receipt.clone()));
                    continue;
                }
                Some((None, _)) => {
                    ignored.unknown_send += 1;
                    continue;
                }
                Some((Some(false), _)) => {
                    ignored.never_attempted += 1;
                    continue;
                }
                Some((Some(true), Some(recipient))) => Some(*recipient),
                Some((Some(true), None)) => {
                    self.recipient_at(to, receipt.key, &mut open).await?.map(PhoneNumber::as_i64)
                }
            };
            let Some(recipient) = recipient else {
                ignored.unknown_send += 1;
                continue;
            };
            let [send_id, ordinal, company_id, state, id, code, error, at, billing] = receipt.cells();
            let recipient = recipient.into();
            rows.push([send_id, ordinal, company_id, recipient, state, id, code, error, at, billing]);
            are_none = false;
        }
        if are_none {
            return Ok(Early { ignored, overlooked });
        }
        let upsert = |incoming: &str| {
            format!(
                "INSERT INTO message (send_id, ordinal, company_id, recipient, state, attempts, \
                 provider_message_id, error_code, error, taken_at, updated_at, billing) \
                 SELECT send_id, ordinal, company_id, recipient, state, 1, provider_message_id, error_code, \
                 error, at, at, -billing FROM {incoming} AS incoming WHERE TRUE \
                 ON CONFLICT (send_id, ordinal) DO UPDATE SET state = excluded.state, \
                 error_code = excluded.error_code, error = excluded.error, retry_at = NULL, \
                 provider_message_id = COALESCE(message.provider_message_id, excluded.provider_message_id), \
                 updated_at = excluded.updated_at, billing = {IN_UPSERT} \
                 WHERE message.company_id = excluded.company_id AND {} > {}",
                rank("excluded.state"),
                rank("message.state"),
            )
        };
        self.write_moving(to, rows, receipts, charges, now, upsert).await?;
        Ok(Early { ignored, overlooked })
    }

    /// The recipient at `key`, from the block in `open` or one that is read now. A block that cannot be read is logged
    /// and yields `None`: one damaged send must not keep the ledger from writing.
    async fn recipient_at(
        self,
        to: &impl ConnectionTrait,
        key: Key,
        open: &mut Option<Open>,
    ) -> Result<Option<PhoneNumber>> {
        if let Some(recipient) = open.as_ref().and_then(|open| open.recipient(key)) {
            return Ok(Some(recipient));
        }
        match self.store.sends().block_in(to, key.send_id, key.ordinal).await {
            Ok((first, numbers)) => {
                let read = open.insert(Open { send_id: key.send_id, first, numbers });
                Ok(read.recipient(key))
            }
            Err(error @ Error::Impossible(_)) => {
                tracing::error!(send.id = %key.send_id, %error, "cannot read the recipient of a receipt");
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn receipt(ordinal: u64, company: u128, state: State, id: Option<&str>) -> Receipt {
        Receipt {
            key: Key { send_id: Uuid::from_u128(7), ordinal },
            company_id: Uuid::from_u128(company),
            state,
            provider_message_id: id.map(str::to_owned),
            error: None,
            at: Timestamp::from_millis(i64::from(state.rank())),
            charge: None,
        }
    }

    #[test]
    fn one_receipt_is_left_for_each_message_of_each_company() {
        let mut heard = vec![
            receipt(1, 1, State::Read, None),
            receipt(0, 1, State::Sent, None),
            receipt(1, 2, State::Failed, None),
            receipt(1, 1, State::Delivered, Some("wamid.1")),
            receipt(1, 1, State::Sent, None),
        ];
        Receipt::reduce(&mut heard);
        let left = [
            receipt(0, 1, State::Sent, None),
            receipt(1, 1, State::Read, Some("wamid.1")),
            receipt(1, 2, State::Failed, None),
        ];
        assert_eq!(heard, left);
    }
}
