//! Contacts. This file reads pages of a list, and all contacts in order for an export. The code that writes, finds and
//! counts contacts is in files of its own.
//!
//! Called by the HTTP surface and by the import. Searched texts are folded when they are written, so a search means the
//! same on every database.

mod delete;
pub(crate) mod edit;
pub(crate) mod filter;
mod gap;
pub(crate) mod import;
mod matching;
pub(crate) mod member;
pub(crate) mod notes;
pub(crate) mod own;
mod people;
pub(crate) mod reached;
mod refold;
pub(crate) mod search;
mod totals;
pub(crate) mod write;

use std::collections::HashMap;

use sea_orm::{QueryResult, Value};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::dialect::{self, Rows, Type};
use crate::nouns::{ContactIndex, Contacts};
use crate::tags::DELETED;
use crate::{Error, Result, Store, fetch, fetch_one};
use clock::Timestamp;
use domain::contact::{Contact, Person, TagSummary};
use domain::fold::fold;
use domain::own_field::OwnValues;
use domain::page::{Page, Window};
use domain::phone::PhoneNumber;

const COLUMNS: &str = "id, first_name, last_name, email, phone_number, phone_number_lid, profile_picture,
    created_at, updated_at, ordinal";

/// In bytes. No name, address or number is as long as this, and a pattern is compared at each letter of a text.
pub(crate) const LONGEST_SEARCH: usize = 1_000;

/// A place in a company's contacts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContactPosition {
    ordinal: u64,
    /// A list of the contacts with a tag is in the order of ids. Older cursors have none, and other lists need none.
    #[serde(default)]
    id: Option<Uuid>,
}

impl ContactPosition {
    /// The ordinal of the contact.
    pub const fn ordinal(self) -> u64 {
        self.ordinal
    }

    /// Whether a list of the contacts with a tag can begin after it.
    pub const fn has_id(self) -> bool {
        self.id.is_some()
    }
}

impl From<&Contact> for ContactPosition {
    fn from(contact: &Contact) -> Self {
        Self { ordinal: contact.ordinal, id: Some(contact.id) }
    }
}

impl<'a> Contacts<'a> {
    /// Their search index.
    pub(crate) const fn index(self) -> ContactIndex<'a> {
        self.store.of(self.company).index()
    }
}

