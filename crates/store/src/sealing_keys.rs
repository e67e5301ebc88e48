//! The keys that seal the secrets of this database: a process proves with them that its keys belong here.
//!
//! A key is here from its first use until nothing is sealed with it, or until an operator declares it lost. The keys
//! themselves are never in the database.

use sea_orm::{ConnectionTrait, DbBackend};

use super::changes::{What, Who, record_one};
use super::{Result, Transaction, execute, fetch};
use crate::nouns::SealingKeys;
use crate::one_row::{delete_rows, insert_new};
use clock::Timestamp;

/// A key of the database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyProof {
    /// The key's id.
    pub key_id: Vec<u8>,
    /// A value that only this key opens.
    pub proof: Vec<u8>,
}

impl SealingKeys<'_> {
    /// The keys of this database, the oldest first.
    pub async fn all(self) -> Result<Vec<KeyProof>> {
        listed(&self.store.read).await
    }

    /// Adds keys to a database that has none, and returns the keys that it has then: these, or those of another
    /// process that was first.
    pub async fn add_first(self, keys: &[KeyProof]) -> Result<Vec<KeyProof>> {
        let transaction = self.store.begin().await?;
        self.lock(&transaction).await?;
        let known = listed(&transaction).await?;
        if !known.is_empty() {
            return Ok(known);
        }
        for key in keys {
            self.insert(&transaction, key).await?;
        }
        transaction.commit().await?;
        Ok(keys.to_vec())
    }

    /// Adds a key, if it is not here.
    pub async fn add(self, key: &KeyProof) -> Result<()> {
        self.insert(&self.store.write, key).await
    }

    /// Adds the new current key of a rotation, which is recorded.
    pub async fn rotate(self, who: &Who, key: &KeyProof, [id, former]: [&str; 2]) -> Result<()> {
        let transaction = self.store.begin().await?;
        self.insert(&transaction, key).await?;
        record_one(&transaction, who, What::SealingKey, id, Some(former.into()), "current".into()).await?;
        transaction.commit().await?;
        Ok(())
    }

    /// Removes a key with which nothing is sealed any more, or that is lost; `after` is the word for it in the record
    /// of changes. `false` when the key was not here.
    pub async fn remove(self, who: &Who, key_id: &[u8], id: &str, after: &str) -> Result<bool> {
        let transaction = self.store.begin().await?;
        let of = [("key_id", key_id.to_vec().into())];
        let removed = delete_rows(&transaction, "sealing_key", of).await? > 0;
        record_one(&transaction, who, What::SealingKey, id, Some("previous".into()), after.into()).await?;
        transaction.commit().await?;
        Ok(removed)
    }

    pub(super) async fn insert(self, to: &impl ConnectionTrait, key: &KeyProof) -> Result<()> {
        let KeyProof { key_id, proof } = key.clone();
        let now = Timestamp::now().millis();
        let row = [("key_id", key_id.into()), ("proof", proof.into()), ("added_at", now.into())];
        insert_new(to, "sealing_key", row).await?;
        Ok(())
    }

    /// Makes processes that start at the same moment take turns. (SQLite's transactions do that by themselves.)
    async fn lock(self, within: &Transaction) -> Result<()> {
        if self.store.backend == DbBackend::Postgres {
            execute(within, "LOCK TABLE sealing_key IN SHARE ROW EXCLUSIVE MODE", []).await?;
        }
        Ok(())
    }
}

async fn listed(on: &impl ConnectionTrait) -> Result<Vec<KeyProof>> {
    let rows = fetch(on, "SELECT key_id, proof FROM sealing_key ORDER BY added_at, key_id", []).await?;
    Ok(rows.into_iter().map(|(key_id, proof)| KeyProof { key_id, proof }).collect())
}
