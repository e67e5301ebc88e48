//! The content: the fields of each kind of message, and the request that they form.

use maud::{Markup, html};
use serde_json::{Map, Value, json};

use super::choice::Choice;
use super::template;
use crate::console::component::field::Field;
use crate::console::form::Form;
use crate::console::text::Text;
use crate::console::words::Words;

/// The most buttons below a text.
const BUTTONS: usize = 3;
/// The lines of a text area that are read: more than a menu or a list of products may have, so that too many
/// are refused.
const LINES: usize = 100;
/// The longest id of a catalogue or a product.
const PROVIDER_ID: usize = 256;
/// The types of header above a text with buttons.
const HEADERS: [&str; 4] = ["text", "image", "video", "document"];

/// The kinds of messages that the page can write: all that the API accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Text,
    Image,
    Video,
    Audio,
    Document,
    Template,
    /// A text with up to three buttons.
    Buttons,
    /// A text with a menu.
    List,
    /// A product of a catalogue.
    Product,
    /// Several products.
    Products,
}

impl Kind {
    pub(super) const ALL: [Self; 10] = [
        Self::Text,
        Self::Template,
        Self::Image,
        Self::Video,
        Self::Audio,
        Self::Document,
        Self::Buttons,
        Self::List,
        Self::Product,
        Self::Products,
    ];
    /// The kinds that a linked phone sends.
    pub(super) const OF_WEB_SESSIONS: [Self; 5] =
        [Self::Text, Self::Image, Self::Video, Self::Audio, Self::Document];

    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Image => "image",
            Self::Video => "video",
            Self::Audio => "audio",
            Self::Document => "document",
            Self::Template => "template",
            Self::Buttons => "buttons",
            Self::List => "list",
            Self::Product => "product",
            Self::Products => "products",
        }
    }

    pub(super) fn of(word: &str) -> Self {
        Self::ALL.into_iter().find(|kind| kind.as_str() == word).unwrap_or(Self::Text)
    }

    pub(super) fn word(self, text: Text) -> String {
        text.get(match self {
            Self::Text => "send-kind-text",
            Self::Image => "send-kind-image",
            Self::Video => "send-kind-video",
            Self::Audio => "send-kind-audio",
            Self::Document => "send-kind-document",
            Self::Template => "send-kind-template",
            Self::Buttons => "compose-kind-buttons",
            Self::List => "compose-kind-list",
            Self::Product => "compose-kind-product",
            Self::Products => "compose-kind-products",
        })
    }

    const fn has_caption(self) -> bool {
        matches!(self, Self::Image | Self::Video | Self::Document)
    }
}

/// The lines of a text area that are not blank.
pub(super) fn lines<'a>(words: &'a Words, name: &str) -> Vec<&'a str> {
    let lines = words.raw(name).unwrap_or_default().lines().map(str::trim);
    lines.filter(|line| !line.is_empty()).take(LINES).collect()
}

/// The lines of a text area in sections: a line with a colon at its end is the title of the lines below it.
pub(super) fn sections<'a>(words: &'a Words, name: &str) -> Vec<(&'a str, Vec<&'a str>)> {
    let mut sections: Vec<(&str, Vec<&str>)> = Vec::new();
    for line in lines(words, name) {
        match (line.strip_suffix(':'), sections.last_mut()) {
            (Some(title), _) => sections.push((title.trim_end(), Vec::new())),
            (None, Some((_, lines))) => lines.push(line),
            (None, None) => sections.push(("", vec![line])),
        }
    }
    sections
}

/// A row of a menu: its title and its description.
pub(super) fn row(line: &str) -> (&str, &str) {
    line.split_once('|').map_or((line, ""), |(title, rest)| (title.trim(), rest.trim()))
}

