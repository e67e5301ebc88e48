//! The events of a session.

use std::time::Duration;

use super::{Challenge, Jid, MessageId};
use crate::phone::PhoneNumber;
use crate::secret::Secret;
use clock::Timestamp;

/// The code with which WhatsApp refuses messages to people who never wrote to a number that it has restricted.
pub const RESTRICTED: i64 = 463;

/// The events of a session, in the order in which they happen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// A QR code for the phone to scan; only the newest code is valid. It contains a secret of the device.
    Qr {
        /// The text of the QR code.
        payload: Secret,
        /// How long it is valid: a minute the first time, then 20 s.
        valid_for: Duration,
    },
    /// There will be no more QR codes; a valid pairing code stays valid.
    QrExhausted,
    /// A code to type into WhatsApp on the phone.
    PairingCode {
        /// Eight characters.
        code: Secret,
        /// How long it is valid, about three minutes.
        valid_for: Duration,
    },
    /// The pairing code has expired unused: request another one.
    PairingCodeExpired,
    /// The pairing code was not accepted, or WhatsApp gave none.
    PairingCodeFailed(PairingFailure),
    /// The phone accepted the code, and WhatsApp asks for a passkey of the account before it links the device:
    /// `Session::answer_passkey`. Codes are no longer valid.
    PasskeyRequired {
        /// The challenge that the passkey has to sign.
        challenge: Challenge,
        /// How long WhatsApp waits for it.
        valid_for: Duration,
    },
    /// The passkey's answer was accepted. Phone and caller show the same code, and the person confirms that:
    /// `Session::confirm_passkey`.
    PasskeyCode {
        /// Eight characters with a hyphen in the middle.
        code: Secret,
        /// Whether the device has proven that it was linked to this account before, so that the code need not
        /// be compared.
        is_proven: bool,
    },
    /// The phone accepted the device. [`Event::Connected`] follows, up to ten seconds later.
    Paired {
        /// The account's number.
        number: PhoneNumber,
        /// The account's address that hides the number.
        lid: Option<Jid>,
        /// The name of the business, if it is one.
        business_name: Option<String>,
    },
    /// The session can send.
    Connected,
    /// An attempt to connect failed; there will be others.
    Unreachable {
        /// Failed attempts in a row, including this one.
        attempts: u32,
        /// What went wrong.
        sentence: String,
    },
    /// The connection was lost; the session reconnects.
    Disconnected {
        /// What went wrong.
        sentence: String,
    },
    /// An acknowledgement of a message that this device sent.
    Ack(Ack),
    /// An address and the number that it hides.
    LidLearned {
        /// The number.
        number: PhoneNumber,
        /// The address.
        lid: Jid,
    },
    /// A person, not a group, wrote to us. The event may come more than once for a message.
    Inbound {
        /// The person. There is no event for people whose number is unknown.
        from: PhoneNumber,
    },
    /// [`Event::Ack`]s, [`Event::LidLearned`]s and [`Event::Inbound`]s were dropped, because the receiver was
    /// too slow.
    Missed {
        /// The number of dropped events since the last such event.
        count: u64,
    },
    /// The session has ended; this is its last event. To continue, open it again.
    Ended(End),
}

/// The outcome of a message after it was handed over. Acknowledgements may come more than once and in any
/// order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ack {
    /// The message.
    pub id: MessageId,
    /// The outcome.
    pub state: AckState,
    /// The time, to the second; the time of this machine if WhatsApp gives none.
    pub at: Timestamp,
    /// The recipient who acknowledged it. In a group it is one of many. Identify messages by their ids and
    /// not by this address, because it may or may not hide the number.
    pub from: Option<Jid>,
}

/// The outcome of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AckState {
    /// WhatsApp has it.
    Server,
    /// It is on a device of the recipient's.
    Delivered,
    /// The recipient read it.
    Read,
    /// The voice message or the video was played.
    Played,
    /// WhatsApp refused it later.
    Refused {
        /// WhatsApp's code; [`RESTRICTED`] among others.
        code: Option<i64>,
    },
}

impl AckState {
    /// Whether it was refused because the account is restricted. The next message will be refused, too.
    pub const fn is_restricted(self) -> bool {
        matches!(self, Self::Refused { code: Some(RESTRICTED) })
    }
}

/// Why a session ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    /// The caller stopped it.
    Stopped,
    /// No code was scanned in time, some 160 s. Nothing is lost: open the session again for new codes.
    QrExhausted,
    /// The device was unlinked, here or on the phone.
    Unlinked,
    /// WhatsApp locked the account and unlinked the device.
    AccountLocked,
    /// The same device connected elsewhere. Do not open the session again before the other one has stopped.
    Replaced,
    /// WhatsApp banned the account for a while.
    Banned(Ban),
    /// WhatsApp does not accept this version of the library any more.
    ClientOutdated,
    /// WhatsApp asked for a passkey of the account, and no answer came in time.
    PasskeyTimedOut,
    /// WhatsApp did not accept the passkey's answer.
    PasskeyRefused {
        /// What went wrong.
        sentence: String,
    },
    /// The phone and this device do not agree on a signature. This happens with business accounts that have
    /// linked hosted devices.
    BusinessRefused {
        /// What went wrong.
        sentence: String,
    },
    /// The pairing failed in another way.
    PairingFailed {
        /// What went wrong.
        sentence: String,
    },
    /// WhatsApp refused the connection for another reason.
    Refused {
        /// WhatsApp's code.
        code: i64,
        /// What it says.
        sentence: String,
    },
    /// An internal failure of the session, such as records that cannot be written.
    Failed {
        /// What went wrong.
        sentence: String,
    },
}

impl End {
    /// Whether the keys are useless now, so that the records must be wiped before the session is opened
    /// again.
    pub const fn voids_records(&self) -> bool {
        match self {
            Self::Unlinked
            | Self::AccountLocked
            | Self::PasskeyTimedOut
            | Self::PasskeyRefused { .. }
            | Self::BusinessRefused { .. }
            | Self::PairingFailed { .. } => true,
            Self::Stopped
            | Self::QrExhausted
            | Self::Replaced
            | Self::Banned(_)
            | Self::ClientOutdated
            | Self::Refused { .. }
            | Self::Failed { .. } => false,
        }
    }
}

/// A temporary ban.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ban {
    /// When it ends.
    pub until: Timestamp,
    /// WhatsApp's code, such as 101 for too many messages to strangers.
    pub code: i64,
    /// The reason.
    pub sentence: String,
}

/// Why WhatsApp gave no pairing code.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PairingFailure {
    /// The device is paired already, or the session has ended.
    #[error("the session cannot be paired now: {0}")]
    NotNow(String),
    /// There was no connection to WhatsApp in time.
    #[error("WhatsApp was not reached")]
    NotConnected,
    /// Too many codes were requested, or WhatsApp refuses the number: it uses the same error for both.
    #[error("WhatsApp gives no code to this number now")]
    Throttled {
        /// The delay before a retry, if WhatsApp gives one.
        retry_after: Option<Duration>,
    },
    /// Anything else.
    #[error("WhatsApp gave no pairing code: {0}")]
    Other(String),
}
