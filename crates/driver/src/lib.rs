//! Web sessions: a channel that is a linked device of a person's own WhatsApp.
//!
//! A [`Driver`] opens sessions, one per channel. A [`Session`] sends messages and makes look-ups; it reports
//! its [`Event`]s in order. The caller stores its keys ([`Records`]). Nothing here names a type of the
//! library that speaks the protocol: that library changes with each minor version, and stays in `pombo-web-session`,
//! which exists with the Cargo feature `web-session`.
//!
//! At most one process may have a session open, because two would disconnect each other endlessly. The caller
//! ensures that.

mod fetching;
mod records;

use std::sync::Arc;

use async_trait::async_trait;
use tokio::sync::mpsc;
use uuid::Uuid;

pub use self::fetching::{FetchError, SealedFile};
pub use self::records::{CONVERSATIONS, Records, RecordsError};
use domain::inbound::InboundMessage;
use domain::phone::PhoneNumber;
use domain::secret::Secret;
pub use domain::web_session::{
    Ack, AckState, Assertion, Ban, Built, BuiltMedia, Card, Challenge, Change, Content, End, Event,
    InvalidAssertion, InvalidJid, InvalidMessageId, Jid, Media, MediaKind, MessageId, PairingFailure,
    PasskeyRefused, Prepared, RESTRICTED, ReactionTo, Record, Sent,
};

/// The parameters for opening a session.
pub struct Opening {
    /// The channel, which identifies the session only in logs.
    pub session: Uuid,
    /// The storage of the session's keys. With empty records, the session becomes a new device, which has to
    /// be paired: its first events are [`Event::Qr`]s.
    pub records: Arc<dyn Records>,
    /// The receiver of events. A slow receiver delays events, but never the session itself.
    pub events: mpsc::Sender<Event>,
    /// Takes in what people write, and what the account's owner writes on the phone.
    pub inbox: Arc<dyn Inbox>,
    /// The name in the phone's list of linked devices. It is set when the session is paired.
    pub device_name: String,
}

/// Takes in messages of a session.
#[async_trait]
pub trait Inbox: Send + Sync {
    /// Takes in messages, in their order: they are durable when this returns. A message may come more than once.
    ///
    /// # Errors
    ///
    /// [`NotTaken`]; WhatsApp sends them again when the session connects next.
    async fn take(&self, messages: Vec<InboundMessage>) -> Result<(), NotTaken>;
}

/// Messages could not be made durable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the messages cannot be written now")]
pub struct NotTaken;

/// An inbox that keeps nothing, for sessions whose messages are of no concern.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoInbox;

#[async_trait]
impl Inbox for NoInbox {
    async fn take(&self, _: Vec<InboundMessage>) -> Result<(), NotTaken> {
        Ok(())
    }
}

/// Opens sessions. All sessions run on the driver's own threads, never on the caller's.
#[async_trait]
pub trait Driver: Send + Sync {
    /// Opens a session, which connects and reconnects until an [`Event::Ended`] or [`Session::stop`]. It
    /// returns before there is a connection: wait for [`Event::Connected`].
    ///
    /// # Errors
    ///
    /// [`OpenError`] when the session could not start. Then there is no event, and no task is left.
    async fn open(&self, opening: Opening) -> Result<Arc<dyn Session>, OpenError>;

    /// The address of the page of the simulated phone; `None` when no simulator plays the phone.
    fn played_phone(&self) -> Option<&str> {
        None
    }
}

/// One linked device.
///
/// Futures may be dropped at any time; the actions that they started continue. Dropping the last reference
/// ends the session as [`Session::stop`] does, and nothing waits for the end.
#[async_trait]
pub trait Session: Send + Sync {
    /// Looks up whether a number is on WhatsApp, and its address. Look up every number before the first
    /// message to it: WhatsApp silently accepts a message to a number that it does not have, and many of them
    /// get an account restricted.
    async fn find(&self, number: PhoneNumber) -> Result<Option<Found>, AskError>;

    /// The address of a profile picture, valid for some days; `None` when there is none or it is hidden from
    /// us.
    async fn picture(&self, of: &Jid) -> Result<Option<Picture>, AskError>;

    /// Uploads the file, if there is one, and prepares the message for [`Session::hand_over`].
    ///
    /// A file is in memory twice while it is encrypted.
    ///
    /// # Errors
    ///
    /// [`SendError`]; the message is certainly not sent.
    async fn prepare(&self, id: &MessageId, content: Content) -> Result<Prepared, SendError>;

