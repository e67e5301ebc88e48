//! Reading contacts: pages of a list, search, and all of them in order for an export.
//!
//! Called by the HTTP surface and by the import. What is searched was folded when it was written, so a
//! search means the same on every database.

use std::collections::HashMap;

use sea_orm::{QueryResult, Value};
use uuid::Uuid;

use super::contact_search::Search;
use super::dialect::{Cell, Rows, Type};
use super::{Error, Result, Store};
use crate::clock::Timestamp;
use crate::domain::contact::{Contact, Person, TagSummary};
use crate::domain::fold::fold;
use crate::domain::page::{Page, PageRequest};

const COLUMNS: &str = "id, first_name, last_name, email, phone_number, phone_number_lid, profile_picture,
    created_at, updated_at";

/// In bytes. SQLite refuses patterns of over 50,000, and no name or number is as long as this.
pub(super) const LONGEST_SEARCH: usize = 10_000;

/// A place in a company's contacts, oldest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ContactPosition {
    id: Uuid,
}

impl From<&Contact> for ContactPosition {
    fn from(contact: &Contact) -> Self {
        Self { id: contact.id }
    }
}

impl Store {
    /// One page of the contacts of `company`, newest first, and how many there are in all.
    ///
    /// `search` is matched anywhere in the names, the e-mail address, the phone number, WhatsApp's id and
    /// the tags' names, without case and accents. What looks like a number also matches by its digits.
    ///
    /// # Errors
    ///
    /// Fails when the database does.
    pub async fn contacts(
        &self,
        company: Uuid,
        page: PageRequest,
        search: Option<&str>,
    ) -> Result<Page<Contact>> {
        let Some(text) = folded(search) else { return self.all_contacts(company, page).await };
        if text.len() > LONGEST_SEARCH {
            return Ok(Page { records: Vec::new(), total: 0 });
        }
        let found = self.found(company, &Search::new(&text)).await?;
        let total = found.len() as u64;
        let (offset, limit) = (length(page.offset()), length(page.limit));
        let mut wanted = Rows::new(self.backend, &[("ordinal", Type::Int)]);
        found.iter().skip(offset).take(limit).for_each(|ordinal| wanted.push([i64::from(*ordinal).into()]));
        if wanted.is_empty() {
            return Ok(Page { records: Vec::new(), total });
        }
        let (wanted, values) = wanted.select(2);
        let select = format!(
            "SELECT {COLUMNS} FROM {wanted} AS wanted CROSS JOIN contact
             WHERE contact.company_id = $1 AND contact.ordinal = wanted.ordinal
             ORDER BY contact.ordinal DESC"
        );
        let rows = self.rows(select, std::iter::once(company.into()).chain(values)).await?;
        Ok(Page { records: self.with_tags(&rows).await?, total })
    }

    /// A page without a search: where it is follows from how many contacts there are.
    async fn all_contacts(&self, company: Uuid, page: PageRequest) -> Result<Page<Contact>> {
        let total = self.book(&self.read, company).await?.contacts;
        let above = total - signed(page.offset());
        let from = above.saturating_sub(signed(page.limit));
        let total = total.cast_unsigned();
        if above <= 0 {
            return Ok(Page { records: Vec::new(), total });
        }
        let select = format!(
            "SELECT {COLUMNS} FROM contact WHERE company_id = $1 AND ordinal >= $2 AND ordinal < $3
             ORDER BY ordinal DESC"
        );
        let rows = self.rows(select, [company.into(), from.into(), above.into()]).await?;
        Ok(Page { records: self.with_tags(&rows).await?, total })
    }

    /// The next `limit` contacts of `company` after a position, oldest first; from the oldest when `None`.
    ///
    /// # Errors
    ///
    /// Fails when the database does.
    pub async fn contacts_after(
        &self,
        company: Uuid,
        after: Option<ContactPosition>,
        limit: u32,
    ) -> Result<Vec<Contact>> {
        let mut values: Vec<Value> = vec![company.into(), i64::from(limit).into()];
        let mut after_it = "";
        if let Some(ContactPosition { id }) = after {
            after_it = "AND ordinal > (SELECT ordinal FROM contact WHERE company_id = $1 AND id = $3)";
            values.push(id.into());
        }
        let select = format!(
            "SELECT {COLUMNS} FROM contact WHERE company_id = $1 {after_it} ORDER BY ordinal LIMIT $2"
        );
        let rows = self.rows(select, values).await?;
        self.with_tags(&rows).await
    }

    /// The contacts of `rows`, in their order, each with its tags by name. The rows were read as a company's;
    /// asking for the company again makes PostgreSQL begin with all contacts of all its tags.
    async fn with_tags(&self, rows: &[QueryResult]) -> Result<Vec<Contact>> {
        let mut contacts = rows.iter().map(contact).collect::<Result<Vec<_>>>()?;
        if contacts.is_empty() {
            return Ok(contacts);
        }
        let mut wanted = Rows::new(self.backend, &[("id", Type::Uuid)]);
        for contact in &contacts {
            wanted.push([Cell::Uuid(contact.id)]);
        }
        let (wanted, values) = wanted.select(1);
        let select = format!(
            "SELECT contact_tag.contact_id, tag.id, tag.name, tag.color
             FROM {wanted} AS wanted
             CROSS JOIN contact_tag CROSS JOIN tag
             WHERE contact_tag.contact_id = wanted.id AND tag.id = contact_tag.tag_id"
        );
        let mut tags: HashMap<Uuid, Vec<TagSummary>> = HashMap::new();
        for row in self.rows(select, values).await? {
            let tag = TagSummary {
                id: row.try_get_by_index(1)?,
                name: row.try_get_by_index(2)?,
                color: row.try_get_by_index(3)?,
            };
            tags.entry(row.try_get_by_index(0)?).or_default().push(tag);
        }
        for contact in &mut contacts {
            contact.tags = tags.remove(&contact.id).unwrap_or_default();
            // Here and not in SQL, where the order of letters depends on the database.
            contact.tags.sort_unstable_by(|a, b| (&a.name, a.id).cmp(&(&b.name, b.id)));
        }
        Ok(contacts)
    }

    /// The number that a `SELECT count(*)` answers.
    pub(super) async fn count(&self, sql: String, values: Vec<Value>) -> Result<u64> {
        let row = self.row(sql, values).await?;
        let count: i64 = row.map_or(Ok(0), |row| row.try_get_by_index(0))?;
        u64::try_from(count).map_err(|_| Error::Impossible(format!("a count of {count}")))
    }
}

/// A search without its surrounding space, folded; `None` when nothing is left to look for.
pub(super) fn folded(search: Option<&str>) -> Option<String> {
    search.map(|text| fold(text.trim())).filter(|text| !text.is_empty())
}

/// `number` as databases take it; nothing that we count comes near the bound.
pub(super) fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// A number of records in memory.
fn length(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

/// One row of [`COLUMNS`], still without tags.
fn contact(row: &QueryResult) -> Result<Contact> {
    Ok(Contact {
        id: row.try_get_by_index(0)?,
        person: Person {
            first_name: row.try_get_by_index(1)?,
            last_name: row.try_get_by_index(2)?,
            email: row.try_get_by_index(3)?,
            phone_number: row.try_get_by_index(4)?,
            phone_number_lid: row.try_get_by_index(5)?,
            profile_picture: row.try_get_by_index(6)?,
        },
        tags: Vec::new(),
        created_at: Timestamp::from_millis(row.try_get_by_index(7)?),
        updated_at: Timestamp::from_millis(row.try_get_by_index(8)?),
    })
}
