//! The places of a template that a column of a file can stand in.

use super::{Names, parts, text_fields};
use crate::console::text::Text;
use crate::console::words::Words;
use crate::domain::own_field::OwnField;
use crate::domain::template::contact_field::{Placeholders, check_own, check_text_of, own_keys_of};
use crate::domain::template::{Button, Header, Shape, Template, Variables};

/// A place for a value.
pub(in crate::console::pages::compose) struct TemplatePlace {
    /// The name of its field in the form.
    pub(in crate::console::pages::compose) field: String,
    /// What a person reads of it.
    pub(in crate::console::pages::compose) label: String,
    /// The name of the value, as files for the template have it.
    pub(in crate::console::pages::compose) variable: String,
}

/// The places of a template: the header's text or file, the text, and the ends of the buttons' addresses.
pub(in crate::console::pages::compose) fn places(text: Text, template: &Template) -> Vec<TemplatePlace> {
    let Some(shape) = Shape::read(template) else { return Vec::new() };
    parts(&shape).flat_map(|(names, shape)| of_part(text, names, shape)).collect()
}

fn of_part(text: Text, names: Names, shape: &Shape) -> Vec<TemplatePlace> {
    let card = |label: String| match names.0 {
        Some(card) => {
            format!("{}: {label}", text.with("compose-card", [("number", (card as u64 + 1).into())]))
        }
        None => label,
    };
    let wording = |part: &str, key: &str, name: &String| TemplatePlace {
        field: names.of(part, name),
        label: card(text.with(key, [("name", name.as_str().into())])),
        variable: match part {
            "header" if name.bytes().all(|byte| byte.is_ascii_digit()) => part.to_owned(),
            _ => name.clone(),
        },
    };
    let mut places = Vec::new();
    match &shape.header {
        Header::Text(Variables(variables)) => {
            places.extend(variables.iter().map(|name| wording("header", "compose-header-variable", name)));
        }
        Header::Media(_) => places.push(TemplatePlace {
            field: names.of("header", "link"),
            label: card(text.get("compose-header-link")),
            variable: "header".to_owned(),
        }),
        Header::Absent | Header::Location | Header::Product | Header::Unchecked => {}
    }
    places.extend(shape.body.0.iter().map(|name| wording("body", "compose-body-variable", name)));
    let links = shape.buttons.iter().enumerate().filter(|(_, button)| **button == Button::Link);
    places.extend(links.map(|(index, _)| TemplatePlace {
        field: names.of("button", index),
        label: card(text.with("compose-button-link", [("number", (index as u64 + 1).into())])),
        variable: format!("button.{index}"),
    }));
    places
}

/// The fields whose texts have something like a placeholder that is none of `which`, for a company with these own fields.
pub(in crate::console::pages::compose) fn faulty_fields(
    template: &Template,
    own: &[OwnField],
    which: Placeholders,
    words: &Words,
) -> Vec<String> {
    let is_faulty = |name: &String| {
        let value = words.one(name);
        let checked = check_text_of("components", value, which);
        checked.and_then(|()| check_own(&own_keys_of(value), own)).is_err()
    };
    text_fields(template).into_iter().filter(is_faulty).collect()
}
