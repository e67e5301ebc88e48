//! How the message will look on a phone, as far as it is filled in.

use maud::{Markup, html};
use serde_json::Value;

use super::Choice;
use super::content::{Kind, lines, row};
use crate::console::text::Text;
use crate::console::words::Words;
use crate::domain::template::Template;

/// The parts of a message as a phone shows them.
#[derive(Default)]
struct Bubble {
    file: Option<String>,
    header: String,
    body: String,
    footer: String,
    buttons: Vec<String>,
    rows: Vec<(String, String)>,
}

/// The message.
pub(super) fn preview(text: Text, choice: &Choice, words: &Words) -> Markup {
    let Bubble { file, header, body, footer, buttons, rows } = bubble(text, choice, words);
    html! {
        section.panel id="preview" aria-label=(text.get("compose-preview")) {
            h2 { (text.get("compose-preview")) }
            div.bubble {
                @if let Some(file) = file { p.soft { "▢ " bdi { (file) } } }
                @if !header.is_empty() { p { strong { bdi { (header) } } } }
                @for line in body.lines() { p { bdi { (line) } } }
                @if body.is_empty() { p.soft { "…" } }
                @if !footer.is_empty() { p.soft { bdi { (footer) } } }
                @if !buttons.is_empty() { ul.buttons { @for button in buttons { li { bdi { (button) } } } } }
                @if !rows.is_empty() {
                    ul { @for (title, description) in rows { li { bdi { (title) } @if !description.is_empty() { br; span.soft { bdi { (description) } } } } } }
                }
            }
        }
    }
}

fn bubble(text: Text, choice: &Choice, words: &Words) -> Bubble {
    let owned = |name: &str| words.raw(name).unwrap_or_default().to_owned();
    match choice.kind {
        Kind::Text => Bubble { body: owned("message"), ..Bubble::default() },
        Kind::Image | Kind::Video | Kind::Audio | Kind::Document => {
            let link = words.one("link");
            let file = if link.is_empty() { choice.kind.word(text) } else { link.to_owned() };
            Bubble { file: Some(file), body: owned("caption"), ..Bubble::default() }
        }
        Kind::Buttons => Bubble {
            body: owned("message"),
            buttons: lines(words, "buttons").into_iter().map(str::to_owned).collect(),
            ..Bubble::default()
        },
        Kind::List => {
            let rows = lines(words, "rows").into_iter().map(row);
            Bubble {
                body: owned("message"),
                buttons: vec![owned("menu")],
                rows: rows.map(|(title, more)| (title.to_owned(), more.to_owned())).collect(),
                ..Bubble::default()
            }
        }
        Kind::Template => {
            choice.template.as_ref().map_or_else(Bubble::default, |template| filled(template, words))
        }
    }
}

/// The template's own words, with the values that are there.
fn filled(template: &Template, words: &Words) -> Bubble {
    let mut bubble = Bubble::default();
    let word =
        |value: &Value, key: &str| value.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    for component in template.components.as_array().into_iter().flatten() {
        match word(component, "type").to_ascii_uppercase().as_str() {
            "HEADER" => match word(component, "format").to_ascii_uppercase().as_str() {
                "TEXT" | "" => bubble.header = fill(&word(component, "text"), "header", words),
                format => {
                    let link = words.one("header_link");
                    bubble.file = Some(if link.is_empty() { format.to_lowercase() } else { link.to_owned() });
                }
            },
            "BODY" => bubble.body = fill(&word(component, "text"), "body", words),
            "FOOTER" => bubble.footer = word(component, "text"),
            "BUTTONS" => {
                let buttons = component.get("buttons").and_then(Value::as_array).into_iter().flatten();
                bubble.buttons = buttons.map(|button| word(button, "text")).collect();
            }
            _ => {}
        }
    }
    bubble
}

/// A text whose variables are filled in; those that are not stay as they are.
fn fill(text: &str, part: &str, words: &Words) -> String {
    let mut filled = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("{{") {
        let Some((name, behind)) = after.split_once("}}") else { break };
        filled.push_str(before);
        match words.one(&format!("{part}_{}", name.trim())) {
            "" => filled.extend(["{{", name, "}}"]),
            value => filled.push_str(value),
        }
        rest = behind;
    }
    filled.push_str(rest);
    filled
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_filled_as_far_as_there_are_values() {
        let words = Words::parse(b"body_1=Ana&body_order_id=7&header_1=no");
        let filled = |text| fill(text, "body", &words);
        assert_eq!(filled("Hello {{1}}, {{ order_id }} and {{2}}."), "Hello Ana, 7 and {{2}}.");
        assert_eq!(filled("open {{1"), "open {{1");
        assert_eq!(filled("{{1}}{{1}}"), "AnaAna");
    }
}
