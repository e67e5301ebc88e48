//! Placeholders in texts: `{{contact.first_name|friend}}` stands for the recipient's value of a contact's field,
//! `{{value.order}}` for a [value](crate::values) that the request gives for the recipient.
//!
//! Only a request that asks for them has placeholders; in any other request, braces are text. With placeholders,
//! every `{{` begins one, so that a misspelt one is refused once and not sent a million times. The value is read
//! for each recipient just before the message goes. A contact's is put on one line; both are percent-encoded at the end of a
//! button's address and within a link. A recipient without a value gets the text after the bar; without such a text, the
//! message is not sent. What a value says is never read as a placeholder.

mod check;
mod field;
mod places;
mod typed;

use std::fmt::Write as _;

pub use self::check::{check, check_all, check_link, check_own, check_text, check_text_of};
pub use self::field::{ContactField, NoValue};
use self::places::{TextPlace, texts};
pub use self::typed::{filled_as_known, first_unknown};
use super::component::{Card, Component, Media, Parameter, Source};
use crate::contact::Person;
use crate::own_field::FieldKey;
use crate::values::{Lookup, is_value_name};

/// The beginning of a placeholder.
const OPEN: &str = "{{";
const CLOSE: &str = "}}";
/// The prefix of the name of a contact's field.
const CONTACT: &str = "contact.";
/// The prefix of the name of a value.
const VALUE: &str = "value.";
/// The most characters of a faulty placeholder that a refusal repeats.
const SHOWN_CHARS: usize = 40;

/// Which placeholders a request has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Placeholders {
    /// Fields of contacts.
    Contact,
    /// Fields of contacts, and values that the request gives.
    All,
}

/// A recipient whose values are filled in.
#[derive(Clone, Copy, Default)]
pub struct Addressee<'a> {
    /// The recipient's contact; `None` for one who is no contact.
    pub person: Option<&'a Person>,
    /// What the request says about the recipient.
    pub values: Option<&'a dyn Lookup>,
}

/// What a placeholder stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PlaceholderSubject<'a> {
    Contact(ContactField),
    Value(&'a str),
}

/// A stretch of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Piece<'a> {
    Text(&'a str),
    Field { subject: PlaceholderSubject<'a>, fallback: Option<&'a str> },
}

/// How values stand in a text.
#[derive(Debug, Clone, Copy)]
enum Rendering<'a> {
    /// As people of this language write them.
    Words(&'a str),
    /// As parts of an address.
    Address,
    /// As the address of a file, or parts of one: at the beginning, a value is an address itself.
    Link,
}

/// Whether the text has a placeholder, valid or not.
pub fn is_in(text: &str) -> bool {
    text.contains(OPEN)
}

/// The valid placeholders of any text, as they are written up to a bar, whatever else it has: the first ones of many.
pub fn written(text: &str) -> impl Iterator<Item = String> {
    const MOST: usize = 5;
    let placeholder = |behind: &str| {
        let (inside, _) = behind.split_once(CLOSE)?;
        let name = inside.split('|').next()?;
        subject(name).map(|_| format!("{OPEN}{name}{CLOSE}"))
    };
    text.split(OPEN).skip(1).filter_map(placeholder).take(MOST)
}

/// Splits a text at its placeholders; an error is the beginning of an invalid one.
fn pieces(text: &str) -> Result<Vec<Piece<'_>>, &str> {
    let (mut pieces, mut rest) = (Vec::new(), text);
    while let Some((before, behind)) = split_at_pair(rest, OPEN) {
        let from = &rest[before.len()..];
        let (inside, after) = split_at_pair(behind, CLOSE).ok_or(from)?;
        let (name, fallback) = match inside.split_once('|') {
            Some((name, fallback)) => (name, Some(fallback)),
            None => (inside, None),
        };
        let subject = subject(name).ok_or(from)?;
        if fallback.is_some_and(|fallback| fallback.trim().is_empty() || fallback.contains(['{', '}'])) {
            return Err(from);
        }
        pieces.extend((!before.is_empty()).then_some(Piece::Text(before)));
        pieces.push(Piece::Field { subject, fallback });
        rest = after;
    }
    pieces.extend((!rest.is_empty()).then_some(Piece::Text(rest)));
    Ok(pieces)
}

/// The text before and behind the first of these two braces. The general search for a text prepares more than it looks at in so
/// short ones, and this is done for each message.
fn split_at_pair<'a>(text: &'a str, pair: &str) -> Option<(&'a str, &'a str)> {
    let at = text.as_bytes().windows(pair.len()).position(|window| window == pair.as_bytes())?;
    Some((&text[..at], &text[at + pair.len()..]))
}

