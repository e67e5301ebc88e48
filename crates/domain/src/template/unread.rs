//! The fields in a request's `components` that nothing reads, so that an answer can name them.
//!
//! Parts and values of types that we do not know go to the provider as they are: nothing in them is unread.

use serde_json::{Map, Value};

use crate::payload::is_absent;

/// How many fields are named.
const MOST: usize = 20;
/// How much of a field's name is shown, in characters.
const NAME_CHARS: usize = 64;

/// The paths of unread fields in components that could be parsed, such as `components[0].params`; the first ones of many.
pub fn unread_fields(components: &Value) -> Vec<String> {
    let mut found = Vec::new();
    each(components, "components", |part, path| component(part, path, &mut found));
    found
}

fn component(part: &Map<String, Value>, path: &str, found: &mut Vec<String>) {
    let read: &[&str] = match word(part).as_str() {
        "header" | "body" | "limited_time_offer" => &["type", "parameters"],
        "button" => &["type", "sub_type", "index", "parameters"],
        "carousel" => &["type", "cards"],
        _ => return,
    };
    note(part, read, path, found);
    if let Some(parameters) = part.get("parameters").filter(|_| read.contains(&"parameters")) {
        each(parameters, &format!("{path}.parameters"), |value, path| parameter(value, path, found));
    }
    let Some(cards) = part.get("cards").filter(|_| read.contains(&"cards")) else { return };
    each(cards, &format!("{path}.cards"), |card, path| {
        note(card, &["card_index", "components"], path, found);
        if let Some(components) = card.get("components") {
            each(components, &format!("{path}.components"), |part, path| component(part, path, found));
        }
    });
}

fn parameter(value: &Map<String, Value>, path: &str, found: &mut Vec<String>) {
    const FILE: [&str; 3] = ["link", "id", "filename"];
    let kind = word(value);
    let own = kind.as_str();
    match own {
        "text" | "currency" | "date_time" => note(value, &["type", own, "parameter_name"], path, found),
        "location" | "payload" | "coupon_code" => note(value, &["type", own], path, found),
        "image" | "video" | "document" => match value.get(own).and_then(Value::as_object) {
            Some(file) => {
                note(value, &["type", own], path, found);
                note(file, &FILE, &format!("{path}.{own}"), found);
            }
            None => note(value, &[&["type", own][..], &FILE].concat(), path, found),
        },
        _ => {}
    }
}

fn word(part: &Map<String, Value>) -> String {
    part.get("type").and_then(Value::as_str).unwrap_or_default().trim().to_ascii_lowercase()
}

/// Visits the objects of an array.
fn each(array: &Value, path: &str, mut visit: impl FnMut(&Map<String, Value>, &str)) {
    for (index, item) in array.as_array().into_iter().flatten().enumerate() {
        if let Some(item) = item.as_object() {
            visit(item, &format!("{path}[{index}]"));
        }
    }
}

/// Notes the fields of an object beside those that are `read`.
fn note(object: &Map<String, Value>, read: &[&str], path: &str, found: &mut Vec<String>) {
    let unread = object.iter().filter(|(name, value)| !read.contains(&name.as_str()) && !is_absent(value));
    for (name, _) in unread {
        if found.len() < MOST {
            let shown: String = name.chars().take(NAME_CHARS).collect();
            found.push(format!("{path}.{shown}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_no_part_of_a_template_reads_is_named_by_its_path() {
        let components = json!([
            {"type": "HEADER", "format": "document", "parameters": [
                {"type": "document", "document": {"link": "https://a.example/x.pdf", "name": "x.pdf"}},
            ]},
            {"type": "body", "params": [1], "parameters": [
                {"type": "text", "text": "Ana", "value": "Ana", "note": null},
                {"type": "payment", "anything": 1},
            ]},
            {"type": "button", "sub_type": "url", "index": 0, "text": "Go", "parameters": []},
            {"type": "carousel", "cards": [{"card_index": 0, "index": 0, "components": [
                {"type": "header", "parameters": [{"type": "image", "link": "https://a.example/x.png", "alt": "x"}]},
            ]}]},
            {"type": "other", "anything": 1},
        ]);
        assert_eq!(
            unread_fields(&components),
            [
                "components[0].format",
                "components[0].parameters[0].document.name",
                "components[1].params",
                "components[1].parameters[0].value",
                "components[2].text",
                "components[3].cards[0].index",
                "components[3].cards[0].components[0].parameters[0].alt",
            ]
        );
    }
}
