//! A message to attempt: its place in its send, and what is known of the attempts before.

use uuid::Uuid;

use crate::clock::Timestamp;
use crate::domain::message::{Key, Position};
use crate::domain::phone::PhoneNumber;

/// A message to attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ticket {
    pub(crate) send_id: Uuid,
    pub(crate) ordinal: u64,
    /// `None` for the group that the send's content names.
    pub(crate) recipient: Option<PhoneNumber>,
    /// How often it was tried before, as far as that counts.
    pub(crate) attempts: u16,
    /// Whether it has, or may have, a row in the ledger already.
    pub(crate) again: bool,
    /// Whether the provider may have it from the attempt before.
    pub(crate) doubt: Doubt,
    /// Whether it was tried or put back before: of the messages to its recipient it is no longer the last.
    pub(crate) has_waited: bool,
    /// Whether its recipient counts against the quota of templates.
    pub(crate) counted: Option<Counted>,
    /// When the provider took it, or may have, in an attempt before.
    pub(crate) taken_at: Option<Timestamp>,
}

/// Whether the provider may have a message that it did not say it took.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Doubt {
    /// It was never handed over, or refused before anything was done with it.
    None,
    /// The provider said that it failed, in a way that may have come after taking it: a receipt would say
    /// so, and the ledger is asked for one before the next attempt.
    Slight,
    /// No answer came, or none was written: nobody knows. A receipt is waited for, then the tier's policy
    /// decides.
    Full,
}

/// How a recipient came to count against the quota of templates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Counted {
    /// With this message, at this moment.
    Anew(Timestamp),
    /// With an earlier one.
    Again,
}

impl Ticket {
    /// A message by its send and its place in it.
    pub(crate) const fn key(&self) -> Key {
        Key { send_id: self.send_id, ordinal: self.ordinal }
    }

    pub(crate) const fn position(&self) -> Position {
        Position { ordinal: self.ordinal, recipient: self.recipient }
    }
}
