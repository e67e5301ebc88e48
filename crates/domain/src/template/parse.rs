//! Parses a request's `components` into typed values, before the template is known.
//!
//! A file is read in the specification's form (`{"type": "image", "link": …}`) and in the provider's
//! (`{"type": "image", "image": {"link": …}}`); types and sub-types are read in any case.

use serde_json::Value;

use super::component::{Card, Component, Media, Parameter, Source};
use crate::error::{Code, Refusal};
use crate::link::{self, Link};
use crate::payload::Node;

/// More than a template can have: header, body, ten buttons and the few kinds that we do not know.
const MAX_COMPONENTS: usize = 32;
/// More variables than a text of 1,024 characters can hold.
const MAX_PARAMETERS: usize = 256;
/// The provider's bound for one text.
const MAX_TEXT_CHARS: usize = 32_768;
/// Words of the vocabulary: types, sub-types, names.
const MAX_WORD_CHARS: usize = 512;
/// A template has at most ten buttons, and a carousel at most ten cards.
const MAX_INDEX: u8 = 9;
/// The components of one card: header, body and two buttons.
const MAX_CARD_COMPONENTS: usize = 8;
/// One space more in a row than the provider accepts.
const WIDE_GAP: &str = "     ";

/// Reads the array `components`.
///
/// # Errors
///
/// `invalid_components`, with the path of what cannot be read.
pub fn parse_components(value: &Value) -> Result<Vec<Component>, Refusal> {
    let root = Node::root(Code::InvalidComponents, "components", value);
    root.items(MAX_COMPONENTS)?.iter().map(component).collect()
}

fn component(node: &Node<'_>) -> Result<Component, Refusal> {
    match word(node, "type")?.as_str() {
        "header" => Ok(Component::Header { parameters: parameters(node)? }),
        "body" => Ok(Component::Body { parameters: parameters(node)? }),
        "button" => Ok(Component::Button {
            sub_type: word(node, "sub_type")?,
            index: index(node, "index", "the button's")?,
            parameters: parameters(node)?,
        }),
        "carousel" => Ok(Component::Carousel { cards: cards(node)? }),
        "limited_time_offer" => Ok(Component::LimitedTimeOffer { parameters: parameters(node)? }),
        _ => Ok(Component::Other(node.value().clone())),
    }
}

fn cards(node: &Node<'_>) -> Result<Vec<Card>, Refusal> {
    let Some(cards) = node.at("cards") else { return Ok(Vec::new()) };
    let card = |card: &Node<'_>| {
        let components = match card.at("components") {
            Some(components) => components.items(MAX_CARD_COMPONENTS)?,
            None => Vec::new(),
        };
        let part = |node: &Node<'_>| match component(node)? {
            Component::Carousel { .. } => Err(node.refuse("is a carousel in a card, which has no cards")),
            part => Ok(part),
        };
        Ok(Card {
            card_index: index(card, "card_index", "the card's")?,
            components: components.iter().map(part).collect::<Result<_, _>>()?,
        })
    };
    cards.items(usize::from(MAX_INDEX) + 1)?.iter().map(card).collect()
}

fn word(node: &Node<'_>, key: &str) -> Result<String, Refusal> {
    Ok(read_word(node.text(key, MAX_WORD_CHARS)?))
}

/// A word of the vocabulary, in any case.
pub(super) fn read_word(text: &str) -> String {
    text.trim().to_ascii_lowercase()
}

/// A position, as a number or as text.
fn index(node: &Node<'_>, key: &str, whose: &str) -> Result<u8, Refusal> {
    let given =
        node.at(key).ok_or_else(|| node.missing(key, format_args!("give {whose} position, from 0")))?;
    let index = match given.value() {
        Value::String(digits) => digits.trim().parse::<u8>().ok(),
        Value::Number(number) => number.as_u64().and_then(|index| u8::try_from(index).ok()),
        _ => None,
    };
    index
        .filter(|&index| index <= MAX_INDEX)
        .ok_or_else(|| given.refuse(format_args!("must be {whose} position, from 0 to {MAX_INDEX}")))
}

fn parameters(node: &Node<'_>) -> Result<Vec<Parameter>, Refusal> {
    match node.at("parameters") {
        Some(parameters) => parameters.items(MAX_PARAMETERS)?.iter().map(parameter).collect(),
        None => Ok(Vec::new()),
    }
}

fn parameter(node: &Node<'_>) -> Result<Parameter, Refusal> {
    let parameter_name = || {
        let name = node.optional_text("parameter_name", MAX_WORD_CHARS)?;
        Ok::<_, Refusal>(name.map(|name| name.trim().to_owned()))
    };
    match word(node, "type")?.as_str() {
        "text" => Ok(Parameter::Text { text: text(node)?, parameter_name: parameter_name()? }),
        "currency" => Ok(Parameter::Currency {
            currency: with_fallback(node, "currency")?,
            parameter_name: parameter_name()?,
        }),
        "date_time" => Ok(Parameter::DateTime {
            date_time: with_fallback(node, "date_time")?,
            parameter_name: parameter_name()?,
        }),
        "image" => media(node, "image").map(Parameter::Image),
        "video" => media(node, "video").map(Parameter::Video),
        "document" => media(node, "document").map(Parameter::Document),
        "location" => Ok(Parameter::Location { location: node.object("location")?.value().clone() }),
        "payload" => Ok(Parameter::Payload { payload: node.text("payload", MAX_WORD_CHARS)?.to_owned() }),
        "coupon_code" => {
            Ok(Parameter::CouponCode { coupon_code: node.text("coupon_code", MAX_WORD_CHARS)?.to_owned() })
        }
        _ => Ok(Parameter::Other(node.value().clone())),
    }
}

/// The provider refuses texts on several lines and with wide gaps, but only when each message is sent.
fn text(node: &Node<'_>) -> Result<String, Refusal> {
    let text = node.text("text", MAX_TEXT_CHARS)?;
    if text.contains(['\n', '\r', '\t']) || text.contains(WIDE_GAP) {
        return Err(
            node.refuse("must be text on one line, without tabs and without more than four spaces in a row")
        );
    }
    Ok(text.to_owned())
}

fn with_fallback(node: &Node<'_>, key: &str) -> Result<Value, Refusal> {
    let object = node.object(key)?;
    object.text("fallback_value", MAX_TEXT_CHARS)?;
    Ok(object.value().clone())
}

/// A document by link gets the name at the end of the link if it has none of its own: without a name, WhatsApp shows
/// `Untitled`.
fn media(node: &Node<'_>, kind: &str) -> Result<Media, Refusal> {
    let nested = node.optional_object(kind)?;
    let file = nested.as_ref().unwrap_or(node);
    let mut filename = file.optional_file_name("filename")?.map(str::to_owned);
    let source = match (file.at("link"), file.optional_text("id", MAX_WORD_CHARS)?) {
        (Some(given), None) => {
            let text = given.as_text(link::MAX_CHARS)?;
            let link = Link::parse(text).map_err(|wrong| given.refuse(wrong))?;
            if kind == "document" && filename.is_none() {
                filename = link.file_name();
            }
            Source::Link(link.into_string())
        }
        (None, Some(id)) => Source::Id(id.to_owned()),
        (None, None) => return Err(file.missing("link", "give the public address of the file")),
        (Some(_), Some(_)) => return Err(file.refuse("must have either a `link` or an `id`, not both")),
    };
    Ok(Media { source, filename })
}
