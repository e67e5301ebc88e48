//! A preview of the message on a phone, with the filled-in values: its parts in the form of a template's
//! parts, which [`phone`] draws. Of each value, only as much is taken as is drawn: a preview costs little, whatever the
//! form holds.

use actix_web::HttpResponse;
use actix_web::http::header::CONTENT_TYPE;
use actix_web::web::Data;
use maud::{Markup, html};
use serde_json::{Value, json};

use super::choice::Choice;
use super::columns;
use super::content::{Kind, header_type, lines, row, sections};
use super::list::RecipientList;
use super::sample::Sample;
use crate::console::State;
use crate::console::component::formatting::{LABEL_CHARS, LINK_CHARS, TEXT_CHARS, beginning};
use crate::console::component::library::take_chosen;
use crate::console::component::phone::{literal, phone};
use crate::console::error::Result;
use crate::console::form::Form;
use crate::console::text::Text;
use crate::console::visitor::Viewer;
use crate::console::words::Words;
use crate::domain::contact::Person;
use crate::domain::link::file_id;
use crate::domain::template::{Template, contact_field};

/// The message.
pub(super) fn preview(text: Text, choice: &Choice, words: &Words, sample: &Sample) -> Markup {
    html! {
        section.panel id="preview" aria-label=(text.get("compose-preview")) {
            h2 { (text.get("compose-preview")) }
            @let parts = parts(choice, words, sample.person());
            @if choice.kind == Kind::Template { (phone(text, &parts)) } @else { (literal(text, &parts)) }
            @if let Some(instead) = choice.filled().filter(|_| choice.kind != Kind::Template) {
                h3 { (text.get("compose-instead")) }
                (phone(text, &filled(instead, words, sample.person())))
            }
            @match sample {
                Sample::None => {}
                Sample::MadeUp(_) => p.hint { (text.get("compose-preview-made-up")) },
                Sample::Recipient(number, person) => p.hint {
                    @let key = if person.is_some() { "compose-preview-first" } else { "compose-preview-stranger" };
                    (text.get(key)) " " bdi { "+" (number) }
                },
            }
        }
    }
}

/// Only the preview, for a page that is being filled in.
pub(crate) async fn follow(viewer: Viewer, state: Data<State>, mut form: Form) -> Result<HttpResponse> {
    take_chosen(&mut form);
    let choice = Choice::read(&state, &viewer, form.words()).await?;
    let sample = Sample::read(&state, &viewer, &choice, form.words()).await?;
    let list = RecipientList::read(&state, &viewer, &choice, form.words()).await?;
    let words = columns::shown(form.words(), list.as_ref());
    let shown = preview(viewer.text, &choice, &words, &sample).into_string();
    Ok(HttpResponse::Ok().insert_header((CONTENT_TYPE, "text/html; charset=utf-8")).body(shown))
}

/// The small picture of a file of the library, which the browser may show: no other host is asked.
pub(super) fn own_file(link: &str) -> Option<String> {
    file_id(link).map(|id| format!("/console/media/{id}/thumbnail"))
}

/// A little more than this many characters of a text: the phone shows that there is more.
fn cut(text: &str, chars: usize) -> &str {
    beginning(text, chars + 1)
}

