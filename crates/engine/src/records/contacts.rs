//! The contacts of a company. Many at once are changed by [`Contacts::write`](crate::Contacts::write)
//! and [`Contacts::delete`](crate::Contacts::delete).

use std::collections::HashMap;

use uuid::Uuid;

use super::CompanyRecords;
use crate::{Error, Who};
use clock::Timestamp;
use domain::contact::{Contact, Person};
use domain::page::{Page, PageRequest};
use domain::phone::PhoneNumber;
pub use store::{ContactChange, ContactDraft, Edited, Membership, Upserted};

/// The contacts of one company.
pub struct Contacts<'a>(pub(super) &'a CompanyRecords);

impl Contacts<'_> {
    /// One page of them, or of those that a search finds.
    pub async fn page(&self, page: PageRequest, search: Option<&str>) -> Result<Page<Contact>, Error> {
        Ok(self.0.store().contacts(self.0.company, page, search).await?)
    }

    /// The contact of this id.
    pub async fn find(&self, id: Uuid) -> Result<Option<Contact>, Error> {
        Ok(self.0.store().contact(self.0.company, id).await?)
    }

    /// One page of those with this tag, or of those among them that a search finds.
    pub async fn tagged(
        &self,
        tag: Uuid,
        page: PageRequest,
        search: Option<&str>,
    ) -> Result<Page<Contact>, Error> {
        Ok(self.0.store().tagged(self.0.company, tag, page, search).await?)
    }

    /// The ordinals of those that a search finds, or of all, descending; with a tag, only of those that have it.
    pub async fn search(&self, search: Option<&str>, tag: Option<Uuid>) -> Result<Vec<u32>, Error> {
        Ok(match tag {
            Some(tag) => self.0.store().search_tagged(self.0.company, tag, search).await?,
            None => self.0.store().search_contacts(self.0.company, search).await?,
        })
    }

    /// The contacts of these ordinals, the oldest first.
    pub async fn with_ordinals(&self, ordinals: &[u32]) -> Result<Vec<Contact>, Error> {
        Ok(self.0.store().contacts_in(self.0.company, ordinals).await?)
    }

    /// Which of these ids are contacts.
    pub async fn among(&self, ids: &[Uuid]) -> Result<Vec<Uuid>, Error> {
        Ok(self.0.store().contacts_among(self.0.company, ids).await?)
    }

    /// The contacts that have one of these numbers.
    pub async fn with_numbers(&self, numbers: &[PhoneNumber]) -> Result<Vec<(PhoneNumber, Uuid)>, Error> {
        Ok(self.0.store().contacts_with(self.0.company, numbers).await?)
    }

    /// The contacts with these numbers. Of several contacts with one number the oldest counts.
    pub async fn people(&self, numbers: &[PhoneNumber]) -> Result<HashMap<PhoneNumber, Person>, Error> {
        Ok(self.0.store().people(self.0.company, numbers).await?)
    }

    /// Other contacts with the same number or e-mail address, the oldest first, at most `limit`.
    pub async fn doubles(&self, of: &Contact, limit: u32) -> Result<Vec<Contact>, Error> {
        Ok(self.0.store().doubles(self.0.company, of, limit).await?)
    }

    /// Changes a contact.
    pub async fn change(
        &self,
        who: &Who,
        id: Uuid,
        change: &ContactChange,
        now: Timestamp,
    ) -> Result<Edited, Error> {
        Ok(self.0.store().change_contact(who, self.0.company, id, change, now).await?)
    }

    /// Merges contacts: `into` takes what it lacks from the others, which are deleted.
    pub async fn merge(
        &self,
        who: &Who,
        into: Uuid,
        others: &[Uuid],
        now: Timestamp,
    ) -> Result<Edited, Error> {
        Ok(self.0.store().merge_contacts(who, self.0.company, into, others, now).await?)
    }
}
