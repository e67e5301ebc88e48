//! Whom a conversation is with.

use std::fmt;

use crate::phone::PhoneNumber;

/// The most bytes of a name in a profile.
const NAME_BYTES: usize = 512;

/// The other side of a conversation, as a provider names it: a person, by a number, by an id or by both; or a group with
/// the person who wrote.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Peer {
    /// The person's number, if the provider says it.
    pub number: Option<PhoneNumber>,
    /// The person's id within the business, or for a web session the address that hides the number.
    pub user_id: Option<String>,
    /// The name in the person's profile.
    pub name: Option<String>,
    /// The group, without the ending of its address.
    pub group: Option<String>,
}

impl Peer {
    /// Whether it names nobody, so that there is no conversation to put a message into.
    pub const fn is_nobody(&self) -> bool {
        self.number.is_none() && self.user_id.is_none() && self.group.is_none()
    }

    /// A name without NUL, of at most 512 bytes; `None` for an empty one.
    pub fn name_of(name: &str) -> Option<String> {
        let mut end = name.len().min(NAME_BYTES);
        while !name.is_char_boundary(end) {
            end -= 1;
        }
        let name = name[..end].replace('\0', "");
        let name = name.trim();
        (!name.is_empty()).then(|| name.to_owned())
    }

    pub(super) fn bytes(&self) -> usize {
        let texts = [&self.user_id, &self.name, &self.group];
        size_of::<Self>() + texts.into_iter().flatten().map(String::len).sum::<usize>()
    }
}

/// The key of a conversation in its channel: the number under which the person is known as digits, else `u:` and the
/// person's id, or `g:` and the group.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PeerKey(String);

impl PeerKey {
    /// A person by the number under which the person is known.
    pub fn of_number(person: PhoneNumber) -> Self {
        Self(person.to_string())
    }

    /// A person of whom only an id is known.
    pub fn of_user(id: &str) -> Self {
        Self(format!("u:{id}"))
    }

    /// A group.
    pub fn of_group(id: &str) -> Self {
        Self(format!("g:{id}"))
    }

    /// As it is stored.
    pub const fn from_stored(key: String) -> Self {
        Self(key)
    }

    /// The person's number.
    pub fn number(&self) -> Option<PhoneNumber> {
        self.0.parse().ok().and_then(PhoneNumber::from_u64)
    }

    /// The person's id, when no number is known.
    pub fn user_id(&self) -> Option<&str> {
        self.0.strip_prefix("u:")
    }

    /// The group.
    pub fn group(&self) -> Option<&str> {
        self.0.strip_prefix("g:")
    }

    /// The key as a text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for PeerKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
