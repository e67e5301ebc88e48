//! The progress of linking a phone to a channel, as shown to callers.

use std::fmt;

use serde::{Deserialize, Serialize};

use clock::Timestamp;
use domain::secret::{self, Secret};
use domain::web_session::Challenge;

/// The progress of linking a phone to a channel.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pairing {
    /// The stage.
    pub stage: Stage,
    /// The QR code to scan; only the newest one is valid.
    pub qr: Option<Shown>,
    /// The code to type into the phone, if one was requested.
    pub code: Option<Shown>,
    /// Why WhatsApp gave no code although one was requested, as a sentence.
    pub code_failure: Option<String>,
    /// The passkey gate, while WhatsApp asks for a passkey of the account.
    pub passkey: Option<Passkey>,
}

/// A stage of linking a phone to a channel.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// No phone is linked, and no pairing has begun.
    #[default]
    Unlinked,
    /// The pairing has begun; WhatsApp has given no code yet.
    Starting,
    /// There is a code to scan, or to type.
    Waiting,
    /// The phone accepted the code, and WhatsApp asks for a passkey of the account.
    PasskeyRequired,
    /// The passkey was accepted. The phone shows a code, which the person compares with this one.
    PasskeyConfirm,
    /// The phone accepted, and the first connection is being made.
    Linking,
    /// A phone is linked. The channel's state says whether it is connected.
    Linked,
}

/// A secret to show to the person with the phone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shown {
    /// The content of the QR code, or the eight characters.
    #[serde(serialize_with = "secret::exposed")]
    pub secret: Secret,
    /// When it expires.
    pub expires_at: Timestamp,
}

/// The passkey gate, which some accounts have beside the code.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Passkey {
    /// The challenge for a passkey of the account to sign.
    pub challenge: Challenge,
    /// The code that the phone shows too, once the passkey was accepted.
    #[serde(serialize_with = "secret::exposed_if_any", default)]
    pub code: Option<Secret>,
    /// When WhatsApp stops waiting.
    pub expires_at: Timestamp,
    /// This step was answered: the rest of it happens on the phone.
    pub waits_for_phone: bool,
}

impl Pairing {
    /// What the person sees on the phone, and what to do now.
    pub fn instruction(&self) -> &'static str {
        let waits_for_phone = self.passkey.as_ref().is_some_and(|passkey| passkey.waits_for_phone);
        match self.stage {
            Stage::Unlinked => "No phone is linked. Begin the pairing, with the phone at hand.",
            Stage::Starting => {
                "WhatsApp is asked for a code, which takes some seconds. Meanwhile open WhatsApp on the phone: \
                 Settings, Linked devices, Link a device."
            }
            Stage::Waiting if self.code.is_some() => {
                "On the phone, open WhatsApp: Settings, Linked devices, Link a device, Link with phone number \
                 instead. The phone asks for eight characters: type the code."
            }
            Stage::Waiting => {
                "On the phone, open WhatsApp: Settings, Linked devices, Link a device. The phone may ask for \
                 fingerprint, face or PIN, then shows its camera: point it at the code."
            }
            Stage::PasskeyRequired if waits_for_phone => {
                "WhatsApp accepted the passkey. Keep WhatsApp open on the phone: it shows a code within some seconds."
            }
            Stage::PasskeyRequired => {
                "The phone accepted the code and says that it goes on in WhatsApp Web: the account is protected by a \
                 passkey. Keep WhatsApp open on the phone. Have the challenge signed by the passkey on \
                 https://web.whatsapp.com, with a browser extension that hands the assertion in here. Without one, \
                 remove the passkey on the phone (Settings, Account, Passkeys) and begin the pairing again."
            }
            Stage::PasskeyConfirm if waits_for_phone => {
                "The code is confirmed here. Confirm it on the phone too."
            }
            Stage::PasskeyConfirm => {
                "The phone shows a code of eight characters. If it is the same as this one, confirm it here and on \
                 the phone. If it is another one, end the pairing: somebody else may be linking a device."
            }
            Stage::Linking => {
                "The phone accepted the device and shows it in its list of linked devices. There is nothing to do; \
                 keep the phone online until the channel is connected, some ten seconds."
            }
            Stage::Linked => {
                "The phone is linked and lists the device under Settings, Linked devices. There is nothing to do."
            }
        }
    }
}

impl Stage {
    /// Every stage.
    pub const ALL: &[Self] = &[
        Self::Unlinked,
        Self::Starting,
        Self::Waiting,
        Self::PasskeyRequired,
        Self::PasskeyConfirm,
        Self::Linking,
        Self::Linked,
    ];

    /// The stage as a word, for answers.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Unlinked => "unlinked",
            Self::Starting => "starting",
            Self::Waiting => "waiting",
            Self::PasskeyRequired => "passkey_required",
            Self::PasskeyConfirm => "passkey_confirm",
            Self::Linking => "linking",
            Self::Linked => "linked",
        }
    }

    /// Whether a pairing is in progress.
    pub const fn is_under_way(self) -> bool {
        !matches!(self, Self::Unlinked | Self::Linked)
    }

    /// Whether WhatsApp waits for a passkey, or for the phone after it.
    pub const fn is_at_passkey(self) -> bool {
        matches!(self, Self::PasskeyRequired | Self::PasskeyConfirm)
    }
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
