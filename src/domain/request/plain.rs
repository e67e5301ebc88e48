//! The contents that both kinds of channels send: a text, or a file behind a link.

use super::Limits;
use super::body::Body;
use super::field::Field;
use crate::domain::content::Content;
use crate::domain::link::Link;
use crate::error::{Code, Refusal};

/// The kind of such a content, by the request's `type`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Plain {
    Text,
    Image,
    Video,
    Audio,
    Document,
}

/// A file that can have a text below it.
struct Captioned {
    link: Link,
    caption: Option<String>,
}

impl Plain {
    /// Reads the fields of this content, then checks their lengths.
    pub(super) fn read(self, body: &Body<'_>, limits: &Limits) -> Result<Content, Refusal> {
        match self {
            Self::Text => text(body.message, limits),
            Self::Image => captioned(body, limits)
                .map(|Captioned { link, caption }| Content::Image { link: link.into_string(), caption }),
            Self::Video => captioned(body, limits)
                .map(|Captioned { link, caption }| Content::Video { link: link.into_string(), caption }),
            Self::Document => captioned(body, limits).map(|Captioned { link, caption }| Content::Document {
                filename: link.file_name(),
                link: link.into_string(),
                caption,
            }),
            Self::Audio => {
                let link = link(body.link)?;
                measure(body.link, Code::LinkTooLong, link.as_str(), limits.link_chars)?;
                Ok(Content::Audio { link: link.into_string() })
            }
        }
    }
}

fn text(field: Field<'_>, limits: &Limits) -> Result<Content, Refusal> {
    let text = field
        .text()?
        .ok_or_else(|| field.refuse(Code::MissingMessage, "is missing: give the text to send"))?;
    measure(field, Code::TextTooLong, &text, limits.text_chars)?;
    Ok(Content::Text { body: text.into_owned() })
}

fn captioned(body: &Body<'_>, limits: &Limits) -> Result<Captioned, Refusal> {
    let link = link(body.link)?;
    let caption = body.caption.text()?;
    measure(body.link, Code::LinkTooLong, link.as_str(), limits.link_chars)?;
    if let Some(caption) = &caption {
        measure(body.caption, Code::CaptionTooLong, caption, limits.caption_chars)?;
    }
    Ok(Captioned { link, caption: caption.map(String::from) })
}

fn link(field: Field<'_>) -> Result<Link, Refusal> {
    let given = field
        .text()?
        .ok_or_else(|| field.refuse(Code::MissingLink, "is missing: give the public address of the file"))?;
    Link::parse(&given).map_err(|wrong| field.refuse(Code::InvalidLink, wrong))
}

fn measure(field: Field<'_>, code: Code, text: &str, max: usize) -> Result<(), Refusal> {
    if text.chars().nth(max).is_some() {
        return Err(field.refuse(code, format_args!("is longer than {max} characters")));
    }
    Ok(())
}
