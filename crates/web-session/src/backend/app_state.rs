//! The data that WhatsApp synchronises between the devices of an account.

use std::collections::HashMap;

use async_trait::async_trait;
use whatsapp_rust::traits::{AppStateSyncKey, AppSyncStore};
use whatsapp_rust::wacore::appstate::hash::HashState;
use whatsapp_rust::wacore::appstate::processor::AppStateMutationMAC;
use whatsapp_rust::wacore::store::error::Result;

use super::{Backend, clear, delete, failed, impossible, put, to_json};

/// Stored by the id of the key, in hex; the mark is its time.
const SYNC_KEY: &str = "sync_key";
/// Its only key has the id of the sync key that was stored last.
const LATEST_SYNC_KEY: &str = "latest_sync_key";
const VERSION: &str = "collection_version";

/// Each collection has a namespace, so that it can be cleared.
fn macs(collection: &str) -> String {
    format!("mutation_mac/{collection}")
}

#[async_trait]
impl AppSyncStore for Backend {
    async fn get_sync_key(&self, key_id: &[u8]) -> Result<Option<AppStateSyncKey>> {
        self.json(SYNC_KEY, &hex::encode(key_id)).await
    }

    async fn set_sync_key(&self, key_id: &[u8], key: AppStateSyncKey) -> Result<()> {
        let stored = put(SYNC_KEY, &hex::encode(key_id), &to_json(&key)?, key.timestamp);
        self.apply(vec![stored, put(LATEST_SYNC_KEY, "", key_id, 0)]).await
    }

    async fn get_version(&self, name: &str) -> Result<HashState> {
        Ok(self.json(VERSION, name).await?.unwrap_or_default())
    }

    async fn set_version(&self, name: &str, state: HashState) -> Result<()> {
        self.put(VERSION, name, &to_json(&state)?, 0).await
    }

    async fn put_mutation_macs(
        &self,
        name: &str,
        _version: u64,
        mutations: &[AppStateMutationMAC],
    ) -> Result<()> {
        let namespace = macs(name);
        let put =
            |mac: &AppStateMutationMAC| put(&namespace, &hex::encode(&mac.index_mac), &mac.value_mac, 0);
        self.apply(mutations.iter().map(put).collect()).await
    }

    async fn get_mutation_mac(&self, name: &str, index_mac: &[u8]) -> Result<Option<Vec<u8>>> {
        self.value(&macs(name), &hex::encode(index_mac)).await
    }

    async fn get_mutation_macs(
        &self,
        name: &str,
        index_macs: &[[u8; 32]],
    ) -> Result<HashMap<[u8; 32], Vec<u8>>> {
        let keys: Vec<_> = index_macs.iter().map(hex::encode).collect();
        let keys: Vec<_> = keys.iter().map(String::as_str).collect();
        let records = self.records.read(&macs(name), &keys).await.map_err(failed)?;
        let mut found = HashMap::with_capacity(records.len());
        for record in records {
            let mut index = [0; 32];
            hex::decode_to_slice(&record.key, &mut index).map_err(|_| impossible("index of a mutation"))?;
            found.insert(index, record.value);
        }
        Ok(found)
    }

    async fn delete_mutation_macs(&self, name: &str, index_macs: &[Vec<u8>]) -> Result<()> {
        let keys: Vec<_> = index_macs.iter().map(hex::encode).collect();
        self.apply(vec![delete(&macs(name), keys.iter().map(String::as_str))]).await
    }

    async fn clear_mutation_macs(&self, name: &str) -> Result<()> {
        self.apply(vec![clear(&macs(name))]).await
    }

    async fn get_latest_sync_key_id(&self) -> Result<Option<Vec<u8>>> {
        self.value(LATEST_SYNC_KEY, "").await
    }
}
