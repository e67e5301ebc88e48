//! What messages say: those of people and those of the company. Nothing of a stranger is more than text here.

use maud::{Markup, html};
use serde_json::Value;
use uuid::Uuid;

use super::PLACE;
use crate::console::component::attachment::attachment;
use crate::console::component::formatting::{LABEL_CHARS, TEXT_CHARS, lines, plain};
use crate::console::component::number;
use crate::console::pages::send::words;
use crate::console::text::Text;
use crate::domain::content::{Content, Kind};
use crate::domain::inbound::{InboundBody, InboundContent, OrderItem, SharedContact};
use crate::domain::link::file_id;
use crate::domain::location::Location;
use crate::domain::phone::PhoneNumber;

/// The values, items and cards of one message that are shown.
const MOST: usize = 40;

/// The kind of a message, by its stored word.
pub(super) fn kind(text: Text, word: &str) -> String {
    match word {
        "answer" => text.get("inbox-kind-answer"),
        "flow" => text.get("inbox-kind-flow"),
        "order" => text.get("inbox-kind-order"),
        "call" => text.get("inbox-kind-call"),
        "system" => text.get("inbox-kind-system"),
        "deletion" => text.get("inbox-deleted"),
        "edit" => text.get("inbox-edited"),
        word => {
            word.parse::<Kind>().map_or_else(|_| text.get("inbox-kind-other"), |kind| words::kind(text, kind))
        }
    }
}

/// What a person wrote, or the company on its phone.
pub(super) fn written(text: Text, id: Uuid, body: &InboundBody) -> Markup {
    let content = &body.content;
    html! {
        @match content {
            InboundContent::Text { body } => (lines(body, None)),
            InboundContent::Image { media }
            | InboundContent::Video { media }
            | InboundContent::Audio { media }
            | InboundContent::Document { media }
            | InboundContent::Sticker { media } => (attachment(text, id, &kind(text, content.kind()), media)),
            InboundContent::Location { location } => (place(text, location)),
            InboundContent::Contacts { contacts } => (cards(contacts)),
            InboundContent::Answer { title, description, .. } => {
                p.soft { (kind(text, "answer")) }
                p dir="auto" { strong { (plain(title, LABEL_CHARS)) } }
                @if let Some(description) = description { p dir="auto" { (plain(description, LABEL_CHARS)) } }
            },
            InboundContent::Flow { body, response, .. } => {
                p.soft { (kind(text, "flow")) }
                @if let Some(body) = body { (lines(body, None)) }
                (raw(text, response))
            },
            InboundContent::Order { text: said, items, .. } => {
                p.soft { (kind(text, "order")) }
                @if let Some(said) = said { (lines(said, None)) }
                (ordered(items))
            },
            InboundContent::Call { event } => { p.soft { (kind(text, "call")) " " code { (plain(event, LABEL_CHARS)) } } },
            InboundContent::System { event, body: said, new_number, .. } => {
                p.soft { (kind(text, "system")) }
                @match said { Some(said) => (lines(said, None)), None => p { code { (plain(event, LABEL_CHARS)) } } }
                (under_other_number(body, new_number.as_deref()))
            },
            InboundContent::Unsupported { kind: word, reason, raw: object } => {
                p.soft { (text.get("inbox-unsupported")) @if let Some(word) = word { " " code { (plain(word, LABEL_CHARS)) } } }
                @if let Some(reason) = reason { p lang="en" { (plain(reason, LABEL_CHARS)) } }
                (raw(text, object))
            },
            // These change other messages, and are no entries of their own.
            InboundContent::Reaction { .. } | InboundContent::Edit { .. } | InboundContent::Deletion { .. } => {},
        }
    }
}

/// The way to the conversation under the person's other number: the former one, or the one from now on.
fn under_other_number(body: &InboundBody, new: Option<&str>) -> Markup {
    let former = body.author.as_ref().and_then(|author| author.number.as_deref());
    let number = former.or(new).and_then(|number| PhoneNumber::parse(number).ok());
    html! {
        @if let Some(number) = number {
            p { a href=(format!("{PLACE}?search=%2B{number}")) { bdi { (number::written(&format!("+{number}"))) } } }
        }
    }
}

