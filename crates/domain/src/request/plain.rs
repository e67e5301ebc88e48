//! The contents that both kinds of channels send: a text, or a file behind a link.

use super::Limits;
use super::field::Raw;
use crate::content::Content;
use crate::error::{Code, Refusal};
use crate::link::{FILE_NAME_CHARS, Link, NOT_A_FILE_NAME, is_file_name};
use crate::template::contact_field::{Placeholders, check_link, check_text_of, is_in};

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
    /// Whether texts and links have placeholders, because the request gives values.
    pub(super) values: bool,
}

/// A file that can have a text below it.
struct Captioned {
    link: String,
    caption: Option<String>,
}

impl Plain {
    /// Reads the fields of this content, then checks their lengths.
    pub(super) fn read(self, fields: PlainFields<'_>, limits: &Limits) -> Result<Content, Refusal> {
        match self {
            Self::Text => {
                let text = text(fields.message, fields.values, limits)?;
                Ok(Content::Text { body: text, preview_url: fields.preview_url.choice()? })
            }
            Self::Image => {
                captioned(fields, limits).map(|Captioned { link, caption }| Content::Image { link, caption })
            }
            Self::Video => {
                captioned(fields, limits).map(|Captioned { link, caption }| Content::Video { link, caption })
            }
            Self::Document => {
                let Captioned { link, caption } = captioned(fields, limits)?;
                let filename = file_name(fields.filename)?;
                Ok(Content::Document { link, caption, filename })
            }
            Self::Audio => {
                let link = bare(fields, limits)?;
                Ok(Content::Audio { link, voice: fields.voice.choice()? })
            }
            Self::Sticker => bare(fields, limits).map(|link| Content::Sticker { link }),
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

fn text(field: Raw<'_, Option<String>>, values: bool, limits: &Limits) -> Result<String, Refusal> {
    let text = field
        .text()?
        .ok_or_else(|| field.refuse(Code::MissingMessage, "is missing: give the text to send"))?;
    measure(field, Code::TextTooLong, &text, limits.text_chars)?;
    if values {
        check_text_of("message", &text, Placeholders::All)?;
    }
    Ok(text.into_owned())
}

/// The link of a file without a caption.
fn bare(fields: PlainFields<'_>, limits: &Limits) -> Result<String, Refusal> {
    let link = link(fields.link, fields.values)?;
    measure(fields.link, Code::LinkTooLong, &link, limits.link_chars)?;
    Ok(link)
}

fn captioned(fields: PlainFields<'_>, limits: &Limits) -> Result<Captioned, Refusal> {
    let link = link(fields.link, fields.values)?;
    let caption = fields.caption.text()?;
    measure(fields.link, Code::LinkTooLong, &link, limits.link_chars)?;
    if let Some(caption) = &caption {
        measure(fields.caption, Code::CaptionTooLong, caption, limits.caption_chars)?;
        if fields.values {
            check_text_of("caption", caption, Placeholders::All)?;
        }
    }
    Ok(Captioned { link, caption: caption.map(String::from) })
}

fn link(field: Raw<'_, Option<String>>, values: bool) -> Result<String, Refusal> {
    let given = field
        .text()?
        .ok_or_else(|| field.refuse(Code::MissingLink, "is missing: give the public address of the file"))?;
    if values && is_in(&given) {
        let given = given.trim();
        check_link("link", given)?;
        return Ok(given.to_owned());
    }
    let link = Link::parse_file(&given).map_err(|wrong| field.refuse(Code::InvalidLink, wrong))?;
    Ok(link.into_string())
}

fn measure(field: Raw<'_, Option<String>>, code: Code, text: &str, max: usize) -> Result<(), Refusal> {
    if text.chars().nth(max).is_some() {
        return Err(field.refuse(code, format_args!("is longer than {max} characters")));
    }
    Ok(())
}
