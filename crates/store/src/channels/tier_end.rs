//! A tier that a channel has for a while, after which its own tier counts again.

use std::collections::HashMap;

use entity::channel::{ActiveModel, Entity};
use entity::channel_tier_end as stored;
use sea_orm::{
    ColumnTrait as _, ConnectionTrait, EntityTrait, Insert, QueryFilter as _, QueryOrder as _, Set,
};
use serde_json::json;
use uuid::Uuid;

use super::operation::write;
use crate::changes::{self, What, Who};
use crate::nouns::AllChannels;
use crate::one_row::update_rows;
use crate::revision::{self, Topic};
use crate::{Result, Transaction};
use clock::Timestamp;
use domain::tier::OwnOptions;

/// The end of a tier that a channel has for a while.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TierEnd {
    /// The tier that counts again then.
    pub tier: String,
    /// The channel's own options that count again then.
    pub own_options: OwnOptions,
    /// When it counts again; a service puts the channel under it within a second.
    pub at: Timestamp,
}

impl From<stored::Model> for TierEnd {
    fn from(stored::Model { channel_id: _, tier, own_options, ends_at }: stored::Model) -> Self {
        let own_options = own_options.as_deref().map(OwnOptions::read).unwrap_or_default();
        Self { tier, own_options, at: Timestamp::from_millis(ends_at) }
    }
}

impl AllChannels<'_> {
    /// Puts a channel under another tier, with `own` instead of some of its options, until `until` if that is given: then
    /// those count again that the channel had for good. Returns `false` when there is no such channel.
    pub async fn set_tier(
        self,
        who: &Who,
        id: Uuid,
        (tier, own): (&str, &OwnOptions),
        until: Option<Timestamp>,
    ) -> Result<bool> {
        let transaction = self.store.begin().await?;
        let revision = revision::bump(&transaction, Topic::Channel).await?;
        let Some(before) = Entity::find_by_id(id).one(&transaction).await? else {
            return transaction.unchanged(false).await;
        };
        let ended = find(&transaction, id).await?;
        let options = before.own_options.as_deref().map(OwnOptions::read).unwrap_or_default();
        let had = (before.tier.clone(), options);
        let for_good = ended.clone().map_or_else(|| had.clone(), |ended| (ended.tier, ended.own_options));
        let wanted = (tier.to_owned(), own.clone());
        let end = until.filter(|_| for_good != wanted).map(|at| {
            let (tier, own_options) = for_good;
            TierEnd { tier, own_options, at }
        });
        if had == wanted && ended == end {
            return transaction.unchanged(true).await;
        }
        stored::Entity::delete_by_id(id).exec(&transaction).await?;
        if let Some(TierEnd { tier, own_options, at }) = &end {
            let own_options = column(own_options);
            let row = stored::Model { channel_id: id, tier: tier.clone(), own_options, ends_at: at.millis() };
            Insert::one(row).exec_without_returning(&transaction).await?;
        }
        write(&transaction, id, revision, assigned(tier, own)).await?;
        let after = shown(tier, own);
        let after = end.map_or_else(|| after.clone(), |end| format!("{after} until {}", end.at));
        let before = shown(&had.0, &had.1);
        changes::record_one(&transaction, who, What::ChannelTier, id, Some(json!(before)), json!(after))
            .await?;
        transaction.commit().await?;
        Ok(true)
    }

    /// The end of the tier that a channel has for a while; `None` when it has its tier for good.
    pub async fn tier_end(self, id: Uuid) -> Result<Option<TierEnd>> {
        find(&self.store.read, id).await
    }

    /// The ends of all tiers that channels have for a while.
    pub async fn tier_ends(self) -> Result<HashMap<Uuid, TierEnd>> {
        let ends = stored::Entity::find().all(&self.store.read).await?;
        Ok(ends.into_iter().map(|end| (end.channel_id, end.into())).collect())
    }

    /// Puts every channel under its own tier whose tier ended before `now`, and returns how many.
    pub async fn end_tiers(self, now: Timestamp) -> Result<usize> {
        let due = stored::Entity::find().filter(stored::Column::EndsAt.lte(now.millis()));
        if due.clone().one(&self.store.read).await?.is_none() {
            return Ok(0);
        }
        let transaction = self.store.begin().await?;
        // Its lock keeps others from changing channels, and two nodes from ending a tier twice.
        let revision = revision::bump(&transaction, Topic::Channel).await?;
        let ends = due.order_by_asc(stored::Column::ChannelId).all(&transaction).await?;
        let count = ends.len();
        for end in ends {
            let id = end.channel_id;
            stored::Entity::delete_by_id(id).exec(&transaction).await?;
            let Some(before) = Entity::find_by_id(id).one(&transaction).await? else { continue };
            let end = TierEnd::from(end);
            write(&transaction, id, revision, assigned(&end.tier, &end.own_options)).await?;
            let options = before.own_options.as_deref().map(OwnOptions::read).unwrap_or_default();
            let before = Some(json!(shown(&before.tier, &options)));
            let after = json!(shown(&end.tier, &end.own_options));
            changes::record_one(&transaction, &Who::Pombo, What::ChannelTier, id, before, after).await?;
        }
        transaction.commit().await?;
        Ok(count)
    }
}

/// The channels that will have this tier again.
pub(crate) async fn returning_to(on: &impl ConnectionTrait, tier: &str) -> Result<Vec<Uuid>> {
    let ends = stored::Entity::find().filter(stored::Column::Tier.eq(tier)).all(on).await?;
    Ok(ends.into_iter().map(|end| end.channel_id).collect())
}

/// Follows a tier that gets another name.
pub(crate) async fn follow(within: &Transaction, old: &str, new: &str) -> Result<()> {
    update_rows(within, "channel_tier_end", [("tier", new.into())], [("tier", old.into())]).await.map(drop)
}

/// A tier and the channel's own options, for a record of changes.
fn shown(tier: &str, own: &OwnOptions) -> String {
    if own.is_empty() { tier.to_owned() } else { format!("{tier} with {}", own.line()) }
}

/// The columns of a channel that has this tier.
fn assigned(tier: &str, own: &OwnOptions) -> ActiveModel {
    ActiveModel { tier: Set(tier.to_owned()), own_options: Set(column(own)), ..Default::default() }
}

fn column(own: &OwnOptions) -> Option<String> {
    (!own.is_empty()).then(|| own.to_string())
}

async fn find(on: &impl ConnectionTrait, id: Uuid) -> Result<Option<TierEnd>> {
    Ok(stored::Entity::find_by_id(id).one(on).await?.map(TierEnd::from))
}
