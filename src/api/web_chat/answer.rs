//! The answer to a message that was handed over, in the words of WhatsApp Web.

use serde::Serialize;
use serde_json::{Map, Value, json};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::connector::web_session::{Built, BuiltMedia, MediaKind};
use crate::engine::HandedOver;

/// A message was sent.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = WebSent)]
pub(in crate::api) struct Sent {
    /// For a person.
    #[schema(example = "Message sent")]
    message: &'static str,
    /// One item.
    data: [Item; 1],
    /// The send, whose state `GET /api/v1/sends/{id}` tells from here on.
    send_id: Uuid,
}

/// A message that was sent.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = WebSentItem)]
struct Item {
    /// Its place, from 0.
    #[schema(example = 0)]
    index: u32,
    result: Outcome,
}

/// What was sent.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = WebSentResult)]
struct Outcome {
    key: Key,
    /// `extendedTextMessage`, `imageMessage`, `videoMessage`, `audioMessage` or `documentMessage`.
    #[schema(value_type = Object, example = json!({"extendedTextMessage": {"text": "Your order has left."}}))]
    message: Map<String, Value>,
    /// Unix seconds.
    #[serde(rename = "messageTimestamp")]
    #[schema(example = "1763800000")]
    message_timestamp: String,
    /// WhatsApp's server has not said yet that it has it; the send's state tells how it goes on.
    #[schema(example = "PENDING")]
    status: &'static str,
}

/// What names a message.
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
    fn from(HandedOver { send_id, sent, text, at }: HandedOver) -> Self {
        let (kind, content) = match sent.built {
            Built::Text => ("extendedTextMessage", json!({ "text": text.unwrap_or_default() })),
            Built::Media(media) => (kind(media.kind), file(media)),
        };
        let key =
            Key { remote_jid: sent.to.as_str().to_owned(), from_me: true, id: sent.id.as_str().to_owned() };
        let message = Map::from_iter([(kind.to_owned(), content)]);
        let message_timestamp = at.millis().div_euclid(1_000).to_string();
        let result = Outcome { key, message, message_timestamp, status: "PENDING" };
        Self { message: "Message sent", data: [Item { index: 0, result }], send_id }
    }
}

const fn kind(kind: MediaKind) -> &'static str {
    match kind {
        MediaKind::Image => "imageMessage",
        MediaKind::Video => "videoMessage",
        MediaKind::Audio { .. } => "audioMessage",
        MediaKind::Document => "documentMessage",
    }
}

fn file(file: BuiltMedia) -> Value {
    let BuiltMedia { kind, url, mimetype, file_length, file_name, caption, seconds } = file;
    let mut told = Map::new();
    told.insert("url".to_owned(), url.into());
    told.insert("mimetype".to_owned(), mimetype.into());
    told.insert("fileLength".to_owned(), file_length.to_string().into());
    if let MediaKind::Audio { is_voice } = kind {
        told.insert("seconds".to_owned(), seconds.unwrap_or_default().into());
        told.insert("ptt".to_owned(), is_voice.into());
    } else if let Some(seconds) = seconds {
        told.insert("seconds".to_owned(), seconds.into());
    }
    for (name, text) in [("fileName", file_name), ("caption", caption)] {
        if let Some(text) = text {
            told.insert(name.to_owned(), text.into());
        }
    }
    told.into()
}
