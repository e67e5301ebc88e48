//! What a channel of a web session needs to hand a message over: its way to the session, the pending reply of a caller
//! that waits, and the slots of messages in 24 hours.
//!
//! The sessions themselves are opened and ended in [`web_session`](crate::web_session), above the channels.

mod handle;
mod outgoing;
mod pending_reply;
mod queue_slots;
mod quoted;
mod window;

pub(crate) use self::handle::{SessionHandle, SessionHandles};
pub(crate) use self::outgoing::{Outgoing, WebChannel, file_name, is_voice, link, refusal, seconds};
pub(crate) use self::pending_reply::Render;
pub(crate) use self::pending_reply::{Admitted, HandOver, PendingReplies, PendingReply, Wait};
pub use self::pending_reply::{Form, HandedOver};
pub(crate) use self::queue_slots::QueueSlots;
pub(crate) use self::quoted::author_address;
pub(crate) use self::window::{Slot, Window};
