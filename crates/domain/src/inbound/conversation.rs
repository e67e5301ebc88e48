//! What a conversation is, and in which state.

use crate::words::words;

/// With whom a conversation is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ConversationKind {
    /// One person.
    Person,
    /// A group. It is kept, and the inbox does not list it unless asked.
    Group,
}

words!(ConversationKind {
    Person = "person",
    Group = "group",
});

/// Whether a conversation is dealt with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ConversationState {
    /// It waits for somebody, or somebody is at it.
    Open,
    /// It is dealt with. A message from the person opens it again.
    Closed,
}

words!(ConversationState {
    Open = "open",
    Closed = "closed",
});

impl ConversationKind {
    /// Its number in the database.
    pub const fn as_i16(self) -> i16 {
        self as i16
    }

    /// From its number.
    pub fn from_i16(number: i16) -> Option<Self> {
        Self::ALL.get(usize::try_from(number).ok()?).copied()
    }
}

impl ConversationState {
    /// Its number in the database.
    pub const fn as_i16(self) -> i16 {
        self as i16
    }

    /// From its number.
    pub fn from_i16(number: i16) -> Option<Self> {
        Self::ALL.get(usize::try_from(number).ok()?).copied()
    }
}
