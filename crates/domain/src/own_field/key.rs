//! The keys of own fields.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::OwnField;
use crate::fold::fold;
use crate::template::contact_field::ContactField;

/// The key of a field, such as `birth_date`: small Latin letters, digits and underscores, a letter first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct FieldKey {
    /// Zeros stand behind the last one. In place, because keys are copied with each column and each value.
    letters: [u8; Self::LONGEST],
}

impl FieldKey {
    /// The longest key, in characters.
    pub const LONGEST: usize = 40;

    /// The key that this word is.
    pub fn parse(word: &str) -> Option<Self> {
        let bytes = word.as_bytes();
        let is_letter = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || *byte == b'_';
        let is_key = bytes.len() <= Self::LONGEST
            && bytes.first().is_some_and(u8::is_ascii_lowercase)
            && bytes.iter().all(is_letter);
        if !is_key {
            return None;
        }
        let mut letters = [0; Self::LONGEST];
        letters[..bytes.len()].copy_from_slice(bytes);
        Some(Self { letters })
    }

    /// The word.
    pub fn as_str(&self) -> &str {
        let end = self.letters.iter().position(|letter| *letter == 0).unwrap_or(Self::LONGEST);
        std::str::from_utf8(&self.letters[..end]).unwrap_or_default()
    }

    /// A key for a new field of this name, other than those of `known` fields and of the fields that every contact has.
    pub fn for_name(name: &str, known: &[OwnField]) -> Self {
        /// Room for a number behind the name.
        const ROOM: usize = 4;
        let mut word = String::new();
        for letter in fold(name).chars() {
            if letter.is_ascii_lowercase() || letter.is_ascii_digit() {
                word.push(letter);
            } else if !word.is_empty() && !word.ends_with('_') {
                word.push('_');
            }
        }
        word.truncate(Self::LONGEST - ROOM);
        let word = word.trim_end_matches('_');
        // A name in another script has no letters for a key.
        let word = match Self::parse(word) {
            Some(_) => word.to_owned(),
            None if word.is_empty() => "field".to_owned(),
            None => format!("f_{word}").chars().take(Self::LONGEST - ROOM).collect(),
        };
        let is_free = |key: &Self| !key.is_reserved() && known.iter().all(|field| field.key != *key);
        let numbered = (2..=known.len() + 3).map(|number| format!("{word}_{number}"));
        let words = std::iter::once(word.clone()).chain(numbered);
        // Among so many words, one is free.
        words
            .filter_map(|word| Self::parse(&word))
            .find(is_free)
            .unwrap_or(Self { letters: [b'f'; Self::LONGEST] })
    }

    /// Whether templates know a field of every contact by this word.
    pub fn is_reserved(&self) -> bool {
        ContactField::BUILT_IN.iter().any(|field| field.word() == self.as_str())
    }
}

impl fmt::Display for FieldKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for FieldKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

impl From<FieldKey> for String {
    fn from(key: FieldKey) -> Self {
        key.as_str().to_owned()
    }
}

impl TryFrom<String> for FieldKey {
    type Error = &'static str;

    fn try_from(word: String) -> Result<Self, Self::Error> {
        Self::parse(&word).ok_or("no key of a field")
    }
}
