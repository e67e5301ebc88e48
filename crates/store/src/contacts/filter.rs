//! The contacts that a list has: all of them, those that a search finds or a send reached, and of these only contacts that
//! have some tags and lack others, and that meet conditions on [own fields](super::own). Their pages, their number and their
//! places.
//!
//! Tags are given by their ids: other contacts may have a tag's name in theirs. What a tag has is read from the key of
//! `contact_tag`. Of several tags, the one with the fewest contacts is read, and the others are looked up for each of its
//! contacts. Called by the lists of contacts, and by changes of the contacts that a list shows.

use sea_orm::Value;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::reached::{BySend, Freshness, narrowed, retain};
use super::search::{ORDINALS, listed, ordinal};
use super::{COLUMNS, ContactPosition, folded, signed};
use crate::dialect::Rows;
use crate::nouns::Contacts;
use crate::tags::DELETED;
use crate::{Error, Result, fetch};
use domain::contact::Contact;
use domain::own_field::FieldCondition;
use domain::page::{Page, Window};

/// Which contacts a list has. Segments keep it: a field that is added has a default, which selects every contact.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ContactFilter {
    /// Those that this text finds, as in [`Contacts::page`](crate::Contacts::page); all of them without a text.
    pub search: Option<String>,
    /// Only contacts that have each of these tags.
    pub tags: Vec<Uuid>,
    /// Only contacts that have none of these tags.
    pub without: Vec<Uuid>,
    /// Only contacts for whom a send had this outcome.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reached: Option<BySend>,
    /// Only contacts that meet each of these conditions.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<FieldCondition>,
}

impl ContactFilter {
    /// The filter that selects no contact: no tag has the nil id.
    pub fn nobody() -> Self {
        Self { tags: vec![Uuid::nil()], ..Self::default() }
    }
}

/// Whether the number of all contacts of a list is needed with a part of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Counting {
    /// The total is exact.
    Exact,
    /// Nobody reads the total, which may be larger than the number of contacts: counting those of several tags reads each of
    /// their contacts.
    Skipped,
}

/// The tags of a filter that the company has, each with the number of its contacts.
struct KnownTags {
    /// The tags that contacts have, the one with the fewest contacts first.
    with: Vec<(Uuid, u64)>,
    /// The tags that contacts lack.
    without: Vec<(Uuid, u64)>,
}

impl KnownTags {
    const fn is_empty(&self) -> bool {
        self.with.is_empty() && self.without.is_empty()
    }

    /// Conditions on the contact whose id is `id`, each after `AND`, and their values: it has each of these tags, and none
    /// of those that it has to lack. Parameters are numbered from `first`.
    fn conditions(&self, with: &[(Uuid, u64)], id: &str, first: usize) -> (String, Vec<Value>) {
        let (mut conditions, mut values) = (String::new(), Vec::new());
        for (tags, exists) in [(with, "EXISTS"), (self.without.as_slice(), "NOT EXISTS")] {
            for (tag, _) in tags {
                let number = first + values.len();
                conditions.push_str(&format!(
                    " AND {exists} (SELECT 1 FROM contact_tag AS other
                      WHERE other.tag_id = ${number} AND other.contact_id = {id})"
                ));
                values.push((*tag).into());
            }
        }
        (conditions, values)
    }
}

