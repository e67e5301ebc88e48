//! Files that messages carry: their kinds, and which files of a company's library a content names.

use serde_json::Value;
use uuid::Uuid;

use crate::content::Content;
use crate::link::file_id;
use crate::template::{Component, Media, Parameter, Source};

crate::worded! {
    /// The kind of message that a file is sent as.
    pub enum Kind {
        /// A picture.
        Image = "image",
        /// A film.
        Video = "video",
        /// A sound.
        Audio = "audio",
        /// Any file.
        Document = "document",
        /// A sticker.
        Sticker = "sticker",
    }
}

impl Kind {
    /// The kind with its article, for sentences.
    pub const fn noun(self) -> &'static str {
        match self {
            Self::Image => "an image",
            Self::Video => "a video",
            Self::Audio => "an audio",
            Self::Document => "a document",
            Self::Sticker => "a sticker",
        }
    }

    /// The most bytes that a business account sends of this kind: the provider's
    /// [limits](https://developers.facebook.com/docs/whatsapp/cloud-api/reference/media#supported-media-types). A sticker that
    /// does not move has at most 100 KiB.
    pub const fn most_bytes(self) -> u64 {
        match self {
            Self::Image => 5 << 20,
            Self::Video | Self::Audio => 16 << 20,
            Self::Document => 100 << 20,
            Self::Sticker => 500 << 10,
        }
    }

    /// Whether a file that was recognised as `known` can be sent as this kind: any file is a document.
    pub fn takes(self, known: Self) -> bool {
        self == Self::Document || self == known
    }
}

/// The files of the library that a content names, each with the kind that it is sent as.
pub fn files_of(content: &Content) -> Vec<(Uuid, Kind)> {
    let mut files = Vec::new();
    let mut add = |link: &str, kind| files.extend(file_id(link).map(|id| (id, kind)));
    match content {
        Content::Image { link, .. } => add(link, Kind::Image),
        Content::Video { link, .. } => add(link, Kind::Video),
        Content::Audio { link, .. } => add(link, Kind::Audio),
        Content::Document { link, .. } => add(link, Kind::Document),
        Content::Sticker { link } => add(link, Kind::Sticker),
        Content::Template { components, .. } => in_components(components, &mut add),
        Content::Interactive { interactive } => {
            for kind in [Kind::Image, Kind::Video, Kind::Document] {
                let link = interactive.pointer(&format!("/header/{kind}/link"));
                if let Some(link) = link.and_then(Value::as_str) {
                    add(link, kind);
                }
            }
        }
        Content::Text { .. }
        | Content::Location { .. }
        | Content::Contacts { .. }
        | Content::Reaction { .. } => {}
    }
    files
}

fn in_components(components: &[Component], add: &mut dyn FnMut(&str, Kind)) {
    for component in components {
        match component {
            Component::Header { parameters }
            | Component::Body { parameters }
            | Component::Button { parameters, .. }
            | Component::LimitedTimeOffer { parameters } => {
                for parameter in parameters {
                    match parameter {
                        Parameter::Image(file) => in_file(file, Kind::Image, add),
                        Parameter::Video(file) => in_file(file, Kind::Video, add),
                        Parameter::Document(file) => in_file(file, Kind::Document, add),
                        _ => {}
                    }
                }
            }
            Component::Carousel { cards } => {
                for card in cards {
                    in_components(&card.components, add);
                }
            }
            Component::Other(_) => {}
        }
    }
}

fn in_file(file: &Media, kind: Kind, add: &mut dyn FnMut(&str, Kind)) {
    if let Source::Link(link) = &file.source {
        add(link, kind);
    }
}

/// Gives the name of a file of the library to the documents that it is sent as and that have none: without a name,
/// WhatsApp shows `Untitled`.
pub fn name_documents(content: &mut Content, id: Uuid, name: &str) {
    let is_it = |link: &str| file_id(link) == Some(id);
    match content {
        Content::Document { link, filename, .. } if is_it(link) => {
            filename.get_or_insert_with(|| name.to_owned());
        }
        Content::Template { components, .. } => name_in_components(components, id, name),
        Content::Interactive { interactive } => {
            let file = interactive.pointer_mut("/header/document").and_then(Value::as_object_mut);
            if let Some(file) =
                file.filter(|file| file.get("link").and_then(Value::as_str).is_some_and(is_it))
            {
                file.entry("filename").or_insert_with(|| name.into());
            }
        }
        _ => {}
    }
}

fn name_in_components(components: &mut [Component], id: Uuid, name: &str) {
    for component in components {
        match component {
            Component::Header { parameters } => {
                for parameter in parameters {
                    if let Parameter::Document(Media { source: Source::Link(link), filename }) = parameter
                        && file_id(link) == Some(id)
                    {
                        filename.get_or_insert_with(|| name.to_owned());
                    }
                }
            }
            Component::Carousel { cards } => {
                for card in cards {
                    name_in_components(&mut card.components, id, name);
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::link::file_link as link;
    use crate::template::Card;

    #[test]
    fn the_files_of_a_content_are_found_wherever_a_link_may_stand() {
        let (one, other) = (Uuid::from_u128(1), Uuid::from_u128(2));
        let file = |id| Media { source: Source::Link(link(id)), filename: None };
        let header = |parameter| Component::Header { parameters: vec![parameter] };
        let template = Content::Template {
            name: "n".to_owned(),
            language: "en".to_owned(),
            components: vec![
                header(Parameter::Video(file(one))),
                Component::Carousel {
                    cards: vec![Card {
                        card_index: 0,
                        components: vec![header(Parameter::Image(file(other)))],
                    }],
                },
                Component::Other(json!({ "link": link(Uuid::from_u128(3)) })),
            ],
            contact_fields: false,
        };
        let interactive = json!({
            "type": "button",
            "header": { "type": "document", "document": { "link": link(one) } },
            "body": { "text": link(other) },
        });
        for (content, files) in [
            (Content::Sticker { link: link(one) }, vec![(one, Kind::Sticker)]),
            (Content::Audio { link: "https://h/a.ogg".to_owned(), voice: None }, vec![]),
            (Content::Text { body: link(one), preview_url: None }, vec![]),
            (template, vec![(one, Kind::Video), (other, Kind::Image)]),
            (Content::Interactive { interactive }, vec![(one, Kind::Document)]),
        ] {
            assert_eq!(files_of(&content), files, "{content:?}");
        }
    }

    #[test]
    fn a_document_of_the_library_has_the_name_of_its_file_unless_it_is_given_another() {
        let (id, other) = (Uuid::from_u128(1), Uuid::from_u128(2));
        let named = |file: Uuid, given: Option<&str>| {
            let filename = given.map(str::to_owned);
            let mut content = Content::Document { link: link(file), caption: None, filename };
            name_documents(&mut content, id, "menu.pdf");
            let Content::Document { filename, .. } = content else { unreachable!() };
            filename
        };
        assert_eq!(named(id, None).as_deref(), Some("menu.pdf"));
        assert_eq!(named(id, Some("a.pdf")).as_deref(), Some("a.pdf"));
        assert_eq!(named(other, None), None);
        let header = json!({ "type": "document", "document": { "link": link(id) } });
        let mut content = Content::Interactive { interactive: json!({ "header": header }) };
        name_documents(&mut content, id, "menu.pdf");
        let Content::Interactive { interactive } = content else { unreachable!() };
        assert_eq!(interactive["header"]["document"]["filename"], "menu.pdf");
    }
}
