//! Own fields of contacts: their definitions. The values are in [`values`], the lists that they narrow in [`filter`].
//!
//! Changes of a company's fields take turns with the writers of its contacts, under the lock of its book: a value is
//! written only for a field that is there. Called by the surfaces, by imports and by everything that reads contacts.

mod filter;
mod values;

use entity::contact_field::{Column, Entity, Model};
use sea_orm::sea_query::Expr;
use sea_orm::{ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect};
use serde_json::json;
use uuid::Uuid;

use super::edit::Edited;
use crate::changes::{self, What, Who};
use crate::dialect::is_written;
use crate::nouns::{AllContacts, OwnFields};
use crate::one_row::{insert_row, update_rows};
use crate::{Error, Result, execute};
use clock::Timestamp;
use domain::contact::tag_identity;
use domain::own_field::{FieldKey, FieldKind, MOST_FIELDS, OwnField};

pub(super) use self::values::ValueChange;

/// Deleted fields that are examined in one round of upkeep.
const FIELDS_AT_ONCE: u64 = 8;

/// The outcome of adding a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NewField {
    /// It was added.
    Added(OwnField),
    /// Another field has the name.
    Taken,
    /// The company has as many fields as it may have.
    Full,
}

impl OwnFields<'_> {
    /// The fields of the company, oldest first; at most [`MOST_FIELDS`].
    pub async fn all(self) -> Result<Vec<OwnField>> {
        self.all_in(&self.store.read).await
    }

    async fn all_in(self, on: &impl ConnectionTrait) -> Result<Vec<OwnField>> {
        let own =
            Entity::find().filter(Column::CompanyId.eq(self.company)).filter(is_written(Column::Removed, 0));
        own.order_by_asc(Column::Id).all(on).await?.into_iter().map(read_field).collect()
    }

    /// Adds a field of this name. Its key follows from the name.
    pub async fn add(self, who: &Who, name: &str, kind: FieldKind, now: Timestamp) -> Result<NewField> {
        let transaction = self.store.begin().await?;
        self.store.of(self.company).contacts().lock_totals(&transaction).await?;
        let known = self.all_in(&transaction).await?;
        if has_name(&known, name, None) {
            return transaction.unchanged(NewField::Taken).await;
        }
        if known.len() >= MOST_FIELDS {
            return transaction.unchanged(NewField::Full).await;
        }
        let key = FieldKey::for_name(name, &known);
        let field = OwnField { id: Uuid::now_v7(), key, name: name.to_owned(), kind };
        let row = [
            ("id", field.id.into()),
            ("company_id", self.company.into()),
            ("key", key.as_str().into()),
            ("name", name.into()),
            ("kind", kind.as_str().into()),
            ("created_at", now.millis().into()),
        ];
        insert_row(&transaction, "contact_field", row).await?;
        let (what, after) = (What::ContactFields, shown(&field));
        changes::record_one(&transaction, who, what, self.company, None, after).await?;
        transaction.commit().await?;
        Ok(NewField::Added(field))
    }

    /// Gives a field another name. Its key stays, so that templates and programs go on.
    pub async fn rename(self, who: &Who, id: Uuid, name: &str) -> Result<Edited> {
        let transaction = self.store.begin().await?;
        self.store.of(self.company).contacts().lock_totals(&transaction).await?;
        let known = self.all_in(&transaction).await?;
        let Some(before) = known.iter().find(|field| field.id == id) else {
            return transaction.unchanged(Edited::Missing).await;
        };
        if has_name(&known, name, Some(id)) {
            return transaction.unchanged(Edited::Taken).await;
        }
        if before.name == name {
            return transaction.unchanged(Edited::Done).await;
        }
        update_rows(&transaction, "contact_field", [("name", name.into())], [("id", id.into())]).await?;
        let after = shown(&OwnField { name: name.to_owned(), ..before.clone() });
        let what = What::ContactFields;
        changes::record_one(&transaction, who, what, self.company, Some(shown(before)), after).await?;
        transaction.commit().await?;
        Ok(Edited::Done)
    }

    /// Deletes a field: from now on no contact has a value of it, and its values are removed in steps
    /// ([`AllContacts::keep_up_fields`](crate::AllContacts::keep_up_fields)). Returns whether there was one.
    pub async fn delete(self, who: &Who, id: Uuid) -> Result<bool> {
        let transaction = self.store.begin().await?;
        self.store.of(self.company).contacts().lock_totals(&transaction).await?;
        let known = self.all_in(&transaction).await?;
        let Some(field) = known.iter().find(|field| field.id == id) else {
            return transaction.unchanged(false).await;
        };
        update_rows(&transaction, "contact_field", [("removed", 1_i16.into())], [("id", id.into())]).await?;
        let (what, before) = (What::ContactFields, Some(shown(field)));
        changes::record_one(&transaction, who, what, self.company, before, json!("deleted")).await?;
        transaction.commit().await?;
        Ok(true)
    }

    /// How many contacts have a value of this field of the company.
    pub async fn count(self, id: Uuid) -> Result<u64> {
        let count = "SELECT count(*) FROM contact_value WHERE field_id = $1 AND EXISTS (
            SELECT 1 FROM contact_field WHERE id = $1 AND company_id = $2
        )";
        self.store.count(count, [id.into(), self.company.into()]).await
    }
}

impl AllContacts<'_> {
    /// Removes up to `rows` values of each of some deleted fields. Returns whether there was anything to do.
    pub async fn keep_up_fields(self, rows: usize) -> Result<bool> {
        // As text, because the index of these has the condition.
        let removed = Entity::find().filter(Expr::cust("removed <> 0")).order_by_asc(Column::Id);
        let found = removed.limit(FIELDS_AT_ONCE).all(&self.store.read).await?;
        for Model { id, company_id, .. } in &found {
            let transaction = self.store.begin().await?;
            self.store.of(*company_id).contacts().lock_totals(&transaction).await?;
            let delete = "DELETE FROM contact_value WHERE field_id = $1 AND contact_id IN (
                SELECT contact_id FROM contact_value WHERE field_id = $1 LIMIT $2
            )";
            let removed = execute(&transaction, delete, [(*id).into(), (rows as i64).into()]).await?;
            if removed == 0 {
                let gone = Entity::delete_by_id(*id).filter(Column::Removed.ne(0_i16));
                gone.exec(&transaction).await?;
            }
            transaction.commit().await?;
        }
        Ok(!found.is_empty())
    }
}

/// Whether another field than `except` has the name. Case does not count.
fn has_name(known: &[OwnField], name: &str, except: Option<Uuid>) -> bool {
    let identity = tag_identity(name);
    known.iter().any(|field| Some(field.id) != except && tag_identity(&field.name) == identity)
}

/// A field as the record of changes has it.
fn shown(field: &OwnField) -> serde_json::Value {
    let OwnField { id, key, name, kind } = field;
    json!({ "id": id, "key": key, "name": name, "kind": kind.as_str() })
}

fn read_field(Model { id, key, name, kind, .. }: Model) -> Result<OwnField> {
    let (read, kind) = (FieldKey::parse(&key), kind.parse().ok());
    let (Some(key), Some(kind)) = (read, kind) else {
        return Err(Error::Impossible(format!("the own field {key:?} of contacts")));
    };
    Ok(OwnField { id, key, name, kind })
}
