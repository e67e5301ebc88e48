//! Changing one contact: its fields, its tags, and merging others into it.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashSet};

use entity::contact::{Column, Entity};
use sea_orm::{ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter, QuerySelect, SelectExt};
use uuid::Uuid;

use super::import::{SLOT, read_slot};
use super::matching::Slot;
use crate::changes::{ContactRecord, Who};
use crate::nouns::Contacts;
use crate::tags::DELETED;
use crate::{Result, Transaction, execute, fetch};
use clock::Timestamp;
use domain::contact::Person;
use domain::fold::fold;
use domain::own_field::{FieldKey, FieldValue};

/// A change of a contact; `None` keeps a value, an empty text erases it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ContactChange {
    /// First name.
    pub first_name: Option<String>,
    /// Last name.
    pub last_name: Option<String>,
    /// E-mail address.
    pub email: Option<String>,
    /// The number, as it is given.
    pub phone_number: Option<String>,
    /// WhatsApp's own id of the person.
    pub phone_number_lid: Option<String>,
    /// URL of a picture.
    pub profile_picture: Option<String>,
    /// The values of own fields; `None` erases one, and fields that are absent are kept.
    pub own: BTreeMap<FieldKey, Option<FieldValue>>,
    /// The names of all its tags; those that do not exist are created.
    pub tags: Option<Vec<String>>,
    /// The time of the contact's last change that the caller knows of: nothing is written if the contact has another one.
    pub known: Option<Timestamp>,
}

/// The outcome of a change to one record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Edited {
    /// The change was made.
    Done,
    /// The company has no such record.
    Missing,
    /// Another record has the number, or the name.
    Taken,
    /// The contact would have neither a number nor an e-mail address.
    Nameless,
    /// The record has changed since the caller read it.
    Outdated,
}

impl Contacts<'_> {
    /// Changes a contact of `company`.
    pub async fn change(self, who: &Who, id: Uuid, change: &ContactChange, now: Timestamp) -> Result<Edited> {
        let transaction = self.store.begin().await?;
        let totals = self.lock_totals(&transaction).await?;
        let Some(mut slot) = self.slots(&transaction, &[id]).await?.pop() else {
            return transaction.unchanged(Edited::Missing).await;
        };
        if let Some(known) = change.known
            && self.changed_at(&transaction, id).await? != Some(known)
        {
            return transaction.unchanged(Edited::Outdated).await;
        }
        let number = slot.phone;
        slot.apply(change);
        if slot.phone.is_none() && slot.person.email.is_empty() {
            return transaction.unchanged(Edited::Nameless).await;
        }
        if let Some(phone) = slot.phone.filter(|phone| Some(*phone) != number) {
            let others = Entity::find().filter(Column::CompanyId.eq(self.company));
            if others.filter(Column::Phone.eq(phone.as_i64())).exists(&transaction).await? {
                return transaction.unchanged(Edited::Taken).await;
            }
        }
        let mut added = Vec::new();
        if let Some(names) = &change.tags {
            let names: BTreeSet<&str> = names.iter().map(String::as_str).collect();
            let tags = self.store.of(self.company).tags().ensure_all(&transaction, &names, None, now).await?;
            let wanted: HashSet<Uuid> = tags.values().copied().collect();
            let known = self.tags_of(&transaction, id).await?;
            let removed: Vec<Uuid> = known.difference(&wanted).copied().collect();
            if !removed.is_empty() {
                let (rows, values) = self.store.contacts().id_rows(&removed).behind([id.into()]);
                let delete = format!(
                    "DELETE FROM contact_tag WHERE contact_id = $1 AND tag_id IN (SELECT id FROM {rows} AS rows)"
                );
                execute(&transaction, delete, values).await?;
                let counts: Vec<_> = removed.iter().map(|tag| (*tag, 1)).collect();
                self.store.contacts().uncount(&transaction, &counts).await?;
            }
            added.extend(wanted.difference(&known).copied());
            if !removed.is_empty() || !added.is_empty() {
                slot.tag_text = names.iter().map(|name| fold(name)).collect::<Vec<_>>().join("\n");
                (slot.is_changed, slot.is_stale) = (true, true);
            }
        }
        let (phone, is_changed) = (slot.phone, slot.is_changed);
        if !is_changed {
            return transaction.unchanged(Edited::Done).await;
        }
        self.update(&transaction, totals, &[slot], now).await?;
        self.insert_pairs(&transaction, added.into_iter().map(|tag| (tag, id, phone))).await?;
        let mut record = ContactRecord::new(who, self.company).about("contact", id);
        record.count(&transaction, &[("updated", 1)]).await?;
        transaction.commit().await?;
        Ok(Edited::Done)
    }

    /// Merges contacts: `into` takes the values that it lacks from the others, in their order, and all of their tags
    /// and notes; the others are deleted.
    pub async fn merge(self, who: &Who, into: Uuid, others: &[Uuid], now: Timestamp) -> Result<Edited> {
        let others: Vec<Uuid> = others.iter().copied().filter(|id| *id != into).collect();
        let transaction = self.store.begin().await?;
        let totals = self.lock_totals(&transaction).await?;
        let kept = self.slots(&transaction, &[into]).await?.pop();
        let merged = self.slots(&transaction, &others).await?;
        let (Some(mut slot), true) = (kept, merged.len() == others.len()) else {
            return transaction.unchanged(Edited::Missing).await;
        };
        if others.is_empty() {
            return transaction.unchanged(Edited::Done).await;
        }
        let known = self.tags_of(&transaction, into).await?;
        let mut added = HashSet::new();
        for other in &merged {
            added.extend(self.tags_of(&transaction, other.id).await?.difference(&known).copied());
            slot.fill(&other.person);
        }
        self.store.of(self.company).contact_notes().move_to(&transaction, into, &others).await?;
        self.delete_in(&transaction, totals, &others).await?;
        let phone = slot.phone;
        slot.is_changed = true;
        slot.is_stale = true;
        self.update(&transaction, totals, &[slot], now).await?;
        self.insert_pairs(&transaction, added.into_iter().map(|tag| (tag, into, phone))).await?;
        self.store.contacts().rewrite_tag_texts(&transaction, &[into]).await?;
        let mut record = ContactRecord::new(who, self.company).about("contact", into);
        record.count(&transaction, &[("merged", others.len() as u64)]).await?;
        transaction.commit().await?;
        Ok(Edited::Done)
    }

    /// These contacts of `company`, by their ordinals. A join, because SQLite would look for the ids among all contacts of
    /// the company.
    async fn slots(self, transaction: &Transaction, ids: &[Uuid]) -> Result<Vec<Slot>> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let (rows, values) = self.store.contacts().id_rows(ids).behind([self.company.into()]);
        let select = format!(
            "SELECT {SLOT} FROM (SELECT DISTINCT id AS wanted_id FROM {rows} AS rows) AS wanted
             CROSS JOIN contact
             WHERE contact.id = wanted.wanted_id AND contact.company_id = $1 ORDER BY contact.ordinal"
        );
        let statement = self.store.statement(select, values);
        let rows = transaction.query_all_raw(statement).await?;
        let mut slots = rows.iter().map(read_slot).collect::<Result<Vec<_>>>()?;
        self.store.of(self.company).fields().add_to(&mut slots, transaction).await?;
        Ok(slots)
    }

    /// When the contact last changed.
    async fn changed_at(self, transaction: &Transaction, contact: Uuid) -> Result<Option<Timestamp>> {
        let changed = Entity::find_by_id(contact).select_only().column(Column::UpdatedAt);
        Ok(changed.into_tuple::<i64>().one(transaction).await?.map(Timestamp::from_millis))
    }

    async fn tags_of(self, transaction: &Transaction, contact: Uuid) -> Result<HashSet<Uuid>> {
        let select = format!(
            "SELECT tag.id FROM contact_tag JOIN tag ON tag.id = contact_tag.tag_id
             WHERE contact_tag.contact_id = $1 AND tag.upkeep <> {DELETED}"
        );
        Ok(fetch(transaction, select, [contact.into()]).await?.into_iter().collect())
    }
}

