//! API keys. The keys themselves are never stored: only their hash, and a prefix to recognise them by.

use std::sync::Arc;

use entity::api_key;
use sea_orm::sea_query::Expr;
use sea_orm::{
    ActiveModelTrait, ColumnTrait, Condition, EntityTrait, QueryFilter, QueryOrder, QueryResult, QuerySelect,
    Set,
};
use serde_json::json;
use uuid::Uuid;

use crate::changes::{self, What, Who};
use crate::dialect::{Bulk, Type};
use crate::nouns::{AllKeys, Keys};
use crate::revision::{self, Topic};
use crate::{Result, moment};
use clock::Timestamp;
use domain::page::{Page, PageRequest};
use domain::scope::Scopes;

/// A key to add.
#[derive(Debug, Clone)]
pub struct NewKey<'a> {
    /// The company's name for it.
    pub name: &'a str,
    /// Its first characters.
    pub prefix: &'a str,
    /// SHA-256 of the key.
    pub hash: [u8; 32],
    /// When it expires; never when `None`.
    pub expires_at: Option<Timestamp>,
    /// Its scopes.
    pub scopes: Scopes,
}

/// A key as its company may see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiKey {
    /// Time-ordered id.
    pub id: Uuid,
    /// The company that owns it.
    pub company_id: Uuid,
    /// The company's name for it.
    pub name: String,
    /// Its first characters.
    pub prefix: String,
    /// When it expires.
    pub expires_at: Option<Timestamp>,
    /// When it was revoked.
    pub revoked_at: Option<Timestamp>,
    /// When it was added.
    pub created_at: Timestamp,
    /// Its scopes.
    pub scopes: Scopes,
    /// When it was last used, to the minute.
    pub last_used_at: Option<Timestamp>,
    /// The channels that it is bound to; `None` for all of the company.
    pub channels: Option<Arc<[Uuid]>>,
}

impl ApiKey {
    /// Whether the key is valid at this moment: neither revoked nor expired.
    pub fn is_valid(&self, now: Timestamp) -> bool {
        self.revoked_at.is_none() && self.expires_at.is_none_or(|end| now < end)
    }
}

/// The part of a key that authentication needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyRecord {
    /// The key.
    pub id: Uuid,
    /// The company that owns it.
    pub company_id: Uuid,
    /// The company's name for it.
    pub name: Arc<str>,
    /// The name of the company's tier, which bounds the requests of all its keys.
    pub tier: Arc<str>,
    /// Whether the company is disabled, so that none of its keys is accepted.
    pub is_company_disabled: bool,
    /// When it expires.
    pub expires_at: Option<Timestamp>,
    /// When it was revoked.
    pub revoked_at: Option<Timestamp>,
    /// Its scopes.
    pub scopes: Scopes,
    /// When it was last used, as stored.
    pub last_used_at: Option<Timestamp>,
    /// The channels that it is bound to; `None` for all of the company.
    pub channels: Option<Arc<[Uuid]>>,
}

impl KeyRecord {
    /// Whether the key is valid at this moment: neither revoked nor expired.
    pub fn is_valid(&self, now: Timestamp) -> bool {
        self.revoked_at.is_none() && self.expires_at.is_none_or(|end| now < end)
    }
}

const USES: &[(&str, Type)] = &[("id", Type::Uuid), ("at", Type::Int)];

fn read(row: &QueryResult) -> Result<KeyRecord> {
    Ok(KeyRecord {
        id: row.try_get("", "id")?,
        company_id: row.try_get("", "company_id")?,
        name: row.try_get::<String>("", "name")?.into(),
        tier: row.try_get::<String>("", "tier")?.into(),
        is_company_disabled: moment(row, "disabled_at")?.is_some(),
        expires_at: moment(row, "expires_at")?,
        revoked_at: moment(row, "revoked_at")?,
        scopes: Scopes::from_stored(row.try_get::<Option<String>>("", "scopes")?.as_deref()),
        last_used_at: moment(row, "last_used_at")?,
        channels: bound_to(row.try_get::<Option<String>>("", "channels")?.as_deref()),
    })
}

/// The channels in a stored text. A word that is no id is none of the company's channels.
fn bound_to(stored: Option<&str>) -> Option<Arc<[Uuid]>> {
    stored.map(|ids| ids.split(' ').filter_map(|id| Uuid::try_parse(id).ok()).collect())
}

impl From<api_key::Model> for ApiKey {
    fn from(model: api_key::Model) -> Self {
        Self {
            id: model.id,
            company_id: model.company_id,
            name: model.name,
            prefix: model.prefix,
            expires_at: model.expires_at.map(Timestamp::from_millis),
            revoked_at: model.revoked_at.map(Timestamp::from_millis),
            created_at: Timestamp::from_millis(model.created_at),
            scopes: Scopes::from_stored(model.scopes.as_deref()),
            last_used_at: model.last_used_at.map(Timestamp::from_millis),
            channels: bound_to(model.channels.as_deref()),
        }
    }
}

