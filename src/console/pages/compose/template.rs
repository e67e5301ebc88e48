//! The parts of a template that can be filled in: the header's text, file or location, the text's variables
//! by their numbers or names, the buttons' addresses, codes and payloads, the cards of a carousel, and the end of an
//! offer.

mod columns;
mod fields;

use serde_json::{Value, json};

pub(super) use self::columns::{faulty_fields, places};
pub(in crate::console::pages) use self::fields::fields;
use crate::console::form::Form;
use crate::console::visitor::Viewer;
use crate::console::words::Words;
use crate::domain::own_field::OwnField;
use crate::domain::template::contact_field::{self, Placeholders};
use crate::domain::template::{Button, Header, ParameterFormat, Shape, Template, Variables};

/// The field with the end of a limited-time offer, in the person's zone.
const DEADLINE: &str = "deadline";
/// The same in Unix milliseconds, as the provider wants it. No page has such a field.
const DEADLINE_MILLIS: &str = "deadline_ms";

/// The names of the fields of a template, or of one of its cards.
#[derive(Clone, Copy)]
struct Names(Option<usize>);

impl Names {
    /// The name of a value's field.
    fn of(self, part: &str, value: impl std::fmt::Display) -> String {
        match self.0 {
            Some(card) => format!("card_{card}_{part}_{value}"),
            None => format!("{part}_{value}"),
        }
    }
}

/// The shape of the template and of each card, with the names of their fields.
fn parts(shape: &Shape) -> impl Iterator<Item = (Names, &Shape)> {
    let cards = shape.cards.iter().enumerate().map(|(card, shape)| (Names(Some(card)), shape));
    std::iter::once((Names(None), shape)).chain(cards)
}

/// The values of the form, in the form of the API.
pub(in crate::console::pages) fn components(template: &Template, words: &Words) -> Vec<Value> {
    let Some(shape) = Shape::read(template) else { return Vec::new() };
    let mut components = own_components(Names(None), &shape, words);
    if shape.has_deadline {
        let end = words.one(DEADLINE_MILLIS).parse::<i64>().ok();
        let offer = json!({"type": "limited_time_offer", "limited_time_offer": {"expiration_time_ms": end}});
        components.push(json!({"type": "limited_time_offer", "parameters": end.map(|_| [offer])}));
    }
    if !shape.cards.is_empty() {
        let card = |(index, card): (usize, &Shape)| json!({"card_index": index, "components": own_components(Names(Some(index)), card, words)});
        let cards: Vec<Value> = shape.cards.iter().enumerate().map(card).collect();
        components.push(json!({"type": "carousel", "cards": cards}));
    }
    components
}

/// The values of header, body and buttons, of the template itself or of one card.
fn own_components(names: Names, shape: &Shape, words: &Words) -> Vec<Value> {
    let mut components = Vec::new();
    let wording = |part: &str, Variables(variables): &Variables| -> Vec<Value> {
        let value = |variable: &String| {
            let text = words.one(&names.of(part, variable));
            match shape.format {
                ParameterFormat::Positional => json!({"type": "text", "text": text}),
                ParameterFormat::Named => {
                    json!({"type": "text", "text": text, "parameter_name": variable})
                }
            }
        };
        variables.iter().map(value).collect()
    };
    let of_header = |value: &str| words.one(&names.of("header", value));
    let header = match &shape.header {
        Header::Text(variables) => wording("header", variables),
        Header::Media("document") => {
            vec![json!({"type": "document", "link": of_header("link"), "filename": of_header("filename")})]
        }
        Header::Media(kind) => vec![json!({"type": kind, "link": of_header("link")})],
        Header::Location => {
            let place = ["latitude", "longitude", "name", "address"]
                .map(|field| (field.to_owned(), Value::from(of_header(field))));
            vec![json!({"type": "location", "location": Value::Object(place.into_iter().collect())})]
        }
        Header::Product => {
            let product =
                json!({"product_retailer_id": of_header("product"), "catalog_id": of_header("catalog")});
            vec![json!({"type": "product", "product": product})]
        }
        Header::Absent | Header::Unchecked => Vec::new(),
    };
    if !header.is_empty() {
        components.push(json!({"type": "header", "parameters": header}));
    }
    let body = wording("body", &shape.body);
    if !body.is_empty() {
        components.push(json!({"type": "body", "parameters": body}));
    }
    for (index, button) in shape.buttons.iter().enumerate() {
        if let Some((sub_type, parameter)) = button_value(names, index, button, words) {
            let (index, parameters) = (index.to_string(), Vec::from_iter(parameter));
            components.push(
                json!({"type": "button", "sub_type": sub_type, "index": index, "parameters": parameters}),
            );
        }
    }
    components
}

