//! The fields of a template's values.

use maud::{Markup, html};
use serde_json::Value;

use super::{DEADLINE, Names, parts, text_fields};
use crate::console::component::copy::copy;
use crate::console::component::field::Field;
use crate::console::component::library::OfferedFiles;
use crate::console::component::phone::example;
use crate::console::form::Form;
use crate::console::pages::compose::list::LIST;
use crate::console::pages::contact_fields::placeholder;
use crate::console::text::Text;
use crate::domain::own_field::OwnField;
use crate::domain::template::contact_field::ContactField;
use crate::domain::template::{Button, Header, Shape, Template, Variables};

/// The list of contact fields, with the company's own.
fn contact_fields(text: Text, own: &[OwnField]) -> Markup {
    let word = |field: &ContactField| {
        text.get(match field {
            ContactField::Own(key) => return key.to_string(),
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
                @for field in &ContactField::BUILT_IN {
                    dt { (word(field)) }
                    dd { (copy(text, &word(field), &format!("{{{{contact.{}}}}}", field.word()))) }
                }
                @for field in own {
                    dt { bdi { (field.name) } }
                    dd { (copy(text, &field.name, &placeholder(field))) }
                }
            }
        }
    }
}

/// Whether nothing can be filled in.
fn is_fixed(shape: &Shape) -> bool {
    matches!(&shape.header, Header::Absent | Header::Unchecked)
        && shape.body.0.is_empty()
        && shape.buttons.iter().all(|button| matches!(button, Button::Fixed | Button::Unchecked))
}

/// A field for each value.
pub(in crate::console::pages) fn fields(
    text: Text,
    template: &Template,
    (files, own): (&OfferedFiles, &[OwnField]),
    form: &Form,
) -> Markup {
    let Some(shape) = Shape::read(template) else { return html! { p { (text.get("compose-unreadable")) } } };
    let needs_nothing = !shape.has_deadline && parts(&shape).all(|(_, shape)| is_fixed(shape));
    html! {
        @if needs_nothing && shape.other_kinds.is_empty() { p { (text.get("compose-nothing-to-fill")) } }
        @if needs_nothing && !shape.other_kinds.is_empty() { p { (text.get("compose-unknown-parts")) } }
        @for (names, shape) in parts(&shape) {
            @match names.0 {
                None => (own_fields(text, names, shape, files, form, &template.components)),
                Some(card) => {
                    fieldset.field {
                        legend { (text.with("compose-card", [("number", (card as u64 + 1).into())])) }
                        (own_fields(text, names, shape, files, form, card_parts(template, card)))
                    }
                }
            }
        }
        @if shape.has_deadline {
            (Field::new(form, DEADLINE, &text.get("compose-deadline")).hint(&text.get("compose-deadline-hint"))
                .required().input("datetime-local"))
        }
        @if !needs_nothing { p.hint { (text.get("compose-same-for-all")) } }
        @if !text_fields(template).is_empty() { (contact_fields(text, own)) }
    }
}

/// The parts of one card.
fn card_parts(template: &Template, card: usize) -> &Value {
    let mut parts = template.components.as_array().into_iter().flatten();
    let carousel =
        parts.find(|part| part["type"].as_str().is_some_and(|kind| kind.eq_ignore_ascii_case("carousel")));
    carousel.map_or(&Value::Null, |carousel| &carousel["cards"][card]["components"])
}

/// The fields of the template itself, or of one card, whose parts are these.
fn own_fields(
    text: Text,
    names: Names,
    shape: &Shape,
    files: &OfferedFiles,
    form: &Form,
    own: &Value,
) -> Markup {
    let variable = |part: &str, key: &str, name: &String| {
        let label = text.with(key, [("name", name.as_str().into())]);
        let example = example(own, part, name);
        let example = example.map(|example| text.with("compose-example", [("value", example.into())]));
        let id = names.of(part, name);
        let field = Field::new(form, &id, &label).most(1024);
        // With a column, the text is for people who have nothing in it.
        let field = if form.words().one(LIST).is_empty() { field.required() } else { field };
        match &example {
            Some(example) => field.hint(example).text(),
            None => field.text(),
        }
    };
    let header = |value: &str| names.of("header", value);
    html! {
        @match &shape.header {
            Header::Text(Variables(variables)) => {
                @for name in variables { (variable("header", "compose-header-variable", name)) }
            }
            Header::Media(kind) => {
                (files.field(form, (&header("link"), &text.get("compose-header-link")), kind, false))
                @if *kind == "document" {
                    (Field::new(form, &header("filename"), &text.get("compose-filename"))
                        .hint(&text.get("compose-filename-hint")).text())
                }
            }
            Header::Location => {
                (Field::new(form, &header("latitude"), &text.get("compose-latitude")).required().text())
                (Field::new(form, &header("longitude"), &text.get("compose-longitude")).required().text())
                (Field::new(form, &header("name"), &text.get("compose-place")).text())
                (Field::new(form, &header("address"), &text.get("compose-address")).text())
            }
            Header::Product => {
                (Field::new(form, &header("product"), &text.get("compose-product"))
                    .hint(&text.get("compose-product-hint")).required().text())
                (Field::new(form, &header("catalog"), &text.get("compose-catalog"))
                    .hint(&text.get("compose-catalog-hint")).required().text())
            }
            Header::Absent | Header::Unchecked => {}
        }
        @for name in &shape.body.0 { (variable("body", "compose-body-variable", name)) }
        @for (index, button) in shape.buttons.iter().enumerate() {
            (button_field(text, &names.of("button", index), index, button, form))
        }
    }
}

fn button_field(text: Text, name: &str, index: usize, button: &Button, form: &Form) -> Markup {
    let label = |key| text.with(key, [("number", (index as u64 + 1).into())]);
    html! {
        @match button {
            Button::Link => {
                @let label = label("compose-button-link");
                @let field = Field::new(form, name, &label);
                @let field = if form.words().one(LIST).is_empty() { field.required() } else { field };
                (field.text())
            }
            Button::CopyCode => (Field::new(form, name, &label("compose-button-code")).required().text()),
            Button::QuickReply => (Field::new(form, name, &label("compose-button-payload")).text()),
            Button::Flow => (Field::new(form, name, &label("compose-button-flow")).text()),
            Button::Catalog => (Field::new(form, name, &label("compose-button-catalog")).text()),
            Button::ProductList => {
                (Field::new(form, &format!("{name}_title"), &label("compose-button-products-title")).required()
                    .most(24).text())
                (Field::new(form, name, &label("compose-button-products")).hint(&text.get("compose-button-products-hint"))
                    .required().area(4))
            }
            Button::Fixed | Button::Unchecked => {}
        }
    }
}
