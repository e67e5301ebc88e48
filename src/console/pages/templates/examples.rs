//! Examples to begin a template with, in the person's language.

use maud::{Markup, html};

use crate::console::text::Text;

/// An example: its name in the address, its category, the keys of its title, text and examples, and whether it has buttons.
struct TemplateExample {
    name: &'static str,
    category: &'static str,
    title: &'static str,
    body: &'static str,
    values: &'static str,
    button: Option<&'static str>,
}

const ALL: [TemplateExample; 4] = [
    TemplateExample {
        name: "order_ready",
        category: "UTILITY",
        title: "templates-example-order",
        body: "templates-example-order-body",
        values: "templates-example-order-values",
        button: None,
    },
    TemplateExample {
        name: "appointment_reminder",
        category: "UTILITY",
        title: "templates-example-appointment",
        body: "templates-example-appointment-body",
        values: "templates-example-appointment-values",
        button: Some("templates-example-appointment-button"),
    },
    TemplateExample {
        name: "payment_received",
        category: "UTILITY",
        title: "templates-example-payment",
        body: "templates-example-payment-body",
        values: "templates-example-payment-values",
        button: None,
    },
    TemplateExample {
        name: "special_offer",
        category: "MARKETING",
        title: "templates-example-offer",
        body: "templates-example-offer-body",
        values: "templates-example-offer-values",
        button: Some("templates-example-offer-button"),
    },
];

/// Links to the page with each example filled in.
pub(super) fn links(text: Text) -> Markup {
    html! {
        p { (text.get("templates-begin-with")) }
        ul {
            @for example in &ALL {
                li { a href=(format!("/console/templates/new?from={}", example.name)) { (text.get(example.title)) } }
            }
        }
    }
}

/// The fields of the example with this name; none of an unknown one.
pub(super) fn values(text: Text, name: Option<&str>) -> Vec<(&'static str, String)> {
    let Some(example) = ALL.iter().find(|example| Some(example.name) == name) else { return Vec::new() };
    let body = text.with(
        example.body,
        [("first", "{{1}}".into()), ("second", "{{2}}".into()), ("third", "{{3}}".into())],
    );
    let mut values = vec![
        ("name", example.name.to_owned()),
        ("category", example.category.to_owned()),
        ("language", text.0.as_str().replace('-', "_")),
        ("body", body),
        ("examples", text.get(example.values).replace(" / ", "\n")),
    ];
    if let Some(button) = example.button {
        values.push(("button_kind_0", "QUICK_REPLY".to_owned()));
        values.push(("button_text_0", text.get(button)));
    }
    values
}
