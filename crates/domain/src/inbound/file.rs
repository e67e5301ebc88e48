//! The state of a file that a person sent: being fetched, kept, or missing with a reason.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::InboundBody;
use crate::words::words;

/// Why the file of a message is not there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum MissingFile {
    /// It is larger than the service takes.
    TooLarge,
    /// The provider does not have it any more, or not for this channel.
    Gone,
    /// What arrived is not what was sent.
    Damaged,
    /// The scanner refused it.
    Infected,
    /// The scanner did not say what it thinks of it.
    NotScanned,
    /// The service takes no files of its type.
    RefusedType,
    /// The disk of the service is full. The file is fetched again while the provider has it.
    DiskFull,
    /// The company has no room for it. The file is fetched again while the provider has it.
    NoRoom,
    /// It is not kept, or not any longer.
    NotKept,
}

words!(MissingFile {
    TooLarge = "too_large",
    Gone = "gone",
    Damaged = "damaged",
    Infected = "infected",
    NotScanned = "not_scanned",
    RefusedType = "refused_type",
    DiskFull = "disk_full",
    NoRoom = "no_room",
    NotKept = "not_kept",
});

impl MissingFile {
    /// The reason in a sentence.
    pub const fn sentence(self) -> &'static str {
        match self {
            Self::TooLarge => "the file is larger than this service takes",
            Self::Gone => "WhatsApp does not have the file any more: ask the person to send it again",
            Self::Damaged => {
                "what WhatsApp delivers is not the file that was sent: ask the person to send it again"
            }
            Self::Infected => "the virus scanner refused the file",
            Self::NotScanned => "the virus scanner did not answer, and files are not kept without its answer",
            Self::RefusedType => "this service takes no files of this type",
            Self::DiskFull => {
                "the disk of this service is full: the file is fetched again while WhatsApp has it, for seven days"
            }
            Self::NoRoom => {
                "the company's files take all the room that they may: the file is fetched again while WhatsApp has it, for \
                 seven days"
            }
            Self::NotKept => "the file is not kept, or not any longer",
        }
    }

    /// Its number in the database.
    pub const fn as_i16(self) -> i16 {
        self as i16
    }

    /// From its number.
    pub fn from_i16(number: i16) -> Option<Self> {
        Self::ALL.get(usize::try_from(number).ok()?).copied()
    }
}

/// The state of the file of a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum InboundFile {
    /// It is being fetched. Its address answers 503 until it is there.
    Fetching {
        /// Where it can be read without a key for a week, as a path below the address of this service.
        path: String,
        /// The whole address; null when the service does not know its own.
        url: Option<String>,
    },
    /// It can be read.
    Kept {
        /// Where it can be read without a key for a week, as a path below the address of this service.
        path: String,
        /// The whole address; null when the service does not know its own.
        url: Option<String>,
        /// What it is by its content: `image`, `video` and `audio` can be shown, a `document` is only saved.
        kind: String,
        /// Its type, by its content.
        mime_type: String,
        /// Its length in bytes.
        size: u64,
        /// Its name, without folders and deceptive characters.
        name: String,
        /// Whether there is a small JPEG of it.
        has_thumbnail: bool,
    },
    /// It is not there.
    Missing {
        /// Why.
        reason: MissingFile,
        /// The same in a sentence.
        sentence: String,
    },
}

impl InboundFile {
    /// A file that is not there.
    pub fn missing(reason: MissingFile) -> Self {
        Self::Missing { reason, sentence: reason.sentence().to_owned() }
    }
}

impl InboundBody {
    /// Sets the state of the file, if the content has one.
    pub fn set_file(&mut self, file: InboundFile) {
        if let Some(media) = self.content.media_mut() {
            media.file = Some(file);
        }
    }
}