impl Slot {
    fn apply(&mut self, change: &ContactChange) {
        let before = self.person.clone();
        let set = |known: &mut String, given: &Option<String>| {
            if let Some(given) = given {
                known.clone_from(given);
            }
        };
        set(&mut self.person.first_name, &change.first_name);
        set(&mut self.person.last_name, &change.last_name);
        set(&mut self.person.email, &change.email);
        set(&mut self.person.phone_number, &change.phone_number);
        set(&mut self.person.profile_picture, &change.profile_picture);
        if let Some(lid) = &change.phone_number_lid {
            self.person.phone_number_lid = Some(lid.clone()).filter(|lid| !lid.is_empty());
        }
        for (key, value) in &change.own {
            if self.person.own.get(key) != value.as_ref() {
                self.own_changes.insert(*key);
                match value {
                    Some(value) => drop(self.person.own.insert(*key, value.clone())),
                    None => drop(self.person.own.remove(key)),
                }
            }
        }
        self.renumber();
        self.is_changed |= self.person != before;
        self.is_stale |= self.person.search_text() != before.search_text();
    }

    /// Takes missing values from another person.
    fn fill(&mut self, other: &Person) {
        let Person { first_name, last_name, email, phone_number, phone_number_lid, profile_picture, own } =
            other;
        let known = &mut self.person;
        if known.first_name.is_empty() && known.last_name.is_empty() {
            known.first_name.clone_from(first_name);
            known.last_name.clone_from(last_name);
        }
        for (known, other) in [(&mut known.email, email), (&mut known.profile_picture, profile_picture)] {
            if known.is_empty() {
                known.clone_from(other);
            }
        }
        if known.phone_number_lid.is_none() {
            known.phone_number_lid.clone_from(phone_number_lid);
        }
        for (key, value) in own {
            if let Entry::Vacant(lacking) = known.own.entry(*key) {
                lacking.insert(value.clone());
                self.own_changes.insert(*key);
            }
        }
        if known.phone().is_none() && !phone_number.is_empty() {
            known.phone_number.clone_from(phone_number);
        }
        self.renumber();
    }

    fn renumber(&mut self) {
        let phone = self.person.phone();
        self.is_renumbered |= phone != self.phone;
        self.phone = phone;
    }
}
