//! The contacts that the list shows: all, those that a search finds, those of a tag.

use super::{PLACE, SEARCH};
use crate::console::State;
use crate::console::error::Error;
use crate::console::visitor::Viewer;
use crate::domain::contact::{Contact, TagSummary};
use crate::domain::page::{Page, PageRequest};
use crate::engine::{self, Whom};

/// The contacts of a list.
#[derive(Debug, Clone, Default)]
pub(super) struct Listed {
    pub(super) search: Option<String>,
    /// Only those with this tag. It is found by its id: other contacts may have its name in theirs.
    pub(super) tag: Option<TagSummary>,
}

impl Listed {
    /// The contacts of this search and of the tag with this id, if it is not empty.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] for a tag that the company does not have: without it the list would have all contacts.
    pub(super) async fn read(
        state: &State,
        viewer: &Viewer,
        search: Option<&str>,
        tag: &str,
    ) -> Result<Self, Error> {
        let search = search.map(|search| search.chars().take(SEARCH).collect());
        if tag.is_empty() {
            return Ok(Self { search, tag: None });
        }
        let id = tag.parse().map_err(|_| Error::NotFound)?;
        let tag = state.engine.company(viewer.company.id).await?.tags().find(id).await?;
        Ok(Self { search, tag: Some(tag.ok_or(Error::NotFound)?.summary) })
    }

    /// A page of the list.
    pub(super) async fn page(
        &self,
        state: &State,
        viewer: &Viewer,
        page: PageRequest,
    ) -> Result<Page<Contact>, engine::Error> {
        let records = state.engine.company(viewer.company.id).await?;
        let search = self.search.as_deref();
        Ok(match &self.tag {
            Some(tag) => records.contacts().tagged(tag.id, page, search).await?,
            None => records.contacts().page(page, search).await?,
        })
    }

    /// All contacts of the list.
    pub(super) fn whom(&self) -> Whom {
        Whom::Found { search: self.search.clone(), tag: self.tag.as_ref().map(|tag| tag.id) }
    }

    /// The query of an address that has this list.
    pub(super) fn query(&self) -> String {
        let mut query = url::form_urlencoded::Serializer::new(String::new());
        if let Some(search) = &self.search {
            query.append_pair("search", search);
        }
        if let Some(tag) = &self.tag {
            query.append_pair("tag", &tag.id.to_string());
        }
        query.finish()
    }

    /// The address of the list.
    pub(super) fn place(&self) -> String {
        match self.query() {
            query if query.is_empty() => PLACE.to_owned(),
            query => format!("{PLACE}?{query}"),
        }
    }
}
