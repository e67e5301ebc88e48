//! The content of the messages: everything of a send's body but its recipients.

use std::fmt::Write as _;

use anyhow::{Context as _, bail};
use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::client::Service;

/// The text of messages without content of their own.
const TEXT: &str = "This is a load test; no answer is needed.";
/// An address that the simulated provider does not fetch.
const IMAGE: &str = "https://example.com/loadtest.jpg";
/// The simulator's template with two variables.
const TEMPLATE: &str = "order_update";
/// Fields of a send that say who gets it. The test sets them.
const RECIPIENTS: [&str; 7] = [
    "phone_number",
    "contact_tag_id",
    "without_contact_tag_id",
    "segment_id",
    "recipients",
    "send_at",
    "expires_at",
];

/// What is sent.
#[derive(Debug, Clone, PartialEq)]
pub enum Content {
    /// A text.
    Text,
    /// An image by its address, with a caption.
    Image,
    /// A template with fixed values.
    Template,
    /// The same template, with fields of each contact as its values.
    Fields,
    /// The body of a send without recipients.
    Given(Map<String, Value>),
}

impl Content {
    /// The body of a send as content.
    ///
    /// # Errors
    ///
    /// A sentence when it is no JSON object, has no `type`, or says who gets it.
    pub fn given(body: &str) -> Result<Self, String> {
        let body: Map<String, Value> = serde_json::from_str(body).map_err(|error| {
            format!("the body of a send is a JSON object such as {{\"type\": …}}: {error}")
        })?;
        if !body.get("type").is_some_and(Value::is_string) {
            return Err("the body of a send needs a `type`, such as \"text\"".to_owned());
        }
        match RECIPIENTS.iter().find(|field| body.contains_key(**field)) {
            Some(field) => {
                Err(format!("leave `{field}` out of the body: the test sets the recipients and the time"))
            }
            None => Ok(Self::Given(body)),
        }
    }

    /// The word for reports.
    pub fn word(&self) -> String {
        match self {
            Self::Text => "text".to_owned(),
            Self::Image => "image".to_owned(),
            Self::Template => "template".to_owned(),
            Self::Fields => "template with contact fields".to_owned(),
            Self::Given(body) => format!("{}, of a given body", body["type"].as_str().unwrap_or_default()),
        }
    }

    /// The body for this channel, without recipients, with placeholders for this many values of each. A template is looked
    /// up among the channel's.
    pub(super) async fn body(
        &self,
        service: &Service,
        channel: Uuid,
        values: u8,
    ) -> anyhow::Result<Map<String, Value>> {
        let text = if values > 0 { format!("{TEXT} {}", placeholders(values)) } else { TEXT.to_owned() };
        let body = match self {
            Self::Text => json!({ "type": "text", "message": text }),
            Self::Image => json!({ "type": "image", "link": IMAGE, "caption": text }),
            Self::Given(body) => return Ok(body.clone()),
            Self::Template | Self::Fields => {
                let id = service.template(channel, TEMPLATE).await.with_context(|| {
                    format!(
                        "the channel has no approved template `{TEMPLATE}`; give the body of a send with one of its own \
                         templates with --body FILE"
                    )
                })?;
                let name = if *self == Self::Fields { "{{contact.first_name|friend}}" } else { "Priya" };
                let order = if values > 0 { placeholders(values) } else { "A-1042".to_owned() };
                let parameters = [name, order.as_str()].map(|text| json!({ "type": "text", "text": text }));
                json!({
                    "type": "template", "template_id": id, "contact_fields": *self == Self::Fields,
                    "components": [{ "type": "body", "parameters": parameters }],
                })
            }
        };
        match body {
            Value::Object(body) => Ok(body),
            _ => bail!("the content is no object"),
        }
    }
}

/// A text, as content.
pub(super) fn plain() -> Map<String, Value> {
    Map::from_iter([("type".to_owned(), "text".into()), ("message".to_owned(), TEXT.into())])
}

/// What stands for these values in a text.
fn placeholders(values: u8) -> String {
    (1..=values).map(|value| format!("{{{{value.v{value}}}}}")).collect::<Vec<_>>().join(" ")
}

/// The body of a send to one number, who has this many values.
pub(super) fn to_number(content: &Map<String, Value>, number: &str, values: u8) -> Vec<u8> {
    match number.trim_start_matches('+').parse() {
        Ok(number) if values > 0 => to_numbers(content, &[number], values),
        _ => with(content, "phone_number", &Value::from(number).to_string()),
    }
}

/// The body of a send to everybody with a tag.
pub(super) fn to_tag(content: &Map<String, Value>, tag: Uuid) -> Vec<u8> {
    with(content, "contact_tag_id", &format!("\"{tag}\""))
}

/// The body of a send to these numbers, each of whom has this many values.
pub(super) fn to_numbers(content: &Map<String, Value>, numbers: &[u64], values: u8) -> Vec<u8> {
    let mut recipients = "[".to_owned();
    for (place, number) in numbers.iter().enumerate() {
        let comma = if place > 0 { "," } else { "" };
        // Writing to a string does not fail.
        let _ = write!(recipients, "{comma}{{\"phone_number\":\"+{number}\",\"values\":{{");
        for value in 1..=values {
            let comma = if value > 1 { "," } else { "" };
            let _ = write!(recipients, "{comma}\"v{value}\":\"A-{number}-{value}\"");
        }
        recipients.push_str("}}");
    }
    recipients.push(']');
    with(content, "recipients", &recipients)
}

/// The content with one field more, whose value is JSON already.
fn with(content: &Map<String, Value>, name: &str, value: &str) -> Vec<u8> {
    let mut body = Value::Object(content.clone()).to_string();
    // A content has fields: the last character closes the object.
    body.pop();
    let _ = write!(body, ",\"{name}\":{value}}}");
    body.into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_number_has_values_of_its_own() {
        let body = |bytes: Vec<u8>| serde_json::from_slice::<Value>(&bytes).unwrap();
        let values = json!([
            { "phone_number": "+9991", "values": { "v1": "A-9991-1", "v2": "A-9991-2" } },
            { "phone_number": "+9992", "values": { "v1": "A-9992-1", "v2": "A-9992-2" } },
        ]);
        let several = body(to_numbers(&plain(), &[9991, 9992], 2));
        assert_eq!((&several["type"], &several["recipients"]), (&json!("text"), &values));
        assert_eq!(body(to_number(&plain(), "+9991", 2))["recipients"], json!([values[0]]));
        assert_eq!(body(to_number(&plain(), "+9991", 0))["phone_number"], "+9991");
        assert_eq!(body(to_tag(&plain(), Uuid::nil()))["contact_tag_id"], json!(Uuid::nil()));
        assert_eq!(placeholders(2), "{{value.v1}} {{value.v2}}");
    }

    #[test]
    fn a_given_body_has_a_type_and_no_recipients() {
        let given = Content::given(r#"{"type": "location", "latitude": 1}"#).unwrap();
        assert_eq!(given.word(), "location, of a given body");
        for (wrong, words) in [
            ("[]", "JSON object"),
            ("{}", "`type`"),
            (r#"{"type": "text", "phone_number": "1"}"#, "`phone_number`"),
        ] {
            let fault = Content::given(wrong).unwrap_err();
            assert!(fault.contains(words), "{wrong}: {fault}");
        }
    }
}
