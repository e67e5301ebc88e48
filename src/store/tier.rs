//! Tiers, kept as one JSON document each.

use entity::tier;
use sea_orm::sea_query::OnConflict;
use sea_orm::{EntityTrait, QueryOrder, Set};

use super::revision::{self, Topic};
use super::{Result, Store};
use crate::clock::Timestamp;

/// A stored tier.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// Unique name.
    pub name: String,
    /// The tier as JSON.
    pub settings: String,
    /// When it was last applied.
    pub updated_at: Timestamp,
}

impl From<tier::Model> for Record {
    fn from(model: tier::Model) -> Self {
        let tier::Model { name, settings, revision: _, updated_at } = model;
        Self { name, settings, updated_at: Timestamp::from_millis(updated_at) }
    }
}

impl Store {
    /// Every tier, by name.
    ///
    /// # Errors
    ///
    /// Those of any query.
    pub async fn tiers(&self) -> Result<Vec<Record>> {
        let models = tier::Entity::find().order_by_asc(tier::Column::Name).all(&self.read).await?;
        Ok(models.into_iter().map(Record::from).collect())
    }

    /// The tier of this name.
    ///
    /// # Errors
    ///
    /// Those of any query.
    pub async fn find_tier(&self, name: &str) -> Result<Option<Record>> {
        Ok(tier::Entity::find_by_id(name).one(&self.read).await?.map(Record::from))
    }

    /// Adds or replaces the tiers given as name and JSON, all or none; others stay as they are.
    ///
    /// # Errors
    ///
    /// Those of any query.
    pub async fn apply_tiers(&self, tiers: &[(String, String)]) -> Result<()> {
        if tiers.is_empty() {
            return Ok(());
        }
        let transaction = self.begin().await?;
        let revision = revision::bump(&transaction, Topic::Tier).await?;
        let now = Timestamp::now().millis();
        let models = tiers.iter().map(|(name, settings)| tier::ActiveModel {
            name: Set(name.clone()),
            settings: Set(settings.clone()),
            revision: Set(revision),
            updated_at: Set(now),
        });
        let replace = OnConflict::column(tier::Column::Name)
            .update_columns([tier::Column::Settings, tier::Column::Revision, tier::Column::UpdatedAt])
            .to_owned();
        tier::Entity::insert_many(models).on_conflict(replace).exec_without_returning(&transaction).await?;
        transaction.commit().await?;
        Ok(())
    }
}
