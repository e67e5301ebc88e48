//! The words of web sessions: what a driver reports, and what it is asked to send. They are values; the driver's interface
//! is in the crate `driver`.

mod event;
mod jid;
mod message;
mod passkey;
mod record;

pub use self::event::{Ack, AckState, Ban, End, Event, PairingFailure, RESTRICTED};
pub use self::jid::{InvalidJid, Jid};
pub use self::message::{
    Built, BuiltMedia, Card, Content, InvalidMessageId, Media, MediaKind, MessageId, Prepared, Quoted,
    ReactionTo, Sent,
};
pub use self::passkey::{
    Assertion, Challenge, InvalidAssertion, PasskeyRefused, WebAuthnAssertion, WebAuthnResponse,
};
pub use self::record::{Change, Record};