impl Contacts<'_> {
    /// A part of the contacts of `company`, newest first, and how many there are in all.
    ///
    /// Each word of `search` is matched anywhere in the names, the e-mail address, the phone number, WhatsApp's id and
    /// the tags' names, without case and accents. A text that looks like a number also matches by its digits.
    pub async fn page(
        self,
        window: impl Into<Window<ContactPosition>>,
        search: Option<&str>,
    ) -> Result<Page<Contact>> {
        let window = window.into();
        let Some(text) = folded(search) else { return self.page_of_all(window).await };
        if text.len() > LONGEST_SEARCH {
            return Ok(Page { records: Vec::new(), total: 0 });
        }
        let found = self.index().found(&self.index().read_search(&text).await?).await?;
        self.part_of(&found, window).await
    }

    /// A part of the contacts at these places, which are descending.
    async fn part_of(self, found: &[u32], window: Window<ContactPosition>) -> Result<Page<Contact>> {
        let total = found.len() as u64;
        let limit = length(window.limit);
        let (offset, after) = window.parts();
        let following = |ordinal: &&u32| after.is_none_or(|after| u64::from(**ordinal) < after.ordinal);
        let shown = found.iter().filter(following).skip(length(offset)).take(limit);
        let shown: Vec<u32> = shown.copied().collect();
        Ok(Page { records: self.at_places(&shown, " DESC").await?, total })
    }

    /// A page without a search: its place follows from the number of contacts and from the gaps that deleted contacts
    /// left.
    async fn page_of_all(self, window: Window<ContactPosition>) -> Result<Page<Contact>> {
        let limit = signed(window.limit);
        let (offset, after) = window.parts();
        let ordinals = self.totals(&self.store.read).await?.contacts;
        let gaps = self.index().gaps().await?;
        let total = gaps.contacts(ordinals);
        let offset = signed(offset);
        if offset >= total {
            return Ok(Page { records: Vec::new(), total: total.cast_unsigned() });
        }
        let total = total.cast_unsigned();
        if !gaps.is_empty() || after.is_some() {
            let (below, skipped) = match after {
                Some(ContactPosition { ordinal, .. }) => (signed(ordinal), 0),
                None => gaps.locate(ordinals, offset),
            };
            let part = "ordinal < $2 ORDER BY ordinal DESC LIMIT $3 OFFSET $4";
            let records = self.own(part, [below.into(), limit.into(), skipped.into()]).await?;
            return Ok(Page { records, total });
        }
        let above = ordinals - offset;
        let from = above.saturating_sub(limit);
        let part = "ordinal >= $2 AND ordinal < $3 ORDER BY ordinal DESC";
        Ok(Page { records: self.own(part, [from.into(), above.into()]).await?, total })
    }

    /// The next `limit` contacts of `company` after a position, oldest first; from the oldest when `None`.
    pub async fn after(self, after: Option<ContactPosition>, limit: u32) -> Result<Vec<Contact>> {
        let after = after.map_or(-1, |position| signed(position.ordinal));
        self.own("ordinal > $2 ORDER BY ordinal LIMIT $3", [after.into(), i64::from(limit).into()]).await
    }

    /// The contact of `company` with this id.
    pub async fn find(self, id: Uuid) -> Result<Option<Contact>> {
        Ok(self.own("id = $2", [id.into()]).await?.pop())
    }

    /// The contacts at these places of the list of `company`, oldest first.
    pub async fn with_ordinals(self, ordinals: &[u32]) -> Result<Vec<Contact>> {
        self.at_places(ordinals, "").await
    }

    /// The contacts at these places of the list, by their ordinals in this order.
    async fn at_places(self, places: &[u32], order: &str) -> Result<Vec<Contact>> {
        let mut wanted = Rows::new(self.store.backend, &[("place", Type::Int)]);
        places.iter().for_each(|place| wanted.push([i64::from(*place).into()]));
        if wanted.is_empty() {
            return Ok(Vec::new());
        }
        let (wanted, values) = wanted.behind([self.company.into()]);
        let select = format!(
            "SELECT {COLUMNS} FROM {wanted} AS wanted CROSS JOIN contact
             WHERE contact.company_id = $1 AND contact.ordinal = wanted.place
             ORDER BY contact.ordinal{order}"
        );
        self.read(select, values).await
    }

    /// The company's contacts that the end of a statement chooses, after `WHERE company_id = $1`, with its further values.
    async fn own(self, chosen: &str, values: impl IntoIterator<Item = Value>) -> Result<Vec<Contact>> {
        let select = format!("SELECT {COLUMNS} FROM contact WHERE company_id = $1 AND {chosen}");
        self.read(select, std::iter::once(self.company.into()).chain(values)).await
    }

    /// The contacts of `company` with these ids, oldest first.
    pub async fn with_ids(self, ids: &[Uuid]) -> Result<Vec<Contact>> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let (wanted, values) = self.store.contacts().id_rows(ids).behind([self.company.into()]);
        let select = format!(
            "SELECT {COLUMNS} FROM (SELECT DISTINCT id AS wanted_id FROM {wanted} AS ids) AS wanted
             CROSS JOIN contact
             WHERE contact.id = wanted.wanted_id AND contact.company_id = $1 ORDER BY contact.ordinal"
        );
        self.read(select, values).await
    }

    /// Other contacts of `company` with the same valid number or the same e-mail address, oldest first, at most
    /// `limit`.
    pub async fn doubles(self, of: &Contact, limit: u32) -> Result<Vec<Contact>> {
        let bytewise = dialect::bytewise(self.store.backend);
        let select = format!(
            "SELECT {COLUMNS} FROM contact WHERE id IN (
                SELECT id FROM contact WHERE company_id = $1 AND phone = $2
                UNION
                SELECT id FROM contact
                WHERE company_id = $1 AND lower(email) COLLATE {bytewise} = lower($3) AND email <> ''
             ) AND id <> $4 ORDER BY ordinal LIMIT $5"
        );
        let values: [Value; 5] = [
            self.company.into(),
            of.person.phone().map(PhoneNumber::as_i64).into(),
            of.person.email.as_str().into(),
            of.id.into(),
            i64::from(limit).into(),
        ];
        self.read(select, values).await
    }

    /// The contacts that `select` yields with [`COLUMNS`], in their order, each with its tags by name and the values of its own
    /// fields. The rows are known to be one company's: with a condition on the company, PostgreSQL would begin with all contacts
    /// of all its tags.
    pub(crate) async fn read(
        self,
        select: String,
        values: impl IntoIterator<Item = Value>,
    ) -> Result<Vec<Contact>> {
        let rows = self.store.rows(select, values).await?;
        let mut contacts = rows.iter().map(read_contact).collect::<Result<Vec<_>>>()?;
        if contacts.is_empty() {
            return Ok(contacts);
        }
        let wanted = Rows::of_ids(self.store.backend, contacts.iter().map(|contact| &contact.id));
        let (wanted, values) = wanted.select(1);
        let select = format!(
            "SELECT contact_tag.contact_id, tag.id, tag.name, tag.color
             FROM {wanted} AS wanted
             CROSS JOIN contact_tag CROSS JOIN tag
             WHERE contact_tag.contact_id = wanted.id AND tag.id = contact_tag.tag_id AND tag.upkeep <> {DELETED}"
        );
        let mut tags: HashMap<Uuid, Vec<TagSummary>> = HashMap::new();
        for (contact, id, name, color) in fetch(&self.store.read, select, values).await? {
            tags.entry(contact).or_default().push(TagSummary { id, name, color });
        }
        let ids = contacts.iter().map(|contact| &contact.id);
        let mut own = self.store.of(self.company).fields().values_of(&self.store.read, ids).await?;
        for contact in &mut contacts {
            contact.person.own = own.remove(&contact.id).unwrap_or_default();
            contact.tags = tags.remove(&contact.id).unwrap_or_default();
            // Sorted here, because the order of letters in SQL depends on the database.
            contact.tags.sort_unstable_by(|a, b| (&a.name, a.id).cmp(&(&b.name, b.id)));
        }
        Ok(contacts)
    }
}