fn subject(name: &str) -> Option<PlaceholderSubject<'_>> {
    if let Some(value) = name.strip_prefix(VALUE) {
        return is_value_name(value).then_some(PlaceholderSubject::Value(value));
    }
    ContactField::parse(name.strip_prefix(CONTACT)?).map(PlaceholderSubject::Contact)
}

/// The text for a recipient, with numbers and dates in this language; `None` for a recipient who is no contact. Text outside
/// of fields stays as it is.
///
/// # Errors
///
/// The first field that the recipient has no value for and that has no text in its place.
pub fn filled(text: &str, person: Option<&Person>, language: &str) -> Result<String, NoValue> {
    fill(text, Addressee { person, values: None }, Rendering::Words(language))
}

/// Like [`filled`], for an address: values are plain and percent-encoded.
///
/// # Errors
///
/// Those of [`filled`].
pub fn filled_address(text: &str, person: Option<&Person>) -> Result<String, NoValue> {
    fill(text, Addressee { person, values: None }, Rendering::Address)
}

/// A text with placeholders for a recipient, with numbers and dates of the contact as they are stored.
///
/// # Errors
///
/// The first placeholder that the recipient has no value for and that has no text in its place.
pub fn filled_for(text: &str, to: Addressee<'_>) -> Result<String, NoValue> {
    fill(text, to, Rendering::Words(""))
}

/// Like [`filled_for`], for the link of a file.
///
/// # Errors
///
/// Those of [`filled_for`].
pub fn filled_link(text: &str, to: Addressee<'_>) -> Result<String, NoValue> {
    fill(text, to, Rendering::Link)
}

fn fill(text: &str, to: Addressee<'_>, form: Rendering<'_>) -> Result<String, NoValue> {
    let Ok(pieces) = pieces(text) else { return Ok(text.to_owned()) };
    let language = if let Rendering::Words(language) = form { language } else { "" };
    let mut filled = String::with_capacity(text.len());
    for piece in pieces {
        let (subject, fallback) = match piece {
            Piece::Text(text) => {
                filled.push_str(text);
                continue;
            }
            Piece::Field { subject, fallback } => (subject, fallback),
        };
        let of_contact;
        let value = match subject {
            PlaceholderSubject::Contact(field) => {
                of_contact = to.person.and_then(|person| field.of(person, language));
                of_contact.as_deref()
            }
            PlaceholderSubject::Value(name) => to.values.and_then(|values| values.value(name)),
        };
        let is_plain = match form {
            Rendering::Words(_) => true,
            Rendering::Address => false,
            Rendering::Link => filled.is_empty(),
        };
        match (value, fallback) {
            (Some(value), _) if is_plain => filled.push_str(value),
            (Some(value), _) => push_encoded(&mut filled, value),
            (None, Some(fallback)) => filled.push_str(fallback),
            (None, None) => {
                return Err(match subject {
                    PlaceholderSubject::Contact(field) => NoValue::Contact(field),
                    PlaceholderSubject::Value(name) => NoValue::Value(name.to_owned()),
                });
            }
        }
    }
    Ok(filled)
}

/// Adds a value as a part of an address.
fn push_encoded(address: &mut String, value: &str) {
    for byte in value.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') {
            address.push(char::from(byte));
        } else {
            // Writing into a string cannot fail.
            let _ = write!(address, "%{byte:02X}");
        }
    }
}

/// Whether any text has a placeholder.
pub(super) fn are_used(components: &[Component]) -> bool {
    texts(components).into_iter().any(|(text, _)| is_in(text))
}

/// The keys of own fields that the texts of a template's values name.
pub fn own_keys(components: &[Component]) -> Vec<FieldKey> {
    let mut keys: Vec<FieldKey> =
        texts(components).into_iter().flat_map(|(text, _)| own_keys_of(text)).collect();
    keys.sort_unstable();
    keys.dedup();
    keys
}

/// The keys of own fields that a text names.
pub fn own_keys_of(text: &str) -> Vec<FieldKey> {
    let own = |piece| match piece {
        Piece::Field { subject: PlaceholderSubject::Contact(ContactField::Own(key)), .. } => Some(key),
        Piece::Field { .. } | Piece::Text(_) => None,
    };
    pieces(text).unwrap_or_default().into_iter().filter_map(own).collect()
}

