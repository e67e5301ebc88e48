//! Messages: their contents before and after they are sent.

use std::any::Any;
use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, de};
use uuid::Uuid;

use super::Jid;
use crate::location::Location;

/// The prefix of all ids that WhatsApp Web generates.
const PREFIX: &str = "3EB0";
/// The maximum number of characters of a message's id. WhatsApp's own have at most 22.
const MOST_ID_CHARACTERS: usize = 64;

/// The id of a message, chosen by its sender.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct MessageId(String);

/// The error for a text that is no id of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("is not the id of a message: 1 to 64 letters, digits, dots and hyphens")]
pub struct InvalidMessageId;

impl<'de> Deserialize<'de> for MessageId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::parse(&String::deserialize(deserializer)?).map_err(de::Error::custom)
    }
}

impl MessageId {
    /// A new id, in the form of WhatsApp Web's own ids.
    pub fn generate() -> Self {
        Self::of_bytes(rand::random())
    }

    /// The id of the message of a send. It is always the same for a send, so that a retry is the same message
    /// to WhatsApp. It contains the send's time and the end of the send's id, so that [`MessageId::stamp`]
    /// leads back to the send.
    pub fn of_send(send_id: Uuid) -> Self {
        let bytes = send_id.as_bytes();
        let mut stamp = [0; 9];
        stamp[..6].copy_from_slice(&bytes[..6]);
        stamp[6..].copy_from_slice(&bytes[13..]);
        Self::of_bytes(stamp)
    }

    /// The send's time in Unix milliseconds and the last three bytes of its id, for an id that
    /// [`MessageId::of_send`] returned.
    pub fn stamp(&self) -> Option<(u64, [u8; 3])> {
        let mut stamp = [0; 9];
        hex::decode_to_slice(self.0.strip_prefix(PREFIX)?, &mut stamp).ok()?;
        let [a, b, c, d, e, f, tail @ ..] = stamp;
        Some((u64::from_be_bytes([0, 0, a, b, c, d, e, f]), tail))
    }

    fn of_bytes(bytes: [u8; 9]) -> Self {
        Self(format!("{PREFIX}{}", hex::encode_upper(bytes)))
    }

    /// Parses an id that was stored or received.
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

/// The content of a message.
#[derive(Clone, PartialEq, Eq)]
pub enum Content {
    /// A text; links in it can be tapped.
    Text(String),
    /// A file.
    Media(Media),
    /// A place on the map.
    Location(Location),
    /// Cards of people, at least one.
    Contacts(Vec<Card>),
    /// An emoji below a message.
    Reaction(ReactionTo),
}

/// The message that another one answers, which is shown above it.
#[derive(Clone, PartialEq, Eq)]
pub struct Quoted {
    /// The message.
    pub message: MessageId,
    /// Its author; `None` for the session's own account.
    pub author: Option<Jid>,
    /// Its words in one line; empty when it has none or they are not known.
    pub line: String,
}

/// Bodies do not belong in logs.
impl fmt::Debug for Quoted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Quoted({})", self.message)
    }
}

/// A card of a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Card {
    /// The name, as it is shown.
    pub name: String,
    /// The card in the format vCard.
    pub vcard: String,
}

impl Card {
    /// What several cards in one message are called, in the words of WhatsApp's apps.
    pub fn names(cards: &[Self]) -> String {
        format!("{} contacts", cards.len())
    }
}

/// An emoji below a message, which takes the place of an earlier one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReactionTo {
    /// The conversation of the message.
    pub chat: Jid,
    /// The message.
    pub message: MessageId,
    /// Whether the session's own account wrote the message.
    pub is_own: bool,
    /// The person who wrote the message, for somebody else's message in a group.
    pub author: Option<Jid>,
    /// One emoji; an empty text removes the reaction.
    pub emoji: String,
}

/// A file to send.
#[derive(Clone, PartialEq, Eq)]
pub struct Media {
    /// How the file is shown.
    pub kind: MediaKind,
    /// The file itself, without conversion.
    pub bytes: Vec<u8>,
    /// The type, such as `image/jpeg`. A voice message has to be `audio/ogg; codecs=opus`.
    pub mimetype: String,
    /// The name that is shown for documents.
    pub file_name: Option<String>,
    /// The caption below images, videos and documents; stickers have none.
    pub caption: Option<String>,
    /// The length of a video or audio.
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
    /// As a sticker.
    Sticker {
        /// Whether it moves.
        is_animated: bool,
    },
}

/// Bodies do not belong in logs.
impl fmt::Debug for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => write!(f, "Text({} bytes)", text.len()),
            Self::Media(media) => media.fmt(f),
            Self::Location(_) => f.write_str("Location"),
            Self::Contacts(cards) => write!(f, "Contacts({})", cards.len()),
            Self::Reaction(_) => f.write_str("Reaction"),
        }
    }
}

impl fmt::Debug for Media {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Media({:?}, {}, {} bytes)", self.kind, self.mimetype, self.bytes.len())
    }
}

/// A prepared message, which only the session that prepared it can hand over.
pub struct Prepared {
    built: Built,
    /// The driver's own type.
    message: Box<dyn Any + Send>,
}

impl Prepared {
    /// A message of a driver's own type, and a description of it.
    pub fn new<M: Send + 'static>(built: Built, message: M) -> Self {
        Self { built, message: Box::new(message) }
    }

    /// The description of the message.
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
    /// The recipient.
    pub to: Jid,
    /// The id under which it was sent.
    pub id: MessageId,
    /// The description of its content.
    pub built: Built,
}

/// A description of the content of a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Built {
    /// The text, unchanged.
    Text,
    /// The file.
    Media(BuiltMedia),
    /// The place.
    Location(Location),
    /// The cards.
    Contacts(Vec<Card>),
    /// The emoji and its message.
    Reaction(ReactionTo),
}

/// An uploaded and encrypted file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BuiltMedia {
    /// How it is shown.
    pub kind: MediaKind,
    /// The address of the encrypted file, valid for some weeks.
    pub url: String,
    /// The type that the message gives.
    pub mimetype: String,
    /// The size of the file in bytes before encryption.
    pub file_length: u64,
    /// The given name; only for documents.
    pub file_name: Option<String>,
    /// The given caption; not for audio and stickers.
    pub caption: Option<String>,
    /// The given length; only for video and audio.
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
    fn an_invalid_id_is_refused() {
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
