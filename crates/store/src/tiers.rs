//! Tiers, kept as one JSON document each.

mod naming;

use entity::tier;
use sea_orm::sea_query::OnConflict;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, Set};
use serde_json::Value;

use crate::changes::{self, Change, What, Who};
use crate::nouns::Tiers;
use crate::revision::{self, Topic};
use crate::{Error, Result, Transaction};
use clock::Timestamp;

pub use naming::{Earlier, Removed, Renamed, Usage};

/// A stored tier.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// Unique name.
    pub name: String,
    /// The tier as JSON.
    pub settings: String,
    /// When it last changed.
    pub updated_at: Timestamp,
}

impl From<tier::Model> for Record {
    fn from(model: tier::Model) -> Self {
        let tier::Model { name, settings, revision: _, updated_at } = model;
        Self { name, settings, updated_at: Timestamp::from_millis(updated_at) }
    }
}

impl Tiers<'_> {
    /// Every tier, by name.
    pub async fn all(self) -> Result<Vec<Record>> {
        let models = tier::Entity::find().order_by_asc(tier::Column::Name).all(&self.store.read).await?;
        Ok(models.into_iter().map(Record::from).collect())
    }

    /// The tier of this name.
    pub async fn find(self, name: &str) -> Result<Option<Record>> {
        Ok(tier::Entity::find_by_id(name).one(&self.store.read).await?.map(Record::from))
    }

    /// Adds or replaces the tiers given as name and JSON, all or none; others stay as they are. Returns what changed,
    /// as it is recorded: nothing for a tier that was the same before.
    ///
    /// # Errors
    ///
    /// [`Error::OtherKind`] when a tier would become one for another kind of channel.
    pub async fn apply(self, who: &Who, tiers: &[(String, String)]) -> Result<Vec<Change>> {
        if tiers.is_empty() {
            return Ok(Vec::new());
        }
        let transaction = self.store.begin().await?;
        let changes = match replace(&transaction, who, tiers).await {
            Ok(changes) if changes.is_empty() => {
                return transaction.unchanged(changes).await;
            }
            Ok(changes) => changes,
            Err(error) => {
                transaction.rollback().await?;
                return Err(error);
            }
        };
        transaction.commit().await?;
        Ok(changes)
    }

    /// The changes that [`Tiers::apply`](crate::Tiers::apply) would make now. Nothing is changed.
    pub async fn compare(self, who: &Who, tiers: &[(String, String)]) -> Result<Vec<Change>> {
        let transaction = self.store.begin().await?;
        let compared = compare(&transaction, who, tiers).await;
        transaction.rollback().await?;
        compared
    }
}

async fn replace(within: &Transaction, who: &Who, tiers: &[(String, String)]) -> Result<Vec<Change>> {
    // The counter is raised first: its lock keeps others from changing the compared tiers.
    let revision = revision::bump(within, Topic::Tier).await?;
    let changes = compare(within, who, tiers).await?;
    let now = Timestamp::now().millis();
    let is_changed = |name: &str| changes.iter().any(|change| change.subject == name);
    let changed = tiers.iter().filter(|(name, _)| is_changed(name)).collect::<Vec<_>>();
    if changed.is_empty() {
        return Ok(changes);
    }
    let models = changed.into_iter().map(|(name, settings)| tier::ActiveModel {
        name: Set(name.clone()),
        settings: Set(settings.clone()),
        revision: Set(revision),
        updated_at: Set(now),
    });
    let replace = OnConflict::column(tier::Column::Name)
        .update_columns([tier::Column::Settings, tier::Column::Revision, tier::Column::UpdatedAt])
        .to_owned();
    tier::Entity::insert_many(models).on_conflict(replace).exec_without_returning(within).await?;
    changes::record(within, &changes).await?;
    Ok(changes)
}

async fn compare(within: &Transaction, who: &Who, tiers: &[(String, String)]) -> Result<Vec<Change>> {
    let names = tiers.iter().map(|(name, _)| name.as_str());
    let stored = tier::Entity::find().filter(tier::Column::Name.is_in(names)).all(within).await?;
    let mut changes = Vec::new();
    for (name, settings) in tiers {
        let stored = stored.iter().find(|tier| tier.name == *name);
        let (before, after) = (stored.map(|tier| json(&tier.settings)), json(settings));
        if before.as_ref().is_some_and(|before| are_for_other_kinds(before, &after)) {
            return Err(Error::OtherKind(name.clone()));
        }
        if before.as_ref() != Some(&after) {
            changes.push(Change::now(who, What::Tier, name, before, after));
        }
    }
    Ok(changes)
}

/// Unreadable settings are compared as text, so that applying the tier again can correct them.
fn json(settings: &str) -> Value {
    serde_json::from_str(settings).unwrap_or_else(|_| Value::from(settings))
}

/// Whether a tier would become one for another kind of channel, which the channels under it do not allow.
fn are_for_other_kinds(before: &Value, after: &Value) -> bool {
    let kinds = before.get("kind").zip(after.get("kind"));
    kinds.is_some_and(|(before, after)| before != after)
}
