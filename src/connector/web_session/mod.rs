//! Web sessions: a channel that is a linked device of a person's own WhatsApp.
//!
//! A [`Driver`] opens sessions, one per channel. A [`Session`] sends and asks; what happens to it is told as
//! [`Event`]s, in the order in which it happens. Where it keeps its keys is the caller's matter ([`Records`]).
//! Nothing here names a type of the library that speaks the protocol: that library changes with each minor
//! version, and stays in `whatsapp`, which is there with the Cargo feature `web-session`.
//!
//! One process at most may have a session open: two would throw each other out without end. The caller makes sure of that.

mod event;
mod jid;
mod message;
mod passkey;
mod records;
#[cfg(feature = "web-session")]
pub mod whatsapp;

use std::sync::Arc;

use async_trait::async_trait;
use tokio::sync::mpsc;
use uuid::Uuid;

pub use self::event::{Ack, AckState, Ban, End, Event, PairingFailure, RESTRICTED};
pub use self::jid::{InvalidJid, Jid};
pub use self::message::{
    Built, BuiltMedia, Content, InvalidMessageId, Media, MediaKind, MessageId, Prepared, Sent,
};
pub use self::passkey::{Assertion, Challenge, InvalidAssertion, PasskeyRefused};
pub use self::records::{CONVERSATIONS, Change, Record, Records, RecordsError};
use crate::domain::phone::PhoneNumber;
use crate::domain::secret::Secret;

/// What a session needs to begin.
pub struct Opening {
    /// The channel. It names the session in logs and nowhere else.
    pub session: Uuid,
    /// Where the session keeps its keys. Empty records make a new device, which has to be paired: its first events
    /// are [`Event::Qr`]s.
    pub records: Arc<dyn Records>,
    /// Where it tells what happens. A slow receiver delays what is told and never the session itself.
    pub events: mpsc::Sender<Event>,
    /// What the phone's list of linked devices shows. It counts when the session is paired and not later.
    pub device_name: String,
}

/// Opens sessions. All of them work on threads of the driver's own, and never on the caller's.
#[async_trait]
pub trait Driver: Send + Sync {
    /// Opens a session and lets it connect, again and again if need be, until an [`Event::Ended`] or
    /// [`Session::stop`]. It returns before there is a connection: wait for [`Event::Connected`].
    ///
    /// # Errors
    ///
    /// [`OpenError`] when it could not begin; there is no event then, and no task is left.
    async fn open(&self, opening: Opening) -> Result<Arc<dyn Session>, OpenError>;

    /// The page on which people use the phone, where a simulator plays it.
    fn played_phone(&self) -> Option<&str> {
        None
    }
}

/// One linked device.
///
/// Futures may be dropped at any time; what they began goes on. Dropping the last reference begins what
/// [`Session::stop`] does, and nobody hears how it ended.
#[async_trait]
pub trait Session: Send + Sync {
    /// Asks whether a number is on WhatsApp and what its address is. Ask before the first message to anybody: a
    /// message to nobody is accepted in silence, and many of them get an account restricted.
    ///
    /// # Errors
    ///
    /// [`AskError`].
    async fn find(&self, number: PhoneNumber) -> Result<Option<Found>, AskError>;

    /// The address of a profile picture, which is good for some days; `None` when there is none or when it is not
    /// shown to us.
    ///
    /// # Errors
    ///
    /// [`AskError`].
    async fn picture(&self, of: &Jid) -> Result<Option<Picture>, AskError>;

    /// Uploads the file, if there is one, and makes the message that [`Session::hand_over`] takes.
    ///
    /// A file is in memory twice while it is encrypted.
    ///
    /// # Errors
    ///
    /// [`SendError`]; the message is surely unsent.
    async fn prepare(&self, id: &MessageId, content: Content) -> Result<Prepared, SendError>;

    /// Encrypts a message that this session prepared and hands it over. Later acknowledgements come as [`Event::Ack`]
    /// under the same id, which the caller chooses and stores beforehand.
    ///
    /// # Errors
    ///
    /// [`SendError`]; [`SendError::is_surely_unsent`] tells whether it can be tried again without a duplicate.
    async fn hand_over(&self, to: &Jid, id: &MessageId, prepared: Prepared) -> Result<(), SendError>;

    /// Prepares a message and hands it over.
    ///
    /// # Errors
    ///
    /// As [`Session::prepare`] and [`Session::hand_over`].
    async fn send(&self, to: &Jid, id: &MessageId, content: Content) -> Result<Sent, SendError> {
        let prepared = self.prepare(id, content).await?;
        let built = prepared.built().clone();
        self.hand_over(to, id, prepared).await?;
        Ok(Sent { to: to.clone(), id: id.clone(), built })
    }

