//! What a message from a person consists of, besides its kind.

use std::fmt;

use base64::Engine as _;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{InboundContent, InboundFile};
use crate::words::words;

/// The content of a message from a person, with what it refers to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct InboundBody {
    /// What was written; its `type` says which fields it has.
    pub content: InboundContent,
    /// What it answers, and whether it was forwarded; null when it is neither.
    #[serde(default)]
    pub context: Option<MessageContext>,
    /// The advertisement or page that the person came from; null when there is none.
    #[serde(default)]
    pub referral: Option<Referral>,
    /// Who wrote it in a group; in a conversation with one person null, except in the notice of another number that begins the
    /// conversation under that number: there it has the former number.
    #[serde(default)]
    pub author: Option<MessageAuthor>,
    /// What Meta's own object of it says beyond the rest, as a change of [what is made](crate::graph::hook) of the rest: so that
    /// programs which speak Graph get it as it came, and it is not kept twice. Never told otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(ignore)]
    pub beyond: Option<serde_json::Value>,
}

/// Who wrote a message in a group.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct MessageAuthor {
    /// The number with its plus sign, if it is known.
    pub number: Option<String>,
    /// The id that WhatsApp has in place of a number.
    pub user_id: Option<String>,
    /// The name in the person's profile.
    pub name: Option<String>,
}

/// What a message answers.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct MessageContext {
    /// The provider's id of the message that it answers.
    pub message_id: Option<String>,
    /// Whether it was forwarded.
    #[serde(default)]
    pub forwarded: bool,
    /// Whether it was forwarded many times.
    #[serde(default)]
    pub frequently_forwarded: bool,
    /// The product that it asks about.
    pub product: Option<ReferredProduct>,
}

/// A product of a catalogue.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ReferredProduct {
    /// The catalogue.
    pub catalog_id: Option<String>,
    /// The company's own id of the product.
    pub product_retailer_id: Option<String>,
}

/// The advertisement or page from which a person came.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Referral {
    /// `ad` or `post`, or another word of the provider.
    pub source_type: Option<String>,
    /// Its id.
    pub source_id: Option<String>,
    /// Its address.
    pub source_url: Option<String>,
    /// Its headline.
    pub headline: Option<String>,
    /// Its text.
    pub body: Option<String>,
    /// The id of the click.
    pub click_id: Option<String>,
}

/// A file that a person sent. It is fetched from the provider, which keeps it for some days.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct InboundMedia {
    /// The provider's id of the file; null for a web session.
    pub id: Option<String>,
    /// Its type, as the sender says.
    pub mime_type: Option<String>,
    /// The SHA-256 of its content in base64, as the sender says.
    pub sha256: Option<String>,
    /// Its size in bytes, as the sender says.
    pub size: Option<u64>,
    /// The text below it.
    pub caption: Option<String>,
    /// Its name.
    pub file_name: Option<String>,
    /// Whether it is a voice message.
    #[serde(default)]
    pub voice: bool,
    /// Whether it moves: a sticker, or a video without sound in place of a GIF.
    #[serde(default)]
    pub animated: bool,
    /// With what a web session fetches and opens it. Never told outside.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(ignore)]
    pub keys: Option<MediaKeys>,
    /// The state of the file; absent while it cannot be read. Never stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<InboundFile>,
}

/// With what a web session fetches a file and opens it: values of WhatsApp, in base64.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MediaKeys {
    /// The path below WhatsApp's servers of files.
    pub direct_path: String,
    /// The key.
    pub media_key: String,
    /// The SHA-256 of the sealed file.
    pub sealed_sha256: String,
}

/// Bytes in base64, as WhatsApp writes them in texts.
pub fn base64_of(bytes: &[u8]) -> String {
    base64::engine::general_purpose::STANDARD.encode(bytes)
}

/// The bytes of such a text; `None` when it is none.
pub fn bytes_of_base64(text: &str) -> Option<Vec<u8>> {
    base64::engine::general_purpose::STANDARD.decode(text).ok()
}

impl fmt::Debug for MediaKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("MediaKeys")
    }
}

/// The card of a person.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SharedContact {
    /// The name.
    pub name: Option<String>,
    /// The numbers, as they are written on the card.
    pub phones: Vec<String>,
    /// The e-mail addresses.
    pub emails: Vec<String>,
    /// The organization.
    pub organization: Option<String>,
}

/// An item of an order.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct OrderItem {
    /// The company's own id of the product.
    pub product_retailer_id: Option<String>,
    /// How many.
    pub quantity: Option<i64>,
    /// The price of one, as the provider writes it.
    pub price: Option<String>,
    /// The currency of the price.
    pub currency: Option<String>,
}

/// What a person chose from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum AnswerSource {
    /// A button of a template.
    Template,
    /// A button of an interactive message.
    Button,
    /// A list.
    List,
}

words!(AnswerSource {
    Template = "template",
    Button = "button",
    List = "list",
});

impl InboundBody {
    /// A content that refers to nothing.
    pub const fn of(content: InboundContent) -> Self {
        Self { content, context: None, referral: None, author: None, beyond: None }
    }

    /// The body as it may be told outside: without the keys of its file, and without what only programs which speak Graph get.
    #[must_use]
    pub fn public(mut self) -> Self {
        self.beyond = None;
        if let Some(media) = self.content.media_mut() {
            media.keys = None;
            media.file = None;
        }
        self
    }

    /// The body as it is stored.
    pub fn to_json(&self) -> Vec<u8> {
        // It holds nothing that JSON cannot.
        serde_json::to_vec(self).unwrap_or_default()
    }

    /// From its stored form; `None` for one of a later version.
    pub fn from_json(json: &[u8]) -> Option<Self> {
        serde_json::from_slice(json).ok()
    }

    /// About how many bytes it takes in memory.
    pub fn bytes(&self) -> usize {
        match &self.content {
            InboundContent::Text { body } if self.beyond.is_none() => size_of::<Self>() + body.len(),
            _ => size_of::<Self>() + 2 * self.to_json().len(),
        }
    }
}
