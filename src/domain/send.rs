//! Sends: one accepted request, its frozen audience, and how far it got.

use uuid::Uuid;

use crate::domain::phone::PhoneNumber;

/// Where a send is. The numbers are what the database keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(i16)]
pub enum State {
    /// Its audience is still being written; not accepted yet.
    Resolving = 0,
    /// Accepted; messages may still go.
    Active = 1,
    /// Every message has its outcome.
    Finished = 2,
}

impl State {
    /// The number that the database keeps.
    pub const fn as_i16(self) -> i16 {
        self as i16
    }
}

/// Who receives a send, once resolved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recipients {
    /// One recipient, kept with the send itself.
    One(PhoneNumber),
    /// This many, kept in recipient blocks.
    Blocks(u64),
}

impl Recipients {
    /// How many there are.
    pub const fn count(self) -> u64 {
        match self {
            Self::One(_) => 1,
            Self::Blocks(count) => count,
        }
    }
}

/// A packed slice of a send's recipients.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// Ordinal of the first recipient in it.
    pub first_ordinal: u64,
    /// How many are in it.
    pub recipients: u64,
    /// The numbers, packed by [`crate::domain::block::pack`].
    pub packed: Vec<u8>,
}

/// How far a send got.
///
/// Ordinals below `settled` all have a row in the ledger. Ordinals from there up to `high_water` may have
/// been attempted: after a crash those of them without a row are unknown. Nothing at or above
/// `high_water` was ever attempted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Progress {
    /// See above.
    pub high_water: u64,
    /// See above.
    pub settled: u64,
}

/// A new value of a send's progress, to be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mark {
    /// The send.
    pub send_id: Uuid,
    /// Its progress from now on.
    pub progress: Progress,
    /// Whether every message has its outcome.
    pub finished: bool,
}