    /// Asks for a code of eight characters that the person types into WhatsApp on the phone instead of scanning.
    /// It waits up to 30 s for the connection. QR payloads go on coming; whichever is used first wins.
    ///
    /// A code that is still good is cancelled. WhatsApp gives a number only few codes an hour.
    ///
    /// # Errors
    ///
    /// [`PairingFailure`].
    async fn pairing_code(&self, number: PhoneNumber) -> Result<Secret, PairingFailure>;

    /// Hands in the assertion that [`Event::PasskeyRequired`] asks for. [`Event::PasskeyCode`] follows when the phone took
    /// part in its turn.
    ///
    /// # Errors
    ///
    /// [`PasskeyRefused`]; the pairing fails.
    async fn answer_passkey(&self, assertion: Assertion) -> Result<(), PasskeyRefused>;

    /// Says that the phone shows the code of [`Event::PasskeyCode`]. [`Event::Paired`] follows when the phone says so
    /// too.
    ///
    /// # Errors
    ///
    /// [`PasskeyRefused`]; the pairing fails.
    async fn confirm_passkey(&self) -> Result<(), PasskeyRefused>;

    /// Takes the device off the phone's list, if there is a connection, and ends with [`End::Unlinked`]. The
    /// records are the caller's to wipe.
    async fn unlink(&self);

    /// Ends the session with all that it has to keep written down; [`End::Stopped`] follows, unless it has ended
    /// before. It takes some ten seconds at most.
    async fn stop(&self);

    /// How the session is doing. Cheap.
    fn figures(&self) -> Figures;
}

/// A number that is on WhatsApp.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// What to send to. It may be another number than the one asked for, where a country changed its numbering.
    pub jid: Jid,
    /// The address that hides the number, if it is known.
    pub lid: Option<Jid>,
    /// Whether it says that it is a business.
    pub is_business: bool,
}

/// A profile picture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Picture {
    /// Changes with the picture.
    pub id: String,
    /// Where it is.
    pub url: String,
}

/// How a session is doing, for measures and for who decides whether it should go on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Figures {
    /// There is a connection; it may still be waiting to be paired.
    pub is_connected: bool,
    /// There is a connection and WhatsApp knows the device.
    pub is_logged_in: bool,
    /// Failed attempts to connect in a row. The next one comes after 1, 1, 2, 3, 5, 8 … seconds, a
    /// quarter of an hour at most.
    pub failed_attempts: u32,
    /// Connections after the first that were begun.
    pub reconnects: u64,
    /// Events that were lost because the receiver was too slow, in all.
    pub missed_events: u64,
    /// The records could not be written for so long that the session gave it up. Open it again.
    pub has_given_up: bool,
}

/// Why a session could not begin.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Its records could not be read or written, or hold nothing that it understands.
    #[error("the session's records cannot be used: {0}")]
    Records(String),
    /// The driver is shutting down, or the session could not be set up.
    #[error("the session could not be set up: {0}")]
    Setup(String),
}

/// A question that was not answered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AskError {
    /// There is no connection just now.
    #[error("the session is not connected")]
    NotConnected,
    /// WhatsApp refused to answer; 429 when it was asked too often.
    #[error("WhatsApp refused the question with {code}: {sentence}")]
    Refused {
        /// WhatsApp's code.
        code: u16,
        /// What it says.
        sentence: String,
    },
    /// Anything else: no answer in time, or one that was not understood.
    #[error("the question was not answered: {0}")]
    NoAnswer(String),
}

/// Why a message was not handed over, as far as is known.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SendError {
    /// There is no connection just now, or the device is not paired.
    #[error("the session is not connected")]
    NotConnected,
    /// Nobody has that address, or it cannot be written to in this way.
    #[error("the message cannot be sent to this recipient: {0}")]
    Recipient(String),
    /// WhatsApp refused a question that had to be answered first, such as who is in the group.
    #[error("WhatsApp refused the message with {code}: {sentence}")]
    Refused {
        /// WhatsApp's code.
        code: u16,
        /// What it says.
        sentence: String,
    },
    /// It could not be prepared: a question was not answered in time, or the records could not be used.
    #[error("the message could not be prepared: {0}")]
    Unprepared(String),
    /// The file could not be uploaded.
    #[error("the file could not be uploaded: {0}")]
    Upload(String),
    /// It failed half-way: it may or may not have gone.
    #[error("the message may or may not have been sent: {0}")]
    Uncertain(String),
}

impl SendError {
    /// Whether the message is surely not on its way, so that it can be tried again without a duplicate.
    pub const fn is_surely_unsent(&self) -> bool {
        match self {
            Self::NotConnected
            | Self::Recipient(_)
            | Self::Refused { .. }
            | Self::Unprepared(_)
            | Self::Upload(_) => true,
            Self::Uncertain(_) => false,
        }
    }
}
