//! The contacts of a tag, by the tag's id: a page of them, those among them that a search finds, and their places.
//!
//! Called by the list of contacts, and by changes of the contacts that the list shows.

use uuid::Uuid;

use super::search::{listed, ordinal};
use super::{COLUMNS, LONGEST_SEARCH, folded, length, signed};
use crate::Result;
use crate::nouns::Contacts;
use crate::tags::DELETED;
use domain::contact::Contact;
use domain::page::{Page, PageRequest};

impl Contacts<'_> {
    /// One page of the contacts of `company` with this tag, newest first, and how many there are in all; with `search`
    /// only those that it finds, as in [`Contacts::page`](crate::Contacts::page).
    pub async fn tagged(self, tag: Uuid, page: PageRequest, search: Option<&str>) -> Result<Page<Contact>> {
        if folded(search).is_some() {
            let found = self.search_tagged(tag, search).await?;
            let (offset, limit) = (length(page.offset()), length(page.limit));
            let shown: Vec<u32> = found.iter().copied().skip(offset).take(limit).collect();
            let mut records = self.with_ordinals(&shown).await?;
            records.reverse();
            return Ok(Page { records, total: found.len() as u64 });
        }
        let total = self.store.of(self.company).tags().find(tag).await?.map_or(0, |tag| tag.contacts);
        if page.offset() >= total {
            return Ok(Page { records: Vec::new(), total });
        }
        // The ids of contacts are in the order of time, and so is the key of this table.
        let select = format!(
            "SELECT {COLUMNS} FROM contact WHERE company_id = $1 AND id IN (
                SELECT contact_id FROM contact_tag WHERE tag_id = $2 ORDER BY contact_id DESC LIMIT $3 OFFSET $4
             ) ORDER BY id DESC"
        );
        let values =
            [self.company.into(), tag.into(), signed(page.limit).into(), signed(page.offset()).into()];
        let rows = self.store.rows(select, values).await?;
        Ok(Page { records: self.with_tags(&rows).await?, total })
    }

    pub(super) async fn search_tagged(self, tag: Uuid, search: Option<&str>) -> Result<Vec<u32>> {
        let search = folded(search);
        if search.as_ref().is_some_and(|text| text.len() > LONGEST_SEARCH) {
            return Ok(Vec::new());
        }
        let select = format!(
            "SELECT string_agg(CAST(contact.ordinal AS TEXT), ',') FROM contact_tag
             CROSS JOIN contact
             WHERE contact_tag.tag_id = $2 AND contact.id = contact_tag.contact_id AND contact.company_id = $1
             AND EXISTS (SELECT 1 FROM tag WHERE id = $2 AND company_id = $1 AND upkeep <> {DELETED})"
        );
        let numbers = listed(&self.store.read, select, [self.company.into(), tag.into()]).await?;
        let mut tagged = numbers.into_iter().map(ordinal).collect::<Result<Vec<_>>>()?;
        tagged.sort_unstable_by(|one, other| other.cmp(one));
        if let Some(text) = search {
            let mut found =
                self.index().found(&self.index().read_search(&text).await?).await?.into_iter().peekable();
            // Both are descending.
            tagged.retain(|ordinal| {
                while found.next_if(|found| found > ordinal).is_some() {}
                found.peek() == Some(ordinal)
            });
        }
        Ok(tagged)
    }
}
