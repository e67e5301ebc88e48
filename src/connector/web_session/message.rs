//! What is sent, and what was made of it.

use std::any::Any;
use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, de};
use uuid::Uuid;

use super::Jid;

/// What all ids begin with that WhatsApp Web makes.
const PREFIX: &str = "3EB0";
/// The most characters of a message's id. WhatsApp's own have 22 at most.
const MOST_ID_CHARACTERS: usize = 64;

/// The id of a message, chosen by who sends it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct MessageId(String);

/// A text that is no id of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("is not the id of a message: 1 to 64 letters, digits, dots and hyphens")]
pub struct InvalidMessageId;

impl<'de> Deserialize<'de> for MessageId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::parse(&String::deserialize(deserializer)?).map_err(de::Error::custom)
    }
}

impl MessageId {
    /// A new one, in the form that WhatsApp Web gives its own.
    pub fn generate() -> Self {
        Self::of_bytes(rand::random())
    }

    /// The id of the message of a send, which is the same whenever it is asked for: a message that is sent again
    /// is the same message. It holds the send's time and the end of its id, so that [`MessageId::stamp`] leads
    /// back to it.
    pub fn of_send(send_id: Uuid) -> Self {
        let bytes = send_id.as_bytes();
        let mut stamp = [0; 9];
        stamp[..6].copy_from_slice(&bytes[..6]);
        stamp[6..].copy_from_slice(&bytes[13..]);
        Self::of_bytes(stamp)
    }

    /// Of an id that [`MessageId::of_send`] made: the send's time in Unix milliseconds, and the last three bytes of
    /// its id.
    pub fn stamp(&self) -> Option<(u64, [u8; 3])> {
        let mut stamp = [0; 9];
        hex::decode_to_slice(self.0.strip_prefix(PREFIX)?, &mut stamp).ok()?;
        let [a, b, c, d, e, f, tail @ ..] = stamp;
        Some((u64::from_be_bytes([0, 0, a, b, c, d, e, f]), tail))
    }

    fn of_bytes(bytes: [u8; 9]) -> Self {
        Self(format!("{PREFIX}{}", hex::encode_upper(bytes)))
    }

    /// Takes an id that was stored or heard.
    ///
    /// # Errors
    ///
    /// [`InvalidMessageId`].
    pub fn parse(text: &str) -> Result<Self, InvalidMessageId> {
        let is_known = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_');
        let is_valid = (1..=MOST_ID_CHARACTERS).contains(&text.len()) && text.bytes().all(is_known);
        if is_valid { Ok(Self(text.to_owned())) } else { Err(InvalidMessageId) }
    }

    /// The id itself.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for MessageId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What is sent.
#[derive(Clone, PartialEq, Eq)]
pub enum Content {
    /// A text; links in it can be tapped.
    Text(String),
    /// A file.
    Media(Media),
}

/// A file that is sent.
#[derive(Clone, PartialEq, Eq)]
pub struct Media {
    /// How it is shown.
    pub kind: MediaKind,
    /// The file itself; nothing is converted.
    pub bytes: Vec<u8>,
    /// Such as `image/jpeg`. A voice message has to be `audio/ogg; codecs=opus`.
    pub mimetype: String,
    /// Shown for documents.
    pub file_name: Option<String>,
    /// Shown below images, videos and documents.
    pub caption: Option<String>,
    /// How long a video or audio is.
    pub seconds: Option<u32>,
    /// A small JPEG that is shown until the file is loaded; not for audio.
    pub jpeg_thumbnail: Option<Vec<u8>>,
}

/// How a file is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MediaKind {
    /// As a picture.
    Image,
    /// As a video.
    Video,
    /// As a sound.
    Audio {
        /// As a voice message (push to talk).
        is_voice: bool,
    },
    /// As a file to be saved.
    Document,
}

/// Bodies do not belong in logs.
impl fmt::Debug for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => write!(f, "Text({} bytes)", text.len()),
            Self::Media(media) => media.fmt(f),
        }
    }
}

impl fmt::Debug for Media {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Media({:?}, {}, {} bytes)", self.kind, self.mimetype, self.bytes.len())
    }
}

/// A message that can be handed over by the session that prepared it, and by no other.
pub struct Prepared {
    built: Built,
    /// The driver's own.
    message: Box<dyn Any + Send>,
}

impl Prepared {
    /// A message of a driver's own type, and a description of it.
    pub fn new<M: Send + 'static>(built: Built, message: M) -> Self {
        Self { built, message: Box::new(message) }
    }

    /// What was made of the content.
    pub const fn built(&self) -> &Built {
        &self.built
    }

    /// The driver's message; `None` when another driver prepared it.
    pub fn into_message<M: 'static>(self) -> Option<M> {
        self.message.downcast().ok().map(|message| *message)
    }
}

/// Bodies do not belong in logs.
impl fmt::Debug for Prepared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Prepared").finish_non_exhaustive()
    }
}

/// A message that was handed over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sent {
    /// Whom it went to.
    pub to: Jid,
    /// The id that it was sent under.
    pub id: MessageId,
    /// What it holds.
    pub built: Built,
}

/// What was made of the content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Built {
    /// The text, unchanged.
    Text,
    /// The file.
    Media(BuiltMedia),
}

/// A file that was uploaded, encrypted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BuiltMedia {
    /// How it is shown.
    pub kind: MediaKind,
    /// Where the encrypted file lies; it is good for some weeks.
    pub url: String,
    /// What it says that it is.
    pub mimetype: String,
    /// Bytes of the file before it was encrypted.
    pub file_length: u64,
    /// As it was given; of documents only.
    pub file_name: Option<String>,
    /// As it was given; not of audio.
    pub caption: Option<String>,
    /// As it was given; of video and audio only.
    pub seconds: Option<u32>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_id_of_a_send_leads_back_to_its_time_and_its_end() {
        let send = Uuid::parse_str("0193a0b1-c2d3-7e4f-8a5b-6c7d8e9fa0b1").unwrap();
        let id = MessageId::of_send(send);
        assert_eq!(id, MessageId::of_send(send));
        assert_eq!(id.as_str(), "3EB00193A0B1C2D39FA0B1");
        assert_eq!(id.stamp(), Some((0x0193_a0b1_c2d3, [0x9f, 0xa0, 0xb1])));
        for foreign in
            ["3EB0", "BAE50193A0B1C2D39FA0B1", "3EB00193A0B1C2D39FA0B1FF", "3EB00193A0B1C2D39FA0XY"]
        {
            assert_eq!(MessageId::parse(foreign).unwrap().stamp(), None, "{foreign}");
        }
    }

    #[test]
    fn new_ids_look_like_those_of_whatsapp_web_and_differ() {
        let (one, other) = (MessageId::generate(), MessageId::generate());
        assert_ne!(one, other);
        assert!(one.as_str().starts_with("3EB0") && one.as_str().len() == 22, "{one}");
        assert_eq!(MessageId::parse(one.as_str()), Ok(one));
    }

    #[test]
    fn what_could_not_be_an_id_is_refused() {
        for text in ["", "a b", "é", "a\n", &"A".repeat(65)] {
            assert_eq!(MessageId::parse(text), Err(InvalidMessageId), "{text}");
        }
    }

    #[test]
    fn contents_are_not_shown() {
        let shown = format!("{:?}", Content::Text("hush".to_owned()));
        assert_eq!(shown, "Text(4 bytes)");
    }
}
