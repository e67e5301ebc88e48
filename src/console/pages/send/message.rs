//! The message of a send as a phone shows it: the stored content, in the form of a template's parts.

use maud::{Markup, html};
use serde_json::{Value, json};

use crate::console::component::phone::{literal, phone};
use crate::console::text::Text;
use crate::domain::content::Content;
use crate::domain::template::{Card, Component, Media, Parameter, Source};

/// The message. `template` has the parts of the template that it sends, as long as there is one.
pub(in crate::console::pages) fn shown(text: Text, content: &Content, template: Option<Value>) -> Markup {
    match (content, template) {
        (Content::Template { components, .. }, Some(mut parts)) => {
            fill(&mut parts, components);
            html! {
                (phone(text, &parts))
                @if content.is_personal() { p.hint { (text.get("send-personal")) } }
            }
        }
        (Content::Template { name, .. }, None) => html! {
            (literal(text, &json!([body(name)])))
            p.hint { (text.get("send-template-gone")) }
        },
        (content, _) => literal(text, &parts(content)),
    }
}

/// The words of a message with a template of these parts: header, text and footer, with the values of a send.
pub(in crate::console::pages) fn template_words(mut parts: Value, values: &[Component]) -> String {
    fill(&mut parts, values);
    let is_text = |part: &&Value| {
        let kind = part["type"].as_str().unwrap_or_default().to_ascii_uppercase();
        matches!(kind.as_str(), "HEADER" | "BODY" | "FOOTER")
    };
    let texts = parts.as_array().into_iter().flatten().filter(is_text);
    let texts = texts.filter_map(|part| part["text"].as_str()).filter(|text| !text.is_empty());
    texts.collect::<Vec<_>>().join("\n")
}

fn body(text: &str) -> Value {
    json!({"type": "BODY", "text": text})
}

fn file(format: &str, link: &str) -> Value {
    json!({"type": "HEADER", "format": format, "link": link})
}

/// The parts of a message that is no template.
fn parts(content: &Content) -> Value {
    let mut parts = match content {
        Content::Text { body: text, .. } => vec![body(text)],
        Content::Image { link, caption } => captioned("IMAGE", link, caption.as_deref()),
        Content::Video { link, caption } => captioned("VIDEO", link, caption.as_deref()),
        Content::Document { link, caption, filename } => {
            captioned("DOCUMENT", filename.as_ref().unwrap_or(link), caption.as_deref())
        }
        Content::Audio { link, .. } => vec![file("AUDIO", link)],
        Content::Sticker { link } => vec![file("IMAGE", link)],
        Content::Location { location } => {
            let place = json!(location);
            let lines = ["name", "address"].map(|field| place[field].as_str().unwrap_or_default().to_owned());
            vec![file("LOCATION", ""), body(lines.join("\n").trim())]
        }
        Content::Contacts { contacts } => {
            let cards = json!(contacts);
            let names = cards.as_array().into_iter().flatten();
            let names: Vec<_> = names.filter_map(|card| card["name"]["formatted_name"].as_str()).collect();
            vec![body(&names.join("\n"))]
        }
        Content::Reaction { reaction } => {
            vec![body(json!(reaction)["emoji"].as_str().filter(|emoji| !emoji.is_empty()).unwrap_or("–"))]
        }
        Content::Interactive { interactive } => interactive_parts(interactive),
        Content::Template { .. } => Vec::new(),
    };
    // Empty parts are not shown.
    parts.retain(|part| part["text"] != "");
    parts.into()
}

fn captioned(format: &str, link: &str, caption: Option<&str>) -> Vec<Value> {
    vec![file(format, link), body(caption.unwrap_or_default())]
}

