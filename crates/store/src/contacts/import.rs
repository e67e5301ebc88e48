//! Writes drafts of contacts. Each draft changes the known contact that it matches, or creates a contact.
//!
//! A batch is one transaction of a handful of statements, however many rows it has. Called by the import.

use std::collections::{BTreeSet, HashMap, HashSet};

use sea_orm::{ConnectionTrait, QueryResult, Value};
use uuid::Uuid;

pub use super::matching::Names;
use super::matching::{Matcher, Slot};
use crate::changes::ContactRecord;
use crate::dialect::{self, Cell, Rows, Type};
use crate::nouns::Contacts;
use crate::{Result, Transaction, fetch};
use clock::Timestamp;
use domain::contact::Person;
use domain::fold::fold;
use domain::own_field::OwnValues;
use domain::phone::PhoneNumber;

/// A contact as a file describes it. An unknown text is empty and never erases a known one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ContactDraft {
    /// The person. No text may contain a NUL character, which PostgreSQL refuses.
    pub person: Person,
    /// Names of tags that the contact gets in addition to those that it has.
    pub tags: Vec<String>,
}

impl ContactDraft {
    /// The rows of the database that the draft may write: the contact, each of its tags, and each value of an own field.
    pub fn rows(&self) -> usize {
        1 + self.tags.len() + self.person.own.len()
    }
}

/// The outcome of a draft.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Upserted {
    /// A new contact was created.
    Created,
    /// A known contact was changed.
    Updated,
    /// All values of the draft were known.
    Unchanged,
}

/// The columns that [`read_slot`] reads.
pub(crate) const SLOT: &str =
    "id, first_name, last_name, email, phone_number, phone_number_lid, profile_picture,
    phone, ordinal, tag_text";

/// A contact of the database, to be changed, still without its own fields: a row of [`SLOT`].
pub(crate) fn read_slot(row: &QueryResult) -> Result<Slot> {
    let person = Person {
        first_name: row.try_get_by_index(1)?,
        last_name: row.try_get_by_index(2)?,
        email: row.try_get_by_index(3)?,
        phone_number: row.try_get_by_index(4)?,
        phone_number_lid: row.try_get_by_index(5)?,
        profile_picture: row.try_get_by_index(6)?,
        own: OwnValues::new(),
    };
    let phone: Option<i64> = row.try_get_by_index(7)?;
    let slot = Slot::new(row.try_get_by_index(0)?, person, phone.and_then(PhoneNumber::from_i64));
    let (ordinal, tag_text) = (row.try_get_by_index(8)?, row.try_get_by_index(9)?);
    Ok(Slot { ordinal, tag_text, is_new: false, ..slot })
}

