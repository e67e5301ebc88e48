//! What is written with a send whose recipients have values of their own, and the entries that it skipped.

use sea_orm::ConnectionTrait;
use uuid::Uuid;

use super::{BlockOf, PendingWrites};
use crate::dialect::{Bulk, Cell, Rows, Type};
use crate::nouns::Ledger;
use crate::{Result, execute};

const PERSONAL: &[(&str, Type)] =
    &[("send_id", Type::Uuid), ("company_id", Type::Uuid), ("seal", Type::Uuid)];
const VALUES: &[(&str, Type)] = &[
    ("send_id", Type::Uuid),
    ("first_ordinal", Type::Int),
    ("recipients", Type::Int),
    ("packed", Type::Bytes),
];
const REFERENCE: &[(&str, Type)] =
    &[("send_id", Type::Uuid), ("ordinal", Type::Int), ("company_id", Type::Uuid), ("reference", Type::Text)];
const SKIPPED: &[(&str, Type)] =
    &[("send_id", Type::Uuid), ("place", Type::Int), ("entries", Type::Int), ("packed", Type::Text)];
/// The tables that have only what belongs to a send.
pub(crate) const OF_SEND: [&str; 4] = ["send_values", "message_reference", "send_skipped", "personal_send"];

/// A send whose recipients have values of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PersonalSend {
    /// The send.
    pub send_id: Uuid,
    /// The company that it belongs to.
    pub company_id: Uuid,
    /// What its blocks of values are sealed to: made before its id is known.
    pub seal: Uuid,
}

/// The caller's own name for a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReferenceOf {
    /// The send.
    pub send_id: Uuid,
    /// The company that it belongs to.
    pub company_id: Uuid,
    /// The message's ordinal.
    pub ordinal: u64,
    /// The name.
    pub reference: String,
}

/// Skipped entries of a send's request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkippedOf {
    /// The send.
    pub send_id: Uuid,
    /// The place of the first of them among all that were skipped.
    pub place: u64,
    /// How many they are.
    pub entries: u64,
    /// The entries, as a JSON array.
    pub packed: String,
}

impl Ledger<'_> {
    /// Inserts what belongs to new sends, in the transaction of their blocks.
    pub(super) async fn insert_personal(
        self,
        to: &impl ConnectionTrait,
        batch: &PendingWrites,
    ) -> Result<()> {
        let backend = self.store.backend;
        let mut personal = Bulk::new(backend, PERSONAL);
        for PersonalSend { send_id, company_id, seal } in &batch.personal {
            personal.push([(*send_id).into(), (*company_id).into(), (*seal).into()]);
        }
        let mut values = Bulk::new(backend, VALUES);
        for BlockOf { send_id, block } in &batch.values {
            values.push([
                (*send_id).into(),
                block.first_ordinal.cast_signed().into(),
                block.recipients.cast_signed().into(),
                Cell::Bytes(&block.packed),
            ]);
        }
        let mut references = Bulk::new(backend, REFERENCE);
        for ReferenceOf { send_id, company_id, ordinal, reference } in &batch.references {
            references.push([
                (*send_id).into(),
                ordinal.cast_signed().into(),
                (*company_id).into(),
                reference.as_str().into(),
            ]);
        }
        let mut skipped = Bulk::new(backend, SKIPPED);
        for SkippedOf { send_id, place, entries, packed } in &batch.skipped {
            skipped.push([
                (*send_id).into(),
                place.cast_signed().into(),
                entries.cast_signed().into(),
                packed.as_str().into(),
            ]);
        }
        for (table, columns, rows) in [
            ("personal_send", "send_id, company_id, seal", personal),
            ("send_values", "send_id, first_ordinal, recipients, packed", values),
            ("message_reference", "send_id, ordinal, company_id, reference", references),
            ("send_skipped", "send_id, place, entries, packed", skipped),
        ] {
            let insert = |incoming: &str, _| {
                format!("INSERT INTO {table} ({columns}) SELECT {columns} FROM {incoming} AS incoming")
            };
            self.store.write(to, rows, Vec::new(), insert).await?;
        }
        Ok(())
    }

    /// Removes what belongs to sends that the same transaction removes.
    pub(crate) async fn remove_personal(self, to: &impl ConnectionTrait, sends: &[Uuid]) -> Result<()> {
        for table in OF_SEND {
            let (rows, values) = Rows::of_ids(self.store.backend, sends).select(1);
            let sql = format!("DELETE FROM {table} WHERE send_id IN (SELECT id FROM {rows} AS gone)");
            execute(to, sql, values).await?;
        }
        Ok(())
    }
}
