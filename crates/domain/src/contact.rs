//! Contacts and tags as their company sees them.

use std::borrow::Cow;

use unicode_normalization::UnicodeNormalization as _;
use uuid::Uuid;

use super::phone::is_invisible;
use crate::fold::{digits, fold};
use crate::link::Link;
use crate::own_field::OwnValues;
use crate::phone::PhoneNumber;
use clock::Timestamp;

/// The maximum of tags that a contact is given at once: by a request, by a form, or by a row of a file together with the
/// tags of the whole import. Each is a row of the database.
pub const MOST_TAGS: usize = 100;

/// A person, as a company knows them. Unknown text is empty.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Person {
    /// First name.
    pub first_name: String,
    /// Last name.
    pub last_name: String,
    /// E-mail address.
    pub email: String,
    /// The number as it was given; may be no valid number.
    pub phone_number: String,
    /// WhatsApp's own id of the person.
    pub phone_number_lid: Option<String>,
    /// URL of a picture, see [`is_picture`].
    pub profile_picture: String,
    /// The values of the company's own fields.
    pub own: OwnValues,
}

/// Whether the text is empty or may be the address of a picture: an absolute http or https address. A page of a company
/// that links to another one, such as `javascript:…`, would run a stranger's program.
pub fn is_picture(text: &str) -> bool {
    text.trim().is_empty() || Link::parse(text).is_ok()
}

impl Person {
    /// The number, if messages can be sent to it.
    pub fn phone(&self) -> Option<PhoneNumber> {
        PhoneNumber::parse(&self.phone_number).ok()
    }

    /// Every searched field folded, one per line, and at the end the digits of the number; see [`digits_pattern`].
    pub fn search_text(&self) -> String {
        let lid = self.phone_number_lid.as_deref().unwrap_or_default();
        let fields = [&self.first_name, &self.last_name, &self.email, &self.phone_number, lid];
        let lines = fields.map(fold);
        format!("{}{BEFORE_DIGITS}{}", lines.join("\n"), digits(&lines[3]))
    }
}

/// The name of a tag in one form: composed (NFC), without marks that show nothing, with plain spaces. So the same name,
/// typed on a Mac and on a phone, is one tag. Joiners and the parts of emoji stay, because they show something there.
pub fn tag_name(text: &str) -> Cow<'_, str> {
    let is_joiner = |c: char| matches!(c, '\u{200c}' | '\u{200d}');
    let is_blank = |c: char| c.is_whitespace() || is_joiner(c);
    if text.bytes().all(|byte| byte.is_ascii() && !matches!(byte, b'\t' | 0x0b | 0x0c)) {
        return text.trim().into();
    }
    let is_part = |c: char| is_joiner(c) || matches!(c, '\u{fe00}'..='\u{fe0f}' | '\u{20e3}');
    let shown = text.chars().filter(|c| is_part(*c) || !is_invisible(*c));
    let is_space = |c: char| c.is_whitespace() && !matches!(c, '\n' | '\r');
    let name: String = shown.nfc().map(|c| if is_space(c) { ' ' } else { c }).collect();
    name.trim_matches(is_blank).to_owned().into()
}

/// What the name of a tag has in common with names that are the same tag: case does not count, accents do.
pub fn tag_identity(name: &str) -> String {
    let cased = name.chars().flat_map(char::to_lowercase).flat_map(char::to_uppercase);
    cased.flat_map(char::to_lowercase).collect()
}

/// Stands before the digits of a number in a search text. No folded text holds it.
const BEFORE_DIGITS: char = '\u{1}';

/// The lines of a search text, and the digits of the number.
pub fn split_search_text(text: &str) -> (&str, &str) {
    text.split_once(BEFORE_DIGITS).unwrap_or((text, ""))
}

/// The pattern that finds these digits in the number of a search text, and nowhere else in it.
pub fn digits_pattern(digits: &str) -> String {
    format!("%{BEFORE_DIGITS}%{digits}%")
}

/// A contact.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contact {
    /// Time-ordered id.
    pub id: Uuid,
    /// The person.
    pub person: Person,
    /// The tags of the contact, by name.
    pub tags: Vec<TagSummary>,
    /// When it was added.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
    /// Its place in the company's list, oldest first.
    pub ordinal: u64,
}

/// A tag as shown with a contact.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TagSummary {
    /// Time-ordered id.
    pub id: Uuid,
    /// Unique in the company.
    pub name: String,
    /// `#rrggbb`.
    pub color: String,
}

/// A tag.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tag {
    /// Id, name and colour.
    pub summary: TagSummary,
    /// When it was added.
    pub created_at: Timestamp,
    /// How many contacts have it.
    pub contacts: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_has_one_name_however_it_was_typed() {
        let family = "👨\u{200d}👩\u{200d}👧 1\u{fe0f}\u{20e3}";
        for (typed, name) in [
            ("Promoc\u{327}a\u{303}o", "Promoção"),
            (" \u{200b}VIP\u{feff} ", "VIP"),
            ("VIP\u{a0}2", "VIP 2"),
            (family, family),
            ("\u{200d}", ""),
            ("a\tb", "a b"),
        ] {
            assert_eq!(tag_name(typed), name, "{typed:?}");
        }
    }

    #[test]
    fn a_picture_is_on_the_web_or_absent() {
        for text in
            ["", " ", "https://example.com/ana.png", "HTTP://example.com/ana", " https://example.com "]
        {
            assert!(is_picture(text), "{text}");
        }
        for text in [
            "javascript:alert(1)",
            "JavaScript:alert(1)//https://example.com",
            "java\nscript:alert(1)",
            "data:text/html,<script>",
            "vbscript:x",
            "file:///etc/passwd",
            "//example.com/ana.png",
            "ana.png",
            "https:///ana.png",
        ] {
            assert!(!is_picture(text), "{text}");
        }
    }
}
