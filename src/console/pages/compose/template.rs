//! The parts of a template that can be filled in: the header's text, file or location, the text's variables
//! by their numbers or names, and the buttons' addresses, codes and payloads.

use maud::{Markup, html};
use serde_json::{Value, json};

use crate::console::component::copy::copy;
use crate::console::component::field::Field;
use crate::console::form::Form;
use crate::console::text::Text;
use crate::console::words::Words;
use crate::domain::template::contact_field::{self, ContactField};
use crate::domain::template::{Button, Header, ParameterFormat, Shape, Template, Variables};

/// The name of a variable's field.
fn name_of(part: &str, variable: &str) -> String {
    format!("{part}_{variable}")
}

/// The values of the form, in the form of the API.
pub(super) fn components(template: &Template, words: &Words) -> Vec<Value> {
    let Some(shape) = Shape::read(template) else { return Vec::new() };
    let mut components = Vec::new();
    let wording = |part: &str, Variables(names): &Variables| -> Vec<Value> {
        let value = |variable: &String| {
            let text = words.one(&name_of(part, variable));
            match shape.format {
                ParameterFormat::Positional => json!({"type": "text", "text": text}),
                ParameterFormat::Named => {
                    json!({"type": "text", "text": text, "parameter_name": variable})
                }
            }
        };
        names.iter().map(value).collect()
    };
    let header = match &shape.header {
        Header::Text(variables) => wording("header", variables),
        Header::Media(kind) => vec![json!({"type": kind, "link": words.one("header_link")})],
        Header::Location => {
            let place = ["latitude", "longitude", "name", "address"]
                .map(|field| (field.to_owned(), Value::from(words.one(&name_of("header", field)))));
            vec![json!({"type": "location", "location": Value::Object(place.into_iter().collect())})]
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
        let given = words.one(&name_of("button", &index.to_string()));
        let (sub_type, parameter) = match button {
            Button::Link => ("url", json!({"type": "text", "text": given})),
            Button::CopyCode => ("copy_code", json!({"type": "coupon_code", "coupon_code": given})),
            Button::QuickReply if !given.is_empty() => {
                ("quick_reply", json!({"type": "payload", "payload": given}))
            }
            Button::QuickReply | Button::Fixed | Button::Unchecked => continue,
        };
        let index = index.to_string();
        components
            .push(json!({"type": "button", "sub_type": sub_type, "index": index, "parameters": [parameter]}));
    }
    components
}

/// The names of the fields whose values are texts, which may contain contact fields.
fn text_fields(template: &Template) -> Vec<String> {
    let Some(shape) = Shape::read(template) else { return Vec::new() };
    let header = match &shape.header {
        Header::Text(Variables(names)) => names.as_slice(),
        Header::Absent | Header::Media(_) | Header::Location | Header::Unchecked => &[],
    };
    let header = header.iter().map(|name| name_of("header", name));
    let body = shape.body.0.iter().map(|name| name_of("body", name));
    let links = shape.buttons.iter().enumerate().filter(|(_, button)| **button == Button::Link);
    let links = links.map(|(index, _)| name_of("button", &index.to_string()));
    header.chain(body).chain(links).collect()
}

/// Whether a value has a contact field.
pub(super) fn has_contact_fields(template: &Template, words: &Words) -> bool {
    text_fields(template).iter().any(|name| contact_field::is_in(words.one(name)))
}

/// Notes a fault for values that contain something like a contact field that is not one.
pub(super) fn check_contact_fields(template: &Template, form: &mut Form) {
    for name in text_fields(template) {
        if contact_field::check_text(form.words().one(&name)).is_err() {
            let sentence = form.text().get("compose-fault-contact-field");
            form.fault(&name, sentence);
        }
    }
}

/// The list of contact fields.
fn contact_fields(text: Text) -> Markup {
    let word = |field| {
        text.get(match field {
            ContactField::Name => "compose-contact-name",
            ContactField::FirstName => "contacts-first-name",
            ContactField::LastName => "contacts-last-name",
            ContactField::Email => "contacts-email",
            ContactField::PhoneNumber => "compose-contact-number",
        })
    };
    html! {
        details {
            summary { (text.get("compose-contact-fields")) }
            p { (text.get("compose-contact-fields-hint")) " " code { "{{contact.first_name|…}}" } }
            dl.facts {
                @for field in ContactField::ALL {
                    dt { (word(field)) }
                    dd { (copy(text, &word(field), &format!("{{{{contact.{}}}}}", field.as_str()))) }
                }
            }
        }
    }
}

/// A field for each value.
pub(super) fn fields(text: Text, template: &Template, form: &Form) -> Markup {
    let Some(shape) = Shape::read(template) else { return html! { p { (text.get("compose-unreadable")) } } };
    let variable = |part: &str, key: &str, name: &String| {
        let label = text.with(key, [("name", name.as_str().into())]);
        let name = name_of(part, name);
        Field::new(form, &name, &label).required().most(1024).text()
    };
    let needs_nothing = matches!(&shape.header, Header::Absent | Header::Unchecked)
        && shape.body.0.is_empty()
        && shape.buttons.iter().all(|button| matches!(button, Button::Fixed | Button::Unchecked));
    html! {
        @if needs_nothing { p { (text.get("compose-nothing-to-fill")) } }
        @match &shape.header {
            Header::Text(Variables(names)) => { @for name in names { (variable("header", "compose-header-variable", name)) } }
            Header::Media(_) => {
                (Field::new(form, "header_link", &text.get("compose-header-link"))
                    .hint(&text.get("compose-link-hint")).required().input("url"))
            }
            Header::Location => {
                (Field::new(form, "header_latitude", &text.get("compose-latitude")).required().text())
                (Field::new(form, "header_longitude", &text.get("compose-longitude")).required().text())
                (Field::new(form, "header_name", &text.get("compose-place")).text())
                (Field::new(form, "header_address", &text.get("compose-address")).text())
            }
            Header::Absent | Header::Unchecked => {}
        }
        @for name in &shape.body.0 { (variable("body", "compose-body-variable", name)) }
        @for (index, button) in shape.buttons.iter().enumerate() {
            @let name = name_of("button", &index.to_string());
            @let number = (index as u64 + 1).into();
            @match button {
                Button::Link => {
                    (Field::new(form, &name, &text.with("compose-button-link", [("number", number)])).required().text())
                }
                Button::CopyCode => {
                    (Field::new(form, &name, &text.with("compose-button-code", [("number", number)])).required().text())
                }
                Button::QuickReply => {
                    (Field::new(form, &name, &text.with("compose-button-payload", [("number", number)])).text())
                }
                Button::Fixed | Button::Unchecked => {}
            }
        }
        @if !needs_nothing { p.hint { (text.get("compose-same-for-all")) } }
        @if !text_fields(template).is_empty() { (contact_fields(text)) }
    }
}
