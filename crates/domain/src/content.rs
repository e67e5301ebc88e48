//! The content of a send, the same for each recipient, frozen when the send is accepted.
//!
//! It is stored once per send, as JSON text, and must be readable by every later version: fields are only ever added.
//! It uses the words of the API; a connector translates it for its provider.

mod personal;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::contact_card::ContactCard;
use crate::location::Location;
use crate::reaction::Reaction;
use crate::template::Component;

crate::worded! {
    /// The type of a message: the `type` of a request.
    pub enum Kind {
        /// Plain text.
        Text = "text",
        /// A picture.
        Image = "image",
        /// A video.
        Video = "video",
        /// An audio file.
        Audio = "audio",
        /// Any other file.
        Document = "document",
        /// A small picture without a frame.
        Sticker = "sticker",
        /// A place on the map.
        Location = "location",
        /// Cards of people.
        Contacts = "contacts",
        /// An emoji below a message of the conversation.
        Reaction = "reaction",
        /// A text that the provider approved.
        Template = "template",
        /// Buttons, a menu or products.
        Interactive = "interactive",
    }
}

/// One message's content, the same for every recipient of a send.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Content {
    /// Plain text.
    Text {
        /// The text, as it was given.
        body: String,
        /// Whether the first link is shown with a preview; `None` if the text has one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        preview_url: Option<bool>,
    },
    /// A picture.
    Image {
        /// The link from which the provider fetches it.
        link: String,
        /// The text below it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        caption: Option<String>,
    },
    /// A video.
    Video {
        /// The link from which the provider fetches it.
        link: String,
        /// The text below it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        caption: Option<String>,
    },
    /// An audio file, which has no caption.
    Audio {
        /// The link from which the provider fetches it.
        link: String,
        /// Whether it is a voice message; `None` leaves that to the provider, or to the file.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        voice: Option<bool>,
    },
    /// Any other file.
    Document {
        /// The link from which the provider fetches it.
        link: String,
        /// The text below it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        caption: Option<String>,
        /// The name that the recipient sees: as it was given, or for a business account else the link's last segment when
        /// that looks like a file's name.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        filename: Option<String>,
    },
    /// A small picture without a frame, which has no caption.
    Sticker {
        /// The link from which the provider fetches it.
        link: String,
    },
    /// A place on the map.
    Location {
        /// The place.
        location: Location,
    },
    /// Cards of people.
    Contacts {
        /// The cards, at least one.
        contacts: Vec<ContactCard>,
    },
    /// An emoji below a message of the conversation, or its removal.
    Reaction {
        /// The message and the emoji.
        reaction: Reaction,
    },
    /// A text that the provider approved, with this send's values.
    Template {
        /// The template's name at the provider.
        name: String,
        /// Its language, such as `pt_BR`.
        language: String,
        /// The values of its variables, checked against the template.
        components: Vec<Component>,
        /// Whether their texts have [contact fields](crate::template::contact_field).
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        contact_fields: bool,
    },
    /// Buttons, a menu or products.
    Interactive {
        /// The payload as [`crate::interactive::parse`] gave it.
        interactive: Value,
    },
}

/// A send's content as it is stored: with the group that it goes to, if it goes to one. The content's own fields come
/// first, and its type before all others, because [`Content::kind_of`] reads only the beginning.
///
/// Written from references, read as owned values.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Stored<C = Content, G = String> {
    /// The content.
    #[serde(flatten)]
    pub content: C,
    /// The group's id, without the ending of its address; `None` for sends to numbers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group: Option<G>,
    /// The client's key, for sends whose answer is kept when their message is handed over.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<G>,
    /// The provider's id of the message that it answers, which is shown above it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quotes: Option<G>,
    /// The digits of the number that was linked to the web session when it accepted the message, which goes from no other.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sender: Option<G>,
    /// Whether it confirms an opt-out: then it goes although its recipient opted out.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub confirms: bool,
    /// Whether a message of a web session goes in its turn although no caller waits for it, until its send expires.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub keeps_turn: bool,
    /// Whether each recipient has values of their own, so that its texts have [placeholders](crate::values).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub values: bool,
}

