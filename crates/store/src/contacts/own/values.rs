//! The values of own fields: one row for each value that a contact has.
//!
//! Numbers and dates are kept as one integer. A text has beside it the beginning of the digest of its folded form: a short
//! index finds equal texts of any length, without case and accents.

use std::collections::HashMap;

use sea_orm::ConnectionTrait;
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use super::super::matching::Slot;
use crate::dialect::{Bulk, Cell, Rows, Type};
use crate::nouns::OwnFields;
use crate::{Error, Result, Transaction, execute, fetch};
use domain::fold::fold;
use domain::own_field::{Day, Decimal, FieldKey, FieldKind, FieldValue, OwnField, OwnValues};

/// A value that a contact gets, or loses.
pub(in super::super) struct ValueChange<'a> {
    contact: Uuid,
    ordinal: i64,
    key: FieldKey,
    value: Option<&'a FieldValue>,
}

impl<'a> ValueChange<'a> {
    /// All values of a new contact, which gets this ordinal.
    pub(in super::super) fn of_new(ordinal: i64, slot: &'a Slot) -> impl Iterator<Item = Self> {
        slot.person.own.iter().map(move |(key, value)| Self {
            contact: slot.id,
            ordinal,
            key: *key,
            value: Some(value),
        })
    }

    /// The values that the database has otherwise.
    pub(in super::super) fn of_known(slot: &'a Slot) -> impl Iterator<Item = Self> {
        slot.own_changes.iter().map(|key| Self {
            contact: slot.id,
            ordinal: slot.ordinal,
            key: *key,
            value: slot.person.own.get(key),
        })
    }
}

const VALUE: &[(&str, Type)] = &[
    ("contact_id", Type::Uuid),
    ("field_id", Type::Uuid),
    ("ordinal", Type::Int),
    ("sorted", Type::Int),
    ("text", Type::Text),
];

impl OwnFields<'_> {
    /// The values of these contacts of the company; contacts without values are left out. The contacts are known to be the
    /// company's: with a condition on the company, PostgreSQL would begin with all of its values.
    pub(crate) async fn values_of(
        self,
        on: &impl ConnectionTrait,
        contacts: impl IntoIterator<Item = &Uuid>,
    ) -> Result<HashMap<Uuid, OwnValues>> {
        let wanted = Rows::of_ids(self.store.backend, contacts);
        if wanted.is_empty() {
            return Ok(HashMap::new());
        }
        let (wanted, values) = wanted.select(1);
        let select = format!(
            "SELECT contact_value.contact_id, contact_field.key, contact_field.kind, contact_value.sorted,
                contact_value.text
             FROM {wanted} AS wanted CROSS JOIN contact_value CROSS JOIN contact_field
             WHERE contact_value.contact_id = wanted.id AND contact_field.id = contact_value.field_id
             AND contact_field.removed = 0"
        );
        type Columns = (Uuid, String, String, i64, Option<String>);
        let mut all: HashMap<Uuid, OwnValues> = HashMap::new();
        for (contact, key, kind, sorted, text) in fetch::<Columns>(on, select, values).await? {
            let value = FieldKey::parse(&key).zip(stored(&kind, sorted, text));
            let (key, value) =
                value.ok_or_else(|| Error::Impossible(format!("a value of the own field {key:?}")))?;
            all.entry(contact).or_default().insert(key, value);
        }
        Ok(all)
    }

    /// Reads the values into these contacts.
    pub(in super::super) async fn add_to(self, slots: &mut [Slot], on: &Transaction) -> Result<()> {
        let mut own = self.values_of(on, slots.iter().map(|slot| &slot.id)).await?;
        for slot in slots {
            slot.person.own = own.remove(&slot.id).unwrap_or_default();
        }
        Ok(())
    }

    /// Writes values as a part of `transaction`, which has locked the company's totals. A value of a field that the company
    /// does not have, or has as another kind, is not written: the field was deleted meanwhile.
    pub(in super::super) async fn write_values(
        self,
        transaction: &Transaction,
        changes: Vec<ValueChange<'_>>,
    ) -> Result<()> {
        if changes.is_empty() {
            return Ok(());
        }
        let fields: HashMap<FieldKey, OwnField> =
            self.all_in(transaction).await?.into_iter().map(|field| (field.key, field)).collect();
        let mut written = Bulk::new(self.store.backend, VALUE);
        let mut removed =
            Rows::new(self.store.backend, &[("contact_id", Type::Uuid), ("field_id", Type::Uuid)]);
        for ValueChange { contact, ordinal, key, value } in changes {
            let Some(field) = fields.get(&key) else { continue };
            match value {
                Some(value) if value.kind() == field.kind => written.push([
                    contact.into(),
                    field.id.into(),
                    ordinal.into(),
                    sorted(value).into(),
                    Cell::Text(text(value)),
                ]),
                Some(_) => {}
                None => removed.push([contact.into(), field.id.into()]),
            }
        }
        // `WHERE true` tells SQLite that `ON` belongs to the insert and not to a join.
        let upsert = |rows: &str, _| {
            format!(
                "INSERT INTO contact_value (contact_id, field_id, ordinal, sorted, text)
                 SELECT contact_id, field_id, ordinal, sorted, text FROM {rows} AS rows WHERE true
                 ON CONFLICT (contact_id, field_id) DO UPDATE SET sorted = excluded.sorted, text = excluded.text"
            )
        };
        self.store.write(transaction, written, Vec::new(), upsert).await?;
        if removed.is_empty() {
            return Ok(());
        }
        let (rows, values) = removed.select(1);
        let delete = format!(
            "DELETE FROM contact_value
             WHERE (contact_id, field_id) IN (SELECT contact_id, field_id FROM {rows} AS rows)"
        );
        execute(transaction, delete, values).await?;
        Ok(())
    }

    /// Computes the digests of these contacts' texts again, after a change of how texts are folded.
    pub(in super::super) async fn refold(self, transaction: &Transaction, contacts: &[Uuid]) -> Result<()> {
        let wanted = Rows::of_ids(self.store.backend, contacts);
        if wanted.is_empty() {
            return Ok(());
        }
        let (wanted, values) = wanted.select(1);
        let select = format!(
            "SELECT contact_value.contact_id, contact_value.field_id, contact_value.sorted, contact_value.text
             FROM {wanted} AS wanted CROSS JOIN contact_value
             WHERE contact_value.contact_id = wanted.id AND contact_value.text IS NOT NULL"
        );
        let columns = &[("contact_id", Type::Uuid), ("field_id", Type::Uuid), ("sorted", Type::Int)];
        let mut changed = Rows::new(self.store.backend, columns);
        for (contact, field, before, text) in
            fetch::<(Uuid, Uuid, i64, String)>(transaction, select, values).await?
        {
            let after = digest(&text);
            if after != before {
                changed.push([contact.into(), field.into(), after.into()]);
            }
        }
        if changed.is_empty() {
            return Ok(());
        }
        let (rows, values) = changed.select(1);
        let update = format!(
            "UPDATE contact_value SET sorted = rows.sorted FROM {rows} AS rows
             WHERE contact_value.contact_id = rows.contact_id AND contact_value.field_id = rows.field_id"
        );
        execute(transaction, update, values).await?;
        Ok(())
    }
}

