//! A tier that a channel has for a while, after which its own tier counts again.

use std::collections::HashMap;

use entity::channel::{ActiveModel, Entity};
use sea_orm::{ConnectionTrait, EntityTrait, Set};
use serde_json::json;
use uuid::Uuid;

use super::operation::write;
use crate::changes::{self, What, Who};
use crate::nouns::AllChannels;
use crate::one_row::{delete_rows, insert_row, update_rows};
use crate::revision::{self, Topic};
use crate::{Result, Transaction, fetch, fetch_one};
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

const COLUMNS: &str = "channel_id, tier, ends_at, own_options";

impl TierEnd {
    /// One row of [`COLUMNS`].
    fn read((channel_id, tier, at, own): (Uuid, String, i64, Option<String>)) -> (Uuid, Self) {
        let own_options = own.as_deref().map(OwnOptions::read).unwrap_or_default();
        (channel_id, Self { tier, own_options, at: Timestamp::from_millis(at) })
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
        delete_rows(&transaction, "channel_tier_end", [("channel_id", id.into())]).await?;
        if let Some(TierEnd { tier, own_options, at }) = &end {
            let row = [
                ("channel_id", id.into()),
                ("tier", tier.as_str().into()),
                ("ends_at", at.millis().into()),
                ("own_options", column(own_options).into()),
            ];
            insert_row(&transaction, "channel_tier_end", row).await?;
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
        let rows = fetch(&self.store.read, format!("SELECT {COLUMNS} FROM channel_tier_end"), []).await?;
        Ok(rows.into_iter().map(TierEnd::read).collect())
    }

    /// Puts every channel under its own tier whose tier ended before `now`, and returns how many.
    pub async fn end_tiers(self, now: Timestamp) -> Result<usize> {
        let due = format!("SELECT {COLUMNS} FROM channel_tier_end WHERE ends_at <= $1 ORDER BY channel_id");
        if self.store.row(&due, [now.millis().into()]).await?.is_none() {
            return Ok(0);
        }
        let transaction = self.store.begin().await?;
        // Its lock keeps others from changing channels, and two nodes from ending a tier twice.
        let revision = revision::bump(&transaction, Topic::Channel).await?;
        let rows = fetch(&transaction, due, [now.millis().into()]).await?;
        let ends: Vec<_> = rows.into_iter().map(TierEnd::read).collect();
        for (id, end) in &ends {
            delete_rows(&transaction, "channel_tier_end", [("channel_id", (*id).into())]).await?;
            let Some(before) = Entity::find_by_id(*id).one(&transaction).await? else { continue };
            write(&transaction, *id, revision, assigned(&end.tier, &end.own_options)).await?;
            let options = before.own_options.as_deref().map(OwnOptions::read).unwrap_or_default();
            let before = Some(json!(shown(&before.tier, &options)));
            let after = json!(shown(&end.tier, &end.own_options));
            changes::record_one(&transaction, &Who::Pombo, What::ChannelTier, *id, before, after).await?;
        }
        transaction.commit().await?;
        Ok(ends.len())
    }
}

/// The channels that will have this tier again.
pub(crate) async fn returning_to(on: &impl ConnectionTrait, tier: &str) -> Result<Vec<Uuid>> {
    let sql = "SELECT channel_id FROM channel_tier_end WHERE tier = $1";
    fetch(on, sql, [tier.into()]).await
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
    let sql = format!("SELECT {COLUMNS} FROM channel_tier_end WHERE channel_id = $1");
    Ok(fetch_one(on, sql, [id.into()]).await?.map(|row| TierEnd::read(row).1))
}
