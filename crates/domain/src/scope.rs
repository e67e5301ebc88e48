//! The scopes of API keys.

use std::fmt;

use crate::words::listed;

listed! {
    /// One permission of a key.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Scope {
        /// Sending, and retrying sends.
        Send = "send",
        /// Reads channels, templates, limits and sends.
        Read = "read",
        /// Reads and changes contacts, tags and suppressions; checks numbers.
        Contacts = "contacts",
        /// Pauses, resumes and cancels sends; creates, changes and deletes templates; links web sessions to phones.
        Control = "control",
        /// Reads and changes webhook endpoints.
        Events = "events",
        /// Reads conversations and answers people in them.
        Inbox = "inbox",
        /// Does what the paths of the door that speaks Graph offer, and nothing else.
        Graph = "graph",
    }
}

impl Scope {
    /// The scope of this word.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|scope| scope.as_str() == word)
    }

    const fn bit(self) -> u8 {
        1 << self as u8
    }
}

/// The permissions of a key.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Scopes(u8);

impl Scopes {
    /// Everything, including scopes that later versions add.
    pub const ALL: Self = Self(u8::MAX);

    /// Whether it includes the scope.
    pub const fn has(self, scope: Scope) -> bool {
        self.0 & scope.bit() != 0
    }

    /// Whether a key with these scopes may be bound to channels: only the door that speaks Graph knows of bound keys.
    pub const fn may_be_bound(self) -> bool {
        self.0 == Scope::Graph.bit()
    }

    /// The included scopes.
    pub fn iter(self) -> impl Iterator<Item = Scope> {
        Scope::ALL.into_iter().filter(move |scope| self.has(*scope))
    }

    /// Their words.
    pub fn words(self) -> Vec<&'static str> {
        self.iter().map(Scope::as_str).collect()
    }

    /// As it is stored: the words with spaces between them; `None` for everything.
    pub fn stored(self) -> Option<String> {
        (self != Self::ALL).then(|| self.words().join(" "))
    }

    /// Reads the text of [`Scopes::stored`]. A word that this version does not know allows nothing.
    pub fn from_stored(text: Option<&str>) -> Self {
        text.map_or(Self::ALL, |text| text.split(' ').filter_map(Scope::parse).collect())
    }
}

/// Every scope together is [`Scopes::ALL`].
impl FromIterator<Scope> for Scopes {
    fn from_iter<T: IntoIterator<Item = Scope>>(scopes: T) -> Self {
        let bits = scopes.into_iter().fold(0, |bits, scope| bits | scope.bit());
        let has_all = Scope::ALL.into_iter().all(|scope| bits & scope.bit() != 0);
        if has_all { Self::ALL } else { Self(bits) }
    }
}

impl fmt::Debug for Scopes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.words()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scopes_are_read_as_they_were_stored() {
        for scopes in [
            Scopes::ALL,
            Scopes::from_iter([]),
            Scopes::from_iter([Scope::Read]),
            Scopes::from_iter([Scope::Contacts, Scope::Send]),
        ] {
            assert_eq!(Scopes::from_stored(scopes.stored().as_deref()), scopes, "{scopes:?}");
        }
        assert_eq!(Scopes::from_iter(Scope::ALL), Scopes::ALL);
        assert_eq!(Scopes::ALL.stored(), None);
        let two = Scopes::from_stored(Some("send later read"));
        assert_eq!(two.words(), ["send", "read"]);
        assert!(two.has(Scope::Send) && !two.has(Scope::Contacts));
        assert!(Scopes::from_iter([Scope::Graph]).may_be_bound() && !Scopes::ALL.may_be_bound());
    }
}
