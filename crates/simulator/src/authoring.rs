//! The provider's rules for the words of a template, as far as programs meet them: lengths, variables with their examples,
//! buttons, and headers whose sample was uploaded.

use serde_json::Value;

use super::body::length;
use super::error::GraphError;
use super::template::variables;
use super::upload::HANDLE;

/// The most characters of header and footer, of the text, and of a button.
const LINE: usize = 60;
const BODY: usize = 1_024;
const BUTTON: usize = 25;
/// The most buttons of a template.
const BUTTONS: usize = 10;

/// Checks the parts of a template of this category.
pub(super) fn check(components: &Value, category: &str) -> Result<(), GraphError> {
    let mut has_body = false;
    for part in components.as_array().into_iter().flatten() {
        match upper(part, "type").as_str() {
            "HEADER" => header(part)?,
            "BODY" => {
                has_body = true;
                // The provider writes the text of a code itself.
                if category != "AUTHENTICATION" {
                    body(part)?;
                }
            }
            "FOOTER" => length("footer", text(part), LINE)?,
            "BUTTONS" => buttons(part)?,
            _ => {}
        }
    }
    if has_body { Ok(()) } else { Err(GraphError::because(100, "components need a BODY")) }
}

fn header(part: &Value) -> Result<(), GraphError> {
    let format = upper(part, "format");
    if format == "TEXT" {
        length("header", text(part), LINE)?;
        let count = variables(text(part)).len();
        if count > 1 {
            return Err(GraphError::because(100, "a header has at most one variable"));
        }
        return examples(part, "header_text", count);
    }
    if !["IMAGE", "VIDEO", "DOCUMENT"].contains(&format.as_str()) {
        return Ok(());
    }
    let handle = part["example"]["header_handle"][0].as_str().unwrap_or_default();
    if handle.starts_with(HANDLE) {
        return Ok(());
    }
    let details = "example.header_handle must be the handle of an uploaded sample";
    Err(GraphError::because(100, details).with_subcode(2_388_273))
}

fn body(part: &Value) -> Result<(), GraphError> {
    let said = text(part).trim();
    if said.is_empty() {
        return Err(GraphError::because(100, "the text of the BODY is missing"));
    }
    length("body", said, BODY)?;
    if said.starts_with("{{") || said.ends_with("}}") {
        let details = "variables cannot be at the start or the end of the text";
        return Err(GraphError::because(100, details).with_subcode(2_388_299));
    }
    examples(part, "body_text", variables(said).len())
}

/// Each variable needs an example: in order, in a row of their own, or by name.
fn examples(part: &Value, field: &str, wanted: usize) -> Result<(), GraphError> {
    let example = &part["example"];
    let named = example[format!("{field}_named_params")].as_array();
    let row = example[field].as_array();
    let row = row.and_then(|row| row.first()).and_then(Value::as_array).or(row);
    let given = named.or(row).map_or(0, Vec::len);
    if given >= wanted {
        return Ok(());
    }
    let details = format!("{wanted} variables need an example each, and {given} are given");
    Err(GraphError::because(100, details).with_subcode(2_388_043))
}

fn buttons(part: &Value) -> Result<(), GraphError> {
    let buttons = part["buttons"].as_array().map_or(&[][..], Vec::as_slice);
    if buttons.is_empty() || buttons.len() > BUTTONS {
        return Err(GraphError::because(100, format!("a template has 1 to {BUTTONS} buttons")));
    }
    for button in buttons {
        length("button", text(button), BUTTON)?;
        let is_variable = upper(button, "type") == "URL"
            && !variables(button["url"].as_str().unwrap_or_default()).is_empty();
        if is_variable && button["example"].as_array().is_none_or(Vec::is_empty) {
            return Err(GraphError::because(100, "the variable of a button needs an example"));
        }
    }
    Ok(())
}

fn text(part: &Value) -> &str {
    part["text"].as_str().unwrap_or_default()
}

fn upper(part: &Value, name: &str) -> String {
    part[name].as_str().unwrap_or_default().to_ascii_uppercase()
}
