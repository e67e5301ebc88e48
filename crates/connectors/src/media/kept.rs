//! Files that companies keep: what an uploaded file is by its content, and what a business account can send it as.

use uuid::Uuid;

use super::download::Download;
use super::format::{self, Format};
use super::room::Taken;
use super::{Details, Fetcher, Kind, Media, details, file_name, refusal};
use domain::error::{Code, Refusal};

/// A file up to this size is recognised as a whole, in bytes: of a larger one, which can only be a document, as much is
/// enough.
pub const WHOLE: usize = 16 << 20;

/// The bytes of a picture that show what it is.
const BEGINNING: usize = 64;

/// What an uploaded file is.
#[derive(Debug)]
pub struct Recognised {
    /// The kind of message that it is sent as.
    pub kind: Kind,
    /// The type by the content, such as `image/jpeg` or `audio/ogg; codecs=opus`.
    pub mime_type: &'static str,
    /// The usual extension of such a file.
    pub extension: Option<&'static str>,
    /// The thumbnail of an image: a JPEG of some 2 KiB, at most 96 pixels wide and high.
    pub thumbnail: Option<Vec<u8>>,
}

impl Fetcher {
    /// Memory for a file of `bytes` bytes, in the company's part of the memory for all files. With `wanted`, the file goes
    /// through a web session as this kind.
    ///
    /// # Errors
    ///
    /// `service_unavailable` when too many files are in memory, of all companies or of this one; `media_too_large` when a
    /// web session sends no such file.
    pub async fn memory(&self, company: Uuid, bytes: u64, wanted: Option<Kind>) -> Result<Taken, Refusal> {
        let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
        if let Some(wanted) = wanted.filter(|wanted| bytes > self.limit(*wanted)) {
            return Err(refusal::too_large(wanted, self.limit(wanted)));
        }
        self.room.memory(company, bytes).await
    }

    /// A kept file of this name, ready to be sent as `wanted`.
    ///
    /// # Errors
    ///
    /// `media_unavailable` when it cannot be sent as this kind, `media_too_large` for a sticker.
    pub async fn prepare(
        &self,
        company: Uuid,
        (bytes, name): (Vec<u8>, String),
        memory: Taken,
        wanted: Kind,
    ) -> Result<Media, Refusal> {
        self.ready(company, Download { bytes, name: Some(name), memory }, wanted).await
    }

    /// Recognises a file of `size` bytes, of which these are all, or the first [`WHOLE`]. With `wanted`, it has to be of this
    /// kind; any file can be a document. The caller holds the [memory](Fetcher::memory) of the bytes.
    ///
    /// # Errors
    ///
    /// `media_unavailable` when it is not of the wanted kind or damaged, `media_too_large` when it has more bytes than a
    /// business account sends.
    pub async fn recognise(
        &self,
        company: Uuid,
        bytes: Vec<u8>,
        size: u64,
        wanted: Option<Kind>,
    ) -> Result<Recognised, Refusal> {
        let beginning = &bytes[..bytes.len().min(BEGINNING)];
        let is_picture = natural(Format::of(beginning).mime_type) == Kind::Image;
        // Without a permit for decoding, the picture has no thumbnail.
        let turn = if is_picture { self.room.decoder(company).await } else { None };
        let has_turn = turn.is_some();
        let looked_at = tokio::task::spawn_blocking(move || recognised(&bytes, size, wanted, has_turn));
        // A file that makes a parser panic is not kept.
        let recognised = looked_at.await.map_err(|_| damaged(wanted.unwrap_or(Kind::Document)))?;
        drop(turn);
        recognised
    }
}

/// The name of a file without folders and deceptive characters, at most 120 characters; `None` when nothing is left.
pub fn clean_name(name: &str) -> Option<String> {
    file_name::clean(name)
}

/// The kind that a business account sends a file of this type as. Of the formats that it does not send as a picture, a film
/// or a sound, all are documents.
fn natural(mime_type: &str) -> Kind {
    match mime_type {
        format::JPEG | format::PNG => Kind::Image,
        format::WEBP => Kind::Sticker,
        format::MP4 | format::THREE_GP => Kind::Video,
        format::OPUS | format::MP3 | format::M4A | format::AAC | format::AMR => Kind::Audio,
        _ => Kind::Document,
    }
}

