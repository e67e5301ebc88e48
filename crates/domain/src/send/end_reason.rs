//! Why a send ended, where nobody asked for it.

use crate::words::explained;

explained! {
    /// Why a send ended, where nobody asked for it. The words are part of the contract and never change.
    pub enum EndReason {
        /// The database was restored from a backup while the send was under way. Its messages without an answer may have been
        /// sent since the backup and are `unknown`.
        Restored = "restored",
            "Retry the `unknown` messages where that is right: `POST /api/v1/sends/ID/retry` with `{\"state\": \"unknown\"}`, or the console.";
    }
}

impl EndReason {
    /// The number that the database keeps.
    pub const fn as_i16(self) -> i16 {
        match self {
            Self::Restored => 1,
        }
    }

    /// Reads the stored number.
    pub fn from_i16(value: i16) -> Option<Self> {
        Self::ALL.iter().copied().find(|reason| reason.as_i16() == value)
    }
}