impl Keys<'_> {
    /// Adds a key.
    ///
    /// # Errors
    ///
    /// [`crate::Error::Taken`] when the hash is stored already.
    pub async fn add(self, who: &Who, key: NewKey<'_>) -> Result<ApiKey> {
        self.add_for(who, key, None).await
    }

    /// Adds a key that is good for these channels alone. The caller has checked that they are the company's.
    ///
    /// # Errors
    ///
    /// As [`Keys::add`].
    pub async fn add_for(self, who: &Who, key: NewKey<'_>, channels: Option<&[Uuid]>) -> Result<ApiKey> {
        let NewKey { name, prefix, hash, expires_at, scopes } = key;
        let model = api_key::ActiveModel {
            id: Set(Uuid::now_v7()),
            company_id: Set(self.company),
            name: Set(name.to_owned()),
            prefix: Set(prefix.to_owned()),
            hash: Set(hash.to_vec()),
            expires_at: Set(expires_at.map(Timestamp::millis)),
            revoked_at: Set(None),
            created_at: Set(Timestamp::now().millis()),
            scopes: Set(scopes.stored()),
            last_used_at: Set(None),
            channels: Set(channels.map(|ids| {
                let ids: Vec<_> = ids.iter().map(Uuid::to_string).collect();
                ids.join(" ")
            })),
        };
        let transaction = self.store.begin().await?;
        let model = model.insert(&transaction).await?;
        let mut added = json!({
            "status": "valid",
            "company_id": self.company,
            "name": name,
            "prefix": prefix,
            "expires_at": expires_at,
            "scopes": scopes.words(),
        });
        if let Some(channels) = channels {
            added["channels"] = json!(channels);
        }
        changes::record_one(&transaction, who, What::ApiKey, model.id, None, added).await?;
        revision::bump(&transaction, Topic::ApiKey).await?;
        transaction.commit().await?;
        Ok(model.into())
    }

    /// The company's keys, newest first; revoked and expired ones too.
    pub async fn all(self) -> Result<Vec<ApiKey>> {
        let keys = api_key::Entity::find().filter(api_key::Column::CompanyId.eq(self.company));
        let models = keys.order_by_desc(api_key::Column::Id).all(&self.store.read).await?;
        Ok(models.into_iter().map(ApiKey::from).collect())
    }

    /// A page of the company's keys, newest first; revoked and expired ones too.
    pub async fn page(self, page: PageRequest) -> Result<Page<ApiKey>> {
        let keys = api_key::Entity::find().filter(api_key::Column::CompanyId.eq(self.company));
        let newest = keys.order_by_desc(api_key::Column::Id);
        Ok(self.store.page_of(newest, page).await?.map(ApiKey::from))
    }

    /// The company's valid keys that expire before `until`, the next one first, at most `limit`.
    pub async fn expiring(self, now: Timestamp, until: Timestamp, limit: u64) -> Result<Vec<ApiKey>> {
        let models = api_key::Entity::find()
            .filter(api_key::Column::CompanyId.eq(self.company))
            .filter(api_key::Column::RevokedAt.is_null())
            .filter(api_key::Column::ExpiresAt.gt(now.millis()))
            .filter(api_key::Column::ExpiresAt.lt(until.millis()))
            .order_by_asc(api_key::Column::ExpiresAt)
            .limit(limit)
            .all(&self.store.read)
            .await?;
        Ok(models.into_iter().map(ApiKey::from).collect())
    }

    /// The key of this id, if it is the company's.
    pub async fn find(self, id: Uuid) -> Result<Option<ApiKey>> {
        let key = api_key::Entity::find_by_id(id).filter(api_key::Column::CompanyId.eq(self.company));
        Ok(key.one(&self.store.read).await?.map(ApiKey::from))
    }

    /// Revokes a key of this company, and returns the revision of the keys from which on it is revoked; `None` when the
    /// company has no such key or it was revoked before.
    pub async fn revoke(self, who: &Who, id: Uuid) -> Result<Option<i64>> {
        self.store
            .keys()
            .revoke_where(who, id, Condition::all().add(api_key::Column::CompanyId.eq(self.company)))
            .await
    }
}

impl AllKeys<'_> {
    /// Records when keys were last used.
    pub async fn note_uses(self, uses: &[(Uuid, Timestamp)]) -> Result<()> {
        let mut rows = Bulk::new(self.store.backend, USES);
        for (id, at) in uses {
            rows.push([(*id).into(), at.millis().into()]);
        }
        self.store
            .write(&self.store.write, rows, Vec::new(), |rows, _| {
                format!(
                    "UPDATE api_key SET last_used_at = incoming.at FROM {rows} AS incoming
                 WHERE api_key.id = incoming.id
                     AND (last_used_at IS NULL OR last_used_at < incoming.at)"
                )
            })
            .await?;
        Ok(())
    }

    /// Revokes a key of any company; `false` when there is no such key or it was revoked before.
    pub async fn revoke(self, who: &Who, id: Uuid) -> Result<bool> {
        Ok(self.revoke_where(who, id, Condition::all()).await?.is_some())
    }

    async fn revoke_where(self, who: &Who, id: Uuid, whose: Condition) -> Result<Option<i64>> {
        let transaction = self.store.begin().await?;
        let revoked = api_key::Entity::update_many()
            .col_expr(api_key::Column::RevokedAt, Expr::value(Timestamp::now().millis()))
            .filter(api_key::Column::Id.eq(id))
            .filter(whose)
            .filter(api_key::Column::RevokedAt.is_null())
            .exec(&transaction)
            .await?;
        if revoked.rows_affected == 0 {
            return transaction.unchanged(None).await;
        }
        changes::record_one(&transaction, who, What::ApiKey, id, Some(json!("valid")), json!("revoked"))
            .await?;
        let revision = revision::bump(&transaction, Topic::ApiKey).await?;
        transaction.commit().await?;
        Ok(Some(revision))
    }

    /// The key with this hash, whether it still works or not.
    pub async fn find(self, hash: &[u8; 32]) -> Result<Option<KeyRecord>> {
        let sql =
            "SELECT api_key.id, company_id, api_key.name, company.tier, company.disabled_at, expires_at,
                revoked_at, scopes, last_used_at, channels
            FROM api_key JOIN company ON company.id = company_id WHERE hash = $1";
        self.store.row(sql, [hash.to_vec().into()]).await?.as_ref().map(read).transpose()
    }
}
