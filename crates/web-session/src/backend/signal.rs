//! Keys of the Signal protocol: identities, sessions with devices, one-time and group keys.

use std::sync::Arc;

use async_trait::async_trait;
use whatsapp_rust::bytes::Bytes;
use whatsapp_rust::traits::SignalStore;
use whatsapp_rust::wacore::store::error::Result;

use super::{Backend, delete, failed, impossible, put};
use driver::Change;

const IDENTITY: &str = "identity";
const SESSION: &str = "session";
/// The mark is 1 when WhatsApp has the public key, and 0 before.
const PREKEY: &str = "prekey";
const SIGNED_PREKEY: &str = "signed_prekey";
const SENDER_KEY: &str = "sender_key";

#[async_trait]
impl SignalStore for Backend {
    async fn put_identity(&self, address: &str, key: [u8; 32]) -> Result<()> {
        self.put(IDENTITY, address, &key, 0).await
    }

    async fn put_identities_batch(&self, identities: &[(Arc<str>, [u8; 32])]) -> Result<()> {
        self.apply(identities.iter().map(|(address, key)| put(IDENTITY, address, key, 0)).collect()).await
    }

    async fn load_identity(&self, address: &str) -> Result<Option<[u8; 32]>> {
        let key = self.value(IDENTITY, address).await?;
        key.map(|key| key.try_into().map_err(|_| impossible("identity"))).transpose()
    }

    async fn delete_identity(&self, address: &str) -> Result<()> {
        self.delete(IDENTITY, address).await
    }

    async fn get_session(&self, address: &str) -> Result<Option<Bytes>> {
        Ok(self.value(SESSION, address).await?.map(Bytes::from))
    }

    async fn put_session(&self, address: &str, session: &[u8]) -> Result<()> {
        self.put(SESSION, address, session, 0).await
    }

    async fn put_sessions_batch(&self, sessions: &[(Arc<str>, Bytes)]) -> Result<()> {
        self.apply(sessions.iter().map(|(address, session)| put(SESSION, address, session, 0)).collect())
            .await
    }

    async fn delete_session(&self, address: &str) -> Result<()> {
        self.delete(SESSION, address).await
    }

    /// Without this method, each new number costs 200 requests.
    async fn has_signal_state_for_user(&self, user: &str) -> Result<bool> {
        for namespace in [SESSION, IDENTITY] {
            for beginning in [format!("{user}@"), format!("{user}:")] {
                if self.records.has_key(namespace, &beginning).await.map_err(failed)? {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    async fn store_prekey(&self, id: u32, record: &[u8], uploaded: bool) -> Result<()> {
        self.put(PREKEY, &id.to_string(), record, i64::from(uploaded)).await
    }

    async fn store_prekeys_batch(&self, keys: &[(u32, Bytes)], uploaded: bool) -> Result<()> {
        let mark = i64::from(uploaded);
        self.apply(keys.iter().map(|(id, record)| put(PREKEY, &id.to_string(), record, mark)).collect()).await
    }

    async fn load_prekey(&self, id: u32) -> Result<Option<Bytes>> {
        Ok(self.value(PREKEY, &id.to_string()).await?.map(Bytes::from))
    }

    async fn load_prekeys_batch(&self, ids: &[u32]) -> Result<Vec<(u32, Bytes)>> {
        let keys: Vec<_> = ids.iter().map(u32::to_string).collect();
        let keys: Vec<_> = keys.iter().map(String::as_str).collect();
        let records = self.records.read(PREKEY, &keys).await.map_err(failed)?;
        records.into_iter().map(|record| Ok((number(&record.key)?, record.value.into()))).collect()
    }

    async fn mark_prekeys_uploaded(&self, ids: &[u32]) -> Result<()> {
        let keys = ids.iter().map(u32::to_string).collect();
        self.apply(vec![Change::Mark { namespace: PREKEY.to_owned(), keys, mark: 1 }]).await
    }

    async fn remove_prekey(&self, id: u32) -> Result<()> {
        self.delete(PREKEY, &id.to_string()).await
    }

    async fn get_max_prekey_id(&self) -> Result<u32> {
        let keys = self.records.list_keys(PREKEY).await.map_err(failed)?;
        keys.iter().try_fold(0, |highest: u32, (key, _)| Ok(highest.max(number(key)?)))
    }

    async fn store_signed_prekey(&self, id: u32, record: &[u8]) -> Result<()> {
        self.put(SIGNED_PREKEY, &id.to_string(), record, 0).await
    }

    async fn load_signed_prekey(&self, id: u32) -> Result<Option<Vec<u8>>> {
        self.value(SIGNED_PREKEY, &id.to_string()).await
    }

    async fn load_all_signed_prekeys(&self) -> Result<Vec<(u32, Vec<u8>)>> {
        let records = self.list(SIGNED_PREKEY).await?;
        records.into_iter().map(|record| Ok((number(&record.key)?, record.value))).collect()
    }

    async fn remove_signed_prekey(&self, id: u32) -> Result<()> {
        self.delete(SIGNED_PREKEY, &id.to_string()).await
    }

    async fn put_sender_key(&self, address: &str, record: &[u8]) -> Result<()> {
        self.put(SENDER_KEY, address, record, 0).await
    }

    async fn put_sender_keys_batch(&self, keys: &[(Arc<str>, Bytes)]) -> Result<()> {
        self.apply(keys.iter().map(|(address, record)| put(SENDER_KEY, address, record, 0)).collect()).await
    }

    async fn get_sender_key(&self, address: &str) -> Result<Option<Vec<u8>>> {
        self.value(SENDER_KEY, address).await
    }

    async fn delete_sender_key(&self, address: &str) -> Result<()> {
        self.apply(vec![delete(SENDER_KEY, [address])]).await
    }
}

fn number(key: &str) -> Result<u32> {
    key.parse().map_err(|_| impossible("number of a prekey"))
}
