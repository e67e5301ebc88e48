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
}

impl ContactField {
    /// Every field.
    pub const ALL: [Self; 5] = [Self::Name, Self::FirstName, Self::LastName, Self::Email, Self::PhoneNumber];

    /// The word in a text.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Name => "name",
            Self::FirstName => "first_name",
            Self::LastName => "last_name",
            Self::Email => "email",
            Self::PhoneNumber => "phone_number",
        }
    }

    /// The value on one line; `None` when it is not known.
    pub fn of(self, person: &Person) -> Option<String> {
        let Person { first_name, last_name, email, phone_number, .. } = person;
        let value = match self {
            Self::Name => Cow::Owned(format!("{first_name} {last_name}")),
            Self::FirstName => Cow::Borrowed(first_name.as_str()),
            Self::LastName => Cow::Borrowed(last_name.as_str()),
            Self::Email => Cow::Borrowed(email.as_str()),
            Self::PhoneNumber => Cow::Borrowed(phone_number.as_str()),
        };
        let is_gap = |letter: char| letter.is_whitespace() || letter.is_control();
        let words: Vec<_> = value.split(is_gap).filter(|word| !word.is_empty()).collect();
        (!words.is_empty()).then(|| words.join(" "))
    }
}

/// A recipient without a value for this field, which has no text in its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the recipient is no contact with a value for {{{{contact.{}}}}}, which has no text in its place", .0.as_str())]
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
        let field = ContactField::ALL.into_iter().find(|field| field.as_str() == name).ok_or(from)?;
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

/// The text for a recipient; `None` for a recipient who is no contact. Text outside of fields stays as it is.
///
/// # Errors
///
/// The first field that the recipient has no value for and that has no text in its place.
pub fn filled(text: &str, person: Option<&Person>) -> Result<String, NoValue> {
    fill(text, person, false)
}

/// Like [`filled`], for an address: values are percent-encoded.
///
/// # Errors
///
/// Those of [`filled`].
pub fn filled_address(text: &str, person: Option<&Person>) -> Result<String, NoValue> {
    fill(text, person, true)
}

fn fill(text: &str, person: Option<&Person>, is_address: bool) -> Result<String, NoValue> {
    let Ok(pieces) = pieces(text) else { return Ok(text.to_owned()) };
    let mut filled = String::with_capacity(text.len());
    for piece in pieces {
        match piece {
            Piece::Text(text) => filled.push_str(text),
            Piece::Field { field, fallback } => {
                match (person.and_then(|person| field.of(person)), fallback) {
                    (Some(value), _) if is_address => push_encoded(&mut filled, &value),
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
        let names = ContactField::ALL.map(ContactField::as_str).join(", ");
        Refusal::new(
            Code::InvalidComponents,
            format!(
                "`components`: `{shown}` is no contact field: write {{{{contact.NAME}}}} or {{{{contact.NAME|TEXT}}}}, \
                 where NAME is one of {names}, and TEXT is for recipients without a value"
            ),
        )
        .about("components")
    })
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

/// The values of a template for one recipient; `None` for a recipient who is no contact.
///
/// # Errors
///
/// Those of [`filled`].
pub fn fill_in(components: &[Component], person: Option<&Person>) -> Result<Vec<Component>, NoValue> {
    let all = |parameters: &[Parameter], is_address: bool| {
        let parameter = |parameter: &Parameter| match parameter {
            Parameter::Text { text, parameter_name } if is_in(text) => {
                let text = fill(text, person, is_address)?;
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
                    let components = fill_in(&card.components, person)?;
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
