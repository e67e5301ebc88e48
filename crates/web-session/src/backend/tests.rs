//! The requirements of the library's documentation for a store, on records in memory.

use std::collections::BTreeMap;
use std::result::Result;

use async_trait::async_trait;
use whatsapp_rust::bytes::Bytes;
use whatsapp_rust::traits::{
    AppStateSyncKey, AppSyncStore, DeviceStore, LidPnMappingEntry, MsgSecretEntry, MsgSecretStore,
    ProtocolStore, SignalStore, TcTokenEntry,
};
use whatsapp_rust::wacore::store::Device;

use super::*;
use crate::telling::Untold;
use domain::phone::PhoneNumber;
use driver::{CONVERSATIONS, Event, Jid};

/// By namespace and key.
type Kept = BTreeMap<(String, String), (Vec<u8>, i64)>;

#[derive(Default)]
pub(in super::super) struct Memory(parking_lot::Mutex<Kept>);

impl Memory {
    fn with<T>(&self, work: impl FnOnce(&mut Kept) -> T) -> T {
        work(&mut self.0.lock())
    }
}

#[async_trait]
impl Records for Memory {
    async fn read(&self, namespace: &str, keys: &[&str]) -> Result<Vec<Record>, RecordsError> {
        let records = self.list(namespace).await?;
        Ok(records.into_iter().filter(|record| keys.contains(&record.key.as_str())).collect())
    }

    async fn list(&self, namespace: &str) -> Result<Vec<Record>, RecordsError> {
        Ok(self.with(|kept| {
            let own = kept.iter().filter(|((in_namespace, _), _)| in_namespace == namespace);
            let record = |((_, key), (value, mark)): (&(String, String), &(Vec<u8>, i64))| Record {
                key: key.clone(),
                value: value.clone(),
                mark: *mark,
            };
            own.map(record).collect()
        }))
    }

    async fn list_keys(&self, namespace: &str) -> Result<Vec<(String, i64)>, RecordsError> {
        Ok(self.list(namespace).await?.into_iter().map(|record| (record.key, record.mark)).collect())
    }

    async fn has_key(&self, namespace: &str, beginning: &str) -> Result<bool, RecordsError> {
        Ok(self.list(namespace).await?.iter().any(|record| record.key.starts_with(beginning)))
    }

    async fn apply(&self, changes: Vec<Change>) -> Result<(), RecordsError> {
        self.with(|kept| {
            for change in changes {
                match change {
                    Change::Put { namespace, record } => {
                        kept.insert((namespace, record.key), (record.value, record.mark));
                    }
                    Change::Mark { namespace, keys, mark } => {
                        for key in keys {
                            if let Some((_, kept)) = kept.get_mut(&(namespace.clone(), key)) {
                                *kept = mark;
                            }
                        }
                    }
                    Change::Delete { namespace, keys } => {
                        for key in keys {
                            kept.remove(&(namespace.clone(), key));
                        }
                    }
                    Change::Clear { namespace } => {
                        kept.retain(|(in_namespace, _), _| *in_namespace != namespace);
                    }
                }
            }
        });
        Ok(())
    }

    async fn take(&self, namespace: &str, key: &str) -> Result<Option<Record>, RecordsError> {
        let place = (namespace.to_owned(), key.to_owned());
        let taken = self.with(|kept| kept.remove(&place));
        Ok(taken.map(|(value, mark)| Record { key: place.1, value, mark }))
    }

    async fn delete_below(&self, namespace: &str, mark: i64) -> Result<u64, RecordsError> {
        Ok(self.with(|kept| {
            let before = kept.len();
            kept.retain(|(in_namespace, _), (_, kept)| {
                in_namespace != namespace || *kept <= 0 || *kept >= mark
            });
            (before - kept.len()) as u64
        }))
    }

    async fn wipe(&self) -> Result<(), RecordsError> {
        self.with(BTreeMap::clear);
        Ok(())
    }
}

fn backend() -> (Backend, tokio::sync::mpsc::UnboundedReceiver<Untold>) {
    let (telling, told) = Telling::new();
    (Backend::new(Arc::new(Memory::default()), Arc::new(telling)), told)
}

fn mapping(lid: &str, phone_number: &str) -> LidPnMappingEntry {
    LidPnMappingEntry {
        lid: lid.to_owned(),
        phone_number: phone_number.to_owned(),
        created_at: 1,
        updated_at: 2,
        learning_source: "usync".to_owned(),
    }
}

