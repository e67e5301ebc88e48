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
    /// The kinds of components beyond header, body, footer and buttons; lower case.
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
        let format = template.parameter_format;
        let authentication = template.category == Category::Authentication;
        let mut shape = Self {
            header: Header::Absent,
            body: Variables::default(),
            buttons: Vec::new(),
            other_kinds: Vec::new(),
            format,
        };
        for component in template.components.as_array()? {
            match word(component, "type").as_str() {
                "header" => shape.header = Header::read(component, format),
                "body" => shape.body = body(component, format, authentication),
                "buttons" => {
                    let buttons = component.get("buttons").and_then(Value::as_array);
                    shape.buttons = buttons.into_iter().flatten().map(Button::read).collect();
                }
                "footer" => {}
                other => shape.other_kinds.push(other.to_owned()),
            }
        }
        Some(shape)
    }
}

impl Header {
    fn read(component: &Value, format: ParameterFormat) -> Self {
        match word(component, "format").as_str() {
            "text" | "" => Self::Text(Variables::of(text(component, "text").unwrap_or_default(), format)),
            "image" => Self::Media("image"),
            "video" => Self::Media("video"),
            "document" => Self::Media("document"),
            "location" => Self::Location,
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
            "url" | "phone_number" => Self::Fixed,
            "otp" => Self::Link,
            "quick_reply" => Self::QuickReply,
            "copy_code" => Self::CopyCode,
            _ => Self::Unchecked,
        }
    }
}

impl Variables {
    fn of(text: &str, format: ParameterFormat) -> Self {
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
fn placeholders(text: &str) -> impl Iterator<Item = &str> {
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
