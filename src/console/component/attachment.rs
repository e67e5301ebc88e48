//! A file that a person sent, inside a conversation: the file or why it is not there, what it is, and the words below it.

use maud::{Markup, html};
use uuid::Uuid;

use super::formatting;
use super::library::size;
use crate::console::text::Text;
use crate::domain::inbound::{InboundFile, InboundMedia, MissingFile};

/// The longest name of a file that is shown, in characters.
const NAME_CHARS: usize = 120;

/// The file of a message, of which `kind` is the word. The id is the one by which the file is found.
pub(crate) fn attachment(text: Text, message: Uuid, kind: &str, media: &InboundMedia) -> Markup {
    let name = media.file_name.as_ref().map(|name| formatting::plain(name, NAME_CHARS));
    html! {
        div.attachment id=(format!("file-{message}")) {
            @match &media.file {
                Some(InboundFile::Kept { path, kind: shown, size: bytes, name: given, has_thumbnail, .. }) => {
                    @match shown.as_str() {
                        "image" | "sticker" if *has_thumbnail => {
                            a href=(path) {
                                img src=(format!("/console/media/{message}/thumbnail")) alt=(given) loading="lazy";
                            }
                        },
                        "video" => video controls preload="none" src=(path) aria-label=(given) {},
                        "audio" => audio controls preload="none" src=(path) aria-label=(given) {},
                        _ => {},
                    }
                    p { strong { (kind) } " " a href=(path) { bdi { (formatting::plain(given, NAME_CHARS)) } } " " span.soft { (size(text, *bytes)) } }
                },
                other => {
                    strong { (kind) }
                    @if let Some(name) = name { " " bdi { (name) } }
                    @if let Some(bytes) = media.size { " " span.soft { (size(text, bytes)) } }
                    p.soft { (text.get(absent(other.as_ref()))) }
                },
            }
        }
        @if let Some(caption) = &media.caption { (formatting::lines(caption, None)) }
    }
}

/// The sentence about a file that is not there.
const fn absent(file: Option<&InboundFile>) -> &'static str {
    let Some(InboundFile::Missing { reason, .. }) = file else { return "inbox-file-pending" };
    match reason {
        MissingFile::TooLarge => "inbox-file-too-large",
        MissingFile::Gone => "inbox-file-gone",
        MissingFile::Damaged => "inbox-file-damaged",
        MissingFile::Infected => "inbox-file-infected",
        MissingFile::NotScanned => "inbox-file-not-scanned",
        MissingFile::RefusedType => "inbox-file-refused",
        MissingFile::DiskFull => "inbox-file-disk",
        MissingFile::NoRoom => "inbox-file-no-room",
        MissingFile::NotKept => "inbox-file-not-kept",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::console::language::Language;

    fn shown(file: Option<InboundFile>) -> String {
        let media = InboundMedia { file, ..InboundMedia::default() };
        attachment(Text(Language::English), Uuid::nil(), "Image", &media).into_string()
    }

    fn kept(kind: &str, has_thumbnail: bool) -> Option<InboundFile> {
        Some(InboundFile::Kept {
            path: "/media/x".to_owned(),
            url: None,
            kind: kind.to_owned(),
            mime_type: "image/png".to_owned(),
            size: 7_000,
            name: "\"><script>.png".to_owned(),
            has_thumbnail,
        })
    }

    #[test]
    fn a_file_is_shown_as_what_it_is_and_one_that_is_missing_says_why() {
        let picture = shown(kept("image", true));
        assert!(picture.contains("/thumbnail\"") && picture.contains("href=\"/media/x\""), "{picture}");
        assert!(!picture.contains("<script>"), "{picture}");
        assert!(
            shown(kept("video", false)).contains("<video") && shown(kept("audio", false)).contains("<audio")
        );
        let document = shown(kept("document", false));
        assert!(!document.contains("<img") && document.contains("href=\"/media/x\""), "{document}");
        assert!(shown(Some(InboundFile::missing(MissingFile::TooLarge))).contains("larger than"));
        assert!(shown(None).contains("not here yet"));
    }
}
