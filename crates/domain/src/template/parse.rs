//! Parses a request's `components` into typed values, before the template is known.
//!
//! A file is read in the specification's form (`{"type": "image", "link": …}`) and in the provider's
//! (`{"type": "image", "image": {"link": …}}`); types and sub-types are read in any case.

use serde_json::Value;

use super::component::{Card, Component, Media, Parameter, Source};
use super::given::{
    ButtonIndex, CouponCodeParameter, CurrencyParameter, DateTimeParameter, Kind, LocationParameter,
    MAX_INDEX, PayloadParameter, TemplateBody, TemplateButton, TemplateFile, TemplateHeader, TextParameter,
    index,
};
use crate::error::{Code, Refusal};
use crate::link::Link;
use crate::payload::{Node, Part};

/// More than a template can have: header, body, ten buttons and the few kinds that we do not know.
const MAX_COMPONENTS: usize = 32;
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
    let mut components = parse_components_with_values(value)?;
    components.iter_mut().try_for_each(plain_links)?;
    Ok(components)
}

/// Reads the array `components`, in which the links of files may have placeholders of values.
///
/// # Errors
///
/// Those of [`parse_components`].
pub fn parse_components_with_values(value: &Value) -> Result<Vec<Component>, Refusal> {
    let root = Node::root(Code::InvalidComponents, "components", value);
    root.items(MAX_COMPONENTS)?.iter().map(Part::read).collect()
}

impl Part for Component {
    fn read(node: &Node<'_>) -> Result<Self, Refusal> {
        match Kind::read_at(node, "type")?.as_str() {
            "header" => TemplateHeader::read(node).map(|TemplateHeader { parameters, .. }| Self::Header {
                parameters: parameters.unwrap_or_default(),
            }),
            "body" => TemplateBody::read(node).map(|TemplateBody { parameters, .. }| Self::Body {
                parameters: parameters.unwrap_or_default(),
            }),
            "button" => {
                let TemplateButton { r#type: _, sub_type, index: ButtonIndex(index), parameters } =
                    Part::read(node)?;
                Ok(Self::Button { sub_type, index, parameters: parameters.unwrap_or_default() })
            }
            "carousel" => Ok(Self::Carousel { cards: cards(node)? }),
            "limited_time_offer" => TemplateBody::read(node).map(|TemplateBody { parameters, .. }| {
                Self::LimitedTimeOffer { parameters: parameters.unwrap_or_default() }
            }),
            _ => Ok(Self::Other(node.value().clone())),
        }
    }
}

fn cards(node: &Node<'_>) -> Result<Vec<Card>, Refusal> {
    let Some(cards) = node.at("cards") else { return Ok(Vec::new()) };
    let card = |card: &Node<'_>| {
        let components = match card.at("components") {
            Some(components) => components.items(MAX_CARD_COMPONENTS)?,
            None => Vec::new(),
        };
        let part = |node: &Node<'_>| match Component::read(node)? {
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

impl Part for Parameter {
    fn read(node: &Node<'_>) -> Result<Self, Refusal> {
        let trimmed = |name: Option<String>| name.map(|name| name.trim().to_owned());
        match Kind::read_at(node, "type")?.as_str() {
            "text" => {
                // The text's own faults come before those of the name.
                check_line(node, node.text("text", TextParameter::text().most)?)?;
                let TextParameter { r#type: _, text, parameter_name } = Part::read(node)?;
                Ok(Self::Text { text, parameter_name: trimmed(parameter_name) })
            }
            "currency" => {
                let CurrencyParameter { parameter_name, .. } = Part::read(node)?;
                Ok(Self::Currency {
                    currency: whole(node, "currency")?,
                    parameter_name: trimmed(parameter_name),
                })
            }
            "date_time" => {
                let DateTimeParameter { parameter_name, .. } = Part::read(node)?;
                Ok(Self::DateTime {
                    date_time: whole(node, "date_time")?,
                    parameter_name: trimmed(parameter_name),
                })
            }
            "image" => media(node, "image").map(Self::Image),
            "video" => media(node, "video").map(Self::Video),
            "document" => media(node, "document").map(Self::Document),
            "location" => {
                LocationParameter::read(node)?;
                Ok(Self::Location { location: whole(node, "location")? })
            }
            "payload" => {
                PayloadParameter::read(node).map(|PayloadParameter { payload, .. }| Self::Payload { payload })
            }
            "coupon_code" => CouponCodeParameter::read(node)
                .map(|CouponCodeParameter { coupon_code, .. }| Self::CouponCode { coupon_code }),
            _ => Ok(Self::Other(node.value().clone())),
        }
    }
}

/// The object under this key, with the fields that we do not know.
fn whole(node: &Node<'_>, key: &str) -> Result<Value, Refusal> {
    Ok(node.object(key)?.value().clone())
}

/// The provider refuses texts on several lines and with wide gaps, but only when each message is sent.
fn check_line(node: &Node<'_>, text: &str) -> Result<(), Refusal> {
    if text.contains(['\n', '\r', '\t']) || text.contains(WIDE_GAP) {
        return Err(
            node.refuse("must be text on one line, without tabs and without more than four spaces in a row")
        );
    }
    Ok(())
}

/// A document by link gets the name at the end of the link if it has none of its own: without a name, WhatsApp shows
/// `Untitled`.
fn media(node: &Node<'_>, kind: &str) -> Result<Media, Refusal> {
    let nested = node.optional_object(kind)?;
    let file = nested.as_ref().unwrap_or(node);
    let mut filename = file.optional_file_name("filename")?.map(str::to_owned);
    let source = match (file.at("link"), file.optional_text("id", TemplateFile::id().most)?) {
        (Some(given), None) => {
            let text = given.as_text(TemplateFile::link().most)?;
            if has_values(text) {
                return Ok(Media { source: Source::Link(text.to_owned()), filename });
            }
            let link = Link::parse_file(text).map_err(|wrong| given.refuse(wrong))?;
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

/// Whether a link has placeholders of values.
fn has_values(link: &str) -> bool {
    link.contains("{{value.")
}

/// Reads the links with placeholders as links, in a request without values.
fn plain_links(component: &mut Component) -> Result<(), Refusal> {
    let parameters = match component {
        Component::Header { parameters }
        | Component::Body { parameters }
        | Component::LimitedTimeOffer { parameters }
        | Component::Button { parameters, .. } => parameters,
        Component::Carousel { cards } => {
            return cards.iter_mut().flat_map(|card| &mut card.components).try_for_each(plain_links);
        }
        Component::Other(_) => return Ok(()),
    };
    for parameter in parameters {
        let (file, is_document) = match parameter {
            Parameter::Image(file) | Parameter::Video(file) => (file, false),
            Parameter::Document(file) => (file, true),
            _ => continue,
        };
        let Source::Link(given) = &file.source else { continue };
        if !has_values(given) {
            continue;
        }
        let link = Link::parse_file(given)
            .map_err(|wrong| Refusal::of("components", Code::InvalidComponents, wrong))?;
        if is_document && file.filename.is_none() {
            file.filename = link.file_name();
        }
        file.source = Source::Link(link.into_string());
    }
    Ok(())
}