/// The parts of a message with buttons, a menu or products, as its payload has them.
fn interactive_parts(payload: &Value) -> Vec<Value> {
    let header = &payload["header"];
    let mut parts = Vec::new();
    match header["type"].as_str() {
        Some("text") => parts.push(json!({"type": "HEADER", "format": "TEXT", "text": header["text"]})),
        Some(format @ ("image" | "video" | "document")) => {
            parts.push(file(format, header[format]["link"].as_str().unwrap_or_default()));
        }
        _ => {}
    }
    let action = &payload["action"];
    if let Some(product) = action["product_retailer_id"].as_str() {
        parts.push(file("PRODUCT", product));
    }
    parts.push(body(payload["body"]["text"].as_str().unwrap_or_default()));
    parts.push(json!({"type": "FOOTER", "text": payload["footer"]["text"].as_str().unwrap_or_default()}));
    let list = |name: &str| action[name].as_array().cloned().unwrap_or_default();
    let sections: Vec<_> = list("sections").iter().map(section).collect();
    if !sections.is_empty() {
        parts.push(json!({"type": "LIST", "sections": sections}));
    }
    let button = |button: &Value| json!({"type": "QUICK_REPLY", "text": button["reply"]["title"]});
    let mut buttons: Vec<_> = list("buttons").iter().map(button).collect();
    if let Some(menu) = action["button"].as_str() {
        buttons.push(json!({"type": "LIST", "text": menu}));
    }
    if !buttons.is_empty() {
        parts.push(json!({"type": "BUTTONS", "buttons": buttons}));
    }
    parts
}

/// A section of a menu, or of a list of products, which have ids in place of titles.
fn section(section: &Value) -> Value {
    let rows = section["rows"].as_array().or_else(|| section["product_items"].as_array());
    let row = |row: &Value| {
        let title = row["title"].as_str().or_else(|| row["product_retailer_id"].as_str());
        json!({"title": title, "description": row["description"]})
    };
    let rows: Vec<_> = rows.into_iter().flatten().map(row).collect();
    json!({"title": section["title"], "rows": rows})
}

/// Puts the values of a send into the parts of its template, or of a card of it.
fn fill(parts: &mut Value, values: &[Component]) {
    for part in parts.as_array_mut().into_iter().flatten().filter(|part| part.is_object()) {
        let kind = part["type"].as_str().unwrap_or_default().to_ascii_uppercase();
        for value in values {
            match (kind.as_str(), value) {
                ("HEADER", Component::Header { parameters }) => fill_header(part, parameters),
                ("BODY", Component::Body { parameters }) => fill_text(part, "text", parameters),
                ("BUTTONS", Component::Button { index, parameters, .. }) => {
                    let button =
                        part.get_mut("buttons").and_then(|buttons| buttons.get_mut(usize::from(*index)));
                    if let Some(button) = button.filter(|button| button.is_object()) {
                        fill_button(button, parameters);
                    }
                }
                ("CAROUSEL", Component::Carousel { cards }) => {
                    for Card { card_index, components } in cards {
                        let card =
                            part.get_mut("cards").and_then(|cards| cards.get_mut(usize::from(*card_index)));
                        if let Some(parts) = card.and_then(|card| card.get_mut("components")) {
                            fill(parts, components);
                        }
                    }
                }
                _ => {}
            }
        }
    }
}

fn fill_header(part: &mut Value, parameters: &[Parameter]) {
    match parameters.first() {
        Some(Parameter::Image(media) | Parameter::Video(media)) => part["link"] = link(media).into(),
        Some(Parameter::Document(media)) => {
            part["link"] = media.filename.as_deref().unwrap_or_else(|| link(media)).into();
        }
        _ => fill_text(part, "text", parameters),
    }
}

/// The address of a file; the provider's id of an uploaded one says nothing to a person.
fn link(media: &Media) -> &str {
    match &media.source {
        Source::Link(link) => link,
        Source::Id(_) => "",
    }
}

fn fill_button(button: &mut Value, parameters: &[Parameter]) {
    match parameters.first() {
        Some(Parameter::CouponCode { coupon_code }) => button["example"] = coupon_code.as_str().into(),
        _ => fill_text(button, "url", parameters),
    }
}

/// Fills the variables of a text: `{{1}}` and so on, or those with the names of the values.
fn fill_text(part: &mut Value, field: &str, parameters: &[Parameter]) {
    let Some(text) = part.get(field).and_then(Value::as_str) else { return };
    let mut rest = text;
    let mut filled = String::with_capacity(rest.len());
    while let Some((before, after)) = rest.split_once("{{") {
        let Some((name, behind)) = after.split_once("}}") else { break };
        filled.push_str(before);
        let value =
            (1..).zip(parameters).find_map(|(place, parameter)| worded(place, parameter, name.trim()));
        match value {
            Some(value) => filled.push_str(value),
            None => filled.extend(["{{", name, "}}"]),
        }
        rest = behind;
    }
    filled.push_str(rest);
    part[field] = filled.into();
}

