//! Files that people send: sealed on WhatsApp's servers, with the keys in the message.

use domain::inbound::MediaKeys;
use domain::web_session::MediaKind;

/// A file that is to be fetched.
#[derive(Debug, Clone)]
pub struct SealedFile {
    /// The kind of its message, on which its key depends.
    pub kind: MediaKind,
    /// Where it is, and its keys.
    pub keys: MediaKeys,
    /// The SHA-256 of its content in base64, as the sender says.
    pub sha256: Option<String>,
    /// Its length, as the sender says. A longer one is damaged.
    pub size: u64,
}

/// Why a file did not arrive.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FetchError {
    /// There is no connection now.
    #[error("the session is not connected")]
    NotConnected,
    /// WhatsApp does not have it any more.
    #[error("WhatsApp does not have the file")]
    Gone,
    /// It does not open with its keys, or is longer than its sender says.
    #[error("the file does not open with its keys, or is longer than its sender says")]
    Damaged,
    /// Another attempt may succeed.
    #[error("the file was not fetched: {0}")]
    Failed(String),
}