    /// Encrypts a message that this session prepared and hands it over. Later acknowledgements come as
    /// [`Event::Ack`] with the same id, which the caller chooses and stores before.
    ///
    /// # Errors
    ///
    /// [`SendError`]; [`SendError::is_surely_unsent`] says whether it can be retried without a duplicate.
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

    /// Downloads a file that somebody sent, and opens it. It is in memory as a whole.
    ///
    /// # Errors
    ///
    /// [`FetchError`]. A session without files has none.
    async fn fetch(&self, _: SealedFile) -> Result<Vec<u8>, FetchError> {
        Err(FetchError::Gone)
    }

    /// Requests a code of eight characters that the person types into WhatsApp on the phone instead of
    /// scanning. It waits up to 30 s for the connection. QR codes still come; the code that is used first
    /// counts.
    ///
    /// A code that is still valid is canceled. WhatsApp gives a number only a few codes an hour.
    async fn pairing_code(&self, number: PhoneNumber) -> Result<Secret, PairingFailure>;

    /// Submits the assertion that [`Event::PasskeyRequired`] asks for. [`Event::PasskeyCode`] follows when
    /// the phone has done its part.
    ///
    /// # Errors
    ///
    /// [`PasskeyRefused`]; the pairing fails.
    async fn answer_passkey(&self, assertion: Assertion) -> Result<(), PasskeyRefused>;

    /// Confirms that the phone shows the code of [`Event::PasskeyCode`]. [`Event::Paired`] follows when the
    /// phone confirms it, too.
    ///
    /// # Errors
    ///
    /// [`PasskeyRefused`]; the pairing fails.
    async fn confirm_passkey(&self) -> Result<(), PasskeyRefused>;

    /// Removes the device from the phone's list, if there is a connection, and ends with [`End::Unlinked`].
    /// The caller has to wipe the records.
    async fn unlink(&self);

    /// Ends the session after its records are written; [`End::Stopped`] follows, unless it has ended before.
    /// It takes some ten seconds at most.
    async fn stop(&self);

    /// The figures of the session. The call is cheap.
    fn figures(&self) -> Figures;
}

/// A number that is on WhatsApp.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// The address to send to. It may have another number than the requested one, if a country changed its
    /// numbering.
    pub jid: Jid,
    /// The address that hides the number, if known.
    pub lid: Option<Jid>,
    /// Whether the account is a business account.
    pub is_business: bool,
}

/// A profile picture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Picture {
    /// An id that changes with the picture.
    pub id: String,
    /// The address of the picture.
    pub url: String,
}

/// The figures of a session, for metrics and for deciding whether it should continue.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Figures {
    /// Whether there is a connection; the session may still have to be paired.
    pub is_connected: bool,
    /// Whether there is a connection and WhatsApp knows the device.
    pub is_logged_in: bool,
    /// Failed attempts to connect in a row. The next one follows after 1, 1, 2, 3, 5, 8 … seconds, a quarter
    /// of an hour at most.
    pub failed_attempts: u32,
    /// Reconnections that were started.
    pub reconnects: u64,
    /// All events that were dropped because the receiver was too slow.
    pub missed_events: u64,
    /// Whether the session gave up writing its records after a long time. Open it again.
    pub has_given_up: bool,
}

/// Why a session could not start.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Its records could not be read or written, or are invalid.
    #[error("the session's records cannot be used: {0}")]
    Records(String),
    /// The driver is shutting down, or the session could not be set up.
    #[error("the session could not be set up: {0}")]
    Setup(String),
}

/// Why a look-up has no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AskError {
    /// There is no connection now.
    #[error("the session is not connected")]
    NotConnected,
    /// WhatsApp refused to answer; 429 for too many requests.
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

/// Why a message was not handed over, if that is known.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SendError {
    /// There is no connection now, or the device is not paired.
    #[error("the session is not connected")]
    NotConnected,
    /// The address does not exist, or cannot be written to in this way.
    #[error("the message cannot be sent to this recipient: {0}")]
    Recipient(String),
    /// WhatsApp refused a look-up that was needed first, such as the members of the group.
    #[error("WhatsApp refused the message with {code}: {sentence}")]
    Refused {
        /// WhatsApp's code.
        code: u16,
        /// What it says.
        sentence: String,
    },
    /// The message could not be prepared: a look-up had no answer in time, or the records could not be used.
    #[error("the message could not be prepared: {0}")]
    Unprepared(String),
    /// The file could not be uploaded.
    #[error("the file could not be uploaded: {0}")]
    Upload(String),
    /// The hand-over failed half-way: the message may or may not have been sent.
    #[error("the message may or may not have been sent: {0}")]
    Uncertain(String),
}

impl SendError {
    /// Whether the message was certainly not sent, so that it can be retried without a duplicate.
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
