//! The caller's own words on a send, and who made it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The most characters of a name: a line in a list.
pub const NAME_CHARS: usize = 100;
/// The most characters of a reference: room for an order's number, an address or two UUIDs.
pub const REFERENCE_CHARS: usize = 128;
/// The most entries of the metadata.
pub const METADATA_ENTRIES: usize = 16;
/// The most characters of a key of the metadata.
pub const METADATA_KEY_CHARS: usize = 40;
/// The most characters of a value of the metadata.
pub const METADATA_VALUE_CHARS: usize = 256;
/// The most characters of an author: more than an e-mail address or the name of a key has.
const AUTHOR_CHARS: usize = 400;

/// What is noted on a send beside its content: it is stored and returned, and never sent to anybody.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Label {
    /// The name that people know the send by; several sends may have the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The caller's name for the send, such as an order's number; several sends may have the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
    /// Further notes by key.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub metadata: BTreeMap<String, String>,
    /// Who made the send, as the record of changes names them. No request has it: the service adds it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub made_by: Option<String>,
}

impl Label {
    /// Whether nothing was noted.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Whether a text can be a name.
    pub fn is_name(text: &str) -> bool {
        is_line(text, NAME_CHARS)
    }

    /// Whether a text can be a reference.
    pub fn is_reference(text: &str) -> bool {
        is_line(text, REFERENCE_CHARS)
    }

    /// Whether the author is one that the service may have added.
    pub fn has_fit_author(&self) -> bool {
        self.made_by.as_ref().is_none_or(|author| is_line(author, AUTHOR_CHARS))
    }
}

/// Whether a text is one line with at most this many characters, and not blank.
fn is_line(text: &str, most: usize) -> bool {
    !text.trim().is_empty() && text.chars().nth(most).is_none() && !text.contains(char::is_control)
}
