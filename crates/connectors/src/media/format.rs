//! Determines the type of a file from its content. The host's content type and the file's extension are
//! ignored.

use super::movie::{self, Movie};
use super::{Kind, refusal};
use domain::error::Refusal;

pub(super) const JPEG: &str = "image/jpeg";
pub(super) const PNG: &str = "image/png";
pub(super) const WEBP: &str = "image/webp";
pub(super) const MP4: &str = "video/mp4";
pub(super) const THREE_GP: &str = "video/3gpp";
pub(super) const M4A: &str = "audio/mp4";
pub(super) const MP3: &str = "audio/mpeg";
pub(super) const AAC: &str = "audio/aac";
pub(super) const AMR: &str = "audio/amr";
pub(super) const WAV: &str = "audio/wav";
/// The type of a voice message.
pub(super) const OPUS: &str = "audio/ogg; codecs=opus";
const OTHER_OGG: &str = "application/ogg";
const QUICK_TIME: &str = "video/quicktime";
const WEB_PAGE: &str = "text/html";
const PLAIN_TEXT: &str = "text/plain";
const UNKNOWN: &str = "application/octet-stream";

/// The formats that phones play and show. Missing formats (GIF, QuickTime, Vorbis, FLAC) do not work on some
/// phones.
const IMAGES: &[&str] = &[JPEG, PNG, WEBP];
const VIDEOS: &[&str] = &[MP4, THREE_GP];
const STICKERS: &[&str] = &[WEBP];
const SOUNDS: &[&str] = &[OPUS, MP3, M4A, AAC, AMR, WAV];

/// The format of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Format {
    pub(super) mime_type: &'static str,
    /// The usual extension of such a file.
    pub(super) extension: Option<&'static str>,
    /// The metadata of a film, or of a sound in the same container.
    pub(super) movie: Option<Movie>,
}

impl Format {
    const fn new(mime_type: &'static str, extension: &'static str) -> Self {
        Self { mime_type, extension: Some(extension), movie: None }
    }

    /// Recognises a file.
    pub(super) fn of(bytes: &[u8]) -> Self {
        let known = infer::get(bytes);
        let is_still = known.is_some_and(|known| known.matcher_type() == infer::MatcherType::Image);
        if !is_still && let Some(brand) = movie::brand(bytes) {
            return packaged(brand, movie::read(bytes));
        }
        if bytes.starts_with(b"OggS") {
            let is_opus = bytes.windows(8).take(OGG_HEAD).any(|window| window == b"OpusHead");
            return if is_opus { Self::new(OPUS, "ogg") } else { Self::new(OTHER_OGG, "ogg") };
        }
        match known {
            Some(known) => Self::new(canonical(known.mime_type()), known.extension()),
            None if is_mpeg_layer_3(bytes) => Self::new(MP3, "mp3"),
            None if is_text(bytes) => Self::new(PLAIN_TEXT, "txt"),
            None => Self { mime_type: UNKNOWN, extension: None, movie: None },
        }
    }

    /// Checks whether the file can be sent as the wanted kind.
    ///
    /// # Errors
    ///
    /// `media_unavailable`, with the formats that can be sent as this kind.
    pub(super) fn judge(&self, wanted: Kind) -> Result<(), Refusal> {
        let fitting = match wanted {
            Kind::Image => IMAGES,
            Kind::Video => VIDEOS,
            Kind::Audio => SOUNDS,
            Kind::Document => return Ok(()),
            Kind::Sticker => STICKERS,
        };
        if fitting.contains(&self.mime_type) {
            Ok(())
        } else if self.mime_type == WEB_PAGE {
            Err(refusal::web_page(wanted))
        } else {
            Err(refusal::wrong_kind(wanted, self.mime_type))
        }
    }
}

/// The first page of an Ogg file has 27 bytes and up to 255 lengths before its first packet.
const OGG_HEAD: usize = 27 + 255;

/// MP4 and related formats: the tracks, not the brand, say whether it is a film or a sound.
fn packaged(brand: &[u8], movie: Option<Movie>) -> Format {
    let has_video = movie.is_some_and(|movie| movie.has_video);
    let has_audio = movie.is_some_and(|movie| movie.has_audio);
    let format = match brand {
        b"qt  " => Format::new(QUICK_TIME, "mov"),
        [b'3', b'g', ..] if has_video => Format::new(THREE_GP, "3gp"),
        _ if has_video => Format::new(MP4, "mp4"),
        _ if has_audio => Format::new(M4A, "m4a"),
        // The file ends before its description, or is something else in the same container.
        _ => Format::new("application/mp4", "mp4"),
    };
    Format { movie, ..format }
}

