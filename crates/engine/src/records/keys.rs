//! The API keys of a company.

use uuid::Uuid;

use super::CompanyRecords;
use crate::{Error, Who};
use clock::Timestamp;
use domain::page::{Page, PageRequest};
use domain::scope::Scopes;
pub use store::api_keys::ApiKey;

/// A key to add.
#[derive(Debug, Clone)]
pub struct NewKey<'a> {
    /// The company's name for it.
    pub name: &'a str,
    /// Its first characters.
    pub prefix: &'a str,
    /// SHA-256 of the key.
    pub hash: [u8; 32],
    /// When it stops working; never when `None`.
    pub expires_at: Option<Timestamp>,
    /// Its scopes.
    pub scopes: Scopes,
}

/// The keys of one company.
pub struct Keys<'a>(pub(super) &'a CompanyRecords);

impl Keys<'_> {
    /// All of them, the newest first; revoked and expired ones too.
    pub async fn all(&self) -> Result<Vec<ApiKey>, Error> {
        Ok(self.0.store().api_keys(self.0.company).await?)
    }

    /// One page of them, the newest first; revoked and expired ones too.
    pub async fn page(&self, page: PageRequest) -> Result<Page<ApiKey>, Error> {
        Ok(self.0.store().api_key_page(self.0.company, page).await?)
    }

    /// The key of this id.
    pub async fn find(&self, id: Uuid) -> Result<Option<ApiKey>, Error> {
        Ok(self.0.store().api_key(self.0.company, id).await?)
    }

    /// Adds one.
    pub async fn add(&self, who: &Who, key: NewKey<'_>) -> Result<ApiKey, Error> {
        let NewKey { name, prefix, hash, expires_at, scopes } = key;
        let company_id = self.0.company;
        let new = store::api_keys::NewKey { company_id, name, prefix, hash, expires_at, scopes };
        Ok(self.0.store().add_api_key(who, new).await?)
    }

    /// Revokes the key of this id in the store, and returns the revision from which on it is revoked.
    pub(crate) async fn revoke(&self, who: &Who, id: Uuid) -> Result<Option<i64>, Error> {
        Ok(self.0.store().revoke_api_key_of(who, self.0.company, id).await?)
    }
}
