//! Contact fields in the texts of a template: `{{contact.first_name|friend}}` stands for the recipient's value of the
//! field.
//!
//! Only a request that asks for them has contact fields; in any other request, braces are text. With contact fields,
//! every `{{` begins a field, so that a misspelt one is refused once and not sent a million times. The value is read
//! for each recipient just before the message goes. It is put on one line, and percent-encoded at the end of a button's
//! address. A recipient without a value gets the text after the bar; without such a text, the message is not sent.

use std::borrow::Cow;
use std::convert::Infallible;
use std::fmt::Write as _;

use serde_json::Value;

use super::component::{Card, Component, Parameter, Source};
use crate::contact::Person;
use crate::error::{Code, Refusal};
use crate::own_field::{FieldKey, OwnField, find};

/// The beginning of a field.
const OPEN: &str = "{{";
const CLOSE: &str = "}}";
/// The prefix of a field's name.
const PREFIX: &str = "contact.";
/// The most characters of a faulty placeholder that a refusal repeats.
const SHOWN_CHARS: usize = 40;

/// A value that a company may know of a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ContactField {
    /// First and last name, or the known one of the two.
    Name,
    /// First name.
    FirstName,
    /// Last name.
    LastName,
    /// E-mail address.
    Email,
    /// The number as it was given.
    PhoneNumber,
    /// A field that the company defined.
    Own(FieldKey),
}

impl ContactField {
    /// The fields that every contact has.
    pub const BUILT_IN: [Self; 5] =
        [Self::Name, Self::FirstName, Self::LastName, Self::Email, Self::PhoneNumber];

    /// The field of this word. A company may not have the own field that it names.
    fn parse(word: &str) -> Option<Self> {
        let built_in = Self::BUILT_IN.into_iter().find(|field| field.word() == word);
        built_in.or_else(|| FieldKey::parse(word).map(Self::Own))
    }

    /// The word in a text.
    pub fn word(&self) -> &str {
        match self {
            Self::Name => "name",
            Self::FirstName => "first_name",
            Self::LastName => "last_name",
            Self::Email => "email",
            Self::PhoneNumber => "phone_number",
            Self::Own(key) => key.as_str(),
        }
    }

    /// The value on one line, as people of this language write it (plainly without one); `None` when it is not known.
    pub fn of(self, person: &Person, language: &str) -> Option<String> {
        let Person { first_name, last_name, email, phone_number, own, .. } = person;
        let value = match self {
            Self::Name => Cow::Owned(format!("{first_name} {last_name}")),
            Self::FirstName => Cow::Borrowed(first_name.as_str()),
            Self::LastName => Cow::Borrowed(last_name.as_str()),
            Self::Email => Cow::Borrowed(email.as_str()),
            Self::PhoneNumber => Cow::Borrowed(phone_number.as_str()),
            Self::Own(key) => Cow::Owned(own.get(&key)?.spelled(language)),
        };
        let is_gap = |letter: char| letter.is_whitespace() || letter.is_control();
        let words: Vec<_> = value.split(is_gap).filter(|word| !word.is_empty()).collect();
        (!words.is_empty()).then(|| words.join(" "))
    }
}

/// A recipient without a value for this field, which has no text in its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the recipient is no contact with a value for {{{{contact.{}}}}}, which has no text in its place", .0.word())]
pub struct NoValue(pub ContactField);

/// A stretch of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Piece<'a> {
    Text(&'a str),
    Field { field: ContactField, fallback: Option<&'a str> },
}

/// Whether the text has a field, valid or not.
pub fn is_in(text: &str) -> bool {
    text.contains(OPEN)
}

/// Splits a text at its fields; an error is the beginning of an invalid field.
fn pieces(text: &str) -> Result<Vec<Piece<'_>>, &str> {
    let (mut pieces, mut rest) = (Vec::new(), text);
    while let Some((before, behind)) = rest.split_once(OPEN) {
        let from = &rest[before.len()..];
        let (inside, after) = behind.split_once(CLOSE).ok_or(from)?;
        let (name, fallback) = match inside.split_once('|') {
            Some((name, fallback)) => (name, Some(fallback)),
            None => (inside, None),
        };
        let name = name.strip_prefix(PREFIX).ok_or(from)?;
        let field = ContactField::parse(name).ok_or(from)?;
        if fallback.is_some_and(|fallback| fallback.trim().is_empty() || fallback.contains(['{', '}'])) {
            return Err(from);
        }
        pieces.extend((!before.is_empty()).then_some(Piece::Text(before)));
        pieces.push(Piece::Field { field, fallback });
        rest = after;
    }
    pieces.extend((!rest.is_empty()).then_some(Piece::Text(rest)));
    Ok(pieces)
}

