//! Companies.

use entity::company;
use sea_orm::{ActiveModelTrait, ColumnTrait, EntityTrait, QueryFilter, QueryOrder, Set};
use serde_json::json;
use uuid::Uuid;

use super::change::{self, Change, What, Who};
use super::{Result, Store};
use crate::clock::Timestamp;

/// A company.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Company {
    /// Time-ordered id.
    pub id: Uuid,
    /// Unique name.
    pub name: String,
    /// The tier that its new channels take, and whose `api_requests` bounds its requests.
    pub tier: String,
    /// When it was added.
    pub created_at: Timestamp,
}

impl From<company::Model> for Company {
    fn from(model: company::Model) -> Self {
        let company::Model { id, name, tier, created_at } = model;
        Self { id, name, tier, created_at: Timestamp::from_millis(created_at) }
    }
}

impl Store {
    /// Adds a company.
    ///
    /// # Errors
    ///
    /// [`super::Error::Taken`] when another company has the name.
    pub async fn add_company(&self, who: &Who, name: &str, tier: &str) -> Result<Company> {
        let model = company::ActiveModel {
            id: Set(Uuid::now_v7()),
            name: Set(name.to_owned()),
            tier: Set(tier.to_owned()),
            created_at: Set(Timestamp::now().millis()),
        };
        let transaction = self.begin().await?;
        let company: Company = model.insert(&transaction).await?.into();
        let added = json!({ "name": name, "tier": tier });
        let added = Change::now(who, What::Company, company.id, None, added);
        change::record(&transaction, &[added]).await?;
        transaction.commit().await?;
        Ok(company)
    }

    /// Every company, by name.
    ///
    /// # Errors
    ///
    /// Those of any query.
    pub async fn companies(&self) -> Result<Vec<Company>> {
        let models = company::Entity::find().order_by_asc(company::Column::Name).all(&self.read).await?;
        Ok(models.into_iter().map(Company::from).collect())
    }

    /// The company of this name, or of this id in text.
    ///
    /// # Errors
    ///
    /// Those of any query.
    pub async fn find_company(&self, name_or_id: &str) -> Result<Option<Company>> {
        let named = company::Entity::find().filter(company::Column::Name.eq(name_or_id));
        if let Some(model) = named.one(&self.read).await? {
            return Ok(Some(model.into()));
        }
        let Ok(id) = Uuid::try_parse(name_or_id) else { return Ok(None) };
        Ok(company::Entity::find_by_id(id).one(&self.read).await?.map(Company::from))
    }
}
