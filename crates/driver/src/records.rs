//! The storage of a session's keys.

use async_trait::async_trait;

use domain::web_session::{Change, Record};

/// Namespaces of the keys with which a session and the people it writes to encrypt; both sides advance them
/// with each message. A session that continued with an older copy would encrypt with used keys, and its
/// messages would be dropped silently. Without these keys it begins new conversations, as the same device.
pub const CONVERSATIONS: &[&str] = &["session", "sender_key", "group_key_holders", "base_key"];

/// The storage of one session's keys: values by key, in namespaces. The implementation does not know their
/// format. The values are private keys and have to be protected accordingly.
///
/// Only the session reads and writes them, from many tasks. Each method can fail with [`RecordsError`].
#[async_trait]
pub trait Records: Send + Sync {
    /// The existing records with these keys, in any order.
    async fn read(&self, namespace: &str, keys: &[&str]) -> Result<Vec<Record>, RecordsError>;

    /// All records of a namespace, in any order.
    async fn list(&self, namespace: &str) -> Result<Vec<Record>, RecordsError>;

    /// The keys of a namespace and their marks, in any order.
    async fn list_keys(&self, namespace: &str) -> Result<Vec<(String, i64)>, RecordsError>;

    /// Whether a namespace has a key with this beginning.
    async fn has_key(&self, namespace: &str, beginning: &str) -> Result<bool, RecordsError>;

    /// Makes all of these changes or none, in this order.
    ///
    /// # Errors
    ///
    /// [`RecordsError`]. Nothing has changed then, unless the connection was lost during the commit.
    async fn apply(&self, changes: Vec<Change>) -> Result<(), RecordsError>;

    /// Reads and deletes one record in one step, so that only one of two callers gets it.
    async fn take(&self, namespace: &str, key: &str) -> Result<Option<Record>, RecordsError>;

    /// Deletes the records of a namespace whose mark is above zero and below this mark, and returns their
    /// number.
    async fn delete_below(&self, namespace: &str, mark: i64) -> Result<u64, RecordsError>;

    /// Deletes all records of the session.
    async fn wipe(&self) -> Result<(), RecordsError>;
}

/// The records cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum RecordsError {
    /// They could not be read or written now.
    #[error("the session's records cannot be reached: {0}")]
    Unavailable(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// They cannot be opened: they were written with another sealing key, or altered.
    #[error("the session's records do not open: {0}")]
    DoNotOpen(#[source] Box<dyn std::error::Error + Send + Sync>),
}