/// The content of the request, in the form of the API.
pub(super) fn body(choice: &Choice, words: &Words) -> Map<String, Value> {
    let text = |name: &str| words.raw(name).unwrap_or_default().replace("\r\n", "\n");
    let body = match choice.kind {
        Kind::Text => json!({"type": "text", "message": text("message")}),
        Kind::Image | Kind::Video | Kind::Audio | Kind::Document => {
            json!({"type": choice.kind.as_str(), "link": words.one("link"), "caption": text("caption")})
        }
        Kind::Template => {
            let template = choice.template.as_ref();
            json!({
                "type": "template",
                "template_id": template.map(|template| template.id),
                "components": template.map(|template| template::components(template, words)),
                "contact_fields": true,
            })
        }
        Kind::Buttons => {
            let buttons = lines(words, "buttons").into_iter().take(BUTTONS + 1).enumerate();
            let buttons: Vec<_> = buttons
                .map(|(index, title)| {
                    json!({"type": "reply", "reply": {"id": format!("button-{}", index + 1), "title": title}})
                })
                .collect();
            interactive(choice.kind, words, "button", &json!({"buttons": buttons}))
        }
        Kind::List => {
            let (mut number, menu, sections) = (0_u64, words.one("menu"), sections(words, "rows"));
            let is_one = sections.len() == 1;
            let sections: Vec<_> = sections
                .into_iter()
                .map(|(title, rows)| {
                    let rows: Vec<_> = rows
                        .into_iter()
                        .map(|line| {
                            number += 1;
                            let (title, description) = row(line);
                            json!({"id": format!("row-{number}"), "title": title, "description": description})
                        })
                        .collect();
                    json!({"title": if is_one && title.is_empty() { menu } else { title }, "rows": rows})
                })
                .collect();
            interactive(choice.kind, words, "list", &json!({"button": menu, "sections": sections}))
        }
        Kind::Product => {
            let action =
                json!({"catalog_id": words.one("catalog"), "product_retailer_id": words.one("product")});
            interactive(choice.kind, words, "product", &action)
        }
        Kind::Products => {
            let product = |id: &str| json!({"product_retailer_id": id});
            let sections: Vec<_> = sections(words, "products")
                .into_iter()
                .map(|(title, ids)| {
                    let items: Vec<_> = ids.into_iter().map(product).collect();
                    json!({"title": title, "product_items": items})
                })
                .collect();
            let action = json!({"catalog_id": words.one("catalog"), "sections": sections});
            interactive(choice.kind, words, "product_list", &action)
        }
    };
    match body {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}

/// An interactive message: its filled-in parts and its action.
fn interactive(kind: Kind, words: &Words, name: &str, action: &Value) -> Value {
    let mut interactive = json!({"type": name, "action": action});
    let text = |field: &str| words.raw(field).unwrap_or_default().replace("\r\n", "\n");
    if kind != Kind::Product || !text("message").trim().is_empty() {
        interactive["body"] = json!({"text": text("message")});
    }
    if !words.one("footer").is_empty() {
        interactive["footer"] = json!({"text": words.one("footer")});
    }
    let header = words.one("header");
    if kind == Kind::Products || (kind != Kind::Product && !header.is_empty()) {
        interactive["header"] = match header_type(kind, words) {
            "text" => json!({"type": "text", "text": header}),
            file => json!({"type": file, file: {"link": header}}),
        };
    }
    json!({"type": "interactive", "interactive": interactive})
}

/// The type of the header. Only a message with buttons may have a file as its header.
pub(super) fn header_type(kind: Kind, words: &Words) -> &'static str {
    let asked = HEADERS.into_iter().find(|known| *known == words.one("header_type"));
    asked.filter(|_| kind == Kind::Buttons).unwrap_or("text")
}

/// The fields for the content.
pub(super) fn fields(text: Text, choice: &Choice, form: &Form) -> Markup {
    let label = text.get("compose-message");
    let message = Field::new(form, "message", &label).required();
    match choice.kind {
        Kind::Text => html! { (message.area(6)) },
        Kind::Image | Kind::Video | Kind::Audio | Kind::Document => html! {
            (Field::new(form, "link", &text.get("compose-link")).hint(&text.get("compose-link-hint")).required().input("url"))
            @if choice.kind.has_caption() { (Field::new(form, "caption", &text.get("compose-caption")).area(3)) }
        },
        Kind::Template => html! {
            @if let Some(template) = &choice.template { (template::fields(text, template, form)) }
        },
        Kind::Buttons => {
            let headers = HEADERS.map(|header| {
                let word = match header {
                    "image" => Kind::Image.word(text),
                    "video" => Kind::Video.word(text),
                    "document" => Kind::Document.word(text),
                    _ => Kind::Text.word(text),
                };
                (header, word)
            });
            html! {
                (message.area(4))
                (Field::new(form, "buttons", &text.get("compose-buttons")).hint(&text.get("compose-buttons-hint")).required().area(3))
                (Field::new(form, "header_type", &text.get("compose-header-type")).select(headers))
                (Field::new(form, "header", &text.get("compose-header")).hint(&text.get("compose-header-hint")).text())
                (footer(text, form))
            }
        }
        Kind::List => html! {
            (message.area(4))
            (Field::new(form, "menu", &text.get("compose-menu")).hint(&text.get("compose-menu-hint")).required().most(20).text())
            (Field::new(form, "rows", &text.get("compose-rows")).hint(&text.get("compose-rows-hint")).required().area(6))
            (Field::new(form, "header", &text.get("compose-header")).most(60).text())
            (footer(text, form))
        },
        Kind::Product => html! {
            (Field::new(form, "catalog", &text.get("compose-catalog")).hint(&text.get("compose-catalog-hint")).required().most(PROVIDER_ID).text())
            (Field::new(form, "product", &text.get("compose-product")).hint(&text.get("compose-product-hint")).required().most(PROVIDER_ID).text())
            (Field::new(form, "message", &label).area(3))
            (footer(text, form))
        },
        Kind::Products => html! {
            (Field::new(form, "header", &text.get("compose-header")).required().most(60).text())
            (message.area(4))
            (Field::new(form, "catalog", &text.get("compose-catalog")).hint(&text.get("compose-catalog-hint")).required().most(PROVIDER_ID).text())
            (Field::new(form, "products", &text.get("compose-products")).hint(&text.get("compose-products-hint")).required().area(6))
            (footer(text, form))
        },
    }
}

fn footer(text: Text, form: &Form) -> Markup {
    Field::new(form, "footer", &text.get("compose-footer")).most(60).text()
}
