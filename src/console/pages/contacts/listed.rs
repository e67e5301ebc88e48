//! The contacts that the list shows: all, those that a search finds or a send reached, and of these those that have some tags,
//! lack others, and meet conditions on own fields. A segment is such a list under a name.

use uuid::Uuid;

use super::{PLACE, SEARCH};
use crate::clock::Timestamp;
use crate::console::State;
use crate::console::error::{Error, Result};
use crate::console::pages::send::words as send_words;
use crate::console::visitor::Viewer;
use crate::console::words::Words;
use crate::domain::contact::{Contact, TagSummary};
use crate::domain::own_field::{FieldCondition, MOST_CONDITIONS, OwnField};
use crate::domain::page::{Page, PageRequest};
use crate::engine;
use crate::engine::records::contacts::{BySend, ContactFilter, Counting};
use crate::engine::records::segments::{Lack, SavedSegment};

/// The most tags that contacts must have, and the most that they must lack, as in the API: each is looked up for many
/// contacts.
pub(super) const MOST: usize = 10;

/// The names of a query's values: of the tags that contacts have, of those that they lack, and of the conditions that they
/// meet.
pub(in crate::console::pages) const OF_QUERY: [&str; 3] = ["tag", "not", "field"];
/// The same in forms, whose actions have tags of their own.
pub(in crate::console::pages) const OF_FORM: [&str; 3] = ["of_tag", "not_tag", "of_field"];

/// The contacts of a list.
#[derive(Debug, Clone, Default)]
pub(in crate::console::pages) struct Listed {
    pub(super) search: Option<String>,
    /// Only those with all of these tags, which are found by their ids: other contacts may have a tag's name in theirs.
    pub(super) tags: Vec<TagSummary>,
    /// Only those with none of these tags.
    pub(super) without: Vec<TagSummary>,
    /// Only those for whom a send had an outcome; with the name of the send.
    pub(super) reached: Option<(BySend, String)>,
    /// Only those that meet all of these conditions.
    pub(super) conditions: Vec<FieldCondition>,
    /// The company's own fields.
    pub(super) own: Vec<OwnField>,
    /// The segment that was opened. The list may have been changed since.
    pub(in crate::console::pages) segment: Option<SavedSegment>,
}

impl Listed {
    /// The contacts that a query or a form names. One that names a segment and nothing else has the segment's contacts.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] for a tag, a send, a field or a segment that the company does not have: without it the list would have
    /// other contacts.
    pub(in crate::console::pages) async fn read(
        state: &State,
        viewer: &Viewer,
        words: &Words,
        names @ [having, lacking, meeting]: [&str; 3],
    ) -> Result<Self> {
        let segment = match id(words.one("segment"))? {
            Some(id) => {
                let records = state.engine.company(viewer.company.id).await?;
                Some(records.segments().find(id).await?.ok_or(Error::NotFound)?)
            }
            None => None,
        };
        let is_named = |name: &&str| words.names(name);
        if let Some(segment) = &segment
            && !names.iter().chain(&["search", "send", "outcome"]).any(is_named)
        {
            return Self::of_segment(state, viewer, segment).await;
        }
        let search = Some(words.one("search")).filter(|search| !search.is_empty());
        let search = search.map(|search| search.chars().take(SEARCH).collect());
        let tags = named(state, viewer, words.all(having)).await?;
        let without = named(state, viewer, words.all(lacking)).await?;
        let reached = match id(words.one("send"))? {
            Some(send) => {
                let reception = words.one("outcome").parse().map_err(|_| Error::NotFound)?;
                Some(reached(state, viewer, BySend { send, reception }).await?)
            }
            None => None,
        };
        let own = own_fields(state, viewer).await?;
        let conditions = conditions(words.all(meeting), &own)?;
        Ok(Self { search, tags, without, reached, conditions, own, segment })
    }

    /// The contacts of a segment; nobody while it lacks something.
    pub(in crate::console::pages) async fn of_segment(
        state: &State,
        viewer: &Viewer,
        segment: &SavedSegment,
    ) -> Result<Self> {
        let (own, segment) = (own_fields(state, viewer).await?, segment.clone());
        if segment.lack.is_some() {
            return Ok(Self { own, segment: Some(segment), ..Self::default() });
        }
        let ContactFilter { search, tags, without, reached: by_send, fields } = segment.filter.clone();
        let ids = |ids: Vec<Uuid>| ids.into_iter().map(|id| id.to_string()).collect::<Vec<_>>();
        let (tags, without) = (ids(tags), ids(without));
        Ok(Self {
            search,
            tags: named(state, viewer, tags.iter().map(String::as_str)).await?,
            without: named(state, viewer, without.iter().map(String::as_str)).await?,
            reached: match by_send {
                Some(by_send) => Some(reached(state, viewer, by_send).await?),
                None => None,
            },
            conditions: fields,
            own,
            segment: Some(segment),
        })
    }