#[tokio::test]
async fn keys_that_advance_with_each_message_are_in_the_namespaces_that_a_restore_leaves_out() {
    let memory = Arc::new(Memory::default());
    let (telling, _told) = Telling::new();
    let backend = Backend::new(Arc::clone(&memory) as Arc<dyn Records>, Arc::new(telling));
    backend.put_session("5511@s.whatsapp.net:0", b"ratchet").await.unwrap();
    backend.put_sender_key("group:5511@s.whatsapp.net:0", b"chain").await.unwrap();
    backend.set_sender_key_status("group", &[("5511:1@s.whatsapp.net", true)]).await.unwrap();
    backend.save_base_key("5511@s.whatsapp.net:0", "3EB0", b"base").await.unwrap();
    let moving: Vec<_> = memory.with(|kept| kept.keys().map(|(namespace, _)| namespace.clone()).collect());
    let mut expected = CONVERSATIONS.to_vec();
    expected.sort_unstable();
    assert_eq!(moving, expected);
    // The device itself stays the same, so the phone need not be linked again.
    backend.put_identity("5511@s.whatsapp.net:0", [7; 32]).await.unwrap();
    assert!(memory.with(|kept| kept.keys().any(|(namespace, _)| !CONVERSATIONS.contains(&&**namespace))));
}

#[tokio::test]
async fn a_device_comes_back_as_it_was_saved() {
    let (backend, _told) = backend();
    assert!(!backend.exists().await.unwrap());
    assert!(backend.load().await.unwrap().is_none());
    let mut device = Device::new();
    device.push_name = "Shop".to_owned();
    backend.save(&device).await.unwrap();
    assert!(backend.exists().await.unwrap());
    let loaded = backend.load().await.unwrap().unwrap();
    assert_eq!(loaded.push_name, "Shop");
    assert_eq!(loaded.registration_id, device.registration_id);
    assert_eq!(loaded.adv_secret_key, device.adv_secret_key);
    assert_eq!(loaded.signed_pre_key_signature, device.signed_pre_key_signature);
}

#[tokio::test]
async fn a_prekey_that_is_gone_is_not_brought_back_by_a_mark() {
    let (backend, _told) = backend();
    let keys: Vec<_> = (1..=3).map(|id| (id, Bytes::from(vec![7; 4]))).collect();
    backend.store_prekeys_batch(&keys, false).await.unwrap();
    assert_eq!(backend.get_max_prekey_id().await.unwrap(), 3);
    backend.remove_prekey(3).await.unwrap();
    backend.mark_prekeys_uploaded(&[1, 2, 3]).await.unwrap();
    assert_eq!(backend.load_prekeys_batch(&[1, 2, 3, 4]).await.unwrap().len(), 2);
    assert_eq!(backend.load_prekey(3).await.unwrap(), None);
    assert_eq!(backend.get_max_prekey_id().await.unwrap(), 2);
}

#[tokio::test]
async fn signal_state_is_found_by_user_and_not_by_a_longer_number() {
    let (backend, _told) = backend();
    backend.put_session("55119@s.whatsapp.net", b"session").await.unwrap();
    backend.put_identity("5512:3@lid", [1; 32]).await.unwrap();
    for (user, is_known) in [("55119", true), ("5511", false), ("5512", true), ("551", false)] {
        assert_eq!(backend.has_signal_state_for_user(user).await.unwrap(), is_known, "{user}");
    }
    assert_eq!(backend.load_identity("5512:3@lid").await.unwrap(), Some([1; 32]));
}

#[tokio::test]
async fn a_number_leads_to_the_address_that_it_has_now() {
    let (backend, mut told) = backend();
    backend.put_lid_mappings(&[mapping("100", "5511900000001")]).await.unwrap();
    backend.put_lid_mapping(&mapping("100", "5511900000002")).await.unwrap();
    assert!(backend.get_pn_mapping("5511900000001").await.unwrap().is_none());
    assert_eq!(backend.get_pn_mapping("5511900000002").await.unwrap().unwrap().lid, "100");
    assert_eq!(backend.get_all_lid_mappings().await.unwrap().len(), 1);
    let Some(Untold::Event(Event::LidLearned { number, lid })) = told.recv().await else {
        panic!("nothing was told")
    };
    assert_eq!((number.as_u64(), lid.as_str()), (5_511_900_000_001, "100@lid"));
    let numbers = Numbers::new(Arc::clone(&backend.records));
    let behind = async |lid| numbers.behind(&Jid::parse(lid).unwrap()).await;
    assert_eq!(behind("100@lid").await, PhoneNumber::parse("5511900000002").ok());
    assert_eq!(behind("101@lid").await, None);
}

#[tokio::test]
async fn the_key_that_was_stored_last_is_the_latest_whatever_its_time() {
    let (backend, _told) = backend();
    for (id, timestamp) in [([1], 9), ([2], 3)] {
        let key = AppStateSyncKey { key_data: vec![1], fingerprint: vec![], timestamp };
        backend.set_sync_key(&id, key).await.unwrap();
    }
    assert_eq!(backend.get_latest_sync_key_id().await.unwrap(), Some(vec![2]));
    assert_eq!(backend.get_sync_key(&[1]).await.unwrap().unwrap().timestamp, 9);
    assert_eq!(backend.get_version("regular").await.unwrap().version, 0);
}

