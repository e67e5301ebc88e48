//! The caller's own words on a send.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The most characters of a reference: room for an order's number, an address or two UUIDs.
pub const REFERENCE_CHARS: usize = 128;
/// The most entries of the metadata.
pub const METADATA_ENTRIES: usize = 16;
/// The most characters of a key of the metadata.
pub const METADATA_KEY_CHARS: usize = 40;
/// The most characters of a value of the metadata.
pub const METADATA_VALUE_CHARS: usize = 256;

/// What a caller noted on a send: it is stored and returned, and never sent to anybody.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Label {
    /// The caller's name for the send, such as an order's number; several sends may have the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
    /// Further notes by key.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub metadata: BTreeMap<String, String>,
}

impl Label {
    /// Whether nothing was noted.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Whether a text can be a reference.
    pub fn is_reference(text: &str) -> bool {
        !text.trim().is_empty()
            && text.chars().nth(REFERENCE_CHARS).is_none()
            && !text.contains(char::is_control)
    }
}
