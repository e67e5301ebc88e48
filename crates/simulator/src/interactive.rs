//! The provider's rules for interactive messages.

use std::cell::RefCell;
use std::collections::HashSet;

use serde_json::Value;

use super::body::{length, required};
use super::error::GraphError;

/// For how many minutes a call button can be used: up to thirty days.
const CALL_MINUTES: std::ops::RangeInclusive<u64> = 1..=43_200;

/// Checks the `interactive` object of a send. Five types are checked field by field; the provider's other
/// types are accepted. Some programs write the action as JSON in a text.
pub(super) fn check(content: &Value) -> Result<(), GraphError> {
    let written = content["action"].as_str().and_then(|text| serde_json::from_str::<Value>(text).ok());
    let action = written.as_ref().unwrap_or(&content["action"]);
    if let Some(footer) = content["footer"]["text"].as_str() {
        length("interactive.footer.text", footer, 60)?;
    }
    if let Some(header) = content["header"]["text"].as_str() {
        length("interactive.header.text", header, 60)?;
    }
    if content["header"]["type"] == "text" {
        required(&content["header"], "interactive.header", "text")?;
    }
    match required(content, "interactive", "type")? {
        "button" => {
            length("interactive.body.text", required(&content["body"], "interactive.body", "text")?, 1_024)?;
            check_buttons(action)
        }
        "list" => {
            length("interactive.body.text", required(&content["body"], "interactive.body", "text")?, 4_096)?;
            length("interactive.action.button", required(action, "interactive.action", "button")?, 20)?;
            let ids = RefCell::new(HashSet::new());
            check_sections(action, "rows", 10, |row| {
                unique_id(&mut ids.borrow_mut(), "row.id", required(row, "row", "id")?, 200)?;
                length("row.title", required(row, "row", "title")?, 24)?;
                length("row.description", row["description"].as_str().unwrap_or_default(), 72)
            })
        }
        "product_list" => {
            required(&content["header"], "interactive.header", "text")?;
            required(&content["body"], "interactive.body", "text")?;
            required(action, "interactive.action", "catalog_id")?;
            check_sections(action, "product_items", 30, |item| {
                required(item, "product_item", "product_retailer_id").map(|_| ())
            })
        }
        "product" => {
            if content.get("header").is_some() {
                return Err(GraphError::because(100, "interactive.header is not allowed for product"));
            }
            required(action, "interactive.action", "catalog_id")?;
            required(action, "interactive.action", "product_retailer_id").map(|_| ())
        }
        "voice_call" => {
            length("interactive.body.text", required(&content["body"], "interactive.body", "text")?, 1_024)?;
            if action["name"] != "voice_call" {
                return Err(GraphError::because(131_009, "interactive.action.name must be voice_call"));
            }
            check_call(&action["parameters"])
        }
        "catalog_message"
        | "flow"
        | "cta_url"
        | "location_request_message"
        | "call_permission_request"
        | "contact_request"
        | "order_details"
        | "order_status"
        | "address_message" => Ok(()),
        other => Err(GraphError::because(131_009, format!("interactive.type {other} is not known"))),
    }
}

/// The text of a call button, and for how many minutes it can be used.
fn check_call(parameters: &Value) -> Result<(), GraphError> {
    length(
        "interactive.action.parameters.display_text",
        parameters["display_text"].as_str().unwrap_or_default(),
        20,
    )?;
    let minutes = &parameters["ttl_minutes"];
    if !minutes.is_null() && !minutes.as_u64().is_some_and(|minutes| CALL_MINUTES.contains(&minutes)) {
        let details = format!("ttl_minutes must be {} to {}", CALL_MINUTES.start(), CALL_MINUTES.end());
        return Err(GraphError::because(131_009, details));
    }
    Ok(())
}

fn check_buttons(action: &Value) -> Result<(), GraphError> {
    let buttons = action["buttons"].as_array().map_or(&[][..], Vec::as_slice);
    if !(1..=3).contains(&buttons.len()) {
        return Err(GraphError::because(131_009, "interactive.action.buttons must have 1 to 3 entries"));
    }
    let (mut titles, mut ids) = (HashSet::new(), HashSet::new());
    for button in buttons {
        let reply = &button["reply"];
        if button["type"] != "reply" {
            return Err(GraphError::because(131_009, "interactive buttons must have the type reply"));
        }
        unique_id(&mut ids, "button.reply.id", required(reply, "button.reply", "id")?, 256)?;
        let title = required(reply, "button.reply", "title")?;
        length("button.reply.title", title, 20)?;
        if !titles.insert(title) {
            return Err(GraphError::because(131_009, "button titles must differ"));
        }
    }
    Ok(())
}

fn unique_id(known: &mut HashSet<String>, path: &str, id: &str, most: usize) -> Result<(), GraphError> {
    length(path, id, most)?;
    if id.trim() != id || !known.insert(id.to_owned()) {
        return Err(GraphError::because(
            131_009,
            format!("{path} must be unique, without blanks at its edges"),
        ));
    }
    Ok(())
}

fn check_sections(
    action: &Value,
    entries: &str,
    most: usize,
    check_entry: impl Fn(&Value) -> Result<(), GraphError>,
) -> Result<(), GraphError> {
    let sections = action["sections"].as_array().map_or(&[][..], Vec::as_slice);
    if !(1..=10).contains(&sections.len()) {
        return Err(GraphError::because(131_009, "interactive.action.sections must have 1 to 10 entries"));
    }
    let mut all = 0;
    for section in sections {
        length("section.title", section["title"].as_str().unwrap_or_default(), 24)?;
        if sections.len() > 1 {
            required(section, "section", "title")?;
        }
        let listed = section[entries].as_array().map_or(&[][..], Vec::as_slice);
        all += listed.len();
        listed.iter().try_for_each(&check_entry)?;
        if listed.is_empty() {
            return Err(GraphError::because(131_009, format!("a section has no {entries}")));
        }
    }
    if all > most {
        return Err(GraphError::because(131_009, format!("more than {most} {entries} in all sections")));
    }
    Ok(())
}
