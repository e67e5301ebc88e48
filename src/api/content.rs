//! The content of a send, in the fields of the request that asked for it.

use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use crate::api::schema::{SendType, SentCard, SentComponent, SentInteractive, SentLocation, SentReaction};
use crate::domain::contact_card::ContactCard;
use crate::domain::content::Content;
use crate::domain::location::Location;
use crate::domain::reaction::Reaction;
use crate::domain::template::Component;
use crate::engine::records::sends::Sent;

/// What a send sends, in the fields of its request; those that its type does not use, or that were not given, are
/// absent.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct SendContent {
    /// The type of its messages.
    #[schema(value_type = SendType, example = "text")]
    r#type: &'static str,
    /// The text.
    #[schema(value_type = String, required = false, example = "Your order is on its way.")]
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
    /// Whether the first link of the text is shown with a preview.
    #[schema(value_type = bool, required = false)]
    #[serde(skip_serializing_if = "Option::is_none")]
    preview_url: Option<bool>,
    /// The address of the file.
    #[schema(value_type = String, required = false)]
    #[serde(skip_serializing_if = "Option::is_none")]
    link: Option<String>,
    /// The text below the file.
    #[schema(value_type = String, required = false)]
    #[serde(skip_serializing_if = "Option::is_none")]
    caption: Option<String>,
    /// The name that the recipient sees. A business account's document that was given none has the end of its link.
    #[schema(value_type = String, required = false)]
    #[serde(skip_serializing_if = "Option::is_none")]
    filename: Option<String>,
    /// Whether the sound is a voice message.
    #[schema(value_type = bool, required = false)]
    #[serde(skip_serializing_if = "Option::is_none")]
    voice: Option<bool>,
    /// The template, in the language that was sent.
    #[schema(value_type = i64, required = false, example = 7)]
    #[serde(skip_serializing_if = "Option::is_none")]
    template_id: Option<i64>,
    /// The language of the template.
    #[schema(value_type = String, required = false, example = "pt_BR")]
    #[serde(skip_serializing_if = "Option::is_none")]
    language: Option<String>,
    /// The values of the template's variables.
    #[schema(value_type = Vec<SentComponent>, required = false)]
    #[serde(skip_serializing_if = "Option::is_none")]
    components: Option<Vec<Component>>,
    /// `true` when the texts of `components` have contact fields.
    #[schema(value_type = bool, required = false)]
    #[serde(skip_serializing_if = "Option::is_none")]
    contact_fields: Option<bool>,
    /// Buttons, a list or products.
    #[schema(value_type = SentInteractive, required = false)]
    #[serde(skip_serializing_if = "Option::is_none")]
    interactive: Option<Value>,
    /// The place.
    #[schema(value_type = SentLocation, required = false)]
    #[serde(skip_serializing_if = "Option::is_none")]
    location: Option<Location>,
    /// The cards of people.
    #[schema(value_type = Vec<SentCard>, required = false)]
    #[serde(skip_serializing_if = "Option::is_none")]
    contacts: Option<Vec<ContactCard>>,
    /// The message and the emoji.
    #[schema(value_type = SentReaction, required = false)]
    #[serde(skip_serializing_if = "Option::is_none")]
    reaction: Option<Reaction>,
}

impl From<Sent> for SendContent {
    fn from(Sent { channel_id: _, content, template_id, label: _ }: Sent) -> Self {
        Self::of(content, template_id)
    }
}

impl SendContent {
    /// This content, of the template with this id.
    pub(crate) fn of(content: Content, template_id: Option<i64>) -> Self {
        let empty = Self {
            r#type: content.kind().as_str(),
            message: None,
            preview_url: None,
            link: None,
            caption: None,
            filename: None,
            voice: None,
            template_id,
            language: None,
            components: None,
            contact_fields: None,
            interactive: None,
            location: None,
            contacts: None,
            reaction: None,
        };
        match content {
            Content::Text { body, preview_url } => Self { message: Some(body), preview_url, ..empty },
            Content::Image { link, caption } | Content::Video { link, caption } => {
                Self { link: Some(link), caption, ..empty }
            }
            Content::Audio { link, voice } => Self { link: Some(link), voice, ..empty },
            Content::Document { link, caption, filename } => {
                Self { link: Some(link), caption, filename, ..empty }
            }
            Content::Template { name: _, language, components, contact_fields } => Self {
                language: Some(language),
                components: Some(components),
                contact_fields: contact_fields.then_some(true),
                ..empty
            },
            Content::Interactive { interactive } => Self { interactive: Some(interactive), ..empty },
            Content::Sticker { link } => Self { link: Some(link), ..empty },
            Content::Location { location } => Self { location: Some(location), ..empty },
            Content::Contacts { contacts } => Self { contacts: Some(contacts), ..empty },
            Content::Reaction { reaction } => Self { reaction: Some(reaction), ..empty },
        }
    }
}
