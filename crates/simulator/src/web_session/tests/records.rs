//! Records in memory.

use std::collections::BTreeMap;
use std::io;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;

use driver::{Change, Record, Records, RecordsError};

#[derive(Default)]
pub(super) struct Memory {
    records: Mutex<BTreeMap<(String, String), Record>>,
    /// Makes all writes fail.
    pub(super) is_full: AtomicBool,
}

impl Memory {
    /// Replaces the value of each record with an invalid one.
    pub(super) fn garble(&self) {
        self.records.lock().unwrap().values_mut().for_each(|record| record.value = b"none".to_vec());
    }

    pub(super) fn is_empty(&self) -> bool {
        self.records.lock().unwrap().is_empty()
    }
}

#[async_trait]
impl Records for Memory {
    async fn read(&self, namespace: &str, keys: &[&str]) -> Result<Vec<Record>, RecordsError> {
        let mut found = self.list(namespace).await?;
        found.retain(|record| keys.contains(&record.key.as_str()));
        Ok(found)
    }

    async fn list(&self, namespace: &str) -> Result<Vec<Record>, RecordsError> {
        let records = self.records.lock().unwrap();
        let own = records.iter().filter(|((of, _), _)| of == namespace);
        Ok(own.map(|(_, record)| record.clone()).collect())
    }

    async fn list_keys(&self, namespace: &str) -> Result<Vec<(String, i64)>, RecordsError> {
        Ok(self.list(namespace).await?.into_iter().map(|record| (record.key, record.mark)).collect())
    }

    async fn has_key(&self, namespace: &str, beginning: &str) -> Result<bool, RecordsError> {
        Ok(self.list(namespace).await?.iter().any(|record| record.key.starts_with(beginning)))
    }

    async fn apply(&self, changes: Vec<Change>) -> Result<(), RecordsError> {
        if self.is_full.load(Ordering::Relaxed) {
            return Err(RecordsError::Unavailable(io::Error::other("the disk is full").into()));
        }
        for change in changes {
            let Change::Put { namespace, record } = change else { panic!("the device only writes") };
            self.records.lock().unwrap().insert((namespace, record.key.clone()), record);
        }
        Ok(())
    }

    async fn take(&self, namespace: &str, key: &str) -> Result<Option<Record>, RecordsError> {
        Ok(self.records.lock().unwrap().remove(&(namespace.to_owned(), key.to_owned())))
    }

    async fn delete_below(&self, _: &str, _: i64) -> Result<u64, RecordsError> {
        Ok(0)
    }

    async fn wipe(&self) -> Result<(), RecordsError> {
        self.records.lock().unwrap().clear();
        Ok(())
    }
}
