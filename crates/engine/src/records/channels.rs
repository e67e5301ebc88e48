//! Channels: a company's own, and those of every company for operators.

use uuid::Uuid;

use super::{CompanyRecords, OperatorRecords};
use crate::records::changes::{Change, Filter};
use crate::{Error, Who};
use clock::Timestamp;
use domain::channel::{Channel, Kind, Status};
use domain::page::{Page, PageRequest};
pub use store::channels::Owned;
pub use store::overview::ChannelBacklog;

/// The channels of one company.
pub struct Channels<'a>(pub(super) &'a CompanyRecords);

/// The channels of every company.
pub struct AllChannels<'a>(pub(super) &'a OperatorRecords);

impl Channels<'_> {
    /// One page of one kind of them, or of those that a search finds.
    pub async fn of_kind(
        &self,
        kind: Kind,
        page: PageRequest,
        search: Option<&str>,
    ) -> Result<Page<Channel>, Error> {
        Ok(self.0.store().channels(self.0.company, kind, page, search).await?)
    }

    /// One page of them, or of those that a search finds.
    pub async fn page(&self, page: PageRequest, search: Option<&str>) -> Result<Page<Channel>, Error> {
        Ok(self.0.store().channels_of_company(self.0.company, page, search).await?)
    }

    /// All business accounts.
    pub async fn business_accounts(&self) -> Result<Vec<Channel>, Error> {
        Ok(self.0.store().business_accounts(self.0.company).await?)
    }

    /// The channel of this id, as it is stored.
    pub async fn find(&self, id: Uuid) -> Result<Option<Channel>, Error> {
        Ok(self.0.store().find_channel_of(self.0.company, id).await?)
    }

    /// How many there are in each status.
    pub async fn states(&self) -> Result<Vec<(Status, u64)>, Error> {
        Ok(self.0.store().channel_states(Some(self.0.company)).await?)
    }

    /// The changes of the channel of this id, the newest first.
    pub async fn changes(&self, id: Uuid, page: PageRequest) -> Result<Page<Change>, Error> {
        if self.find(id).await?.is_none() {
            return Ok(Page { records: Vec::new(), total: 0 });
        }
        let subject = id.to_string();
        let filter = Filter { subject: Some(&subject), ..Filter::default() };
        Ok(self.0.store().changes(filter, page).await?)
    }
}

impl AllChannels<'_> {
    /// One page of them, or of those that a search finds.
    pub async fn page(&self, page: PageRequest, search: Option<&str>) -> Result<Page<Owned>, Error> {
        Ok(self.0.store().all_channels(page, search).await?)
    }

    /// The channel of this id.
    pub async fn find(&self, id: Uuid) -> Result<Option<Owned>, Error> {
        Ok(self.0.store().find_owned_channel(id).await?)
    }

    /// How many there are in each status.
    pub async fn states(&self) -> Result<Vec<(Status, u64)>, Error> {
        Ok(self.0.store().channel_states(None).await?)
    }

    /// Those with the oldest sends that may go and have not gone, at most `limit`.
    pub async fn longest_backlogs(&self, now: Timestamp, limit: u32) -> Result<Vec<ChannelBacklog>, Error> {
        Ok(self.0.store().longest_backlogs(now, limit).await?)
    }

    /// Gives a channel another name; `false` when there is no such channel.
    pub async fn rename(&self, who: &Who, id: Uuid, name: &str) -> Result<bool, Error> {
        Ok(self.0.store().rename_channel(who, id, name).await?)
    }

    /// Puts a channel under another tier; `false` when there is no such channel.
    pub async fn set_tier(&self, who: &Who, id: Uuid, tier: &str) -> Result<bool, Error> {
        Ok(self.0.store().set_channel_tier(who, id, tier).await?)
    }
}