fn parts(choice: &Choice, words: &Words, person: Option<&Person>) -> Value {
    // A browser sends a line end as two characters.
    let owned = |name: &str| cut(words.raw(name).unwrap_or_default(), 2 * TEXT_CHARS).replace("\r\n", "\n");
    let label = |name: &str| cut(words.one(name), LABEL_CHARS);
    let link = |name: &str| cut(words.one(name), LINK_CHARS);
    let body = |name: &str| {
        let given = owned(name);
        json!({"type": "BODY", "text": if given.trim().is_empty() { "…" } else { given.as_str() }})
    };
    let file = |format: &str, link: &str| json!({"type": "HEADER", "format": format, "link": link, "own": own_file(link)});
    let header = match (header_type(choice.kind, words).as_str(), link("header")) {
        (_, "") => json!({}),
        ("text", header) => json!({"type": "HEADER", "format": "TEXT", "text": header}),
        (format, link) => file(format, link),
    };
    let footer = json!({"type": "FOOTER", "text": label("footer")});
    let mut parts = match choice.kind {
        Kind::Text => vec![body("message")],
        Kind::Image | Kind::Video | Kind::Audio | Kind::Document => {
            vec![file(choice.kind.as_str(), link("link")), json!({"type": "BODY", "text": owned("caption")})]
        }
        Kind::Buttons => {
            let button = |title: &str| json!({"type": "QUICK_REPLY", "text": cut(title, LABEL_CHARS)});
            let buttons: Vec<_> = lines(words, "buttons").into_iter().map(button).collect();
            vec![header, body("message"), footer, json!({"type": "BUTTONS", "buttons": buttons})]
        }
        Kind::List => {
            let entry = |line: &str| {
                let (title, description) = row(line);
                json!({"title": cut(title, LABEL_CHARS), "description": cut(description, LABEL_CHARS)})
            };
            let menu = json!([{"type": "LIST", "text": label("menu")}]);
            let list = listed(words, "rows", entry);
            vec![header, body("message"), footer, list, json!({"type": "BUTTONS", "buttons": menu})]
        }
        Kind::Product => vec![file("PRODUCT", label("product")), body("message"), footer],
        Kind::Products => {
            let list = listed(words, "products", |id| json!({"title": cut(id, LABEL_CHARS)}));
            vec![
                header,
                body("message"),
                footer,
                list,
                json!({"type": "BUTTONS", "buttons": [{"type": "MPM"}]}),
            ]
        }
        Kind::Template => {
            return choice
                .template
                .as_ref()
                .map_or_else(|| json!([]), |template| filled(template, words, person));
        }
    };
    // Empty parts are not shown.
    parts.retain(|part| part["text"] != "" && part != &json!({}));
    parts.into()
}

fn listed(words: &Words, name: &str, entry: impl Fn(&str) -> Value) -> Value {
    let sections: Vec<_> = sections(words, name)
        .into_iter()
        .map(|(title, lines)| {
            let rows: Vec<_> = lines.into_iter().map(&entry).collect();
            json!({"title": cut(title, LABEL_CHARS), "rows": rows})
        })
        .collect();
    json!({"type": "LIST", "sections": sections})
}

/// The person whose values are shown, if the recipient is a contact, and the language of the template.
type Addressee<'a> = (Option<&'a Person>, &'a str);

/// The template's own parts, with the values that are filled in, for a person.
pub(in crate::console::pages) fn filled(
    template: &Template,
    words: &Words,
    person: Option<&Person>,
) -> Value {
    let mut parts = template.components.clone();
    fill_parts(&mut parts, "", words, (person, &template.language));
    parts
}

