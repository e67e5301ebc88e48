//! Sends: one accepted request, its frozen audience, and how far it got.

use uuid::Uuid;

use crate::clock::Timestamp;
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
    /// Somebody canceled it: what had not started never will.
    Canceled = 3,
    /// Its time was over: what had not started never will.
    Expired = 4,
}

impl State {
    /// The number that the database keeps.
    pub const fn as_i16(self) -> i16 {
        self as i16
    }

    /// From the number that the database kept.
    pub fn from_i16(value: i16) -> Option<Self> {
        [Self::Resolving, Self::Active, Self::Finished, Self::Canceled, Self::Expired]
            .into_iter()
            .find(|state| state.as_i16() == value)
    }

    /// Whether no message of it starts any more.
    pub const fn is_over(self) -> bool {
        matches!(self, Self::Finished | Self::Canceled | Self::Expired)
    }
}

/// Whether a person lets a send run. The numbers are what the database keeps.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[repr(i16)]
pub enum Control {
    /// It goes at its channel's pace.
    #[default]
    Running = 0,
    /// Nothing of it starts until it is resumed.
    Paused = 1,
}

impl Control {
    /// The number that the database keeps.
    pub const fn as_i16(self) -> i16 {
        self as i16
    }
}

/// When a send may go, as its request asked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Schedule {
    /// Nothing goes before.
    pub send_at: Option<Timestamp>,
    /// Nothing starts from this moment on.
    pub expires_at: Option<Timestamp>,
}

/// The template that a send sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TemplateUse {
    /// Our id of the template.
    pub id: i64,
    /// Whether it is advertising, which recipients may opt out of.
    pub is_marketing: bool,
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
    /// [`State::Active`] while messages may still go. Once a send is over it stays so, whatever a later
    /// mark says.
    pub state: State,
    /// Nothing of it is to be done before: all that is left waits.
    pub due_at: Option<Timestamp>,
}
