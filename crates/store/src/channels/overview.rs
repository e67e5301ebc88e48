//! Lists of channels of both kinds: a company's own channels, and for operators those of all companies. No other list
//! crosses companies.

use entity::channel::{Column, Entity, Model};
use entity::company;
use sea_orm::sea_query::Condition;
use sea_orm::{ColumnTrait, EntityTrait, PaginatorTrait, QueryFilter, QueryOrder, QuerySelect};
use uuid::Uuid;

use super::{channel, matches};
use crate::{Error, Result, Store};
use domain::channel::Channel;
use domain::page::{Page, PageRequest};

/// A channel, and the name of the company that it belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Owned {
    /// The channel.
    pub channel: Channel,
    /// Its company's name.
    pub company: String,
}

impl Store {
    /// A page of the channels of every company and kind, newest first, ties by id. `search` is matched as by
    /// [`Store::channels`]; a company's whole name or id finds all its channels.
    pub async fn all_channels(&self, page: PageRequest, search: Option<&str>) -> Result<Page<Owned>> {
        let mut matching = Entity::find();
        if let Some(search) = search {
            let company = self.find_company(search).await?.map(|company| Column::CompanyId.eq(company.id));
            matching = matching.filter(Condition::any().add(matches(search)).add_option(company));
        }
        let total = matching.clone().count(&self.read).await?;
        let models = matching
            .order_by_desc(Column::CreatedAt)
            .order_by_desc(Column::Id)
            .offset(page.offset())
            .limit(page.limit)
            .all(&self.read)
            .await?;
        let records = self.owned(models).await?;
        Ok(Page { records, total })
    }

    /// A page of a company's channels of both kinds, newest first, ties by id. `search` is matched as by
    /// [`Store::channels`].
    pub async fn channels_of_company(
        &self,
        company_id: Uuid,
        page: PageRequest,
        search: Option<&str>,
    ) -> Result<Page<Channel>> {
        let mut matching = Entity::find().filter(Column::CompanyId.eq(company_id));
        if let Some(search) = search {
            matching = matching.filter(matches(search));
        }
        let total = matching.clone().count(&self.read).await?;
        let models = matching
            .order_by_desc(Column::CreatedAt)
            .order_by_desc(Column::Id)
            .offset(page.offset())
            .limit(page.limit)
            .all(&self.read)
            .await?;
        Ok(Page { records: models.into_iter().map(channel).collect(), total })
    }

    /// The channel of this id with its company.
    pub async fn find_owned_channel(&self, id: Uuid) -> Result<Option<Owned>> {
        let found = Entity::find_by_id(id).one(&self.read).await?;
        Ok(self.owned(found.into_iter().collect()).await?.pop())
    }

    /// The channels of these ids with their companies, newest first.
    pub async fn find_owned_channels(&self, ids: &[Uuid]) -> Result<Vec<Owned>> {
        let found = Entity::find().filter(Column::Id.is_in(ids.iter().copied()));
        let found = found.order_by_desc(Column::CreatedAt).order_by_desc(Column::Id).all(&self.read).await?;
        self.owned(found).await
    }

    async fn owned(&self, models: Vec<Model>) -> Result<Vec<Owned>> {
        let ids = models.iter().map(|model| model.company_id);
        let companies =
            company::Entity::find().filter(company::Column::Id.is_in(ids)).all(&self.read).await?;
        let owned = models.into_iter().map(|model| {
            let owner = companies.iter().find(|company| company.id == model.company_id);
            let owner =
                owner.ok_or_else(|| Error::Impossible(format!("channel {} without a company", model.id)))?;
            Ok(Owned { channel: channel(model), company: owner.name.clone() })
        });
        owned.collect()
    }
}
