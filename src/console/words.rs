//! The names and values that a browser sent in a query or a form.

use sha2::{Digest as _, Sha256};

/// Names with their values, decoded; a name may come more than once.
#[derive(Debug, Clone, Default)]
pub(super) struct Words(Vec<(String, String)>);

/// The memory of a name and a value beside their characters.
const PAIR: usize = 2 * size_of::<(String, String)>() + 32;
/// A byte that is no UTF-8 becomes a character of three.
const WIDEST: usize = 3;

impl Words {
    /// The most memory that this many fields take whose encoded form has `length` bytes.
    pub(super) const fn most_weight(length: usize, fields: usize) -> usize {
        WIDEST * length + fields * PAIR
    }

    /// The memory of the names and values.
    pub(super) fn weight(&self) -> usize {
        self.0.iter().map(|(name, value)| name.capacity() + value.capacity() + PAIR).sum()
    }

    /// Parses a query string or a form's body. Bytes that are not UTF-8, and NUL characters, which no
    /// database can store, become �.
    pub(super) fn parse(encoded: &[u8]) -> Self {
        let clean = |text: std::borrow::Cow<'_, str>| match text.contains('\0') {
            true => text.replace('\0', "\u{fffd}"),
            false => text.into_owned(),
        };
        Self(url::form_urlencoded::parse(encoded).map(|(name, value)| (clean(name), clean(value))).collect())
    }

    /// The last value of this name, trimmed; empty when there is none.
    pub(super) fn one(&self, name: &str) -> &str {
        self.raw(name).unwrap_or_default().trim()
    }

    /// The last value of this name, unchanged, for passwords and texts.
    pub(super) fn raw(&self, name: &str) -> Option<&str> {
        self.0.iter().rev().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Every value of this name.
    pub(super) fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.0.iter().filter(move |(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Whether this name has this value, as a checked checkbox does.
    pub(super) fn has(&self, name: &str, value: &str) -> bool {
        self.all(name).any(|given| given == value)
    }

    /// Whether the name is present.
    pub(super) fn names(&self, name: &str) -> bool {
        self.raw(name).is_some()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// SHA-256 over `about` and all values that are not blank, except those of these names.
    pub(super) fn digest(&self, about: &str, except: &[&str]) -> [u8; 32] {
        let said = self.iter().filter(|(name, value)| !except.contains(name) && !value.is_empty());
        let mut digest = Sha256::new();
        for part in std::iter::once(about).chain(said.flat_map(|(name, value)| [name, value])) {
            // Each value with its length, so that different forms never have the same input.
            digest.update((part.len() as u64).to_le_bytes());
            digest.update(part);
        }
        digest.finalize().into()
    }

    /// Adds a value to a name.
    pub(super) fn add(&mut self, name: &str, value: impl Into<String>) {
        self.0.push((name.to_owned(), value.into()));
    }

    /// Sets the value of a name, in place of those that it has.
    pub(super) fn put(&mut self, name: &str, value: impl Into<String>) {
        self.0.retain(|(known, _)| known != name);
        self.add(name, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read_from_any_bytes() {
        let words = Words::parse(b"a=1&b=+x+y+&a=2&c=%ff&d=%00&e&%C3%A9=%F0%9F%95%8A");
        assert_eq!((words.one("a"), words.one("b"), words.raw("b")), ("2", "x y", Some(" x y ")));
        assert_eq!(words.all("a").collect::<Vec<_>>(), ["1", "2"]);
        assert_eq!((words.one("c"), words.one("d"), words.one("e")), ("\u{fffd}", "\u{fffd}", ""));
        assert_eq!((words.one("é"), words.one("f")), ("🕊", ""));
        let digest = |words: &[u8]| Words::parse(words).digest("", &["once"]);
        assert_eq!(digest(b"a=1&b=&once=7"), digest(b"a=1"), "a blank value does not change the digest");
        assert_ne!(digest(b"a=12&b=3"), digest(b"a=1&b=23"));
        assert!(words.has("a", "1") && !words.has("a", "3") && words.names("e") && !words.names("f"));
    }
}
