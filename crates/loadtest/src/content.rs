//! The content of the messages: everything of a send's body but its recipients.

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

    /// The body for this channel, without recipients. A template is looked up among the channel's.
    pub(super) async fn body(&self, service: &Service, channel: Uuid) -> anyhow::Result<Map<String, Value>> {
        let body = match self {
            Self::Text => json!({ "type": "text", "message": TEXT }),
            Self::Image => json!({ "type": "image", "link": IMAGE, "caption": TEXT }),
            Self::Given(body) => return Ok(body.clone()),
            Self::Template | Self::Fields => {
                let id = service.template(channel, TEMPLATE).await.with_context(|| {
                    format!(
                        "the channel has no approved template `{TEMPLATE}`; give the body of a send with one of its own \
                         templates with --body FILE"
                    )
                })?;
                let name = if *self == Self::Fields { "{{contact.first_name|friend}}" } else { "Priya" };
                let parameters = [name, "A-1042"].map(|text| json!({ "type": "text", "text": text }));
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

/// The body of a send to one number.
pub(super) fn to_number(content: &Map<String, Value>, number: &str) -> Value {
    with(content, "phone_number", number.into())
}

/// The body of a send to everybody with a tag.
pub(super) fn to_tag(content: &Map<String, Value>, tag: Uuid) -> Value {
    with(content, "contact_tag_id", tag.to_string().into())
}

fn with(content: &Map<String, Value>, name: &str, value: Value) -> Value {
    let mut body = content.clone();
    body.insert(name.to_owned(), value);
    Value::Object(body)
}

#[cfg(test)]
mod tests {
    use super::*;

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
