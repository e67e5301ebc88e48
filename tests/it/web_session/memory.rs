//! Records of a session in memory, which end with the test.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard};

use async_trait::async_trait;
use pombo::connector::web_session::{Change, Record, Records, RecordsError};

/// Namespace and key.
type Place = (String, String);

#[derive(Default)]
pub(super) struct Memory {
    records: Mutex<BTreeMap<Place, (Vec<u8>, i64)>>,
    changes: AtomicU64,
}

impl Memory {
    fn records(&self) -> MutexGuard<'_, BTreeMap<Place, (Vec<u8>, i64)>> {
        self.records.lock().unwrap()
    }

    /// The present records, as a process after a crash would find them.
    pub(super) fn copy(&self) -> Self {
        Self { records: Mutex::new(self.records().clone()), changes: AtomicU64::new(0) }
    }

    /// The number of writes.
    pub(super) fn changes(&self) -> u64 {
        self.changes.load(Ordering::Relaxed)
    }

    /// Whether there are no records.
    pub(super) fn is_empty(&self) -> bool {
        self.records().is_empty()
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
        let records = self.records();
        let found = records.iter().filter(|((place, _), _)| place == namespace);
        let found = found.map(|((_, key), (value, mark))| {
            let (key, value) = (key.clone(), value.clone());
            Record { key, value, mark: *mark }
        });
        Ok(found.collect())
    }

    async fn list_keys(&self, namespace: &str) -> Result<Vec<(String, i64)>, RecordsError> {
        Ok(self.list(namespace).await?.into_iter().map(|record| (record.key, record.mark)).collect())
    }

    async fn has_key(&self, namespace: &str, beginning: &str) -> Result<bool, RecordsError> {
        Ok(self.records().keys().any(|(place, key)| place == namespace && key.starts_with(beginning)))
    }

    async fn apply(&self, changes: Vec<Change>) -> Result<(), RecordsError> {
        let mut records = self.records();
        self.changes.fetch_add(1, Ordering::Relaxed);
        for change in changes {
            match change {
                Change::Put { namespace, record } => {
                    records.insert((namespace, record.key), (record.value, record.mark));
                }
                Change::Mark { namespace, keys, mark } => {
                    for key in keys {
                        if let Some(record) = records.get_mut(&(namespace.clone(), key)) {
                            record.1 = mark;
                        }
                    }
                }
                Change::Delete { namespace, keys } => {
                    for key in keys {
                        records.remove(&(namespace.clone(), key));
                    }
                }
                Change::Clear { namespace } => records.retain(|(place, _), _| *place != namespace),
            }
        }
        Ok(())
    }

    async fn take(&self, namespace: &str, key: &str) -> Result<Option<Record>, RecordsError> {
        let taken = self.records().remove(&(namespace.to_owned(), key.to_owned()));
        Ok(taken.map(|(value, mark)| Record { key: key.to_owned(), value, mark }))
    }

    async fn delete_below(&self, namespace: &str, mark: i64) -> Result<u64, RecordsError> {
        let mut records = self.records();
        let before = records.len();
        records.retain(|(place, _), (_, own)| place != namespace || *own <= 0 || *own >= mark);
        Ok(u64::try_from(before - records.len()).unwrap())
    }

    async fn wipe(&self) -> Result<(), RecordsError> {
        self.records().clear();
        Ok(())
    }
}
