//! Templates of web sessions, which become texts.

use serde_json::Value;

use super::component::{Component, Parameter};
use super::shape::{Button, Shape};
use super::{ParameterFormat, Template};
use crate::error::Refusal;

impl Template {
    /// The text that this template becomes with these values: the header in bold, the text, the buttons as lines and the footer
    /// in italics.
    ///
    /// # Errors
    ///
    /// As [`Template::check_components`].
    pub fn text_with(&self, given: &[Component]) -> Result<String, Refusal> {
        self.check_components(given)?;
        let (mut header, mut body): (&[Parameter], &[Parameter]) = (&[], &[]);
        let mut buttons = Vec::new();
        for component in given {
            match component {
                Component::Header { parameters } => header = parameters,
                Component::Body { parameters } => body = parameters,
                Component::Button { index, parameters, .. } => {
                    buttons.push((usize::from(*index), parameters));
                }
                Component::Carousel { .. } | Component::LimitedTimeOffer { .. } | Component::Other(_) => {}
            }
        }
        let mut paragraphs = Vec::new();
        let parts = self.components.as_array().map_or(&[][..], Vec::as_slice);
        let said = |part: &Value| part["text"].as_str().unwrap_or_default().trim().to_owned();
        for wanted in ["HEADER", "BODY", "BUTTONS", "FOOTER"] {
            let is_wanted =
                |part: &&Value| part["type"].as_str().is_some_and(|kind| kind.eq_ignore_ascii_case(wanted));
            let Some(part) = parts.iter().find(is_wanted) else { continue };
            paragraphs.push(match wanted {
                "HEADER" => format!("*{}*", self.filled(&said(part), header)),
                "BODY" => self.filled(&said(part), body),
                "FOOTER" => format!("_{}_", said(part)),
                _ => self.lines(part, &buttons),
            });
        }
        paragraphs.retain(|paragraph| !paragraph.is_empty());
        Ok(paragraphs.join("\n\n"))
    }

    /// The buttons, each on a line: answers with numbers, links and telephone numbers behind their words.
    fn lines(&self, part: &Value, given: &[(usize, &Vec<Parameter>)]) -> String {
        let shapes = Shape::read(self).map(|shape| shape.buttons).unwrap_or_default();
        let (mut lines, mut number) = (Vec::new(), 0);
        for (index, button) in part["buttons"].as_array().into_iter().flatten().enumerate() {
            let text = |name: &str| button[name].as_str().unwrap_or_default();
            let value =
                given.iter().find(|(place, _)| *place == index).and_then(|(_, values)| values.first());
            let value = value.map(wording).unwrap_or_default();
            let line = match button["type"].as_str().unwrap_or_default().to_ascii_uppercase().as_str() {
                "URL" if shapes.get(index) == Some(&Button::Link) => {
                    let (before, _) = text("url").split_once("{{").unwrap_or((text("url"), ""));
                    format!("{}: {before}{value}", text("text"))
                }
                "URL" => format!("{}: {}", text("text"), text("url")),
                "PHONE_NUMBER" => format!("{}: {}", text("text"), text("phone_number")),
                _ => {
                    number += 1;
                    format!("{number}. {}", text("text"))
                }
            };
            lines.push(line);
        }
        lines.join("\n")
    }

    /// A text with its variables filled in.
    fn filled(&self, text: &str, given: &[Parameter]) -> String {
        let value = |name: &str| match self.parameter_format {
            ParameterFormat::Named => given.iter().find(|given| given.wording().flatten() == Some(name)),
            ParameterFormat::Positional => {
                name.parse::<usize>().ok().and_then(|place| given.get(place.checked_sub(1)?))
            }
        };
        let (mut filled, mut rest) = (String::with_capacity(text.len()), text);
        while let Some((before, after)) = rest.split_once("{{") {
            let Some((name, behind)) = after.split_once("}}") else { break };
            filled.push_str(before);
            match value(name.trim()) {
                Some(value) => filled.push_str(wording(value)),
                None => filled.extend(["{{", name, "}}"]),
            }
            rest = behind;
        }
        filled.push_str(rest);
        filled
    }
}

/// The words of a value.
fn wording(value: &Parameter) -> &str {
    match value {
        Parameter::Text { text, .. } => text,
        Parameter::Currency { currency: value, .. } | Parameter::DateTime { date_time: value, .. } => {
            value["fallback_value"].as_str().unwrap_or_default()
        }
        Parameter::Payload { payload } => payload,
        Parameter::CouponCode { coupon_code } => coupon_code,
        Parameter::Image(_)
        | Parameter::Video(_)
        | Parameter::Document(_)
        | Parameter::Location { .. }
        | Parameter::Other(_) => "",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::template::{Category, Status, parse_components};

    #[test]
    fn a_template_becomes_a_text_with_its_values() {
        let mut template = Template {
            id: 1,
            name: "ready".to_owned(),
            language: "en".to_owned(),
            category: Category::Utility,
            status: Status::Approved,
            parameter_format: ParameterFormat::Positional,
            components: json!([
                {"type": "FOOTER", "text": "Until nine"},
                {"type": "HEADER", "format": "TEXT", "text": "Order {{1}}"},
                {"type": "BODY", "text": "Hi {{1}}, {{2}} or {{1}}?"},
                {"type": "BUTTONS", "buttons": [
                    {"type": "QUICK_REPLY", "text": "Yes"}, {"type": "URL", "text": "Track", "url": "https://x.example/{{1}}"},
                    {"type": "PHONE_NUMBER", "text": "Call", "phone_number": "+551199"},
                ]},
            ]),
        };
        let values = |values: Value| parse_components(&values).unwrap();
        let given = values(json!([
            {"type": "header", "parameters": [{"type": "text", "text": "A-1"}]},
            {"type": "body", "parameters": [{"type": "text", "text": "Ana"}, {"type": "text", "text": "Bob"}]},
            {"type": "button", "sub_type": "url", "index": 1, "parameters": [{"type": "text", "text": "7"}]},
        ]));
        assert_eq!(
            template.text_with(&given).unwrap(),
            "*Order A-1*\n\nHi Ana, Bob or Ana?\n\n1. Yes\nTrack: https://x.example/7\nCall: +551199\n\n_Until nine_"
        );
        assert!(template.text_with(&[]).is_err(), "values are missing");
        template.parameter_format = ParameterFormat::Named;
        template.components = json!([{"type": "BODY", "text": "Hi {{who}}!"}]);
        let given = values(json!([
            {"type": "body", "parameters": [{"type": "text", "text": "Ana", "parameter_name": "who"}]},
        ]));
        assert_eq!(template.text_with(&given).unwrap(), "Hi Ana!");
    }
}
