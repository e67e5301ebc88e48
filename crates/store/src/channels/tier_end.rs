//! A tier that a channel has for a while, after which its own tier counts again.

use std::collections::HashMap;

use entity::channel::{ActiveModel, Entity};
use sea_orm::{ConnectionTrait, EntityTrait, QueryResult, Set, Statement};
use serde_json::json;
use uuid::Uuid;

use super::operation::write;
use crate::changes::{self, Change, What, Who};
use crate::nouns::AllChannels;
use crate::revision::{self, Topic};
use crate::{Result, Transaction};
use clock::Timestamp;

/// The end of a tier that a channel has for a while.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TierEnd {
    /// The tier that counts again then.
    pub tier: String,
    /// When it counts again; a service puts the channel under it within a second.
    pub at: Timestamp,
}

impl TierEnd {
    fn read(row: &QueryResult) -> Result<(Uuid, Self)> {
        let at: i64 = row.try_get_by_index(2)?;
        let end = Self { tier: row.try_get_by_index(1)?, at: Timestamp::from_millis(at) };
        Ok((row.try_get_by_index(0)?, end))
    }
}

impl AllChannels<'_> {
    /// Puts a channel under another tier, until `until` if that is given: then the tier counts again that the channel had
    /// for good. Returns `false` when there is no such channel.
    pub async fn set_tier(self, who: &Who, id: Uuid, tier: &str, until: Option<Timestamp>) -> Result<bool> {
        let transaction = self.store.begin().await?;
        let revision = revision::bump(&transaction, Topic::Channel).await?;
        let Some(before) = Entity::find_by_id(id).one(&transaction).await? else {
            transaction.rollback().await?;
            return Ok(false);
        };
        let ended = find(&transaction, id).await?;
        let own = ended.as_ref().map_or(&before.tier, |ended| &ended.tier).clone();
        let end = until.filter(|_| own != tier).map(|at| TierEnd { tier: own, at });
        if before.tier == tier && ended == end {
            transaction.rollback().await?;
            return Ok(true);
        }
        run(&transaction, "DELETE FROM channel_tier_end WHERE channel_id = $1", [id.into()]).await?;
        if let Some(TierEnd { tier: own, at }) = &end {
            let values = [id.into(), own.as_str().into(), at.millis().into()];
            let sql = "INSERT INTO channel_tier_end (channel_id, tier, ends_at) VALUES ($1, $2, $3)";
            run(&transaction, sql, values).await?;
        }
        let changes = ActiveModel { tier: Set(tier.to_owned()), ..Default::default() };
        write(&transaction, id, revision, changes).await?;
        let after = end.map_or_else(|| tier.to_owned(), |end| format!("{tier} until {}", end.at));
        let recorded = Change::now(who, What::ChannelTier, id, Some(json!(before.tier)), json!(after));
        changes::record(&transaction, &[recorded]).await?;
        transaction.commit().await?;
        Ok(true)
    }

    /// The end of the tier that a channel has for a while; `None` when it has its tier for good.
    pub async fn tier_end(self, id: Uuid) -> Result<Option<TierEnd>> {
        find(&self.store.read, id).await
    }

    /// The ends of all tiers that channels have for a while.
    pub async fn tier_ends(self) -> Result<HashMap<Uuid, TierEnd>> {
        let rows = self.store.rows("SELECT channel_id, tier, ends_at FROM channel_tier_end", []).await?;
        rows.iter().map(TierEnd::read).collect()
    }

    /// Puts every channel under its own tier whose tier ended before `now`, and returns how many.
    pub async fn end_tiers(self, now: Timestamp) -> Result<usize> {
        let due =
            "SELECT channel_id, tier, ends_at FROM channel_tier_end WHERE ends_at <= $1 ORDER BY channel_id";
        if self.store.row(due, [now.millis().into()]).await?.is_none() {
            return Ok(0);
        }
        let transaction = self.store.begin().await?;
        // Its lock keeps others from changing channels, and two nodes from ending a tier twice.
        let revision = revision::bump(&transaction, Topic::Channel).await?;
        let rows = transaction.query_all_raw(self.store.statement(due, [now.millis().into()])).await?;
        let ends = rows.iter().map(TierEnd::read).collect::<Result<Vec<_>>>()?;
        for (id, end) in &ends {
            run(&transaction, "DELETE FROM channel_tier_end WHERE channel_id = $1", [(*id).into()]).await?;
            let Some(before) = Entity::find_by_id(*id).one(&transaction).await? else { continue };
            let changes = ActiveModel { tier: Set(end.tier.clone()), ..Default::default() };
            write(&transaction, *id, revision, changes).await?;
            let recorded =
                Change::now(&Who::Pombo, What::ChannelTier, *id, Some(json!(before.tier)), json!(end.tier));
            changes::record(&transaction, &[recorded]).await?;
        }
        transaction.commit().await?;
        Ok(ends.len())
    }
}

/// The channels that will have this tier again.
pub(crate) async fn returning_to(on: &impl ConnectionTrait, tier: &str) -> Result<Vec<Uuid>> {
    let sql = "SELECT channel_id FROM channel_tier_end WHERE tier = $1";
    let statement = Statement::from_sql_and_values(on.get_database_backend(), sql, [tier.into()]);
    let rows = on.query_all_raw(statement).await?;
    rows.iter().map(|row| Ok(row.try_get_by_index(0)?)).collect()
}

/// Follows a tier that gets another name.
pub(crate) async fn follow(within: &Transaction, old: &str, new: &str) -> Result<()> {
    let sql = "UPDATE channel_tier_end SET tier = $2 WHERE tier = $1";
    run(within, sql, [old.into(), new.into()]).await
}

async fn find(on: &impl ConnectionTrait, id: Uuid) -> Result<Option<TierEnd>> {
    let sql = "SELECT channel_id, tier, ends_at FROM channel_tier_end WHERE channel_id = $1";
    let statement = Statement::from_sql_and_values(on.get_database_backend(), sql, [id.into()]);
    let row = on.query_one_raw(statement).await?;
    Ok(row.as_ref().map(TierEnd::read).transpose()?.map(|(_, end)| end))
}

async fn run<const N: usize>(on: &Transaction, sql: &str, values: [sea_orm::Value; N]) -> Result<()> {
    on.execute_raw(Statement::from_sql_and_values(on.get_database_backend(), sql, values)).await?;
    Ok(())
}
