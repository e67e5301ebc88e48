//! A message to attempt: its ordinal in its send, and what is known of earlier attempts.

use uuid::Uuid;

use clock::Timestamp;
use domain::message::{Key, Position};
use domain::phone::PhoneNumber;

/// A message to attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ticket {
    pub(crate) send_id: Uuid,
    pub(crate) ordinal: u64,
    /// `None` for the group that the send's content names.
    pub(crate) recipient: Option<PhoneNumber>,
    /// The earlier attempts that count.
    pub(crate) attempts: u16,
    /// Whether the message has, or may have, a row in the ledger.
    pub(crate) again: bool,
    /// The outcome of the previous attempt.
    pub(crate) prior: PriorOutcome,
    /// Whether the message was tried or put back before: then newer messages to its recipient may queue behind it.
    pub(crate) has_waited: bool,
    /// How its recipient came to count against the quota of templates, if at all.
    pub(crate) counted: Option<Counted>,
    /// When the provider accepted it, or may have, in an earlier attempt.
    pub(crate) taken_at: Option<Timestamp>,
}

/// The outcome of the previous attempt of a message that the provider did not accept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PriorOutcome {
    /// The provider does not have the message: it was never handed over, or refused right away.
    NotTaken,
    /// The provider reported a failure that may have come after it took the message: the ledger is asked for a receipt
    /// before the next attempt.
    PerhapsTaken,
    /// No answer came, or none was written. The message waits for a receipt, then the tier's policy decides.
    Unknown,
}

/// How a recipient came to count against the quota of templates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Counted {
    /// With this message, at this time.
    New(Timestamp),
    /// With an earlier message.
    Already,
}

impl Ticket {
    /// The key of the message: send and ordinal.
    pub(crate) const fn key(&self) -> Key {
        Key { send_id: self.send_id, ordinal: self.ordinal }
    }

    pub(crate) const fn position(&self) -> Position {
        Position { ordinal: self.ordinal, recipient: self.recipient }
    }
}
