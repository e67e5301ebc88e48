//! Counts the messages that arrived by how the provider bills them.
//!
//! The provider says so with one of the receipts of a message that arrived, and may repeat it. The message's row keeps the
//! first statement, and the counter of its month grows in the same transaction: each message counts once, in any order of
//! receipts and after a commit in doubt. A statement writes a number below 0 into rows that had none, and makes it
//! positive in rows that it changes later, so that what it returns tells both apart on either database.

use std::collections::{BTreeMap, HashMap, HashSet};

use sea_orm::ConnectionTrait;
use uuid::Uuid;

use super::Receipt;
use crate::dialect::{Bulk, Incoming, Type};
use crate::event_log::MovedRow;
use crate::nouns::Ledger;
use crate::sends::{self, key};
use crate::{Result, fetch};
use clock::Timestamp;
use domain::message::{Key, State};
use domain::phone::{Country, PhoneNumber};
use domain::price::{Billing, Month};

/// What a statement that writes receipts yields of each message that it changed.
const RETURNED: &str = " RETURNING message.send_id, message.ordinal, message.company_id, message.state, message.recipient, \
     message.billing, message.updated_at";
/// One row of it.
type Columns = (Uuid, i64, Uuid, i16, i64, Option<i16>, i64);
/// The value that a receipt gives the column, in an update.
pub(super) const IN_UPDATE: &str =
    "CASE WHEN message.billing IS NULL THEN -incoming.billing ELSE ABS(message.billing) END";
/// The same in the update of an insert, whose row has the number below 0.
pub(super) const IN_UPSERT: &str =
    "CASE WHEN message.billing IS NULL THEN excluded.billing ELSE ABS(message.billing) END";
const LATE: &[(&str, Type)] =
    &[("send_id", Type::Uuid), ("ordinal", Type::Int), ("company_id", Type::Uuid), ("billing", Type::Int)];
const COUNT: &[(&str, Type)] = &[
    ("company_id", Type::Uuid),
    ("month", Type::Int),
    ("channel_id", Type::Uuid),
    ("country", Type::Text),
    ("billing", Type::Int),
    ("messages", Type::Int),
];

/// How the provider bills a message that arrived, as one of its receipts says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Charge {
    /// The channel that the receipt came to, for which the message counts.
    pub channel_id: Uuid,
    /// How it is billed.
    pub billing: Billing,
}

/// Messages that a transaction counts, in the order in which the counters are locked.
#[derive(Debug, Default)]
pub(super) struct Charges(BTreeMap<(Uuid, i64, Uuid, &'static str, i16), i64>);

/// Receipts by their messages.
pub(super) type ByMessage<'a> = HashMap<(Uuid, Key), &'a Receipt>;

impl Charges {
    /// Counts a message that has its first statement now.
    fn add(&mut self, receipts: &ByMessage<'_>, moved: &MovedRow, recipient: i64, billing: i16, at: i64) {
        let receipt = receipts.get(&(moved.company_id, moved.key));
        let Some(charge) = receipt.and_then(|receipt| receipt.charge) else { return };
        let number = PhoneNumber::from_i64(recipient);
        let country = number.and_then(|number| Country::of_first_digits(number.first_digits()));
        let month = Month::of(Timestamp::from_millis(at)).number();
        let country = country.map_or("", Country::code);
        *self.0.entry((moved.company_id, month, charge.channel_id, country, -billing)).or_default() += 1;
    }
}

impl Ledger<'_> {
    /// Runs a statement that writes `rows` of receipts. Returns the messages that it changed, and counts those that have
    /// their first statement now.
    pub(super) async fn write_charged(
        self,
        to: &impl ConnectionTrait,
        rows: Bulk,
        receipts: &ByMessage<'_>,
        charges: &mut Charges,
        sql: impl Fn(&str) -> String,
    ) -> Result<Vec<MovedRow>> {
        let mut changed = Vec::new();
        for Incoming { select, values, next: _ } in rows.into_statements() {
            let returned = fetch::<Columns>(to, sql(&select) + RETURNED, values).await?;
            for (send_id, ordinal, company_id, state, recipient, billing, at) in returned {
                let state = sends::state(state)?;
                let row = MovedRow { key: key((send_id, ordinal)), company_id, state };
                if let Some(billing) = billing.filter(|billing| *billing < 0) {
                    charges.add(receipts, &row, recipient, billing, at);
                }
                changed.push(row);
            }
        }
        Ok(changed)
    }

    /// Counts messages that had arrived already when the provider said how it bills them: `moved` are those whose receipts
    /// say something new.
    pub(super) async fn charge_late(
        self,
        to: &impl ConnectionTrait,
        receipts: &[Receipt],
        moved: &[MovedRow],
        charges: &mut Charges,
    ) -> Result<()> {
        let moved: HashSet<_> = moved.iter().map(|row| (row.company_id, row.key)).collect();
        let (mut rows, mut by_message) = (Bulk::new(self.store.backend, LATE), ByMessage::new());
        for receipt in receipts {
            let Receipt { key, company_id, charge, .. } = receipt;
            let Some(charge) = charge.filter(|_| !moved.contains(&(*company_id, *key))) else { continue };
            let billing = i64::from(charge.billing.as_i16());
            rows.push([
                key.send_id.into(),
                key.ordinal.cast_signed().into(),
                (*company_id).into(),
                billing.into(),
            ]);
            by_message.insert((*company_id, *key), receipt);
        }
        if by_message.is_empty() {
            return Ok(());
        }
        let update = |incoming: &str| {
            format!(
                "UPDATE message SET billing = -incoming.billing FROM {} AS incoming \
                 WHERE message.send_id = incoming.send_id AND message.ordinal = incoming.ordinal \
                 AND message.company_id = incoming.company_id AND message.billing IS NULL \
                 AND message.state IN ({}, {})",
                self.with_messages_locked(incoming),
                State::Delivered.as_i16(),
                State::Read.as_i16(),
            )
        };
        self.write_charged(to, rows, &by_message, charges, update).await?;
        Ok(())
    }

    /// Adds the transaction's messages to the counters.
    pub(super) async fn count_charges(self, to: &impl ConnectionTrait, charges: Charges) -> Result<()> {
        let mut rows = Bulk::new(self.store.backend, COUNT);
        for ((company_id, month, channel_id, country, billing), messages) in charges.0 {
            rows.push([
                company_id.into(),
                month.into(),
                channel_id.into(),
                country.into(),
                i64::from(billing).into(),
                messages.into(),
            ]);
        }
        self.store
            .write(to, rows, Vec::new(), |incoming, _| {
                format!(
                    "INSERT INTO billed_count (company_id, month, channel_id, country, billing, messages) \
                     SELECT company_id, month, channel_id, country, billing, messages FROM {incoming} AS incoming \
                     WHERE TRUE ON CONFLICT (company_id, month, channel_id, country, billing) \
                     DO UPDATE SET messages = billed_count.messages + excluded.messages"
                )
            })
            .await?;
        Ok(())
    }
}