impl Contacts<'_> {
    /// Writes a batch of drafts in one transaction. Returns the outcome of each, in their order.
    ///
    /// A draft matches the contact of `company` with the same valid number, else one with the same e-mail address
    /// (ignoring case) unless both have valid numbers, else it is a new contact; of several matches, the oldest. Drafts see the changes of the drafts
    /// before them. Writing the same batch again changes nothing.
    pub async fn upsert(self, drafts: &[ContactDraft], now: Timestamp) -> Result<Vec<Upserted>> {
        let transaction = self.store.begin().await?;
        let (written, _) = self.import_drafts_in(&transaction, drafts, Names::Replace, now).await?;
        transaction.commit().await?;
        Ok(written.into_iter().map(|(_, result)| result).collect())
    }

    /// The same, recorded; returns the contact of each draft too.
    pub async fn write_drafts(
        self,
        record: &mut ContactRecord,
        drafts: &[ContactDraft],
        now: Timestamp,
    ) -> Result<Vec<(Uuid, Upserted)>> {
        Ok(self.import_drafts(record, drafts, Names::Replace, now).await?.0)
    }

    /// The same for the rows of a file, and how many of their names were not taken.
    pub async fn import_drafts(
        self,
        record: &mut ContactRecord,
        drafts: &[ContactDraft],
        names: Names,
        now: Timestamp,
    ) -> Result<(Vec<(Uuid, Upserted)>, u64)> {
        let transaction = self.store.begin().await?;
        let (written, kept) = self.import_drafts_in(&transaction, drafts, names, now).await?;
        let count = |wanted| written.iter().filter(|(_, result)| *result == wanted).count() as u64;
        let counts = [("created", count(Upserted::Created)), ("updated", count(Upserted::Updated))];
        record.count(&transaction, &counts).await?;
        transaction.commit().await?;
        Ok((written, kept))
    }

    /// The outcomes that [`Contacts::import_drafts`](crate::Contacts::import_drafts) would have for the drafts now, and how many names would not be taken.
    /// Nothing is written.
    pub async fn compare_drafts(self, drafts: &[ContactDraft], names: Names) -> Result<(Vec<Upserted>, u64)> {
        let snapshot = self.store.snapshot().await?;
        let matcher = self.candidates(&snapshot, drafts).await;
        snapshot.rollback().await?;
        let mut matcher = matcher?;
        matcher.names = names;
        let results = drafts.iter().map(|draft| matcher.place(&draft.person).1).collect();
        Ok((results, matcher.names_kept))
    }

    /// Writes drafts as a part of `transaction`. Returns also how many of their names were not taken.
    pub(crate) async fn import_drafts_in(
        self,
        transaction: &Transaction,
        drafts: &[ContactDraft],
        names: Names,
        now: Timestamp,
    ) -> Result<(Vec<(Uuid, Upserted)>, u64)> {
        let mut totals = self.lock_totals(transaction).await?;
        let tags: BTreeSet<&str> = drafts.iter().flat_map(|draft| &draft.tags).map(String::as_str).collect();
        let tags = self.store.of(self.company).tags().ensure_all(transaction, &tags, None, now).await?;

        let mut matcher = self.candidates(transaction, drafts).await?;
        matcher.names = names;
        let placed: Vec<_> = drafts.iter().map(|draft| matcher.place(&draft.person)).collect();
        let (mut slots, names_kept) = (matcher.slots, matcher.names_kept);
        let (owners, mut results): (Vec<usize>, Vec<Upserted>) = placed.into_iter().unzip();

        let mut pairs = Vec::new();
        let mut seen = HashSet::new();
        for (draft, owner) in owners.iter().enumerate() {
            for tag in drafts[draft].tags.iter().filter_map(|name| tags.get(name)) {
                if seen.insert((*owner, *tag)) {
                    pairs.push((draft, *owner, *tag));
                }
            }
        }
        let known = self.known_pairs(transaction, &slots, &pairs).await?;
        pairs.retain(|(_, owner, tag)| !known.contains(&(slots[*owner].id, *tag)));
        let folded: HashMap<Uuid, String> = tags.iter().map(|(name, id)| (*id, fold(name))).collect();
        for (draft, owner, tag) in &pairs {
            if results[*draft] == Upserted::Unchanged {
                results[*draft] = Upserted::Updated;
            }
            slots[*owner].tag(folded.get(tag).map(String::as_str).unwrap_or_default());
        }

        let new = slots.iter().filter(|slot| slot.is_new).collect();
        self.insert(transaction, &mut totals, new, now).await?;
        self.update(transaction, totals, &slots, now).await?;
        let rows = pairs.iter().map(|(_, owner, tag)| (*tag, slots[*owner].id, slots[*owner].phone));
        self.insert_pairs(transaction, rows).await?;
        Ok((owners.iter().map(|owner| slots[*owner].id).zip(results).collect(), names_kept))
    }

    /// Every contact of the company that has a number or an address of the drafts.
    pub(crate) async fn candidates(
        self,
        transaction: &Transaction,
        drafts: &[ContactDraft],
    ) -> Result<Matcher> {
        let mut phones = Rows::new(self.store.backend, &[("phone", Type::Int)]);
        let mut emails = Rows::new(self.store.backend, &[("email", Type::Text)]);
        for draft in drafts {
            if let Some(phone) = draft.person.phone() {
                phones.push([phone.as_i64().into()]);
            }
            if !draft.person.email.is_empty() {
                emails.push([draft.person.email.as_str().into()]);
            }
        }
        let mut values: Vec<Value> = vec![self.company.into()];
        let (phones, more) = phones.select(2);
        values.extend(more);
        let (emails, more) = emails.select(values.len() + 1);
        values.extend(more);
        let bytewise = dialect::bytewise(self.store.backend);
        let select = format!(
            "SELECT {SLOT} FROM contact WHERE id IN (
                SELECT contact.id FROM {phones} AS wanted CROSS JOIN contact
                WHERE contact.company_id = $1 AND contact.phone = wanted.phone
                UNION
                SELECT contact.id FROM {emails} AS wanted CROSS JOIN contact
                WHERE contact.company_id = $1 AND lower(contact.email) COLLATE {bytewise} = lower(wanted.email)
             ) ORDER BY ordinal"
        );
        let mut matcher = Matcher::default();
        for row in transaction.query_all_raw(self.store.statement(select, values)).await? {
            matcher.add_stored(read_slot(&row)?);
        }
        // Most files have no own fields: nothing is read for them.
        if drafts.iter().any(|draft| !draft.person.own.is_empty()) {
            self.store.of(self.company).fields().add_to(&mut matcher.slots, transaction).await?;
        }
        Ok(matcher)
    }

    /// Which (contact, tag) of `pairs` the database has. Contact and tag are known to be the company's: with a
    /// condition on the company, PostgreSQL would begin with all of its pairs.
    async fn known_pairs(
        self,
        transaction: &Transaction,
        slots: &[Slot],
        pairs: &[(usize, usize, Uuid)],
    ) -> Result<HashSet<(Uuid, Uuid)>> {
        let mut wanted = Rows::new(self.store.backend, &[("contact_id", Type::Uuid), ("tag_id", Type::Uuid)]);
        for (_, owner, tag) in pairs.iter().filter(|(_, owner, _)| !slots[*owner].is_new) {
            wanted.push([Cell::Uuid(slots[*owner].id), Cell::Uuid(*tag)]);
        }
        if wanted.is_empty() {
            return Ok(HashSet::new());
        }
        let (wanted, values) = wanted.select(1);
        let select = format!(
            "SELECT contact_tag.contact_id, contact_tag.tag_id FROM {wanted} AS wanted CROSS JOIN contact_tag
             WHERE contact_tag.tag_id = wanted.tag_id AND contact_tag.contact_id = wanted.contact_id"
        );
        Ok(fetch(transaction, select, values).await?.into_iter().collect())
    }
}
