//! Stickers: WebP files of one size in pixels, of few bytes. WhatsApp's apps do not show others, so the bounds are no options.

use super::{Dimensions, Kind, picture, refusal};
use domain::error::Refusal;

/// The largest sticker, which moves, in bytes.
pub(super) const LARGEST: usize = 500 * 1024;
/// The largest sticker that does not move, in bytes.
const LARGEST_STILL: usize = 100 * 1024;
/// The width and the height of a sticker, in pixels.
const SIDE: u32 = 512;
/// Where an extended WebP file has its flags, and the flag of one that moves, by the format's
/// [specification](https://developers.google.com/speed/webp/docs/riff_container).
const FLAGS: usize = 20;
const MOVES: u8 = 0b10;

/// What a message says about a sticker.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Sticker {
    pub(super) dimensions: Dimensions,
    pub(super) is_animated: bool,
}

/// Reads a sticker.
///
/// # Errors
///
/// `media_unavailable` for a damaged file and for one of another size in pixels; `media_too_large` for one that is still and
/// has too many bytes.
pub(super) fn read(bytes: &[u8], mime_type: &str) -> Result<Sticker, Refusal> {
    let picture = picture::read(bytes, mime_type, false).ok_or_else(|| refusal::damaged(Kind::Sticker))?;
    let Dimensions { width, height } = picture.dimensions;
    if (width, height) != (SIDE, SIDE) {
        return Err(refusal::sticker_size(width, height, SIDE));
    }
    let is_animated = is_animated(bytes);
    if !is_animated && bytes.len() > LARGEST_STILL {
        return Err(refusal::still_sticker(LARGEST_STILL));
    }
    Ok(Sticker { dimensions: picture.dimensions, is_animated })
}

fn is_animated(bytes: &[u8]) -> bool {
    bytes.get(12..16) == Some(b"VP8X") && bytes.get(FLAGS).is_some_and(|flags| flags & MOVES != 0)
}

#[cfg(test)]
mod tests {
    use image::ImageFormat;

    use super::super::format::WEBP;
    use super::super::picture::tests::picture;
    use super::*;
    use domain::error::Code;

    /// The same still picture in an extended file, with these flags and these bytes of ballast.
    fn extended(still: &[u8], flags: u8, ballast: usize) -> Vec<u8> {
        let side = &(SIDE - 1).to_le_bytes()[..3];
        let head = [b"VP8X\x0a\0\0\0".as_slice(), &[flags, 0, 0, 0], side, side].concat();
        let length = u32::try_from(ballast).unwrap().to_le_bytes();
        let note = [b"EXIF".as_slice(), &length, &vec![0; ballast]].concat();
        let body = [b"WEBP".as_slice(), &head, &still[12..], &note].concat();
        [b"RIFF".as_slice(), &u32::try_from(body.len()).unwrap().to_le_bytes(), &body].concat()
    }

    #[test]
    fn a_sticker_has_one_size_and_few_bytes() {
        let still = picture(SIDE, SIDE, ImageFormat::WebP);
        let dimensions = Dimensions { width: SIDE, height: SIDE };
        assert_eq!(read(&still, WEBP), Ok(Sticker { dimensions, is_animated: false }));
        for (width, height) in [(SIDE, 500), (96, 96), (1024, 1024)] {
            let refusal = read(&picture(width, height, ImageFormat::WebP), WEBP).unwrap_err();
            assert_eq!(refusal.code, Code::MediaUnavailable);
            assert!(refusal.sentence.contains(&format!("{width} by {height}")), "{refusal}");
        }
        assert_eq!(read(b"RIFF\0\0\0\0WEBPVP8 ", WEBP).unwrap_err().code, Code::MediaUnavailable);
        let large = extended(&still, 0b1000, LARGEST_STILL);
        assert_eq!(read(&large, WEBP).unwrap_err().code, Code::MediaTooLarge);
        assert!(!is_animated(&large) && is_animated(&extended(&still, MOVES, 0)));
        assert!(!is_animated(&still));
    }
}
