//! Request bodies: rendered once per send, completed per message.

use serde_json::{Map, Value, json};

use domain::content::Content;
use domain::message::Key;
use domain::phone::PhoneNumber;
use domain::template::{Card, Component, Media, Parameter, Source};

/// The body of a send without the two fields that differ between messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rendered(Vec<u8>);

impl Rendered {
    /// Renders the part that all messages of a send share.
    pub fn new(content: &Content) -> Self {
        Self::quoting(content, None)
    }

    /// The same for a message that answers another one, by the provider's id.
    pub fn quoting(content: &Content, quotes: Option<&str>) -> Self {
        let mut fields = Map::new();
        if let Some(id) = quotes {
            fields.insert("context".to_owned(), json!({ "message_id": id }));
        }
        fields.insert("messaging_product".to_owned(), "whatsapp".into());
        fields.insert("recipient_type".to_owned(), "individual".into());
        fields.insert("type".to_owned(), content.kind().as_str().into());
        fields.insert(content.kind().as_str().to_owned(), object(content));
        let mut bytes = Value::Object(fields).to_string().into_bytes();
        bytes.pop();
        Self(bytes)
    }

    /// The body of one message. The number always has its plus sign: without it, the provider adds the
    /// sender's own country code.
    pub fn message(&self, to: PhoneNumber, key: Key) -> Vec<u8> {
        use std::io::Write as _;
        let mut bytes = Vec::with_capacity(self.0.len() + 112);
        bytes.extend_from_slice(&self.0);
        // Writing into a vector cannot fail.
        let _ = write!(bytes, r#","to":"+{to}","biz_opaque_callback_data":"{key}"}}"#);
        bytes
    }
}

/// The object under the content's type.
fn object(content: &Content) -> Value {
    match content {
        Content::Text { body, preview_url } => {
            json!({ "body": body, "preview_url": preview_url.unwrap_or_else(|| body.contains("://")) })
        }
        Content::Image { link, caption } | Content::Video { link, caption } => {
            with(json!({ "link": link }), "caption", caption.as_deref())
        }
        Content::Audio { link, voice: None } => json!({ "link": link }),
        Content::Audio { link, voice: Some(voice) } => json!({ "link": link, "voice": voice }),
        Content::Document { link, caption, filename } => with(
            with(json!({ "link": link }), "caption", caption.as_deref()),
            "filename",
            filename.as_deref(),
        ),
        Content::Template { name, language, components, contact_fields: _ } => {
            let components: Vec<_> = components.iter().map(component).collect();
            let mut template = json!({ "name": name, "language": { "code": language } });
            if !components.is_empty() {
                template["components"] = components.into();
            }
            template
        }
        Content::Interactive { interactive } => interactive.clone(),
        Content::Sticker { link } => json!({ "link": link }),
        Content::Location { location } => json!(location),
        Content::Contacts { contacts } => json!(contacts),
        Content::Reaction { reaction } => {
            json!({ "message_id": reaction.message_id, "emoji": reaction.emoji })
        }
    }
}

fn component(component: &Component) -> Value {
    let all = |parameters: &[Parameter]| parameters.iter().map(parameter).collect::<Vec<_>>();
    match component {
        Component::Header { parameters } => json!({ "type": "header", "parameters": all(parameters) }),
        Component::Body { parameters } => json!({ "type": "body", "parameters": all(parameters) }),
        Component::Button { sub_type, index, parameters } => {
            let mut button = json!({ "type": "button", "sub_type": sub_type, "index": index.to_string() });
            // The provider refuses an empty array of a button that needs no parameters.
            if !parameters.is_empty() {
                button["parameters"] = all(parameters).into();
            }
            button
        }
        Component::Carousel { cards } => {
            json!({ "type": "carousel", "cards": cards.iter().map(card).collect::<Vec<_>>() })
        }
        Component::LimitedTimeOffer { parameters } => {
            json!({ "type": "limited_time_offer", "parameters": all(parameters) })
        }
        Component::Other(value) => value.clone(),
    }
}

fn card(card: &Card) -> Value {
    let Card { card_index, components } = card;
    json!({ "card_index": card_index, "components": components.iter().map(component).collect::<Vec<_>>() })
}

fn parameter(parameter: &Parameter) -> Value {
    match parameter {
        Parameter::Text { text, parameter_name } => {
            with(json!({ "type": "text", "text": text }), "parameter_name", parameter_name.as_deref())
        }
        Parameter::Currency { currency, parameter_name } => with(
            json!({ "type": "currency", "currency": currency }),
            "parameter_name",
            parameter_name.as_deref(),
        ),
        Parameter::DateTime { date_time, parameter_name } => with(
            json!({ "type": "date_time", "date_time": date_time }),
            "parameter_name",
            parameter_name.as_deref(),
        ),
        Parameter::Image(file) => json!({ "type": "image", "image": media(file) }),
        Parameter::Video(file) => json!({ "type": "video", "video": media(file) }),
        Parameter::Document(file) => json!({ "type": "document", "document": media(file) }),
        Parameter::Location { location } => json!({ "type": "location", "location": location }),
        Parameter::Payload { payload } => json!({ "type": "payload", "payload": payload }),
        Parameter::CouponCode { coupon_code } => json!({ "type": "coupon_code", "coupon_code": coupon_code }),
        Parameter::Other(value) => value.clone(),
    }
}

fn media(file: &Media) -> Value {
    let source = match &file.source {
        Source::Link(link) => json!({ "link": link }),
        Source::Id(id) => json!({ "id": id }),
    };
    with(source, "filename", file.filename.as_deref())
}

/// `object` with one more field, when there is a value for it.
fn with(mut object: Value, field: &str, value: Option<&str>) -> Value {
    if let Some(value) = value {
        object[field] = value.into();
    }
    object
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    fn rendered(content: &Content) -> Value {
        let to = PhoneNumber::parse("5511988887777").unwrap();
        let key = Key { send_id: Uuid::from_u128(0xabc), ordinal: 41 };
        serde_json::from_slice(&Rendered::new(content).message(to, key)).unwrap()
    }

    #[test]
    fn a_text_carries_recipient_and_key() {
        assert_eq!(
            rendered(&Content::Text { body: "olá \"you\"".to_owned(), preview_url: None }),
            json!({
                "messaging_product": "whatsapp",
                "recipient_type": "individual",
                "type": "text",
                "text": { "body": "olá \"you\"", "preview_url": false },
                "to": "+5511988887777",
                "biz_opaque_callback_data": "00000000000000000000000000000abc.41",
            })
        );
    }

    #[test]
    fn contents_of_one_structure_are_given_as_they_are() {
        for stored in [
            json!({"type": "sticker", "link": "https://e.com/a.webp"}),
            json!({"type": "location", "location": {"latitude": -23.5613, "longitude": 0.0, "name": "Sol"}}),
            json!({"type": "contacts", "contacts": [{"name": {"formatted_name": "Ana", "first_name": "Ana"}}]}),
            json!({"type": "reaction", "reaction": {"message_id": "wamid.x", "emoji": ""}}),
        ] {
            let content: Content = serde_json::from_value(stored.clone()).unwrap();
            let kind = content.kind().as_str();
            let object =
                if kind == "sticker" { json!({"link": stored["link"]}) } else { stored[kind].clone() };
            let body = rendered(&content);
            assert_eq!((&body["type"], &body[kind]), (&json!(kind), &object));
        }
        let content =
            json!({"type": "reaction", "reaction": {"message_id": "a", "emoji": "👍", "from_me": true}});
        let reaction = rendered(&serde_json::from_value(content).unwrap())["reaction"].clone();
        assert_eq!(
            reaction,
            json!({"message_id": "a", "emoji": "👍"}),
            "what the provider does not know is left out"
        );
    }

    #[test]
    fn a_template_is_nested_as_the_provider_wants_it() {
        let picture = Media { source: Source::Link("https://e.com/a.png".to_owned()), filename: None };
        let text = Parameter::Text { text: "Ana".to_owned(), parameter_name: None };
        let content = Content::Template {
            name: "promo".to_owned(),
            language: "pt_BR".to_owned(),
            components: vec![
                Component::Header { parameters: vec![Parameter::Image(picture)] },
                Component::Body { parameters: vec![text.clone()] },
                Component::Button { sub_type: "url".to_owned(), index: 0, parameters: vec![text] },
            ],
            contact_fields: false,
        };
        assert_eq!(
            rendered(&content)["template"],
            json!({
                "name": "promo",
                "language": { "code": "pt_BR" },
                "components": [
                    { "type": "header", "parameters": [{ "type": "image", "image": { "link": "https://e.com/a.png" } }] },
                    { "type": "body", "parameters": [{ "type": "text", "text": "Ana" }] },
                    { "type": "button", "sub_type": "url", "index": "0", "parameters": [{ "type": "text", "text": "Ana" }] },
                ],
            })
        );
    }

    #[test]
    fn a_template_without_variables_has_no_components() {
        let content = Content::Template {
            name: "hello_world".to_owned(),
            language: "en_US".to_owned(),
            components: Vec::new(),
            contact_fields: false,
        };
        assert_eq!(
            rendered(&content)["template"],
            json!({ "name": "hello_world", "language": { "code": "en_US" } })
        );
    }
}
