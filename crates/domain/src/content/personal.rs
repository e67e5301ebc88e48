//! Content with placeholders, of which each recipient gets their own.

use serde::Serialize;

use super::Content;
use crate::error::Code;
use crate::link::Link;
use crate::own_field::FieldKey;
use crate::template::contact_field::{self, Addressee, ContactField, NoValue};

impl Content {
    /// Whether its texts have contact fields, so that each recipient gets texts of their own.
    pub const fn is_personal(&self) -> bool {
        matches!(self, Self::Template { contact_fields: true, .. })
    }

    /// The contact fields without a text in their place: a recipient who lacks one gets no message. `has_values`: whether
    /// the request gives values, so that plain texts have placeholders too.
    pub fn needed_fields(&self, has_values: bool) -> Vec<ContactField> {
        let mut needed = Vec::new();
        match self {
            Self::Template { components, contact_fields: true, .. } => {
                return contact_field::needed(components);
            }
            Self::Template { .. } => {}
            _ if has_values => {
                self.texts().0.into_iter().for_each(|text| contact_field::add_needed(text, &mut needed));
            }
            _ => {}
        }
        needed
    }

    /// Whether its texts have contact fields; `has_values` as in [`Content::needed_fields`].
    pub fn has_contact_fields(&self, has_values: bool) -> bool {
        match self {
            Self::Template { components, contact_fields, .. } => {
                *contact_fields && contact_field::use_contact_fields(components)
            }
            _ => has_values && self.texts().0.is_some_and(contact_field::has_contact_fields),
        }
    }

    /// The keys of the own fields of contacts that its texts name; `has_values` as in [`Content::needed_fields`].
    pub fn own_keys(&self, has_values: bool) -> Vec<FieldKey> {
        match self {
            Self::Template { components, contact_fields: true, .. } => contact_field::own_keys(components),
            Self::Template { .. } => Vec::new(),
            _ if has_values => self.texts().0.map(contact_field::own_keys_of).unwrap_or_default(),
            _ => Vec::new(),
        }
    }

    /// The names of the values that have a place in it; of content whose request gives values only.
    pub fn value_names(&self) -> Vec<&str> {
        let texts = match self {
            Self::Template { components, .. } => {
                let in_texts = contact_field::values_in_texts(components).into_iter().map(|(name, _)| name);
                let links = contact_field::links_with_values(components).into_iter();
                let in_links = links.flat_map(contact_field::values_of).map(|(name, _)| name);
                return in_texts.chain(in_links).collect();
            }
            _ => self.texts(),
        };
        let texts = [texts.0, texts.1].into_iter().flatten();
        texts.flat_map(contact_field::values_of).map(|(name, _)| name).collect()
    }

    /// The field of a request with values in which this content has the beginning of a placeholder although nothing is filled
    /// in there, and the code of its refusal; `None` when there is none. Templates are checked with their components.
    pub(crate) fn misplaced(&self) -> Option<(&'static str, Code)> {
        let (has_any, param, code) = match self {
            Self::Document { filename, .. } => (has_any(filename), "filename", Code::InvalidField),
            Self::Location { location } => (has_any(location), "location", Code::InvalidLocation),
            Self::Contacts { contacts } => (has_any(contacts), "contacts", Code::InvalidContacts),
            Self::Interactive { interactive } => {
                (has_any(interactive), "interactive", Code::InvalidInteractive)
            }
            Self::Text { .. }
            | Self::Image { .. }
            | Self::Video { .. }
            | Self::Audio { .. }
            | Self::Sticker { .. }
            | Self::Reaction { .. }
            | Self::Template { .. } => return None,
        };
        has_any.then_some((param, code))
    }

    /// The placeholders in a text of content whose request gives no values, so that they are sent as they are: by the name of
    /// the field, such as `message.{{value.order}}`.
    pub(crate) fn literal_placeholders(&self) -> Vec<String> {
        let field = if matches!(self, Self::Text { .. }) { "message" } else { "caption" };
        let text = self.texts().0.unwrap_or_default();
        contact_field::written(text).map(|placeholder| format!("{field}.{placeholder}")).collect()
    }

    /// The text, and the link of the file, that may have placeholders; none for a template and for what has neither.
    pub fn texts(&self) -> (Option<&str>, Option<&str>) {
        match self {
            Self::Text { body, .. } => (Some(body), None),
            Self::Image { link, caption }
            | Self::Video { link, caption }
            | Self::Document { link, caption, .. } => (caption.as_deref(), Some(link)),
            Self::Audio { link, .. } | Self::Sticker { link } => (None, Some(link)),
            Self::Location { .. }
            | Self::Contacts { .. }
            | Self::Reaction { .. }
            | Self::Template { .. }
            | Self::Interactive { .. } => (None, None),
        }
    }

    /// The content for one recipient. Only for content with placeholders: braces in any other are text.
    ///
    /// # Errors
    ///
    /// The first placeholder that the recipient lacks a value for and that has no text in its place.
    pub fn filled(&self, to: Addressee<'_>) -> Result<Self, NoValue> {
        // What is replaced is not copied before: this is done for each message.
        Ok(match self {
            Self::Template { name, language, components, contact_fields: true } => Self::Template {
                name: name.clone(),
                language: language.clone(),
                components: contact_field::fill_in(components, to, language)?,
                contact_fields: false,
            },
            Self::Text { body, preview_url } => {
                Self::Text { body: contact_field::filled_for(body, to)?, preview_url: *preview_url }
            }
            Self::Image { link, caption } => Self::Image {
                link: contact_field::filled_link(link, to)?,
                caption: filled_caption(caption.as_deref(), to)?,
            },
            Self::Video { link, caption } => Self::Video {
                link: contact_field::filled_link(link, to)?,
                caption: filled_caption(caption.as_deref(), to)?,
            },
            Self::Document { link, caption, filename } => {
                let is_own = contact_field::is_in(link);
                let link = contact_field::filled_link(link, to)?;
                let mut filename = filename.clone();
                if is_own && filename.is_none() {
                    filename = Link::parse(&link).ok().and_then(|link| link.file_name());
                }
                let caption = filled_caption(caption.as_deref(), to)?;
                Self::Document { link, caption, filename }
            }
            Self::Audio { link, voice } => {
                Self::Audio { link: contact_field::filled_link(link, to)?, voice: *voice }
            }
            Self::Sticker { link } => Self::Sticker { link: contact_field::filled_link(link, to)? },
            Self::Template { contact_fields: false, .. }
            | Self::Location { .. }
            | Self::Contacts { .. }
            | Self::Reaction { .. }
            | Self::Interactive { .. } => self.clone(),
        })
    }
}

fn filled_caption(caption: Option<&str>, to: Addressee<'_>) -> Result<Option<String>, NoValue> {
    caption.map(|caption| contact_field::filled_for(caption, to)).transpose()
}

/// Whether any text of this has the beginning of a placeholder. Two braces stand nowhere else in JSON.
fn has_any(part: &impl Serialize) -> bool {
    serde_json::to_string(part).is_ok_and(|json| contact_field::is_in(&json))
}
