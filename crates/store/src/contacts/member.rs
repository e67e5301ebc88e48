//! Adds a tag to many contacts at once, or removes it from them.
//!
//! A call is one transaction: callers keep the number of contacts small, and divide the results of a search.

use entity::contact::{Column, Entity};
use entity::tag;
use sea_orm::sea_query::Expr;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, TryGetableMany};
use uuid::Uuid;

use super::{LONGEST_SEARCH, signed};
use crate::changes::ContactRecord;
use crate::contacts::folded;
use crate::dialect::{Rows, Type};
use crate::nouns::{AllContacts, Contacts};
use crate::tags::DELETED;
use crate::{Result, Transaction, execute, fetch};
use clock::Timestamp;
use domain::phone::PhoneNumber;

/// Whether contacts get a tag or lose it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Membership {
    /// Adds the tag.
    Add,
    /// Removes the tag.
    Remove,
}

impl Contacts<'_> {
    /// Adds the tag to these contacts of `company`, or removes it from them. Returns how many contacts changed; `None`
    /// when the company has no such tag.
    pub async fn change_members(
        self,
        record: &mut ContactRecord,
        tag: Uuid,
        contacts: &[Uuid],
        membership: Membership,
        now: Timestamp,
    ) -> Result<Option<u64>> {
        let transaction = self.store.begin().await?;
        let totals = self.lock_totals(&transaction).await?;
        let found = tag::Entity::find_by_id(tag).filter(tag::Column::CompanyId.eq(self.company));
        let found = found.filter(tag::Column::Upkeep.ne(DELETED)).one(&transaction).await?;
        let Some(tag::Model { name_folded: folded, .. }) = found else {
            return transaction.unchanged(None).await;
        };
        let has = match membership {
            Membership::Add => "NOT EXISTS",
            Membership::Remove => "EXISTS",
        };
        let (wanted, values) =
            self.store.contacts().id_rows(contacts).behind([self.company.into(), tag.into()]);
        let select = format!(
            "SELECT DISTINCT contact.id, contact.phone, contact.ordinal FROM {wanted} AS wanted CROSS JOIN contact
             WHERE contact.id = wanted.id AND contact.company_id = $1 AND {has} (
                SELECT 1 FROM contact_tag WHERE contact_tag.tag_id = $2 AND contact_tag.contact_id = contact.id
             )"
        );
        let found = fetch::<(Uuid, Option<i64>, i64)>(&transaction, select, values).await?;
        if found.is_empty() {
            return transaction.unchanged(Some(0)).await;
        }
        let ids: Vec<Uuid> = found.iter().map(|(id, ..)| *id).collect();
        match membership {
            Membership::Add => {
                let pair = |(id, phone, _): &(Uuid, Option<i64>, i64)| {
                    (tag, *id, phone.and_then(PhoneNumber::from_i64))
                };
                self.insert_pairs(&transaction, found.iter().map(pair)).await?;
                self.store.contacts().append_tag_text(&transaction, &ids, &folded).await?;
            }
            Membership::Remove => {
                self.store.contacts().remove_pairs(&transaction, tag, &ids).await?;
                self.store.contacts().rewrite_tag_texts(&transaction, &ids).await?;
            }
        }
        let changed = Entity::update_many().col_expr(Column::UpdatedAt, Expr::value(now.millis()));
        changed.filter(self.store.among(Column::Id, &ids)).exec(&transaction).await?;
        self.index().mark_stale(&transaction, totals, found.iter().map(|(_, _, ordinal)| *ordinal)).await?;
        let word = match membership {
            Membership::Add => "tagged",
            Membership::Remove => "untagged",
        };
        record.count(&transaction, &[(word, found.len() as u64)]).await?;
        transaction.commit().await?;
        Ok(Some(found.len() as u64))
    }

    /// The ordinals of the contacts that a search finds, descending, or of all without one.
    pub(super) async fn search_all(self, search: Option<&str>) -> Result<Vec<u32>> {
        match folded(search) {
            Some(text) if text.len() > LONGEST_SEARCH => Ok(Vec::new()),
            Some(text) => self.index().found(&self.index().read_search(&text).await?).await,
            None => {
                let ordinals = self.totals(&self.store.read).await?.contacts;
                Ok((0..u32::try_from(ordinals).unwrap_or(u32::MAX)).rev().collect())
            }
        }
    }

    /// The ids of the contacts at these places of the list of `company`.
    pub async fn at(self, ordinals: &[u32]) -> Result<Vec<Uuid>> {
        let wanted = Rows::of_ordinals(self.store.backend, ordinals.iter().copied());
        self.wanted("contact.id", wanted, "ordinal").await
    }

    /// The `read` columns of the company's contacts that have the values of these rows in the column of the rows' name.
    async fn wanted<T: TryGetableMany>(self, read: &str, wanted: Rows, column: &str) -> Result<Vec<T>> {
        if wanted.is_empty() {
            return Ok(Vec::new());
        }
        let (wanted, values) = wanted.behind([self.company.into()]);
        let select = format!(
            "SELECT {read} FROM {wanted} AS wanted CROSS JOIN contact
             WHERE contact.company_id = $1 AND contact.{column} = wanted.{column}"
        );
        fetch(&self.store.read, select, values).await
    }

    /// The ids of the contacts of `company` with these numbers, each with its number.
    pub async fn with_numbers(self, numbers: &[PhoneNumber]) -> Result<Vec<(PhoneNumber, Uuid)>> {
        let mut wanted = Rows::new(self.store.backend, &[("phone", Type::Int)]);
        numbers.iter().for_each(|number| wanted.push([signed(number.as_u64()).into()]));
        let rows = self.wanted("contact.phone, contact.id", wanted, "phone").await?.into_iter();
        Ok(rows.filter_map(|(number, id)| Some((PhoneNumber::from_i64(number)?, id))).collect())
    }

    /// Which of these ids are contacts of `company`.
    pub async fn among(self, ids: &[Uuid]) -> Result<Vec<Uuid>> {
        self.wanted("contact.id", self.store.contacts().id_rows(ids), "id").await
    }
}

impl AllContacts<'_> {
    async fn append_tag_text(self, transaction: &Transaction, contacts: &[Uuid], folded: &str) -> Result<()> {
        let (rows, values) = self.id_rows(contacts).behind([folded.into()]);
        let update = format!(
            "UPDATE contact SET tag_text = CASE WHEN tag_text = '' THEN $1 ELSE tag_text || '\n' || $1 END
             WHERE id IN (SELECT id FROM {rows} AS rows)"
        );
        execute(transaction, update, values).await?;
        Ok(())
    }

    /// Rewrites the names of these contacts' tags. Returns the ordinals of the contacts.
    pub(crate) async fn rewrite_tag_texts(
        self,
        transaction: &Transaction,
        contacts: &[Uuid],
    ) -> Result<Vec<i64>> {
        let (rows, values) = self.id_rows(contacts).select(1);
        let update = format!(
            "UPDATE contact SET tag_text = COALESCE((
                SELECT string_agg(tag.name_folded, '\n') FROM contact_tag JOIN tag ON tag.id = contact_tag.tag_id
                WHERE contact_tag.contact_id = contact.id AND tag.upkeep <> {DELETED}
             ), '') WHERE id IN (SELECT id FROM {rows} AS rows) RETURNING ordinal"
        );
        fetch(transaction, update, values).await
    }
}