/// What the company sent; `words_of_template` are those of a template, as long as it is there.
pub(super) fn own(text: Text, content: &Content, words_of_template: Option<&str>) -> Markup {
    let named = |caption: Option<&str>| {
        html! {
            p.soft { (words::kind(text, content.kind())) }
            @if let Some(caption) = caption { (lines(caption, None)) }
        }
    };
    html! {
        @match content {
            Content::Text { body, .. } => (lines(body, None)),
            Content::Image { link, caption } => {
                // Pictures of other places are not shown: this host alone is asked.
                @if let Some(file) = file_id(link) {
                    div.attachment {
                        img src=(format!("/console/media/{file}/thumbnail")) alt="" loading="lazy";
                    }
                }
                (named(caption.as_deref()))
            },
            Content::Video { caption, .. } => (named(caption.as_deref())),
            Content::Document { caption, filename, .. } => {
                (named(caption.as_deref()))
                @if let Some(name) = filename { p { bdi { (plain(name, LABEL_CHARS)) } } }
            },
            Content::Location { location } => (place(text, location)),
            Content::Template { name, language, components, .. } => {
                p.soft { (words::kind(text, content.kind())) ": " bdi { (name) } " " (language) }
                @if let Some(said) = words_of_template { (lines(said, None)) }
                @else { @for value in values(components).iter().take(MOST) { p dir="auto" { (plain(value, TEXT_CHARS)) } } }
            },
            Content::Interactive { interactive } => {
                @if let Some(body) = interactive["body"]["text"].as_str() { (lines(body, None)) }
                (named(None))
            },
            Content::Audio { .. } | Content::Sticker { .. } | Content::Contacts { .. } | Content::Reaction { .. } => (named(None)),
        }
    }
}

/// The first words of what the company sent, for a quotation.
pub(super) fn own_line(text: Text, content: &Content, words_of_template: Option<String>) -> String {
    match content {
        Content::Text { body, .. } => body.clone(),
        _ => words_of_template.unwrap_or_else(|| words::kind(text, content.kind())),
    }
}

/// The texts among a template's values.
fn values<C: serde::Serialize>(components: &[C]) -> Vec<String> {
    fn collect(value: &Value, found: &mut Vec<String>) {
        match value {
            Value::Array(items) => items.iter().for_each(|item| collect(item, found)),
            Value::Object(fields) => {
                for (name, value) in fields {
                    match value {
                        Value::String(said) if name == "text" => found.push(said.clone()),
                        _ => collect(value, found),
                    }
                }
            }
            _ => {}
        }
    }
    let mut found = Vec::new();
    for component in components {
        collect(&serde_json::to_value(component).unwrap_or_default(), &mut found);
    }
    found
}

fn place(text: Text, location: &Location) -> Markup {
    let (north, east) = (location.latitude.degrees(), location.longitude.degrees());
    html! {
        p { strong { (location.name.as_deref().unwrap_or(&kind(text, "location"))) } }
        @if let Some(address) = &location.address { p dir="auto" { (plain(address, LABEL_CHARS)) } }
        p { a href=(format!("geo:{north},{east}")) { (north) ", " (east) } }
    }
}

fn cards(contacts: &[SharedContact]) -> Markup {
    html! {
        @for contact in contacts.iter().take(MOST) {
            p {
                strong { bdi { (contact.name.as_deref().unwrap_or("—")) } }
                @for said in contact.phones.iter().chain(&contact.emails).take(MOST) { br; bdi { (plain(said, LABEL_CHARS)) } }
            }
        }
    }
}

fn ordered(items: &[OrderItem]) -> Markup {
    html! {
        ul {
            @for item in items.iter().take(MOST) {
                li {
                    (item.quantity.unwrap_or(1)) " × " bdi { (item.product_retailer_id.as_deref().unwrap_or("—")) }
                    @if let Some(price) = &item.price { " " (price) " " (item.currency.as_deref().unwrap_or_default()) }
                }
            }
        }
    }
}

/// A provider's object as it came.
fn raw(text: Text, object: &Value) -> Markup {
    html! {
        details.more {
            summary { (text.get("inbox-as-it-came")) }
            pre tabindex="0" { code { (plain(&format!("{object:#}"), TEXT_CHARS)) } }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::console::language::Language;
    use crate::domain::link::file_link;

    #[test]
    fn a_picture_of_the_library_is_shown_and_one_of_another_place_is_named() {
        let shown = |link: String| {
            let content = Content::Image { link, caption: Some("<Cake>".to_owned()) };
            own(Text(Language::English), &content, None).into_string()
        };
        let file = Uuid::from_u128(7);
        let picture = shown(file_link(file));
        assert!(picture.contains(&format!("src=\"/console/media/{file}/thumbnail\"")), "{picture}");
        assert!(picture.contains("&lt;Cake&gt;"), "{picture}");
        let elsewhere = shown("https://example.com/cake.png".to_owned());
        assert!(elsewhere.contains("&lt;Cake&gt;") && !elsewhere.contains("<img"), "{elsewhere}");
    }
}