/// The sub-type of a button with its value, if it has one; `None` for a button that is not named in a request.
fn button_value(
    names: Names,
    index: usize,
    button: &Button,
    words: &Words,
) -> Option<(&'static str, Option<Value>)> {
    let given = words.one(&names.of("button", index));
    let action = |action: Value| json!({"type": "action", "action": action});
    let optional = |value: Value| (!given.is_empty()).then_some(value);
    Some(match button {
        Button::Link => ("url", Some(json!({"type": "text", "text": given}))),
        Button::CopyCode => ("copy_code", Some(json!({"type": "coupon_code", "coupon_code": given}))),
        Button::QuickReply => ("quick_reply", Some(optional(json!({"type": "payload", "payload": given}))?)),
        Button::Flow => ("flow", optional(action(json!({"flow_token": given})))),
        Button::Catalog => ("catalog", optional(action(json!({"thumbnail_product_retailer_id": given})))),
        Button::ProductList => {
            let products = || given.lines().map(str::trim).filter(|product| !product.is_empty());
            let items: Vec<Value> =
                products().map(|product| json!({"product_retailer_id": product})).collect();
            let title = words.one(&names.of("button", format_args!("{index}_title")));
            let sections = json!([{"title": title, "product_items": items}]);
            let first = products().next()?;
            ("mpm", Some(action(json!({"thumbnail_product_retailer_id": first, "sections": sections}))))
        }
        Button::Fixed | Button::Unchecked => return None,
    })
}

/// The files of headers, each with its kind.
pub(super) fn files(template: &Template, words: &Words) -> Vec<(&'static str, String)> {
    let Some(shape) = Shape::read(template) else { return Vec::new() };
    let file = |(names, shape): (Names, &Shape)| match shape.header {
        Header::Media(kind) => Some((kind, words.one(&names.of("header", "link")).to_owned())),
        Header::Absent | Header::Text(_) | Header::Location | Header::Product | Header::Unchecked => None,
    };
    parts(&shape).filter_map(file).collect()
}

/// Converts the end of an offer from the person's zone, and notes a fault when it is none.
pub(in crate::console::pages) fn read_deadline(viewer: &Viewer, template: &Template, form: &mut Form) {
    if !Shape::read(template).is_some_and(|shape| shape.has_deadline) {
        return;
    }
    match viewer.zone.moment(form.words().one(DEADLINE)) {
        Some(at) => form.put(DEADLINE_MILLIS, at.millis().to_string()),
        None => form.fault(DEADLINE, viewer.text.get("compose-fault-time")),
    }
}

/// The digest of what the recipients of a template read, and of its category, which decides what a message costs. The samples are
/// no part of it: nobody receives them, and the provider's addresses of them change with each list.
pub(super) fn digest(template: &Template) -> String {
    let Template { name, language, category, parameter_format, components, .. } = template;
    let said =
        json!([name, language, category.as_str(), parameter_format.as_str(), without_samples(components)]);
    let mut words = Words::default();
    words.add("template", said.to_string());
    hex::encode(words.digest("a template", &[]))
}

fn without_samples(part: &Value) -> Value {
    match part {
        Value::Array(parts) => Value::Array(parts.iter().map(without_samples).collect()),
        Value::Object(fields) => {
            let kept = fields.iter().filter(|(name, _)| *name != "example");
            Value::Object(kept.map(|(name, part)| (name.clone(), without_samples(part))).collect())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => part.clone(),
    }
}

/// The names of the fields whose values are texts, which may contain contact fields.
fn text_fields(template: &Template) -> Vec<String> {
    let Some(shape) = Shape::read(template) else { return Vec::new() };
    let own = |(names, shape): (Names, &Shape)| {
        let header = match &shape.header {
            Header::Text(Variables(variables)) => variables.as_slice(),
            Header::Absent | Header::Media(_) | Header::Location | Header::Product | Header::Unchecked => &[],
        };
        let header = header.iter().map(|variable| names.of("header", variable));
        let body = shape.body.0.iter().map(|variable| names.of("body", variable));
        let links = shape.buttons.iter().enumerate().filter(|(_, button)| **button == Button::Link);
        let links = links.map(|(index, _)| names.of("button", index));
        header.chain(body).chain(links).collect::<Vec<_>>()
    };
    parts(&shape).flat_map(own).collect()
}

/// Whether a value has a contact field.
pub(super) fn has_contact_fields(template: &Template, words: &Words) -> bool {
    text_fields(template).iter().any(|name| contact_field::is_in(words.one(name)))
}

/// Notes a fault for values that contain something like a contact field that is not one of a company with these own fields.
pub(in crate::console::pages) fn check_contact_fields(
    template: &Template,
    own: &[OwnField],
    form: &mut Form,
) {
    for name in faulty_fields(template, own, Placeholders::Contact, form.words()) {
        let sentence = form.text().get("compose-fault-contact-field");
        form.fault(&name, sentence);
    }
}