impl Contacts<'_> {
    /// A part of the contacts of `company` that the filter selects, newest first, and how many there are in all. A tag that
    /// the company does not have is a tag that no contact has.
    ///
    /// Fails for a list of the contacts with a tag that is to begin after a position [without an
    /// id](ContactPosition::has_id).
    pub async fn filtered(
        self,
        filter: &ContactFilter,
        window: impl Into<Window<ContactPosition>>,
        counting: Counting,
    ) -> Result<Page<Contact>> {
        let (window, search) = (window.into(), filter.search.as_deref());
        if !filter.fields.is_empty() {
            return self.part_of(&selected(self, filter, Freshness::Recent).await?, window).await;
        }
        let Some(tags) = self.known_tags(filter).await? else {
            return Ok(Page { records: Vec::new(), total: 0 });
        };
        if tags.is_empty() && filter.reached.is_none() {
            return self.page(window, search).await;
        }
        if folded(search).is_some() || filter.reached.is_some() {
            let found = self.places(filter, &tags, Freshness::Recent).await?;
            return self.part_of(&found, window).await;
        }
        match tags.with.split_first() {
            Some((fewest, others)) => self.page_of_tags(&tags, *fewest, others, window, counting).await,
            None => self.page_without(&tags, window, counting).await,
        }
    }

    /// The ordinals of the contacts that the filter selects, descending.
    pub async fn search(self, filter: &ContactFilter) -> Result<Vec<u32>> {
        selected(self, filter, Freshness::Now).await
    }

    /// The tags of the filter; `None` when contacts would have to have a tag that does not exist.
    async fn known_tags(self, filter: &ContactFilter) -> Result<Option<KnownTags>> {
        let mut with = self.counted_tags(&filter.tags).await?;
        let mut wanted = filter.tags.clone();
        wanted.sort_unstable();
        wanted.dedup();
        if with.len() < wanted.len() {
            return Ok(None);
        }
        with.sort_unstable_by_key(|(id, contacts)| (*contacts, *id));
        Ok(Some(KnownTags { with, without: self.counted_tags(&filter.without).await? }))
    }

    /// The company's tags among these, each once, with the numbers of their contacts.
    async fn counted_tags(self, ids: &[Uuid]) -> Result<Vec<(Uuid, u64)>> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let (wanted, values) = self.store.contacts().id_rows(ids).behind([self.company.into()]);
        let select = format!(
            "SELECT DISTINCT tag.id, tag.contacts FROM {wanted} AS wanted CROSS JOIN tag
             WHERE tag.id = wanted.id AND tag.company_id = $1 AND tag.upkeep <> {DELETED}"
        );
        let counted = fetch::<(Uuid, i64)>(&self.store.read, select, values).await?;
        Ok(counted.into_iter().map(|(tag, contacts)| (tag, contacts.cast_unsigned())).collect())
    }

    /// A page of the contacts with the tag `fewest` and all `others`, without those that have a tag that they must lack.
    async fn page_of_tags(
        self,
        tags: &KnownTags,
        fewest: (Uuid, u64),
        others: &[(Uuid, u64)],
        window: Window<ContactPosition>,
        counting: Counting,
    ) -> Result<Page<Contact>> {
        let total = match counting {
            Counting::Exact => self.count_of_tags(tags, fewest, others).await?,
            Counting::Skipped => fewest.1,
        };
        let first = fewest.0;
        let (offset, after) = window.parts();
        if offset >= total {
            return Ok(Page { records: Vec::new(), total });
        }
        let mut values: Vec<Value> =
            vec![self.company.into(), first.into(), signed(window.limit).into(), signed(offset).into()];
        let (mut conditions, more) = tags.conditions(others, "contact_tag.contact_id", values.len() + 1);
        values.extend(more);
        if let Some(after) = after {
            let Some(id) = after.id else {
                return Err(Error::Missing("a position among the contacts with a tag has no id".to_owned()));
            };
            conditions.push_str(&format!(" AND contact_tag.contact_id < ${}", values.len() + 1));
            values.push(id.into());
        }
        // The ids of contacts are in the order of time, and so is the key of this table. A join, because SQLite would look
        // for the ids among all contacts of the company.
        let select = format!(
            "SELECT {COLUMNS} FROM (
                SELECT contact_tag.contact_id AS wanted_id FROM contact_tag
                WHERE contact_tag.tag_id = $2{conditions}
                ORDER BY contact_tag.contact_id DESC LIMIT $3 OFFSET $4
             ) AS wanted CROSS JOIN contact
             WHERE contact.id = wanted.wanted_id AND contact.company_id = $1 ORDER BY contact.id DESC"
        );
        Ok(Page { records: self.read(select, values).await?, total })
    }

    /// How many contacts have the tag `fewest` and all `others`, and none of the tags that they must lack.
    async fn count_of_tags(
        self,
        tags: &KnownTags,
        fewest: (Uuid, u64),
        others: &[(Uuid, u64)],
    ) -> Result<u64> {
        let (first, contacts) = fewest;
        match (others, tags.without.as_slice()) {
            ([], []) => Ok(contacts),
            // The smaller tag is read, even if it is the one that contacts must lack.
            ([], [(second, more)]) => {
                let (read, looked_up) = if contacts <= *more { (first, *second) } else { (*second, first) };
                let count = "SELECT count(*) FROM contact_tag WHERE contact_tag.tag_id = $1 AND EXISTS (
                    SELECT 1 FROM contact_tag AS other
                    WHERE other.tag_id = $2 AND other.contact_id = contact_tag.contact_id
                )";
                let both = self.store.count(count, [read.into(), looked_up.into()]).await?;
                Ok(contacts.saturating_sub(both))
            }
            _ => {
                let (conditions, values) = tags.conditions(others, "contact_tag.contact_id", 2);
                let count =
                    format!("SELECT count(*) FROM contact_tag WHERE contact_tag.tag_id = $1{conditions}");
                self.store.count(count, std::iter::once(first.into()).chain(values)).await
            }
        }
    }

    /// A page of all contacts but those that have a tag that they must lack.
    async fn page_without(
        self,
        tags: &KnownTags,
        window: Window<ContactPosition>,
        counting: Counting,
    ) -> Result<Page<Contact>> {
        let ordinals = self.totals(&self.store.read).await?.contacts;
        let all = self.index().gaps().await?.contacts(ordinals).cast_unsigned();
        let total = match counting {
            Counting::Exact => all.saturating_sub(self.having_any(&tags.without).await?),
            Counting::Skipped => all,
        };
        let (offset, after) = window.parts();
        if offset >= total {
            return Ok(Page { records: Vec::new(), total });
        }
        let below = after.map_or(ordinals, |after| signed(after.ordinal));
        let mut values: Vec<Value> = vec![below.into(), signed(window.limit).into(), signed(offset).into()];
        let (conditions, more) = tags.conditions(&[], "contact.id", values.len() + 2);
        values.extend(more);
        let part = format!("ordinal < $2{conditions} ORDER BY ordinal DESC LIMIT $3 OFFSET $4");
        Ok(Page { records: self.own(&part, values).await?, total })
    }

    /// How many contacts have at least one of these tags.
    async fn having_any(self, tags: &[(Uuid, u64)]) -> Result<u64> {
        if let [(_, contacts)] = tags {
            return Ok(*contacts);
        }
        let numbers: Vec<String> = (1..=tags.len()).map(|number| format!("${number}")).collect();
        let count = format!(
            "SELECT count(DISTINCT contact_id) FROM contact_tag WHERE tag_id IN ({})",
            numbers.join(", ")
        );
        self.store.count(count, tags.iter().map(|(tag, _)| Value::from(*tag))).await
    }

    /// The ordinals of the contacts that the filter's search and send select and that have these tags, descending.
    async fn places(
        self,
        filter: &ContactFilter,
        tags: &KnownTags,
        freshness: Freshness,
    ) -> Result<Vec<u32>> {
        let Some(found) = narrowed(self, filter, freshness).await? else {
            return self.places_of_tags(tags).await;
        };
        if tags.is_empty() {
            return Ok(found);
        }
        if tags.with.first().is_some_and(|(_, contacts)| *contacts < found.len() as u64) {
            let mut tagged = self.places_of_tags(tags).await?;
            retain(&mut tagged, &found, true);
            return Ok(tagged);
        }
        // Fewer contacts are found than have the tags: the tags are looked up for each of them.
        let wanted = Rows::of_ordinals(self.store.backend, found.iter().copied());
        if wanted.is_empty() {
            return Ok(Vec::new());
        }
        let (wanted, values) = wanted.select(2);
        let (conditions, more) = tags.conditions(&tags.with, "contact.id", 2 + values.len());
        let select = format!(
            "{ORDINALS} {wanted} AS wanted CROSS JOIN contact
             WHERE contact.company_id = $1 AND contact.ordinal = wanted.ordinal{conditions}"
        );
        let values = std::iter::once(self.company.into()).chain(values).chain(more);
        descending(listed(&self.store.read, select, values).await?)
    }

    async fn places_of_tags(self, tags: &KnownTags) -> Result<Vec<u32>> {
        let mut values: Vec<Value> = vec![self.company.into()];
        let select = match tags.with.split_first() {
            Some(((first, _), others)) => {
                values.push((*first).into());
                let (conditions, more) = tags.conditions(others, "contact_tag.contact_id", 3);
                values.extend(more);
                format!(
                    "{ORDINALS} contact_tag CROSS JOIN contact
                     WHERE contact_tag.tag_id = $2 AND contact.id = contact_tag.contact_id
                     AND contact.company_id = $1{conditions}"
                )
            }
            None => {
                let (conditions, more) = tags.conditions(&[], "contact.id", 2);
                values.extend(more);
                format!("{ORDINALS} contact WHERE contact.company_id = $1{conditions}")
            }
        };
        descending(listed(&self.store.read, select, values).await?)
    }
}

/// The ordinals of the contacts that the filter selects, descending.
async fn selected(contacts: Contacts<'_>, filter: &ContactFilter, freshness: Freshness) -> Result<Vec<u32>> {
    let Some(tags) = contacts.known_tags(filter).await? else { return Ok(Vec::new()) };
    let search = filter.search.as_deref();
    let among = if !tags.is_empty() || filter.reached.is_some() {
        Some(contacts.places(filter, &tags, freshness).await?)
    } else if folded(search).is_none() && !filter.fields.is_empty() {
        // Conditions begin with the contacts that meet them, and not with all.
        None
    } else {
        Some(contacts.search_all(search).await?)
    };
    contacts.store.of(contacts.company).fields().narrow(among, &filter.fields).await
}

/// The places of these ordinals in a list.
pub(super) fn descending(ordinals: Vec<i64>) -> Result<Vec<u32>> {
    let mut places = ordinals.into_iter().map(ordinal).collect::<Result<Vec<_>>>()?;
    places.sort_unstable_by(|one, other| other.cmp(one));
    Ok(places)
}
