//! The answer to a message that was handed over, in the format of WhatsApp Web.

use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use super::content::{WebContact, WebContacts, WebLocation, WebReaction};
use super::file::File;
use crate::connector::web_session::{Built, BuiltMedia, MediaKind};
use crate::engine::HandedOver;

/// A message was sent.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct WebSent {
    /// For a person.
    #[schema(example = "Message sent")]
    message: &'static str,
    /// One item.
    data: [WebSentItem; 1],
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
struct WebSentItem {
    /// Its position, from 0.
    #[schema(example = 0)]
    index: u32,
    result: WebSentResult,
}

/// The message that was sent.
#[derive(Debug, Serialize, ToSchema)]
struct WebSentResult {
    key: WebMessageKey,
    message: WebMessage,
    /// Unix seconds.
    #[serde(rename = "messageTimestamp")]
    #[schema(example = "1763800000")]
    message_timestamp: String,
    /// WhatsApp's server has not confirmed the message yet; the send has its later states.
    status: WebSentStatus,
}

/// The status of a message that was handed over.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
enum WebSentStatus {
    Pending,
}

/// The content that was handed over: one of these types.
#[derive(Debug, Serialize, ToSchema)]
#[serde(untagged)]
enum WebMessage {
    Text(WebTextMessage),
    Image(WebImageMessage),
    Video(WebVideoMessage),
    Audio(WebAudioMessage),
    Document(WebDocumentMessage),
    Sticker(WebStickerMessage),
    Location(WebLocationMessage),
    Contact(WebContactMessage),
    Contacts(WebContactsMessage),
    Reaction(WebReactionMessage),
}

/// Writes messages: each is an object with one field, whose name tells its type.
macro_rules! messages {
    ($($(#[$about:meta])+ $message:ident { $field:ident: $content:ident })*) => {$(
        $(#[$about])+
        #[derive(Debug, Serialize, ToSchema)]
        #[serde(rename_all = "camelCase")]
        struct $message {
            $field: $content,
        }
    )*};
}

messages! {
    /// A text.
    WebTextMessage { extended_text_message: WebText }
    /// A picture.
    WebImageMessage { image_message: WebSentFile }
    /// A film.
    WebVideoMessage { video_message: WebSentFile }
    /// A sound.
    WebAudioMessage { audio_message: WebSentFile }
    /// Any other file.
    WebDocumentMessage { document_message: WebSentFile }
    /// A sticker.
    WebStickerMessage { sticker_message: WebSentFile }
    /// A place on the map.
    WebLocationMessage { location_message: WebLocation }
    /// One person's card.
    WebContactMessage { contact_message: WebContact }
    /// The cards of several people.
    WebContactsMessage { contacts_array_message: WebContacts }
    /// An emoji below a message.
    WebReactionMessage { reaction_message: WebReaction }
}

/// A text.
#[derive(Debug, Serialize, ToSchema)]
struct WebText {
    /// As it was given.
    #[schema(example = "Your order has left.")]
    text: String,
}

/// A file that was sent.
#[derive(Debug, Serialize, ToSchema)]
struct WebSentFile {
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
struct WebMessageKey {
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

impl From<HandedOver> for WebSent {
    fn from(HandedOver { send_id, sent, text, ignored, at }: HandedOver) -> Self {
        let message = match sent.built {
            Built::Text => WebMessage::Text(WebTextMessage {
                extended_text_message: WebText { text: text.unwrap_or_default() },
            }),
            Built::Media(media) => media.into(),
            Built::Location(location) => {
                WebMessage::Location(WebLocationMessage { location_message: location.into() })
            }
            Built::Contacts(cards) => match <[_; 1]>::try_from(cards) {
                Ok([card]) => WebMessage::Contact(WebContactMessage { contact_message: card.into() }),
                Err(cards) => {
                    WebMessage::Contacts(WebContactsMessage { contacts_array_message: cards.into() })
                }
            },
            Built::Reaction(reaction) => {
                WebMessage::Reaction(WebReactionMessage { reaction_message: reaction.into() })
            }
        };
        let key = WebMessageKey {
            remote_jid: sent.to.as_str().to_owned(),
            from_me: true,
            id: sent.id.as_str().to_owned(),
        };
        let message_timestamp = at.millis().div_euclid(1_000).to_string();
        let result = WebSentResult { key, message, message_timestamp, status: WebSentStatus::Pending };
        Self { message: "Message sent", data: [WebSentItem { index: 0, result }], send_id, ignored }
    }
}

impl From<BuiltMedia> for WebMessage {
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
        let file = WebSentFile { url, file, caption, is_animated };
        match kind {
            MediaKind::Image => Self::Image(WebImageMessage { image_message: file }),
            MediaKind::Video => Self::Video(WebVideoMessage { video_message: file }),
            MediaKind::Audio { .. } => Self::Audio(WebAudioMessage { audio_message: file }),
            MediaKind::Document => Self::Document(WebDocumentMessage { document_message: file }),
            MediaKind::Sticker { .. } => Self::Sticker(WebStickerMessage { sticker_message: file }),
        }
    }
}
