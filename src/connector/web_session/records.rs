//! Where a session keeps its keys.

use async_trait::async_trait;

/// Namespaces of what a session and the people it writes to encrypt with, which both go on with from message to message.
/// A session that begins again with those of before would encrypt with keys that were used: messages are dropped unseen.
/// Without them it begins new conversations, as the same device.
pub const CONVERSATIONS: &[&str] = &["session", "sender_key", "group_key_holders", "base_key"];

/// Where one session keeps its keys: values by key, in namespaces. All of it is opaque to who implements this; the
/// values are private keys and have to be kept accordingly.
///
/// A session reads and writes them from many tasks. Nobody else does.
#[async_trait]
pub trait Records: Send + Sync {
    /// The records with these keys that are there, in any order.
    ///
    /// # Errors
    ///
    /// [`RecordsError`].
    async fn read(&self, namespace: &str, keys: &[&str]) -> Result<Vec<Record>, RecordsError>;

    /// All records of a namespace, in any order.
    ///
    /// # Errors
    ///
    /// [`RecordsError`].
    async fn list(&self, namespace: &str) -> Result<Vec<Record>, RecordsError>;

    /// The keys of a namespace and their marks, in any order.
    ///
    /// # Errors
    ///
    /// [`RecordsError`].
    async fn list_keys(&self, namespace: &str) -> Result<Vec<(String, i64)>, RecordsError>;

    /// Whether a namespace has a key that begins so.
    ///
    /// # Errors
    ///
    /// [`RecordsError`].
    async fn has_key(&self, namespace: &str, beginning: &str) -> Result<bool, RecordsError>;

    /// All of these changes or none, in this order.
    ///
    /// # Errors
    ///
    /// [`RecordsError`]; nothing has changed then, unless the connection was lost in the very moment.
    async fn apply(&self, changes: Vec<Change>) -> Result<(), RecordsError>;

    /// Reads and deletes one record in one step: of two callers, one gets it.
    ///
    /// # Errors
    ///
    /// [`RecordsError`].
    async fn take(&self, namespace: &str, key: &str) -> Result<Option<Record>, RecordsError>;

    /// Deletes the records of a namespace whose mark is above zero and below this, and says how many.
    ///
    /// # Errors
    ///
    /// [`RecordsError`].
    async fn delete_below(&self, namespace: &str, mark: i64) -> Result<u64, RecordsError>;

    /// Deletes everything that the session keeps.
    ///
    /// # Errors
    ///
    /// [`RecordsError`].
    async fn wipe(&self) -> Result<(), RecordsError>;
}

/// One record. It may be a private key, and is not shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Record {
    /// Its key, unique in its namespace.
    pub key: String,
    /// What it holds.
    pub value: Vec<u8>,
    /// A number of the session's own: seconds since 1970 where records grow old, something else elsewhere.
    pub mark: i64,
}

/// One change of the records.
#[derive(Clone, PartialEq, Eq)]
pub enum Change {
    /// Writes a record, in the place of the one with this key if there is one.
    Put {
        /// Where.
        namespace: String,
        /// What.
        record: Record,
    },
    /// Gives marks to those of these records that are there.
    Mark {
        /// Where.
        namespace: String,
        /// Which.
        keys: Vec<String>,
        /// The new mark.
        mark: i64,
    },
    /// Deletes those of these records that are there.
    Delete {
        /// Where.
        namespace: String,
        /// Which.
        keys: Vec<String>,
    },
    /// Deletes all records of a namespace.
    Clear {
        /// Where.
        namespace: String,
    },
}

/// The records cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum RecordsError {
    /// They could not be read or written just now.
    #[error("the session's records cannot be reached: {0}")]
    Unavailable(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// They do not open: written with another sealing key, or altered.
    #[error("the session's records do not open: {0}")]
    DoNotOpen(#[source] Box<dyn std::error::Error + Send + Sync>),
}

impl std::fmt::Debug for Record {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Record({}, {} bytes, mark {})", self.key, self.value.len(), self.mark)
    }
}
