//! The shape of a template: the values that it needs, read from the provider's description.
//!
//! The description is a foreign document: words are compared without case, and anything that we do not know becomes
//! `Unchecked` rather than an error.

use serde_json::Value;

use super::{Category, ParameterFormat, Template};

/// The needs of each part of a template.
#[derive(Debug)]
pub struct Shape {
    /// The header.
    pub header: Header,
    /// The text.
    pub body: Variables,
    /// The buttons in the template's order, as a button's index counts.
    pub buttons: Vec<Button>,
    /// The cards of its carousel in the template's order.
    pub cards: Vec<Self>,
    /// Whether it is an offer that ends at a time of its own for each send.
    pub has_deadline: bool,
    /// The kinds of components beyond these and the footer; lower case.
    pub other_kinds: Vec<String>,
    /// The form of its variables.
    pub format: ParameterFormat,
}

/// The needs of the header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Header {
    /// No header.
    Absent,
    /// Its variables, if it has any.
    Text(Variables),
    /// One file of this kind: image, video or document.
    Media(&'static str),
    /// One place.
    Location,
    /// One product of a catalogue, on a card.
    Product,
    /// A format that we do not know.
    Unchecked,
}

/// The needs of one button.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Button {
    /// Nothing: a telephone number or an address without variable.
    Fixed,
    /// One text: the end of an address, or a one-time code.
    Link,
    /// A payload, which is optional.
    QuickReply,
    /// A coupon code.
    CopyCode,
    /// To be named; the flow's token and data are optional.
    Flow,
    /// To be named; the product that is shown in its picture is optional.
    Catalog,
    /// The products that it lists.
    ProductList,
    /// A kind that we do not know.
    Unchecked,
}

/// The distinct variables of one text, in order of appearance.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Variables(pub Vec<String>);

impl Shape {
    /// Reads the shape of a template; `None` when the description is not a list of components, so that nothing is
    /// known.
    pub fn read(template: &Template) -> Option<Self> {
        let authentication = template.category == Category::Authentication;
        Self::of(&template.components, template.parameter_format, authentication)
    }

    fn of(components: &Value, format: ParameterFormat, authentication: bool) -> Option<Self> {
        let mut shape = Self {
            header: Header::Absent,
            body: Variables::default(),
            buttons: Vec::new(),
            cards: Vec::new(),
            has_deadline: false,
            other_kinds: Vec::new(),
            format,
        };
        for component in components.as_array()? {
            match word(component, "type").as_str() {
                "header" => shape.header = Header::read(component, format),
                "body" => shape.body = body(component, format, authentication),
                "buttons" => {
                    let buttons = component.get("buttons").and_then(Value::as_array);
                    shape.buttons = buttons.into_iter().flatten().map(Button::read).collect();
                }
                "carousel" if let Some(cards) = cards(component, format) => shape.cards = cards,
                "limited_time_offer" => {
                    let offer = component.get("limited_time_offer");
                    let expires = offer.and_then(|offer| offer.get("has_expiration"));
                    shape.has_deadline = expires.and_then(Value::as_bool).unwrap_or_default();
                    shape.other_kinds.push("limited_time_offer".to_owned());
                }
                "footer" => {}
                other => shape.other_kinds.push(other.to_owned()),
            }
        }
        Some(shape)
    }
}

/// The shapes of a carousel's cards; `None` when any is not a list of components, so that nothing is known.
fn cards(component: &Value, format: ParameterFormat) -> Option<Vec<Shape>> {
    let cards = component.get("cards")?.as_array().filter(|cards| !cards.is_empty())?;
    cards.iter().map(|card| flat(card.get("components")?, format)).collect()
}

/// The shape of a card, which has no cards.
fn flat(components: &Value, format: ParameterFormat) -> Option<Shape> {
    let is_carousel = |component: &Value| word(component, "type") == "carousel";
    if components.as_array()?.iter().any(is_carousel) {
        return None;
    }
    Shape::of(components, format, false)
}

impl Header {
    fn read(component: &Value, format: ParameterFormat) -> Self {
        match word(component, "format").as_str() {
            "text" | "" => Self::Text(Variables::of(text(component, "text").unwrap_or_default(), format)),
            "image" => Self::Media("image"),
            "video" => Self::Media("video"),
            "document" => Self::Media("document"),
            "location" => Self::Location,
            "product" => Self::Product,
            _ => Self::Unchecked,
        }
    }
}

/// The variables of the body. The provider may omit an authentication template's text, which always has the code as its
/// variable.
fn body(component: &Value, format: ParameterFormat, authentication: bool) -> Variables {
    match text(component, "text") {
        None if authentication => Variables(vec!["1".to_owned()]),
        text => Variables::of(text.unwrap_or_default(), format),
    }
}

impl Button {
    fn read(button: &Value) -> Self {
        match word(button, "type").as_str() {
            "url" if placeholders(text(button, "url").unwrap_or_default()).next().is_some() => Self::Link,
            "url" | "phone_number" | "spm" => Self::Fixed,
            "otp" => Self::Link,
            "quick_reply" => Self::QuickReply,
            "copy_code" => Self::CopyCode,
            "flow" => Self::Flow,
            "catalog" => Self::Catalog,
            "mpm" => Self::ProductList,
            _ => Self::Unchecked,
        }
    }
}

impl Variables {
    pub(super) fn of(text: &str, format: ParameterFormat) -> Self {
        let mut distinct = Vec::new();
        for name in placeholders(text).filter(|name| is_name(name, format)) {
            if !distinct.iter().any(|known| known == name) {
                distinct.push(name.to_owned());
            }
        }
        Self(distinct)
    }
}

/// Whether the header's or the body's text has a variable that is not a number.
pub(super) fn has_named_variables(components: &Value) -> bool {
    components
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|component| text(component, "text"))
        .flat_map(placeholders)
        .any(|name| is_name(name, ParameterFormat::Named) && !is_name(name, ParameterFormat::Positional))
}

/// The texts between `{{` and `}}`.
pub(super) fn placeholders(text: &str) -> impl Iterator<Item = &str> {
    text.split("{{").skip(1).filter_map(|rest| rest.split_once("}}")).map(|(name, _)| name.trim())
}

/// Whether the text between braces is a variable; other texts between braces are ordinary text.
fn is_name(name: &str, format: ParameterFormat) -> bool {
    !name.is_empty()
        && match format {
            ParameterFormat::Positional => name.bytes().all(|byte| byte.is_ascii_digit()),
            ParameterFormat::Named => name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_'),
        }
}

fn text<'a>(value: &'a Value, key: &str) -> Option<&'a str> {
    value.get(key).and_then(Value::as_str)
}

/// A word of the provider's vocabulary in lower case; empty when it is absent.
fn word(value: &Value, key: &str) -> String {
    text(value, key).unwrap_or_default().to_ascii_lowercase()
}
