//! The contacts that the list shows: all, those that a search finds, and of these those that have some tags and lack others.

use uuid::Uuid;

use super::{PLACE, SEARCH};
use crate::console::State;
use crate::console::error::Error;
use crate::console::visitor::Viewer;
use crate::domain::contact::{Contact, TagSummary};
use crate::domain::own_field::{FieldCondition, MOST_CONDITIONS, OwnField};
use crate::domain::page::{Page, PageRequest};
use crate::engine;
use crate::engine::records::contacts::{ContactFilter, Counting};

/// The most tags that contacts must have, and the most that they must lack, as in the API: each is looked up for many
/// contacts.
pub(super) const MOST: usize = 10;

/// The contacts of a list.
#[derive(Debug, Clone, Default)]
pub(in crate::console::pages) struct Listed {
    pub(super) search: Option<String>,
    /// Only those with all of these tags, which are found by their ids: other contacts may have a tag's name in theirs.
    pub(super) tags: Vec<TagSummary>,
    /// Only those with none of these tags.
    pub(super) without: Vec<TagSummary>,
    /// Only those that meet all of these conditions.
    pub(super) conditions: Vec<FieldCondition>,
    /// The company's own fields.
    pub(super) own: Vec<OwnField>,
}

impl Listed {
    /// The contacts of this search, with and without the tags of these ids, and with these conditions on own fields; empty
    /// ids and conditions are left out.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] for a tag or a field that the company does not have: without it the list would have other contacts.
    pub(in crate::console::pages) async fn read<'a>(
        state: &State,
        viewer: &Viewer,
        search: Option<&str>,
        (tags, without): (impl Iterator<Item = &'a str>, impl Iterator<Item = &'a str>),
        conditions: impl Iterator<Item = &'a str>,
    ) -> Result<Self, Error> {
        let search = search.map(|search| search.chars().take(SEARCH).collect());
        let tags = named(state, viewer, tags).await?;
        let without = named(state, viewer, without).await?;
        let own = state.engine.company(viewer.company.id).await?.fields().all().await?;
        let given: Vec<&str> = conditions.filter(|text| !text.is_empty()).collect();
        if given.len() > MOST_CONDITIONS {
            return Err(Error::Unreadable);
        }
        let parsed = given.into_iter().map(|text| FieldCondition::parse(text, &own));
        let conditions = parsed.collect::<Result<Vec<_>, _>>().map_err(|_| Error::NotFound)?;
        Ok(Self { search, tags, without, conditions, own })
    }

    /// A page of the list.
    pub(super) async fn page(
        &self,
        state: &State,
        viewer: &Viewer,
        page: PageRequest,
    ) -> Result<Page<Contact>, engine::Error> {
        let records = state.engine.company(viewer.company.id).await?;
        Ok(records.contacts().filtered(&self.filter(), page, Counting::Exact).await?)
    }

    /// The filter of the list.
    pub(in crate::console::pages) fn filter(&self) -> ContactFilter {
        let ids = |tags: &[TagSummary]| tags.iter().map(|tag| tag.id).collect();
        ContactFilter {
            search: self.search.clone(),
            tags: ids(&self.tags),
            without: ids(&self.without),
            fields: self.conditions.clone(),
        }
    }

    /// Whether all contacts of the company are in the list.
    pub(super) const fn is_everybody(&self) -> bool {
        self.search.is_none() && self.tags.is_empty() && self.without.is_empty() && self.conditions.is_empty()
    }

    /// The tag whose contacts these are, if nothing else narrows the list.
    pub(super) const fn only_tag(&self) -> Option<&TagSummary> {
        match (&self.search, self.tags.as_slice(), self.without.is_empty() && self.conditions.is_empty()) {
            (None, [tag], true) => Some(tag),
            _ => None,
        }
    }

    /// The same contacts, of which only those with the tag stay.
    pub(super) fn narrowed(&self, tag: &TagSummary) -> Self {
        let mut narrowed = self.clone();
        narrowed.tags.push(tag.clone());
        narrowed
    }

    /// The same contacts and those that only this tag keeps out.
    pub(super) fn widened(&self, tag: Uuid) -> Self {
        let mut widened = self.clone();
        widened.tags.retain(|known| known.id != tag);
        widened.without.retain(|known| known.id != tag);
        widened
    }

    /// The same contacts and those that only the condition at this place keeps out.
    pub(super) fn without_condition(&self, place: usize) -> Self {
        let mut widened = self.clone();
        widened.conditions.remove(place);
        widened
    }

    /// Whether the filter has the tag.
    pub(super) fn names(&self, tag: Uuid) -> bool {
        self.tags.iter().chain(&self.without).any(|known| known.id == tag)
    }

    /// The query of an address that has this list.
    pub(super) fn query(&self) -> String {
        let mut query = url::form_urlencoded::Serializer::new(String::new());
        if let Some(search) = &self.search {
            query.append_pair("search", search);
        }
        for (name, tags) in [("tag", &self.tags), ("not", &self.without)] {
            for tag in tags {
                query.append_pair(name, &tag.id.to_string());
            }
        }
        for condition in &self.conditions {
            query.append_pair("field", &condition.to_string());
        }
        query.finish()
    }

    /// The address of the list.
    pub(in crate::console::pages) fn place(&self) -> String {
        match self.query() {
            query if query.is_empty() => PLACE.to_owned(),
            query => format!("{PLACE}?{query}"),
        }
    }
}

/// The tags with these ids, each once.
async fn named<'a>(
    state: &State,
    viewer: &Viewer,
    ids: impl Iterator<Item = &'a str>,
) -> Result<Vec<TagSummary>, Error> {
    let mut found: Vec<TagSummary> = Vec::new();
    for id in ids.map(str::trim).filter(|id| !id.is_empty()) {
        let id: Uuid = id.parse().map_err(|_| Error::NotFound)?;
        if found.iter().any(|tag| tag.id == id) {
            continue;
        }
        if found.len() == MOST {
            return Err(Error::Unreadable);
        }
        let tag = state.engine.company(viewer.company.id).await?.tags().find(id).await?;
        found.push(tag.ok_or(Error::NotFound)?.summary);
    }
    Ok(found)
}
