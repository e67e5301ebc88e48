//! The devices and hidden addresses of people, the devices that hold a group's key, and messages that may
//! have to be sent again.

use std::collections::BTreeMap;

use async_trait::async_trait;
use whatsapp_rust::traits::{
    DeviceListRecord, LidPnMappingEntry, PendingInboundKey, PendingInboundRow, ProtocolStore, TcTokenEntry,
};
use whatsapp_rust::wacore::store::error::Result;

use super::{Backend, clear, delete, failed, from_json, joined, now, put, to_json};
use domain::phone::PhoneNumber;
use driver::{Event, Jid};

/// A record for each group: the devices that hold its key.
const GROUP_KEY_HOLDERS: &str = "group_key_holders";
pub(super) const LID: &str = "lid";
/// The hidden address of a number.
const LID_OF_NUMBER: &str = "lid_of_number";
/// The mark is when it was written.
const BASE_KEY: &str = "base_key";
const DEVICES: &str = "devices";
const GROUP: &str = "group";
const TRUST_TOKEN: &str = "trust_token";
/// The mark is when it was written.
const SENT: &str = "sent_message";
/// The mark is when it was written.
const PENDING: &str = "pending_inbound";

/// Which devices hold a group's key, and whether it is the present one.
type Holders = BTreeMap<String, bool>;

impl Backend {
    async fn holders(&self, group: &str) -> Result<Holders> {
        Ok(self.json(GROUP_KEY_HOLDERS, group).await?.unwrap_or_default())
    }

    async fn token(&self, jid: &str) -> Result<Option<TcTokenEntry>> {
        self.json(TRUST_TOKEN, jid).await
    }

    async fn put_token(&self, jid: &str, entry: &TcTokenEntry) -> Result<()> {
        self.put(TRUST_TOKEN, jid, &to_json(entry)?, 0).await
    }

    fn tell(&self, entries: &[LidPnMappingEntry]) {
        for entry in entries {
            let number = PhoneNumber::parse(&entry.phone_number);
            if let (Ok(number), Ok(lid)) = (number, Jid::parse(&format!("{}@lid", entry.lid))) {
                self.telling.tell(Event::LidLearned { number, lid });
            }
        }
    }
}

#[async_trait]
impl ProtocolStore for Backend {
    async fn get_sender_key_devices(&self, group_jid: &str) -> Result<Vec<(String, bool)>> {
        Ok(self.holders(group_jid).await?.into_iter().collect())
    }

    async fn set_sender_key_status(&self, group_jid: &str, entries: &[(&str, bool)]) -> Result<()> {
        let _merging = self.merging.lock().await;
        let mut holders = self.holders(group_jid).await?;
        holders.extend(entries.iter().map(|(device, has_key)| ((*device).to_owned(), *has_key)));
        self.put(GROUP_KEY_HOLDERS, group_jid, &to_json(&holders)?, 0).await
    }

    async fn clear_sender_key_devices(&self, group_jid: &str) -> Result<()> {
        let _merging = self.merging.lock().await;
        self.delete(GROUP_KEY_HOLDERS, group_jid).await
    }

    async fn delete_sender_key_device_rows(&self, device_jids: &[&str]) -> Result<()> {
        let _merging = self.merging.lock().await;
        let mut changes = Vec::new();
        for group in self.list(GROUP_KEY_HOLDERS).await? {
            let mut holders: Holders = from_json(&group.value)?;
            let before = holders.len();
            holders.retain(|device, _| !device_jids.contains(&device.as_str()));
            if holders.len() < before {
                changes.push(put(GROUP_KEY_HOLDERS, &group.key, &to_json(&holders)?, 0));
            }
        }
        self.apply(changes).await
    }

    async fn clear_all_sender_key_devices(&self) -> Result<()> {
        let _merging = self.merging.lock().await;
        self.apply(vec![clear(GROUP_KEY_HOLDERS)]).await
    }

    async fn get_lid_mapping(&self, lid: &str) -> Result<Option<LidPnMappingEntry>> {
        self.json(LID, lid).await
    }