impl Store {
    /// The number that a `SELECT count(*)` returns.
    pub(crate) async fn count(
        &self,
        sql: impl Into<String>,
        values: impl IntoIterator<Item = Value>,
    ) -> Result<u64> {
        let count: i64 = fetch_one(&self.read, sql, values).await?.unwrap_or_default();
        u64::try_from(count).map_err(|_| Error::Impossible(format!("a count of {count}")))
    }
}

/// A search text, trimmed and folded; `None` when nothing is left.
pub(crate) fn folded(search: Option<&str>) -> Option<String> {
    search.map(|text| fold(text).trim().to_owned()).filter(|text| !text.is_empty())
}

/// `number` as databases take it; nothing that we count comes near the bound.
pub(crate) fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// A number of records in memory.
fn length(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

/// One row of [`COLUMNS`], still without tags and own fields.
fn read_contact(row: &QueryResult) -> Result<Contact> {
    Ok(Contact {
        id: row.try_get_by_index(0)?,
        person: Person {
            first_name: row.try_get_by_index(1)?,
            last_name: row.try_get_by_index(2)?,
            email: row.try_get_by_index(3)?,
            phone_number: row.try_get_by_index(4)?,
            phone_number_lid: row.try_get_by_index(5)?,
            profile_picture: row.try_get_by_index(6)?,
            own: OwnValues::new(),
        },
        tags: Vec::new(),
        created_at: Timestamp::from_millis(row.try_get_by_index(7)?),
        updated_at: Timestamp::from_millis(row.try_get_by_index(8)?),
        ordinal: row.try_get_by_index::<i64>(9)?.cast_unsigned(),
    })
}
