//! The answer to a message that was handed over, in the format of WhatsApp Web.

use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use super::content::{Location, Reaction, VCard, VCards};
use super::file::File;
use crate::connector::web_session::{Built, BuiltMedia, MediaKind};
use crate::engine::HandedOver;

/// A message was sent.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = WebSent)]
pub(crate) struct Sent {
    /// For a person.
    #[schema(example = "Message sent")]
    message: &'static str,
    /// One item.
    data: [Item; 1],
    /// The send, whose state `GET /api/v1/sends/{id}` has from now on.
    send_id: Uuid,
    /// The fields of the request that had no effect: fields that this path does not know, or that the message's type
    /// does not use. The first ones of many; absent when there are none.
    #[schema(required = false, example = json!(["file_name"]))]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    ignored: Vec<String>,
}

/// A message that was sent.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = WebSentItem)]
struct Item {
    /// Its position, from 0.
    #[schema(example = 0)]
    index: u32,
    result: Outcome,
}

/// The message that was sent.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = WebSentResult)]
struct Outcome {
    key: Key,
    message: Message,
    /// Unix seconds.
    #[serde(rename = "messageTimestamp")]
    #[schema(example = "1763800000")]
    message_timestamp: String,
    /// WhatsApp's server has not confirmed the message yet; the send has its later states.
    status: Status,
}

/// The status of a message that was handed over.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[schema(as = WebSentStatus)]
enum Status {
    Pending,
}

/// The content that was handed over: one of these types.
#[derive(Debug, Serialize, ToSchema)]
#[serde(untagged)]
#[schema(as = WebMessage)]
enum Message {
    Text(TextMessage),
    Image(ImageMessage),
    Video(VideoMessage),
    Audio(AudioMessage),
    Document(DocumentMessage),
    Sticker(StickerMessage),
    Location(LocationMessage),
    Contact(ContactMessage),
    Contacts(ContactsMessage),
    Reaction(ReactionMessage),
}

/// A text.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = WebTextMessage)]
struct TextMessage {
    extended_text_message: Text,
}

/// A picture.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = WebImageMessage)]
struct ImageMessage {
    image_message: SentFile,
}

/// A film.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = WebVideoMessage)]
struct VideoMessage {
    video_message: SentFile,
}

/// A sound.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = WebAudioMessage)]
struct AudioMessage {
    audio_message: SentFile,
}

/// Any other file.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = WebDocumentMessage)]
struct DocumentMessage {
    document_message: SentFile,
}

/// A sticker.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = WebStickerMessage)]
struct StickerMessage {
    sticker_message: SentFile,
}

/// A place on the map.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = WebLocationMessage)]
struct LocationMessage {
    location_message: Location,
}

/// One person's card.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = WebContactMessage)]
struct ContactMessage {
    contact_message: VCard,
}

/// The cards of several people.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = WebContactsMessage)]
struct ContactsMessage {
    contacts_array_message: VCards,
}

/// An emoji below a message.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = WebReactionMessage)]
struct ReactionMessage {
    reaction_message: Reaction,
}

/// A text.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = WebText)]
struct Text {
    /// As it was given.
    #[schema(example = "Your order has left.")]
    text: String,
}

/// A file that was sent.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = WebSentFile)]
struct SentFile {
    /// The address of the encrypted file, valid for some weeks.
    url: String,
    #[serde(flatten)]
    file: File,
    /// As it was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String)]
    caption: Option<String>,
    /// Whether a sticker moves.
    #[serde(rename = "isAnimated", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = bool)]
    is_animated: Option<bool>,
}

/// The key of a message.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = WebMessageKey)]
struct Key {
    /// The recipient.
    #[serde(rename = "remoteJid")]
    #[schema(example = "5511988887777@s.whatsapp.net")]
    remote_jid: String,
    /// Always true.
    #[serde(rename = "fromMe")]
    from_me: bool,
    /// The message's id.
    #[schema(example = "3EB00193A0B1C2D39FA0B1")]
    id: String,
}

impl From<HandedOver> for Sent {
    fn from(HandedOver { send_id, sent, text, ignored, at }: HandedOver) -> Self {
        let message = match sent.built {
            Built::Text => {
                Message::Text(TextMessage { extended_text_message: Text { text: text.unwrap_or_default() } })
            }
            Built::Media(media) => media.into(),
            Built::Location(location) => {
                Message::Location(LocationMessage { location_message: location.into() })
            }
            Built::Contacts(cards) => match <[_; 1]>::try_from(cards) {
                Ok([card]) => Message::Contact(ContactMessage { contact_message: card.into() }),
                Err(cards) => Message::Contacts(ContactsMessage { contacts_array_message: cards.into() }),
            },
            Built::Reaction(reaction) => {
                Message::Reaction(ReactionMessage { reaction_message: reaction.into() })
            }
        };
        let key =
            Key { remote_jid: sent.to.as_str().to_owned(), from_me: true, id: sent.id.as_str().to_owned() };
        let message_timestamp = at.millis().div_euclid(1_000).to_string();
        let result = Outcome { key, message, message_timestamp, status: Status::Pending };
        Self { message: "Message sent", data: [Item { index: 0, result }], send_id, ignored }
    }
}

impl From<BuiltMedia> for Message {
    fn from(
        BuiltMedia { kind, url, mimetype, file_length, file_name, caption, seconds }: BuiltMedia,
    ) -> Self {
        let is_voice_note = match kind {
            MediaKind::Audio { is_voice } => Some(is_voice),
            MediaKind::Image | MediaKind::Video | MediaKind::Document | MediaKind::Sticker { .. } => None,
        };
        let is_animated = match kind {
            MediaKind::Sticker { is_animated } => Some(is_animated),
            MediaKind::Image | MediaKind::Video | MediaKind::Document | MediaKind::Audio { .. } => None,
        };
        let file = File::new(mimetype, file_length, file_name, seconds, is_voice_note);
        let file = SentFile { url, file, caption, is_animated };
        match kind {
            MediaKind::Image => Self::Image(ImageMessage { image_message: file }),
            MediaKind::Video => Self::Video(VideoMessage { video_message: file }),
            MediaKind::Audio { .. } => Self::Audio(AudioMessage { audio_message: file }),
            MediaKind::Document => Self::Document(DocumentMessage { document_message: file }),
            MediaKind::Sticker { .. } => Self::Sticker(StickerMessage { sticker_message: file }),
        }
    }
}