fn recognised(
    bytes: &[u8],
    size: u64,
    wanted: Option<Kind>,
    with_thumbnail: bool,
) -> Result<Recognised, Refusal> {
    let is_whole = bytes.len() as u64 == size;
    let format = Format::of(if is_whole { bytes } else { without_cut_letter(bytes) });
    let natural = natural(format.mime_type);
    let kind = wanted.unwrap_or(natural);
    if !kind.takes(natural) {
        return Err(unavailable(format!(
            "the file is of the type {}, which a business account cannot send as {}: upload it as a document",
            format.mime_type,
            kind.noun()
        )));
    }
    if size > kind.most_bytes() {
        return Err(too_large(kind));
    }
    let Format { mime_type, extension, .. } = format;
    if kind == Kind::Document {
        return Ok(Recognised { kind, mime_type, extension, thumbnail: None });
    }
    // All kinds but documents are small enough to be whole here. The sentences of links would not fit.
    let Details { mime_type, extension, thumbnail, .. } =
        details(bytes, kind, with_thumbnail).map_err(|refusal| match refusal.code {
            Code::MediaTooLarge => too_large(kind),
            _ => damaged(kind),
        })?;
    Ok(Recognised { kind, mime_type, extension, thumbnail })
}

/// The bytes without a letter of UTF-8 that is cut off at their end.
pub(super) fn without_cut_letter(bytes: &[u8]) -> &[u8] {
    match std::str::from_utf8(bytes) {
        Err(error) if error.error_len().is_none() => &bytes[..error.valid_up_to()],
        _ => bytes,
    }
}

fn unavailable(sentence: String) -> Refusal {
    Refusal::new(Code::MediaUnavailable, sentence).about("file")
}

fn damaged(kind: Kind) -> Refusal {
    unavailable(match kind {
        Kind::Sticker => {
            "the file is no sticker: a sticker is a WebP file of 512 by 512 pixels; upload another one as a \
                          document, or a picture as JPEG or PNG"
                .to_owned()
        }
        _ => format!("the file cannot be read as {}: check that it opens", kind.noun()),
    })
}

/// The refusal of a file that has more bytes than a business account sends as this kind.
fn too_large(kind: Kind) -> Refusal {
    let most = refusal::size(usize::try_from(kind.most_bytes()).unwrap_or(usize::MAX));
    let sentence = match kind {
        Kind::Document => {
            format!("the file is larger than {most}, the most for a document: give a smaller one")
        }
        Kind::Sticker => format!(
            "the file is larger than {most}, the most for a sticker that moves, or than 100 KiB, the most for one that does \
             not: give a smaller one, or upload it as a document"
        ),
        Kind::Image | Kind::Video | Kind::Audio => format!(
            "the file is larger than {most}, the most for {}: give a smaller one, or upload it as a document",
            kind.noun()
        ),
    };
    Refusal::new(Code::MediaTooLarge, sentence).about("file")
}

#[cfg(test)]
mod tests {
    use image::ImageFormat;

    use super::super::movie::tests::file as movie;
    use super::super::picture::tests::picture;
    use super::*;

    fn look(bytes: &[u8], wanted: Option<Kind>) -> Result<(Kind, &'static str), Code> {
        recognised(bytes, bytes.len() as u64, wanted, true)
            .map(|known| (known.kind, known.mime_type))
            .map_err(|refusal| refusal.code)
    }

    #[test]
    fn a_file_is_kept_as_what_a_business_account_can_send() {
        let png = picture(20, 10, ImageFormat::Png);
        let large = [png.as_slice(), &vec![0; 5 << 20]].concat();
        let (sticker, small) = (picture(512, 512, ImageFormat::WebP), picture(96, 96, ImageFormat::WebP));
        for (bytes, wanted, found) in [
            (&png, None, Ok((Kind::Image, "image/png"))),
            (&png, Some(Kind::Document), Ok((Kind::Document, "image/png"))),
            (&png, Some(Kind::Video), Err(Code::MediaUnavailable)),
            (&large, None, Err(Code::MediaTooLarge)),
            (&large, Some(Kind::Document), Ok((Kind::Document, "image/png"))),
            (&sticker, None, Ok((Kind::Sticker, "image/webp"))),
            (&small, None, Err(Code::MediaUnavailable)),
            (&movie(b"isom", &[b"vide"]), None, Ok((Kind::Video, "video/mp4"))),
            (&b"RIFF\0\0\0\0WAVEfmt ".to_vec(), None, Ok((Kind::Document, "audio/wav"))),
            (&b"%PDF-1.7\n".to_vec(), None, Ok((Kind::Document, "application/pdf"))),
            (&b"%PDF-1.7\n".to_vec(), Some(Kind::Image), Err(Code::MediaUnavailable)),
        ] {
            assert_eq!(look(bytes, wanted), found, "{} bytes as {wanted:?}", bytes.len());
        }
        assert!(recognised(&png, png.len() as u64, None, true).unwrap().thumbnail.is_some());
    }

    #[test]
    fn of_a_large_file_the_beginning_is_enough() {
        let text = "olá ".repeat(20);
        let cut = &text.as_bytes()[..3];
        assert_eq!(recognised(cut, 1 << 20, None, true).unwrap().mime_type, "text/plain");
        let most = Kind::Document.most_bytes();
        assert_eq!(recognised(cut, most + 1, None, true).unwrap_err().code, Code::MediaTooLarge);
    }
}
