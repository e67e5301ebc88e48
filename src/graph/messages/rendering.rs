//! Buttons and lists as texts with numbered options, for web sessions, which send neither.

use std::fmt::Write as _;

use serde_json::{Map, Value};

use crate::graph::refusal::DoorRefusal;

/// A message that says what buttons or a list would.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Rendered {
    pub(super) kind: &'static str,
    pub(super) fields: Map<String, Value>,
}

/// The message for a payload: a text, or the file of its header with the text below it.
pub(super) fn of(payload: &Value) -> Result<Rendered, DoorRefusal> {
    let mut text = String::new();
    let header = payload.get("header");
    paragraph(
        &mut text,
        header.and_then(|header| said(header, "text")).map(|head| format!("*{head}*")).as_deref(),
    );
    paragraph(&mut text, payload.get("body").and_then(|body| said(body, "text")));
    paragraph(&mut text, Some(options(payload)?.trim_end()));
    paragraph(
        &mut text,
        payload
            .get("footer")
            .and_then(|footer| said(footer, "text"))
            .map(|foot| format!("_{foot}_"))
            .as_deref(),
    );
    if text.is_empty() {
        return Err(DoorRefusal::because(131_009, "`interactive` says nothing: give it a body"));
    }
    for kind in ["image", "video", "document"] {
        let Some(link) = header.and_then(|header| header.get(kind)).and_then(|file| said(file, "link"))
        else {
            continue;
        };
        let fields = [("link", link), ("caption", text.as_str())];
        let fields = fields.into_iter().map(|(name, value)| (name.to_owned(), value.into())).collect();
        return Ok(Rendered { kind, fields });
    }
    Ok(Rendered { kind: "text", fields: Map::from_iter([("message".to_owned(), text.into())]) })
}

fn said<'a>(of: &'a Value, name: &str) -> Option<&'a str> {
    of.get(name).and_then(Value::as_str).map(str::trim).filter(|text| !text.is_empty())
}

fn paragraph(text: &mut String, said: Option<&str>) {
    let Some(said) = said.filter(|said| !said.is_empty()) else { return };
    if !text.is_empty() {
        text.push_str("\n\n");
    }
    text.push_str(said);
}

/// The options of a payload, each on a line with its number; those of a list below the titles of its sections.
fn options(payload: &Value) -> Result<String, DoorRefusal> {
    let action = payload.get("action").unwrap_or(&Value::Null);
    let kind = said(payload, "type").unwrap_or_default();
    let (mut lines, mut number) = (String::new(), 0_usize);
    // Writing to a text does not fail.
    let mut option = |lines: &mut String, title: &str, description: Option<&str>| {
        number += 1;
        let _ = match description {
            Some(description) => writeln!(lines, "{number}. {title}: {description}"),
            None => writeln!(lines, "{number}. {title}"),
        };
    };
    match kind {
        "button" => {
            for button in entries(action, "buttons") {
                let reply = button.get("reply").unwrap_or(button);
                option(&mut lines, said(reply, "title").unwrap_or_default(), None);
            }
        }
        "list" => {
            for section in entries(action, "sections") {
                if let Some(title) = said(section, "title") {
                    let _ = writeln!(lines, "*{title}*");
                }
                for row in entries(section, "rows") {
                    option(&mut lines, said(row, "title").unwrap_or_default(), said(row, "description"));
                }
            }
        }
        "cta_url" => {
            let parameters = action.get("parameters").unwrap_or(&Value::Null);
            let title = said(parameters, "display_text").unwrap_or_default();
            let _ = writeln!(lines, "{title}: {}", said(parameters, "url").unwrap_or_default());
        }
        _ => {
            let details = "a web session can say only buttons, lists and links as a text, and no other interactive message";
            return Err(DoorRefusal::because(131_051, details));
        }
    }
    Ok(lines)
}

fn entries<'a>(of: &'a Value, name: &str) -> impl Iterator<Item = &'a Value> {
    of.get(name).and_then(Value::as_array).into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn buttons_and_lists_become_numbered_options() {
        let buttons = json!({
            "type": "button", "header": {"type": "text", "text": "Sol"}, "body": {"text": "Which one?"}, "footer": {"text": "Until nine"},
            "action": {"buttons": [{"type": "reply", "reply": {"id": "a", "title": "Small"}}, {"type": "reply", "reply": {"id": "b", "title": "Large"}}]},
        });
        let text = |payload: &Value| of(payload).unwrap().fields["message"].as_str().unwrap().to_owned();
        assert_eq!(text(&buttons), "*Sol*\n\nWhich one?\n\n1. Small\n2. Large\n\n_Until nine_");
        let list = json!({
            "type": "list", "body": {"text": "Menu"},
            "action": {"button": "Open", "sections": [
                {"title": "Hot", "rows": [{"id": "1", "title": "Tea", "description": "green"}]},
                {"title": "Cold", "rows": [{"id": "2", "title": "Water"}]},
            ]},
        });
        assert_eq!(text(&list), "Menu\n\n*Hot*\n1. Tea: green\n*Cold*\n2. Water");
    }

    #[test]
    fn a_file_at_the_head_carries_the_text_and_what_no_text_can_say_is_refused() {
        let picture = json!({
            "type": "button", "header": {"type": "image", "image": {"link": "https://a.example/b.png"}}, "body": {"text": "This?"},
            "action": {"buttons": [{"type": "reply", "reply": {"id": "a", "title": "Yes"}}]},
        });
        let rendered = of(&picture).unwrap();
        assert_eq!(rendered.kind, "image");
        assert_eq!(rendered.fields["caption"], "This?\n\n1. Yes");
        assert!(of(&json!({"type": "flow", "body": {"text": "x"}})).is_err());
        assert!(of(&json!({"type": "button"})).is_err());
    }
}
