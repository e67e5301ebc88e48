//! The device itself, and the secrets of messages that other messages refer to.

use std::collections::HashMap;

use async_trait::async_trait;
use whatsapp_rust::traits::{
    DeviceStore, MsgSecretEntry, MsgSecretStore, merge_msg_secret_expiry, merge_msg_secret_message_ts,
};
use whatsapp_rust::wacore::store::Device;
use whatsapp_rust::wacore::store::error::Result;

use super::{Backend, failed, impossible, joined, put, to_json};
use driver::Record;

/// Its only key has the device.
const DEVICE: &str = "device";
/// The time of the message, followed by the secret; the mark is when it expires, 0 for never.
const MESSAGE_SECRET: &str = "message_secret";

#[async_trait]
impl DeviceStore for Backend {
    async fn save(&self, device: &Device) -> Result<()> {
        self.put(DEVICE, "", &to_json(device)?, 0).await
    }

    async fn load(&self) -> Result<Option<Device>> {
        self.json(DEVICE, "").await
    }

    async fn exists(&self) -> Result<bool> {
        self.records.has_key(DEVICE, "").await.map_err(failed)
    }

    /// A device that was never saved needs no storage: the library creates a new one when there is none.
    async fn create(&self) -> Result<i32> {
        Ok(1)
    }
}

#[async_trait]
impl MsgSecretStore for Backend {
    async fn put_msg_secrets(&self, entries: Vec<MsgSecretEntry>) -> Result<usize> {
        let keys: Vec<_> =
            entries.iter().map(|entry| joined(&[&entry.chat, &entry.sender, &entry.msg_id])).collect();
        let wanted: Vec<_> = keys.iter().map(String::as_str).collect();
        let _merging = self.merging.lock().await;
        let mut known = HashMap::new();
        for record in self.records.read(MESSAGE_SECRET, &wanted).await.map_err(failed)? {
            let (at, _) = parts(&record)?;
            known.insert(record.key, (record.mark, at));
        }
        let mut changes = Vec::with_capacity(entries.len());
        for (key, entry) in keys.into_iter().zip(&entries) {
            let (expires_at, at) = match known.get(&key) {
                Some((expires_at, at)) => (
                    merge_msg_secret_expiry(*expires_at, entry.expires_at),
                    merge_msg_secret_message_ts(*at, entry.message_ts),
                ),
                None => (entry.expires_at, entry.message_ts),
            };
            let value = [at.to_be_bytes().as_slice(), &entry.secret].concat();
            changes.push(put(MESSAGE_SECRET, &key, &value, expires_at));
            // One batch may name a message twice.
            known.insert(key, (expires_at, at));
        }
        self.apply(changes).await?;
        Ok(entries.len())
    }

    async fn get_msg_secret(&self, chat: &str, sender: &str, msg_id: &str) -> Result<Option<Vec<u8>>> {
        Ok(self.get_msg_secret_with_ts(chat, sender, msg_id).await?.map(|(secret, _)| secret))
    }

    async fn get_msg_secret_with_ts(
        &self,
        chat: &str,
        sender: &str,
        msg_id: &str,
    ) -> Result<Option<(Vec<u8>, i64)>> {
        let record = self.record(MESSAGE_SECRET, &joined(&[chat, sender, msg_id])).await?;
        record.map(|record| parts(&record).map(|(at, secret)| (secret.to_vec(), at))).transpose()
    }

    async fn delete_expired_msg_secrets(&self, cutoff_timestamp: i64) -> Result<u32> {
        // Secrets that expire in this second are deleted, too.
        self.delete_below(MESSAGE_SECRET, cutoff_timestamp.saturating_add(1)).await
    }
}

/// When the message was sent, and its secret.
fn parts(record: &Record) -> Result<(i64, &[u8])> {
    let (at, secret) = record.value.split_first_chunk().ok_or_else(|| impossible("secret of a message"))?;
    Ok((i64::from_be_bytes(*at), secret))
}