    async fn get_pn_mapping(&self, phone: &str) -> Result<Option<LidPnMappingEntry>> {
        let Some(lid) = self.json::<String>(LID_OF_NUMBER, phone).await? else { return Ok(None) };
        self.get_lid_mapping(&lid).await
    }

    async fn put_lid_mapping(&self, entry: &LidPnMappingEntry) -> Result<()> {
        self.put_lid_mappings(std::slice::from_ref(entry)).await
    }

    async fn put_lid_mappings(&self, entries: &[LidPnMappingEntry]) -> Result<()> {
        let lids: Vec<_> = entries.iter().map(|entry| entry.lid.as_str()).collect();
        let merging = self.merging.lock().await;
        let mut changes = Vec::with_capacity(2 * entries.len());
        // A number that no longer belongs to an address must not lead to it.
        for known in self.records.read(LID, &lids).await.map_err(failed)? {
            let known: LidPnMappingEntry = from_json(&known.value)?;
            changes.push(delete(LID_OF_NUMBER, [known.phone_number.as_str()]));
        }
        for entry in entries {
            changes.push(put(LID, &entry.lid, &to_json(entry)?, 0));
            changes.push(put(LID_OF_NUMBER, &entry.phone_number, &to_json(&entry.lid)?, 0));
        }
        self.apply(changes).await?;
        drop(merging);
        self.tell(entries);
        Ok(())
    }

    async fn get_all_lid_mappings(&self) -> Result<Vec<LidPnMappingEntry>> {
        self.list(LID).await?.iter().map(|record| from_json(&record.value)).collect()
    }

    async fn save_base_key(&self, address: &str, message_id: &str, base_key: &[u8]) -> Result<()> {
        self.put(BASE_KEY, &joined(&[address, message_id]), base_key, now()).await
    }

    async fn has_same_base_key(
        &self,
        address: &str,
        message_id: &str,
        current_base_key: &[u8],
    ) -> Result<bool> {
        let saved = self.value(BASE_KEY, &joined(&[address, message_id])).await?;
        Ok(saved.is_some_and(|saved| saved == current_base_key))
    }

    async fn delete_base_key(&self, address: &str, message_id: &str) -> Result<()> {
        self.delete(BASE_KEY, &joined(&[address, message_id])).await
    }

    async fn update_device_list(&self, record: DeviceListRecord) -> Result<()> {
        self.update_device_lists(vec![record]).await
    }

    async fn update_device_lists(&self, records: Vec<DeviceListRecord>) -> Result<()> {
        let put = |record: &DeviceListRecord| Ok(put(DEVICES, &record.user, &to_json(record)?, 0));
        self.apply(records.iter().map(put).collect::<Result<_>>()?).await
    }

    async fn get_devices(&self, user: &str) -> Result<Option<DeviceListRecord>> {
        self.json(DEVICES, user).await
    }

    async fn delete_devices(&self, user: &str) -> Result<()> {
        self.delete(DEVICES, user).await
    }

    async fn get_group_metadata(&self, group_jid: &str) -> Result<Option<Vec<u8>>> {
        self.value(GROUP, group_jid).await
    }

    async fn put_group_metadata(&self, group_jid: &str, blob: &[u8]) -> Result<()> {
        self.put(GROUP, group_jid, blob, 0).await
    }

    async fn delete_group_metadata(&self, group_jid: &str) -> Result<()> {
        self.delete(GROUP, group_jid).await
    }

    async fn get_tc_token(&self, jid: &str) -> Result<Option<TcTokenEntry>> {
        self.token(jid).await
    }

    async fn put_tc_token(&self, jid: &str, entry: &TcTokenEntry) -> Result<()> {
        let _merging = self.merging.lock().await;
        self.put_token(jid, entry).await
    }

    async fn delete_tc_token(&self, jid: &str) -> Result<()> {
        let _merging = self.merging.lock().await;
        self.delete(TRUST_TOKEN, jid).await
    }

    async fn get_all_tc_token_jids(&self) -> Result<Vec<String>> {
        let keys = self.records.list_keys(TRUST_TOKEN).await.map_err(failed)?;
        Ok(keys.into_iter().map(|(jid, _)| jid).collect())
    }

