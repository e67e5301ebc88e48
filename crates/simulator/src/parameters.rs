//! Checks whether a template send has the parameters that its template needs.

use std::collections::HashSet;

use serde_json::Value;

use super::error::GraphError;
use super::template::{Button, Header, Shape};

/// The longest body after its parameters are filled in. The provider names no number; this is the
/// bound of a text message.
const LONGEST_BODY: usize = 4_096;

/// The kinds of buttons that a send may name.
const SUB_TYPES: [&str; 9] = [
    "url",
    "quick_reply",
    "copy_code",
    "flow",
    "catalog",
    "mpm",
    "order_details",
    "phone_number",
    "voice_call",
];

/// Checks the `components` of a send against the template's shape.
pub(super) fn check(shape: &Shape, components: &[Value]) -> Result<(), GraphError> {
    check_header(&shape.header, shape.is_named, parameters(components, "header"))?;
    check_body(shape, parameters(components, "body"))?;
    check_buttons(&shape.buttons, components)?;
    if shape.has_deadline {
        let offer = parameters(components, "limited_time_offer").first();
        let end = offer.map(|offer| &offer["limited_time_offer"]["expiration_time_ms"]);
        if !end.is_some_and(Value::is_i64) {
            return Err(GraphError::because(131_009, "limited_time_offer: expiration_time_ms is missing"));
        }
    }
    check_cards(&shape.cards, components)
}

/// Each card of the template must be there.
fn check_cards(cards: &[Shape], components: &[Value]) -> Result<(), GraphError> {
    if cards.is_empty() {
        return Ok(());
    }
    let carousel = components.iter().find(|part| kind(part, "type").eq_ignore_ascii_case("carousel"));
    let given = carousel.and_then(|part| part["cards"].as_array()).map_or(&[][..], Vec::as_slice);
    if given.len() != cards.len() {
        let details = format!("carousel: {} cards given, {} expected", given.len(), cards.len());
        return Err(GraphError::because(131_009, details));
    }
    for (index, shape) in cards.iter().enumerate() {
        let Some(card) = given.iter().find(|card| card["card_index"] == index) else {
            return Err(GraphError::because(131_009, format!("carousel: the card {index} is missing")));
        };
        check(shape, card["components"].as_array().map_or(&[][..], Vec::as_slice))?;
    }
    Ok(())
}

fn kind<'a>(value: &'a Value, name: &str) -> &'a str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

fn parameters<'a>(components: &'a [Value], component: &str) -> &'a [Value] {
    let found = components.iter().find(|part| kind(part, "type").eq_ignore_ascii_case(component));
    found.and_then(|part| part.get("parameters")).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn count(component: &str, given: usize, expected: usize) -> Result<(), GraphError> {
    if given == expected {
        return Ok(());
    }
    Err(GraphError::because(
        132_000,
        format!(
            "{component}: number of localizable_params ({given}) does not match the expected number of params ({expected})"
        ),
    ))
}

fn check_header(header: &Header, is_named: bool, given: &[Value]) -> Result<(), GraphError> {
    match header {
        Header::Fixed => count("header", given.len(), 0),
        Header::Text(names) => check_texts("header", names, is_named, given),
        Header::Media(media) if media == "product" => {
            let is_product = |parameter: &Value| parameter["product"]["product_retailer_id"].is_string();
            if given.len() == 1 && given.iter().all(is_product) {
                return Ok(());
            }
            Err(GraphError::because(131_009, "header: expected one product"))
        }
        Header::Media(media) => {
            let received = given.first().map_or("nothing", |parameter| kind(parameter, "type"));
            let is_complete = given.first().is_some_and(|parameter| {
                media == "location"
                    || ["link", "id"].iter().any(|key| parameter[media.as_str()][*key].is_string())
            });
            if given.len() == 1 && received.eq_ignore_ascii_case(media) && is_complete {
                return Ok(());
            }
            let details = format!("header: expected one {media} with a link or an id, received {received}");
            Err(GraphError::because(132_012, details))
        }
    }
}

fn check_body(shape: &Shape, given: &[Value]) -> Result<(), GraphError> {
    check_texts("body", &shape.body, shape.is_named, given)?;
    let filled: usize = given.iter().map(|parameter| kind(parameter, "text").chars().count()).sum();
    if shape.body_length + filled > LONGEST_BODY {
        return Err(GraphError::because(132_005, format!("body: longer than {LONGEST_BODY} characters")));
    }
    Ok(())
}