/// The words of a value, if it is the one of this variable.
fn worded<'a>(place: usize, parameter: &'a Parameter, variable: &str) -> Option<&'a str> {
    let (words, name) = match parameter {
        Parameter::Text { text, parameter_name } => (text.as_str(), parameter_name),
        Parameter::Currency { currency: value, parameter_name }
        | Parameter::DateTime { date_time: value, parameter_name } => {
            (value["fallback_value"].as_str()?, parameter_name)
        }
        _ => return None,
    };
    let is_this = match name {
        Some(name) => name == variable,
        None => variable.parse() == Ok(place),
    };
    is_this.then_some(words)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::console::language::Language;

    fn drawn(content: &Content, template: Option<Value>) -> String {
        shown(Text(Language::English), content, template).into_string()
    }

    fn text(text: &str, name: Option<&str>) -> Parameter {
        Parameter::Text { text: text.to_owned(), parameter_name: name.map(str::to_owned) }
    }

    #[test]
    fn a_template_is_shown_with_the_values_that_were_sent() {
        let link = Source::Link("https://a.example/shoes.png".to_owned());
        let image = Parameter::Image(Media { source: link, filename: None });
        let content = Content::Template {
            name: "spring".to_owned(),
            language: "en".to_owned(),
            components: vec![
                Component::Header { parameters: vec![image] },
                Component::Body {
                    parameters: vec![text("{{contact.first_name|friend}}", None), text("20 %", None)],
                },
                Component::Button {
                    sub_type: "url".to_owned(),
                    index: 0,
                    parameters: vec![text("shoes", None)],
                },
            ],
            contact_fields: true,
        };
        let template = json!([
            {"type": "HEADER", "format": "IMAGE"},
            {"type": "BODY", "text": "Hello {{1}}, {{2}} off. {{3}}"},
            {"type": "BUTTONS", "buttons": [{"type": "URL", "text": "Shop", "url": "https://a.example/{{1}}"}]},
        ]);
        let page = drawn(&content, Some(template));
        for part in ["shoes.png", "20 % off", "contact.first_name", "{{3}}", "https://a.example/shoes"] {
            assert!(page.contains(part), "{part}: {page}");
        }
        let gone = drawn(&content, None);
        assert!(gone.contains("spring") && !gone.contains("shoes"), "{gone}");
    }

    #[test]
    fn named_variables_and_cards_are_filled() {
        let card = Card {
            card_index: 1,
            components: vec![Component::Body { parameters: vec![text("Bread", Some("what"))] }],
        };
        let content = Content::Template {
            name: "n".to_owned(),
            language: "en".to_owned(),
            components: vec![Component::Carousel { cards: vec![card] }],
            contact_fields: false,
        };
        let one = |text: &str| json!({"components": [{"type": "BODY", "text": text}]});
        let template =
            json!([{"type": "CAROUSEL", "cards": [one("First {{what}}"), one("Second {{ what }}")]}]);
        let page = drawn(&content, Some(template));
        assert!(page.contains("Second Bread") && !page.contains("First Bread"), "{page}");
    }

    #[test]
    fn other_messages_are_shown_with_their_files_and_buttons() {
        let link = "https://a.example/menu.pdf".to_owned();
        let document = Content::Document {
            link,
            caption: Some("Our menu".to_owned()),
            filename: Some("menu.pdf".to_owned()),
        };
        let page = drawn(&document, None);
        assert!(
            page.contains("menu.pdf") && page.contains("Our menu") && !page.contains("a.example"),
            "{page}"
        );
        let interactive = json!({
            "type": "button", "header": {"type": "text", "text": "Hi"}, "body": {"text": "Ready?"},
            "footer": {"text": "Bye"}, "action": {"buttons": [{"type": "reply", "reply": {"id": "y", "title": "Yes"}}]},
        });
        let page = drawn(&Content::Interactive { interactive }, None);
        for part in ["Hi", "Ready?", "Bye", "Yes"] {
            assert!(page.contains(part), "{part}: {page}");
        }
        let menu = json!({
            "type": "list", "body": {"text": "Choose"},
            "action": {"button": "Menu", "sections": [{"title": "Cakes", "rows": [{"id": "1", "title": "Carrot"}]}]},
        });
        let page = drawn(&Content::Interactive { interactive: menu }, None);
        for part in ["Choose", "Menu", "Cakes", "Carrot"] {
            assert!(page.contains(part), "{part}: {page}");
        }
    }
}
