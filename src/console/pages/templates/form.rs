//! The form of a template: its fields, the parts that they make in the provider's form, and the fields of a template that there
//! is.

use maud::{Markup, html};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::console::component::field::Field;
use crate::console::component::library::OfferedFiles;
use crate::console::component::phone::phone;
use crate::console::form::Form;
use crate::console::text::Text;
use crate::console::words::Words;
use crate::domain::link::{file_id, file_link};
use crate::domain::template::{MOST_BUTTONS, TEMPLATE_CATEGORIES, variable_names};
use crate::engine::records::templates::Record;

/// Languages that are suggested; any other code can be typed.
pub(super) const LANGUAGES: [&str; 15] = [
    "en", "en_US", "en_GB", "es", "es_AR", "es_ES", "es_MX", "pt_BR", "pt_PT", "fr", "de", "it", "id", "hi",
    "ar",
];
/// The rows for buttons that a new template has.
const ROWS: usize = 3;
/// The most characters of a text, a line and a button.
const BODY: usize = 1_024;
const LINE: usize = 60;
const BUTTON: usize = 25;
const ADDRESS: usize = 2_000;

/// The fields of the name, which a template keeps.
pub(super) fn identity(form: &Form) -> Markup {
    let text = form.text();
    html! {
        (Field::new(form, "name", &text.get("templates-name")).hint(&text.get("templates-name-hint")).required()
            .most(512).text())
        (Field::new(form, "language", &text.get("templates-language")).hint(&text.get("templates-language-hint"))
            .required().most(15).suggesting(LANGUAGES))
    }
}

/// The fields of category and parts.
pub(super) fn fields(form: &Form, files: &OfferedFiles) -> Markup {
    let text = form.text();
    let categories = TEMPLATE_CATEGORIES[..2].iter().map(|word| (*word, super::category(text, word)));
    let headers = [
        ("", "templates-header-none"),
        ("text", "templates-header-text"),
        ("image", "templates-image"),
        ("video", "templates-video"),
        ("document", "templates-document"),
    ];
    let headers = headers.map(|(kind, key)| (kind, text.get(key)));
    html! {
        (Field::new(form, "category", &text.get("templates-category")).hint(&text.get("templates-category-hint"))
            .select(categories))
        (Field::new(form, "header_kind", &text.get("templates-header")).hint(&text.get("templates-header-hint"))
            .select(headers))
        (Field::new(form, "header", &text.get("templates-header-words")).most(LINE).text())
        (Field::new(form, "header_example", &text.get("templates-header-example")).most(LINE).text())
        // The file goes to the provider with the template, which fetches none.
        (files.any(form, ("header_file", &text.get("templates-header-file")), true))
        (Field::new(form, "body", &text.get("templates-body")).hint(&text.get("templates-body-hint")).required()
            .most(BODY).area(6))
        (Field::new(form, "examples", &text.get("templates-examples")).hint(&text.get("templates-examples-hint"))
            .area(3))
        (Field::new(form, "footer", &text.get("templates-footer")).most(LINE).text())
        fieldset.field {
            legend { (text.get("templates-buttons")) }
            p.hint { (text.get("templates-buttons-hint")) }
            @if let Some(fault) = form.fault_of("buttons") { p.fault { (fault) } }
            @for row in 0..rows(form.words()) { (button(form, row)) }
        }
    }
}

/// The rows for buttons: one more than there are.
fn rows(words: &Words) -> usize {
    let used = (0..MOST_BUTTONS).rev().find(|row| !words.one(&format!("button_kind_{row}")).is_empty());
    used.map_or(ROWS, |last| (last + 2).max(ROWS)).min(MOST_BUTTONS)
}

fn button(form: &Form, row: usize) -> Markup {
    let text = form.text();
    let label = |key: &str| text.with(key, [("number", (row as u64 + 1).into())]);
    let kinds = [
        ("", "templates-button-none"),
        ("QUICK_REPLY", "templates-button-reply"),
        ("URL", "templates-button-url"),
        ("PHONE_NUMBER", "templates-button-call"),
    ];
    let kinds = kinds.map(|(kind, key)| (kind, text.get(key)));
    let name = |part: &str| format!("button_{part}_{row}");
    html! {
        div.row.bottom {
            (Field::new(form, &name("kind"), &label("templates-button-kind")).select(kinds))
            (Field::new(form, &name("text"), &label("templates-button-text")).most(BUTTON).text())
            (Field::new(form, &name("value"), &label("templates-button-value")).most(ADDRESS).text())
            (Field::new(form, &name("example"), &label("templates-button-example")).most(ADDRESS).text())
        }
    }
}

