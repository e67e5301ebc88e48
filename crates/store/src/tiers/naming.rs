//! Tiers that get another name or go, and earlier states of a tier. Companies and channels name their tier.

use std::fmt;

use entity::{channel, company, tier};
use sea_orm::sea_query::{Condition, Expr};
use sea_orm::{
    ColumnTrait, ConnectionTrait, EntityTrait, PaginatorTrait, QueryFilter, QueryOrder, QuerySelect, Set,
};
use serde_json::{Value, json};
use uuid::Uuid;

use super::json as read;
use crate::changes::{self, Change, Filter, What, Who};
use crate::channels::tier_end;
use crate::nouns::Tiers;
use crate::revision::{self, Topic};
use crate::{Result, Transaction};
use clock::Timestamp;
use domain::page::PageRequest;

/// How many companies and channels are named of those that use a tier.
const NAMED: u64 = 5;

/// Who uses a tier.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Usage {
    /// Channels that run under it, or will again once another tier of theirs ends.
    pub channels: u64,
    /// The names of the first of them.
    pub channel_names: Vec<String>,
    /// Companies whose new channels begin with it, and whose requests it limits.
    pub companies: u64,
    /// The names of the first of them.
    pub company_names: Vec<String>,
}

/// The result of removing a tier.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Removed {
    /// It is gone.
    Done,
    /// There is none of this name.
    Missing,
    /// It is used, and stays.
    InUse(Usage),
}

/// The result of giving a tier another name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Renamed {
    /// It has the new name, and so has everything that uses it.
    Done,
    /// There is none of the old name.
    Missing,
    /// There is one of the new name already.
    Taken,
}

/// An earlier state of a tier.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Earlier {
    /// Its options then.
    Options(Value),
    /// There was no such tier then.
    Absent,
    /// Its history has no such entry.
    NoEntry,
}

impl Usage {
    /// Whether nobody uses it.
    pub const fn is_empty(&self) -> bool {
        self.channels == 0 && self.companies == 0
    }
}

/// The users, for a sentence.
impl fmt::Display for Usage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { channels, channel_names, companies, company_names } = self;
        let group = |count: u64, one: &str, many: &str, names: &[String]| {
            let more = if count > names.len() as u64 { ", …" } else { "" };
            let word = if count == 1 { one } else { many };
            (count > 0).then(|| format!("{count} {word} ({}{more})", names.join(", ")))
        };
        let groups = [
            group(*channels, "channel", "channels", channel_names),
            group(*companies, "company", "companies", company_names),
        ];
        f.write_str(&groups.into_iter().flatten().collect::<Vec<_>>().join(" and "))
    }
}

impl Tiers<'_> {
    /// Who uses the tier of this name now.
    pub async fn usage(self, name: &str) -> Result<Usage> {
        usage(&self.store.read, name).await
    }

    /// Removes a tier that nobody uses.
    pub async fn remove(self, who: &Who, name: &str) -> Result<Removed> {
        let transaction = self.store.begin().await?;
        let removed = remove(&transaction, who, name).await;
        match &removed {
            Ok(Removed::Done) => transaction.commit().await?,
            Ok(Removed::Missing | Removed::InUse(_)) | Err(_) => transaction.rollback().await?,
        }
        removed
    }

    /// Gives a tier another name, together with the channels and companies that use it.
    pub async fn rename(self, who: &Who, old: &str, new: &str) -> Result<Renamed> {
        let transaction = self.store.begin().await?;
        let renamed = rename(&transaction, who, old, new).await;
        match &renamed {
            Ok(Renamed::Done) => transaction.commit().await?,
            Ok(Renamed::Missing | Renamed::Taken) | Err(_) => transaction.rollback().await?,
        }
        renamed
    }

    /// The tier as it was after this entry of its history; without an entry, as it was before the newest one.
    pub async fn earlier(self, name: &str, entry: Option<Uuid>) -> Result<Earlier> {
        let found = match entry {
            Some(id) => self.store.changes().find(id).await?,
            None => {
                let filter = Filter { what: &[What::Tier], subject: Some(name), ..Filter::default() };
                let newest = self.store.changes().page(filter, PageRequest { page: 1, limit: 1 }).await?;
                newest.records.into_iter().next()
            }
        };
        let Some(change) = found.filter(|change| change.what == What::Tier && change.subject == name) else {
            return Ok(Earlier::NoEntry);
        };
        let Change { before, after, .. } = change;
        let document = if entry.is_some() { Some(after) } else { before };
        Ok(document.filter(Value::is_object).map_or(Earlier::Absent, Earlier::Options))
    }
}

