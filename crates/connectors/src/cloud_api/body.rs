//! Request bodies: rendered once per send, completed per message.

use std::ops::Range;

use serde::Serialize;
use serde_json::{Value, json};
use uuid::Uuid;

use super::component::ProvidedAll;
use domain::content::Content;
use domain::link::file_link;
use domain::media;
use domain::message::Key;
use domain::phone::PhoneNumber;
use domain::template::Component;

/// The bytes that most bodies have room in.
const ROOM: usize = 512;

/// The body of a send without the two fields that differ between messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rendered {
    bytes: Vec<u8>,
    /// The files of the library, each with the place of its link in the bytes, in ascending order.
    files: Vec<(Range<usize>, Uuid)>,
}

impl Rendered {
    /// Renders the part that all messages of a send share.
    pub fn new(content: &Content) -> Self {
        Self::quoting(content, None)
    }

    /// The same for a message that answers another one, by the provider's id.
    pub fn quoting(content: &Content, quotes: Option<&str>) -> Self {
        let kind = content.kind().as_str();
        let mut bytes = Vec::with_capacity(ROOM);
        bytes.extend_from_slice(br#"{"messaging_product":"whatsapp","recipient_type":"individual","type":"#);
        write(&mut bytes, kind);
        if let Some(id) = quotes {
            bytes.extend_from_slice(br#","context":"#);
            write(&mut bytes, &json!({ "message_id": id }));
        }
        bytes.push(b',');
        write(&mut bytes, kind);
        bytes.push(b':');
        write_object(&mut bytes, content);
        let files = places(&bytes, media::files_of(content).into_iter().map(|(id, _)| id));
        Self { bytes, files }
    }

    /// Whether the message has files of the library, which have an address only when the message goes.
    pub const fn has_files(&self) -> bool {
        !self.files.is_empty()
    }

    /// The body of one message, in which `address` gives the addresses of the library's files. The number always has its
    /// plus sign: without it, the provider adds the sender's own country code.
    pub fn message(&self, to: PhoneNumber, key: Key, address: impl Fn(Uuid) -> String) -> Vec<u8> {
        use std::io::Write as _;
        let mut bytes = Vec::with_capacity(self.bytes.len() + 112 + 160 * self.files.len());
        let mut from = 0;
        for (place, id) in &self.files {
            bytes.extend_from_slice(&self.bytes[from..place.start]);
            // An address has no character that JSON escapes.
            bytes.extend_from_slice(address(*id).as_bytes());
            from = place.end;
        }
        bytes.extend_from_slice(&self.bytes[from..]);
        // Writing into a vector cannot fail.
        let _ = write!(bytes, r#","to":"+{to}","biz_opaque_callback_data":"{key}"}}"#);
        bytes
    }
}

/// The places of the links of these files. Only an entry `link` is one: the quotes of a text are escaped.
fn places(bytes: &[u8], files: impl Iterator<Item = Uuid>) -> Vec<(Range<usize>, Uuid)> {
    let mut found = Vec::new();
    for id in files {
        let link = file_link(id);
        let entry = format!(r#""link":"{link}""#);
        let places = bytes.windows(entry.len()).enumerate().filter(|(_, window)| *window == entry.as_bytes());
        found.extend(places.map(|(place, _)| {
            let end = place + entry.len() - 1;
            (end - link.len()..end, id)
        }));
    }
    found.sort_unstable_by_key(|(place, _)| place.start);
    // A file that the content names twice was found twice at each place.
    found.dedup();
    found
}

/// Adds a value as JSON.
fn write(bytes: &mut Vec<u8>, value: &(impl Serialize + ?Sized)) {
    // Texts and trees always become JSON, and writing into a vector cannot fail.
    let _ = serde_json::to_writer(bytes, value);
}

/// The object of a text.
#[derive(Serialize)]
struct TextObject<'a> {
    body: &'a str,
    preview_url: bool,
}

impl<'a> TextObject<'a> {
    fn of(body: &'a str, preview_url: Option<bool>) -> Self {
        Self { body, preview_url: preview_url.unwrap_or_else(|| body.contains("://")) }
    }
}

/// The object of a template.
#[derive(Serialize)]
struct TemplateObject<'a> {
    name: &'a str,
    language: TemplateLanguage<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    components: Option<ProvidedAll<'a, Component>>,
}

#[derive(Serialize)]
struct TemplateLanguage<'a> {
    code: &'a str,
}

impl<'a> TemplateObject<'a> {
    fn of(name: &'a str, language: &'a str, components: &'a [Component]) -> Self {
        let components = (!components.is_empty()).then_some(ProvidedAll(components));
        Self { name, language: TemplateLanguage { code: language }, components }
    }
}

/// Adds the object under the content's type. Texts and templates are written without a tree.
fn write_object(bytes: &mut Vec<u8>, content: &Content) {
    let object = match content {
        Content::Text { body, preview_url } => return write(bytes, &TextObject::of(body, *preview_url)),
        Content::Template { name, language, components, contact_fields: _ } => {
            return write(bytes, &TemplateObject::of(name, language, components));
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
        Content::Interactive { interactive } => return write(bytes, interactive),
        Content::Sticker { link } => json!({ "link": link }),
        Content::Location { location } => json!(location),
        Content::Contacts { contacts } => json!(contacts),
        Content::Reaction { reaction } => {
            json!({ "message_id": reaction.message_id, "emoji": reaction.emoji })
        }
    };
    write(bytes, &object);
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
    use super::*;
    use domain::template::{Card, Media, Parameter, Source};

    fn signed(id: Uuid) -> String {
        format!("https://pombo.example/media/{id}?signature=7")
    }

    fn rendered(content: &Content) -> Value {
        let to = PhoneNumber::parse("5511988887777").unwrap();
        let key = Key { send_id: Uuid::from_u128(0xabc), ordinal: 41 };
        serde_json::from_slice(&Rendered::new(content).message(to, key, signed)).unwrap()
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
    fn the_files_of_the_library_have_their_addresses_in_each_message_and_nothing_else_is_touched() {
        let (one, other) = (Uuid::from_u128(1), Uuid::from_u128(2));
        let link = file_link(one);
        let caption = Some(format!(r#"{{"link":"{link}"}}"#));
        let body = rendered(&Content::Image { link, caption: caption.clone() });
        assert_eq!(body["image"], json!({ "link": signed(one), "caption": caption }));
        let header = |id| {
            let file = Media { source: Source::Link(file_link(id)), filename: None };
            Component::Header { parameters: vec![Parameter::Image(file)] }
        };
        let cards = vec![
            Card { card_index: 0, components: vec![header(other)] },
            Card { card_index: 1, components: vec![header(one)] },
        ];
        // Only files that a typed part names were checked when the send was accepted.
        let unchecked = json!({ "type": "other", "link": file_link(Uuid::from_u128(3)) });
        let body = rendered(&Content::Template {
            name: "n".to_owned(),
            language: "en".to_owned(),
            components: vec![header(one), Component::Carousel { cards }, Component::Other(unchecked.clone())],
            contact_fields: false,
        });
        let components = &body["template"]["components"];
        let link = |component: &Value| component["parameters"][0]["image"]["link"].clone();
        assert_eq!(link(&components[0]), signed(one));
        let cards = &components[1]["cards"];
        assert_eq!(link(&cards[0]["components"][0]), signed(other));
        assert_eq!(link(&cards[1]["components"][0]), signed(one));
        assert_eq!(components[2], unchecked);
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
