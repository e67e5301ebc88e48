//! The contents that both kinds of channels send: a text, or a file behind a link.

use super::Limits;
use super::field::Raw;
use crate::content::Content;
use crate::error::{Code, Refusal};
use crate::link::{FILE_NAME_CHARS, Link, NOT_A_FILE_NAME, is_file_name};

/// The kind of such a content, by the request's `type`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Plain {
    Text,
    Image,
    Video,
    Audio,
    Document,
    Sticker,
}

/// The fields of such contents, in either kind of send.
#[derive(Clone, Copy)]
pub(super) struct PlainFields<'a> {
    pub(super) message: Raw<'a, Option<String>>,
    pub(super) preview_url: Raw<'a, Option<bool>>,
    pub(super) link: Raw<'a, Option<String>>,
    pub(super) caption: Raw<'a, Option<String>>,
    pub(super) filename: Raw<'a, Option<String>>,
    pub(super) voice: Raw<'a, Option<bool>>,
}

/// A file that can have a text below it.
struct Captioned {
    link: Link,
    caption: Option<String>,
}

impl Plain {
    /// Reads the fields of this content, then checks their lengths.
    pub(super) fn read(self, fields: PlainFields<'_>, limits: &Limits) -> Result<Content, Refusal> {
        match self {
            Self::Text => {
                let text = text(fields.message, limits)?;
                Ok(Content::Text { body: text, preview_url: fields.preview_url.choice()? })
            }
            Self::Image => captioned(fields, limits)
                .map(|Captioned { link, caption }| Content::Image { link: link.into_string(), caption }),
            Self::Video => captioned(fields, limits)
                .map(|Captioned { link, caption }| Content::Video { link: link.into_string(), caption }),
            Self::Document => {
                let Captioned { link, caption } = captioned(fields, limits)?;
                let filename = file_name(fields.filename)?;
                Ok(Content::Document { link: link.into_string(), caption, filename })
            }
            Self::Audio => {
                let link = bare(fields.link, limits)?;
                Ok(Content::Audio { link: link.into_string(), voice: fields.voice.choice()? })
            }
            Self::Sticker => {
                bare(fields.link, limits).map(|link| Content::Sticker { link: link.into_string() })
            }
        }
    }

    /// The fields that it uses.
    pub(super) const fn fields(self) -> &'static [&'static str] {
        match self {
            Self::Text => &["message", "preview_url"],
            Self::Image | Self::Video => &["link", "caption"],
            Self::Audio => &["link", "voice"],
            Self::Sticker => &["link"],
            Self::Document => &["link", "caption", "filename"],
        }
    }
}

/// The name of a document, if one was given.
fn file_name(field: Raw<'_, Option<String>>) -> Result<Option<String>, Refusal> {
    let Some(name) = field.text()? else { return Ok(None) };
    let name = name.trim();
    if !is_file_name(name) {
        return Err(field.refuse(Code::InvalidField, NOT_A_FILE_NAME));
    }
    measure(field, Code::InvalidField, name, FILE_NAME_CHARS)?;
    Ok(Some(name.to_owned()))
}

fn text(field: Raw<'_, Option<String>>, limits: &Limits) -> Result<String, Refusal> {
    let text = field
        .text()?
        .ok_or_else(|| field.refuse(Code::MissingMessage, "is missing: give the text to send"))?;
    measure(field, Code::TextTooLong, &text, limits.text_chars)?;
    Ok(text.into_owned())
}

/// The link of a file without a caption.
fn bare(field: Raw<'_, Option<String>>, limits: &Limits) -> Result<Link, Refusal> {
    let link = link(field)?;
    measure(field, Code::LinkTooLong, link.as_str(), limits.link_chars)?;
    Ok(link)
}

fn captioned(fields: PlainFields<'_>, limits: &Limits) -> Result<Captioned, Refusal> {
    let link = link(fields.link)?;
    let caption = fields.caption.text()?;
    measure(fields.link, Code::LinkTooLong, link.as_str(), limits.link_chars)?;
    if let Some(caption) = &caption {
        measure(fields.caption, Code::CaptionTooLong, caption, limits.caption_chars)?;
    }
    Ok(Captioned { link, caption: caption.map(String::from) })
}

fn link(field: Raw<'_, Option<String>>) -> Result<Link, Refusal> {
    let given = field
        .text()?
        .ok_or_else(|| field.refuse(Code::MissingLink, "is missing: give the public address of the file"))?;
    Link::parse_file(&given).map_err(|wrong| field.refuse(Code::InvalidLink, wrong))
}

fn measure(field: Raw<'_, Option<String>>, code: Code, text: &str, max: usize) -> Result<(), Refusal> {
    if text.chars().nth(max).is_some() {
        return Err(field.refuse(code, format_args!("is longer than {max} characters")));
    }
    Ok(())
}