/// Fills in the parts of a template, or of one of its cards, whose fields have names that begin with `prefix`, for an addressee.
fn fill_parts(parts: &mut Value, prefix: &str, words: &Words, addressee: Addressee<'_>) {
    let kind = |part: &Value| part["type"].as_str().unwrap_or_default().to_ascii_uppercase();
    let fill_in = |part: &mut Value, field: &str, name: &str| {
        if let Some(text) = part.get(field).and_then(Value::as_str) {
            part[field] = fill(text, &format!("{prefix}{name}"), words, addressee).into();
        }
    };
    for part in parts.as_array_mut().into_iter().flatten().filter(|part| part.is_object()) {
        match kind(part).as_str() {
            "HEADER" => {
                fill_in(part, "text", "header");
                let link = cut(words.one(&format!("{prefix}header_link")), LINK_CHARS);
                part["link"] = link.into();
                part["own"] = own_file(link).into();
            }
            "BODY" => fill_in(part, "text", "body"),
            "BUTTONS" => {
                let buttons = part.get_mut("buttons").and_then(Value::as_array_mut).into_iter().flatten();
                for (index, button) in buttons.filter(|button| button.is_object()).enumerate() {
                    let given = cut(words.one(&format!("{prefix}button_{index}")), LINK_CHARS);
                    match kind(button).as_str() {
                        "URL" if !given.is_empty() => {
                            let filled = contact_field::filled_address(given, addressee.0);
                            let filled = filled.unwrap_or_else(|_| given.to_owned());
                            let address = cut(button["url"].as_str().unwrap_or_default(), LINK_CHARS);
                            // The provider allows one variable.
                            button["url"] = address.replacen("{{1}}", &filled, 1).into();
                        }
                        "COPY_CODE" if !given.is_empty() => button["example"] = given.into(),
                        _ => {}
                    }
                }
            }
            "CAROUSEL" => {
                let cards = part.get_mut("cards").and_then(Value::as_array_mut).into_iter().flatten();
                for (index, card) in cards.enumerate() {
                    if let Some(parts) = card.get_mut("components") {
                        fill_parts(parts, &format!("card_{index}_"), words, addressee);
                    }
                }
            }
            _ => {}
        }
    }
}

/// A text with its variables filled in, as far as it is drawn. Variables without a value, and contact fields that the
/// person has no value for, stay as they are.
fn fill(text: &str, part: &str, words: &Words, (person, language): Addressee<'_>) -> String {
    let mut rest = cut(text, TEXT_CHARS);
    let mut filled = String::with_capacity(rest.len());
    while let Some((before, after)) = rest.split_once("{{") {
        // A character has at most four bytes.
        if filled.len() > 4 * TEXT_CHARS {
            break;
        }
        let Some((name, behind)) = after.split_once("}}") else { break };
        filled.push_str(before);
        match cut(words.one(&format!("{part}_{}", name.trim())), TEXT_CHARS) {
            "" => filled.extend(["{{", name, "}}"]),
            value => match contact_field::filled(value, person, language) {
                Ok(value) => filled.push_str(&value),
                Err(_) => filled.push_str(value),
            },
        }
        rest = behind;
    }
    filled.push_str(rest);
    filled
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use crate::domain::link::file_link;

    #[test]
    fn a_text_is_filled_as_far_as_there_are_values() {
        let words = Words::parse(b"body_1=Ana&body_order_id=7&header_1=no");
        let filled = |text| fill(text, "body", &words, (None, "en"));
        assert_eq!(filled("Hello {{1}}, {{ order_id }} and {{2}}."), "Hello Ana, 7 and {{2}}.");
        assert_eq!(filled("open {{1"), "open {{1");
        assert_eq!(filled("{{1}}{{1}}"), "AnaAna");

        let words = Words::parse(b"body_1={{contact.name|you}}&body_2={{contact.email}}");
        let ana = Person { first_name: "Ana".to_owned(), ..Person::default() };
        let filled = |person| fill("Hi {{1}} {{2}}", "body", &words, (person, "en"));
        assert_eq!(filled(Some(&ana)), "Hi Ana {{contact.email}}");
        assert_eq!(filled(None), "Hi you {{contact.email}}");
    }

    #[test]
    fn only_files_of_our_own_are_shown() {
        let id = Uuid::from_u128(7);
        assert_eq!(own_file(&file_link(id)), Some(format!("/console/media/{id}/thumbnail")));
        for other in ["https://a.example/console/media/7", "/console/media/7", "media:../keys", ""] {
            assert_eq!(own_file(other), None, "{other}");
        }
    }

    #[test]
    fn a_long_value_in_many_places_is_not_repeated_beyond_what_is_drawn() {
        let words = Words::parse(format!("body_1={}", "x".repeat(1_000_000)).as_bytes());
        let filled = fill(&"{{1}}".repeat(200), "body", &words, (None, "en"));
        assert!((TEXT_CHARS..10 * TEXT_CHARS).contains(&filled.len()), "{} bytes", filled.len());
    }
}
