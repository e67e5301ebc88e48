//! The library's storage, implemented on [`Records`].
//!
//! The library uses some sixty methods in five traits, which all read and write values by key. An atomic
//! operation is either one batch, or a read and a write under one lock: only this session writes its records.
//!
//! The names of namespaces and the formats of values are part of the stored data, and do not change.

mod app_state;
mod device;
mod numbers;
mod protocol;
mod signal;
#[cfg(test)]
pub(super) mod tests;

use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::sync::Mutex;
use whatsapp_rust::wacore::store::error::{Result, StoreError};

pub(super) use self::numbers::Numbers;
use super::telling::Telling;
use clock::Timestamp;
use driver::{Change, Record, Records, RecordsError};

/// The separator between the parts of a key. No address contains it.
const SEPARATOR: char = '\u{1f}';

pub(super) struct Backend {
    records: Arc<dyn Records>,
    telling: Arc<Telling>,
    /// Locked from a read until the write that depends on it.
    merging: Mutex<()>,
}

impl Backend {
    pub(super) fn new(records: Arc<dyn Records>, telling: Arc<Telling>) -> Self {
        Self { records, telling, merging: Mutex::new(()) }
    }

    async fn record(&self, namespace: &str, key: &str) -> Result<Option<Record>> {
        Ok(self.records.read(namespace, &[key]).await.map_err(failed)?.pop())
    }

    async fn value(&self, namespace: &str, key: &str) -> Result<Option<Vec<u8>>> {
        Ok(self.record(namespace, key).await?.map(|record| record.value))
    }

    async fn json<T: DeserializeOwned>(&self, namespace: &str, key: &str) -> Result<Option<T>> {
        self.value(namespace, key).await?.map(|value| from_json(&value)).transpose()
    }

    async fn list(&self, namespace: &str) -> Result<Vec<Record>> {
        self.records.list(namespace).await.map_err(failed)
    }

    /// Without changes, does nothing.
    async fn apply(&self, changes: Vec<Change>) -> Result<()> {
        if changes.is_empty() {
            return Ok(());
        }
        self.records.apply(changes).await.map_err(failed)
    }

    async fn put(&self, namespace: &str, key: &str, value: &[u8], mark: i64) -> Result<()> {
        self.apply(vec![put(namespace, key, value, mark)]).await
    }

    async fn delete(&self, namespace: &str, key: &str) -> Result<()> {
        self.apply(vec![delete(namespace, [key])]).await
    }

    async fn delete_below(&self, namespace: &str, mark: i64) -> Result<u32> {
        let deleted = self.records.delete_below(namespace, mark).await.map_err(failed)?;
        Ok(u32::try_from(deleted).unwrap_or(u32::MAX))
    }
}

fn put(namespace: &str, key: &str, value: &[u8], mark: i64) -> Change {
    let record = Record { key: key.to_owned(), value: value.to_vec(), mark };
    Change::Put { namespace: namespace.to_owned(), record }
}

fn delete<'a>(namespace: &str, keys: impl IntoIterator<Item = &'a str>) -> Change {
    Change::Delete { namespace: namespace.to_owned(), keys: keys.into_iter().map(str::to_owned).collect() }
}

fn clear(namespace: &str) -> Change {
    Change::Clear { namespace: namespace.to_owned() }
}

/// One key of several parts.
fn joined(parts: &[&str]) -> String {
    parts.join(SEPARATOR.encode_utf8(&mut [0; 4]))
}

fn now() -> i64 {
    Timestamp::now().millis() / 1_000
}

fn to_json<T: Serialize>(value: &T) -> Result<Vec<u8>> {
    serde_json::to_vec(value).map_err(|error| StoreError::Serialization(Box::new(error)))
}

fn from_json<T: DeserializeOwned>(value: &[u8]) -> Result<T> {
    serde_json::from_slice(value).map_err(|error| StoreError::Serialization(Box::new(error)))
}

fn failed(error: RecordsError) -> StoreError {
    StoreError::Database(Box::new(error))
}

/// The error for a record that this program never writes.
fn impossible(what: &str) -> StoreError {
    StoreError::Validation(format!("the session's records hold an impossible {what}"))
}
