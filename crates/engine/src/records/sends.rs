//! The sends of a company.

use uuid::Uuid;

use super::CompanyRecords;
use crate::Error;
use clock::Timestamp;
use domain::page::{Page, PageRequest};
pub use store::overview::Backlog;
pub use store::sends::list::{Filter, Record, TemplateName};

/// The sends of one company.
pub struct Sends<'a>(pub(super) &'a CompanyRecords);

impl Sends<'_> {
    /// One page of them, the newest first.
    pub async fn page(
        &self,
        page: PageRequest,
        filter: Filter,
        now: Timestamp,
    ) -> Result<Page<Record>, Error> {
        Ok(self.0.store().sends(self.0.company, page, filter, now).await?)
    }

    /// One page of them, the newest first, without the counts of their messages, whose rows may be millions.
    pub async fn heads(
        &self,
        page: PageRequest,
        filter: Filter,
        now: Timestamp,
    ) -> Result<Page<Record>, Error> {
        Ok(self.0.store().send_heads(self.0.company, page, filter, now).await?)
    }

    /// The send of this id.
    pub async fn find(&self, id: Uuid, now: Timestamp) -> Result<Option<Record>, Error> {
        Ok(self.0.store().find_send(self.0.company, id, now).await?)
    }

    /// The send of this id, without the counts of its messages.
    pub async fn head(&self, id: Uuid, now: Timestamp) -> Result<Option<Record>, Error> {
        Ok(self.0.store().send_head(self.0.company, id, now).await?)
    }

    /// The oldest of those that run, at most `limit`, without the counts of their messages.
    pub async fn under_way(&self, limit: u64, now: Timestamp) -> Result<Vec<Record>, Error> {
        Ok(self.0.store().sends_under_way(self.0.company, limit, now).await?)
    }

    /// The backlog of all channels of the company.
    pub async fn backlog(&self, now: Timestamp) -> Result<Backlog, Error> {
        Ok(self.0.store().backlog_of(self.0.company, now).await?)
    }
}
