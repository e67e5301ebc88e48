//! The records of a web session, above all its keys: in the store, each value sealed to its channel, namespace and key.

use std::sync::Arc;

use async_trait::async_trait;
use tokio::sync::{RwLock, RwLockReadGuard};
use uuid::Uuid;

use domain::web_session::{Change, Record};
use driver::{Records, RecordsError};
use store::Store;
use vault::{Vault, context};

/// From this many values on, sealing and opening move off the threads that must not be blocked: some hundred take a few
/// milliseconds.
const MANY: usize = 64;

/// The records of one channel's session. Only marks and keys are stored in the clear.
pub struct SessionRecords {
    store: Store,
    vault: Arc<Vault>,
    channel: Uuid,
    /// Whether writes are refused. Each writer holds the lock for reading.
    is_closed: RwLock<bool>,
}

impl SessionRecords {
    /// The records of this channel.
    pub fn new(store: Store, vault: Arc<Vault>, channel: Uuid) -> Self {
        Self { store, vault, channel, is_closed: RwLock::new(false) }
    }

    /// Refuses further writes, and waits for those under way.
    pub(super) async fn close(&self) {
        *self.is_closed.write().await = true;
    }

    /// Permission to write while it is held.
    async fn permit(&self) -> Result<RwLockReadGuard<'_, bool>, RecordsError> {
        let is_closed = self.is_closed.read().await;
        if *is_closed {
            return Err(RecordsError::Unavailable("the session is over".into()));
        }
        Ok(is_closed)
    }

    async fn open_all(&self, namespace: &str, rows: Vec<Record>) -> Result<Vec<Record>, RecordsError> {
        if rows.len() < MANY {
            return open(&self.vault, self.channel, namespace, rows);
        }
        let (vault, channel, namespace) = (Arc::clone(&self.vault), self.channel, namespace.to_owned());
        let opened = tokio::task::spawn_blocking(move || open(&vault, channel, &namespace, rows));
        opened.await.map_err(|error| RecordsError::Unavailable(error.into()))?
    }
}

#[async_trait]
impl Records for SessionRecords {
    async fn read(&self, namespace: &str, keys: &[&str]) -> Result<Vec<Record>, RecordsError> {
        let rows =
            self.store.web_sessions().rows(self.channel, namespace, keys).await.map_err(unavailable)?;
        self.open_all(namespace, rows).await
    }

    async fn list(&self, namespace: &str) -> Result<Vec<Record>, RecordsError> {
        let rows = self.store.web_sessions().namespace(self.channel, namespace).await.map_err(unavailable)?;
        self.open_all(namespace, rows).await
    }

    async fn list_keys(&self, namespace: &str) -> Result<Vec<(String, i64)>, RecordsError> {
        self.store.web_sessions().namespace_keys(self.channel, namespace).await.map_err(unavailable)
    }

    async fn has_key(&self, namespace: &str, beginning: &str) -> Result<bool, RecordsError> {
        self.store.web_sessions().has_key(self.channel, namespace, beginning).await.map_err(unavailable)
    }

    async fn apply(&self, changes: Vec<Change>) -> Result<(), RecordsError> {
        let _permit = self.permit().await?;
        let _hold = self.vault.hold();
        let changes = if changes.len() < MANY {
            seal(&self.vault, self.channel, changes)
        } else {
            let (vault, channel) = (Arc::clone(&self.vault), self.channel);
            let sealed = tokio::task::spawn_blocking(move || seal(&vault, channel, changes));
            sealed.await.map_err(|error| RecordsError::Unavailable(error.into()))?
        };
        self.store.web_sessions().change(self.channel, &changes).await.map_err(unavailable)
    }

    async fn take(&self, namespace: &str, key: &str) -> Result<Option<Record>, RecordsError> {
        let _permit = self.permit().await?;
        let row =
            self.store.web_sessions().take_row(self.channel, namespace, key).await.map_err(unavailable)?;
        let opened = open(&self.vault, self.channel, namespace, row.into_iter().collect())?;
        Ok(opened.into_iter().next())
    }

    async fn delete_below(&self, namespace: &str, mark: i64) -> Result<u64, RecordsError> {
        self.store.web_sessions().delete_rows_below(self.channel, namespace, mark).await.map_err(unavailable)
    }

    async fn wipe(&self) -> Result<(), RecordsError> {
        self.store.web_sessions().wipe(self.channel).await.map_err(unavailable)?;
        Ok(())
    }
}

fn open(
    vault: &Vault,
    channel: Uuid,
    namespace: &str,
    mut records: Vec<Record>,
) -> Result<Vec<Record>, RecordsError> {
    for Record { key, value, .. } in &mut records {
        let place = context::web_session_record(channel, namespace, key);
        *value = vault.unseal_bytes(value, &place).map_err(does_not_open)?;
    }
    Ok(records)
}

fn seal(vault: &Vault, channel: Uuid, mut changes: Vec<Change>) -> Vec<Change> {
    for change in &mut changes {
        if let Change::Put { namespace, record: Record { key, value, .. } } = change {
            *value = vault.seal(value, &context::web_session_record(channel, namespace, key));
        }
    }
    changes
}

fn unavailable(error: store::Error) -> RecordsError {
    RecordsError::Unavailable(Box::new(error))
}

fn does_not_open(error: vault::Error) -> RecordsError {
    RecordsError::DoNotOpen(Box::new(error))
}
