//! What is said: the fields of each kind of message, and the request that they make.

use maud::{Markup, html};
use serde_json::{Map, Value, json};

use super::{Choice, template};
use crate::console::component::field::Field;
use crate::console::form::Form;
use crate::console::text::Text;
use crate::console::words::Words;

/// The most buttons below a text.
const BUTTONS: usize = 3;

/// What a page can write. Products need a catalogue, which the API names.
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
}

impl Kind {
    pub(super) const ALL: [Self; 8] = [
        Self::Text,
        Self::Template,
        Self::Image,
        Self::Video,
        Self::Audio,
        Self::Document,
        Self::Buttons,
        Self::List,
    ];

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
        })
    }

    const fn has_caption(self) -> bool {
        matches!(self, Self::Image | Self::Video | Self::Document)
    }
}

/// The lines of an area that say something.
pub(super) fn lines<'a>(words: &'a Words, name: &str) -> Vec<&'a str> {
    let lines = words.raw(name).unwrap_or_default().lines().map(str::trim);
    lines.filter(|line| !line.is_empty()).collect()
}

/// A row of a menu: its title, and what stands below it.
pub(super) fn row(line: &str) -> (&str, &str) {
    line.split_once('|').map_or((line, ""), |(title, rest)| (title.trim(), rest.trim()))
}

/// The content of the request, as a client of the API writes it.
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
            })
        }
        Kind::Buttons => {
            let buttons = lines(words, "buttons").into_iter().take(BUTTONS + 1).enumerate();
            let buttons: Vec<_> = buttons
                .map(|(index, title)| {
                    json!({"type": "reply", "reply": {"id": format!("button-{}", index + 1), "title": title}})
                })
                .collect();
            let body = json!({"text": text("message")});
            json!({"type": "interactive", "interactive": {"type": "button", "body": body, "action": {"buttons": buttons}}})
        }
        Kind::List => {
            let rows = lines(words, "rows").into_iter().enumerate();
            let rows: Vec<_> = rows
                .map(|(index, line)| {
                    let (title, description) = row(line);
                    json!({"id": format!("row-{}", index + 1), "title": title, "description": description})
                })
                .collect();
            let (body, menu) = (json!({"text": text("message")}), words.one("menu"));
            let action = json!({"button": menu, "sections": [{"title": menu, "rows": rows}]});
            json!({"type": "interactive", "interactive": {"type": "list", "body": body, "action": action}})
        }
    };
    match body {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}

/// The fields for it.
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
        Kind::Buttons => html! {
            (message.area(4))
            (Field::new(form, "buttons", &text.get("compose-buttons")).hint(&text.get("compose-buttons-hint")).required().area(3))
        },
        Kind::List => html! {
            (message.area(4))
            (Field::new(form, "menu", &text.get("compose-menu")).hint(&text.get("compose-menu-hint")).required().most(20).text())
            (Field::new(form, "rows", &text.get("compose-rows")).hint(&text.get("compose-rows-hint")).required().area(6))
        },
    }
}
