//! The keys with which contents of companies are sealed, each sealed itself.

use entity::company_key::{Column, Entity, Model};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder};
use uuid::Uuid;

use crate::nouns::AllConversations;
use crate::{Result, execute};
use clock::Timestamp;

/// A sealed key of a company.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredDataKey {
    /// Its id; later keys have greater ones.
    pub id: Uuid,
    /// The company.
    pub company_id: Uuid,
    /// The sealed key.
    pub sealed: Vec<u8>,
}

impl From<Model> for StoredDataKey {
    fn from(Model { id, company_id, data_key, created_at: _ }: Model) -> Self {
        Self { id, company_id, sealed: data_key }
    }
}

impl AllConversations<'_> {
    /// The newest key of a company.
    pub async fn newest_key(self, company_id: Uuid) -> Result<Option<StoredDataKey>> {
        let keys = Entity::find().filter(Column::CompanyId.eq(company_id)).order_by_desc(Column::Id);
        Ok(keys.one(&self.store.read).await?.map(StoredDataKey::from))
    }

    /// The key with this id.
    pub async fn key(self, id: Uuid) -> Result<Option<StoredDataKey>> {
        Ok(Entity::find_by_id(id).one(&self.store.read).await?.map(StoredDataKey::from))
    }

    /// Adds a key, unless the company has got a newer one than `instead_of` meanwhile. The caller reads the newest one then.
    pub async fn add_key(self, key: &StoredDataKey, instead_of: Option<Uuid>) -> Result<bool> {
        let sql = "INSERT INTO company_key (id, company_id, data_key, created_at) \
                   SELECT $1, $2, $3, $4 WHERE NOT EXISTS \
                   (SELECT 1 FROM company_key WHERE company_id = $2 AND id > $5)";
        let values = [
            key.id.into(),
            key.company_id.into(),
            key.sealed.clone().into(),
            Timestamp::now().millis().into(),
            instead_of.unwrap_or_default().into(),
        ];
        Ok(execute(&self.store.write, sql, values).await? > 0)
    }
}
