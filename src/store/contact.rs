//! Reading contacts: pages of a list, search, and all of them in order for an export.
//!
//! Called by the HTTP surface and by the import. What is searched was folded when it was written, so a
//! search means the same on every database.

use std::collections::HashMap;

use sea_orm::{QueryResult, Value};
use uuid::Uuid;

use super::dialect::{self, Cell, Rows, Type};
use super::{Error, Result, Store};
use crate::clock::Timestamp;
use crate::domain::contact::{Contact, Person, TagSummary, digits_pattern};
use crate::domain::fold::{digits, fold, like_anywhere, looks_like_a_number};
use crate::domain::page::{Page, PageRequest};

const COLUMNS: &str = "id, first_name, last_name, email, phone_number, phone_number_lid, profile_picture,
    created_at, updated_at";

/// In bytes. SQLite refuses patterns of over 50,000, and no name or number is as long as this.
pub(super) const LONGEST_SEARCH: usize = 10_000;

/// A place in a company's contacts, oldest first; ties are ordered by id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ContactPosition {
    created_at: i64,
    id: Uuid,
}

impl From<&Contact> for ContactPosition {
    fn from(contact: &Contact) -> Self {
        Self { created_at: contact.created_at.millis(), id: contact.id }
    }
}

/// What a list is narrowed to: a condition and its parameters, the first being the company.
struct Filter {
    condition: String,
    values: Vec<Value>,
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
        let search = folded(search);
        if search.as_ref().is_some_and(|text| text.len() > LONGEST_SEARCH) {
            return Ok(Page { records: Vec::new(), total: 0 });
        }
        let filter = self.contact_filter(company, search).await?;
        let count = format!("SELECT count(*) FROM contact WHERE {}", filter.condition);
        let total = self.count(count, filter.values.clone()).await?;
        if page.offset() >= total {
            return Ok(Page { records: Vec::new(), total });
        }
        // The inner select skips its offset inside the index; only the page's own rows are read.
        let (limit, offset) = (filter.values.len() + 1, filter.values.len() + 2);
        let select = format!(
            "SELECT {COLUMNS} FROM contact WHERE id IN (
                SELECT id FROM contact WHERE {}
                ORDER BY created_at DESC, id DESC LIMIT ${limit} OFFSET ${offset}
            ) ORDER BY created_at DESC, id DESC",
            filter.condition
        );
        let mut values = filter.values;
        values.extend([signed(page.limit).into(), signed(page.offset()).into()]);
        let rows = self.rows(select, values).await?;
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
        let after = after.unwrap_or(ContactPosition { created_at: i64::MIN, id: Uuid::nil() });
        let select = format!(
            "SELECT {COLUMNS} FROM contact WHERE company_id = $1 AND (created_at, id) > ($2, $3)
             ORDER BY created_at, id LIMIT $4"
        );
        let values = [company.into(), after.created_at.into(), after.id.into(), i64::from(limit).into()];
        let rows = self.rows(select, values).await?;
        self.with_tags(&rows).await
    }

    async fn contact_filter(&self, company: Uuid, search: Option<String>) -> Result<Filter> {
        let mut filter = Filter { condition: "company_id = $1".to_owned(), values: vec![company.into()] };
        let Some(text) = search else { return Ok(filter) };
        let pattern = like_anywhere(&text);
        let mut branches = vec![r"search_text LIKE $2 ESCAPE '\'".to_owned()];
        filter.values.push(pattern.clone().into());
        let number = digits(&text);
        if looks_like_a_number(&text) && number != text {
            filter.values.push(digits_pattern(&number).into());
            branches.push(format!(r"search_text LIKE ${} ESCAPE '\'", filter.values.len()));
        }
        let tags = r"SELECT id FROM tag WHERE company_id = $1 AND name_folded LIKE $2 ESCAPE '\'";
        let tags = self.rows(tags, [company.into(), pattern.into()]).await?;
        if !tags.is_empty() {
            let mut wanted = Rows::new(self.backend, &[("id", Type::Uuid)]);
            for row in &tags {
                wanted.push([row.try_get_by_index::<Uuid>(0)?.into()]);
            }
            let (wanted, values) = wanted.select(filter.values.len() + 1);
            filter.values.extend(values);
            branches.push(dialect::has_tag(self.backend, &wanted));
        }
        filter.condition = format!("company_id = $1 AND ({})", branches.join(" OR "));
        Ok(filter)
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