async fn usage(on: &impl ConnectionTrait, name: &str) -> Result<Usage> {
    let returning = tier_end::returning_to(on, name).await?;
    let any = Condition::any().add(channel::Column::Tier.eq(name)).add(channel::Column::Id.is_in(returning));
    let channels = channel::Entity::find().filter(any);
    let companies = company::Entity::find().filter(company::Column::Tier.eq(name));
    let first_channels = channels.clone().order_by_asc(channel::Column::Id).limit(NAMED).all(on).await?;
    let first_companies = companies.clone().order_by_asc(company::Column::Name).limit(NAMED).all(on).await?;
    Ok(Usage {
        channels: channels.count(on).await?,
        channel_names: first_channels.into_iter().map(|channel| channel.name).collect(),
        companies: companies.count(on).await?,
        company_names: first_companies.into_iter().map(|company| company.name).collect(),
    })
}

async fn remove(within: &Transaction, who: &Who, name: &str) -> Result<Removed> {
    // The counters are raised first: their locks keep others from changing tiers, and channels from being put under
    // one.
    revision::bump(within, Topic::Tier).await?;
    revision::bump(within, Topic::Channel).await?;
    let Some(stored) = tier::Entity::find_by_id(name).one(within).await? else {
        return Ok(Removed::Missing);
    };
    let usage = usage(within, name).await?;
    if !usage.is_empty() {
        return Ok(Removed::InUse(usage));
    }
    tier::Entity::delete_by_id(name).exec(within).await?;
    changes::record_one(within, who, What::Tier, name, Some(read(&stored.settings)), json!("removed"))
        .await?;
    Ok(Removed::Done)
}

async fn rename(within: &Transaction, who: &Who, old: &str, new: &str) -> Result<Renamed> {
    let revision = revision::bump(within, Topic::Tier).await?;
    let channel_revision = revision::bump(within, Topic::Channel).await?;
    let Some(stored) = tier::Entity::find_by_id(old).one(within).await? else {
        return Ok(Renamed::Missing);
    };
    if tier::Entity::find_by_id(new).one(within).await?.is_some() {
        return Ok(Renamed::Taken);
    }
    let now = Timestamp::now().millis();
    let before = read(&stored.settings);
    let mut after = before.clone();
    if let Some(options) = after.as_object_mut() {
        options.insert("name".to_owned(), new.into());
    }
    let settings = if after.is_object() { after.to_string() } else { stored.settings };
    let model = tier::ActiveModel {
        name: Set(new.to_owned()),
        settings: Set(settings),
        revision: Set(revision),
        updated_at: Set(now),
    };
    tier::Entity::insert(model).exec_without_returning(within).await?;
    let channels = channel::ActiveModel {
        tier: Set(new.to_owned()),
        revision: Set(channel_revision),
        updated_at: Set(now),
        ..Default::default()
    };
    let under = channel::Entity::update_many().set(channels).filter(channel::Column::Tier.eq(old));
    under.exec(within).await?;
    tier_end::follow(within, old, new).await?;
    let of = company::Entity::update_many().col_expr(company::Column::Tier, Expr::value(new));
    of.filter(company::Column::Tier.eq(old)).exec(within).await?;
    // A running service caches the company's tier with its keys.
    revision::bump(within, Topic::ApiKey).await?;
    tier::Entity::delete_by_id(old).exec(within).await?;
    // Under both names, so that the history of each leads to the other.
    let both = [old, new].map(|name| Change::now(who, What::Tier, name, Some(before.clone()), after.clone()));
    changes::record(within, &both).await?;
    Ok(Renamed::Done)
}