/// The integer by which the values of a field are ordered and found.
pub(super) fn sorted(value: &FieldValue) -> i64 {
    match value {
        FieldValue::Text(text) => digest(text),
        FieldValue::Number(number) => number.millionths(),
        FieldValue::Date(day) => day.number(),
    }
}

/// What is stored beside it.
const fn text(value: &FieldValue) -> Option<&str> {
    match value {
        FieldValue::Text(text) => Some(text.as_str()),
        FieldValue::Number(_) | FieldValue::Date(_) => None,
    }
}

/// The value of a row.
fn stored(kind: &str, sorted: i64, text: Option<String>) -> Option<FieldValue> {
    Some(match kind.parse::<FieldKind>().ok()? {
        FieldKind::Text => FieldValue::Text(text?),
        FieldKind::Number => FieldValue::Number(Decimal::from_millionths(sorted)),
        FieldKind::Date => FieldValue::Date(Day::from_number(sorted)?),
    })
}

/// The first eight bytes of SHA-256 over the folded text: among a company's texts, no two have the same by chance.
fn digest(text: &str) -> i64 {
    let digest = Sha256::digest(fold(text).as_bytes());
    let mut first = [0; 8];
    first.copy_from_slice(&digest[..8]);
    i64::from_be_bytes(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_texts_are_found_by_one_integer_and_numbers_and_days_are_in_order() {
        let text = |text: &str| sorted(&FieldValue::Text(text.to_owned()));
        assert_eq!(text("São Paulo"), text("sao paulo"));
        assert_ne!(text("sao paulo"), text("sao paulo "));
        for (kind, values) in [
            (FieldKind::Number, ["-3.5", "0", "12.000001"]),
            (FieldKind::Date, ["0001-01-01", "2025-12-31", "2026-01-01"]),
        ] {
            let read = values.map(|value| kind.exact(value).unwrap().unwrap());
            assert!(read.iter().map(sorted).is_sorted(), "{values:?}");
            for value in read {
                assert_eq!(stored(kind.as_str(), sorted(&value), None), Some(value));
            }
        }
    }
}