/// The text for a recipient, with numbers and dates in this language; `None` for a recipient who is no contact. Text outside
/// of fields stays as it is.
///
/// # Errors
///
/// The first field that the recipient has no value for and that has no text in its place.
pub fn filled(text: &str, person: Option<&Person>, language: &str) -> Result<String, NoValue> {
    fill(text, person, Some(language))
}

/// Like [`filled`], for an address: values are plain and percent-encoded.
///
/// # Errors
///
/// Those of [`filled`].
pub fn filled_address(text: &str, person: Option<&Person>) -> Result<String, NoValue> {
    fill(text, person, None)
}

/// Without a language, the text is an address.
fn fill(text: &str, person: Option<&Person>, language: Option<&str>) -> Result<String, NoValue> {
    let Ok(pieces) = pieces(text) else { return Ok(text.to_owned()) };
    let mut filled = String::with_capacity(text.len());
    for piece in pieces {
        match piece {
            Piece::Text(text) => filled.push_str(text),
            Piece::Field { field, fallback } => {
                let value = person.and_then(|person| field.of(person, language.unwrap_or_default()));
                match (value, fallback) {
                    (Some(value), _) if language.is_none() => push_encoded(&mut filled, &value),
                    (Some(value), _) => filled.push_str(&value),
                    (None, Some(fallback)) => filled.push_str(fallback),
                    (None, None) => return Err(NoValue(field)),
                }
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

/// A text of a value, and whether it may have fields: only values of type `text` may.
type Place<'a> = (&'a str, bool);

/// Calls `visit` with every text of the values, those of cards included.
///
/// # Errors
///
/// The first that `visit` returns.
fn visit<'a, E>(
    components: &'a [Component],
    visit_text: &mut impl FnMut(Place<'a>) -> Result<(), E>,
) -> Result<(), E> {
    for component in components {
        match component {
            Component::Header { parameters }
            | Component::Body { parameters }
            | Component::LimitedTimeOffer { parameters }
            | Component::Button { parameters, .. } => {
                parameters.iter().try_for_each(|parameter| visit_parameter(parameter, visit_text))?;
            }
            Component::Carousel { cards } => {
                cards.iter().try_for_each(|card| visit(&card.components, visit_text))?;
            }
            Component::Other(value) => visit_value(value, visit_text)?,
        }
    }
    Ok(())
}

fn visit_parameter<'a, E>(
    parameter: &'a Parameter,
    visit_text: &mut impl FnMut(Place<'a>) -> Result<(), E>,
) -> Result<(), E> {
    match parameter {
        Parameter::Text { text, .. } => visit_text((text, true)),
        Parameter::Currency { currency: value, .. }
        | Parameter::DateTime { date_time: value, .. }
        | Parameter::Location { location: value }
        | Parameter::Other(value) => visit_value(value, visit_text),
        Parameter::Image(file) | Parameter::Video(file) | Parameter::Document(file) => {
            let (Source::Link(source) | Source::Id(source)) = &file.source;
            visit_text((source, false))?;
            file.filename.iter().try_for_each(|name| visit_text((name, false)))
        }
        Parameter::Payload { payload: text } | Parameter::CouponCode { coupon_code: text } => {
            visit_text((text, false))
        }
    }
}

/// Visits the texts of a value in the provider's form. Its depth is that of a parsed JSON document, which is bounded.
fn visit_value<'a, E>(
    value: &'a Value,
    visit_text: &mut impl FnMut(Place<'a>) -> Result<(), E>,
) -> Result<(), E> {
    match value {
        Value::String(text) => visit_text((text, false)),
        Value::Array(items) => items.iter().try_for_each(|item| visit_value(item, visit_text)),
        Value::Object(entries) => entries.values().try_for_each(|entry| visit_value(entry, visit_text)),
        Value::Null | Value::Bool(_) | Value::Number(_) => Ok(()),
    }
}

/// The texts that may have fields.
fn texts(components: &[Component]) -> Vec<&str> {
    let mut texts = Vec::new();
    let Ok(()) = visit::<Infallible>(components, &mut |(text, may_have_fields)| {
        texts.extend(may_have_fields.then_some(text));
        Ok(())
    });
    texts
}

/// Whether any text has a field.
pub(super) fn are_used(components: &[Component]) -> bool {
    texts(components).into_iter().any(is_in)
}

/// Whether every `{{` of the values begins a field, in a value that may have fields. Elsewhere it would be sent as it is.
///
/// # Errors
///
/// `invalid_components` with the first that does not.
pub fn check(components: &[Component]) -> Result<(), Refusal> {
    visit(components, &mut |(text, may_have_fields)| {
        if may_have_fields {
            check_text(text)
        } else if is_in(text) {
            Err(misplaced(text))
        } else {
            Ok(())
        }
    })
}

fn misplaced(text: &str) -> Refusal {
    let shown: String = text.chars().take(SHOWN_CHARS).collect();
    let sentence = format!(
        "`components`: `{shown}` cannot have contact fields: they stand in parameters of type `text`, in header, body, \
         buttons and cards"
    );
    Refusal::new(Code::InvalidComponents, sentence).about("components")
}

/// Whether every `{{` of a text begins a field.
///
/// # Errors
///
/// Those of [`check`].
pub fn check_text(text: &str) -> Result<(), Refusal> {
    pieces(text).map(drop).map_err(|wrong| {
        let shown: String = wrong.chars().take(SHOWN_CHARS).collect();
        no_field(&shown, &[])
    })
}

/// The refusal of what is no field of a company with these own fields.
fn no_field(shown: &str, own: &[OwnField]) -> Refusal {
    let built_in = ContactField::BUILT_IN.iter().map(ContactField::word);
    let names: Vec<&str> = built_in.chain(own.iter().map(|field| field.key.as_str())).collect();
    let names = names.join(", ");
    let more = if own.is_empty() { " or the key of an own field" } else { "" };
    let sentence = format!(
        "`components`: `{shown}` is no contact field: write {{{{contact.NAME}}}} or {{{{contact.NAME|TEXT}}}}, where NAME \
         is one of {names}{more}, and TEXT is for recipients without a value"
    );
    Refusal::new(Code::InvalidComponents, sentence).about("components")
}

/// The keys of own fields that the texts of a template's values name.
pub fn own_keys(components: &[Component]) -> Vec<FieldKey> {
    let mut keys: Vec<FieldKey> = texts(components).into_iter().flat_map(own_keys_of).collect();
    keys.sort_unstable();
    keys.dedup();
    keys
}

/// The keys of own fields that a text names.
pub fn own_keys_of(text: &str) -> Vec<FieldKey> {
    let own = |piece| match piece {
        Piece::Field { field: ContactField::Own(key), .. } => Some(key),
        Piece::Field { .. } | Piece::Text(_) => None,
    };
    pieces(text).unwrap_or_default().into_iter().filter_map(own).collect()
}

/// Whether the company has all of these own fields.
///
/// # Errors
///
/// `invalid_components` with the first that it lacks.
pub fn check_own(keys: &[FieldKey], own: &[OwnField]) -> Result<(), Refusal> {
    match keys.iter().find(|key| find(own, **key).is_none()) {
        Some(key) => Err(no_field(&format!("{{{{contact.{key}}}}}"), own)),
        None => Ok(()),
    }
}

/// The fields that have no text in their place: a recipient without one of them gets no message.
pub fn needed(components: &[Component]) -> Vec<ContactField> {
    let mut needed = Vec::new();
    for piece in texts(components).into_iter().filter_map(|text| pieces(text).ok()).flatten() {
        if let Piece::Field { field, fallback: None } = piece
            && !needed.contains(&field)
        {
            needed.push(field);
        }
    }
    needed
}

/// The values of a template for one recipient, in the template's language; `None` for a recipient who is no contact.
///
/// # Errors
///
/// Those of [`filled`].
pub fn fill_in(
    components: &[Component],
    person: Option<&Person>,
    language: &str,
) -> Result<Vec<Component>, NoValue> {
    let all = |parameters: &[Parameter], is_address: bool| {
        let parameter = |parameter: &Parameter| match parameter {
            Parameter::Text { text, parameter_name } if is_in(text) => {
                let text = fill(text, person, (!is_address).then_some(language))?;
                Ok(Parameter::Text { text, parameter_name: parameter_name.clone() })
            }
            other => Ok(other.clone()),
        };
        parameters.iter().map(parameter).collect::<Result<Vec<_>, _>>()
    };
    let component = |component: &Component| {
        Ok(match component {
            Component::Header { parameters } => Component::Header { parameters: all(parameters, false)? },
            Component::Body { parameters } => Component::Body { parameters: all(parameters, false)? },
            Component::Button { sub_type, index, parameters } => Component::Button {
                sub_type: sub_type.clone(),
                index: *index,
                parameters: all(parameters, sub_type == "url")?,
            },
            Component::LimitedTimeOffer { parameters } => {
                Component::LimitedTimeOffer { parameters: all(parameters, false)? }
            }
            Component::Carousel { cards } => {
                let card = |card: &Card| {
                    let components = fill_in(&card.components, person, language)?;
                    Ok(Card { card_index: card.card_index, components })
                };
                Component::Carousel { cards: cards.iter().map(card).collect::<Result<_, _>>()? }
            }
            Component::Other(value) => Component::Other(value.clone()),
        })
    };
    components.iter().map(component).collect()
}

#[cfg(test)]
mod tests;
