//! The name of a send: the one that the person gave it, or one that is made of the message and its recipients. It is stored
//! as it was made, so that the list's search finds it.

use maud::Markup;
use serde_json::{Map, Value};

use super::audience::Audience;
use super::choice::Choice;
use super::content::Kind;
use super::{list, web};
use crate::console::component::field::Field;
use crate::console::form::Form;
use crate::console::text::Text;
use crate::console::words::Words;
use crate::domain::send::{NAME_CHARS, Naming};

/// The field for the name.
pub(super) fn field(text: Text, form: &Form) -> Markup {
    Field::new(form, "name", &text.get("compose-name"))
        .hint(&text.get("compose-name-hint"))
        .most(NAME_CHARS)
        .text()
}

/// Adds the name to a request.
pub(super) fn add(
    body: &mut Map<String, Value>,
    text: Text,
    choice: &Choice,
    audience: &Audience,
    words: &Words,
) {
    let given = words.one("name");
    let name = if given.is_empty() { made(text, choice, audience, words) } else { given.to_owned() };
    body.insert("name".to_owned(), name.into());
}

fn made(text: Text, choice: &Choice, audience: &Audience, words: &Words) -> String {
    let written = [words.raw("message"), words.raw("caption")].into_iter().flatten();
    let written = written.map(str::trim).find(|written| !written.is_empty());
    let template = choice.template.as_ref().filter(|_| choice.kind == Kind::Template);
    let kind = choice.kind.word(text);
    let what = match template {
        Some(template) => template.name.as_str(),
        None => written.unwrap_or(&kind),
    };
    let tags = audience.chosen_tags(words);
    let numbers = if choice.is_web() { 1 } else { super::audience::count(words) };
    let naming = Naming { what, tags: &tags, is_to_group: false, recipients: numbers };
    let (tags, more) = naming.tags();
    let to = match (tags.is_empty(), more) {
        (true, _) => String::new(),
        (false, 0) => tags,
        (false, more) => text.with("compose-name-more-tags", [("tags", tags.into()), ("more", more.into())]),
    };
    let what = ("what", naming.what().into());
    let file = words.one(list::FILE_NAME);
    let name = match (to.is_empty(), numbers) {
        (true, 0) if list::named(words).is_some() => {
            text.with("compose-name-file", [what, ("file", file.into())])
        }
        _ if choice.is_web() && words.one("to") == web::GROUP => text.with("send-name-to-group", [what]),
        (true, numbers) => text.with("send-name-to-people", [what, ("count", numbers.into())]),
        (false, 0) => text.with("send-name-to-tags", [what, ("tags", to.into())]),
        (false, numbers) => {
            text.with("compose-name-tags-numbers", [what, ("tags", to.into()), ("count", numbers.into())])
        }
    };
    // The message may have anything in it, and a name is one line.
    let name: String = name.chars().filter(|c| !c.is_control()).take(NAME_CHARS).collect();
    if name.trim().is_empty() { kind } else { name }
}
