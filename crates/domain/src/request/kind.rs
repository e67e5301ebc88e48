//! The field `type` of a request.

use super::field::{Json, Raw};
use super::plain::Plain;
use crate::error::{Code, Refusal};

/// The types that a business account sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BusinessKind {
    Plain(Plain),
    Template,
    Interactive,
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
];

/// The types of a web session, by their words.
pub(super) const WEB: &[(&str, Plain)] = &[
    ("text", Plain::Text),
    ("image", Plain::Image),
    ("video", Plain::Video),
    ("audio", Plain::Audio),
    ("document", Plain::Document),
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
