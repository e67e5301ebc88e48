//! Messages from people, and echoes of what the company wrote on its own phone: one form for both kinds of channel.
//!
//! A connector or a session reads what its provider says into an [`InboundMessage`]. Its [`InboundBody`] is what is stored,
//! sealed, and what events and the API show. Every text is bounded when it is read; nothing here is trusted.

mod content;
mod conversation;
mod file;
mod parts;
mod peer;
mod window;

pub use self::content::{InboundContent, bounded, bounded_raw};
pub use self::conversation::{ConversationKind, ConversationState};
pub use self::file::{InboundFile, MissingFile};
pub use self::parts::{
    AnswerSource, InboundBody, InboundMedia, MediaKeys, MessageAuthor, MessageContext, OrderItem, Referral,
    ReferredProduct, SharedContact, base64_of, bytes_of_base64,
};
pub use self::peer::{Peer, PeerKey};
pub use self::window::{ANSWER, ENTRY_POINT, ENTRY_POINT_ANSWER, SERVICE_WINDOW, WindowRule, Windows};

use crate::words::words;
use clock::Timestamp;

/// The most bytes of a provider's id of a message. Longer ones are no ids.
pub const ID_BYTES: usize = 256;

/// Who wrote a message of a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Direction {
    /// The person.
    In,
    /// The company, on its own phone or with another program.
    Echo,
}

words!(Direction {
    In = "in",
    Echo = "echo",
});

impl Direction {
    /// Its number in the database.
    pub const fn as_i16(self) -> i16 {
        match self {
            Self::In => 0,
            Self::Echo => 1,
        }
    }

    /// From its number.
    pub const fn from_i16(number: i16) -> Option<Self> {
        match number {
            0 => Some(Self::In),
            1 => Some(Self::Echo),
            _ => None,
        }
    }
}

/// A message from a person, or one that the company wrote elsewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InboundMessage {
    /// The provider's id, at most [`ID_BYTES`].
    pub id: String,
    /// Who wrote it.
    pub direction: Direction,
    /// The conversation that it belongs to: the person, or the group.
    pub peer: Peer,
    /// When it was written, by the provider's time.
    pub at: Timestamp,
    /// Whether it comes from the history of a phone that was connected: nobody is told of it, and it opens nothing.
    pub is_past: bool,
    /// Whether an admin of the group acts on the message of another, as WhatsApp marks it.
    pub by_admin: bool,
    /// What it says.
    pub body: InboundBody,
}

impl InboundMessage {
    /// The text of a plain text from the person, in which a word for an opt-out may be.
    pub fn text(&self) -> Option<&str> {
        match (&self.direction, &self.body.content) {
            (Direction::In, InboundContent::Text { body }) if !self.is_past => Some(body),
            _ => None,
        }
    }

    /// About how many bytes it takes in memory.
    pub fn bytes(&self) -> usize {
        self.id.len() + self.peer.bytes() + self.body.bytes()
    }

    /// Whether the person's writing it opens the time in which the company may answer freely: everything that a person
    /// writes or does, and no later change of it.
    pub const fn opens_window(&self) -> bool {
        matches!(self.direction, Direction::In) && !self.is_past && self.body.content.is_new()
    }
}

#[cfg(test)]
mod tests;