    async fn delete_expired_tc_tokens(&self, token_cutoff: i64, sender_cutoff: i64) -> Result<u32> {
        let _merging = self.merging.lock().await;
        let mut expired = Vec::new();
        for record in self.list(TRUST_TOKEN).await? {
            let entry: TcTokenEntry = from_json(&record.value)?;
            let is_token_live = !entry.token.is_empty() && entry.token_timestamp >= token_cutoff;
            let is_sender_live = entry.sender_timestamp.is_some_and(|at| at >= sender_cutoff);
            if !is_token_live && !is_sender_live {
                expired.push(record.key);
            }
        }
        let count = u32::try_from(expired.len()).unwrap_or(u32::MAX);
        if count > 0 {
            self.apply(vec![delete(TRUST_TOKEN, expired.iter().map(String::as_str))]).await?;
        }
        Ok(count)
    }

    async fn touch_tc_token_sender_timestamp(&self, jid: &str, sender_timestamp: i64) -> Result<()> {
        let _merging = self.merging.lock().await;
        let mut entry = self.token(jid).await?.unwrap_or_else(|| TcTokenEntry {
            token: Vec::new(),
            token_timestamp: sender_timestamp,
            sender_timestamp: None,
        });
        entry.sender_timestamp = entry.sender_timestamp.max(Some(sender_timestamp));
        self.put_token(jid, &entry).await
    }

    async fn store_received_tc_token(&self, jid: &str, token: &[u8], token_timestamp: i64) -> Result<()> {
        let _merging = self.merging.lock().await;
        let known = self.token(jid).await?;
        let is_newer_known = known
            .as_ref()
            .is_some_and(|known| !known.token.is_empty() && token_timestamp < known.token_timestamp);
        if is_newer_known {
            return Ok(());
        }
        let sender_timestamp = known.and_then(|known| known.sender_timestamp);
        self.put_token(jid, &TcTokenEntry { token: token.to_vec(), token_timestamp, sender_timestamp }).await
    }

    async fn store_sent_message(&self, chat_jid: &str, message_id: &str, payload: &[u8]) -> Result<()> {
        self.put(SENT, &joined(&[chat_jid, message_id]), payload, now()).await
    }

    async fn take_sent_message(&self, chat_jid: &str, message_id: &str) -> Result<Option<Vec<u8>>> {
        let taken = self.records.take(SENT, &joined(&[chat_jid, message_id])).await.map_err(failed)?;
        Ok(taken.map(|record| record.value))
    }

    /// Also deletes base keys, which the library does not delete for messages that are never requested again.
    async fn delete_expired_sent_messages(&self, cutoff_timestamp: i64) -> Result<u32> {
        self.delete_below(BASE_KEY, cutoff_timestamp).await?;
        self.delete_below(SENT, cutoff_timestamp).await
    }

    async fn store_pending_inbound(&self, chat: &str, sender: &str, id: &str, message: &[u8]) -> Result<()> {
        self.put(PENDING, &joined(&[chat, sender, id]), message, now()).await
    }

    async fn get_pending_inbound(&self, chat: &str, sender: &str, id: &str) -> Result<Option<Vec<u8>>> {
        self.value(PENDING, &joined(&[chat, sender, id])).await
    }

    async fn delete_pending_inbound(&self, chat: &str, sender: &str, id: &str) -> Result<()> {
        self.delete(PENDING, &joined(&[chat, sender, id])).await
    }

    async fn delete_expired_pending_inbound(&self, cutoff_timestamp: i64) -> Result<u32> {
        self.delete_below(PENDING, cutoff_timestamp).await
    }

    async fn store_pending_inbound_batch(&self, rows: &[PendingInboundRow<'_>]) -> Result<()> {
        let now = now();
        let put = |row: &PendingInboundRow<'_>| {
            put(PENDING, &joined(&[row.chat, row.sender, row.id]), row.message, now)
        };
        self.apply(rows.iter().map(put).collect()).await
    }

    async fn delete_pending_inbound_batch(&self, keys: &[PendingInboundKey<'_>]) -> Result<()> {
        let keys: Vec<_> = keys.iter().map(|key| joined(&[key.chat, key.sender, key.id])).collect();
        self.apply(vec![delete(PENDING, keys.iter().map(String::as_str))]).await
    }
}