/// The preview of what the form says.
pub(super) fn preview(text: Text, words: &Words) -> Markup {
    let mut parts = components(words);
    for part in parts.as_array_mut().into_iter().flatten() {
        let file = part["example"]["header_handle"][0].as_str().and_then(file_id);
        if let Some(file) = file {
            part["own"] = format!("/console/media/{file}/thumbnail").into();
        }
        if part["type"] == "BODY" && part["text"] == "" {
            part["text"] = "…".into();
        }
    }
    html! {
        section.panel id="preview" aria-label=(text.get("compose-preview")) {
            h2 { (text.get("compose-preview")) }
            (phone(text, &parts))
        }
    }
}

/// The parts that the form describes, in the provider's form.
pub(super) fn components(words: &Words) -> Value {
    let mut parts = Vec::new();
    match words.one("header_kind") {
        "text" => {
            let header = words.one("header");
            let mut part = json!({ "type": "HEADER", "format": "TEXT", "text": header });
            add_examples(&mut part, "header_text", (header, words.one("header_example")));
            parts.push(part);
        }
        kind @ ("image" | "video" | "document") => {
            let file = Uuid::try_parse(words.one("header_file")).map(file_link).unwrap_or_default();
            let example = json!({ "header_handle": [file] });
            parts.push(json!({ "type": "HEADER", "format": kind.to_uppercase(), "example": example }));
        }
        _ => {}
    }
    // A browser sends a line end as two characters.
    let body = words.raw("body").unwrap_or_default().replace("\r\n", "\n");
    let mut part = json!({ "type": "BODY", "text": body.trim() });
    add_examples(&mut part, "body_text", (&body, words.raw("examples").unwrap_or_default()));
    parts.push(part);
    if !words.one("footer").is_empty() {
        parts.push(json!({ "type": "FOOTER", "text": words.one("footer") }));
    }
    let buttons: Vec<_> = (0..MOST_BUTTONS).filter_map(|row| button_of(words, row)).collect();
    if !buttons.is_empty() {
        parts.push(json!({ "type": "BUTTONS", "buttons": buttons }));
    }
    parts.into()
}

fn button_of(words: &Words, row: usize) -> Option<Value> {
    let field = |part: &str| words.one(&format!("button_{part}_{row}"));
    let (kind, label, value) = (field("kind"), field("text"), field("value"));
    match kind {
        "QUICK_REPLY" => Some(json!({ "type": kind, "text": label })),
        "PHONE_NUMBER" => Some(json!({ "type": kind, "text": label, "phone_number": value })),
        "URL" => {
            let mut button = json!({ "type": kind, "text": label, "url": value });
            if value.contains("{{") && !field("example").is_empty() {
                button["example"] = json!([field("example")]);
            }
            Some(button)
        }
        _ => None,
    }
}

/// Gives a part the examples of its variables: lines in the order of the numbers, or of the names in the text.
fn add_examples(part: &mut Value, field: &str, (text, lines): (&str, &str)) {
    let names = variable_names(text);
    let lines: Vec<_> = lines.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    if names.is_empty() || lines.is_empty() {
        return;
    }
    let is_numbered = names.iter().all(|name| name.bytes().all(|byte| byte.is_ascii_digit()));
    part["example"] = if !is_numbered {
        let named = names.iter().zip(&lines);
        let named: Vec<_> =
            named.map(|(name, line)| json!({ "param_name": name, "example": line })).collect();
        json!({ format!("{field}_named_params"): named })
    } else if field == "body_text" {
        json!({ field: [lines] })
    } else {
        json!({ field: lines })
    };
}