/// The fields that have no text in their place: a recipient without one of them gets no message.
pub fn needed(components: &[Component]) -> Vec<ContactField> {
    let mut needed = Vec::new();
    texts(components).into_iter().for_each(|(text, _)| add_needed(text, &mut needed));
    needed
}

/// Adds the fields of a text that have no text in their place.
pub fn add_needed(text: &str, needed: &mut Vec<ContactField>) {
    for piece in pieces(text).unwrap_or_default() {
        if let Piece::Field { subject: PlaceholderSubject::Contact(field), fallback: None } = piece
            && !needed.contains(&field)
        {
            needed.push(field);
        }
    }
}

/// Whether a text has fields of contacts.
pub fn has_contact_fields(text: &str) -> bool {
    let of_contact = |piece| matches!(piece, Piece::Field { subject: PlaceholderSubject::Contact(_), .. });
    pieces(text).unwrap_or_default().into_iter().any(of_contact)
}

/// Whether the values of a template have fields of contacts.
pub fn use_contact_fields(components: &[Component]) -> bool {
    texts(components).into_iter().any(|(text, _)| has_contact_fields(text))
}

/// The names of the values in a text, and whether each must be there.
pub fn values_of(text: &str) -> Vec<(&str, bool)> {
    let value = |piece| match piece {
        Piece::Field { subject: PlaceholderSubject::Value(name), fallback } => {
            Some((name, fallback.is_none()))
        }
        Piece::Field { .. } | Piece::Text(_) => None,
    };
    pieces(text).unwrap_or_default().into_iter().filter_map(value).collect()
}

/// The names of the values in a template's texts, those in links left out, and whether each must be there.
pub fn values_in_texts(components: &[Component]) -> Vec<(&str, bool)> {
    let texts = texts(components).into_iter().filter(|(_, place)| *place != TextPlace::Link);
    texts.flat_map(|(text, _)| values_of(text)).collect()
}

/// The links of files in a template's values that have placeholders.
pub fn links_with_values(components: &[Component]) -> Vec<&str> {
    let links =
        texts(components).into_iter().filter(|(text, place)| *place == TextPlace::Link && is_in(text));
    links.map(|(link, _)| link).collect()
}

/// The values of a template for one recipient, in the template's language.
///
/// # Errors
///
/// Those of [`filled_for`].
pub fn fill_in(
    components: &[Component],
    to: Addressee<'_>,
    language: &str,
) -> Result<Vec<Component>, NoValue> {
    let file = |file: &Media| {
        let source = match &file.source {
            Source::Link(link) if is_in(link) => Source::Link(fill(link, to, Rendering::Link)?),
            source => source.clone(),
        };
        Ok::<_, NoValue>(Media { source, filename: file.filename.clone() })
    };
    let all = |parameters: &[Parameter], form: Rendering<'_>| {
        let parameter = |parameter: &Parameter| match parameter {
            Parameter::Text { text, parameter_name } if is_in(text) => {
                let text = fill(text, to, form)?;
                Ok(Parameter::Text { text, parameter_name: parameter_name.clone() })
            }
            Parameter::Image(image) => file(image).map(Parameter::Image),
            Parameter::Video(video) => file(video).map(Parameter::Video),
            Parameter::Document(document) => file(document).map(Parameter::Document),
            other => Ok(other.clone()),
        };
        parameters.iter().map(parameter).collect::<Result<Vec<_>, NoValue>>()
    };
    let words = Rendering::Words(language);
    let component = |component: &Component| {
        Ok(match component {
            Component::Header { parameters } => Component::Header { parameters: all(parameters, words)? },
            Component::Body { parameters } => Component::Body { parameters: all(parameters, words)? },
            Component::Button { sub_type, index, parameters } => Component::Button {
                sub_type: sub_type.clone(),
                index: *index,
                parameters: all(parameters, if sub_type == "url" { Rendering::Address } else { words })?,
            },
            Component::LimitedTimeOffer { parameters } => {
                Component::LimitedTimeOffer { parameters: all(parameters, words)? }
            }
            Component::Carousel { cards } => {
                let card = |card: &Card| {
                    let components = fill_in(&card.components, to, language)?;
                    Ok(Card { card_index: card.card_index, components })
                };
                Component::Carousel { cards: cards.iter().map(card).collect::<Result<_, NoValue>>()? }
            }
            Component::Other(value) => Component::Other(value.clone()),
        })
    };
    components.iter().map(component).collect()
}

#[cfg(test)]
mod tests;
