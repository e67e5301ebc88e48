//! Words for contents, and the descriptions of sent contents.

use driver::{Built, BuiltMedia, Content, Media, MediaKind, MessageId, Quoted};

/// A message on its way.
pub(super) struct Outgoing {
    pub(super) content: Content,
    /// The message that it answers.
    pub(super) quoted: Option<Quoted>,
}

/// The word for a content.
pub(super) const fn kind(content: &Content) -> &'static str {
    match content {
        Content::Text(_) => "text",
        Content::Location(_) => "location",
        Content::Contacts(_) => "contacts",
        Content::Reaction(_) => "reaction",
        Content::Media(media) => match media.kind {
            MediaKind::Image => "image",
            MediaKind::Video => "video",
            MediaKind::Audio { is_voice: true } => "voice",
            MediaKind::Audio { is_voice: false } => "audio",
            MediaKind::Document => "document",
            MediaKind::Sticker { .. } => "sticker",
        },
    }
}

/// Whether WhatsApp reports that this content was played.
pub(super) const fn is_played(content: &Content) -> bool {
    match content {
        Content::Text(_) | Content::Location(_) | Content::Contacts(_) | Content::Reaction(_) => false,
        Content::Media(media) => {
            matches!(media.kind, MediaKind::Video | MediaKind::Audio { is_voice: true })
        }
    }
}

/// The description of a content. Nothing is uploaded, so the address leads nowhere.
pub(super) fn built(id: &MessageId, content: &Content) -> Built {
    let media = match content {
        Content::Text(_) => return Built::Text,
        Content::Location(location) => return Built::Location(location.clone()),
        Content::Contacts(cards) => return Built::Contacts(cards.clone()),
        Content::Reaction(reaction) => return Built::Reaction(reaction.clone()),
        Content::Media(media) => media,
    };
    let Media { kind, bytes, mimetype, file_name, caption, seconds, jpeg_thumbnail: _ } = media;
    let is_audio = matches!(kind, MediaKind::Audio { .. });
    let has_no_caption = is_audio || matches!(kind, MediaKind::Sticker { .. });
    let has_length = is_audio || *kind == MediaKind::Video;
    Built::Media(BuiltMedia {
        kind: *kind,
        url: format!("https://mmg.example/v/{id}.enc"),
        mimetype: mimetype.clone(),
        file_length: bytes.len() as u64,
        file_name: file_name.clone().filter(|_| *kind == MediaKind::Document),
        caption: caption.clone().filter(|_| !has_no_caption),
        seconds: seconds.filter(|_| has_length),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_description_of_a_file_has_only_the_fields_of_its_kind() {
        let id = MessageId::parse("3EB0").unwrap();
        for (kind, has_name, has_caption, has_length) in [
            (MediaKind::Image, false, true, false),
            (MediaKind::Video, false, true, true),
            (MediaKind::Audio { is_voice: true }, false, false, true),
            (MediaKind::Document, true, true, false),
            (MediaKind::Sticker { is_animated: true }, false, false, false),
        ] {
            let media = Media {
                kind,
                bytes: vec![0; 7],
                mimetype: "application/octet-stream".to_owned(),
                file_name: Some("a.bin".to_owned()),
                caption: Some("look".to_owned()),
                seconds: Some(3),
                jpeg_thumbnail: None,
            };
            let Built::Media(built) = built(&id, &Content::Media(media)) else { panic!("it is a file") };
            let has = (built.file_name.is_some(), built.caption.is_some(), built.seconds.is_some());
            assert_eq!(has, (has_name, has_caption, has_length), "{kind:?}");
            assert_eq!((built.url.as_str(), built.file_length), ("https://mmg.example/v/3EB0.enc", 7));
        }
    }
}
