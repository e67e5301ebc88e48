//! Reads a picture's size, and makes its thumbnail.
//!
//! The size is at the beginning of a file and is read without decoding. Only pictures with a reasonable size
//! are decoded, so that a few bytes that would expand to gigabytes do no harm.

use std::io::Cursor;

use image::codecs::jpeg::JpegEncoder;
use image::metadata::Orientation;
use image::{DynamicImage, ImageDecoder, ImageFormat, ImageReader, Limits, Rgb, RgbImage};

use super::{Dimensions, format};

/// The longer side of a thumbnail, in pixels.
const THUMBNAIL_SIDE: u32 = 96;
/// The JPEG quality of a thumbnail, which is sent in the message itself: about 2 KiB.
const THUMBNAIL_QUALITY: u8 = 50;
/// The maximum number of pixels that are decoded: a good phone's camera makes 12 to 24 million. A progressive
/// JPEG of this size takes some 250 MB while it is decoded.
const MAX_PIXELS: u64 = 25_000_000;
/// The most memory for a decoded picture: four bytes for each pixel.
const MAX_DECODED_BYTES: u64 = 4 * MAX_PIXELS;

/// The size of a picture, and its thumbnail.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Picture {
    /// As it is shown.
    pub(super) dimensions: Dimensions,
    /// A JPEG. `None` when the picture is too large, or cannot be decoded.
    pub(super) thumbnail: Option<Vec<u8>>,
}

/// Reads a JPEG, PNG or WebP; `None` for other formats or an invalid header.
pub(super) fn read(bytes: &[u8], mime_type: &str, with_thumbnail: bool) -> Option<Picture> {
    let format = match mime_type {
        format::JPEG => ImageFormat::Jpeg,
        format::PNG => ImageFormat::Png,
        format::WEBP => ImageFormat::WebP,
        _ => return None,
    };
    let mut reader = ImageReader::with_format(Cursor::new(bytes), format);
    let mut limits = Limits::default();
    limits.max_alloc = Some(MAX_DECODED_BYTES);
    reader.limits(limits);
    let mut decoder = reader.into_decoder().ok()?;
    let (width, height) = decoder.dimensions();
    if width == 0 || height == 0 {
        return None;
    }
    let orientation = decoder.orientation().unwrap_or(Orientation::NoTransforms);
    let is_turned = matches!(
        orientation,
        Orientation::Rotate90
            | Orientation::Rotate270
            | Orientation::Rotate90FlipH
            | Orientation::Rotate270FlipH
    );
    let shown = if is_turned { (height, width) } else { (width, height) };
    let is_small =
        u64::from(width) * u64::from(height) <= MAX_PIXELS && decoder.total_bytes() <= MAX_DECODED_BYTES;
    let decoded = if with_thumbnail && is_small { DynamicImage::from_decoder(decoder).ok() } else { None };
    let thumbnail = decoded.and_then(|picture| thumbnail(&picture, orientation));
    Some(Picture { dimensions: Dimensions { width: shown.0, height: shown.1 }, thumbnail })
}

fn thumbnail(picture: &DynamicImage, orientation: Orientation) -> Option<Vec<u8>> {
    // A small picture is not enlarged.
    let side = THUMBNAIL_SIDE.min(picture.width().max(picture.height()));
    let mut small = picture.thumbnail(side, side);
    small.apply_orientation(orientation);
    let mut jpeg = Vec::new();
    on_white(&small).write_with_encoder(JpegEncoder::new_with_quality(&mut jpeg, THUMBNAIL_QUALITY)).ok()?;
    Some(jpeg)
}

/// JPEG has no transparency: transparent pixels become white, as in a conversation.
fn on_white(picture: &DynamicImage) -> RgbImage {
    let picture = picture.to_rgba8();
    RgbImage::from_fn(picture.width(), picture.height(), |x, y| {
        let [red, green, blue, alpha] = picture.get_pixel(x, y).0.map(u16::from);
        Rgb([red, green, blue].map(|part| {
            let blended = (part * alpha + 255 * (255 - alpha)) / 255;
            u8::try_from(blended).unwrap_or(u8::MAX)
        }))
    })
}

