//! Files that strangers sent: what such a file is by its content, whatever its sender says.

use uuid::Uuid;

use super::format::{self, Format};
use super::kept::without_cut_letter;
use super::{Fetcher, Kind, picture};

/// The bytes that show whether a file is a picture.
const BEGINNING: usize = 64;
/// The type of a file at which a parser breaks down.
const UNKNOWN: &str = "application/octet-stream";

/// What a file that somebody sent is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeenFile {
    /// What it can be shown as; anything that is not recognised is a document, which is only saved.
    pub kind: Kind,
    /// The type by the content.
    pub mime_type: &'static str,
    /// The usual extension of such a file.
    pub extension: Option<&'static str>,
    /// The thumbnail of a picture: a JPEG of some 2 KiB, at most 96 pixels wide and high.
    pub thumbnail: Option<Vec<u8>>,
}

impl Fetcher {
    /// Looks at a file of `size` bytes, of which these are all, or the first [`WHOLE`](super::WHOLE). The caller holds the
    /// [memory](Fetcher::memory) of the bytes.
    pub async fn see(&self, company: Uuid, bytes: Vec<u8>, size: u64) -> SeenFile {
        let is_picture = shown_as(Format::of(&bytes[..bytes.len().min(BEGINNING)]).mime_type) == Kind::Image;
        // Without a permit for decoding, the picture has no thumbnail.
        let turn = if is_picture { self.room.decoder(company).await } else { None };
        let has_turn = turn.is_some();
        let looked_at = tokio::task::spawn_blocking(move || seen(&bytes, size, has_turn)).await;
        drop(turn);
        let unknown = SeenFile { kind: Kind::Document, mime_type: UNKNOWN, extension: None, thumbnail: None };
        looked_at.unwrap_or(unknown)
    }
}

/// What a browser may show of a type.
fn shown_as(mime_type: &str) -> Kind {
    match mime_type {
        format::JPEG | format::PNG | format::WEBP => Kind::Image,
        format::MP4 | format::THREE_GP => Kind::Video,
        format::OPUS | format::MP3 | format::M4A | format::AAC | format::AMR | format::WAV => Kind::Audio,
        _ => Kind::Document,
    }
}

fn seen(bytes: &[u8], size: u64, with_thumbnail: bool) -> SeenFile {
    let is_whole = bytes.len() as u64 == size;
    let Format { mime_type, extension, .. } =
        Format::of(if is_whole { bytes } else { without_cut_letter(bytes) });
    let (mut kind, mut thumbnail) = (shown_as(mime_type), None);
    if kind == Kind::Image {
        match picture::read(bytes, mime_type, with_thumbnail && is_whole) {
            Some(picture) => thumbnail = picture.thumbnail,
            None => kind = Kind::Document,
        }
    }
    SeenFile { kind, mime_type, extension, thumbnail }
}

#[cfg(test)]
mod tests {
    use image::ImageFormat;

    use super::super::movie::tests::file as movie;
    use super::super::picture::tests::picture;
    use super::*;

    fn look(bytes: &[u8]) -> (Kind, &'static str, bool) {
        let seen = seen(bytes, bytes.len() as u64, true);
        (seen.kind, seen.mime_type, seen.thumbnail.is_some())
    }

    #[test]
    fn nothing_but_pictures_films_and_sounds_is_shown() {
        let png = picture(20, 10, ImageFormat::Png);
        assert_eq!(look(&png), (Kind::Image, "image/png", true));
        assert_eq!(look(&picture(96, 90, ImageFormat::WebP)).0, Kind::Image, "of any size");
        assert_eq!(look(&png[..20]).0, Kind::Document, "a damaged picture is only saved");
        assert_eq!(look(&movie(b"isom", &[b"vide"])), (Kind::Video, "video/mp4", false));
        let large = [png.as_slice(), &vec![0; 6 << 20]].concat();
        assert_eq!(look(&large).0, Kind::Image, "a business account could not send it, and it is one");
        for (strange, mime_type) in [
            (&b"<!DOCTYPE html><script>alert(1)</script>"[..], "text/html"),
            (&b"<svg xmlns=\"http://www.w3.org/2000/svg\" onload=\"alert(1)\"/>"[..], "text/plain"),
            (&b"%PDF-1.7\n"[..], "application/pdf"),
            (&b"MZ\x90\0"[..], "application/vnd.microsoft.portable-executable"),
        ] {
            let (kind, found, _) = look(strange);
            assert_eq!(kind, Kind::Document, "{mime_type}");
            assert!(found == mime_type || mime_type == "text/plain", "{found}");
        }
    }
}
