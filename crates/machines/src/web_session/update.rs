//! What a session tells of messages and people.

use domain::phone::PhoneNumber;
use domain::web_session::{Ack, Jid};

/// Something that a session heard.
#[derive(Debug)]
pub enum SessionUpdate {
    /// The outcome of a message.
    Ack(Ack),
    /// The LID, an address that hides the number.
    Lid(PhoneNumber, Jid),
    /// This person wrote to the session.
    Inbound(PhoneNumber),
}
