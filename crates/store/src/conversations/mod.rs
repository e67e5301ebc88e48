//! Conversations: one for each channel and person or group, with what the other side wrote. What the company sent is in the
//! ledger; a thread is both, put together when it is read.
//!
//! Contents come sealed and leave sealed: the store knows times, kinds and whom a conversation is with, and no words. Changes
//! of a message (reactions, edits, deletions) are rows of their own, applied when a thread is read, so that it does not
//! matter in which order they come.

mod change;
mod drafts;
mod edit;
mod intake;
mod joining;
mod keys;
mod list;
mod notes;
mod removal;
mod telling;
mod thread;
mod windows;
mod words;

use entity::conversation::Model;
use uuid::Uuid;

pub use self::drafts::BegunAnswer;
pub use self::edit::AnswerNote;
pub use self::intake::Inbound;
pub use self::keys::StoredDataKey;
pub use self::list::{AssignedTo, ConversationCursor, ConversationFilter};
pub use self::notes::ConversationNote;
pub use self::thread::{StoredChange, StoredMessage, ThreadCursor, ThreadSide};
pub use self::windows::{AskedWindow, KnownWindow};
use crate::{Error, Result};
use clock::Timestamp;
use domain::inbound::{ConversationKind, ConversationState, PeerKey};

/// The writer of what an admin of a group does to the message of another.
pub const BY_ADMIN: &str = "admin";

/// A conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conversation {
    /// Its id.
    pub id: Uuid,
    /// The channel.
    pub channel_id: Uuid,
    /// With whom it is.
    pub kind: ConversationKind,
    /// Its key in the channel, which has the person's number or the group.
    pub peer: PeerKey,
    /// The person's id within the business, or the address that hides the number.
    pub user_id: Option<String>,
    /// The name in the person's profile.
    pub name: Option<String>,
    /// Whether it is dealt with.
    pub state: ConversationState,
    /// The user who has it.
    pub assigned_to: Option<Uuid>,
    /// Messages of the person that nobody read.
    pub unread: u64,
    /// When something was written last, by either side.
    pub last_at: Timestamp,
    /// When the person wrote last.
    pub last_inbound_at: Option<Timestamp>,
    /// When the company answered last.
    pub last_outbound_at: Option<Timestamp>,
    /// Until when the company may write freely; of interest for business accounts alone.
    pub window_until: Option<Timestamp>,
    /// Until when messages are free, because the person came from an advertisement.
    pub entry_point_until: Option<Timestamp>,
    /// The entry that a list shows.
    pub last: LastEntry,
    /// When it began.
    pub created_at: Timestamp,
}

/// The entry of a conversation that a list shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LastEntry {
    /// Our id of it, to which the line is sealed.
    pub id: Uuid,
    /// The word of its kind; empty when there is none.
    pub kind: String,
    /// Who wrote it.
    pub side: ThreadSide,
    /// Its sealed line; empty when it is not kept.
    pub line: Vec<u8>,
}

fn conversation(row: Model) -> Result<Conversation> {
    let (kind, side) = (row.kind, row.last_direction);
    let time = |millis: i64| (millis > 0).then(|| Timestamp::from_millis(millis));
    Ok(Conversation {
        id: row.id,
        channel_id: row.channel_id,
        kind: ConversationKind::from_i16(kind).ok_or_else(|| impossible("kind", kind))?,
        peer: PeerKey::from_stored(row.peer),
        user_id: row.user_id,
        name: row.name,
        state: state(row.state)?,
        assigned_to: row.assigned_to,
        unread: row.unread.max(0).cast_unsigned(),
        last_at: Timestamp::from_millis(row.last_at),
        last_inbound_at: time(row.last_inbound_at),
        last_outbound_at: time(row.last_outbound_at),
        window_until: time(row.window_until),
        entry_point_until: time(row.entry_point_until),
        last: LastEntry {
            id: row.last_id,
            kind: row.last_kind,
            side: ThreadSide::from_i16(side).ok_or_else(|| impossible("side", side))?,
            line: row.last_line,
        },
        created_at: Timestamp::from_millis(row.created_at),
    })
}

fn state(number: i16) -> Result<ConversationState> {
    ConversationState::from_i16(number).ok_or_else(|| impossible("state", number))
}

fn impossible(what: &str, number: i16) -> Error {
    Error::Impossible(format!("the {what} {number} of a conversation"))
}

/// Another process removed a conversation between two statements: the same call succeeds.
fn removed_meanwhile() -> Error {
    Error::Unavailable("a conversation was removed at the same moment".to_owned())
}