/// The usual name of each type.
fn canonical(mime_type: &'static str) -> &'static str {
    match mime_type {
        "audio/x-wav" => WAV,
        "audio/x-flac" => "audio/flac",
        "audio/m4a" => M4A,
        other => other,
    }
}

/// The start of an MP3 frame, in all of its versions.
fn is_mpeg_layer_3(bytes: &[u8]) -> bool {
    matches!(bytes, [0xff, second, third, ..]
        // Sync, a version that exists, layer 3; a bit rate and a sample rate that exist.
        if second & 0xe0 == 0xe0 && second & 0x18 != 0x08 && second & 0x06 == 0x02
            && third & 0xf0 != 0xf0 && third & 0x0c != 0x0c)
}

fn is_text(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes)
        .is_ok_and(|text| !text.chars().any(|c| c.is_control() && !matches!(c, '\t' | '\n' | '\r' | '\u{c}')))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::movie::tests::file;
    use super::super::sound::tests::{mp3, opus, wav};
    use super::*;

    fn mime_type(bytes: &[u8]) -> &'static str {
        Format::of(bytes).mime_type
    }

    #[test]
    fn a_file_is_known_by_its_content() {
        let vorbis = opus(0).iter().map(|byte| if *byte == b'O' { b'o' } else { *byte }).collect::<Vec<_>>();
        let vorbis = [b"OggS", &vorbis[4..]].concat();
        for (bytes, known) in [
            (b"\xff\xd8\xff\xe0\0\x10JFIF".to_vec(), JPEG),
            (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec(), PNG),
            (b"RIFF\0\0\0\0WEBPVP8 ".to_vec(), WEBP),
            (b"GIF89a".to_vec(), "image/gif"),
            (b"\0\0\0\x18ftypheic\0\0\0\0mif1heic".to_vec(), "image/heif"),
            (file(b"isom", &[b"soun", b"vide"]), MP4),
            (file(b"mp42", &[b"vide"]), MP4),
            (file(b"XAVC", &[b"vide"]), MP4),
            (file(b"3gp4", &[b"vide"]), THREE_GP),
            (file(b"M4A ", &[b"soun"]), M4A),
            (file(b"isom", &[b"soun"]), M4A),
            (file(b"qt  ", &[b"vide"]), QUICK_TIME),
            (file(b"isom", &[]), "application/mp4"),
            (b"\0\0\0\x20ftypisom".to_vec(), "application/mp4"),
            (opus(100), OPUS),
            (vorbis, OTHER_OGG),
            (mp3(2), MP3),
            (b"ID3\x04\0\0\0\0\0\0".to_vec(), MP3),
            (b"\xff\xf3\x90\0".to_vec(), MP3),
            (b"\xff\xf1\x50\x80".to_vec(), AAC),
            ([b"#!AMR\n\x3c".as_slice(), &[0; 31]].concat(), AMR),
            (wav(10), WAV),
            (b"%PDF-1.7\n".to_vec(), "application/pdf"),
            (b"PK\x03\x04\x14\0\0\0\0\0".to_vec(), "application/zip"),
            (b"<!DOCTYPE html><html></html>".to_vec(), WEB_PAGE),
            ("nome;telefone\nJoão;5511\n".as_bytes().to_vec(), PLAIN_TEXT),
            (b"\x01\x02\x03\x04".to_vec(), UNKNOWN),
        ] {
            assert_eq!(mime_type(&bytes), known, "{:?}", String::from_utf8_lossy(&bytes));
        }
    }

    #[test]
    fn a_file_of_another_kind_is_refused_except_as_a_document() {
        let pdf = Format::of(b"%PDF-1.7\n");
        let page = Format::of(b"<!DOCTYPE html><html></html>");
        let film = Format::of(&file(b"isom", &[b"vide"]));
        assert_eq!(pdf.judge(Kind::Image), Err(refusal::wrong_kind(Kind::Image, "application/pdf")));
        assert_eq!(page.judge(Kind::Audio), Err(refusal::web_page(Kind::Audio)));
        assert_eq!(film.judge(Kind::Audio), Err(refusal::wrong_kind(Kind::Audio, MP4)));
        assert_eq!(film.judge(Kind::Video), Ok(()));
        for format in [pdf, page, film, Format::of(b"\x01")] {
            assert_eq!(format.judge(Kind::Document), Ok(()));
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_something(bytes in prop::collection::vec(any::<u8>(), 0..300), head in 0_usize..9) {
            let heads = [
                b"".as_slice(), b"OggS", b"RIFF", b"\xff\xfb", b"\0\0\0\x18ftyp", b"PK\x03\x04",
                b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", b"\x89PNG\r\n\x1a\n", b"<",
            ];
            let format = Format::of(&[heads[head], &bytes].concat());
            prop_assert!(format.mime_type.contains('/'));
        }
    }
}