fn check_texts(component: &str, names: &[String], is_named: bool, given: &[Value]) -> Result<(), GraphError> {
    count(component, given.len(), names.len())?;
    let mismatch = |details: String| Err(GraphError::because(132_012, format!("{component}: {details}")));
    let mut seen = HashSet::new();
    for parameter in given {
        match kind(parameter, "type").to_ascii_lowercase().as_str() {
            "text" => {
                let Some(text) = parameter.get("text").and_then(Value::as_str) else {
                    return mismatch("a text parameter has no text".to_owned());
                };
                if text.is_empty() || text.contains(['\n', '\t']) || text.contains("     ") {
                    return mismatch(
                        "a parameter is empty, or has a line break, a tab or five spaces in a row".to_owned(),
                    );
                }
            }
            "currency" | "date_time" if component == "body" => {}
            other => return mismatch(format!("expected text, received {other}")),
        }
        let name = parameter.get("parameter_name").and_then(Value::as_str);
        match (is_named, name) {
            (true, Some(name)) if !seen.insert(name) => return mismatch(format!("{name} is given twice")),
            (true, Some(name)) if names.iter().any(|known| known == name) => {}
            (true, Some(name)) => return mismatch(format!("the template has no parameter {name}")),
            (true, None) => return mismatch("parameter_name is missing".to_owned()),
            (false, Some(name)) => return mismatch(format!("parameter_name {name} of a numbered parameter")),
            (false, None) => {}
        }
    }
    Ok(())
}

fn check_buttons(buttons: &[Button], components: &[Value]) -> Result<(), GraphError> {
    let given = || components.iter().filter(|part| kind(part, "type").eq_ignore_ascii_case("button"));
    for component in given() {
        let sub_type = kind(component, "sub_type").to_ascii_lowercase();
        if !SUB_TYPES.contains(&sub_type.as_str()) {
            let details = format!("button: sub_type must be one of {}", SUB_TYPES.join(", "));
            return Err(GraphError::because(131_009, details));
        }
        let Some(button) = position(component).and_then(|index| buttons.get(index)) else {
            return Err(GraphError::because(132_000, "button: the template has no button at this index"));
        };
        let given = component.get("parameters").and_then(Value::as_array).map_or(0, Vec::len);
        match button {
            Button::Plain => count("button", given, 0)?,
            Button::QuickReply if sub_type != "quick_reply" => {
                return Err(GraphError::because(132_012, "button: expected quick_reply"));
            }
            Button::VoiceCall if sub_type != "voice_call" => {
                return Err(GraphError::because(132_012, "button: expected voice_call"));
            }
            Button::QuickReply if given > 1 => count("button", given, 1)?,
            _ => {}
        }
    }
    for (index, button) in buttons.iter().enumerate() {
        let wanted = match button {
            Button::Fixed | Button::QuickReply | Button::Plain | Button::VoiceCall => continue,
            Button::Url => ("url", "text"),
            Button::CopyCode => ("copy_code", "coupon_code"),
            Button::Flow => ("flow", "action"),
            Button::Catalog => ("catalog", "action"),
            Button::ProductList => ("mpm", "action"),
        };
        let Some(component) = given().find(|component| position(component) == Some(index)) else {
            let code = if wanted.1 == "action" { 131_009 } else { 131_008 };
            return Err(GraphError::because(code, format!("button at index {index} requires a parameter")));
        };
        let parameters = component.get("parameters").and_then(Value::as_array);
        if parameters.is_none() && matches!(button, Button::Flow | Button::Catalog) {
            continue;
        }
        let parameters = parameters.map_or(&[][..], Vec::as_slice);
        count("button", parameters.len(), 1)?;
        let has_value = |parameter: &Value| match wanted.1 {
            "action" => parameter["action"].is_object(),
            text => !kind(parameter, text).is_empty(),
        };
        let is_right =
            kind(component, "sub_type").eq_ignore_ascii_case(wanted.0) && parameters.iter().all(has_value);
        if !is_right {
            let details = format!("button at index {index}: expected {} with {}", wanted.0, wanted.1);
            return Err(GraphError::because(132_012, details));
        }
    }
    Ok(())
}

/// The index, which clients write as text or as a number.
fn position(component: &Value) -> Option<usize> {
    let index = component.get("index")?;
    let number = index.as_u64().or_else(|| index.as_str()?.parse().ok())?;
    usize::try_from(number).ok()
}
