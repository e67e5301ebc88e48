//! Lists of channels of both kinds: a company's own channels, and for operators those of all companies. No other list
//! crosses companies.

use entity::channel::{Column, Entity, Model};
use entity::company;
use sea_orm::sea_query::Condition;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect};
use uuid::Uuid;

use super::tier_end::TierEnd;
use super::words::ToStored as _;
use super::{channel, matches, newest_first};
use crate::changes::{Change, Filter, What, is_recorded};
use crate::nouns::{AllChannels, Channels};
use crate::{Error, Result};
use domain::channel::{Channel, Status};
use domain::page::{Page, PageRequest};

/// A channel, and the name of the company that it belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Owned {
    /// The channel.
    pub channel: Channel,
    /// Its company's name.
    pub company: String,
    /// The end of its tier, if it has that for a while only.
    pub tier_end: Option<TierEnd>,
}

impl AllChannels<'_> {
    /// A page of the channels of every company and kind, newest first, ties by id. `search` is matched as by
    /// [`Channels::of_kind`](crate::Channels::of_kind); a company's whole name or id finds all its channels.
    pub async fn page(self, page: PageRequest, search: Option<&str>) -> Result<Page<Owned>> {
        let mut matching = Entity::find();
        if let Some(search) = search {
            let company = self
                .store
                .companies()
                .find_named(search)
                .await?
                .map(|company| Column::CompanyId.eq(company.id));
            matching = matching.filter(Condition::any().add(matches(search)).add_option(company));
        }
        let Page { records, total } = self.store.page_of(newest_first(matching), page).await?;
        Ok(Page { records: self.owned(records).await?, total })
    }

    /// The channel of this id with its company.
    pub async fn find_owned(self, id: Uuid) -> Result<Option<Owned>> {
        let found = Entity::find_by_id(id).one(&self.store.read).await?;
        Ok(self.owned(found.into_iter().collect()).await?.pop())
    }

    /// The channels of these ids with their companies, newest first.
    pub async fn find_owned_among(self, ids: &[Uuid]) -> Result<Vec<Owned>> {
        let found = Entity::find().filter(Column::Id.is_in(ids.iter().copied()));
        self.owned(newest_first(found).all(&self.store.read).await?).await
    }

    /// The channels of every company with exactly this name, newest first, with their companies.
    pub async fn named(self, name: &str) -> Result<Vec<Owned>> {
        let found = Entity::find().filter(Column::Name.eq(name));
        self.owned(newest_first(found).all(&self.store.read).await?).await
    }

    async fn owned(self, models: Vec<Model>) -> Result<Vec<Owned>> {
        let ids = models.iter().map(|model| model.company_id);
        let companies =
            company::Entity::find().filter(company::Column::Id.is_in(ids)).all(&self.store.read).await?;
        let mut ends = self.tier_ends().await?;
        let owned = models.into_iter().map(|model| {
            let owner = companies.iter().find(|company| company.id == model.company_id);
            let owner =
                owner.ok_or_else(|| Error::Impossible(format!("channel {} without a company", model.id)))?;
            let tier_end = ends.remove(&model.id);
            Ok(Owned { channel: channel(model), company: owner.name.clone(), tier_end })
        });
        owned.collect()
    }
}

impl Channels<'_> {
    /// The changes of the channel of this id, the newest first.
    pub async fn changes(self, id: Uuid, page: PageRequest) -> Result<Page<Change>> {
        if self.find(id).await?.is_none() {
            return Ok(Page { records: Vec::new(), total: 0 });
        }
        let subject = id.to_string();
        let filter = Filter { subject: Some(&subject), ..Filter::default() };
        self.store.changes().page(filter, page).await
    }

    /// Whether a person accepted the risks of an unofficial connection for the company's channel of this id.
    pub async fn is_risk_accepted(self, id: Uuid) -> Result<bool> {
        if self.find(id).await?.is_none() {
            return Ok(false);
        }
        is_recorded(&self.store.read, What::ChannelRisk, &id.to_string()).await
    }

    /// A page of a company's channels of both kinds, newest first, ties by id. `search` is matched as by
    /// [`Channels::of_kind`](crate::Channels::of_kind).
    pub async fn page(self, page: PageRequest, search: Option<&str>) -> Result<Page<Channel>> {
        let mut matching = Entity::find().filter(Column::CompanyId.eq(self.company));
        if let Some(search) = search {
            matching = matching.filter(matches(search));
        }
        Ok(self.store.page_of(newest_first(matching), page).await?.map(channel))
    }

    /// The same page with those first that cannot send, and then those that are restricted.
    pub async fn page_by_need(self, page: PageRequest, search: Option<&str>) -> Result<Page<Channel>> {
        let stopped = [Status::Disconnected, Status::Blocked, Status::Pairing].map(|status| status.stored());
        let mut matching = Entity::find()
            .filter(Column::CompanyId.eq(self.company))
            .order_by_desc(Column::Status.is_in(stopped))
            .order_by_desc(Column::StatusCode.is_not_null());
        if let Some(search) = search {
            matching = matching.filter(matches(search));
        }
        Ok(self.store.page_of(newest_first(matching), page).await?.map(channel))
    }

    /// The company's channels that cannot send because the provider refuses them, those of the latest trouble first, at most
    /// `limit`.
    pub async fn refused(self, limit: u64) -> Result<Vec<Channel>> {
        let refused = [Status::Disconnected.stored(), Status::Blocked.stored()];
        let models = Entity::find()
            .filter(Column::CompanyId.eq(self.company))
            .filter(Column::Status.is_in(refused))
            .order_by_desc(Column::StatusSince)
            .order_by_desc(Column::Id)
            .limit(limit)
            .all(&self.store.read)
            .await?;
        Ok(models.into_iter().map(channel).collect())
    }
}
