//! What happens to a session.

use std::time::Duration;

use super::{Challenge, Jid, MessageId};
use crate::clock::Timestamp;
use crate::domain::phone::PhoneNumber;
use crate::domain::secret::Secret;

/// The code with which WhatsApp refuses messages to people who never wrote to a number that it has restricted.
pub const RESTRICTED: i64 = 463;

/// What happens to a session, told in the order in which it happens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// To be shown as a QR code and scanned with the phone; the newest one counts. It holds a secret of the device.
    Qr {
        /// The text of the QR code.
        payload: Secret,
        /// How long it is good for: a minute the first time, then 20 s.
        valid_for: Duration,
    },
    /// There will be no more QR codes; a pairing code that is still good remains so.
    QrExhausted,
    /// To be typed into WhatsApp on the phone.
    PairingCode {
        /// Eight characters.
        code: Secret,
        /// How long it is good for, about three minutes.
        valid_for: Duration,
    },
    /// The pairing code is not good any more, and nobody has used it: ask for another one.
    PairingCodeExpired,
    /// The pairing code was not accepted, or none was given.
    PairingCodeFailed(PairingFailure),
    /// The phone accepted the code, and WhatsApp asks for a passkey of the account before it links the device:
    /// `Session::answer_passkey`. Codes are good no longer.
    PasskeyRequired {
        /// What the passkey has to sign.
        challenge: Challenge,
        /// How long WhatsApp waits for it.
        valid_for: Duration,
    },
    /// The passkey's answer was accepted. Phone and caller show the same code, and the person says that they do:
    /// `Session::confirm_passkey`.
    PasskeyCode {
        /// Eight characters with a hyphen in the middle.
        code: Secret,
        /// The device was linked to this account before and has proven it: nobody has to compare the code.
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
    /// It can send.
    Connected,
    /// An attempt to connect failed; others follow.
    Unreachable {
        /// Failed attempts in a row, this one included.
        attempts: u32,
        /// What went wrong.
        sentence: String,
    },
    /// The connection was lost; there will be another one.
    Disconnected {
        /// What went wrong.
        sentence: String,
    },
    /// Of a message that was sent from this device.
    Ack(Ack),
    /// An address and the number that it hides.
    LidLearned {
        /// The number.
        number: PhoneNumber,
        /// The address.
        lid: Jid,
    },
    /// A person, and not a group, wrote to us. It may be told more than once of a message.
    Inbound {
        /// Who; nobody is told of whose number is not known.
        from: PhoneNumber,
    },
    /// [`Event::Ack`]s, [`Event::LidLearned`]s and [`Event::Inbound`]s were lost, because they were not received fast
    /// enough.
    Missed {
        /// How many since the last time that it was told.
        count: u64,
    },
    /// The session is over and tells nothing more. To go on, open it again.
    Ended(End),
}

/// The outcome of a message after it was handed over. They may come more than once and in any order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ack {
    /// The message.
    pub id: MessageId,
    /// The outcome.
    pub state: AckState,
    /// When, to the second; the time of this machine where WhatsApp says none.
    pub at: Timestamp,
    /// Who has received it. In a group it is one of many. Tell messages by their ids and not by this: an address
    /// may hide a number or not.
    pub from: Option<Jid>,
}

/// The outcome of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AckState {
    /// WhatsApp has it.
    Server,
    /// It is on a device of the recipient's.
    Delivered,
    /// It was read.
    Read,
    /// The voice message or the video was played.
    Played,
    /// WhatsApp refused it after all.
    Refused {
        /// WhatsApp's code; [`RESTRICTED`] among others.
        code: Option<i64>,
    },
}

impl AckState {
    /// Whether it was refused because the account is restricted, in which case the next message will be too.
    pub const fn is_restricted(self) -> bool {
        matches!(self, Self::Refused { code: Some(RESTRICTED) })
    }
}

/// Why a session is over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    /// Because the caller said so.
    Stopped,
    /// Nobody scanned a code in time, some 160 s. Nothing is lost: open it again for new codes.
    QrExhausted,
    /// The device was taken off the phone's list, here or there.
    Unlinked,
    /// WhatsApp locked the account and unlinked the device.
    AccountLocked,
    /// The same device connected elsewhere. Do not open it again before that has stopped.
    Replaced,
    /// WhatsApp lets the account do nothing for a while.
    Banned(Ban),
    /// WhatsApp does not take this version of the library any more.
    ClientOutdated,
    /// WhatsApp asked for a passkey of the account, and nobody answered in time.
    PasskeyTimedOut,
    /// WhatsApp did not accept what was answered with the passkey.
    PasskeyRefused {
        /// What went wrong.
        sentence: String,
    },
    /// The phone and this device do not agree on a signature: seen with accounts of businesses that have linked
    /// hosted devices.
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
    /// The session's own fault, such as records that cannot be written.
    Failed {
        /// What went wrong.
        sentence: String,
    },
}

impl End {
    /// Whether the keys are good for nothing any more: wipe the records before the session is opened again.
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

/// A ban that passes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ban {
    /// When it is over.
    pub until: Timestamp,
    /// WhatsApp's code, such as 101 for too many messages to strangers.
    pub code: i64,
    /// What it is for.
    pub sentence: String,
}

/// Why WhatsApp gave no pairing code.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PairingFailure {
    /// The device is paired already, or the session is over.
    #[error("the session cannot be paired now: {0}")]
    NotNow(String),
    /// There was no connection to WhatsApp in time.
    #[error("WhatsApp was not reached")]
    NotConnected,
    /// Too many codes were asked for, or WhatsApp does not like the number: it uses the same word for both.
    #[error("WhatsApp gives no code to this number now")]
    Throttled {
        /// How long to wait, if WhatsApp says so.
        retry_after: Option<Duration>,
    },
    /// Anything else.
    #[error("WhatsApp gave no pairing code: {0}")]
    Other(String),
}