/// The fields of a template; `None` when it has parts that the form does not have.
pub(super) fn values(template: &Record) -> Option<Vec<(String, String)>> {
    let mut values = vec![("category".to_owned(), template.category.to_string())];
    let mut put = |name: &str, value: &str| values.push((name.to_owned(), value.to_owned()));
    if !TEMPLATE_CATEGORIES[..2].contains(&template.category.as_str()) {
        return None;
    }
    for part in template.components.as_array()? {
        let said = part["text"].as_str().unwrap_or_default();
        match upper(part, "type").as_str() {
            "HEADER" => match upper(part, "format").as_str() {
                "TEXT" | "" => {
                    put("header_kind", "text");
                    put("header", said);
                    put("header_example", &examples(part, "header_text"));
                }
                // The provider shows the sample at an address of its own: it has to be chosen again.
                format @ ("IMAGE" | "VIDEO" | "DOCUMENT") => put("header_kind", &format.to_lowercase()),
                _ => return None,
            },
            "BODY" => {
                put("body", said);
                put("examples", &examples(part, "body_text"));
            }
            "FOOTER" => put("footer", said),
            "BUTTONS" => {
                for (row, button) in part["buttons"].as_array()?.iter().enumerate() {
                    let kind = upper(button, "type");
                    let value = match kind.as_str() {
                        "QUICK_REPLY" => "",
                        "URL" => button["url"].as_str().unwrap_or_default(),
                        "PHONE_NUMBER" => button["phone_number"].as_str().unwrap_or_default(),
                        _ => return None,
                    };
                    put(&format!("button_kind_{row}"), &kind);
                    put(&format!("button_text_{row}"), button["text"].as_str().unwrap_or_default());
                    put(&format!("button_value_{row}"), value);
                    put(&format!("button_example_{row}"), button["example"][0].as_str().unwrap_or_default());
                }
            }
            _ => return None,
        }
    }
    Some(values)
}

/// The examples of a part, a line each.
fn examples(part: &Value, field: &str) -> String {
    let given = &part["example"][field];
    let row = given[0].as_array().or_else(|| given.as_array());
    let placed = row.into_iter().flatten().filter_map(Value::as_str);
    let named = part["example"][format!("{field}_named_params")].as_array();
    let named = named.into_iter().flatten().filter_map(|given| given["example"].as_str());
    placed.chain(named).collect::<Vec<_>>().join("\n")
}

fn upper(part: &Value, name: &str) -> String {
    part[name].as_str().unwrap_or_default().to_ascii_uppercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_makes_the_parts_of_a_template_and_is_made_of_them() {
        let words = Words::parse(
            b"header_kind=text&header=Order+{{1}}&header_example=A-1&body=Hi+{{1}},%0D%0Acome+to+{{2}}.&\
              examples=Ana%0Athe+desk&footer=Bye&button_kind_0=URL&button_text_0=Go&button_value_0=https://x.example/{{1}}&\
              button_example_0=https://x.example/7&button_kind_1=QUICK_REPLY&button_text_1=OK&button_kind_2=",
        );
        let parts = components(&words);
        assert_eq!(
            parts,
            json!([
                {"type": "HEADER", "format": "TEXT", "text": "Order {{1}}", "example": {"header_text": ["A-1"]}},
                {"type": "BODY", "text": "Hi {{1}},\ncome to {{2}}.", "example": {"body_text": [["Ana", "the desk"]]}},
                {"type": "FOOTER", "text": "Bye"},
                {"type": "BUTTONS", "buttons": [
                    {"type": "URL", "text": "Go", "url": "https://x.example/{{1}}", "example": ["https://x.example/7"]},
                    {"type": "QUICK_REPLY", "text": "OK"},
                ]},
            ])
        );
        assert_eq!(rows(&words), 3);
        let named = Words::parse(b"body=Hi+{{who}}!&examples=Ana");
        let example = json!({"body_text_named_params": [{"param_name": "who", "example": "Ana"}]});
        assert_eq!(components(&named)[0]["example"], example);
        let file = Uuid::from_u128(7);
        let picture = Words::parse(format!("header_kind=image&header_file={file}&body=x").as_bytes());
        assert_eq!(components(&picture)[0]["example"]["header_handle"][0], file_link(file));
        assert_eq!(examples(&parts[1], "body_text"), "Ana\nthe desk");
        assert_eq!(examples(&components(&named)[0], "body_text"), "Ana");
    }
}