#[tokio::test]
async fn devices_that_left_hold_the_key_of_no_group() {
    let (backend, _told) = backend();
    for group in ["1@g.us", "2@g.us"] {
        backend.set_sender_key_status(group, &[("a:1@lid", true), ("b:1@lid", true)]).await.unwrap();
    }
    backend.set_sender_key_status("2@g.us", &[("b:1@lid", false)]).await.unwrap();
    backend.delete_sender_key_device_rows(&["a:1@lid"]).await.unwrap();
    let holders = async |group| backend.get_sender_key_devices(group).await.unwrap();
    assert_eq!(holders("1@g.us").await, [("b:1@lid".to_owned(), true)]);
    assert_eq!(holders("2@g.us").await, [("b:1@lid".to_owned(), false)]);
    backend.clear_sender_key_devices("1@g.us").await.unwrap();
    assert!(holders("1@g.us").await.is_empty());
    backend.clear_all_sender_key_devices().await.unwrap();
    assert!(holders("2@g.us").await.is_empty());
}

#[tokio::test]
async fn a_trust_token_is_never_replaced_by_an_older_one_nor_loses_its_other_half() {
    let (backend, _told) = backend();
    backend.touch_tc_token_sender_timestamp("a", 10).await.unwrap();
    backend.store_received_tc_token("a", &[1], 5).await.unwrap();
    backend.store_received_tc_token("a", &[2], 4).await.unwrap();
    backend.touch_tc_token_sender_timestamp("a", 8).await.unwrap();
    let entry = backend.get_tc_token("a").await.unwrap().unwrap();
    assert_eq!((entry.token, entry.token_timestamp, entry.sender_timestamp), (vec![1], 5, Some(10)));

    let old = TcTokenEntry { token: vec![3], token_timestamp: 1, sender_timestamp: None };
    backend.put_tc_token("b", &old).await.unwrap();
    assert_eq!(backend.delete_expired_tc_tokens(5, 11).await.unwrap(), 1);
    assert_eq!(backend.get_all_tc_token_jids().await.unwrap(), ["a"]);
    assert_eq!(backend.delete_expired_tc_tokens(6, 11).await.unwrap(), 1);
}

#[tokio::test]
async fn a_sent_message_is_given_back_once() {
    let (backend, _told) = backend();
    backend.store_sent_message("chat", "id", b"payload").await.unwrap();
    assert_eq!(backend.take_sent_message("chat", "id").await.unwrap(), Some(b"payload".to_vec()));
    assert_eq!(backend.take_sent_message("chat", "id").await.unwrap(), None);
    backend.store_sent_message("chat", "old", b"payload").await.unwrap();
    backend.save_base_key("address", "old", b"key").await.unwrap();
    assert!(backend.has_same_base_key("address", "old", b"key").await.unwrap());
    assert_eq!(backend.delete_expired_sent_messages(now() + 60).await.unwrap(), 1);
    assert!(!backend.has_same_base_key("address", "old", b"key").await.unwrap());
}

#[tokio::test]
async fn a_message_s_secret_keeps_its_longest_life_and_latest_time() {
    let (backend, _told) = backend();
    let entry = |expires_at, message_ts| MsgSecretEntry {
        chat: "c".into(),
        sender: "s".into(),
        msg_id: "m".into(),
        secret: [7; 32],
        expires_at,
        message_ts,
    };
    backend.put_msg_secrets(vec![entry(50, 3), entry(20, 0)]).await.unwrap();
    backend.put_msg_secrets(vec![entry(40, 2)]).await.unwrap();
    let kept = backend.get_msg_secret_with_ts("c", "s", "m").await.unwrap();
    assert_eq!(kept, Some((vec![7; 32], 3)));
    assert_eq!(backend.delete_expired_msg_secrets(49).await.unwrap(), 0);
    assert_eq!(backend.delete_expired_msg_secrets(50).await.unwrap(), 1);
    backend.put_msg_secrets(vec![entry(50, 3), entry(0, 3)]).await.unwrap();
    assert_eq!(backend.delete_expired_msg_secrets(i64::MAX).await.unwrap(), 0, "it never expires");
}

#[tokio::test]
async fn a_message_that_waits_is_kept_until_it_is_deleted() {
    let (backend, _told) = backend();
    backend.store_pending_inbound("c", "s", "1", b"one").await.unwrap();
    assert_eq!(backend.get_pending_inbound("c", "s", "1").await.unwrap(), Some(b"one".to_vec()));
    backend.delete_pending_inbound("c", "s", "1").await.unwrap();
    assert_eq!(backend.get_pending_inbound("c", "s", "1").await.unwrap(), None);
}
