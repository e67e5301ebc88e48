//! The field `type` of a request.

use super::enclosed::Enclosed;
use super::field::{Json, Raw};
use super::plain::Plain;
use crate::error::{Code, Refusal};

/// The types that a business account sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BusinessKind {
    Plain(Plain),
    Enclosed(Enclosed),
    Template,
    Interactive,
}

/// The types that a web session sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WebKind {
    Plain(Plain),
    Enclosed(Enclosed),
}

/// A business account sends what a web session does, and more.
impl From<WebKind> for BusinessKind {
    fn from(kind: WebKind) -> Self {
        match kind {
            WebKind::Plain(plain) => Self::Plain(plain),
            WebKind::Enclosed(enclosed) => Self::Enclosed(enclosed),
        }
    }
}

/// The types of a business account, by their words.
pub(super) const BUSINESS: &[(&str, BusinessKind)] = &[
    ("text", BusinessKind::Plain(Plain::Text)),
    ("image", BusinessKind::Plain(Plain::Image)),
    ("video", BusinessKind::Plain(Plain::Video)),
    ("audio", BusinessKind::Plain(Plain::Audio)),
    ("document", BusinessKind::Plain(Plain::Document)),
    ("template", BusinessKind::Template),
    ("interactive", BusinessKind::Interactive),
    ("sticker", BusinessKind::Plain(Plain::Sticker)),
    ("location", BusinessKind::Enclosed(Enclosed::Location)),
    ("contacts", BusinessKind::Enclosed(Enclosed::Contacts)),
    ("reaction", BusinessKind::Enclosed(Enclosed::Reaction)),
];

/// The types of a web session, by their words.
pub(super) const WEB: &[(&str, WebKind)] = &[
    ("text", WebKind::Plain(Plain::Text)),
    ("image", WebKind::Plain(Plain::Image)),
    ("video", WebKind::Plain(Plain::Video)),
    ("audio", WebKind::Plain(Plain::Audio)),
    ("document", WebKind::Plain(Plain::Document)),
    ("sticker", WebKind::Plain(Plain::Sticker)),
    ("location", WebKind::Enclosed(Enclosed::Location)),
    ("contacts", WebKind::Enclosed(Enclosed::Contacts)),
    ("reaction", WebKind::Enclosed(Enclosed::Reaction)),
];

/// The words for the types of a business account.
pub fn business_types() -> impl Iterator<Item = &'static str> {
    BUSINESS.iter().map(|(word, _)| *word)
}

/// The words for the types of a web session.
pub fn web_types() -> impl Iterator<Item = &'static str> {
    WEB.iter().map(|(word, _)| *word)
}

/// Reads `type`, which must be one of these words: `missing_type`, `invalid_type`.
pub(super) fn read<T: Copy, W>(field: Raw<'_, W>, words: &[(&str, T)]) -> Result<T, Refusal> {
    let listed = || words.iter().map(|(word, _)| *word).collect::<Vec<_>>().join(", ");
    let found = match field.look() {
        Json::Absent => {
            return Err(field.refuse(Code::MissingType, format!("is missing: give one of {}", listed())));
        }
        Json::Text(given) => words.iter().find(|(word, _)| *word == given),
        _ => None,
    };
    found.map(|&(_, kind)| kind).ok_or_else(|| {
        field.refuse(
            Code::InvalidType,
            format!("is not one that this channel sends: give one of {}", listed()),
        )
    })
}
