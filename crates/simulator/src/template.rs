//! One template of the simulator: its fields, and the parameters that a send needs.

use serde_json::{Map, Value, json};

use super::seed::Template;

/// A template with its id.
#[derive(Debug, Clone)]
pub(super) struct StoredTemplate {
    pub(super) id: u64,
    pub(super) template: Template,
    pub(super) shape: Shape,
}

/// The parameters that a template asks for.
#[derive(Debug, Clone, Default)]
pub(super) struct Shape {
    pub(super) header: Header,
    pub(super) body: Vec<String>,
    pub(super) body_length: usize,
    pub(super) is_named: bool,
    pub(super) buttons: Vec<Button>,
    /// The parts of each card of a carousel.
    pub(super) cards: Vec<Shape>,
    /// Whether it is an offer that ends at a time that each send gives.
    pub(super) has_deadline: bool,
}

/// The parameters that a header needs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) enum Header {
    /// Nothing: there is none, or its text is fixed.
    #[default]
    Fixed,
    /// Text parameters of these names (`1` for positional ones).
    Text(Vec<String>),
    /// A media parameter of this type: `image`, `video`, `document` or `location`.
    Media(String),
}

/// The parameter that a button needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Button {
    /// Whatever a send gives: a type whose parameters are not known here.
    Fixed,
    /// An optional payload.
    QuickReply,
    /// Nothing: it always leads to the same place.
    Plain,
    /// The end of its address.
    Url,
    /// A coupon code.
    CopyCode,
    /// Nothing, but it has to be named.
    Flow,
    /// Optional parameters: how long it can be used, and a payload.
    VoiceCall,
    /// As a flow.
    Catalog,
    /// The products.
    ProductList,
}

impl StoredTemplate {
    pub(super) fn new(id: u64, template: Template) -> Self {
        let shape = Shape::of(&template);
        Self { id, template, shape }
    }

    /// All fields, for the provider's field selection to choose from.
    pub(super) fn node(&self) -> Value {
        let template = &self.template;
        let rejected_reason = if template.status == "REJECTED" { "ABUSIVE_CONTENT" } else { "NONE" };
        let sendable = if template.status == "APPROVED" { "AVAILABLE" } else { "BLOCKED" };
        let mut node = json!({
            "id": self.id.to_string(),
            "name": template.name,
            "language": template.language,
            "status": template.status,
            "category": template.category,
            "parameter_format": template.parameter_format,
            "components": template.components,
            "rejected_reason": rejected_reason,
            "quality_score": { "score": "GREEN", "date": 1_758_412_800 },
            "sub_category": "CUSTOM",
            "cta_url_link_tracking_opted_out": false,
            "health_status": { "can_send_message": sendable, "entities": [] },
        });
        if let Some(seconds) = template.message_send_ttl_seconds {
            node["message_send_ttl_seconds"] = seconds.into();
        }
        if let Some(name) = &template.library_template_name {
            node["library_template_name"] = name.as_str().into();
        }
        node
    }
}

impl Shape {
    fn of(template: &Template) -> Self {
        let is_named = template.parameter_format.eq_ignore_ascii_case("NAMED");
        Self::of_components(&template.components, is_named)
    }

    fn of_components(components: &Value, is_named: bool) -> Self {
        let mut shape = Self { is_named, ..Self::default() };
        for component in components.as_array().into_iter().flatten() {
            let Some(component) = component.as_object() else { continue };
            match upper(component, "type").as_str() {
                "HEADER" => shape.header = header(component),
                "BODY" => {
                    shape.body = variables(text(component, "text"));
                    shape.body_length = text(component, "text").chars().count();
                }
                "BUTTONS" => {
                    let buttons = component.get("buttons").and_then(Value::as_array);
                    shape.buttons = buttons.into_iter().flatten().map(button).collect();
                }
                "CAROUSEL" => {
                    let cards = component.get("cards").and_then(Value::as_array);
                    let card = |card: &Value| Self::of_components(&card["components"], is_named);
                    shape.cards = cards.into_iter().flatten().map(card).collect();
                }
                "LIMITED_TIME_OFFER" => {
                    let offer = component.get("limited_time_offer");
                    shape.has_deadline = offer.is_some_and(|offer| offer["has_expiration"] == true);
                }
                _ => {}
            }
        }
        shape
    }
}

fn header(component: &Map<String, Value>) -> Header {
    match upper(component, "format").as_str() {
        "TEXT" | "" => {
            let names = variables(text(component, "text"));
            if names.is_empty() { Header::Fixed } else { Header::Text(names) }
        }
        format => Header::Media(format.to_lowercase()),
    }
}

fn button(button: &Value) -> Button {
    let Some(button) = button.as_object() else { return Button::Fixed };
    match upper(button, "type").as_str() {
        "URL" if !variables(text(button, "url")).is_empty() => Button::Url,
        "URL" | "PHONE_NUMBER" => Button::Plain,
        "QUICK_REPLY" => Button::QuickReply,
        "OTP" => Button::Url,
        "COPY_CODE" => Button::CopyCode,
        "FLOW" => Button::Flow,
        "CATALOG" => Button::Catalog,
        "MPM" => Button::ProductList,
        "VOICE_CALL" => Button::VoiceCall,
        _ => Button::Fixed,
    }
}

fn text<'a>(object: &'a Map<String, Value>, name: &str) -> &'a str {
    object.get(name).and_then(Value::as_str).unwrap_or_default()
}

fn upper(object: &Map<String, Value>, name: &str) -> String {
    text(object, name).to_ascii_uppercase()
}

/// The names between `{{` and `}}`, each once, in order.
pub(super) fn variables(text: &str) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for part in text.split("{{").skip(1) {
        if let Some((name, _)) = part.split_once("}}")
            && !names.iter().any(|known| known == name.trim())
        {
            names.push(name.trim().to_owned());
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shape_of_a_template_is_read_from_its_components() {
        let promo = super::super::seed::default_templates().remove(2);
        let shape = Shape::of(&promo);
        assert_eq!(shape.header, Header::Media("image".into()));
        assert_eq!(shape.body, ["1"]);
        assert_eq!(shape.buttons, [Button::Url]);
    }

    #[test]
    fn a_variable_that_is_used_twice_is_one_parameter() {
        assert_eq!(variables("{{1}} and {{ 2 }} and {{1}} {{"), ["1", "2"]);
    }
}
