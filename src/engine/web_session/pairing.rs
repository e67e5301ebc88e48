//! How far a channel is with being linked to a phone, for everybody who asks.

use std::fmt;

use crate::clock::Timestamp;
use crate::domain::secret::Secret;

/// How far a channel is with being linked to a phone.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pairing {
    /// How far.
    pub stage: Stage,
    /// What to scan; the newest one counts.
    pub qr: Option<Shown>,
    /// What to type into the phone, if somebody asked for it.
    pub code: Option<Shown>,
    /// Why there is no such code though somebody asked for it, a sentence.
    pub code_failure: Option<String>,
}

/// How far a channel is with being linked to a phone.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Stage {
    /// No phone is linked, and nobody has begun to link one.
    #[default]
    Unlinked,
    /// Begun; WhatsApp has given no code yet.
    Starting,
    /// There is a code to scan, or to type.
    Waiting,
    /// The phone accepted, and the first connection is being made.
    Linking,
    /// A phone is linked. Whether there is a connection is told by the channel's state.
    Linked,
}

/// A secret to be shown to the person with the phone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown {
    /// The text: of the QR code, or of the eight characters.
    pub secret: Secret,
    /// Until when it is good.
    pub expires_at: Timestamp,
}

impl Stage {
    /// Every stage.
    pub const ALL: &[Self] = &[Self::Unlinked, Self::Starting, Self::Waiting, Self::Linking, Self::Linked];

    /// The word in answers.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Unlinked => "unlinked",
            Self::Starting => "starting",
            Self::Waiting => "waiting",
            Self::Linking => "linking",
            Self::Linked => "linked",
        }
    }
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