impl Stored {
    /// This content with borrowed values.
    pub fn borrowed(&self) -> Stored<&Content, &str> {
        Stored {
            content: &self.content,
            group: self.group.as_deref(),
            key: self.key.as_deref(),
            quotes: self.quotes.as_deref(),
            sender: self.sender.as_deref(),
            confirms: self.confirms,
            keeps_turn: self.keeps_turn,
            values: self.values,
        }
    }
}

impl Content {
    /// The first characters of stored content, which contain its kind.
    pub const KIND_CHARS: usize = 32;

    /// The kind of stored content, from its first [`Content::KIND_CHARS`]: contents can be long.
    pub fn kind_of(stored: &str) -> Option<Kind> {
        let (kind, _) = stored.strip_prefix(r#"{"type":""#)?.split_once('"')?;
        kind.parse().ok()
    }

    /// The first characters of stored content, which have enough of a text to know it by.
    pub const OPENING_CHARS: usize = 160;

    /// The beginning of the text of stored content, from its first [`Content::OPENING_CHARS`]; `None` for content of
    /// another kind.
    pub fn opening_of(stored: &str) -> Option<String> {
        let rest = stored.strip_prefix(r#"{"type":"text","body":""#)?;
        let mut escaped = false;
        let end = rest.find(|c| match c {
            _ if escaped => {
                escaped = false;
                false
            }
            '\\' => {
                escaped = true;
                false
            }
            c => c == '"',
        });
        let mut text = &rest[..end.unwrap_or(rest.len())];
        // What is cut off may be in the middle of an escape, of which the longest has twelve characters.
        for _ in 0..=12 {
            if let Ok(read) = serde_json::from_str(&format!("\"{text}\"")) {
                return Some(read);
            }
            let (last, _) = text.char_indices().next_back()?;
            text = &text[..last];
        }
        None
    }

    /// The `type` of the request that this came from.
    pub const fn kind(&self) -> Kind {
        match self {
            Self::Text { .. } => Kind::Text,
            Self::Image { .. } => Kind::Image,
            Self::Video { .. } => Kind::Video,
            Self::Audio { .. } => Kind::Audio,
            Self::Document { .. } => Kind::Document,
            Self::Sticker { .. } => Kind::Sticker,
            Self::Location { .. } => Kind::Location,
            Self::Contacts { .. } => Kind::Contacts,
            Self::Reaction { .. } => Kind::Reaction,
            Self::Template { .. } => Kind::Template,
            Self::Interactive { .. } => Kind::Interactive,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::template::{Card, Media, Parameter, Source};

    #[test]
    fn every_content_is_stored_under_its_kind_and_read_back_unchanged() {
        let link = || "https://example.com/a.pdf".to_owned();
        let picture = Media { source: Source::Link(link()), filename: None };
        let parameters =
            vec![Parameter::Text { text: "Ana".to_owned(), parameter_name: None }, Parameter::Image(picture)];
        let all = [
            Content::Text { body: "olá".to_owned(), preview_url: None },
            Content::Text { body: "olá".to_owned(), preview_url: Some(false) },
            Content::Image { link: link(), caption: None },
            Content::Video { link: link(), caption: Some("c".to_owned()) },
            Content::Audio { link: link(), voice: None },
            Content::Audio { link: link(), voice: Some(true) },
            Content::Document { link: link(), caption: None, filename: Some("a.pdf".to_owned()) },
            Content::Sticker { link: link() },
            Content::Location {
                location: Location::parse(&json!({"latitude": -23.5613, "longitude": "-46.6565", "name": "Sol"}))
                    .unwrap(),
            },
            Content::Contacts {
                contacts: ContactCard::parse_all(
                    &json!([{"name": {"formatted_name": "Ana", "first_name": "Ana"}, "phones": [{"phone": "190"}]}]),
                )
                .unwrap(),
            },
            Content::Reaction {
                reaction: Reaction::parse(&json!({"message_id": "wamid.x", "emoji": ""})).unwrap(),
            },
            Content::Template {
                name: "order".to_owned(),
                language: "pt_BR".to_owned(),
                components: vec![
                    Component::Body { parameters },
                    Component::Button { sub_type: "url".to_owned(), index: 1, parameters: Vec::new() },
                    Component::Other(json!({"type": "order_status", "cards": []})),
                    Component::Carousel { cards: vec![Card { card_index: 1, components: Vec::new() }] },
                ],
                contact_fields: false,
            },
            Content::Template {
                name: "hello".to_owned(),
                language: "en".to_owned(),
                components: Vec::new(),
                contact_fields: true,
            },
            Content::Interactive { interactive: json!({"type": "button"}) },
        ];
        for content in all {
            let stored = serde_json::to_string(&content).unwrap_or_default();
            let beginning = format!(r#"{{"type":"{}","#, content.kind());
            assert!(stored.starts_with(&beginning), "{stored}");
            let head: String = stored.chars().take(Content::KIND_CHARS).collect();
            assert_eq!(Content::kind_of(&head), Some(content.kind()), "{stored}");
            assert_eq!(serde_json::from_str(&stored).ok(), Some(content), "{stored}");
        }
    }

    #[test]
    fn the_beginning_of_a_text_is_read_wherever_it_is_cut_off() {
        let body = "Olá \"you\" \\ \u{1f49a}\n\tand \u{7}so on";
        let stored =
            serde_json::to_string(&Content::Text { body: body.to_owned(), preview_url: Some(true) }).unwrap();
        let before = r#"{"type":"text","body":""#.chars().count();
        for chars in before..=stored.chars().count() {
            let head: String = stored.chars().take(chars).collect();
            let opening = Content::opening_of(&head).unwrap();
            assert!(body.starts_with(&opening), "{head}: {opening}");
        }
        assert_eq!(Content::opening_of(&stored).as_deref(), Some(body));
        let escaped = r#"{"type":"text","body":"\ud83d\udc9a!"#;
        assert_eq!(Content::opening_of(escaped).as_deref(), Some("\u{1f49a}!"));
        assert_eq!(Content::opening_of(&escaped[..escaped.len() - 2]).as_deref(), Some(""));
        assert_eq!(Content::opening_of(r#"{"type":"image","link":"x"}"#), None);
    }

    #[test]
    fn a_group_and_a_key_are_stored_behind_the_content_and_those_that_are_absent_are_not() {
        let content = Content::Image { link: "https://example.com/a.png".to_owned(), caption: None };
        let plain = serde_json::to_string(&content).unwrap();
        let (one, other) = (Some("120363000000000001"), Some("a key"));
        for (group, key) in [(None, None), (one, None), (None, other), (one, other)] {
            let own = |text: Option<&str>| text.map(str::to_owned);
            let (content, group, key) = (content.clone(), own(group), own(key));
            let whole = Stored {
                content,
                group,
                key,
                quotes: None,
                sender: None,
                confirms: false,
                keeps_turn: false,
                values: false,
            };
            let stored = serde_json::to_string(&whole.borrowed()).unwrap();
            assert_eq!(Content::kind_of(&stored), Some(Kind::Image), "{stored}");
            assert_eq!(serde_json::from_str::<Stored>(&stored).unwrap(), whole);
            assert_eq!(stored == plain, whole.group.is_none() && whole.key.is_none(), "{stored}");
            // A reader that ignores groups reads it as well.
            assert_eq!(serde_json::from_str(&stored).ok(), Some(whole.content), "{stored}");
        }
    }

    #[test]
    fn every_content_is_read_through_what_is_stored() {
        for text in [
            r#"{"type":"text","body":"ol\u00e1","group":null}"#,
            r#"{"type":"template","name":"n","language":"en","components":[{"type":"carousel","n":1.5}]}"#,
            r#"{"group":"1-2","type":"interactive","interactive":{"type":"button","many":[1,-2,1e9]}}"#,
        ] {
            let alone: Content = serde_json::from_str(text).unwrap();
            let stored: Stored = serde_json::from_str(text).unwrap();
            assert_eq!(stored.content, alone, "{text}");
            assert_eq!(stored.group.is_some(), text.contains("1-2"), "{text}");
        }
        assert!(serde_json::from_str::<Stored>(r#"{"group":"1"}"#).is_err(), "a group is no content");
    }
}
