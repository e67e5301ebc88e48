//! What a message from a person says.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use super::{AnswerSource, InboundMedia, OrderItem, SharedContact};
use crate::location::Location;

/// The most bytes of a text. WhatsApp's own limit is below it.
const TEXT_BYTES: usize = 64 * 1024;
/// The most bytes of a provider's object that is kept as it came.
const RAW_BYTES: usize = 16 * 1024;
/// The most characters of the line by which a list shows a message.
const LINE_CHARS: usize = 160;

/// A text, cut after 64 KiB at the latest, without NUL.
pub fn bounded(text: &str) -> String {
    let mut end = text.len().min(TEXT_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text[..end].replace('\0', "")
}

/// A provider's object as it came; as a text, cut, if it is larger than 16 KiB or no JSON.
pub fn bounded_raw(json: &str) -> Value {
    let whole = (json.len() <= RAW_BYTES).then(|| serde_json::from_str(json).ok()).flatten();
    whole.unwrap_or_else(|| {
        let mut end = json.len().min(RAW_BYTES);
        while !json.is_char_boundary(end) {
            end -= 1;
        }
        Value::String(json[..end].replace('\0', ""))
    })
}

/// What was written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum InboundContent {
    /// Plain text.
    Text {
        /// The text.
        body: String,
    },
    /// A picture.
    Image {
        /// The file.
        media: InboundMedia,
    },
    /// A video.
    Video {
        /// The file.
        media: InboundMedia,
    },
    /// Sound, or a voice message.
    Audio {
        /// The file.
        media: InboundMedia,
    },
    /// Any other file.
    Document {
        /// The file.
        media: InboundMedia,
    },
    /// A small picture without a frame.
    Sticker {
        /// The file.
        media: InboundMedia,
    },
    /// A place on the map.
    Location {
        /// The place.
        location: Location,
    },
    /// Cards of people.
    Contacts {
        /// The cards.
        contacts: Vec<SharedContact>,
    },
    /// An emoji below a message, or its removal.
    Reaction {
        /// The provider's id of the message.
        message_id: String,
        /// The emoji; null when it was removed.
        emoji: Option<String>,
    },
    /// Another text for an earlier message, or another caption for its file.
    Edit {
        /// The provider's id of the message.
        message_id: String,
        /// The text or caption now; null when it has none.
        text: Option<String>,
    },
    /// An earlier message was deleted for everyone.
    Deletion {
        /// The provider's id of the message.
        message_id: String,
    },
    /// A button or a row of a list that the person chose.
    Answer {
        /// What the person chose from.
        source: AnswerSource,
        /// The id or payload that the company gave it.
        id: Option<String>,
        /// Its text.
        title: String,
        /// The text below a row's title.
        description: Option<String>,
    },
    /// The answer to a flow, or to another form of WhatsApp.
    Flow {
        /// The name of the form.
        name: Option<String>,
        /// The text in the chat.
        body: Option<String>,
        /// What was filled in, as the provider gives it.
        response: Value,
    },
    /// An order from a catalogue.
    Order {
        /// The catalogue.
        catalog_id: Option<String>,
        /// The text with it.
        text: Option<String>,
        /// What was ordered.
        items: Vec<OrderItem>,
    },
    /// The person called, or tried to.
    Call {
        /// The provider's word for what happened, such as `connect`.
        event: String,
    },
    /// Something about the person, such as another number.
    System {
        /// The provider's word for it, such as `user_changed_number`.
        event: String,
        /// What the provider says about it.
        body: Option<String>,
        /// The person's number from now on, with its plus sign.
        new_number: Option<String>,
        /// The person's id within the business from now on.
        new_user_id: Option<String>,
    },
    /// Something that this version does not know, as it came.
    Unsupported {
        /// The provider's word for it, if it has one.
        kind: Option<String>,
        /// Why the provider did not pass it on, in its words.
        reason: Option<String>,
        /// The provider's object, or its beginning as a text.
        raw: Value,
    },
}

impl InboundContent {
    /// The word of its type.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Text { .. } => "text",
            Self::Image { .. } => "image",
            Self::Video { .. } => "video",
            Self::Audio { .. } => "audio",
            Self::Document { .. } => "document",
            Self::Sticker { .. } => "sticker",
            Self::Location { .. } => "location",
            Self::Contacts { .. } => "contacts",
            Self::Reaction { .. } => "reaction",
            Self::Edit { .. } => "edit",
            Self::Deletion { .. } => "deletion",
            Self::Answer { .. } => "answer",
            Self::Flow { .. } => "flow",
            Self::Order { .. } => "order",
            Self::Call { .. } => "call",
            Self::System { .. } => "system",
            Self::Unsupported { .. } => "unsupported",
        }
    }

    /// The message that it changes: such a content is no entry of its own in a conversation.
    pub fn target(&self) -> Option<&str> {
        match self {
            Self::Reaction { message_id, .. }
            | Self::Edit { message_id, .. }
            | Self::Deletion { message_id } => Some(message_id),
            _ => None,
        }
    }

    /// Whether the person wrote or did something new.
    pub const fn is_new(&self) -> bool {
        !matches!(self, Self::Edit { .. } | Self::Deletion { .. } | Self::System { .. })
    }

    /// Whether a person who reads the conversation has something new to read.
    pub const fn is_to_be_read(&self) -> bool {
        self.is_new() && !matches!(self, Self::Reaction { .. })
    }

    /// The file, if it has one.
    pub const fn media(&self) -> Option<&InboundMedia> {
        match self {
            Self::Image { media }
            | Self::Video { media }
            | Self::Audio { media }
            | Self::Document { media }
            | Self::Sticker { media } => Some(media),
            _ => None,
        }
    }

    pub(super) const fn media_mut(&mut self) -> Option<&mut InboundMedia> {
        match self {
            Self::Image { media }
            | Self::Video { media }
            | Self::Audio { media }
            | Self::Document { media }
            | Self::Sticker { media } => Some(media),
            _ => None,
        }
    }

    /// Gives it another text or caption, if it has one.
    pub fn edit(&mut self, text: Option<&str>) {
        if let Self::Text { body } = self {
            text.unwrap_or_default().clone_into(body);
        } else if let Some(media) = self.media_mut() {
            media.caption = text.map(str::to_owned);
        }
    }

    /// Its words in one line of at most 160 characters, as a list shows it; empty for one without words.
    pub fn line(&self) -> String {
        let words = match self {
            Self::Text { body } => body.as_str(),
            Self::Location { location } => location.name.as_deref().unwrap_or_default(),
            Self::Contacts { contacts } => {
                contacts.first().and_then(|contact| contact.name.as_deref()).unwrap_or_default()
            }
            Self::Edit { text, .. } | Self::Order { text, .. } => text.as_deref().unwrap_or_default(),
            Self::Answer { title, .. } => title,
            Self::Flow { body, .. } | Self::System { body, .. } => body.as_deref().unwrap_or_default(),
            Self::Reaction { emoji, .. } => emoji.as_deref().unwrap_or_default(),
            Self::Deletion { .. } | Self::Call { .. } | Self::Unsupported { .. } => "",
            Self::Image { media }
            | Self::Video { media }
            | Self::Audio { media }
            | Self::Document { media }
            | Self::Sticker { media } => {
                media.caption.as_deref().or(media.file_name.as_deref()).unwrap_or_default()
            }
        };
        let mut line = String::new();
        for word in words.split_whitespace() {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
            if line.len() > 4 * LINE_CHARS {
                break;
            }
        }
        line.chars().take(LINE_CHARS).collect()
    }
}
