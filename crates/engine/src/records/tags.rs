//! The tags of a company.

use uuid::Uuid;

use super::CompanyRecords;
use super::contacts::{Edited, Upserted};
use crate::{Error, Who};
use clock::Timestamp;
use domain::contact::Tag;
use domain::page::{Page, PageRequest};
use domain::phone::PhoneNumber;

/// The tags of one company.
pub struct Tags<'a>(pub(super) &'a CompanyRecords);

impl Tags<'_> {
    /// One page of them, or of those whose names a search finds.
    pub async fn page(&self, page: PageRequest, search: Option<&str>) -> Result<Page<Tag>, Error> {
        Ok(self.0.store().tags(self.0.company, page, search).await?)
    }

    /// The tag of this id.
    pub async fn find(&self, id: Uuid) -> Result<Option<Tag>, Error> {
        Ok(self.0.store().tag(self.0.company, id).await?)
    }

    /// The id of the tag of this name.
    pub async fn named(&self, name: &str) -> Result<Option<Uuid>, Error> {
        Ok(self.0.store().tag_named(self.0.company, name).await?)
    }

    /// The least number that has the tag, if it has any.
    pub async fn first_number(&self, id: Uuid) -> Result<Option<PhoneNumber>, Error> {
        Ok(self.0.store().tag_phones(self.0.company, id, None, 1).await?.0.pop())
    }

    /// Creates tags by their names, and gives existing ones the given color. Returns the id of each and what changed,
    /// in order.
    pub async fn write(
        &self,
        who: &Who,
        tags: &[(String, Option<String>)],
        now: Timestamp,
    ) -> Result<Vec<(Uuid, Upserted)>, Error> {
        Ok(self.0.store().write_tags(who, self.0.company, tags, now).await?)
    }

    /// Changes the name and the color of a tag, as far as they are given.
    pub async fn change(
        &self,
        who: &Who,
        id: Uuid,
        name: Option<&str>,
        color: Option<&str>,
    ) -> Result<Edited, Error> {
        Ok(self.0.store().change_tag(who, self.0.company, id, name, color).await?)
    }
}