    /// A page of the list.
    pub(in crate::console::pages) async fn page(
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
        if self.lack().is_some() {
            return ContactFilter::nobody();
        }
        let ids = |tags: &[TagSummary]| tags.iter().map(|tag| tag.id).collect();
        ContactFilter {
            search: self.search.clone(),
            tags: ids(&self.tags),
            without: ids(&self.without),
            reached: self.reached.as_ref().map(|(by_send, _)| *by_send),
            fields: self.conditions.clone(),
        }
    }

    /// Whether more than a search narrows the list.
    pub(super) const fn is_narrowed(&self) -> bool {
        !self.tags.is_empty()
            || !self.without.is_empty()
            || self.reached.is_some()
            || !self.conditions.is_empty()
    }

    /// Whether nothing narrows the list.
    const fn is_open(&self) -> bool {
        self.search.is_none() && !self.is_narrowed()
    }

    /// Why nobody is in the list: the segment that was opened names what is gone.
    pub(in crate::console::pages) fn lack(&self) -> Option<Lack> {
        self.segment.as_ref().and_then(|segment| segment.lack).filter(|_| self.is_open())
    }

    /// Whether all contacts of the company are in the list.
    pub(in crate::console::pages) fn is_everybody(&self) -> bool {
        self.is_open() && self.lack().is_none()
    }

    /// The tag whose contacts these are, if nothing else narrows the list.
    pub(super) fn only_tag(&self) -> Option<&TagSummary> {
        let has_others = !self.without.is_empty() || self.reached.is_some() || !self.conditions.is_empty();
        match (&self.search, self.tags.as_slice(), has_others) {
            (None, [tag], false) => Some(tag),
            _ => None,
        }
    }

    /// The segment whose contacts these are.
    pub(super) fn only_segment(&self) -> Option<&SavedSegment> {
        self.segment.as_ref().filter(|segment| segment.lack.is_none() && segment.filter == self.filter())
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

    /// The same contacts and those that only the send keeps out.
    pub(super) fn without_send(&self) -> Self {
        Self { reached: None, ..self.clone() }
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

    /// The values by which a query, or a form with these names of tags and conditions, names the list.
    pub(super) fn values<'n>(&self, [having, lacking, meeting]: [&'n str; 3]) -> Vec<(&'n str, String)> {
        let mut values = Vec::new();
        values.extend(self.search.iter().map(|search| ("search", search.clone())));
        for (name, tags) in [(having, &self.tags), (lacking, &self.without)] {
            values.extend(tags.iter().map(|tag| (name, tag.id.to_string())));
        }
        if let Some((BySend { send, reception }, _)) = &self.reached {
            values.push(("send", send.to_string()));
            values.push(("outcome", reception.to_string()));
        }
        values.extend(self.conditions.iter().map(|condition| (meeting, condition.to_string())));
        if !self.is_everybody() {
            values.extend(self.segment.iter().map(|segment| ("segment", segment.id.to_string())));
        }
        values
    }

    /// The query of an address that has this list.
    pub(super) fn query(&self) -> String {
        url::form_urlencoded::Serializer::new(String::new()).extend_pairs(self.values(OF_QUERY)).finish()
    }

    /// The address of the list.
    pub(in crate::console::pages) fn place(&self) -> String {
        match self.query() {
            query if query.is_empty() => PLACE.to_owned(),
            query => format!("{PLACE}?{query}"),
        }
    }
}

/// The id in a value; `None` for an empty one.
fn id(text: &str) -> Result<Option<Uuid>> {
    match text {
        "" => Ok(None),
        text => text.parse().map(Some).map_err(|_| Error::NotFound),
    }
}

/// The own fields of the company.
async fn own_fields(state: &State, viewer: &Viewer) -> Result<Vec<OwnField>> {
    Ok(state.engine.company(viewer.company.id).await?.fields().all().await?)
}

/// The conditions that these texts are for a company with these fields; empty texts are left out.
fn conditions<'a>(texts: impl Iterator<Item = &'a str>, own: &[OwnField]) -> Result<Vec<FieldCondition>> {
    let given: Vec<&str> = texts.filter(|text| !text.is_empty()).collect();
    if given.len() > MOST_CONDITIONS {
        return Err(Error::Unreadable);
    }
    let parsed = given.into_iter().map(|text| FieldCondition::parse(text, own));
    parsed.collect::<Result<_, _>>().map_err(|_| Error::NotFound)
}

/// The outcome of a send with the name of the send.
async fn reached(state: &State, viewer: &Viewer, by_send: BySend) -> Result<(BySend, String)> {
    let records = state.engine.company(viewer.company.id).await?;
    let send = records.sends().head(by_send.send, Timestamp::now()).await?.ok_or(Error::NotFound)?;
    Ok((by_send, send_words::name(viewer.text, &send)))
}

/// The tags with these ids, each once.
async fn named<'a>(
    state: &State,
    viewer: &Viewer,
    ids: impl Iterator<Item = &'a str>,
) -> Result<Vec<TagSummary>> {
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