#[cfg(test)]
pub(super) mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A picture of this size in this format, red on the left and blue on the right.
    pub(in super::super) fn picture(width: u32, height: u32, format: ImageFormat) -> Vec<u8> {
        let half = width / 2;
        let image =
            RgbImage::from_fn(width, height, |x, _| Rgb(if x < half { [255, 0, 0] } else { [0, 0, 255] }));
        let mut bytes = Cursor::new(Vec::new());
        image.write_to(&mut bytes, format).unwrap();
        bytes.into_inner()
    }

    fn decoded(jpeg: &[u8]) -> RgbImage {
        image::load_from_memory_with_format(jpeg, ImageFormat::Jpeg).unwrap().to_rgb8()
    }

    /// The same JPEG with a note that the camera was held on its side.
    fn turned(jpeg: &[u8]) -> Vec<u8> {
        let exif = [
            b"Exif\0\0MM\0*\0\0\0\x08\0\x01".as_slice(),
            // Orientation, a short, one of them: 6, to be turned to the right.
            b"\x01\x12\0\x03\0\0\0\x01\0\x06\0\0",
            b"\0\0\0\0",
        ]
        .concat();
        let length = u16::try_from(exif.len() + 2).unwrap().to_be_bytes();
        [&jpeg[..2], b"\xff\xe1", &length, &exif, &jpeg[2..]].concat()
    }

    #[test]
    fn each_format_tells_its_size_and_gets_a_thumbnail() {
        for (format, mime_type) in [
            (ImageFormat::Jpeg, format::JPEG),
            (ImageFormat::Png, format::PNG),
            (ImageFormat::WebP, format::WEBP),
        ] {
            let read = read(&picture(400, 200, format), mime_type, true).unwrap();
            assert_eq!(read.dimensions, Dimensions { width: 400, height: 200 });
            let small = decoded(&read.thumbnail.unwrap());
            assert_eq!(small.dimensions(), (96, 48), "{mime_type}");
            let ([red, _, _], [_, _, blue]) = (small.get_pixel(10, 24).0, small.get_pixel(85, 24).0);
            assert!(red > 200 && blue > 200, "{mime_type}");
        }
    }

    #[test]
    fn a_small_picture_is_not_made_larger() {
        let read = read(&picture(20, 10, ImageFormat::Png), format::PNG, true).unwrap();
        assert_eq!(decoded(&read.thumbnail.unwrap()).dimensions(), (20, 10));
    }

    #[test]
    fn a_picture_is_shown_as_the_camera_was_held() {
        let read = read(&turned(&picture(400, 200, ImageFormat::Jpeg)), format::JPEG, true).unwrap();
        assert_eq!(read.dimensions, Dimensions { width: 200, height: 400 });
        let small = decoded(&read.thumbnail.unwrap());
        assert_eq!(small.dimensions(), (48, 96));
        assert!(small.get_pixel(24, 10).0[0] > 200 && small.get_pixel(24, 85).0[2] > 200);
    }

    #[test]
    fn transparent_pixels_become_white() {
        let clear = DynamicImage::ImageRgba8(image::RgbaImage::from_pixel(4, 4, image::Rgba([0, 0, 0, 0])));
        assert_eq!(on_white(&clear).get_pixel(0, 0).0, [255; 3]);
    }

    #[test]
    fn a_picture_that_would_unfold_to_gigabytes_tells_its_size_and_is_not_decoded() {
        // A header that announces 60,000 × 60,000 pixels, followed by hardly any data.
        let mut bomb = picture(8, 8, ImageFormat::Png);
        bomb[16..24].copy_from_slice(&[0, 0, 0xea, 0x60, 0, 0, 0xea, 0x60]);
        let checksum = checksum(&bomb[12..29]);
        bomb[29..33].copy_from_slice(&checksum.to_be_bytes());
        let read = read(&bomb, format::PNG, true);
        let expected = Picture { dimensions: Dimensions { width: 60_000, height: 60_000 }, thumbnail: None };
        // A decoder may refuse such a size when it reads the header. Either way, nothing is decoded.
        assert!(read.is_none() || read == Some(expected));
    }

    fn checksum(bytes: &[u8]) -> u32 {
        !bytes.iter().fold(u32::MAX, |sum, byte| {
            (0..8).fold(
                sum ^ u32::from(*byte),
                |sum, _| if sum & 1 == 1 { sum >> 1 ^ 0xedb8_8320 } else { sum >> 1 },
            )
        })
    }

    #[test]
    fn a_damaged_picture_has_no_thumbnail_and_one_without_its_header_is_refused() {
        let whole = picture(64, 64, ImageFormat::Png);
        let cut = read(&whole[..whole.len() - 20], format::PNG, true);
        assert!(cut.is_none_or(|picture| picture.thumbnail.is_none()));
        assert_eq!(read(&whole[..20], format::PNG, true), None);
        assert_eq!(read(b"\xff\xd8\xff", format::JPEG, true), None);
        assert_eq!(read(&whole, "image/gif", true), None);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        #[test]
        fn any_damage_is_survived(
            index in 0_usize..3,
            damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        ) {
            let (format, mime_type) = [
                (ImageFormat::Jpeg, format::JPEG), (ImageFormat::Png, format::PNG), (ImageFormat::WebP, format::WEBP),
            ][index];
            let mut bytes = picture(16, 16, format);
            for (at, byte) in damage {
                let at = at.index(bytes.len());
                bytes[at] = byte;
            }
            let _ = read(&bytes, mime_type, true);
        }
    }
}
